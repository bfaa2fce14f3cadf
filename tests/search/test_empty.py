from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kempe.problem import Problem
from kempe.search.empty import costs_at_means, full_solution
from random_problems import random_problem


def fill_slowly(problem, colours):
    """Twin: try every move into the first empty cluster and keep the best."""
    colours = colours.copy()
    for empty in range(problem.n_clusters):
        if empty in colours:
            continue
        options = []
        for v in range(problem.n_supernodes):
            if (colours == colours[v]).sum() > 1:
                trial = colours.copy()
                trial[v] = empty
                options.append((problem.inertia(trial), v))
        colours[min(options)[1]] = empty
    return colours


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_supernode_that_gains_most_moves(seed, weighted):
    problem, colours = random_problem(seed, n=15, k=3, merged=2, weighted=weighted)
    wider = Problem(**{**problem.__dict__, "n_clusters": 6})
    filled = full_solution(wider, colours).colours
    # Of two supernodes that share a cluster, either gains the same.
    assert wider.inertia(filled) == pytest.approx(wider.inertia(fill_slowly(wider, colours)))
    assert np.unique(filled).size == 6
    assert wider.is_proper(filled)
    assert wider.inertia(filled) <= wider.inertia(colours)


def test_full_clusterings_are_left_alone():
    problem, colours = random_problem(0)
    assert full_solution(problem, colours).colours is colours


def test_a_cluster_of_members_without_weight_is_not_empty():
    weight = np.array([1.0, 1.0, 0.0])
    problem = Problem.build(np.arange(6.0).reshape(3, 2), n_clusters=2, sample_weight=weight)
    colours = np.array([0, 0, 1], dtype=np.int32)
    solution = full_solution(problem, colours)
    assert solution.colours is colours
    assert solution.inertia == pytest.approx(4.0)


def test_identical_points_still_fill_every_cluster():
    problem = Problem.build(np.ones((5, 2)), n_clusters=5)
    filled = full_solution(problem, np.zeros(5, dtype=np.int32)).colours
    assert np.unique(filled).size == 5


def test_fewer_supernodes_than_clusters_fill_as_many_as_there_are():
    problem = Problem.build(np.arange(6.0).reshape(3, 2), n_clusters=5)
    assert np.unique(full_solution(problem, np.zeros(3, dtype=np.int32)).colours).size == 3


def test_nothing_is_cheaper_in_an_empty_cluster():
    problem, colours = random_problem(1)
    wider = Problem(**{**problem.__dict__, "n_clusters": problem.n_clusters + 1})
    costs = costs_at_means(wider, colours)
    expected = problem.costs(problem.means(colours)[0])
    np.testing.assert_array_equal(costs[:, :-1], expected)
    assert (costs[:, -1] >= expected.max()).all()
