from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from kempe import KempeKMeans
from kempe.search.rounding import _inertia_in_double, _noise, doubted


def naive_inertia(data, labels, weight):
    """Obvious twin, which copies all of the data."""
    rows, total = data.astype(np.float64), 0.0
    for cluster in np.unique(labels):
        own = labels == cluster
        mean = np.average(rows[own], axis=0, weights=weight[own]) if weight[own].any() else 0.0
        total += float(weight[own] @ ((rows[own] - mean) ** 2).sum(axis=1))
    return total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (300, 3), (700, 1000), (3, 70_000)])
def test_the_inertia_in_parts_is_that_of_the_whole(shape, dtype):
    rng = np.random.default_rng(0)
    data = rng.normal(size=shape).astype(dtype)
    labels = rng.integers(4, size=len(data)).astype(np.int32)
    weight = rng.choice([0.0, 1.0, 3.0], size=len(data))
    expected = naive_inertia(data, labels, weight)
    assert _inertia_in_double(data, labels, weight) == pytest.approx(expected, rel=1e-12)


def test_large_data_is_not_copied_to_look_for_rounding():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(2000, 3000)).astype(np.float32)
    weight = np.ones(2000)
    result = KempeKMeans(2, max_mutations=0).fit(data).result_
    lower = naive_inertia(data, result.solution.colours, weight) * 0.99
    tracemalloc.start()
    doubted(result, data, result.solution.colours, None)
    _noise(data, weight, result.solution, lower)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < data.nbytes / 4
