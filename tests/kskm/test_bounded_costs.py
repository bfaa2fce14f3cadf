"""Large data of many features has no table of costs; it finds what the table would have found.

A few points of the plane, with zeros for all other features, are as large as a few thousand rows.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kempe import Constraints, _core
from kempe.kskm.assignment import SimultaneousDescent
from kempe.problem import Problem
from random_problems import (
    N_FEATURES,
    N_ROWS,
    centroids_for,
    context_of,
    few_and_many_features,
    improving_chains,
)

seeds = st.integers(0, 2**32 - 1)
cases = settings(max_examples=40, deadline=None)


@given(seeds, st.sampled_from([SimultaneousDescent.step, SimultaneousDescent.settle]))
@cases
def test_a_step_and_where_swaps_settle_are_the_same(seed, follow):
    few, many, colours = few_and_many_features(seed)
    plane, padded = centroids_for(few, many, seed)
    descent = SimultaneousDescent()
    np.testing.assert_array_equal(
        follow(descent, context_of(few), colours, plane),
        follow(descent, context_of(many), colours, padded),
    )


@given(seeds, st.sampled_from(["costliest", "random"]), st.sampled_from([5, 9]))
@cases
def test_where_a_descent_ends_is_the_same(seed, fill, n_clusters):
    few, many, colours = few_and_many_features(seed, n_clusters)
    descent = SimultaneousDescent(fill=fill)
    lower = descent.descend(context_of(few, seed), colours)
    np.testing.assert_array_equal(lower, descent.descend(context_of(many, seed), colours))


def ends_of_both(few, colours, constraints=None, **options):
    """Where descents end on points of the plane, and on the same with many features."""
    many = np.pad(few, ((0, 0), (0, N_FEATURES - 2)))
    problems = [Problem.build(X, constraints, **options) for X in (few, many)]
    assert [problem.core.is_large for problem in problems] == [False, True]
    return [SimultaneousDescent().descend(context_of(problem), colours) for problem in problems]


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(("apart", "weight"), [(1e10, 1.0), (1e13, 1.0), (5.0, 1e24)])
def test_one_row_far_away_or_heavy_silences_nobody(apart, weight, alone):
    """What the others gain is rounding beside it, and still it is gained."""
    rng = np.random.default_rng(0)
    few = rng.normal(size=(N_ROWS, 2))
    few[0] += apart
    colours = rng.integers(3, size=N_ROWS).astype(np.int32)
    colours[0] = 3 if alone else 0
    weights = np.r_[weight, np.ones(N_ROWS - 1)]
    expected, found = ends_of_both(few, colours, n_clusters=4, sample_weight=weights)
    np.testing.assert_array_equal(found, expected)
    assert np.count_nonzero(found != colours) > N_ROWS / 4


@pytest.mark.parametrize("offset", [1e6, 1e9, 1e11])
def test_nor_does_an_origin_far_from_all_rows(offset, monkeypatch):
    monkeypatch.setattr("kempe.problem.CENTRE_UP_TO_BYTES", 0)  # as for data that takes more
    rng = np.random.default_rng(0)
    few = rng.normal(size=(N_ROWS, 2)) + offset
    colours = rng.integers(4, size=N_ROWS).astype(np.int32)
    expected, found = ends_of_both(few, colours, n_clusters=4)
    np.testing.assert_array_equal(found, expected)
    assert np.count_nonzero(found != colours) > N_ROWS / 4


def gains_offered(problem, colours, centroids):
    """What each improving chain of a step would gain, as whoever chooses among them is told."""
    offered = []

    def choose_none(gains, *conflicts):
        offered.append(gains.copy())
        return np.zeros(gains.size, dtype=np.bool_)

    _core.simultaneous_step(problem.core, colours, centroids, choose_none)
    return np.sort(np.concatenate([[], *offered]))


def gains_of_all(problem, colours, centroids):
    """The same by the plain table of costs."""
    chains = improving_chains(problem, colours, centroids)
    linked = problem.graph.degree[chains.vertices[chains.offsets[:-1]]] > 0
    return np.sort(chains.gain[linked])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("weight", "apart"), [(1e8, 0.0), (1e20, 0.0), (1.0, 1e12)])
def test_heavy_and_far_rows_hide_no_chain(weight, apart, seed, monkeypatch):
    """What they may gain is far more than what others gain, also by the last digit of a bound."""
    monkeypatch.setattr("kempe.problem.CENTRE_UP_TO_BYTES", 0)  # or all would be far
    rng = np.random.default_rng(seed)
    n, k = 200, 5
    points = np.zeros((n, 10**6 // n + 1))
    points[:, :2] = rng.normal(size=(n, 2))
    special = rng.random(n) < 0.25
    points[special, 0] += apart
    colours = rng.integers(k, size=n).astype(np.int32)
    pairs = rng.integers(n, size=(200, 2))
    problem = Problem.build(
        points,
        Constraints(None, pairs[colours[pairs[:, 0]] != colours[pairs[:, 1]]]),
        n_clusters=k,
        sample_weight=np.where(special, weight, 1.0),
    )
    assert problem.core.is_large
    centroids = np.zeros((k, points.shape[1]))
    centroids[:, :2] = rng.normal(size=(k, 2))
    expected = gains_of_all(problem, colours, centroids)
    found = gains_offered(problem, colours, centroids)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-30, 1e-18, 1e18, 1e30])
def test_the_scale_of_the_data_does_not_matter(scale):
    """Squares of the smallest and of the largest are beyond single precision."""
    rng = np.random.default_rng(1)
    points = np.zeros((N_ROWS, N_FEATURES), np.float32)
    points[:, :2] = rng.normal(size=(N_ROWS, 2))
    colours = rng.integers(5, size=N_ROWS).astype(np.int32)
    expected, found = (
        SimultaneousDescent().descend(context_of(Problem.build(X, n_clusters=5)), colours)
        for X in (points, points * np.float32(scale))
    )
    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(found, colours)


@pytest.mark.parametrize("exponent", [0, 100, 130, 400])
def test_the_scale_is_that_of_points_where_all_centroids_are_at_the_origin(exponent):
    rng = np.random.default_rng(0)
    half = rng.integers(-8, 9, size=(N_ROWS // 2, 2))
    few = np.ldexp(np.concatenate([half, -half]).astype(np.float64), exponent)
    colours = (np.arange(N_ROWS) % 2).astype(np.int32)  # as many of each half: the means are 0
    neighbours = np.arange(N_ROWS).reshape(-1, 2)
    expected, found = ends_of_both(few, colours, Constraints(None, neighbours), n_clusters=3)
    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(found, colours)


def test_a_cluster_of_everything_is_parted_and_empty_ones_are_filled():
    few, many, _ = few_and_many_features(3, 9)
    everything = np.zeros(N_ROWS, np.int32)
    ends = [
        SimultaneousDescent().descend(
            context_of(Problem.build(problem.rows, n_clusters=9)), everything
        )
        for problem in (few, many)
    ]
    np.testing.assert_array_equal(*ends)
    assert np.unique(ends[0]).size == 9


def test_heavy_rows_that_leave_a_cluster_take_their_rounding_with_them():
    """Sums of what is left are added up anew: its mean would be lost in the digits of the heavy."""
    rng = np.random.default_rng(0)
    few = rng.normal(size=(N_ROWS, 2))
    few[:3] += 5.0
    weight = np.r_[np.full(3, 1e18), np.ones(N_ROWS - 3)]
    colours = np.r_[np.zeros(40), np.ones(N_ROWS - 40)].astype(np.int32)
    ends = ends_of_both(few, colours, n_clusters=2, sample_weight=weight)
    np.testing.assert_array_equal(*ends)
    assert set(ends[0][:3]) != set(ends[0][3:40])
