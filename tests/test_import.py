"""Importing the package is quick and quiet."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "matplotlib", "pandas", "polars", "ortools", "sklearn", "typer", "rich")


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


@pytest.mark.timing
def test_import_takes_less_than_two_seconds():
    # Processor time: wall time would measure what else the machine does.
    done = [import_kempe("t = os.times(); print(t.user + t.system)") for _ in range(2)]
    assert min(float(run.stdout) for run in done) < 2.0


def test_heavy_packages_are_imported_only_when_they_are_used():
    done = import_kempe(f"print([name for name in {HEAVY!r} if name in sys.modules])")
    assert done.stdout.strip() == "[]"


def test_the_estimator_is_there_when_asked_for():
    done = import_kempe("print('KempeKMeans' in dir(kempe), kempe.KempeKMeans.__name__)")
    assert done.stdout.split() == ["True", "KempeKMeans"]


def test_other_names_are_not():
    done = import_kempe("print(hasattr(kempe, 'KempeKMeens'))")
    assert done.stdout.split() == ["False"]
