"""The linear relaxation of an assignment, with clique rows that are added when they are violated.

It is often integral by itself. Where it is not, its reduced costs rule out every choice that cannot
lead below the best colouring known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe.exact.heuristics import Heuristics
from kempe.exact.highs import LinearSolution, solve_relaxation
from kempe.exact.knowledge import Knowledge
from kempe.exact.part import Floats
from kempe.graph.cpsat import has_ortools

# The first relaxation has a row where vertices of a clique share one of so many nearest clusters;
# fewer if there are few clusters, where that would mean all rows.
FIRST_RANKS = 3
# A row of the relaxation is violated, and a share fractional, beyond this.
ROUNDING = 1e-6
# A relaxation with more than this share, and this number, of fractional vertices is too weak to
# build on.
WEAK = 0.4
WEAK_COUNT = 15
# So is one this far below the best colouring, if any better colouring will do.
WEAK_GAP = 0.25
# With so few clusters, cliques are so small that a weak relaxation stays weak however HiGHS
# branches. CP-SAT, which reasons without it, was never slower there, and 8 and 35 times as fast
# on collection 1's newthyroid and tae without must-link pairs.
FEW_CLUSTERS = 5
# Models with more variables than this are left to the heuristics.
LARGEST_MODEL = 1_000_000


class Relaxation:
    """Bounds, and the choices that are left.

    Attributes
    ----------
    open
        Which clusters each vertex may still take.
    rows
        Which (clique, cluster) rows the relaxation has; they serve the next task as well.
    reduced
        Reduced cost per vertex and cluster.
    weak
        Whether the relaxation says too little to build on.
    """

    def __init__(
        self, known: Knowledge, heuristics: Heuristics, rows: NDArray[np.bool_] | None
    ) -> None:
        self._known = known
        self._heuristics = heuristics
        part = known.part
        finite = np.isfinite(part.costs)
        self.open = finite if part.cover else finite & _worth_it(part.costs, part.graph.degree)
        self.rows = rows
        self.reduced: Floats = part.costs
        self.weak = False

    @property
    def is_useless(self) -> bool:
        """Whether to leave all to CP-SAT, which does not build on the relaxation."""
        task = self._known.task
        suited = task.first or task.costs.shape[1] <= FEW_CLUSTERS
        return self.weak and suited and task.solver == "auto" and has_ortools()

    def solve(self) -> None:
        """Solve it again and again, adding violated rows, until none is violated."""
        known, task = self._known, self._known.task
        self.rows = self._first_rows() if self.rows is None else self.rows
        # Without a row the cost above the nearest cluster is the reduced cost.
        self.rule_out(known.part.costs)
        while not task.stopper.look():
            open_ = self.open & self._undecided()[:, None]
            if open_.sum() > LARGEST_MODEL:
                return
            solution, infeasible = solve_relaxation(
                known.part, open_, self.rows, task.stopper.remaining, task.effort
            )
            if solution is None:
                # Nothing has been ruled out while no colouring is known.
                known.infeasible = infeasible and not known.has_colouring
                # One that takes too long is as little use as a weak one.
                self.weak = not infeasible
                return
            violated = np.asarray(known.part.cliques.loads(solution.shares) > 1.0 + ROUNDING)
            self._learn(solution, np.asarray(violated.any(axis=1)))
            # Only rows that are new count, and there are finitely many: so this ends.
            added = violated & ~self.rows & self._rows_of_unsolved()[:, None]
            self.rows |= violated
            self.weak = self._is_weak(solution)
            if known.finished or self.is_useless or not added.any():
                return

    def rule_out(self, reduced: Floats) -> None:
        """Drop the choices whose reduced cost exceeds the gap, but not those of the best."""
        known = self._known
        gap = (known.upper - known.lower + known.tolerance)[known.component]
        self.open &= reduced <= gap[:, None]
        coloured = np.flatnonzero(np.isfinite(known.upper)[known.component])
        self.open[coloured, known.best[coloured]] = True

    def choices(self) -> NDArray[np.bool_]:
        """Choices that are left, where uncontested vertices have only the nearest cluster."""
        nearest = self._known.part.costs == 0.0
        return np.asarray(np.where(self._undecided()[:, None], self.open, self.open & nearest))

    def _first_rows(self) -> NDArray[np.bool_]:
        part = self._known.part
        ranks = min(FIRST_RANKS, 1 + part.costs.shape[1] // 5)
        nearest = _rank(part.costs) < ranks
        return np.asarray(part.cliques.loads(nearest.astype(float)) > 1.0)

    def _undecided(self) -> NDArray[np.bool_]:
        """Vertices whose nearest cluster a neighbour may want as well; the others take it."""
        part = self._known.part
        if part.cover:
            return np.ones(part.graph.size, dtype=bool)
        wanted = part.graph.matrix @ self.open.astype(np.float32)
        nearest = part.costs.argmin(axis=1)
        contested = wanted[np.arange(part.graph.size), nearest] > 0
        return np.asarray(contested & self._known.unsolved[self._known.component])

    def _learn(self, solution: LinearSolution, violated: NDArray[np.bool_]) -> None:
        """Bounds, colourings and ruled-out choices from a solution of the relaxation.

        Parameters
        ----------
        violated
            Cliques with a row that the solution violates.
        """
        known, costs = self._known, self._known.part.costs
        spent = np.where(self.open, costs, 0.0) * solution.shares
        value = np.bincount(known.component, spent.sum(axis=1), known.count)
        active = known.unsolved
        known.lower[active] = np.maximum(known.lower, value)[active]
        present = np.asarray(solution.shares.any(axis=1))[:, None]
        rounded = np.where(present, solution.shares, -costs).argmax(axis=1)
        known.offer(np.where(active[known.component], rounded, known.best).astype(np.int32))
        known.lower = np.where(self._integral(solution, violated), known.upper, known.lower)
        if known.finished:
            return
        # Prefer large shares, then low costs.
        self._heuristics.guess(np.asarray(1e-3 * costs - solution.shares))
        self.reduced = np.where(present, solution.reduced, 0.0)
        self.rule_out(self.reduced)

    def _integral(self, solution: LinearSolution, violated: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Components that the relaxation has solved."""
        component, cliques = self._known.component, self._known.part.cliques
        split = (np.abs(solution.shares - 0.5) < 0.5 - ROUNDING).any(axis=1)
        wrong = np.zeros(self._known.count, dtype=bool)
        wrong[component[split]] = True
        wrong[component[cliques.members[cliques.offsets[:-1][violated]]]] = True
        return ~wrong & self._known.unsolved

    def _is_weak(self, solution: LinearSolution) -> bool:
        known = self._known
        largest = solution.shares[known.unsolved[known.component]].max(axis=1, initial=0.0)
        split = int(np.sum((largest > 0.0) & (largest < 1.0 - ROUNDING)))
        far = known.task.first and bool(known.lower.sum() < (1 - WEAK_GAP) * known.upper.sum())
        return far or split > max(WEAK_COUNT, WEAK * int(np.sum(largest > 0.0)))

    def _rows_of_unsolved(self) -> NDArray[np.bool_]:
        cliques = self._known.part.cliques
        first = cliques.members[cliques.offsets[:-1]]
        return self._known.unsolved[self._known.component[first]]


def _worth_it(costs: Floats, degree: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Clusters worth looking at: of the nearest degree + 1 at least one is always admissible."""
    return np.asarray(_rank(costs) <= degree[:, None])


def _rank(costs: Floats) -> NDArray[np.intp]:
    """Rank of each cluster among those of a vertex; 0 is the nearest."""
    rank = np.empty(costs.shape, dtype=np.intp)
    order = np.argsort(costs, axis=1, kind="stable")
    np.put_along_axis(rank, order, np.arange(costs.shape[1])[None, :], axis=1)
    return rank
