"""HiGHS where Ctrl-C can end it: for long solves, in a process of its own.

Inside SciPy it runs to its end whatever signals come. So it gets a short time in this process,
which nearly all models need less of, and then starts again in another one, which can be killed. The
answer is the same, and Ctrl-C waits no longer than that short time.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from scipy.optimize import linprog, milp

# Seconds that a solver may take here, and size of a model that may take longer to be read.
UNINTERRUPTED = 1.0
LARGEST_UNINTERRUPTED = 200_000
# HiGHS takes a limit of zero for none.
SHORTEST_LIMIT = 0.01
# Status of SciPy's solvers when a limit was reached.
LIMIT_REACHED = 1

_SOLVERS: dict[str, Callable[..., Any]] = {"linprog": linprog, "milp": milp}


def solve(name: str, seconds: float, size: int, arguments: Mapping[str, Any]) -> Any:
    """Call ``scipy.optimize.linprog`` or ``milp``.

    Parameters
    ----------
    name
        Which of them.
    seconds
        Time limit.
    size
        Number of variables and coefficients of the model.
    arguments
        The other arguments; ``options`` among them.
    """
    if seconds <= UNINTERRUPTED or not _can_be_interrupted():
        return _solve_here(name, seconds, arguments)
    started = time.time()
    if size <= LARGEST_UNINTERRUPTED:
        answer = _solve_here(name, UNINTERRUPTED, arguments)
        spent = time.time() - started
        if answer.status != LIMIT_REACHED or spent < 0.9 * UNINTERRUPTED:
            return answer
    try:
        return _solve_elsewhere(name, started + seconds, arguments)
    except OSError:  # some systems let no program start another
        return _solve_here(name, started + seconds - time.time(), arguments)


def _solve_here(name: str, seconds: float, arguments: Mapping[str, Any]) -> Any:
    options = {**arguments["options"], "time_limit": max(seconds, SHORTEST_LIMIT)}
    return _SOLVERS[name](**{**arguments, "options": options})


def _can_be_interrupted() -> bool:
    """Whether Ctrl-C would raise an exception here, and another process can be started."""
    if threading.current_thread() is not threading.main_thread():
        return False
    handled = callable(signal.getsignal(signal.SIGINT))
    return handled and bool(sys.executable) and not getattr(sys, "frozen", False)


def _solve_elsewhere(name: str, deadline: float, arguments: Mapping[str, Any]) -> Any:
    """Solve in another process, which ends with this function, whatever ends it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryFile() as answer:
        process = subprocess.Popen(
            # -P: a file of that name in the current folder is not what is meant.
            [sys.executable, "-P", "-c", f"from {__name__} import work; work()"],
            stdin=subprocess.PIPE,
            stdout=answer,
            env=environment,
            start_new_session=True,  # Ctrl-C is this process's business
        )
        assert process.stdin is not None
        try:
            pickle.dump((name, deadline, dict(arguments)), process.stdin)
            process.stdin.flush()
            code = process.wait()
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
        if code != 0:
            raise ChildProcessError(f"the process that ran HiGHS ended with exit code {code}")
        answer.seek(0)
        return pickle.load(answer)


def work() -> None:
    """Solve one model for the process that started this one, and end with it."""
    name, deadline, arguments = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # HiGHS may print what it likes: the answer goes to a descriptor that it does not know.
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    pickle.dump(_solve_here(name, deadline - time.time(), arguments), answer)
    answer.close()
    os._exit(0)


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)
