"""Long solves in another process: the same answers, wherever they come from."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint

from kempe.exact import solver_process

RNG = np.random.default_rng(0)
ROWS = RNG.integers(1, 50, size=(3, 12)).astype(float)
COSTS = -RNG.integers(1, 50, 12).astype(float)
LIMITS = ROWS.sum(axis=1) / 3
PROGRAMS = {
    "milp": {
        "c": COSTS,
        "constraints": [LinearConstraint(ROWS, -np.inf, LIMITS)],
        "integrality": np.ones(12),
        "bounds": Bounds(0, 1),
        "options": {"mip_rel_gap": 0.0},
    },
    "linprog": {"c": COSTS, "A_ub": ROWS, "b_ub": LIMITS, "bounds": (0, 1), "options": {}},
}
# Beyond it a model is solved elsewhere from the start.
HUGE = solver_process.LARGEST_UNINTERRUPTED + 1


@pytest.fixture
def started(monkeypatch):
    """Arguments of the processes that were started."""
    calls = []
    popen = subprocess.Popen

    def noted(command, **options):
        calls.append(command)
        return popen(command, **options)

    monkeypatch.setattr(subprocess, "Popen", noted)
    return calls


@pytest.mark.parametrize("name", PROGRAMS)
def test_another_process_gives_the_same_answer(name, started, capfd):
    here = solver_process.solve(name, 100.0, 10, PROGRAMS[name])
    assert not started, "what is solved soon needs no other process"
    elsewhere = solver_process.solve(name, 100.0, HUGE, PROGRAMS[name])
    assert len(started) == 1
    assert elsewhere.status == here.status == 0
    np.testing.assert_array_equal(elsewhere.x, here.x)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("executable", ["/nowhere/python", "false"])
def test_without_another_process_it_is_solved_here(monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    answer = solver_process.solve("milp", 100.0, HUGE, PROGRAMS["milp"])
    assert answer.status == 0


def test_where_ctrl_c_raises_nothing_no_process_is_started(started):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        solver_process.solve("milp", 100.0, HUGE, PROGRAMS["milp"])
    finally:
        signal.signal(signal.SIGINT, before)
    work = threading.Thread(
        target=solver_process.solve, args=("milp", 100.0, HUGE, PROGRAMS["milp"])
    )
    work.start()
    work.join()
    assert not started


def test_a_file_of_that_name_in_the_current_folder_is_not_executed(tmp_path, monkeypatch, started):
    for name in ("kempe.py", "scipy.py", "pickle.py"):
        (tmp_path / name).write_text(f"open('executed {name}', 'w')")
    monkeypatch.chdir(tmp_path)
    answer = solver_process.solve("milp", 100.0, HUGE, PROGRAMS["milp"])
    assert len(started) == 1
    assert answer.status == 0
    assert not list(tmp_path.glob("executed*"))
