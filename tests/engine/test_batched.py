"""Descent in batches, in one memory; ``tests/dask`` has it in many."""

from __future__ import annotations

import numpy as np
import pytest

from batches import in_batches
from kempe import Constraints, KempeKMeans, _core
from kempe.engine.crowd import NOTHING, FreeRowSums, farthest_of_part, look_at_part
from random_problems import random_problem


def slow_crowd(rows, weight, held, centroids):
    """Row by row."""
    k, d = centroids.shape
    total, shift, cost = np.zeros(k), np.zeros((k, d)), np.zeros(k)
    for i, row in enumerate(rows.astype(float)):
        if i in held or not weight[i] > 0:
            continue
        squared = ((row - centroids) ** 2).sum(axis=1)
        own = squared.argmin()
        total[own] += weight[i]
        shift[own] += weight[i] * (row - centroids[own])
        cost[own] += weight[i] * squared[own]
    return total, shift, cost


def data(seed, dtype, n=203, d=5, k=7):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)).astype(dtype)
    weight = rng.integers(3, size=n).astype(float)
    held = np.sort(rng.choice(n, 20, replace=False))
    return rows, weight, held, rng.normal(size=(k, d))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1, 1), (203, 5, 7), (64, 40, 3), (50, 2, 30)])
def test_the_kernel_adds_up_what_the_loop_adds_up(dtype, shape):
    n, d, k = shape
    rng = np.random.default_rng(n)
    rows, centroids = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(k, d))
    weight, held = rng.integers(1, 4, size=n).astype(float), np.flatnonzero(rng.random(n) < 0.2)
    found = _core.crowd(rows, weight, held, centroids, NOTHING)
    for one, other in zip(found, slow_crowd(rows, weight, held, centroids), strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert found[3].size == 0


def test_rows_are_torn_where_moving_them_lowers_the_inertia():
    rows, weight, held, centroids = data(1, np.float64)
    weight[:] = 1
    first = look_at_part(rows, weight, held, 0, centroids)
    for _ in range(100):  # k-means, until nothing moves
        centroids = first.means(centroids)
        first = look_at_part(rows, weight, held, 0, centroids)
    crowd = look_at_part(rows, weight, held, 0, centroids, first.weight)
    assert len(crowd.better_elsewhere)
    assert (np.diff(crowd.better_elsewhere.gain) <= 0).all()
    free = np.setdiff1d(np.arange(len(rows)), held)
    labels, _ = _core.nearest_centroids(rows, centroids)
    before = inertia(rows[free], labels[free], 7)
    better_elsewhere = {int(row) for row in crowd.better_elsewhere.number}
    for row in free:
        others = [np.where(free == row, c, labels[free]) for c in range(7) if c != labels[row]]
        gain = before - min(inertia(rows[free], other, 7) for other in others)
        assert (gain > 1e-9) == (row in better_elsewhere)


def inertia(rows, labels, k):
    groups = [rows[labels == c] for c in range(k)]
    return sum(len(g) * g.var(axis=0).sum() for g in groups if len(g))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_add_up_to_the_whole(dtype):
    rows, weight, held, centroids = data(2, dtype)
    whole = look_at_part(rows, weight, held, 100, centroids)
    parts = [
        look_at_part(rows[a:b], weight[a:b], held[(held >= a) & (held < b)] - a, 100 + a, centroids)
        for a, b in ((0, 50), (50, 50), (50, 203))
    ]
    merged = FreeRowSums.merged(parts)
    for name in ("weight", "shift", "cost"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12)


def test_rows_that_leave_a_crowd_are_missing_in_its_sums():
    rows, weight, held, centroids = data(3, np.float64)
    crowd = look_at_part(rows, weight, held, 0, centroids)
    gone = farthest_of_part(rows, weight, held, 0, centroids, 30)
    assert len(gone) == 30
    assert not np.isin(gone.number, held).any()
    rest = crowd.without(gone, centroids)
    held = np.union1d(held, gone.number)
    expected = look_at_part(rows, weight, held, 0, centroids)
    for name in ("weight", "shift", "cost", "within"):
        np.testing.assert_allclose(getattr(rest, name), getattr(expected, name), atol=1e-9)


def test_the_farthest_rows_cost_most():
    rows, weight, held, centroids = data(4, np.float64)
    found = farthest_of_part(rows, weight, held, 1000, centroids, 10)
    costs = weight * ((rows[:, None] - centroids) ** 2).sum(axis=2).min(axis=1)
    costs[held] = -1
    np.testing.assert_array_equal(found.number - 1000, np.argsort(-costs)[:10])
    np.testing.assert_allclose(found.gain, np.sort(costs)[::-1][:10])
    few = farthest_of_part(rows[:3], np.array([0.0, 1.0, 1.0]), np.array([2]), 0, centroids, 10)
    assert few.number.tolist() == [1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.ones((5, 0))}, "must have a feature"),
        ({"weight": np.ones(4)}, "one entry per row, or none"),
        ({"held": np.array([3, 1])}, "held must ascend"),
        ({"centroids": np.ones((2, 2))}, "wrong number of features"),
        ({"centroids": np.full((2, 3), np.nan)}, "must be finite"),
        ({"cluster_weight": np.ones(3)}, "one entry per cluster, or none"),
    ],
)
def test_the_kernel_refuses_what_does_not_fit(change, message):
    arguments = {
        "rows": np.ones((5, 3)),
        "weight": np.ones(5),
        "held": np.array([1, 3]),
        "centroids": np.zeros((2, 3)),
        "cluster_weight": np.ones(2),
    }
    with pytest.raises(ValueError, match=message):
        _core.crowd(**(arguments | change))


@pytest.mark.parametrize("seed", range(20))
def test_a_descent_in_batches_ends_in_a_local_optimum_that_keeps_all_pairs(seed):
    problem, _ = random_problem(seed, n=60, k=4, density=0.05)
    rows, pairs = problem.rows, problem.constraints
    with in_batches():
        model = KempeKMeans(4, max_mutations=0, random_state=seed).fit(rows, constraints=pairs)
    assert not len(Constraints.violations(pairs, model.labels_).cannot_link)
    assert not len(Constraints.violations(pairs, model.labels_).must_link)
    for row in range(len(rows)):
        for cluster in range(4):
            other = model.labels_.copy()
            other[row] = cluster
            violated = pairs.violations(other)
            if not len(violated.must_link) and not len(violated.cannot_link):
                assert inertia(rows, other, 4) >= model.inertia_ * (1 - 1e-9)


def test_searches_may_descend_in_batches_as_well():
    problem, _ = random_problem(0, n=80, k=4, density=0.05)
    rows, pairs = problem.rows, problem.constraints
    with in_batches():
        once, often = (
            KempeKMeans(4, max_mutations=most, random_state=0).fit(rows, constraints=pairs)
            for most in (0, 20)
        )
    assert often.inertia_ <= once.inertia_
