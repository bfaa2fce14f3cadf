"""The bound of a node, raised step by step: alternating directions with cutting planes.

One half of a step projects onto the Fantope, the other onto the polyhedron of all Y that are
non-negative, zero between groups that are apart, and satisfy the cuts. Whatever the step, the
multipliers of the second projection are valid, so every iterate gives a bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.graph import CannotLinkGraph
from kempe.proof.dual import Dual, chosen, cut_matrix
from kempe.proof.fantope import Fantope
from kempe.proof.nodes import Cuts
from kempe.proof.relaxation import Floats, Relaxation, Singles
from kempe.proof.start import LEAST_PENALTY, PENALTY

SWEEPS = 2
# Larger matrices are looked at less often.
LARGE = 1000
# The penalty rises if the primal residual is so many times the dual one, and falls if it is the
# other way round.
RISE_AT, FALL_AT, FACTOR = 5.0, 2.0, 1.5
# Eigenvectors are computed to this share of the residuals.
ACCURACY = 0.3
# Violations are shares of a diagonal entry. The bar is lowered where few cuts exceed it.
LAST_BAR = 0.001
# Cuts without a multiplier are dropped at the second look for new ones.
PATIENCE = 2
EQUALITIES = 200


@dataclass(frozen=True)
class Pace:
    """How an ascent spends its time.

    Attributes
    ----------
    stiffness
        Weight of the distance between the two halves at first, see ``dual_start``, times the number
        of clusters; where that gives less than usual, the usual one is taken.
    over_relaxation
        How far beyond the projection onto the Fantope a step goes; 2 would be too far.
    look_every
        Steps between looks at the bound, which needs all leading eigenvalues.
    separate_every
        Looks at the bound between looks for cuts, after the first.
    cuts_per_group
        Cuts that are added at a time, at most.
    first_bar
        Violation from which cuts are added at first.
    exact
        Whether leading eigenvectors are computed until they are as near as the residuals ask for;
        else what one pass makes of the last ones is taken.
    """

    stiffness: float
    over_relaxation: float
    look_every: int
    separate_every: int
    cuts_per_group: int
    first_bar: float
    exact: bool

    def penalty(self, n_clusters: int) -> float:
        """Give the first penalty."""
        return max(PENALTY, self.stiffness / n_clusters)


# To the end, where a bound is to close the gap; and a few dozen steps, where time is short. With
# few clusters a penalty ten times as large brings these much nearer; with 26 it does harm.
THOROUGH = Pace(
    stiffness=0.0,
    over_relaxation=1.6,
    look_every=25,
    separate_every=2,
    cuts_per_group=10,
    first_bar=0.02,
    exact=True,
)
SWIFT = Pace(
    stiffness=9.0,
    over_relaxation=1.8,
    look_every=10,
    separate_every=1,
    cuts_per_group=20,
    first_bar=0.05,
    exact=False,
)


class Ascent:
    """The iteration for one node. It can be continued where it ended.

    Parameters
    ----------
    relaxation
        The node's matrices.
    start
        Multipliers to begin with.
    pace
        How time is spent.
    stopper
        Ends a search for cuts.

    Attributes
    ----------
    value
        Best bound so far.
    best
        The multipliers that prove it.
    steps
        Steps so far.
    history
        Best bound at every look.
    slowest
        Seconds that the longest look at the bound, or for cuts, has taken: steps without such a
        look after them are in vain.
    penalty
        Weight of the distance between the two halves; it follows the residuals.
    Y
        The matrix of the last step, of the Fantope.
    """

    def __init__(
        self,
        relaxation: Relaxation,
        start: Dual,
        pace: Pace = THOROUGH,
        stopper: _core.Stopper | None = None,
    ) -> None:
        self.relaxation = relaxation
        self._pace = pace
        self._stopper = stopper or _core.Stopper()
        self.value = -np.inf
        self.best = start
        self.steps = 0
        self.history: list[float] = []
        self.slowest = 0.0
        self._fantope = Fantope(relaxation.unit, relaxation.n_clusters, pace.exact)
        self._pool = _core.CutPool(
            relaxation.weight, relaxation.cannot.view(np.uint8), relaxation.n_clusters
        )
        if relaxation.limits is not None:
            self._pool.limit_diagonal(
                relaxation.limits.least.astype(np.float32),
                relaxation.limits.most.astype(np.float32),
            )
        self.penalty = start.penalty
        self._bar = pace.first_bar
        self._cliques = _core.cliques_of_size(
            CannotLinkGraph.from_edges(
                relaxation.size, np.argwhere(np.triu(relaxation.cannot))
            ).core,
            relaxation.n_clusters,
            EQUALITIES,
        )
        self._begin(start)

    @property
    def look_every(self) -> int:
        """Steps between looks at the bound."""
        every = self._pace.look_every
        return every if self.relaxation.size <= LARGE else 2 * every

    @property
    def n_cuts(self) -> int:
        """Number of cuts in use."""
        return len(self._pool)

    def run(
        self,
        target: Callable[[], float],
        stop: Callable[[float], bool],
        stalled: Callable[[Ascent], bool],
    ) -> None:
        """Raise the bound until it reaches the target or further steps promise little.

        ``stop`` is told how many seconds the next thing may take.
        """
        if self.steps == 0:
            self._timed(lambda: self._look(target(), stop))
        while self.value < target() and not stop(self.slowest):
            self._step()
            if self.steps % self.look_every:
                continue
            self._timed(lambda: self._look(target(), stop))
            if stalled(self) or self.value >= target() or stop(self.slowest):
                return
            looks = self.steps // self.look_every
            if looks == 1 or looks % self._pace.separate_every == 0:
                self._timed(self._separate)
            self._adapt()

    def _timed(self, look: Callable[[], None]) -> None:
        began = time.perf_counter()
        look()
        self.slowest = max(self.slowest, time.perf_counter() - began)

    def _begin(self, start: Dual) -> None:
        cuts, n = start.cuts, self.relaxation.size
        scaled = cuts.multipliers / self.penalty
        self._pool.add(cuts.centres, cuts.offsets, cuts.members, scaled)
        self._nearest: Singles = np.where(self.relaxation.cannot, np.float32(0), start.nearest)
        self._outer = np.outer(self.relaxation.unit, self.relaxation.unit).astype(np.float32)
        self._gram = (self.relaxation.gram / self.penalty).astype(np.float32)
        # The multiplier of the constraint that the halves agree: cuts less slack.
        lagged = cut_matrix(cuts, self.relaxation.weight) - start.slack
        self._lagged: Singles = (lagged / self.penalty).astype(np.float32)
        self._work = np.empty((n, n), dtype=np.float32)
        self._previous = np.empty((n, n), dtype=np.float32)

    def _step(self) -> None:
        self.steps += 1
        matrix = self._nearest - self._lagged
        matrix += self._gram
        factor = self._fantope.factor(matrix)
        Y = np.matmul(factor, factor.T, out=matrix)
        Y += self._outer
        self.Y = Y
        mixed: Singles = self._pace.over_relaxation * Y
        mixed += (1 - self._pace.over_relaxation) * self._nearest
        mixed += self._lagged
        self._nearest, self._previous = self._previous, self._nearest
        self._pool.project(mixed, self._work, self._nearest, SWEEPS)
        mixed -= self._nearest
        self._lagged = mixed

    def _look(self, target: float, stop: Callable[[float], bool]) -> None:
        """Evaluate the bound, and keep the multipliers if it is the best."""
        diagonal, relaxation = self._diagonal(), self.relaxation
        value = relaxation.value(self._lagged, -self.penalty, diagonal)
        in_doubt = value >= target and not relaxation.is_dense
        # Without the time for it this is the last look, and the checker has the last word anyway.
        if in_doubt and not stop(relaxation.exact_seconds):
            value = relaxation.value(self._lagged, -self.penalty, diagonal, exactly=True)
        if value > self.value:
            self.value = value
            if self.steps:
                self.best = self._dual()
        self.history.append(self.value)

    def _diagonal(self) -> Floats | None:
        """Multipliers of the diagonal, where sizes are limited."""
        if self.relaxation.limits is None:
            return None
        # Of cuts that became the same, the pool has one, but the first matrix all of them.
        slack = self._slack(self._cuts()) if self.steps else self.best.slack.astype(np.float64)
        return slack.diagonal()

    def _cuts(self) -> Cuts:
        centres, offsets, members, multipliers = self._pool.arrays()
        return Cuts(centres, offsets, members, multipliers * self.penalty)

    def _slack(self, cuts: Cuts) -> Floats:
        return cut_matrix(cuts, self.relaxation.weight) - self.penalty * self._lagged

    def _dual(self) -> Dual:
        """Multipliers that make up the matrix exactly, whatever the sweeps have rounded."""
        cuts = self._cuts()
        slack = self._slack(cuts)
        diagonal = slack.diagonal().copy()
        np.maximum(slack, 0.0, out=slack, where=~self.relaxation.cannot)
        if self.relaxation.limits is not None:
            np.fill_diagonal(slack, diagonal)
        return Dual(slack.astype(np.float32), cuts, self._nearest.copy(), self.penalty)

    def _separate(self) -> None:
        self._pool.drop(PATIENCE)
        size = self.relaxation.size
        each = self._pace.cuts_per_group
        centres, offsets, members, excess = _core.violated_cuts(
            self.Y, self.relaxation.weight, self._bar, 2 * each, True, self._stopper
        )
        most = max(500, each * size)
        best = np.sort(np.argsort(-excess, kind="stable")[:most])
        self._add(chosen(Cuts(centres, offsets, members, np.zeros(excess.size)), best))
        self._add(violated_equalities(self.relaxation, self._cliques, self.Y, self._bar))
        if excess.size < size // 2:
            self._bar = max(self._bar / 2, LAST_BAR)

    def _add(self, cuts: Cuts) -> None:
        self._pool.add(cuts.centres, cuts.offsets, cuts.members, cuts.multipliers)

    def _adapt(self) -> None:
        """Change the penalty where one residual is much larger than the other."""
        primal = float(np.linalg.norm(self.Y - self._nearest))
        dual = float(np.linalg.norm(self._nearest - self._previous))
        self._fantope.tolerance = max(ACCURACY * min(primal, dual), 1e-5)
        if primal > RISE_AT * dual:
            factor = FACTOR
        elif dual > FALL_AT * primal and self.penalty > LEAST_PENALTY * self.relaxation.magnitude:
            factor = 1 / FACTOR
        else:
            return
        self.penalty *= factor
        self._lagged /= np.float32(factor)
        self._pool.scale_multipliers(1 / factor)
        self._gram = (self.relaxation.gram / self.penalty).astype(np.float32)


def violated_equalities(
    relaxation: Relaxation, cliques: NDArray[np.int32], Y: Singles, bar: float
) -> Cuts:
    """Cuts of cliques of k groups, which every other group is with exactly one of."""
    n, k = relaxation.size, relaxation.n_clusters
    Z = Y / np.sqrt(np.outer(relaxation.weight, relaxation.weight)).astype(np.float32)
    together = sum(Z[:, cliques[:, position]] for position in range(k))
    own = Z.diagonal()[:, None]
    wrong = np.abs(together - own) > bar * own if len(cliques) else np.zeros((n, 0), dtype=bool)
    wrong[cliques.ravel(), np.repeat(np.arange(len(cliques)), k)] = False
    centre, clique = np.nonzero(wrong)
    offsets = k * np.arange(centre.size + 1, dtype=np.int64)
    members = np.ascontiguousarray(cliques[clique].ravel())
    return Cuts(centre.astype(np.int32), offsets, members, np.zeros(centre.size))
