"""Relocations of single centroids against a slow twin that draws the same random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from core_random import CoreRandom
from kempe import KempeKMeans, _core
from kempe.problem import Problem
from kempe.search.relocation import removal_chances
from random_problems import neighbours, random_problem

LONG = 1e9


def relocate(problem, colours, seed, tries=1):
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    return search.relocate(colours, tries, tries, 0, -np.inf, seed, _core.Stopper(LONG))


def drawn(chances, random):
    """Position drawn with a probability in proportion to its chance."""
    cumulative = np.cumsum(chances)
    position = np.searchsorted(cumulative, random.uniform() * cumulative[-1], side="right")
    return min(int(position), len(chances) - 1)


def estimated_change(problem, colours, removed, onto):
    """What a relocation is expected to change, each supernode on its own."""
    points, weight = problem.points(np.arange(problem.n_supernodes)), problem.weight
    place = points[onto]
    distance = cdist(points, problem.means(colours)[0], "sqeuclidean")
    fresh = ((points - place) ** 2).sum(axis=1)
    change, captured, edges = 0.0, [], neighbours(problem)
    for v, own in enumerate(colours):
        around = {colours[u] for u in edges[v]}
        others = [distance[v, c] for c in range(problem.n_clusters) if c not in {own, *around}]
        stays = min(others, default=np.inf) if own == removed else distance[v, own]
        change += weight[v] * (min(stays, fresh[v]) - distance[v, own])
        if fresh[v] < stays:
            captured.append(v)
    mass = weight[captured].sum()
    if mass > 0:
        mean = weight[captured] @ points[captured] / mass
        change -= mass * ((mean - place) ** 2).sum()
    return change


class Twin:
    """One relocation in parts: what is drawn, where it leads, whether it is kept."""

    def __init__(self, problem):
        self.problem = problem
        self.search = _core.SequentialSearch(problem.core, problem.n_clusters)

    def attempt(self, colours, random):
        problem, stopper = self.problem, _core.Stopper(LONG)
        centroids, weight = problem.means(colours)
        costs = _core.own_costs(problem.core, colours, centroids)
        chances = removal_chances(centroids, weight)
        # Of one pair for every five clusters the most promising is tried.
        pairs = [
            (drawn(chances, random), drawn(costs, random))
            for _ in range(max(1, problem.n_clusters // 5))
        ]
        removed, onto = min(pairs, key=lambda pair: estimated_change(problem, colours, *pair))
        centroids[removed] = problem.points([onto])
        moved = self.search.descend(self.search.settle(colours, centroids, stopper), stopper)
        improved = problem.inertia(moved) < problem.inertia(colours) * (1 - 1e-10)
        return moved if improved else colours


def groups_and_gaps(seed, k=6):
    """Tight groups far apart, more of them than clusters, and a start that is a local optimum."""
    rng = np.random.default_rng(seed)
    centres = 100 * rng.permutation(k + 1)[:, None] + rng.uniform(-20, 20, size=(k + 1, 2))
    X = np.repeat(centres, 6, axis=0) + rng.normal(size=(6 * (k + 1), 2))
    problem = Problem.build(X, n_clusters=k)
    near = problem.points(6 * np.arange(k))
    start = cdist(problem.rows, near).argmin(axis=1).astype(np.int32)
    search = _core.SequentialSearch(problem.core, k)
    return problem, search.descend(start, _core.Stopper(LONG))


@pytest.mark.parametrize("k", [6, 17])
def test_a_relocation_draws_and_keeps_what_its_twin_does(k):
    improved = 0
    for seed in range(60):
        problem, colours = groups_and_gaps(seed % 6, k)
        found, _, failures = relocate(problem, colours, seed)
        expected = Twin(problem).attempt(colours, CoreRandom(seed))
        np.testing.assert_array_equal(found[:, None] == found, expected[:, None] == expected)
        improved += failures == 0
    assert 0 < improved < 60, "only one outcome was seen"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 9, 50])
@pytest.mark.parametrize("seed", range(3))
def test_the_estimate_of_a_relocation_is_that_of_its_twin(seed, d, dtype, weighted):
    problem, colours = random_problem(
        seed, n=60, k=7, d=d, density=0.2, dtype=dtype, weighted=weighted
    )
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    optimum = search.descend(colours, _core.Stopper(LONG))
    for removed, onto in zip(range(7), range(0, problem.n_supernodes, 8), strict=False):
        expected = estimated_change(problem, optimum, removed, onto)
        assert search.estimate(optimum, removed, onto) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("density", [0.0, 0.02, 0.2])
def test_many_clusters_end_in_a_local_optimum_though_few_vertices_are_looked_at(density):
    """Whoever was passed over in a trial that was kept would move in a descent of its own."""
    for seed in range(6):
        problem, colours = random_problem(
            seed, n=400, k=40, density=density, weighted=seed % 2 == 0
        )
        search = _core.SequentialSearch(problem.core, 40)
        moved = search.relocate(colours, 150, 150, 0, -np.inf, seed, _core.Stopper(LONG))[0]
        again = _core.SequentialSearch(problem.core, 40).descend(moved, _core.Stopper(LONG))
        np.testing.assert_array_equal(again, moved)


def crowded(scale):
    """Two clusters on one spot, kept apart by pairs; two pairs of points; one loose cluster.

    Merging the two on one spot costs nothing, and splitting the loose one is all that gains.
    """
    X = np.repeat([0.0, 0.0, 100.0, 101.0, 200.0, 201.0, 300.0, 330.0], 4)[:, None] * scale
    colours = np.repeat([0, 1, 2, 2, 3, 3, 4, 4], 4).astype(np.int32)
    return Problem.build(X, n_clusters=5), colours


@pytest.mark.parametrize("scale", [2.0**-10, 1.0, 2.0**10])
def test_a_centroid_whose_removal_costs_nothing_is_always_the_one_removed(scale):
    problem, colours = crowded(scale)
    for seed in range(30):
        after, _, failures = relocate(problem, colours, seed)
        assert failures == 0, "a centroid that is needed was taken away"
        np.testing.assert_array_equal(after, Twin(problem).attempt(colours, CoreRandom(seed)))


def blobs_of_twins(seed, n_blobs=10, apart=3, spots=5):
    """Blobs in which every row has a copy. In some of them no row may join its copy.

    There, two clusters that hold one row of each kind have the same centroid.
    """
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 100, size=(n_blobs, 1, 2))
    points = (centres + rng.integers(-4, 5, size=(n_blobs, spots, 2))).reshape(-1, 2)
    first = 2 * np.arange(apart * spots)
    return np.repeat(points.astype(float), 2, axis=0), np.column_stack([first, first + 1])


@pytest.mark.parametrize("seed", range(8))
def test_fits_do_not_depend_on_the_scale_of_data_with_copies(seed):
    X, pairs = blobs_of_twins(seed)
    labels = [
        KempeKMeans(11, random_state=seed, max_mutations=100)
        .fit(scale * X, cannot_link=pairs)
        .labels_
        for scale in (2.0**-10, 1.0, 2.0**10)
    ]
    np.testing.assert_array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(labels[2], labels[1])


def test_a_single_cluster_has_nothing_to_merge_with():
    problem, _ = random_problem(0, k=2, density=0.0)
    one = Problem.build(problem.rows, n_clusters=1)
    after, tried, _ = relocate(one, np.zeros(one.n_supernodes, np.int32), 3, tries=4)
    assert tried == 4
    assert not after.any()


def far_apart(seed, distance, groups=3, size=40):
    """Groups so far apart that the spread of all data dwarfs the inertia."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(groups * size, 2))
    X[:, 0] += distance * np.repeat(np.arange(groups), size)
    return X


def exact_inertia(X, labels):
    """Inertia from its definition, with digits to spare."""
    X, total = X.astype(np.longdouble), np.longdouble(0)
    for c in np.unique(labels):
        members = X[labels == c]
        total += ((members - members.mean(axis=0)) ** 2).sum()
    return float(total)


@pytest.mark.parametrize("distance", [1e3, 1e5, 1e8])
def test_groups_far_apart_do_not_hide_whether_a_relocation_improves(distance):
    outcomes = set()
    for seed in range(4):
        X = far_apart(seed, distance)
        problem = Problem.build(X, n_clusters=9)
        search = _core.SequentialSearch(problem.core, 9)
        start = np.repeat(np.arange(9, dtype=np.int32), [14, 13, 13] * 3)
        colours = search.descend(start, _core.Stopper(LONG))
        for step in range(60):
            after, _, failures = relocate(problem, colours, step)
            before, now = exact_inertia(X, colours), exact_inertia(X, after)
            assert (now < before * (1 - 1e-10)) == (failures == 0)
            outcomes.add(failures)
            colours = after
    assert outcomes == {0, 1}


@pytest.mark.parametrize("seed", range(4))
def test_the_history_of_groups_far_apart_only_falls(seed):
    X = far_apart(seed, 1e8)
    model = KempeKMeans(9, random_state=seed, max_mutations=200).fit(X)
    history = model.result_.statistics
    assert (np.diff(history.best_inertia) <= 0).all()
    for i, kind in enumerate(history.kind):
        if kind == "relocate":
            assert history.inertia[i] <= history.inertia[i - 1]
    assert model.inertia_ == pytest.approx(exact_inertia(X, model.labels_))
