"""Starting centroids."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core_random import CoreRandom
from kempe import _core
from kempe.problem import Problem
from kempe.search import seeding
from kempe.search.seeding import starting_centroids


def plus_plus_twin(problem, candidates, seed):
    """Greedy k-means++ by its definition, with the choices of the same generator."""
    random = CoreRandom(seed)
    points, weight = problem.points(candidates), problem.weight[candidates]
    nearest = np.full(len(candidates), np.inf)
    mass, chosen = weight, []
    for c in range(problem.n_clusters):
        trials = 1 if c == 0 else 2 + int(math.log(problem.n_clusters))
        positions = [_drawn(mass, random) for _ in range(trials)]
        after = [np.minimum(nearest, ((points - points[p]) ** 2).sum(axis=1)) for p in positions]
        best = min(range(trials), key=lambda t: float(weight @ after[t]))
        chosen.append(int(candidates[positions[best]]))
        nearest = after[best]
        mass = weight * nearest
    return chosen


def _drawn(mass, random):
    if not mass.sum() > 0:
        return random.below(len(mass))
    return int((np.cumsum(mass) <= random.uniform() * mass.sum()).sum())


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("distinct", [3, 60])
def test_plus_plus_gives_what_its_slow_twin_gives(seed, distinct, planted):
    """With fewer distinct points than clusters there comes a time with nothing to choose by."""
    instance = planted(seed, n_clusters=5, cannot_link_only=True)
    X = instance.X[np.arange(60) % distinct]
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, size=60)
    problem = Problem.build(X, instance.constraints, n_clusters=5, sample_weight=weights)
    candidates = np.arange(0, problem.n_supernodes, 1 + seed % 3, dtype=np.int32)
    found = _core.kmeans_plus_plus(problem.core, candidates, 5, seed)
    assert found.tolist() == plus_plus_twin(problem, candidates, seed)


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_centroids_are_different_supernodes_and_follow_the_seed(init, planted):
    problem = planted(0).problem
    draw = [starting_centroids(problem, init, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert np.array_equal(draw[0], draw[1])
    assert not np.array_equal(draw[0], draw[2])
    points = problem.points(np.arange(problem.n_supernodes))
    for centroid in draw[0]:
        assert np.isclose(points, centroid).all(axis=1).any()
    assert len(np.unique(draw[0], axis=0)) == 3


def test_plus_plus_finds_far_blobs(planted):
    blobs = np.repeat(np.arange(5.0), 20)[:, None] * 1000 + np.random.default_rng(0).normal(
        size=(100, 1)
    )
    problem = Problem.build(blobs, n_clusters=5)
    for seed in range(10):
        centroids = starting_centroids(problem, "k-means++", np.random.default_rng(seed))
        places = np.round((centroids + problem.shift) / 1000).ravel()
        assert sorted(places.tolist()) == [0, 1, 2, 3, 4]


def test_plus_plus_on_much_data_draws_from_a_part_of_it(planted, monkeypatch):
    problem = planted(0).problem
    part = np.random.default_rng(0).choice(problem.everyone, size=12, replace=False)

    def among(part):
        centroids = starting_centroids(problem, "k-means++", np.random.default_rng(0))
        assert len(np.unique(centroids, axis=0)) == 3
        return (centroids[:, None] == problem.points(part)).all(axis=2).any(axis=1).all()

    assert not among(part)
    monkeypatch.setattr(seeding, "SEEDING_BUDGET", 1)
    monkeypatch.setattr(seeding, "SEEDED_PER_CLUSTER", 4)
    assert among(part)


@pytest.mark.parametrize("wanted", [1, 7, 100])
def test_a_sample_is_what_sorting_would_give(wanted):
    drawn = seeding._drawn(100, wanted, np.random.default_rng(wanted))
    sorted_ones = np.sort(np.random.default_rng(wanted).choice(100, size=wanted, replace=False))
    assert drawn.dtype == np.int32
    assert np.array_equal(drawn, sorted_ones)


def test_given_centroids_are_used_in_the_coordinates_of_the_data(planted):
    instance = planted(0)
    problem = instance.problem
    given = instance.X[:3]
    centroids = starting_centroids(problem, given, np.random.default_rng(0))
    assert centroids + problem.shift == pytest.approx(given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((2, 2)), r"shape \(3, 2\), got \(2, 2\)"),
        (np.full((3, 2), np.nan), "NaN or infinity"),
    ],
)
def test_wrong_centroids_are_refused(given, message, planted):
    with pytest.raises(ValueError, match=message):
        starting_centroids(planted(0).problem, given, np.random.default_rng(0))
