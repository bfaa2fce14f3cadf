"""Assignment by an integer program in every iteration, as BLPKMCC and PCCC do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from kempe import _core
from kempe.exact import Aids, ExactAssigner, ExactResult
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.problem import Centroids, Colours, Problem
from kempe.search.empty import full_solution

Costs = NDArray[np.float64]
CostFunction = Callable[[Problem, Centroids], Costs]

# Supernodes whose nearest centroids are looked for between two looks at the clock.
_AT_ONCE = 4096


def plain_costs(problem: Problem, centroids: Centroids) -> Costs:
    """Sum of the plain, not squared, distances of each supernode's rows to every centroid."""
    rows = np.arange(problem.n_rows)
    weight = np.ones(problem.n_rows) if problem.row_weight is None else problem.row_weight
    shape = (problem.n_supernodes, problem.n_rows)
    members = sparse.csr_array((weight, (problem.supernode, rows)), shape=shape)
    return np.asarray(members @ cdist(problem.rows, centroids))


def nearest_allowed(costs: Costs, nearest: int, stopper: _core.Stopper) -> NDArray[np.bool_] | None:
    """Mark the ``nearest`` cheapest clusters of each supernode; ``None`` if these are all.

    If the time is up, supernodes that were not reached have no mark.
    """
    if nearest >= costs.shape[1]:
        return None
    allowed = np.zeros(costs.shape, dtype=bool)
    for start in range(0, len(costs), _AT_ONCE):
        if start and stopper.look():
            break
        some = slice(start, start + _AT_ONCE)
        cheapest = np.argpartition(costs[some], nearest - 1, axis=1)[:, :nearest]
        np.put_along_axis(allowed[some], cheapest, True, axis=1)
    return allowed


class ProgramAssignment:
    """Assign all supernodes at the lowest total cost, by the exact assignment.

    Parameters
    ----------
    problem
        The problem whose supernodes are assigned, again and again.
    nearest
        How many of its nearest centroids a supernode may take; all if ``None``. Doubled until
        there is an assignment.
    nonempty
        Whether every cluster must get a supernode.
    costs
        Cost per supernode and cluster; weighted squared distances by default.
    seconds
        Limit for one assignment, which only strikes once there is an assignment to return; none if
        ``None``.
    kempe_swaps
        Whether Kempe swaps give the solver better colourings to start from. No rival's publication
        has them.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        nearest: int | None = None,
        nonempty: bool = False,
        costs: CostFunction = Problem.costs,
        seconds: float | None = None,
        kempe_swaps: bool = True,
    ) -> None:
        self._assigner = ExactAssigner(problem.graph, aids=Aids(swaps=kempe_swaps))
        self._nearest = nearest or problem.n_clusters
        self._nonempty = nonempty
        self._costs = costs
        self._seconds = math.inf if seconds is None else seconds

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes, from the previous assignment as a warm start.

        If the time is up before it could be begun, the previous assignment stands, or a greedy one.
        """
        costs = None if stopper.look() else self._costs(problem, centroids)
        if costs is None or stopper.look():
            return self._without_program(problem, centroids, previous)
        result = self._attempt(costs, self._nearest, previous, stopper)
        while result.status == "infeasible" and self._nearest < problem.n_clusters:
            self._nearest = min(2 * self._nearest, problem.n_clusters)
            result = self._attempt(costs, self._nearest, previous, stopper)
        if result.status == "infeasible":
            raise InfeasibleConstraintsError(
                f"no clustering into {problem.n_clusters} clusters satisfies all cannot-link pairs"
            )
        if result.colours is None:
            return self._without_program(problem, centroids, previous)
        return result.colours

    def _without_program(
        self, problem: Problem, centroids: Centroids, previous: Colours | None
    ) -> Colours:
        """Give what there is when the time is up: the previous assignment, else a greedy one."""
        if previous is not None:
            return previous
        colours, stuck = _core.saturation_assignment(problem.core, centroids)
        if stuck >= 0:
            raise NoSolutionFoundError(
                "the integer program was stopped before it had an assignment of the "
                f"{problem.n_supernodes} supernodes"
            )
        return full_solution(problem, colours).colours if self._nonempty else colours

    def among(
        self,
        problem: Problem,
        centroids: Centroids,
        clusters: NDArray[np.int32],
        stopper: _core.Stopper,
    ) -> Colours | None:
        """Assign all supernodes to some of the clusters only; ``None`` if that cannot be."""
        costs = self._costs(problem, centroids)
        allowed = np.zeros(costs.shape, dtype=bool)
        allowed[:, clusters] = True
        return self._assigner.solve(costs, allowed=allowed, stopper=stopper).colours

    def _attempt(
        self, costs: Costs, nearest: int, previous: Colours | None, stopper: _core.Stopper
    ) -> ExactResult:
        allowed = nearest_allowed(costs, nearest, stopper)
        if stopper.look():
            return ExactResult(None, np.inf, np.inf, "timeout")
        start = previous if self._admits(previous, allowed) else None
        if self._seconds >= stopper.remaining:
            return self._solve(costs, allowed, start, stopper)
        result = self._solve(costs, allowed, start, stopper.child(self._seconds))
        if result.status == "timeout" and not stopper.look():
            result = self._solve(costs, allowed, start, stopper)
        return result

    def _solve(
        self,
        costs: Costs,
        allowed: NDArray[np.bool_] | None,
        start: Colours | None,
        stopper: _core.Stopper,
    ) -> ExactResult:
        return self._assigner.solve(
            costs, incumbent=start, allowed=allowed, nonempty=self._nonempty, stopper=stopper
        )

    def _admits(self, colours: Colours | None, allowed: NDArray[np.bool_] | None) -> bool:
        """Whether a colouring can be the warm start."""
        if colours is None or allowed is None:
            return colours is not None
        return bool(allowed[np.arange(colours.size), colours].all())
