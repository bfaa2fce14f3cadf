"""Starting centroids and the first colouring."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core_random import CoreRandom
from kempe import Constraints, NoSolutionFoundError, _core
from kempe import init as init_module
from kempe.init import initial_colouring, starting_centroids
from kempe.problem import Problem


def saturation_ordered(problem, centroids):
    """Slow twin of Algorithm 5: most saturated first, nearest admissible centroid."""
    neighbours = {v: set(problem.graph[[v]].indices.tolist()) for v in range(problem.n_supernodes)}
    costs = problem.costs(centroids)
    colours = {}
    while len(colours) < problem.n_supernodes:
        taken = {
            v: {colours[u] for u in neighbours[v] if u in colours}
            for v in range(problem.n_supernodes)
            if v not in colours
        }
        v = max(taken, key=lambda u: (len(taken[u]), len(neighbours[u]), -u))
        free = [c for c in range(problem.n_clusters) if c not in taken[v]]
        if not free:
            return None
        colours[v] = min(free, key=lambda c: costs[v, c])
    return [colours[v] for v in range(problem.n_supernodes)]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_the_first_colouring_is_proper(seed, init, planted):
    problem = planted(seed, n_clusters=4, n_pairs=20 * (1 + seed % 5)).problem
    centroids = starting_centroids(problem, init, np.random.default_rng(seed))
    assert centroids.shape == (4, 2)
    assert problem.is_proper(initial_colouring(problem, centroids))


@pytest.mark.parametrize("seed", range(10))
def test_without_constraints_rows_go_to_the_nearest_centroid(seed, planted):
    problem = Problem.build(planted(seed).X, n_clusters=3)
    centroids = starting_centroids(problem, "random", np.random.default_rng(seed))
    nearest = problem.costs(centroids).argmin(axis=1)
    assert initial_colouring(problem, centroids).tolist() == nearest.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_saturation_order_gives_what_its_slow_twin_gives(seed, planted):
    problem = planted(seed, n_rows=30, n_clusters=3, n_pairs=25).problem
    centroids = starting_centroids(problem, "random", np.random.default_rng(seed))
    expected = saturation_ordered(problem, centroids)
    if expected is not None:
        assert initial_colouring(problem, centroids).tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_classic_dsatur_gives_what_its_slow_twin_gives(seed, planted):
    problem = planted(seed, n_rows=30, n_clusters=4, n_pairs=60, cannot_link_only=True).problem
    # With a centroid per colour, each a little farther from everything, the nearest is the lowest.
    towards_zero = np.full((4, 2), 1e6) * np.arange(1, 5)[:, None]
    expected = saturation_ordered(problem, towards_zero)
    colours, stuck = _core.dsatur(problem.core, 4)
    assert (stuck >= 0) == (expected is None)
    if expected is not None:
        assert colours.tolist() == expected


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
    monkeypatch.setattr(init_module, "SEEDING_BUDGET", 1)
    centroids = starting_centroids(planted(0).problem, "k-means++", np.random.default_rng(0))
    assert len(np.unique(centroids, axis=0)) == 3


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


def test_it_finds_nothing_for_a_clique_larger_than_k():
    constraints = Constraints(None, [(0, 1), (0, 2), (1, 2)])
    problem = Problem.build(np.arange(4.0)[:, None], constraints, n_clusters=2)
    with pytest.raises(NoSolutionFoundError):
        initial_colouring(problem, np.zeros((2, 1)))
