from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe import _core
from kempe.mutate import (
    RELOCATIONS,
    Relocation,
    Relocator,
    match,
    perturb,
    removal_chances,
)
from kempe.problem import Problem
from random_problems import random_problem

DRAWS = 4000


def relocate(problem, colours, rng, params):
    return Relocator(problem, params)(colours, rng)


def two_clusters(weight=None, d=2):
    """Clusters of 12 and 30 rows with different, correlated scatter."""
    rng = np.random.default_rng(5)
    mix = rng.normal(size=(2, d, d))
    X = np.vstack([rng.normal(size=(12, d)) @ mix[0], 5 + rng.normal(size=(30, d)) @ mix[1]])
    problem = Problem.build(X, n_clusters=2, sample_weight=weight)
    return problem, np.repeat([0, 1], [12, 30]).astype(np.int32)


def draws(problem, colours, n=DRAWS):
    rng = np.random.default_rng(0)
    return np.array([perturb(problem, colours, rng) for _ in range(n)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_rows_are_combined_about_the_centroid_of_their_cluster(seed, dtype):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 4)).astype(dtype)
    labels = rng.integers(5, size=30, dtype=np.int32)
    coefficients, centroids = rng.normal(size=30), rng.normal(size=(6, 4))
    expected = np.zeros((6, 4))
    for row, label, coefficient in zip(rows, labels, coefficients, strict=True):
        expected[label] += coefficient * (row - centroids[label])
    found = _core.combine_rows(rows, labels, coefficients, centroids)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_perturbed_centroids_have_the_mean_and_covariance_of_the_t_distribution():
    problem, colours = two_clusters()
    sample = draws(problem, colours)
    means, _ = problem.means(colours)
    for c, size in enumerate([12, 30]):
        freedom = size - 1
        scale = np.cov(problem.rows[colours == c], rowvar=False) / size
        expected = scale * freedom / (freedom - 2)
        error = np.sqrt(np.diag(expected) / DRAWS)
        assert (abs(sample[:, c].mean(axis=0) - means[c]) < 5 * error).all()
        found = np.cov(sample[:, c], rowvar=False)
        np.testing.assert_allclose(found, expected, atol=0.12 * np.diag(expected).max())


def test_perturbed_centroids_have_the_tails_of_the_t_distribution():
    from scipy import stats

    rng = np.random.default_rng(1)
    problem = Problem.build(rng.normal(size=(4, 1)), n_clusters=1)
    colours = np.zeros(4, dtype=np.int32)
    scale = problem.rows.std(ddof=1) / 2
    sample = (draws(problem, colours)[:, 0, 0] - problem.rows.mean()) / scale
    assert stats.kstest(sample, stats.t(df=3).cdf).pvalue > 1e-3


def test_clusters_of_one_row_stay_put():
    problem = Problem.build(np.array([[0.0], [1.0], [2.0]]), n_clusters=2)
    colours = np.array([0, 1, 1], dtype=np.int32)
    moved = perturb(problem, colours, np.random.default_rng(0))
    means, _ = problem.means(colours)
    assert moved[0] == means[0]
    assert moved[1] != means[1]


def test_empty_clusters_stay_put():
    problem, colours = two_clusters()
    wider = Problem(**{**problem.__dict__, "n_clusters": 3})
    moved = perturb(wider, colours, np.random.default_rng(0))
    assert np.isfinite(moved).all()
    np.testing.assert_array_equal(moved[2], 0)


def test_more_features_than_rows_perturb_within_the_span_of_the_rows():
    problem, colours = two_clusters(d=50)
    moved = perturb(problem, colours, np.random.default_rng(0))
    step = (moved - problem.means(colours)[0])[0]
    rows = problem.rows[:12] - problem.rows[:12].mean(axis=0)
    inside = np.linalg.lstsq(rows.T, step, rcond=None)[0] @ rows
    np.testing.assert_allclose(step, inside, atol=1e-9)
    assert np.linalg.norm(step) > 0


@pytest.mark.parametrize("factor", [1.0, 0.001, 7.0])
def test_equal_weights_of_any_size_perturb_like_none(factor):
    plain = two_clusters()
    weighted = two_clusters(np.full(42, factor))
    np.testing.assert_allclose(draws(*plain, n=5), draws(*weighted, n=5))


def test_rows_of_zero_weight_do_not_count():
    weight = np.ones(42)
    weight[1:12] = 0
    problem, colours = two_clusters(weight)
    moved = perturb(problem, colours, np.random.default_rng(0))
    np.testing.assert_allclose(moved[0], problem.rows[0])


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


def test_replacing_puts_one_centroid_on_a_supernode_in_proportion_to_its_cost():
    problem, colours = random_problem(4, n=12, k=3, merged=2)
    means, _ = problem.means(colours)
    cost = problem.costs(means)[np.arange(problem.n_supernodes), colours]
    points = problem.points(np.arange(problem.n_supernodes))
    rng = np.random.default_rng(0)
    drawn, removed = np.zeros(cost.size), np.zeros(3)
    for _ in range(DRAWS):
        targets = relocate(problem, colours, rng, Relocation("replace"))
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


def test_repositioning_splits_the_worst_cluster_and_gives_up_the_best():
    problem, colours = random_problem(4)
    means, _ = problem.means(colours)
    cost = problem.costs(means)[np.arange(problem.n_supernodes), colours]
    inertia = np.bincount(colours, cost)
    low, high = inertia.argmin(), inertia.argmax()
    targets = relocate(problem, colours, np.random.default_rng(0), Relocation("reposition"))
    np.testing.assert_allclose((targets[low] + targets[high]) / 2, means[high])
    assert not np.allclose(targets[low], targets[high])
    others = np.setdiff1d(np.arange(problem.n_clusters), [low, high])
    np.testing.assert_array_equal(targets[others], means[others])


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


def test_relocating_a_perfect_clustering_does_nothing():
    problem = Problem.build(np.repeat([[0.0], [1.0]], 3, axis=0), n_clusters=2)
    colours = np.repeat([0, 1], 3).astype(np.int32)
    targets = relocate(problem, colours, np.random.default_rng(0), Relocation("replace"))
    np.testing.assert_array_equal(targets, problem.means(colours)[0])


def test_wrong_relocations_are_refused():
    with pytest.raises(ValueError, match="kind"):
        Relocation("teleport")
    with pytest.raises(ValueError, match="alpha"):
        Relocation(alpha=0)
