"""Assign supernodes to fixed centroids at the lowest total cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.exact.cliques import assign_clique
from kempe.exact.hard import HardPart
from kempe.exact.knowledge import TOLERANCE, Aids, AssignmentTask, Solver
from kempe.exact.part import Floats, cover_clusters
from kempe.graph import CannotLinkGraph
from kempe.problem import Colours

Mode = Literal["first", "optimal"]
Status = Literal["optimal", "improved", "unchanged", "feasible", "infeasible", "timeout"]


@dataclass(frozen=True)
class ExactResult:
    """Answer of the exact assignment.

    Attributes
    ----------
    colours
        The best assignment found, or ``None``.
    objective
        Its total cost; infinite without one.
    bound
        No assignment costs less.
    status
        ``"optimal"`` (proven), ``"improved"`` (better than the incumbent), ``"unchanged"`` (the
        incumbent, not proven optimal), ``"feasible"`` (found without an incumbent, not proven
        optimal), ``"infeasible"`` (proven) or ``"timeout"`` (nothing found in time).
    """

    colours: Colours | None
    objective: float
    bound: float
    status: Status


class ExactAssigner:
    """Solves assignments over one cannot-link graph again and again.

    Vertices without neighbours take their nearest centroid and cliques are linear assignment
    problems; only the rest needs a solver. What one call learns about the graph serves the next.

    Parameters
    ----------
    graph
        The cannot-link graph.
    solver
        ``"auto"``: the linear relaxation, then HiGHS. Or CP-SAT, if that is installed and either a
        first improvement is wanted or few clusters make the relaxation weak. ``"highs"``: never
        CP-SAT. ``"cpsat"`` and ``"gurobi"`` give the whole model to that solver.
    seed
        For the heuristics and the solvers.
    aids
        Which heuristics help the solvers; ``"cpsat"`` and ``"gurobi"`` work without any.

    Examples
    --------
    >>> import numpy as np
    >>> from kempe.graph import CannotLinkGraph
    >>> graph = CannotLinkGraph.from_edges(3, np.array([[0, 1], [1, 2]]))
    >>> costs = np.array([[0.0, 2.0], [0.0, 1.0], [0.0, 2.0]])
    >>> ExactAssigner(graph).solve(costs).colours.tolist()
    [0, 1, 0]
    """

    def __init__(
        self,
        graph: CannotLinkGraph,
        *,
        solver: Solver = "auto",
        seed: int = 0,
        aids: Aids = Aids(),  # noqa: B008  (frozen)
    ) -> None:
        self.graph = graph
        self.solver: Solver = solver
        self.aids = aids
        self._rng = np.random.default_rng(seed)
        self._free = np.flatnonzero(graph.degree == 0)
        self._cliques = graph.clique_components
        self._hard = np.flatnonzero(~graph.complete_components[graph.components])
        self._part = HardPart(graph.induced(self._hard))
        self._covered: HardPart | None = None

    def solve(
        self,
        costs: Floats,
        *,
        incumbent: Colours | None = None,
        mode: Mode = "optimal",
        allowed: NDArray[np.bool_] | None = None,
        nonempty: bool = False,
        stopper: _core.Stopper | None = None,
        effort: float = math.inf,
    ) -> ExactResult:
        """Assign every vertex to a cluster at the lowest total cost.

        The answer is always proper, and never worse than the incumbent, also when time is up.

        Parameters
        ----------
        costs
            Cost per vertex and cluster, (m, k).
        incumbent
            A proper assignment to start from.
        mode
            ``"optimal"``, or ``"first"`` to stop at the first improvement of the incumbent.
        allowed
            Which clusters each vertex may take, (m, k); all if ``None``.
        nonempty
            Whether every cluster must get a vertex.
        stopper
            Ends the search; by default nothing does.
        effort
            Ends the search after this much work of the solvers, in units of about a second.
            Unlike a time limit it gives the same answer on every machine.
        """
        costs = self._checked(costs, allowed)
        if incumbent is not None:
            incumbent = self._checked_incumbent(incumbent, costs, nonempty)
        stopper = stopper or _core.Stopper()
        too_few = nonempty and costs.shape[0] < costs.shape[1]
        if too_few or np.isinf(costs).all(axis=1).any():
            return ExactResult(None, np.inf, np.inf, "infeasible")
        first = mode == "first"
        task = AssignmentTask(
            costs, incumbent, first, self.solver, self._rng, stopper, effort, self.aids
        )
        result = self._solve_parts(task)
        if not nonempty or result.colours is None or _uses_all(result.colours, costs.shape[1]):
            return result
        return self._solve_covered(task, result)

    def _solve_parts(self, task: AssignmentTask) -> ExactResult:
        costs = task.costs
        colours = np.empty(costs.shape[0], dtype=np.int32)
        colours[self._free] = costs.argmin(axis=1)[self._free]
        for clique in self._cliques:
            assigned = assign_clique(costs[clique])
            if assigned is None:
                return ExactResult(None, np.inf, np.inf, "infeasible")
            colours[clique] = assigned
        if not self._hard.size:
            return _finished(colours, costs)
        incumbent = None if task.incumbent is None else task.incumbent[self._hard]
        outcome = self._part.solve(replace(task, costs=costs[self._hard], incumbent=incumbent))
        easy = np.setdiff1d(np.arange(colours.size), self._hard, assume_unique=True)
        bound = outcome.bound + _total(costs[easy], colours[easy])
        if outcome.colours is None:
            status: Status = "infeasible" if outcome.complete else "timeout"
            return ExactResult(None, np.inf, bound, status)
        colours[self._hard] = outcome.colours
        return _compare(colours, bound, outcome.complete, task)

    def _solve_covered(self, task: AssignmentTask, relaxed: ExactResult) -> ExactResult:
        """Solve again with all clusters used; what was found without is the bound."""
        assert relaxed.colours is not None
        if self._covered is None:
            self._covered = HardPart(self.graph, cover=True)
        start = cover_clusters(task.costs, relaxed.colours)
        candidates = [c for c in (start, task.incumbent) if c is not None]
        candidates = [c for c in candidates if _uses_all(c, task.costs.shape[1])]
        best = min(candidates, key=lambda c: _total(task.costs, c), default=None)
        outcome = self._covered.solve(replace(task, incumbent=best))
        if outcome.colours is None:
            status: Status = "infeasible" if outcome.complete else "timeout"
            return ExactResult(None, np.inf, outcome.bound, status)
        bound = max(outcome.bound, relaxed.bound)
        return _compare(outcome.colours, bound, outcome.complete, task)

    def _checked(self, costs: Floats, allowed: NDArray[np.bool_] | None) -> Floats:
        costs = np.ascontiguousarray(costs, dtype=np.float64)
        if costs.ndim != 2 or costs.shape[0] != self.graph.size:
            raise ValueError(
                f"costs must have one row for each of {self.graph.size} supernodes, "
                f"got shape {costs.shape}"
            )
        if not np.isfinite(costs).all():
            raise ValueError("costs contain NaN or infinity; use allowed to rule out clusters")
        return costs if allowed is None else np.where(allowed, costs, np.inf)

    def _checked_incumbent(self, incumbent: Colours, costs: Floats, nonempty: bool) -> Colours:
        incumbent = np.ascontiguousarray(incumbent, dtype=np.int32)
        if not self.graph.is_proper(incumbent):
            raise ValueError("the incumbent violates a cannot-link pair")
        if not np.isfinite(_total(costs, incumbent)):
            raise ValueError("the incumbent uses a cluster that is not allowed")
        if nonempty and not _uses_all(incumbent, costs.shape[1]):
            raise ValueError("the incumbent leaves a cluster empty")
        return incumbent


def _total(costs: Floats, colours: Colours) -> float:
    return float(costs[np.arange(colours.size), colours].sum())


def _uses_all(colours: Colours, k: int) -> bool:
    return bool(np.bincount(colours, minlength=k).all())


def _finished(colours: Colours, costs: Floats) -> ExactResult:
    objective = _total(costs, colours)
    return ExactResult(colours, objective, objective, "optimal")


def _compare(colours: Colours, bound: float, complete: bool, task: AssignmentTask) -> ExactResult:
    """Choose between what was found and the incumbent, and name the result."""
    objective = _total(task.costs, colours)
    before = np.inf if task.incumbent is None else _total(task.costs, task.incumbent)
    if task.incumbent is not None and before <= objective:
        colours, objective = task.incumbent, before
    bound = min(bound, objective)
    if complete:
        return ExactResult(colours, objective, bound, "optimal")
    if task.incumbent is None:
        return ExactResult(colours, objective, bound, "feasible")
    better = objective < before - TOLERANCE * abs(before)
    return ExactResult(colours, objective, bound, "improved" if better else "unchanged")
