"""A bound by prices of groups, found and proven: ascent and covering in turn.

The ascent promises that no set is worth more than sigma. The covering proves it, for a sigma that
is a little larger: by how much, the tolerance, is what the time allows. It begins wide, so that
there is some bound soon, and narrows; a position that it meets above sigma goes back to the ascent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.problem import Problem
from kempe.proof.nodes import Node, Prices
from kempe.proof.presolve import Merged
from kempe.proof.price_ascent import Floats, PriceAscent, PricedProblem
from kempe.proof.price_rules import Rules
from kempe.proof.relaxation import Data
from kempe.proof.slowdown import Slowdown

# The first tolerance, and by what each is narrower than the one before. Where a covering took too
# long, one between is tried, unless it would be hardly narrower than what is proven.
WIDEST, NARROWER, HARDLY = 0.5, 10.0, 1.3
# Of the gap that the ascent leaves, what the tolerance may add to it in the end.
LOSS_SHARE = 0.1
# Of the time there is, what the first ascent may take, and a covering before it is given up. The
# first covering is wide: where it takes long, space is too large to be covered at all.
ASCENT_SHARE, COVER_SHARE, FIRST_COVER_SHARE = 0.4, 0.5, 0.1
# Steps of the ascent between coverings that met a position above sigma.
STEPS_AFTER = 8
# What the checker takes for a box and for a look at a group, in seconds; it is to be done in a
# minute, also on a machine that has other work to do.
BOX_SECONDS, LOOK_SECONDS, MOST_SECONDS = 3e-4, 7e-8, 45.0
# A covering that would take the checker longer than this share of what is left is not begun.
CHECK_SHARE = 0.6
# Seconds that the first bound takes for each coordinate of a group: some hundred climbs.
FIRST_SECONDS = 2e-6
# With more features than this, about so many rows say in how many dimensions all of them lie.
MANY_FEATURES, SOME_ROWS = 200, 1000
# Room for the checker's rounding, as shares of all prices: more of it where the data needs more.
ROOMS = (1e-10, 1e-8, 1e-6, 1e-4)


@dataclass(frozen=True, eq=False)
class Proven:
    """Prices with a proven sigma, and what the proof took."""

    prices: Floats
    most: float
    rules: Rules
    bound: float
    seconds: float


class PriceProof:
    """Finds prices and proves what they bound.

    Parameters
    ----------
    problem
        What the labels obey.
    merged
        Its groups, after all that cliques imply.
    data
        Its rows and weights.
    labels
        Where the ascent begins.
    gap
        The relative gap at which it ends.
    threads
        Threads of the kernels.
    rng
        Randomness of the positions that are tried.
    stop
        Whether to end.
    report
        Called after every step.
    stopper
        Ends kernels.
    """

    def __init__(
        self,
        problem: Problem,
        merged: Merged,
        data: Data,
        labels: NDArray[np.int32],
        gap: float,
        threads: int,
        rng: np.random.Generator,
        stop: Callable[[], bool],
        report: Callable[[], None],
        stopper: _core.Stopper,
    ) -> None:
        weight, sums = data.sums(merged.group, merged.n_groups)
        heavy = weight > 0
        self.size = int(heavy.sum())
        number = np.cumsum(heavy) - 1
        edges = number[merged.edges[heavy[merged.edges].all(axis=1)]]
        row = np.unique(merged.group, return_index=True)[1]
        self._groups = PricedProblem.of(
            sums[heavy] / weight[heavy, None],
            weight[heavy],
            edges.astype(np.int32),
            problem.n_clusters,
            labels[row][heavy],
        )
        self._inside = data.inertia(merged.group)
        self._deductions = merged.deductions
        self._inertia = data.inertia(labels)
        self._unit, self._gap, self._threads, self._rng = data.unit, gap, threads, rng
        self._stop, self._report, self._stopper = stop, report, stopper
        self._slowdown = Slowdown()
        # What is tried next, what is proven, and what took too long.
        self._tolerance, self._reached, self._too_narrow = WIDEST, WIDEST, 0.0
        self.best: Proven | None = None
        self.n_boxes = 0
        # Looks at groups in a box, on the average: in the first covering perhaps at all of them.
        self._looks = float(self.size)

    @staticmethod
    def first_seconds(problem: Problem) -> float:
        """Estimate how long the first bound takes."""
        return FIRST_SECONDS * problem.n_supernodes * problem.n_features

    @property
    def gap(self) -> float:
        """The relative gap that is left."""
        return self._missing(self.bound)

    @property
    def bound(self) -> float:
        """What is proven so far."""
        return 0.0 if self.best is None else self.best.bound

    @property
    def check_seconds(self) -> float:
        """How long the checker will take, about."""
        return 0.0 if self.best is None else self._slowdown() * self.best.seconds

    def run(self) -> None:
        """Ascend and cover in turn, until the gap is closed, nothing rises, or time is up."""
        share = self._stopper.child(ASCENT_SHARE * self._stopper.remaining)
        ascent = PriceAscent(self._groups, self._threads, self._rng, self._stopper)
        if self._cover(ascent, FIRST_COVER_SHARE) is None:
            return
        self._ascend(ascent, share.look)
        while not self._ends() and self._narrow(ascent):
            pass  # Ends: the tolerance narrows each time, or a set more is known.

    def _ends(self) -> bool:
        return self._stop() or self._missing(self.bound) <= self._gap

    def _missing(self, bound: float) -> float:
        return (self._inertia - bound) / self._inertia if self._inertia > 0 else 0.0

    def _ascend(self, ascent: PriceAscent, share: Callable[[], bool]) -> None:
        wanted = self._gap / 2
        while not (share() or self._stop() or ascent.has_stalled()):
            ascent.step()
            self._report()
            if self._missing(self._inside + ascent.bound) <= wanted:
                return

    def _narrow(self, ascent: PriceAscent) -> bool:
        """Cover more tightly, or ascend where that met something; whether to go on."""
        least = self._least_tolerance(ascent)
        self._tolerance = max(self._next_tolerance(), least)
        met = self._cover(ascent, COVER_SHARE)
        if met is None:
            self._too_narrow = self._tolerance
            return self._reached > HARDLY * self._too_narrow
        if not met.size:
            self._reached = self._tolerance
            if self._tolerance > least:
                return self._next_tolerance() * HARDLY < self._reached
        before = ascent.bound
        ascent.meet(met)
        steps = iter(range(STEPS_AFTER))
        self._ascend(ascent, lambda: next(steps, None) is None)
        return bool(met.size) or (ascent.bound > before and not ascent.has_stalled())

    def _least_tolerance(self, ascent: PriceAscent) -> float:
        """Say what adds next to nothing to the gap that the ascent leaves."""
        left = max(self._missing(self._inside + ascent.bound), self._gap / 2) * self._inertia
        return LOSS_SHARE * left / max(self._groups.n_clusters * ascent.sigma, 1e-300)

    def _next_tolerance(self) -> float:
        narrower = self._reached / NARROWER
        return max(narrower, math.sqrt(self._reached * self._too_narrow))

    def _cover(self, ascent: PriceAscent, most_time: float) -> Floats | None:
        """Prove sigma up to the tolerance; a position where it is exceeded, or an empty one.

        ``None`` if the proof takes longer than this share of the time.
        """
        remaining = self._stopper.remaining
        # If this fails, what is proven already must still be checked.
        share = self._stopper.child(most_time * max(remaining - self.check_seconds, 0.0))
        work = min(MOST_SECONDS, CHECK_SHARE * remaining / self._slowdown())
        most = work / (BOX_SECONDS + LOOK_SECONDS * self._looks)
        target = ascent.sigma * (1 + self._tolerance)
        proven, boxes, looks, above = ascent.pricing.cover(
            ascent.prices, target, int(min(most, 1e6)) + 1, share
        )
        self.n_boxes += boxes
        self._looks = looks / max(boxes, 1)
        if not proven:
            return np.asarray(above) if above.size else None
        bound = self._inside + float(ascent.prices.sum()) - self._groups.n_clusters * target
        seconds = BOX_SECONDS * boxes + LOOK_SECONDS * looks
        if bound > self.bound:
            self.best = Proven(ascent.prices, target, ascent.rules, bound, seconds)
            self._report()
        return np.empty(0)

    def nodes(self, room: float) -> tuple[Node, ...]:
        """Give the tree of the certificate, one node, with some room for rounding."""
        if self.best is None:
            return ()
        best = self.best
        most = best.most + room * float(best.prices.sum()) / self._groups.n_clusters
        prices = Prices(best.prices, most, best.rules.unit, best.rules.hubs, self._unit)
        return (Node(None, "prices", deductions=self._deductions, prices=prices),)


def effective_dimension(data: Data) -> float:
    """Say in how many dimensions the rows lie, if all of them had the same variance.

    The work grows with the square of the features: where there are many, some rows must do.
    """
    rows, weight = data.rows, data.weight
    if rows.shape[1] > MANY_FEATURES:
        heavy = np.flatnonzero(weight)
        some = heavy[:: -(-heavy.size // SOME_ROWS)]
        rows, weight = rows[some], weight[some]
    centred = np.sqrt(weight)[:, None] * (rows - weight @ rows / weight.sum())
    scatter = centred @ centred.T if len(rows) < rows.shape[1] else centred.T @ centred
    squares = float((scatter**2).sum())
    return float(np.trace(scatter)) ** 2 / squares if squares > 0 else 0.0
