"""Ties between coinciding centroids."""

from __future__ import annotations

import numpy as np
import pytest

from kempe import Constraints, _core
from kempe.problem import Problem
from kempe.rivals.pccc import SplitTies, coinciding
from kempe.rivals.program import ProgramAssignment


def split(problem, centroids, seed=0):
    assign = SplitTies(ProgramAssignment(problem), np.random.default_rng(seed))
    return assign(problem, centroids, None, _core.Stopper())


def test_centroids_in_one_place_are_found():
    centroids = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])
    assert list(coinciding(centroids)) == [(0, 2), (2, 4)]
    assert list(coinciding(centroids[:2])) == []


def test_both_centroids_get_a_part_of_what_they_share():
    problem = Problem.build(np.arange(40.0)[:, None], n_clusters=3)
    centroids = np.array([[10.0], [35.0], [10.0]]) - problem.shift
    size = np.bincount(split(problem, centroids), minlength=3)
    assert size[0] + size[2] == 23
    assert min(size[0], size[2]) > 4


@pytest.mark.parametrize("seed", range(10))
def test_a_split_costs_nothing_and_breaks_no_pair(planted, seed):
    case = planted(seed, n_clusters=5)
    problem = case.problem
    centroids = np.random.default_rng(seed).normal(scale=4.0, size=(5, problem.n_features))
    centroids[3] = centroids[1]
    costs = problem.costs(centroids)
    one = ProgramAssignment(problem)(problem, centroids, None, _core.Stopper())
    other = split(problem, centroids, seed)
    vertices = np.arange(problem.n_supernodes)
    assert problem.is_proper(other)
    assert costs[vertices, other].sum() == pytest.approx(costs[vertices, one].sum())


def test_cannot_linked_rows_stay_on_different_sides():
    pairs = Constraints(None, [(0, 1), (1, 2), (3, 4)])
    problem = Problem.build(np.arange(6.0)[:, None], pairs, n_clusters=2)
    centroids = np.zeros((2, 1))
    seen = set()
    for seed in range(20):
        colours = split(problem, centroids, seed)
        assert colours[0] == colours[2] != colours[1]
        assert colours[3] != colours[4]
        seen.add((colours[0] == colours[3], colours[0] == colours[5]))
    assert len(seen) == 4  # components are independent of each other


def test_without_a_tie_nothing_is_drawn():
    problem = Problem.build(np.arange(4.0)[:, None], n_clusters=2)
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    SplitTies(ProgramAssignment(problem), rng)(
        problem, np.array([[0.0], [3.0]]) - problem.shift, None, _core.Stopper()
    )
    assert rng.bit_generator.state == before
