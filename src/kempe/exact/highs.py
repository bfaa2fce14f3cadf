"""Linear and integer programs by the HiGHS that comes with SciPy."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

from kempe import _core
from kempe.exact import solver_process
from kempe.exact.part import AssignmentPart, Columns, PartOutcome
from kempe.exact.prices import CliquePrices
from kempe.problem import Colours

LONGEST_LIMIT = 1e7
# An integer program with no more clique rows than this takes them all at once.
FEW_ROWS = 20_000
# What one unit of effort stands for: about a second on a model of middling size.
ITERATIONS_PER_EFFORT = 40_000
NODES_PER_EFFORT = 200
# Linear programs with more variables and coefficients than this are for the interior-point method,
# whose iterations tell nothing about its effort.
LARGEST_SIMPLEX = 30_000

Limits: TypeAlias = float | NDArray[np.float64]
Block: TypeAlias = tuple[sparse.csr_array, Limits, Limits]


@dataclass(frozen=True)
class LinearSolution:
    """Optimum of a linear relaxation: shares per vertex and cluster, and prices of the rows."""

    shares: NDArray[np.float64]
    prices: CliquePrices


def solve_relaxation(
    part: AssignmentPart,
    open_: NDArray[np.bool_],
    rows: NDArray[np.bool_],
    seconds: float,
    effort: float = math.inf,
) -> tuple[LinearSolution | None, bool]:
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
        ``None`` if there is none or a limit was reached.
    infeasible
        Whether there is none.
    """
    columns = Columns(open_)
    matrix, limits, (clique, cluster) = _inequalities(part, rows, columns)
    each = columns.one_cluster_each()
    size = columns.count + matrix.nnz + each.nnz
    model = {
        "c": part.costs[columns.vertex, columns.cluster],
        "A_ub": matrix,
        "b_ub": limits,
        "A_eq": each,
        "b_eq": np.ones(each.shape[0]),
        "bounds": (0, None),
        "method": "highs-ipm" if size > LARGEST_SIMPLEX and math.isinf(effort) else "highs-ds",
        "options": {"maxiter": int(min(effort * ITERATIONS_PER_EFFORT, 2**31 - 1))},
    }
    solution = solver_process.solve("linprog", _clipped(seconds), size, model)
    if solution.status != 0 or solution.x is None:
        return None, solution.status == 2
    # Marginals of rows are not positive but for rounding.
    paid = np.maximum(-solution.ineqlin.marginals, 0.0)
    priced = np.flatnonzero(paid[: clique.size])
    entries = (paid[priced], (clique[priced], cluster[priced]))
    prices = CliquePrices(
        sparse.csr_array(entries, shape=rows.shape),
        paid[clique.size :] if part.cover else np.zeros(rows.shape[1]),
    )
    return LinearSolution(columns.spread(solution.x, 0.0), prices), False


def solve_integer(part: AssignmentPart, seconds: float, effort: float = math.inf) -> PartOutcome:
    """Solve the part by branch and bound, adding clique rows when a solution violates them."""
    deadline = time.monotonic() + seconds
    rows = _rows_to_begin_with(part)
    while True:
        outcome = _solve_rows(part, rows, deadline - time.monotonic(), effort)
        if outcome.colours is None or part.accepts(outcome.colours):
            return outcome
        loads = part.cliques.loads(_indicators(outcome.colours, part.costs.shape[1]))
        # What one cluster violates, the next solution would violate in another.
        wanted = rows | np.asarray(np.any(loads > 1.0, axis=1))[:, None]
        # Rows only ever come in addition, so this ends: without a new one the solver has erred.
        stuck = np.array_equal(wanted, rows)
        rows = wanted
        if stuck or not outcome.complete or time.monotonic() > deadline:
            return PartOutcome(None, outcome.bound, complete=False)


def _rows_to_begin_with(part: AssignmentPart) -> NDArray[np.bool_]:
    """Give all rows that several choices share, or those of the part if these are too many."""
    loads = part.cliques.loads(np.isfinite(part.costs).astype(np.float64))
    rows = np.asarray(loads > 1.0)
    return rows if part.rows is None or rows.sum() <= FEW_ROWS else part.rows.copy()


def _solve_rows(
    part: AssignmentPart, rows: NDArray[np.bool_], seconds: float, effort: float
) -> PartOutcome:
    """Solve the integer program with some of the clique rows; its colouring may be improper."""
    columns = Columns(np.isfinite(part.costs))
    matrix, limits, _ = _inequalities(part, rows, columns)
    blocks: list[Block] = [(columns.one_cluster_each(), 1.0, 1.0), (matrix, -np.inf, limits)]
    solution = solve_program(
        part.costs[columns.vertex, columns.cluster],
        blocks,
        np.ones(columns.count, dtype=np.int64),
        seconds,
        node_limit=int(min(effort * NODES_PER_EFFORT, 2**31 - 1)),
    )
    complete = solution.status in (0, 2)
    bound = np.inf if solution.status == 2 else solution.mip_dual_bound
    bound = -np.inf if bound is None else float(bound)
    if solution.x is None:
        return PartOutcome(None, bound, complete)
    shares = columns.spread(solution.x, 0.0)
    return PartOutcome(shares.argmax(axis=1).astype(np.int32), bound, complete)


def _indicators(colours: Colours, k: int) -> NDArray[np.float64]:
    return np.asarray(colours[:, None] == np.arange(k), dtype=np.float64)


def _inequalities(
    part: AssignmentPart, rows: NDArray[np.bool_], columns: Columns
) -> tuple[sparse.csr_array, NDArray[np.float64], tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Give the rows, their limits, and the cliques and clusters of all but the last few."""
    matrix, names = part.cliques.matrix(rows, columns)
    limits = np.ones(matrix.shape[0])
    if not part.cover:
        return matrix, limits, names
    cover = columns.one_vertex_each()
    stacked = sparse.csr_array(sparse.vstack([matrix, -cover], format="csr"))
    return stacked, np.concatenate([limits, -np.ones(cover.shape[0])]), names


def _clipped(seconds: float) -> float:
    return float(np.clip(seconds, 0.0, LONGEST_LIMIT))


@contextmanager
def without_stray_lines() -> Iterator[None]:
    """Drop the line that HiGHS prints whatever its options say; all else is printed as ever.

    HiGHS 1.12, which SciPy 1.17 brings, has one when it repairs a solution (its issue 2783).
    """
    _core.begin_dropping_stray_lines()
    try:
        yield
    finally:
        _core.end_dropping_stray_lines()


def solve_program(
    costs: NDArray[np.float64],
    blocks: Sequence[Block],
    integrality: NDArray[np.integer[Any]],
    seconds: float = math.inf,
    **options: Any,
) -> Any:
    """Solve a program in variables from 0 to 1 to the end; nothing is printed.

    Parameters
    ----------
    blocks
        Rows of coefficients, and the limits between which each lies.
    integrality
        1 for each variable that is an integer.
    seconds
        Time limit.
    **options
        Of ``scipy.optimize.milp``.
    """
    model = {
        "c": costs,
        "constraints": [LinearConstraint(*block) for block in blocks if block[0].shape[0]],
        "integrality": integrality,
        "bounds": Bounds(0, 1),
        "options": {"mip_rel_gap": 0.0, **options},
    }
    size = costs.size + sum(int(block[0].nnz) for block in blocks)
    with without_stray_lines():
        return solver_process.solve("milp", _clipped(seconds), size, model)
