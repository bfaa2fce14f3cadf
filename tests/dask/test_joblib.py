"""``n_jobs`` and the benchmark runner under every backend of joblib."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV

from kempe import KempeKMeans
from kempe.bench import Experiment, Plan, Store, run
from kempe.search.threads import n_threads

BACKENDS = ["threading", "loky", "dask"]

pytestmark = pytest.mark.usefixtures("client")


def fitted(seed, case):
    model = KempeKMeans(case.k, max_mutations=20, n_jobs=2, random_state=seed)
    return model.fit(case.X, **case.pairs).labels_


@pytest.mark.parametrize("backend", BACKENDS)
def test_fits_in_tasks_are_those_of_one_process(case, backend):
    expected = [fitted(seed, case) for seed in range(3)]
    with parallel_config(backend=backend, n_jobs=2):
        found = Parallel()(delayed(fitted)(seed, case) for seed in range(3))
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("backend", BACKENDS)
def test_fits_inside_a_context_are_those_outside(case, backend):
    expected = KempeKMeans(case.k, max_mutations=20, random_state=0).fit(case.X, **case.pairs)
    with parallel_config(backend=backend):
        model = KempeKMeans(case.k, max_mutations=20, n_jobs=-1, random_state=0)
        np.testing.assert_array_equal(model.fit(case.X, **case.pairs).labels_, expected.labels_)


def test_the_threads_of_a_cluster_are_not_those_of_this_machine(client):
    with parallel_config(backend="dask"):
        assert n_threads(-1) <= joblib.cpu_count()
        assert n_threads(None) <= joblib.cpu_count()
    assert n_threads(3) == 3
    assert n_threads(None) == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_grids_are_searched_by_every_backend(backend):
    X, _ = make_blobs(120, centers=3, random_state=0)
    grid = GridSearchCV(KempeKMeans(max_mutations=0, random_state=0), {"n_clusters": [2, 3]}, cv=2)
    with parallel_config(backend=backend, n_jobs=2):
        assert grid.fit(X).best_params_ == {"n_clusters": 3}


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_runner_works_by_every_backend(tmp_path, backend):
    quick = {"kempe": {"max_mutations": 5}}
    experiment = Experiment(["kempe"], ["COL2/n300-k10-s30"], [0.05], range(2), options=quick)
    plan = Plan("test", [experiment])
    expected = run(plan, Store(tmp_path / "own"), workers=1)
    if not expected[0].ok:
        pytest.skip(expected[0].reason)  # the data of the paper is elsewhere
    found = run(plan, Store(tmp_path / backend), workers=2, backend=backend)
    inertia = {record.key: record.inertia for record in expected}
    assert {record.key: record.inertia for record in found} == inertia
