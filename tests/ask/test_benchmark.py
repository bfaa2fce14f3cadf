"""The comparison of strategies counts what it says."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from kempe.datasets import Dataset

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def questions(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("questions")


def test_a_session_is_played_to_its_end(questions, monkeypatch, planted):
    made = planted(n_rows=60, n_clusters=3, n_pairs=0)
    truth = np.arange(60) % 3
    X = np.asarray(made.X) * 0.1 + 10 * truth[:, None]
    data = Dataset("X", "x", None, X, truth, 3, made.constraints, 0.0, "generated")
    monkeypatch.setattr(questions.datasets, "load", lambda name: data)
    monkeypatch.setattr(questions, "BUDGETS", (5, 15))
    for method in ("kempe", "COBRAS", "random"):
        found = questions.Run("X/x", method, 0, 0.0).play()
        assert set(found["ari"]) == {"5", "15"}
        assert found["ari"]["15"] > 0.9 or method == "COBRAS"
    wrong = questions.Run("X/x", "kempe", 0, 1.0).play()  # every answer is a lie
    assert wrong["ari"]["15"] < 0.9


def result(method, dataset, value, seed=0):
    ari = dict.fromkeys(("20", "50", "100", "200"), value)
    return {"method": method, "dataset": dataset, "seed": seed, "wrong": 0.0} | {
        "ari": ari,
        "seconds": 0.002,
        "questions": 200,
    }


def test_tables_have_means_over_sets_and_tests(questions):
    names = [f"COL1/{letter}" for letter in "abcdefgh"]
    results = [result("kempe", name, 0.5 + 0.01 * n) for n, name in enumerate(names)]
    results += [result("COBRAS", name, 0.4) for name in names]
    results += [result("COBRAS", names[0], 0.56, seed=1)]
    (ours, theirs) = questions.table(results, 0.0).rows
    assert ours[:2] == ["kempe", "0.535"]
    assert theirs[1] == "0.410"  # the mean over sets of means over seeds
    assert theirs[-2:] == ["8", "1 to 2"]
    (first, *_) = questions.comparison(results, 0.0).rows
    assert first[:4] == ["20 answers", "+0.125", "8", "0"]
    assert float(first[4]) < 0.05


def test_a_part_of_the_runs_covers_all_sets(questions):
    runs = list(questions.planned(["a", "b"], ["kempe"], 2, [0.0]))
    assert [(run.seed, run.dataset) for run in runs] == [(0, "a"), (0, "b"), (1, "a"), (1, "b")]
