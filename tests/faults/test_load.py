"""Extreme sizes and shapes: nothing overflows a stack, the memory or the patience of a user."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from kempe import Constraints

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

stress = pytest.mark.stress
slow = pytest.mark.slow


@pytest.fixture
def script(monkeypatch):
    pytest.importorskip("resource", reason="peak memory is read the POSIX way")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("stress")


@pytest.mark.parametrize(
    ("name", "megabytes"),
    [
        pytest.param("many_rows", 2000, marks=stress),
        pytest.param("many_pairs", 2000, marks=stress),
        pytest.param("clique", 1000, marks=slow),
        pytest.param("star", 1000, marks=slow),
        pytest.param("path", 1000, marks=slow),
        pytest.param("chain", 1000, marks=slow),
    ],
)
def test_a_fit_satisfies_its_constraints_in_bounded_memory(script, name, megabytes):
    assert script.measured(name)["peak_mb"] < megabytes


def numbered_path(n: int) -> np.ndarray:
    return np.column_stack([np.arange(n - 1), np.arange(1, n)])


@slow
@pytest.mark.timing  # a slow build of the core needs longer than the check is given
@pytest.mark.parametrize(("n_clusters", "feasible"), [(1, False), (2, True)])
def test_a_path_of_a_million_rows_is_checked(n_clusters, feasible):
    report = Constraints(None, numbered_path(1_000_000)).check(n_clusters)
    assert report.feasible is feasible
    assert (report.lower_bound, report.upper_bound) == (2, 2)


@slow
def test_a_contradiction_along_a_million_rows_is_explained():
    constraints = Constraints(numbered_path(1_000_000), [(0, 999_999)])
    report = constraints.check(2)
    assert report.feasible is False
    assert len(report.certificate.rows) == 1_000_000
    assert len(str(report)) < 1000


@slow
@pytest.mark.parametrize(("n_clusters", "feasible"), [(599, False), (600, True)])
def test_a_large_clique_is_decided_at_once(n_clusters, feasible):
    pairs = np.column_stack(np.triu_indices(600, 1))
    report = Constraints(None, pairs).check(n_clusters)
    assert report.feasible is feasible
    assert (report.lower_bound, report.upper_bound) == (600, 600)
