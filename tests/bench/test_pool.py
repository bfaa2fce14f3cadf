"""Worker processes: Ctrl-C at any moment, and nothing from the current folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kempe.bench import Task, pool

KEMPE = Path(sys.executable).with_name("kempe")
TASK = Task("main", "COL3/n500-k2", 0.05, "KSKM", 0)


def test_ctrl_c_before_a_worker_was_started_is_ctrl_c(monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool._context.Process, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(pool.outcomes([TASK, TASK], workers=2, memory_limit=None, grace=1.0))


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(60))
    Path("data.csv").write_text(f"a,b,c\n{rows}")
    return Path("data.csv")


COMMAND = ["compare", "data.csv", "-k", "3", "--methods", "kempe,COPKM_P", "--workers", "2"]


@pytest.mark.timing  # beside others the moments would be theirs
@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
@pytest.mark.parametrize("delay", [0.0, 0.3, 1.0, 2.0, 4.0])
def test_ctrl_c_ends_a_comparison_in_words_at_any_moment(table, delay):
    process = subprocess.Popen(
        [KEMPE, *COMMAND, "--seeds", "4000"],  # more than the longest delay is enough for
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    while not Path("comparison/data/data.kempe").exists():  # the workers come next
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all of them
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "topped" in said


MARK = """
import os
open(os.path.join(os.path.dirname(__file__), "executed"), "a").write(__name__)
raise SystemExit(99)
"""
NAMES = (
    "kempe",
    "json",
    "joblib",
    "multiprocessing",
    "pickle",
    "signal",
    "sklearn",
    "threadpoolctl",
)


def test_nothing_in_the_current_folder_is_executed(table):
    for name in NAMES:
        Path(f"{name}.py").write_text(MARK)
    done = subprocess.run(
        [KEMPE, *COMMAND, "--seeds", "1"], capture_output=True, text=True, check=False
    )
    assert not Path("executed").exists(), Path("executed").read_text()
    assert done.returncode == 0, done.stderr


METHOD = """
import os
import sys
import numpy as np

class Where:
    def __init__(self, n_clusters):
        pass

    def fit(self, X):
        place = sys.path.index(os.environ["HERE"])
        raise RuntimeError(f"{os.environ.get('PYTHONSAFEPATH')} {place}")
"""


def test_a_method_is_looked_up_last_in_the_current_folder(table, monkeypatch, tmp_path):
    monkeypatch.setenv("HERE", str(tmp_path))
    Path("whereabouts.py").write_text(METHOD)
    task = Task("main", "COL3/n500-k2", 0.05, "whereabouts:Where", 0)
    (record,) = pool.outcomes([task], workers=1, memory_limit=None, grace=60.0)
    said, place = record.reason.removeprefix("error: RuntimeError ").split()
    assert said == "None"
    assert int(place) > 0
    (record,) = pool.outcomes([TASK], workers=1, memory_limit=None, grace=60.0)
    assert record.ok
