"""What once broke a promise, mostly found by ``fuzz.py``, keeps it now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tiny_problems import TinyProblem, check_promises, check_relaxed, fit, optimum

STORED = sorted((Path(__file__).parent / "regressions").glob("*.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_what_failed_once_works(path):
    case = json.loads(path.read_text())
    problem = TinyProblem.from_json(case["problem"])
    if case["variant"] == "relax":
        check_relaxed(problem)
        return
    check_promises(case["variant"], problem, fit(case["variant"], problem), optimum(problem))


def test_there_are_regressions():
    assert STORED
