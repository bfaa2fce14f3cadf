"""Assignment by Gurobi, for those who have a licence."""

from __future__ import annotations

from typing import Any

import numpy as np

from kempe.exact.part import Columns, Outcome, Part


def solve_by_gurobi(part: Part, seconds: float, *, first: bool = False, seed: int = 0) -> Outcome:
    """Minimise the cost, or with ``first`` stop at the first improvement of the incumbent."""
    try:
        import gurobipy
    except ImportError:
        raise ImportError('the solver "gurobi" needs Gurobi: pip install gurobipy') from None
    columns = Columns(np.isfinite(part.costs))
    rows = np.ones((part.cliques.count, part.costs.shape[1]), dtype=bool)
    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as model:
        choice: Any = model.addMVar(
            columns.count, vtype="B", obj=part.costs[columns.vertex, columns.cluster]
        )
        model.addConstr(columns.one_cluster_each() @ choice == 1)
        model.addConstr(part.cliques.matrix(rows, columns) @ choice <= 1)
        if part.cover:
            model.addConstr(columns.one_vertex_each() @ choice >= 1)
        model.Params.TimeLimit = max(0.01, seconds)
        model.Params.Seed = seed
        model.Params.MIPGap = 0.0
        if part.incumbent is not None:
            choice.Start = (part.incumbent[columns.vertex] == columns.cluster).astype(float)
        if first and part.incumbent is not None:
            # Any solution below the cutoff ends the search.
            model.Params.Cutoff = part.cutoff * (1 - 1e-9)
            model.Params.BestObjStop = part.cutoff * (1 - 1e-9)
        model.optimize()
        colours = None
        if model.SolCount:
            colours = columns.spread(choice.X, 0.0).argmax(axis=1).astype(np.int32)
        finished = (
            gurobipy.GRB.OPTIMAL,
            gurobipy.GRB.INFEASIBLE,
            gurobipy.GRB.CUTOFF,
        )
        return Outcome(colours, float(model.ObjBound), model.Status in finished)
