"""Without the interpreter's lock: importing leaves it off, and fits side by side are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("threaded_fits.py")
needs_free_threading = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="the interpreter needs its lock"
)
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")


def run(*arguments: str) -> list[str]:
    """What another interpreter prints that decides itself about its lock."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=600, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@needs_free_threading
def test_the_core_does_not_turn_the_lock_on() -> None:
    code = "import sys, kempe._core; print(sys._is_gil_enabled())"
    assert run("-c", code) == ["False"]


@needs_free_threading
def test_nothing_that_a_fit_imports_turns_the_lock_on() -> None:
    code = """
import sys
from kempe import KSKM, KempeKMeans, certify, rivals
for model in KempeKMeans, KSKM, rivals.PCCC, rivals.COPKM_P:
    model(2, random_state=0).fit([[0.0], [1.0], [5.0], [6.0]], cannot_link=[(0, 1)])
print(sys._is_gil_enabled())
"""
    assert run("-c", code) == ["False"]


# With the lock it is the test of many fits in `test_processes.py`, and Ctrl-C besides.
@posix
@pytest.mark.slow
def test_fits_side_by_side_give_the_same_while_ctrl_c_ends_another() -> None:
    *rounds, last = map(json.loads, run(str(PROGRAM), "1"))
    for outcome in rounds:
        assert outcome == {"fits": 14, "differ": 0, "main": "interrupted"}
    assert last["locked"] == (not sysconfig.get_config_var("Py_GIL_DISABLED"))
