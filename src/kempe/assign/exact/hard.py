"""The part of the assignment that is neither free nor a clique: relax, bound, fix, branch.

The linear relaxation with clique rows is often integral by itself. Where it is not, its reduced
costs rule out every choice that cannot lead below the best colouring known, and a small integer
program is left. Rows are added only when a solution violates them, and kept for the next call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kempe import _core
from kempe.assign.annealing import anneal
from kempe.assign.exact.cpsat import solve_by_cpsat
from kempe.assign.exact.gurobi import solve_by_gurobi
from kempe.assign.exact.highs import LinearSolution, solve_integer, solve_relaxation
from kempe.assign.exact.part import CliqueRows, Outcome, Part
from kempe.colouring import colour_graph, has_ortools
from kempe.graph import CannotLinkGraph
from kempe.problem import Colours

Backend = Literal["auto", "lp", "cpsat", "gurobi"]
Floats = NDArray[np.float64]

# Two costs closer than this, relative to the total, count as equal.
TOLERANCE = 1e-7
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
# Choices whose reduced cost is below these shares of the gap are looked at first, each time for at
# most this share of the time that is left.
LIKED = (0.01, 0.1)
POLISHING = 0.2
# Models with more variables than this are left to the heuristics.
LARGEST_MODEL = 1_000_000
# How slowly annealing cools before a solver is asked, which would take far longer.
ANNEALING_PATIENCE = 5
# Turns of the colouring heuristics when no colouring is known.
COLOURING_TURNS = 4


@dataclass(frozen=True)
class Task:
    """What is asked of the solver in one call.

    ``effort`` limits the solvers by the work they do, not by the clock, in units of about a second.
    """

    costs: Floats
    incumbent: Colours | None
    first: bool
    backend: Backend
    rng: np.random.Generator
    stopper: _core.Stopper
    effort: float = math.inf


class Piece(NamedTuple):
    """One component: its vertices, graph and cliques, and which cliques of the whole they are."""

    vertices: NDArray[np.intp]
    graph: CannotLinkGraph
    cliques: CliqueRows
    which: NDArray[np.intp]


class HardPart:
    """Vertices whose assignment needs a solver; remembers what one call teaches for the next.

    Parameters
    ----------
    graph
        Their cannot-link graph.
    cover
        Whether every cluster must get a vertex, which ties all components together.
    """

    def __init__(self, graph: CannotLinkGraph, *, cover: bool = False) -> None:
        self.graph = graph
        self.cover = cover
        self.cliques = CliqueRows.of(graph)
        self.component = np.zeros(graph.size, np.int32) if cover else graph.components
        self.rows: NDArray[np.bool_] | None = None
        self._pieces: dict[int, Piece] = {}

    def solve(self, task: Task) -> Outcome:
        """Solve the part; the outcome is complete if it is optimal or there is no colouring."""
        return _Search(self, task).run()

    def piece(self, component: int) -> Piece:
        """One component by itself."""
        if component not in self._pieces:
            vertices = np.flatnonzero(self.component == component)
            cliques, which = self.cliques.among(vertices)
            self._pieces[component] = Piece(vertices, self.graph.induced(vertices), cliques, which)
        return self._pieces[component]


class _Search:
    """One call: the best colouring and the bounds of every component."""

    def __init__(self, hard: HardPart, task: Task) -> None:
        self.hard = hard
        self.task = task
        self.graph = hard.graph
        nearest = task.costs.min(axis=1)
        relative = task.costs - nearest[:, None]
        finite = np.isfinite(relative)
        # Solvers have absolute tolerances, so costs are scaled to the order of one.
        self.scale = float(relative[finite].mean()) or 1.0
        self.base = float(nearest.sum())
        self.part = Part(self.graph, hard.cliques, relative / self.scale, None, hard.cover)
        self.open = finite if hard.cover else finite & _worth_it(relative, self.graph.degree)
        self.count = int(hard.component.max(initial=-1)) + 1
        self.best: Colours = np.zeros(self.graph.size, dtype=np.int32)
        self.upper = np.full(self.count, np.inf)
        self.lower = np.zeros(self.count)
        self.infeasible = False
        self.weak = False
        self.reduced = self.part.costs
        if task.incumbent is not None:
            self.offer(task.incumbent)
        self.start = float(self.upper.sum())

    def run(self) -> Outcome:
        steps = [self.descend, self.relax, self.anneal, self.polish, self.branch]
        if self.task.backend in ("cpsat", "gurobi"):
            steps = [self.branch]
        for step in steps:
            step()
            if self.infeasible or self.finished or self.task.stopper.look():
                break
        return self.outcome()

    @property
    def tolerance(self) -> float:
        known = self.upper[np.isfinite(self.upper)].sum()
        return TOLERANCE * (1.0 + float(known)) / max(1, self.count)

    @property
    def unsolved(self) -> NDArray[np.bool_]:
        return self.upper - self.lower > self.tolerance

    @property
    def finished(self) -> bool:
        if self.task.first and self.upper.sum() < self.start - self.tolerance:
            return bool(np.isfinite(self.upper).all())
        return not self.unsolved.any()

    def outcome(self) -> Outcome:
        if self.infeasible:
            return Outcome(None, np.inf, complete=True)
        bound = self.base + self.scale * float(np.minimum(self.lower, self.upper).sum())
        if not np.isfinite(self.upper).all():
            return Outcome(None, bound, complete=False)
        return Outcome(self.best, bound, complete=not self.unsolved.any())

    def offer(self, colours: Colours) -> None:
        """Keep those components of a colouring that are better than the best known."""
        if self.hard.cover:
            colours = cover_clusters(self.part.costs, colours)
            if not self.part.accepts(colours):
                return
        component = self.hard.component
        costs = self.part.costs[np.arange(colours.size), colours]
        source = np.repeat(np.arange(self.graph.size), self.graph.degree)
        wrong = (colours[source] == colours[self.graph.targets]) | (colours[source] < 0)
        total = np.bincount(component, costs, self.count)
        total[component[source[wrong]]] = np.inf
        better = total < self.upper
        self.upper[better] = total[better]
        chosen = better[component]
        self.best[chosen] = colours[chosen]

    def descend(self) -> None:
        """Colourings without a solver: cheapest first, or any at all, then Kempe chains."""
        if self.task.incumbent is not None:
            self.offer_descended(self.best)
            if self.finished:
                return
        self.guess(self.part.costs)
        if not np.isfinite(self.upper).all():
            self.colour()

    def guess(self, guide: Floats) -> None:
        graph = self.graph
        colours, complete = _core.cheapest_colouring(graph.offsets, graph.targets, guide)
        if complete:
            self.offer_descended(colours)

    def offer_descended(self, colours: Colours) -> None:
        graph = self.graph
        self.offer(
            _core.chain_descent(
                graph.offsets, graph.targets, self.part.costs, colours, self.task.stopper
            )
        )

    def colour(self) -> None:
        """Any colouring, from the heuristics that ignore the costs."""
        k = self.part.costs.shape[1]
        if not np.isfinite(self.part.costs).all():
            self.colour_from_lists()
            return
        answer = colour_graph(
            self.graph, k, self.task.rng, self.task.stopper, turns=COLOURING_TURNS
        )
        self.infeasible = answer.core is not None
        if answer.colours is not None:
            self.offer_descended(match_colours(answer.colours, self.part.costs, self.graph))

    def colour_from_lists(self) -> None:
        graph, costs = self.graph, self.part.costs
        for turn in range(COLOURING_TURNS):
            colours, conflicts = _core.tabu_colouring(
                graph.offsets,
                graph.targets,
                costs.shape[1],
                costs.argmin(axis=1).astype(np.int32),
                np.isfinite(costs).astype(np.uint8),
                int(self.task.rng.integers(2**63)),
                20_000 * 3**turn,
                self.task.stopper,
            )
            if conflicts == 0:
                self.offer_descended(colours)
                return

    def relax(self) -> None:
        """Solve the linear relaxation, adding violated rows, until none is violated."""
        if self.hard.rows is None:
            ranks = min(FIRST_RANKS, 1 + self.part.costs.shape[1] // 5)
            nearest = _rank(self.part.costs) < ranks
            self.hard.rows = self.hard.cliques.loads(nearest.astype(float)) > 1.0
        # Without a row the cost above the nearest cluster is the reduced cost.
        self.rule_out(self.part.costs)
        while not self.task.stopper.look():
            open_ = self.open & self.undecided()[:, None]
            if open_.sum() > LARGEST_MODEL:
                return
            solution, infeasible = solve_relaxation(
                self.part, open_, self.hard.rows, self.task.stopper.remaining, self.task.effort
            )
            if solution is None:
                # Nothing has been ruled out while no colouring is known.
                self.infeasible = infeasible and not np.isfinite(self.upper).all()
                # One that takes too long is as little use as a weak one.
                self.weak = not infeasible
                return
            violated = np.asarray(self.hard.cliques.loads(solution.shares) > 1.0 + ROUNDING)
            self.learn(solution, np.asarray(violated.any(axis=1)))
            self.hard.rows |= violated
            self.weak = self.is_weak(solution)
            violated &= self.rows_of_unsolved()[:, None]
            if self.finished or self.gives_up_relaxation or not violated.any():
                return

    @property
    def gives_up_relaxation(self) -> bool:
        """Whether to leave all to CP-SAT, which does not build on the relaxation."""
        return self.weak and self.task.backend == "auto" and has_ortools()

    def anneal(self) -> None:
        """Where the relaxation says little, look for a better colouring without a solver."""
        if self.weak and self.task.first and np.isfinite(self.upper).all() and not self.hard.cover:
            task = self.task
            self.offer_descended(
                anneal(
                    self.graph,
                    self.part.costs,
                    self.best,
                    task.rng,
                    task.stopper,
                    patience=ANNEALING_PATIENCE,
                )
            )

    def integral(self, solution: LinearSolution, violated: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Components that the relaxation has solved."""
        component, cliques = self.hard.component, self.hard.cliques
        split = (np.abs(solution.shares - 0.5) < 0.5 - ROUNDING).any(axis=1)
        wrong = np.zeros(self.count, dtype=bool)
        wrong[component[split]] = True
        wrong[component[cliques.members[cliques.offsets[:-1][violated]]]] = True
        return ~wrong & self.unsolved

    def is_weak(self, solution: LinearSolution) -> bool:
        largest = solution.shares[self.unsolved[self.hard.component]].max(axis=1, initial=0.0)
        split = int(np.sum((largest > 0.0) & (largest < 1.0 - ROUNDING)))
        far = self.task.first and bool(self.lower.sum() < (1 - WEAK_GAP) * self.upper.sum())
        return far or split > max(WEAK_COUNT, WEAK * int(np.sum(largest > 0.0)))

    def rows_of_unsolved(self) -> NDArray[np.bool_]:
        first = self.hard.cliques.members[self.hard.cliques.offsets[:-1]]
        return self.unsolved[self.hard.component[first]]

    def learn(self, solution: LinearSolution, violated: NDArray[np.bool_]) -> None:
        """Bounds, colourings and ruled-out choices from a solution of the relaxation.

        Parameters
        ----------
        violated
            Cliques with a row that the solution violates.
        """
        component = self.hard.component
        spent = np.where(self.open, self.part.costs, 0.0) * solution.shares
        value = np.bincount(component, spent.sum(axis=1), self.count)
        active = self.unsolved
        self.lower[active] = np.maximum(self.lower, value)[active]
        present = np.asarray(solution.shares.any(axis=1))[:, None]
        rounded = np.where(present, solution.shares, -self.part.costs).argmax(axis=1)
        self.offer(np.where(active[component], rounded, self.best).astype(np.int32))
        self.lower = np.where(self.integral(solution, violated), self.upper, self.lower)
        if self.finished:
            return
        self.guess(_guide(self.part.costs, solution))
        self.reduced = np.where(present, solution.reduced, 0.0)
        self.rule_out(self.reduced)

    def rule_out(self, reduced: Floats) -> None:
        """Drop the choices whose reduced cost exceeds the gap, but not those of the best."""
        component = self.hard.component
        gap = (self.upper - self.lower + self.tolerance)[component]
        self.open &= reduced <= gap[:, None]
        known = np.flatnonzero(np.isfinite(self.upper)[component])
        self.open[known, self.best[known]] = True

    def undecided(self) -> NDArray[np.bool_]:
        """Vertices whose nearest cluster a neighbour may want as well; the others take it."""
        if self.hard.cover:
            return np.ones(self.graph.size, dtype=bool)
        wanted = self.graph.matrix @ self.open.astype(np.float32)
        nearest = self.part.costs.argmin(axis=1)
        contested = wanted[np.arange(self.graph.size), nearest] > 0
        return np.asarray(contested & self.unsolved[self.hard.component])

    def polish(self) -> None:
        """Look for a better colouring among the choices that the relaxation likes most."""
        for share in LIKED:
            if self.gives_up_relaxation or self.finished or not np.isfinite(self.upper).all():
                return
            gap = (self.upper - self.lower)[self.hard.component]
            liked = self.settled_open() & (self.reduced <= share * gap[:, None])
            liked[np.arange(self.graph.size), self.best] = True
            self.solve_components(liked, POLISHING * self.task.stopper.remaining, proof=False)
            self.rule_out(self.reduced)

    def branch(self) -> None:
        """Solve what is left by branch and bound."""
        self.solve_components(self.settled_open(), self.task.stopper.remaining, proof=True)

    def settled_open(self) -> NDArray[np.bool_]:
        """Choices that are left, where uncontested vertices have only the nearest cluster."""
        nearest = self.part.costs == 0.0
        return np.asarray(np.where(self.undecided()[:, None], self.open, self.open & nearest))

    def solve_components(self, open_: NDArray[np.bool_], seconds: float, *, proof: bool) -> None:
        """Solve each component by branch and bound, the smallest first.

        Parameters
        ----------
        open_
            Choices to look at.
        proof
            Whether these are all the choices that can lead below the best.
        """
        size = np.bincount(self.hard.component, minlength=self.count)
        deadline = self.task.stopper.remaining - seconds
        for component in sorted(np.flatnonzero(self.unsolved), key=size.__getitem__):
            left = self.task.stopper.remaining - deadline if np.isfinite(seconds) else seconds
            if self.finished or self.infeasible or left <= 0 or self.task.stopper.look():
                return
            outcome = self.solve_component(int(component), open_, left, proof=proof)
            if proof:
                self.conclude(int(component), outcome)

    def solve_component(
        self, component: int, open_: NDArray[np.bool_], seconds: float, *, proof: bool
    ) -> Outcome:
        vertices, graph, cliques, which = self.hard.piece(component)
        if open_[vertices].sum() > LARGEST_MODEL:
            return Outcome(None, -np.inf, complete=False)
        known = np.isfinite(self.upper[component])
        costs = np.where(open_[vertices], self.part.costs[vertices], np.inf)
        incumbent = self.best[vertices] if known else None
        rows = None if self.hard.rows is None else self.hard.rows[which]
        part = Part(graph, cliques, costs, incumbent, self.hard.cover, rows)
        solve = self.call_solver if proof else self.call_highs
        outcome = solve(part, seconds)
        if outcome.colours is not None:
            colours = self.best.copy()
            colours[vertices] = outcome.colours
            self.offer(colours)
        return outcome

    def conclude(self, component: int, outcome: Outcome) -> None:
        """Draw bounds from the outcome of a complete model."""
        if outcome.complete and not np.isfinite(self.upper[component]):
            self.infeasible = True
        elif outcome.complete and not (self.task.first and outcome.colours is not None):
            self.lower[component] = self.upper[component]
        proven = min(outcome.bound, self.upper[component])
        self.lower[component] = max(self.lower[component], proven)

    def call_solver(self, part: Part, seconds: float) -> Outcome:
        task = self.task
        seed = int(task.rng.integers(2**31))
        if task.backend == "gurobi":
            return solve_by_gurobi(part, seconds, first=task.first, seed=seed)
        auto = task.backend == "auto" and has_ortools()
        if task.backend == "cpsat" or (auto and (task.first or self.weak)):
            return solve_by_cpsat(part, seconds, task.effort, first=task.first, seed=seed)
        return self.call_highs(part, seconds)

    def call_highs(self, part: Part, seconds: float) -> Outcome:
        return solve_integer(part, seconds, self.task.effort)


def _worth_it(costs: Floats, degree: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Clusters worth looking at: of the nearest degree + 1 at least one is always admissible."""
    return np.asarray(_rank(costs) <= degree[:, None])


def _rank(costs: Floats) -> NDArray[np.intp]:
    """Rank of each cluster among those of a vertex; 0 is the nearest."""
    rank = np.empty(costs.shape, dtype=np.intp)
    order = np.argsort(costs, axis=1, kind="stable")
    np.put_along_axis(rank, order, np.arange(costs.shape[1])[None, :], axis=1)
    return rank


def _guide(costs: Floats, solution: LinearSolution) -> Floats:
    """Prefer large shares, then low costs."""
    return np.asarray(1e-3 * costs - solution.shares)


def cover_clusters(costs: Floats, colours: Colours) -> Colours:
    """Move the vertices that lose least into empty clusters.

    An empty cluster has no neighbours, so any vertex that another one can spare may move there.
    """
    size = np.bincount(colours, minlength=costs.shape[1])
    for cluster in np.flatnonzero(size == 0):
        loss = costs[:, cluster] - costs[np.arange(colours.size), colours]
        loss[size[colours] < 2] = np.inf
        vertex = int(np.argmin(loss))
        if not np.isfinite(loss[vertex]):
            break
        size[colours[vertex]] -= 1
        size[cluster] = 1
        colours = colours.copy()
        colours[vertex] = cluster
    return colours


def match_colours(colours: Colours, costs: Floats, graph: CannotLinkGraph) -> Colours:
    """Permute the colours of each component so that they cost least."""
    k = costs.shape[1]
    result = colours.copy()
    for part in graph.parts():
        table = np.zeros((k, k))
        np.add.at(table, colours[part], costs[part])
        result[part] = linear_sum_assignment(table)[1][colours[part]]
    return result
