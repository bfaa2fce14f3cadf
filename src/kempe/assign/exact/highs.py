"""Linear and integer programs by the HiGHS that comes with SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from kempe.assign.exact.part import Columns, Outcome, Part

# HiGHS takes a limit of zero for none.
SHORTEST_LIMIT = 0.01
LONGEST_LIMIT = 1e7


@dataclass(frozen=True)
class LinearSolution:
    """Optimum of a linear relaxation: shares and reduced costs per vertex and cluster."""

    shares: NDArray[np.float64]
    reduced: NDArray[np.float64]


def solve_relaxation(
    part: Part, open_: NDArray[np.bool_], rows: NDArray[np.bool_], seconds: float
) -> LinearSolution | None:
    """Solve the linear relaxation with some of the clique rows.

    Parameters
    ----------
    open_
        Which (vertex, cluster) pairs are variables; vertices without any are left out.
    rows
        Which (clique, cluster) rows to include.

    Returns
    -------
    solution
        ``None`` if it is infeasible or the time is up.
    """
    columns = Columns(open_)
    matrix, limits = _inequalities(part, rows, columns)
    each = columns.one_cluster_each()
    solution = linprog(
        part.costs[columns.vertex, columns.cluster],
        A_ub=cast(Any, matrix),  # the stubs do not know sparse matrices
        b_ub=limits,
        A_eq=cast(Any, each),
        b_eq=np.ones(each.shape[0]),
        bounds=(0, None),
        method="highs",
        options={"time_limit": _clipped(seconds)},
    )
    if solution.status != 0 or solution.x is None:
        return None
    return LinearSolution(
        columns.spread(solution.x, 0.0), columns.spread(solution.lower.marginals, np.inf)
    )


def solve_integer(part: Part, seconds: float) -> Outcome:
    """Solve the part by branch and bound with all clique rows."""
    columns = Columns(np.isfinite(part.costs))
    rows = np.ones((part.cliques.count, part.costs.shape[1]), dtype=bool)
    matrix, limits = _inequalities(part, rows, columns)
    constraints = [LinearConstraint(columns.one_cluster_each(), 1, 1)]
    if matrix.shape[0]:
        constraints.append(LinearConstraint(matrix, -np.inf, limits))
    solution = milp(
        part.costs[columns.vertex, columns.cluster],
        integrality=np.ones(columns.count, dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=constraints,
        options={"time_limit": _clipped(seconds), "mip_rel_gap": 0.0},
    )
    complete = solution.status in (0, 2)
    bound = np.inf if solution.status == 2 else solution.mip_dual_bound
    bound = -np.inf if bound is None else float(bound)
    if solution.x is None:
        return Outcome(None, bound, complete)
    colours = columns.spread(solution.x, 0.0).argmax(axis=1).astype(np.int32)
    return Outcome(colours if part.accepts(colours) else None, bound, complete)


def _inequalities(
    part: Part, rows: NDArray[np.bool_], columns: Columns
) -> tuple[sparse.csr_array, NDArray[np.float64]]:
    matrix = part.cliques.matrix(rows, columns)
    limits = np.ones(matrix.shape[0])
    if not part.cover:
        return matrix, limits
    cover = columns.one_vertex_each()
    stacked = sparse.csr_array(sparse.vstack([matrix, -cover], format="csr"))
    return stacked, np.concatenate([limits, -np.ones(cover.shape[0])])


def _clipped(seconds: float) -> float:
    return float(np.clip(seconds, SHORTEST_LIMIT, LONGEST_LIMIT))
