"""Assignment by OR-Tools' CP-SAT, the strongest at finding a first improvement on tight graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.exact.part import AssignmentPart, Columns, PartOutcome
from kempe.graph.cpsat import load_cp_model, solve_model

# CP-SAT needs integer costs; the largest finite one is scaled to this.
LARGEST_COST = 10**8


def solve_by_cpsat(
    part: AssignmentPart,
    stopper: _core.Stopper,
    seconds: float = math.inf,
    effort: float = math.inf,
    *,
    first: bool = False,
    seed: int = 0,
) -> PartOutcome:
    """Minimise the cost, or with ``first`` stop at the first improvement of the incumbent.

    Where ``first`` has no incumbent to improve, any colouring will do, and the costs are left out:
    CP-SAT then finds one several times faster.

    ``effort`` is in CP-SAT's deterministic seconds, which do not depend on the machine.
    """
    try:
        cp_model = load_cp_model()
    except ImportError:
        raise ImportError('the solver "cpsat" needs OR-Tools: pip install "kempe[exact]"') from None
    columns = Columns(np.isfinite(part.costs))
    scale, costs = _integer_costs(part, columns)
    model, choice = _model(part, columns)
    objective = cp_model.LinearExpr.weighted_sum(choice, costs)
    any_will_do = first and part.incumbent is None
    if not any_will_do:
        model.minimize(objective)
    if part.incumbent is not None:
        hinted = part.incumbent[columns.vertex] == columns.cluster
        for variable, value in zip(choice, hinted.tolist(), strict=True):
            model.add_hint(variable, value)
        if first:
            # Rounding moves the sum by less than one per vertex.
            model.add(objective <= int(costs[hinted].sum()) - part.graph.size)
    solver, status = solve_model(
        model, stopper, seed=seed, effort=effort, seconds=seconds, first=first
    )
    complete = status == cp_model.INFEASIBLE or (status == cp_model.OPTIMAL and not any_will_do)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return PartOutcome(None, np.inf if complete else -np.inf, complete)
    taken = np.array(solver.boolean_values(choice), dtype=bool)
    colours = columns.spread(taken, 0.0).argmax(axis=1).astype(np.int32)
    if any_will_do:
        return PartOutcome(colours, -np.inf, complete=False)
    bound = (solver.best_objective_bound - part.graph.size) / scale
    return PartOutcome(colours, bound, complete)


def _integer_costs(part: AssignmentPart, columns: Columns) -> tuple[float, NDArray[np.int64]]:
    costs = part.costs[columns.vertex, columns.cluster]
    scale = LARGEST_COST / max(float(np.abs(costs).max(initial=0.0)), 1e-300)
    return scale, np.rint(costs * scale).astype(np.int64)


def _model(part: AssignmentPart, columns: Columns) -> tuple[Any, list[Any]]:
    model = load_cp_model().CpModel()
    choice = [model.new_bool_var("") for _ in range(columns.count)]
    for row in _rows(columns.one_cluster_each()):
        model.add_exactly_one([choice[j] for j in row])
    for u, v in _edge_columns(part, columns).tolist():
        model.add_at_most_one((choice[u], choice[v]))
    if part.cover:
        for row in _rows(columns.one_vertex_each()):
            model.add_bool_or([choice[j] for j in row])
    return model, choice


def _rows(matrix: Any) -> list[list[int]]:
    split = np.split(matrix.indices, matrix.indptr[1:-1])
    return [row.tolist() for row in split]


def _edge_columns(part: AssignmentPart, columns: Columns) -> NDArray[np.int32]:
    """Pairs of variables that exclude each other: both ends of an edge in one cluster."""
    ends = columns.number[part.graph.edges]  # (edges, 2, k)
    both = (ends >= 0).all(axis=1)
    return np.column_stack([ends[:, 0][both], ends[:, 1][both]])
