"""Large data of many features finds the nearest centroids by tiles: the same ones as one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kempe import Constraints, _core
from kempe.problem import Problem
from random_problems import N_FEATURES, N_ROWS, centroids_for, few_and_many_features

seeds = st.integers(0, 2**32 - 1)
cases = settings(max_examples=40, deadline=None)


def nearest_in_order(problem, centroids, order):
    """Obvious twin of the assignment in a given order, with the vertex that found no cluster."""
    edges = {v: set() for v in order.tolist()}
    for v, u in problem.graph.edges.tolist():
        edges[v].add(u)
        edges[u].add(v)
    distances = ((problem.points(problem.everyone)[:, None] - centroids[None]) ** 2).sum(axis=2)
    colours = np.full(len(order), -1)
    for v in order.tolist():
        taken = {int(colours[u]) for u in edges[v]}
        free = [c for c in range(len(centroids)) if c not in taken]
        if not free:
            return colours, v
        colours[v] = min(free, key=lambda c: distances[v, c])
    return colours, -1


@given(seeds, st.integers(2, 6))
@cases
def test_an_assignment_in_order_is_the_same(seed, n_clusters):
    few, many, _ = few_and_many_features(seed, n_clusters)
    plane, padded = centroids_for(few, many, seed)
    order = np.random.default_rng(seed).permutation(few.n_supernodes).astype(np.int32)
    colours, stuck = _core.ordered_assignment(many.core, padded, order)
    wanted, wanted_stuck = nearest_in_order(few, plane, order)
    np.testing.assert_array_equal(colours, wanted)
    assert stuck == wanted_stuck
    relaxed = [
        _core.ordered_assignment(problem.core, centroids, order, relaxed=True)
        for problem, centroids in ((few, plane), (many, padded))
    ]
    np.testing.assert_array_equal(relaxed[0][0], relaxed[1][0])


@given(seeds, st.integers(2, 6))
@cases
def test_an_assignment_by_saturation_is_the_same(seed, n_clusters):
    few, many, _ = few_and_many_features(seed, n_clusters)
    plane, padded = centroids_for(few, many, seed)
    expected, stuck = _core.saturation_assignment(few.core, plane)
    found, found_stuck = _core.saturation_assignment(many.core, padded)
    np.testing.assert_array_equal(found, expected)
    assert found_stuck == stuck


@pytest.mark.parametrize("scale", [1e-30, 1e-18, 1.0, 1e18, 1e30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neither_the_scale_nor_equal_centroids_matter(scale, dtype):
    """Squares of the smallest and of the largest are beyond single precision."""
    rng = np.random.default_rng(0)
    few = (rng.normal(size=(N_ROWS, 2)) * scale).astype(dtype)
    many = np.pad(few, ((0, 0), (0, N_FEATURES - 2)))
    problem = Problem.build(many, Constraints(None, [(0, 1), (5, 6)]), n_clusters=5)
    centroids = problem.rows[[5, 5, 7, 9, 9]].astype(np.float64)  # these are about the mean
    found, _ = _core.saturation_assignment(problem.core, centroids)
    distances = ((few[:, None] / scale - few[[5, 7, 9]][None] / scale) ** 2).sum(axis=2)
    nearest = np.array([0, 2, 3])[distances.argmin(axis=1)]
    free = np.setdiff1d(np.arange(N_ROWS), [0, 1, 5, 6])
    np.testing.assert_array_equal(found[problem.supernode][free], nearest[free])


@pytest.mark.parametrize("nested", [False, True])
def test_once_time_is_up_no_distance_of_large_data_is_measured(nested):
    rng = np.random.default_rng(0)
    n, k = 2000, 7
    X = rng.normal(size=(n, 10**6 // n))
    pairs = np.arange(n // 2).reshape(-1, 2)  # the others are free
    problem = Problem.build(X, Constraints(None, pairs), n_clusters=k)
    assert problem.core.is_large
    stopper = _core.Stopper(0.0)
    if nested:  # only the one above has noticed
        outer, stopper = stopper, stopper.child(60.0)
        outer.look()
    colours, stuck = _core.saturation_assignment(problem.core, X[:k], stopper)
    assert stuck == -1
    np.testing.assert_array_equal(colours[: n // 2], np.tile([0, 1], n // 4))
    np.testing.assert_array_equal(colours[n // 2 :], np.arange(n // 2, n) % k)
