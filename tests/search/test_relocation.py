from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe.problem import Problem
from kempe.search.relocation import relocated_centroids, removal_chances
from random_problems import random_problem

DRAWS = 4000


def test_replacing_puts_one_centroid_on_a_supernode_in_proportion_to_its_cost():
    problem, colours = random_problem(4, n=12, k=3, merged=2)
    means, _ = problem.means(colours)
    cost = problem.costs(means)[np.arange(problem.n_supernodes), colours]
    points = problem.points(np.arange(problem.n_supernodes))
    rng = np.random.default_rng(0)
    drawn, removed = np.zeros(cost.size), np.zeros(3)
    for _ in range(DRAWS):
        targets = relocated_centroids(problem, colours, rng)
        (changed,) = np.flatnonzero((targets != means).any(axis=1))
        removed[changed] += 1
        drawn[np.flatnonzero((points == targets[changed]).all(axis=1))] += 1
    np.testing.assert_allclose(drawn / DRAWS, cost / cost.sum(), atol=0.03)
    np.testing.assert_allclose(removed / DRAWS, merging_chances(problem, colours), atol=0.03)


def merging_chances(problem, colours):
    """Twin: the inverse of what the cheapest merger of each cluster adds to the inertia."""
    inertia = problem.inertia(colours)
    cost = np.full(problem.n_clusters, np.inf)
    for a, b in itertools.permutations(range(problem.n_clusters), 2):
        merged = np.where(colours == a, b, colours).astype(np.int32)
        cost[a] = min(cost[a], problem.inertia(merged) - inertia)
    return (1 / cost) / (1 / cost).sum()


def test_the_cheaper_its_removal_the_likelier_a_centroid_is_taken_away():
    problem, colours = random_problem(6, k=5, weighted=True)
    chances = removal_chances(*problem.means(colours))
    np.testing.assert_allclose(chances, merging_chances(problem, colours))


@pytest.mark.parametrize(
    ("centroids", "weight", "expected"),
    [
        ([[0.0], [1.0], [0.0]], [2, 0, 3], [0, 1, 0]),
        ([[0.0], [1.0], [0.0]], [2, 1, 3], [0.5, 0, 0.5]),
        ([[0.0]], [2], [1]),
    ],
)
def test_centroids_that_nobody_misses_are_taken_away_first(centroids, weight, expected):
    chances = removal_chances(np.array(centroids), np.array(weight, dtype=float))
    np.testing.assert_allclose(chances, expected)


def test_relocating_a_perfect_clustering_does_nothing():
    problem = Problem.build(np.repeat([[0.0], [1.0]], 3, axis=0), n_clusters=2)
    colours = np.repeat([0, 1], 3).astype(np.int32)
    targets = relocated_centroids(problem, colours, np.random.default_rng(0))
    np.testing.assert_array_equal(targets, problem.means(colours)[0])
