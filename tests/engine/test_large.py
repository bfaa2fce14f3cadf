"""Large data is worked on in blocks: by any number of threads the same, and as well as in turn."""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kempe import Constraints, KempeKMeans, _core
from kempe.problem import Problem

K = 7


def clustered(n, d, dtype, seed=0):
    """Groups around random centres that overlap in any dimension, and the group of each row."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(K, size=n, dtype=np.int32)
    centres = rng.normal(size=(K, d), scale=3 / np.sqrt(d))
    return (centres[hidden] + rng.normal(size=(n, d))).astype(dtype), hidden


def pairs_between(hidden, n_pairs, seed=0):
    pairs = np.random.default_rng(seed).integers(hidden.size, size=(n_pairs, 2))
    return pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]]


@pytest.fixture(scope="module", params=[("f4", 60), ("f8", 60), ("f4", 5), ("f8", 5)], ids=str)
def case(request):
    """Just above the size at which data counts as large; many features and few."""
    dtype, d = request.param
    X, hidden = clustered(1_010_000 // d, d, dtype)
    return X, hidden, pairs_between(hidden, 3000)


def problem_of(case, n_threads=1, sample_weight=None):
    X, _, pairs = case
    return Problem.build(
        X,
        Constraints([(0, 1), (5, 9)], pairs),
        n_clusters=K,
        n_threads=n_threads,
        sample_weight=sample_weight,
    )


def fitted(case, n_jobs, **options):
    X, _, pairs = case
    model = KempeKMeans(K, random_state=3, n_jobs=n_jobs, **options)
    return model.fit(X, cannot_link=pairs)


@pytest.mark.parametrize("options", [{"max_mutations": 0}, {"max_mutations": 5}], ids=str)
def test_labels_are_the_same_bit_by_bit_whatever_the_number_of_threads(case, options):
    expected = fitted(case, 1, **options)
    for n_jobs in (2, 4):
        found = fitted(case, n_jobs, **options)
        assert found.labels_.tobytes() == expected.labels_.tobytes()
        assert found.cluster_centers_.tobytes() == expected.cluster_centers_.tobytes()
        assert found.inertia_ == expected.inertia_


def squared_distances(problem, centroids):
    """All of them, by the plain formula in double precision."""
    points = problem.points(problem.everyone)
    return np.stack([((points - centroid) ** 2).sum(axis=1) for centroid in centroids], axis=1)


def best_lone_change(problem, colours):
    """How much the best move of a single supernode changes the inertia, looking at all of them."""
    centroids, total = problem.means(colours)
    w, everyone = problem.weight, problem.everyone
    squared = squared_distances(problem, centroids)
    rest = total[colours] - w
    gain = np.where(rest > 0, w * total[colours] / np.maximum(rest, 1e-300), 0)
    gain *= squared[everyone, colours]
    cost = w[:, None] * total / (total + w[:, None]) * squared
    cost[everyone, colours] = np.inf
    ends = np.repeat(everyone, np.diff(problem.graph.offsets))
    cost[ends, colours[problem.graph.targets]] = np.inf  # a neighbour is there
    return float((cost - gain[:, None]).min())


@pytest.mark.parametrize("weighted", [False, True])
def test_a_descent_ends_where_no_supernode_can_move_alone(case, weighted):
    X, hidden, _ = case
    weight = np.random.default_rng(1).integers(0, 4, size=len(X)) * 1.0 if weighted else None
    problem = problem_of(case, 2, weight)
    start = hidden[np.unique(problem.supernode, return_index=True)[1]]
    start = _core.saturation_assignment(problem.core, problem.means(start)[0] + 0.5)[0]
    search = _core.SequentialSearch(problem.core, K)
    found = search.descend(start, _core.Stopper())
    inertia = problem.inertia(found)
    assert problem.is_proper(found)
    assert inertia < problem.inertia(start)
    assert best_lone_change(problem, found) > -1e-9 * inertia / len(X)


def test_settling_leaves_no_supernode_that_lies_nearer_to_a_centroid_it_can_join(case):
    problem = problem_of(case, 2)
    rng = np.random.default_rng(0)
    centroids = problem.points(rng.choice(problem.n_supernodes, K, replace=False))
    start = _core.dsatur(problem.graph.core, K)[0]
    found = _core.SequentialSearch(problem.core, K).settle(start, centroids, _core.Stopper())
    squared = squared_distances(problem, centroids)
    own = squared[np.arange(found.size), found].copy()
    edges = np.repeat(np.arange(found.size), np.diff(problem.graph.offsets))
    squared[edges, found[problem.graph.targets]] = np.inf
    assert problem.is_proper(found)
    # Nobody leaves a cluster that would be empty without.
    alone = np.bincount(found, minlength=K)[found] == 1
    assert (squared.min(axis=1) >= own * (1 - 1e-9))[~alone].all()


def test_relocating_large_data_keeps_what_is_better_alone(case):
    problem = problem_of(case, 2)
    start = _core.saturation_assignment(problem.core, problem.points(problem.everyone[:K]))[0]
    search = _core.SequentialSearch(problem.core, K)
    descended = problem.inertia(search.descend(start, _core.Stopper()))
    found, tried, _ = search.relocate(start, 6, 100, 0, -math.inf, 5, _core.Stopper())
    assert tried == 6
    assert problem.is_proper(found)
    assert problem.inertia(found) <= descended * (1 + 1e-12)
    assert best_lone_change(problem, found) > -1e-9 * descended / problem.n_rows


def test_quantities_of_a_clustering_agree_with_numpy(case):
    _, hidden, _ = case
    one, several = problem_of(case, 1), problem_of(case, 3)
    colours = hidden[np.unique(one.supernode, return_index=True)[1]]
    means, weight = several.means(colours)
    points = one.points(one.everyone)
    for c in range(K):
        mine = colours == c
        assert weight[c] == pytest.approx(one.weight[mine].sum())
        expected = np.average(points[mine], weights=one.weight[mine], axis=0)
        np.testing.assert_allclose(means[c], expected, atol=1e-9)
    assert several.means(colours)[0].tobytes() == one.means(colours)[0].tobytes()
    costs = one.weight * ((points - means[colours]) ** 2).sum(axis=1)
    np.testing.assert_allclose(several.own_costs(colours, means), costs, rtol=1e-9)
    assert several.inertia(colours) == one.inertia(colours)
    assert several.inertia(colours) - one.within == pytest.approx(costs.sum())


def test_seeds_are_the_same_whatever_the_number_of_threads(case):
    found = [
        _core.kmeans_plus_plus(problem_of(case, n).core, np.arange(9000, dtype=np.int32), K, 11)
        for n in (1, 3)
    ]
    assert found[0].tolist() == found[1].tolist()


def slow_refinement(points, weight, centroids, share):
    """K-means steps with momentum, in NumPy."""
    means, centroids = centroids.copy(), centroids.copy()
    before, steps = np.inf, 0
    while True:
        squared = ((points[:, None] - centroids) ** 2).sum(axis=2)
        nearest = squared.argmin(axis=1)
        cost = float(weight @ squared.min(axis=1))
        if cost < before * (1 - share):
            before, last, means = cost, means, centroids.copy()
            for c in range(len(means)):
                mine = nearest == c
                if weight[mine].sum() > 0:
                    means[c] = np.average(points[mine], weights=weight[mine], axis=0)
            centroids = means + steps / (steps + 3) * (means - last)
            steps += 1
        elif steps > 1:
            centroids, steps = means.copy(), 0
        else:
            return means


@pytest.mark.parametrize("d", [1, 3, 40])
@pytest.mark.parametrize("k", [1, 5, 11])
def test_refined_centroids_are_those_of_a_slow_twin(d, k):
    rng = np.random.default_rng(d + k)
    X = rng.normal(size=(150, d))
    weight = rng.integers(0, 3, size=150) * 1.0
    problem = Problem.build(X, n_clusters=k, sample_weight=weight)
    sample = np.sort(rng.choice(150, size=90, replace=False)).astype(np.int32)
    centroids = problem.points(sample[:k])
    found = _core.refine_centroids(problem.core, sample, centroids, 1e-6, _core.Stopper())
    expected = slow_refinement(problem.points(sample), weight[sample], centroids, 1e-6)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_refining_large_data_does_not_depend_on_threads(case):
    problems = [problem_of(case, n) for n in (1, 3)]
    centroids = problems[0].points(problems[0].everyone[:K])
    one, other = (
        _core.refine_centroids(problem.core, problem.everyone, centroids, 1e-4, _core.Stopper())
        for problem in problems
    )
    assert one.tobytes() == other.tobytes()


def test_threads_may_share_the_helpers_of_one_problem(case):
    problem = problem_of(case, 3)
    starts = [
        _core.saturation_assignment(problem.core, problem.points(problem.everyone[i : i + K]))[0]
        for i in range(4)
    ]

    def descend(start):
        problem.core.enter()
        try:
            return _core.SequentialSearch(problem.core, K).descend(start, _core.Stopper())
        finally:
            problem.core.leave()

    expected = [descend(start) for start in starts]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(descend, starts))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_time_limit_ends_the_work_on_large_data(case):
    X, _, pairs = case
    began = time.perf_counter()
    model = KempeKMeans(K, random_state=0, n_jobs=2, time_limit=0.05).fit(X, cannot_link=pairs)
    assert (model.labels_[pairs[:, 0]] != model.labels_[pairs[:, 1]]).all()
    assert time.perf_counter() - began < 20


def test_no_cluster_of_large_data_is_emptied():
    X = np.zeros((400_000, 3))
    X[:5] = np.arange(15).reshape(5, 3)
    labels = KempeKMeans(6, random_state=0, max_mutations=0, n_jobs=2).fit(X).labels_
    assert len(np.unique(labels)) == 6


def test_data_far_from_zero_in_single_precision_is_descended_exactly():
    X, _ = clustered(20_000, 60, "f4")
    problem = Problem.build(np.ascontiguousarray(X + np.float32(1000)), n_clusters=K)
    start = _core.saturation_assignment(problem.core, problem.points(problem.everyone[:K]))[0]
    found = _core.SequentialSearch(problem.core, K).descend(start, _core.Stopper())
    assert best_lone_change(problem, found) > -1e-9 * problem.inertia(found) / 20_000


def test_there_must_be_a_thread():
    with pytest.raises(ValueError, match="n_threads must be positive"):
        Problem.build(np.zeros((3, 1)), n_clusters=1, n_threads=0)
