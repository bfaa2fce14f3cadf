from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe.kskm.shift import RELOCATIONS, Relocation, Relocator
from kempe.problem import Problem
from kempe.search.matching import match
from random_problems import random_problem


def relocate(problem, colours, rng, params):
    return Relocator(problem, params)(colours, rng)


@pytest.mark.parametrize("kind", RELOCATIONS)
def test_every_relocation_gives_finite_centroids_and_is_reproducible(kind):
    problem, colours = random_problem(0, n=60, density=0.1, weighted=True)
    first, second = (
        relocate(problem, colours, np.random.default_rng(3), Relocation(kind)) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    assert first.shape == (problem.n_clusters, problem.n_features)
    assert np.isfinite(first).all()
    assert not np.allclose(first, problem.means(colours)[0])


@pytest.mark.parametrize("kind", RELOCATIONS)
def test_alpha_goes_part_of_the_way(kind):
    problem, colours = random_problem(0)
    means, _ = problem.means(colours)
    whole, part = (
        relocate(problem, colours, np.random.default_rng(3), Relocation(kind, alpha))
        for alpha in (1.0, 0.25)
    )
    np.testing.assert_allclose(part, means + 0.25 * (whole - means))


def lowest_and_highest(problem, colours, means):
    """Clusters of lowest and highest inertia, row by row."""
    labels = problem.labels(colours)
    squares = ((problem.rows - means[labels]) ** 2).sum(axis=1)
    weight = 1.0 if problem.row_weight is None else problem.row_weight
    inertia = np.bincount(labels, squares * weight)
    return inertia.argmin(), inertia.argmax()


def test_repositioning_splits_the_worst_cluster_and_gives_up_the_best():
    problem, colours = random_problem(4)
    means, _ = problem.means(colours)
    low, high = lowest_and_highest(problem, colours, means)
    targets = relocate(problem, colours, np.random.default_rng(0), Relocation("reposition"))
    np.testing.assert_allclose((targets[low] + targets[high]) / 2, means[high])
    assert not np.allclose(targets[low], targets[high])
    others = np.setdiff1d(np.arange(problem.n_clusters), [low, high])
    np.testing.assert_array_equal(targets[others], means[others])


def test_coinciding_centroids_stand_where_the_worst_cluster_is():
    problem, colours = random_problem(4)
    means, _ = problem.means(colours)
    low, high = lowest_and_highest(problem, colours, means)
    targets = relocate(problem, colours, np.random.default_rng(0), Relocation("coincide"))
    np.testing.assert_array_equal(targets[low], means[high])
    others = np.delete(np.arange(problem.n_clusters), low)
    np.testing.assert_array_equal(targets[others], means[others])


def test_only_a_cluster_that_dissolved_between_coinciding_centroids_is_revived():
    problem, colours = random_problem(4)
    emptied = np.where(colours == 1, 0, colours).astype(np.int32)
    rng = np.random.default_rng(0)
    assert Relocator(problem, Relocation("coincide")).revived(colours, rng) is None
    assert Relocator(problem, Relocation("reposition")).revived(emptied, rng) is None
    revived = Relocator(problem, Relocation("coincide")).revived(emptied, rng)
    means, _ = problem.means(emptied)
    others = np.delete(np.arange(problem.n_clusters), 1)
    np.testing.assert_array_equal(revived[others], means[others])
    assert (problem.points(problem.everyone) == revived[1]).all(axis=1).any()


@pytest.mark.parametrize("kind", ["kmeans", "sdp"])
def test_unconstrained_targets_are_the_centres_of_separated_blobs(kind):
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [10, 0], [0, 10], [10, 10]], dtype=float)
    truth = np.repeat(np.arange(4), 25)
    problem = Problem.build(centres[truth] + 0.3 * rng.normal(size=(100, 2)), n_clusters=4)
    shuffled = rng.permutation(truth).astype(np.int32)
    hits = []
    relocator = Relocator(problem, Relocation(kind))
    for _ in range(5):
        targets = relocator(shuffled, rng) + problem.shift
        distances = np.linalg.norm(targets[:, None] - centres[None], axis=2).min(axis=0)
        hits.append((distances < 0.5).all())
    assert sum(hits) >= 3


def test_matching_is_the_cheapest_of_all_permutations():
    problem, colours = random_problem(9, weighted=True)
    means, weight = problem.means(colours)
    targets = np.random.default_rng(0).normal(size=means.shape)

    def cost(order):
        costs = problem.costs(targets[list(order)])
        return costs[np.arange(problem.n_supernodes), colours].sum()

    best = min(itertools.permutations(range(problem.n_clusters)), key=cost)
    np.testing.assert_array_equal(match(means, weight, targets), targets[list(best)])


def test_wrong_relocations_are_refused():
    with pytest.raises(ValueError, match="kind"):
        Relocation("teleport")
    with pytest.raises(ValueError, match="alpha"):
        Relocation(alpha=0)
