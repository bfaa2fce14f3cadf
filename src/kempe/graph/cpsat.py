"""OR-Tools' CP-SAT, run so that Ctrl-C and the end of the time reach it."""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from kempe import _core

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

# Seconds between two looks at the stopper.
PATIENCE = 0.05


def has_ortools() -> bool:
    """Whether OR-Tools is installed; importing it costs a third of a second."""
    return importlib.util.find_spec("ortools") is not None


def load_cp_model() -> Any:
    """Import ``ortools.sat.python.cp_model``, in a thread: Ctrl-C never comes to one.

    An import that Ctrl-C ends halfway raises whatever it likes, and OR-Tools is broken then.
    """
    name = "ortools.sat.python.cp_model"
    if name not in sys.modules:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(importlib.import_module, name).result()
    from ortools.sat.python import cp_model

    return cp_model


def solve_model(
    model: cp_model.CpModel,
    stopper: _core.Stopper,
    *,
    seed: int,
    effort: float,
    seconds: float = math.inf,
    first: bool = False,
) -> tuple[cp_model.CpSolver, cp_model.CpSolverStatus]:
    """Solve a model in a thread of its own, while this one looks after the stopper.

    Parameters
    ----------
    effort
        Limit in CP-SAT's deterministic seconds, which do not depend on the machine.
    seconds
        Limit in seconds, besides that of the stopper.
    first
        Whether the first solution is enough.
    """
    cp_model = load_cp_model()
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = effort
    solver.parameters.max_time_in_seconds = max(0.01, min(seconds, stopper.remaining, 1e7))
    solver.parameters.stop_after_first_solution = first
    # It would take Ctrl-C for itself and tell nobody.
    solver.parameters.catch_sigint_signal = False
    pool = ThreadPoolExecutor(1)
    solved = pool.submit(solver.solve, model)
    # The thread ends with its task. Nobody waits for it longer: a second Ctrl-C is not held up.
    pool.shutdown(wait=False)
    try:
        while not wait([solved], PATIENCE).done:
            if stopper.look():
                solver.stop_search()
    except BaseException:
        # Again and again, for it may not have begun yet.
        while not wait([solved], PATIENCE).done:
            solver.stop_search()
        raise
    return solver, solved.result()
