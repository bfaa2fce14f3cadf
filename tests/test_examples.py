"""The examples run as a reader would run them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pages import ROOT

EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name, tmp_path):
    pytest.importorskip("matplotlib")
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
