"""The linear relaxation of an assignment, with rows and variables that are added when they matter.

It is often integral by itself. Where it is not, its reduced costs rule out every choice that cannot
lead below the best colouring known. Rows are added when they are violated and variables when the
prices of the rows make them attractive, so models stay small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kempe.exact.heuristics import Heuristics
from kempe.exact.highs import LinearSolution, solve_relaxation
from kempe.exact.knowledge import AssignmentKnowledge
from kempe.exact.part import Floats
from kempe.exact.prices import CliquePrices
from kempe.exact.separation import violated_cliques
from kempe.graph.cpsat import has_ortools

# The first relaxation has so many of the cheapest choices of each vertex.
FIRST_CHOICES = 5
# A choice is attractive if it costs less than the others by this, where costs are of order one.
DEAR = 1e-7
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


@dataclass
class Memory:
    """What the relaxation of one task tells that of the next.

    Attributes
    ----------
    rows
        Which (clique, cluster) rows had a price.
    prices
        Prices in the user's costs.
    """

    rows: NDArray[np.bool_]
    prices: CliquePrices

    def add(self, prices: CliquePrices, scale: float) -> None:
        """Remember the prices of one more model."""
        self.rows[prices.cliques.nonzero()] = True
        self.prices = prices.times(scale)

    def lengthen(self, count: int) -> None:
        """Make room for new cliques, whose rows have had no price yet."""
        self.rows = _lengthened(self.rows, count)
        self.prices = self.prices.lengthened(count)


class LinearRelaxation:
    """Bounds, and the choices that are left.

    Attributes
    ----------
    open
        Which clusters each vertex may still take.
    rows
        Which (clique, cluster) rows the relaxation has.
    reduced
        Reduced cost per vertex and cluster.
    weak
        Whether the relaxation says too little to build on.
    memory
        What serves the next task.
    """

    def __init__(
        self, known: AssignmentKnowledge, heuristics: Heuristics, memory: Memory | None = None
    ) -> None:
        self._known = known
        self._heuristics = heuristics
        part = known.part
        finite = np.isfinite(part.costs)
        self.open = finite if part.cover else finite & _worth_it(part.costs, part.graph.degree)
        self.rows = self._first_rows() if memory is None else memory.rows.copy()
        self.reduced: Floats = part.costs
        self._bounds = known.lower
        self.weak = False
        self.memory = memory or Memory(np.zeros_like(self.rows), CliquePrices.none(part))

    @property
    def is_useless(self) -> bool:
        """Whether to leave all to CP-SAT, which does not build on the relaxation."""
        task = self._known.task
        suited = task.first or task.costs.shape[1] <= FEW_CLUSTERS
        return self.weak and suited and task.solver == "auto" and has_ortools()

    def solve(self) -> None:
        """Solve it again and again until no row is violated and no other choice attractive."""
        known, task = self._known, self._known.task
        prices = self.memory.prices.times(1.0 / known.scale)
        self._heed(prices, prices.paid(known.part))
        chosen = self._first_choices()
        while not known.finished and not task.stopper.look():
            chosen = (chosen | self._anchors()) & self.open & self._undecided()[:, None]
            if chosen.sum() > LARGEST_MODEL:
                return
            solution, infeasible = solve_relaxation(
                known.part, chosen, self.rows, task.stopper.remaining, task.effort
            )
            if solution is None:
                # Nothing has been ruled out while no colouring is known.
                known.infeasible = infeasible and not known.has_colouring
                # One that takes too long is as little use as a weak one.
                self.weak = not infeasible
                return
            violated = known.part.cliques.overloaded(solution.shares, 1.0 + ROUNDING)
            attractive = self._learn(solution, chosen, np.asarray(violated.any(axis=1)))
            # Only rows and choices that are new count, and there are finitely many: so this ends.
            added = violated & ~self.rows & self._rows_of_unsolved()[:, None]
            self.rows |= violated
            chosen |= attractive
            if not (added.any() or attractive.any() or self._tighten(solution)):
                # Before, rows and choices are missing, and it seems weaker than it is.
                self.weak = self._is_weak(solution)
                return

    def _tighten(self, solution: LinearSolution) -> bool:
        """Add cliques that the solution violates; say whether there are any."""
        known = self._known
        active = known.unsolved[known.component][:, None]
        found = violated_cliques(known.part.graph, np.where(active, solution.shares, 0.0))
        if not found:
            return False
        known.part = replace(known.part, cliques=known.part.cliques.extended(found))
        self.rows = _lengthened(self.rows, known.part.cliques.count)
        self.rows |= known.part.cliques.overloaded(solution.shares, 1.0 + ROUNDING)
        self.memory.lengthen(known.part.cliques.count)
        return True

    def rule_out(self) -> None:
        """Drop the choices whose reduced cost exceeds the gap, but not those of the best."""
        known = self._known
        # The gap above the bound of the same prices: another one, if higher, says nothing here.
        gap = (known.upper - self._bounds + known.tolerance)[known.component]
        self.open &= self.reduced <= gap[:, None]
        coloured = np.flatnonzero(np.isfinite(known.upper)[known.component])
        self.open[coloured, known.best[coloured]] = True

    def choices(self) -> NDArray[np.bool_]:
        """Choices that are left, where uncontested vertices have only the nearest cluster."""
        nearest = self._known.part.costs == 0.0
        return np.asarray(np.where(self._undecided()[:, None], self.open, self.open & nearest))

    def _first_rows(self) -> NDArray[np.bool_]:
        """Rows that all vertices in their nearest clusters would violate."""
        part = self._known.part
        return part.cliques.overloaded((part.costs == 0.0).astype(np.float64), 1.0)

    def _undecided(self) -> NDArray[np.bool_]:
        """Vertices whose nearest cluster a neighbour may want as well; the others take it."""
        part = self._known.part
        if part.cover:
            return np.ones(part.graph.size, dtype=bool)
        wanted = part.graph.matrix @ self.open.astype(np.float32)
        nearest = part.costs.argmin(axis=1)
        contested = wanted[np.arange(part.graph.size), nearest] > 0
        return np.asarray(contested & self._known.unsolved[self._known.component])

    def _first_choices(self) -> NDArray[np.bool_]:
        """Choices with which a model begins: the cheapest few, or all without a colouring."""
        reduced = np.where(self.open, self.reduced, np.inf)
        last = min(FIRST_CHOICES, reduced.shape[1]) - 1
        cheap = reduced <= np.partition(reduced, last, axis=1)[:, [last]]
        coloured = np.isfinite(self._known.upper)[self._known.component]
        return np.asarray(self.open & (cheap | ~coloured[:, None]))

    def _anchors(self) -> NDArray[np.bool_]:
        """Choices without which a model would leave out vertices, or have no solution."""
        known = self._known
        anchors = np.where(self.open, self.reduced, np.inf) <= 0.0
        coloured = np.flatnonzero(np.isfinite(known.upper)[known.component])
        anchors[coloured, known.best[coloured]] = True
        return np.asarray(anchors)

    def _heed(self, prices: CliquePrices, paid: Floats) -> None:
        """Draw bounds and reduced costs from prices and what is paid then; rule out choices."""
        known = self._known
        least = np.where(self.open, paid, np.inf).min(axis=1)
        self.reduced = paid - least[:, None]
        self._bounds = prices.bounds(least, known.part, known.component)
        known.lower = np.maximum(known.lower, self._bounds)
        self.rule_out()

    def _learn(
        self, solution: LinearSolution, chosen: NDArray[np.bool_], violated: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Bounds, colourings and ruled-out choices from a solution of the relaxation.

        Parameters
        ----------
        chosen
            The choices that were variables.
        violated
            Cliques with a row that the solution violates.

        Returns
        -------
        attractive
            Other choices that would lower the relaxation.
        """
        known, costs = self._known, self._known.part.costs
        self.memory.add(solution.prices, known.scale)
        active, present = known.unsolved[known.component], np.asarray(chosen.any(axis=1))
        rounded = np.where(present[:, None], solution.shares, -costs).argmax(axis=1)
        known.offer(np.where(active, rounded, known.best).astype(np.int32))
        paid = solution.prices.paid(known.part)
        limit = np.where(chosen, paid, np.inf).min(axis=1)
        limit[~present] = -np.inf
        attractive = self.open & (paid < limit[:, None] - DEAR)
        solved = self._integral(solution, violated, np.asarray(attractive.any(axis=1)))
        known.lower = np.where(solved, known.upper, known.lower)
        # Prefer large shares, then low costs.
        if not known.finished:
            self._heuristics.guess(np.asarray(1e-3 * costs - solution.shares))
        self._heed(solution.prices, paid)
        return np.asarray(attractive & known.unsolved[known.component][:, None])

    def _integral(
        self,
        solution: LinearSolution,
        violated: NDArray[np.bool_],
        incomplete: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Components that the relaxation has solved; not those with incomplete vertices."""
        component, cliques = self._known.component, self._known.part.cliques
        split = (np.abs(solution.shares - 0.5) < 0.5 - ROUNDING).any(axis=1)
        wrong = np.zeros(self._known.count, dtype=bool)
        wrong[component[split | incomplete]] = True
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
    last = np.minimum(degree, costs.shape[1] - 1)
    nearest = np.partition(costs, int(last.max(initial=0)), axis=1)[:, : last.max(initial=0) + 1]
    nearest.sort(axis=1)
    worth = np.asarray(costs <= np.take_along_axis(nearest, last[:, None], axis=1))
    # Where others are as near as the last of them, the first ones count.
    tied = np.flatnonzero(worth.sum(axis=1) > last + 1)
    worth[tied] = _rank(costs[tied]) <= last[tied, None]
    return worth


def _lengthened(rows: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """Append empty rows until there are so many."""
    more = np.zeros((count - rows.shape[0], rows.shape[1]), dtype=bool)
    return np.concatenate([rows, more])


def _rank(costs: Floats) -> NDArray[np.intp]:
    """Rank of each cluster among those of a vertex; 0 is the nearest."""
    rank = np.empty(costs.shape, dtype=np.intp)
    order = np.argsort(costs, axis=1, kind="stable")
    np.put_along_axis(rank, order, np.arange(costs.shape[1])[None, :], axis=1)
    return rank
