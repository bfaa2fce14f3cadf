"""Assignment by Gurobi, which the paper used, for those who have a licence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kempe.exact.part import AssignmentPart, Columns, PartOutcome


def solve_by_gurobi(
    part: AssignmentPart,
    seconds: float,
    effort: float = math.inf,
    *,
    first: bool = False,
    seed: int = 0,
) -> PartOutcome:
    """Minimise the cost, or with ``first`` stop at the first improvement of the incumbent.

    ``effort`` is in Gurobi's units of work, about a second each, which do not depend on the clock.
    """
    try:
        import gurobipy
    except ImportError:
        raise ImportError('the solver "gurobi" needs Gurobi: pip install "kempe[gurobi]"') from None
    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as model:
        columns, choice = _fill(model, part)
        model.Params.TimeLimit = max(0.01, min(seconds, 1e7))
        model.Params.WorkLimit = effort
        model.Params.Threads = 1
        model.Params.Seed = seed
        model.Params.MIPGap = 0.0
        if first and part.incumbent is not None:
            # Any solution below the cutoff ends the search.
            model.Params.Cutoff = part.cutoff * (1 - 1e-9)
            model.Params.BestObjStop = part.cutoff * (1 - 1e-9)
        _optimise(model, columns)
        status = gurobipy.GRB
        complete = model.Status in (status.OPTIMAL, status.INFEASIBLE, status.CUTOFF)
        if not model.SolCount:
            bound = np.inf if model.Status == status.INFEASIBLE else -np.inf
            return PartOutcome(None, bound, complete)
        colours = columns.spread(choice.X, 0.0).argmax(axis=1).astype(np.int32)
        return PartOutcome(colours, float(model.ObjBound), complete)


def _fill(model: Any, part: AssignmentPart) -> tuple[Columns, Any]:
    columns = Columns(np.isfinite(part.costs))
    rows = np.ones((part.cliques.count, part.costs.shape[1]), dtype=bool)
    choice = model.addMVar(
        columns.count, vtype="B", obj=part.costs[columns.vertex, columns.cluster]
    )
    model.addConstr(columns.one_cluster_each() @ choice == 1)
    model.addConstr(part.cliques.matrix(rows, columns)[0] @ choice <= 1)
    if part.cover:
        model.addConstr(columns.one_vertex_each() @ choice >= 1)
    if part.incumbent is not None:
        choice.Start = (part.incumbent[columns.vertex] == columns.cluster).astype(float)
    return columns, choice


def _optimise(model: Any, columns: Columns) -> None:
    import gurobipy

    try:
        model.optimize()
    except gurobipy.GurobiError as error:
        if error.errno != gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED:
            raise
        raise RuntimeError(
            f"an exact assignment has {columns.count} variables, more than this licence of Gurobi "
            'allows; another solver is free, for example "highs"'
        ) from None
