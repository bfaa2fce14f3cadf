"""ExactKSAssignment, appendix A.3 of the paper: exact assignment where swaps are exhausted.

With it KSKM becomes KSKM_E.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kempe.exact import SOLVERS, Aids, ExactAssigner, Mode, Solver, Status, anneal
from kempe.exceptions import NoSolutionFoundError
from kempe.graph.check import colour_or_explain
from kempe.graph.colouring import cheapest_names
from kempe.graph.cpsat import has_ortools
from kempe.kskm.assignment import descend_by
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Context, Descent
from kempe.search.empty import costs_at_means, full_solution

# Most work of the solvers in one exact assignment, unless said otherwise.
EFFORT = 0.125


@dataclass(frozen=True)
class ExactParams:
    """How ``KSKM`` assigns exactly; the default adds what helps, which the paper does not have.

    Parameters
    ----------
    solver
        ``"highs"``, ``"cpsat"``, ``"gurobi"``, or ``"auto"``: SciPy's HiGHS, and OR-Tools' CP-SAT
        if it is installed.
    effort
        Most work of the solvers in one exact assignment, in CP-SAT's deterministic seconds (about
        ten real ones on a graph of a thousand supernodes). ``None``: none but the time limit, as in
        the paper. With it a seed gives the same result on every machine.
    annealing
        Whether simulated annealing helps where constraints are tight: after a mutation, and where
        the linear relaxation says little. The paper has none.
    relocate_if_tight
        Whether all mutations relocate if classic DSATUR finds no clustering: the exact assignment
        mostly undoes a perturbation there. The paper perturbs all the same.
    tabu_start
        Whether tabu search and exact colouring look for a first clustering where saturation order
        finds none. Otherwise it is the first that the solver of the assignment finds, as in the
        paper.
    nonempty
        Whether an exact assignment must use every cluster, as the paper's model (7) says. Otherwise
        clusters that it leaves empty are filled afterwards.

    Examples
    --------
    >>> from kempe import KSKM
    >>> from kempe.kskm import ExactParams
    >>> KSKM(3, exact=ExactParams("highs", annealing=False)).exact.effort
    0.125
    """

    solver: Solver = "auto"
    effort: float | None = EFFORT
    annealing: bool = True
    relocate_if_tight: bool = True
    tabu_start: bool = True
    nonempty: bool = False

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {self.solver!r}")
        if self.effort is not None and not self.effort > 0:
            raise ValueError(f"effort must be positive or None, got {self.effort}")

    @classmethod
    def of(cls, exact: bool | Solver | ExactParams) -> ExactParams | None:
        """Give the settings that the parameter ``exact`` of ``KSKM`` stands for.

        Parameters
        ----------
        exact
            What ``KSKM`` takes; ``None`` comes of ``False``.
        """
        if isinstance(exact, ExactParams):
            return exact
        if isinstance(exact, str):
            return cls(exact)
        return cls() if exact else None


@dataclass
class ExactDescent(Descent):
    """A descent that goes on by exact assignment when Kempe swaps are exhausted.

    The inner method descends as far as it can. Then the exact assignment to the means looks for
    a better colouring, which Kempe swaps may be unable to reach, and the inner method goes on from
    there. A colouring that was tried before is not tried again, so each run needs an object of
    its own.

    Attributes
    ----------
    least_effort
        What ``effort`` is never halved below.
    inner
        The method that descends by Kempe swaps.
    mode
        ``"first"`` stops the solver at the first improvement, as the paper does.
    solver
        Solver of the exact assignment.
    effort
        Most work of the solvers in one exact assignment, in CP-SAT's deterministic seconds (about
        ten real ones on a graph of a thousand supernodes). It is not a time limit, so that a seed
        gives the same result on every machine. An assignment that ends there without a better one
        halves what the next may spend, down to ``least_effort``, and a better one doubles it again.
        So a graph that is too hard for the solvers costs little.
    annealing
        Whether annealing helps where constraints are tight: after a mutation, which swaps can
        hardly follow there, and in an exact assignment whose relaxation says little. The paper has
        none.
    nonempty
        Whether an exact assignment must use every cluster, (7b) of the paper. Otherwise one that
        it leaves empty is filled later, like any other.
    as_program
        Whether to do as the authors' program does: swaps settle before centroids move, and after an
        exact assignment the descent goes on only if the cost of a component, rounded to a whole
        number, is below what it was, unrounded. Where costs are of the order of 1, that is as good
        as a coin, and descents end early.
    """

    inner: Descent
    mode: Mode = "first"
    solver: Solver = "auto"
    effort: float = EFFORT
    least_effort: float = EFFORT / 4
    annealing: bool = True
    nonempty: bool = False
    as_program: bool = False
    _allowance: float = field(default=0.0, init=False, repr=False)
    _assigner: ExactAssigner | None = field(default=None, init=False, repr=False)
    _tight: bool = field(default=False, init=False, repr=False)
    _explored: set[bytes] = field(default_factory=set, init=False, repr=False)

    def settle(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Improve the assignment to fixed centroids by the inner method, then by annealing."""
        problem = context.problem
        colours = self.inner.settle(context, colours, centroids)
        self._assigner_of(problem)
        if not (self._tight and self.annealing):
            return colours
        costs = problem.costs(centroids)
        return anneal(problem.graph, costs, colours, context.rng, context.stopper)

    def step(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Take one step of the inner method: Algorithm 3 has no exact assignment."""
        return self.inner.step(context, colours, centroids)

    def descend(self, context: Context, colours: Colours) -> Colours:
        """Alternate the inner descent and exact assignments until neither improves.

        It ends because no partition is refined twice.
        """
        problem = context.problem
        colours = self._swapped(context, colours)
        while not context.stopper.look() and self._is_new(problem, colours):
            refined = self._refine(context, colours)
            if refined is None:
                break
            if self.as_program and not _rounds_lower(problem, colours, refined):
                return refined
            colours = self._swapped(context, refined)
        return colours

    def _swapped(self, context: Context, colours: Colours) -> Colours:
        """Descend by swaps alone."""
        if self.as_program:
            return descend_by(self.inner.settle, context, colours)
        return self.inner.descend(context, colours)

    def for_thread(self) -> Self:
        """Give a descent that has explored nothing yet."""
        return replace(self)

    def _refine(self, context: Context, colours: Colours) -> Colours | None:
        problem = context.problem
        if self.nonempty:
            colours = full_solution(problem, colours).colours
        result = self._assigner_of(problem).solve(
            costs_at_means(problem, colours),
            incumbent=colours,
            mode=self.mode,
            nonempty=self.nonempty,
            stopper=context.stopper,
            effort=self._allowance,
        )
        self._adapt(result.status)
        if result.colours is None or problem.inertia(result.colours) >= problem.inertia(colours):
            return None
        return result.colours

    def _adapt(self, status: Status) -> None:
        if status == "unchanged":
            self._allowance = max(self._allowance / 2, self.least_effort)
        elif status == "improved":
            self._allowance = min(self._allowance * 2, self.effort)

    def _assigner_of(self, problem: Problem) -> ExactAssigner:
        """Keep the assigner as long as the graph stays the same."""
        assigner = self._assigner
        if assigner is None or assigner.graph is not problem.graph:
            self._assigner = assigner = ExactAssigner(
                problem.graph, solver=self.solver, aids=Aids(annealing=self.annealing)
            )
            self._explored.clear()
            self._allowance = self.effort
            self._tight = problem.graph.is_tight(problem.n_clusters)
        return assigner

    def _is_new(self, problem: Problem, colours: Colours) -> bool:
        """Whether this partition, and with it this set of centroids, was not explored before."""
        self._assigner_of(problem)
        key = _canonical(colours).tobytes()
        if key in self._explored:
            return False
        self._explored.add(key)
        return True


def exact_start(context: Context, centroids: Centroids, solver: Solver) -> Colours:
    """Take the first assignment that the solver finds, as Algorithm 1 has it before its loop.

    Raises
    ------
    InfeasibleConstraintsError
        If there is none, with a certificate.
    NoSolutionFoundError
        If it found none in time.
    """
    problem, costs = context.problem, context.problem.costs(centroids)
    # A relaxation tells what a colouring costs, which nobody asks before there is one.
    solver = "cpsat" if solver == "auto" and has_ortools() else solver
    assigner = ExactAssigner(
        problem.graph, solver=solver, aids=Aids(annealing=False, colouring=False)
    )
    result = assigner.solve(costs, mode="first", stopper=context.stopper)
    if result.colours is not None:
        return cheapest_names(problem.graph, result.colours, costs)
    if result.status == "infeasible":
        return colour_or_explain(
            problem.graph, problem.constraints, problem.n_clusters, context.rng, context.stopper
        )
    raise NoSolutionFoundError(
        f"neither DSATUR nor the exact assignment found a clustering into {problem.n_clusters} "
        "clusters in time; it may nevertheless exist"
    )


def _rounds_lower(problem: Problem, before: Colours, after: Colours) -> bool:
    """Whether the authors' program takes an exact assignment for an improvement.

    It counts costs from where a supernode's own square is zero, component by component, and leaves
    out supernodes that are free or in a clique of their own.
    """
    centroids, _ = problem.means(before)
    squares = problem.costs(np.zeros((1, problem.n_features)))[:, 0]
    component = problem.graph.components

    def totals(colours: Colours) -> NDArray[np.float64]:
        costs = problem.own_costs(colours, centroids) - squares
        return np.bincount(component, costs).astype(np.float64)

    hard = ~problem.graph.complete_components
    return bool((np.round(totals(after)) < np.round(totals(before), 5) - 1e-5)[hard].any())


def _canonical(colours: Colours) -> Colours:
    """Give equal partitions equal colours: number the clusters by their first supernode."""
    _, first, inverse = np.unique(colours, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int32)
    rank[np.argsort(first)] = np.arange(first.size, dtype=np.int32)
    return np.asarray(rank[inverse])
