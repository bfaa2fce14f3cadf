"""Nothing that a method does reaches the terminal."""

from __future__ import annotations

import ctypes
import platform
import threading
from contextlib import suppress

import numpy as np
import pytest

from kempe import methods
from kempe.exact import solver_process
from kempe.exact.highs import solve_program, without_stray_lines
from kempe.exceptions import NoSolutionFoundError

needs_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="needs the GNU C library"
)


def say(text: bytes) -> None:
    """Print as a compiled library does."""
    library = ctypes.CDLL(None)
    library.puts(text)
    library.fflush(None)


STRAY = b"HighsMipSolverData::transformNewIntegerFeasibleSolution tmpSolver.run();"


@needs_glibc
def test_only_the_stray_line_of_the_solver_is_dropped(capfd):
    say(STRAY)
    with without_stray_lines():
        say(b"one")
        say(STRAY)
        ctypes.CDLL(None).printf(b"half a line, ")
        say(STRAY)
        say(STRAY + b" and more")
        print("python", flush=True)
    say(b"after")
    *lines, last = capfd.readouterr().out.splitlines()
    assert lines[0] == STRAY.decode()
    assert lines[1:] == ["one", f"half a line, {STRAY.decode()} and more", "python"]
    assert last == "after"


@needs_glibc
def test_what_other_threads_print_while_a_solver_runs_is_printed(capfd, monkeypatch):
    """A solver that prints its line again and again, beside a thread that prints as well."""
    started, printed = threading.Event(), threading.Event()

    def solver(*_):
        started.set()
        while not printed.is_set():
            ctypes.CDLL(None).puts(STRAY)
        return "solved"

    def other():
        started.wait(10)
        for number in range(1000):
            say(b"line %d" % number)
        printed.set()

    monkeypatch.setattr(solver_process, "solve", solver)
    thread = threading.Thread(target=other)
    thread.start()
    assert solve_program(np.ones(2), [], np.ones(2, dtype=int)) == "solved"
    thread.join()
    assert capfd.readouterr().out.splitlines() == [f"line {number}" for number in range(1000)]


@needs_glibc
def test_output_is_as_before_when_the_last_of_several_solvers_ends(capfd):
    with without_stray_lines():
        with pytest.raises(ZeroDivisionError), without_stray_lines():
            raise ZeroDivisionError
        say(STRAY)
    say(STRAY)
    assert capfd.readouterr().out.splitlines() == [STRAY.decode()]


@pytest.mark.parametrize("name", methods.names())
def test_a_fit_prints_nothing(name, planted, capfd):
    case = planted(1, n_clusters=4)
    model = methods.create(name, 4, random_state=0, time_limit=1.0)
    with suppress(NoSolutionFoundError):  # greedy methods may find none, and say so by it
        model.fit(case.X, constraints=case.constraints)
    assert capfd.readouterr() == ("", "")
