from __future__ import annotations

import numpy as np
import pytest

from kempe import Constraints, NoSolutionFoundError, _core
from kempe.assign.simultaneous import SimultaneousDescent
from kempe.problem import Problem
from kempe.search.start import starting_solution
from random_problems import random_problem


def start(problem, init, seed=0):
    rng = np.random.default_rng(seed)
    return starting_solution(problem, init, SimultaneousDescent(), rng, _core.Stopper())


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_a_start_is_proper_and_depends_on_the_seed_alone(init):
    problem, _ = random_problem(0, n=80, k=6, density=0.1)
    first, second = (start(problem, init) for _ in range(2))
    assert problem.is_proper(first)
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, start(problem, init, seed=1))


def test_good_centroids_give_the_good_clustering_at_once():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
    truth = np.repeat(np.arange(3), 10)
    X = centres[truth] + rng.normal(size=(30, 2))
    problem = Problem.build(X, Constraints(cannot_link=[(0, 10), (11, 20)]), n_clusters=3)
    colours = start(problem, centres)
    assert len(set(zip(truth.tolist(), colours.tolist(), strict=True))) == 3


def test_without_an_exhaustive_search_nothing_is_proven():
    apart = np.column_stack(np.triu_indices(4, 1))
    problem = Problem.build(np.eye(4), Constraints(cannot_link=apart), n_clusters=3)
    with pytest.raises(NoSolutionFoundError):
        start(problem, "k-means++")
