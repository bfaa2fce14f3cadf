"""Importing the package is quick and quiet."""

from __future__ import annotations

import os
import subprocess
import sys

HEAVY = ("matplotlib", "pandas", "polars", "ortools", "typer", "rich")


def import_kempe(code: str = "") -> subprocess.CompletedProcess[str]:
    script = f"import os, sys, kempe; {code or 'pass'}"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )


def test_import_says_nothing():
    done = import_kempe()
    assert (done.stdout, done.stderr) == ("", "")


def test_import_takes_less_than_two_seconds():
    # Processor time: wall time would measure what else the machine does.
    done = [import_kempe("t = os.times(); print(t.user + t.system)") for _ in range(2)]
    assert min(float(run.stdout) for run in done) < 2.0


def test_import_leaves_the_extras_alone():
    done = import_kempe(f"print([name for name in {HEAVY!r} if name in sys.modules])")
    assert done.stdout.strip() == "[]"
