"""The fuzzer finds what breaks a promise, makes it small and stores it."""

from __future__ import annotations

import json
import signal
import threading
from collections import Counter

import numpy as np
import pytest

import fuzz
from tiny_problems import TinyProblem, tiny_problems


class Reports:
    """What a worker reports; the first failure, or enough problems, end the work."""

    def __init__(self, most_problems):
        self.stop = threading.Event()
        self.counts = Counter()
        self.most_problems = most_problems

    def put(self, counts):
        self.counts.update(counts)
        if self.counts["failures"] or self.counts["problems"] >= self.most_problems:
            self.stop.set()


@pytest.fixture
def fuzzed(monkeypatch, tmp_path):
    """Fuzz one method for some problems; what was counted and what was stored."""
    monkeypatch.setattr(fuzz, "REGRESSIONS", tmp_path)
    monkeypatch.setattr(fuzz, "VARIANTS", {"COPKM": fuzz.VARIANTS["COPKM"]})
    monkeypatch.setattr(fuzz, "FAMILIES", {"any": (tiny_problems(), fuzz.ROUND)})
    before = signal.getsignal(signal.SIGINT)

    def run(most_problems):
        reports = Reports(most_problems)
        fuzz.work(1, reports, reports.stop)
        return reports.counts, [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]

    yield run
    signal.signal(signal.SIGINT, before)


def test_what_works_is_counted(fuzzed):
    counts, stored = fuzzed(60)
    assert counts["problems"] >= 60
    assert counts["fits COPKM"] >= counts["found COPKM"] >= counts["optimal COPKM"] > 0
    assert counts["failures"] == 0
    assert not stored


def test_a_failure_is_stored_as_small_as_it_can_be(fuzzed, monkeypatch):
    def picky(variant, problem, outcome, best):
        assert problem.n_clusters < 2, "two clusters"

    monkeypatch.setattr(fuzz, "check_promises", picky)
    counts, stored = fuzzed(1000)
    assert counts["failures"] == len(stored) == 1
    assert stored[0]["why"] == "AssertionError: two clusters"
    problem = TinyProblem.from_json(stored[0]["problem"])
    assert len(problem.X) == problem.n_clusters >= 2
    assert not np.any(problem.X)
    assert not problem.must_link
    assert not problem.cannot_link


@pytest.mark.parametrize(
    "family",
    [
        *("few distinct rows", "few distinct rows, crowded", "soft pairs and sizes"),
        *("few distinct rows, soft and limited", "mixed magnitudes, soft and limited"),
        "contradictions",
    ],
)
def test_some_families_are_tried_in_their_own_way(family, monkeypatch, tmp_path):
    monkeypatch.setattr(fuzz, "REGRESSIONS", tmp_path)
    monkeypatch.setattr(fuzz, "FAMILIES", {family: (fuzz.FAMILIES[family][0], 30)})
    reports = Reports(30)
    before = signal.getsignal(signal.SIGINT)
    fuzz.work(1, reports, reports.stop)
    signal.signal(signal.SIGINT, before)
    assert reports.counts[f"family {family}"] >= 30
    assert reports.counts["failures"] == 0
