"""The first colouring of a search."""

from __future__ import annotations

import numpy as np
import pytest

from kempe import Constraints, InfeasibleConstraintsError, NoSolutionFoundError, _core
from kempe.kskm.assignment import SimultaneousDescent
from kempe.problem import Problem
from kempe.search.first_colouring import any_colouring, first_colouring, starting_solution
from kempe.search.seeding import starting_centroids
from random_problems import context_of, random_problem


def start(problem, init, seed=0, **options):
    context = context_of(problem, seed)
    centroids = starting_centroids(problem, init, context.rng)
    return starting_solution(context, centroids, SimultaneousDescent(), **options)


def colour(problem, centroids, **options):
    return first_colouring(context_of(problem), centroids, **options)


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
        start(problem, "k-means++", exhaustive=False)
    with pytest.raises(InfeasibleConstraintsError):
        start(problem, "k-means++")


def saturation_ordered(problem, centroids):
    """Slow twin of Algorithm 5: most saturated first, nearest admissible centroid."""
    neighbours = {
        v: set(problem.graph.matrix[[v]].indices.tolist()) for v in range(problem.n_supernodes)
    }
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
    assert problem.is_proper(colour(problem, centroids))


@pytest.mark.parametrize("seed", range(10))
def test_without_constraints_rows_go_to_the_nearest_centroid(seed, planted):
    problem = Problem.build(planted(seed).X, n_clusters=3)
    centroids = starting_centroids(problem, "random", np.random.default_rng(seed))
    nearest = problem.costs(centroids).argmin(axis=1)
    assert colour(problem, centroids).tolist() == nearest.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_saturation_order_gives_what_its_slow_twin_gives(seed, planted):
    problem = planted(seed, n_rows=30, n_clusters=3, n_pairs=25).problem
    centroids = starting_centroids(problem, "random", np.random.default_rng(seed))
    # With so few pairs it never gets stuck.
    assert colour(problem, centroids).tolist() == saturation_ordered(problem, centroids)


@pytest.mark.parametrize("seed", range(20))
def test_classic_dsatur_gives_what_its_slow_twin_gives(seed, planted):
    problem = planted(seed, n_rows=30, n_clusters=4, n_pairs=60, cannot_link_only=True).problem
    # With a centroid per colour, each a little farther from everything, the nearest is the lowest.
    towards_zero = np.full((4, 2), 1e6) * np.arange(1, 5)[:, None]
    expected = saturation_ordered(problem, towards_zero)
    colours, stuck = _core.dsatur(problem.graph.core, 4)
    assert (stuck >= 0) == (expected is None)
    if expected is not None:
        assert colours.tolist() == expected


def test_it_finds_nothing_for_a_clique_larger_than_k():
    constraints = Constraints(None, [(0, 1), (0, 2), (1, 2)])
    problem = Problem.build(np.arange(4.0)[:, None], constraints, n_clusters=2)
    with pytest.raises(NoSolutionFoundError):
        colour(problem, np.zeros((2, 1)), exhaustive=False)


def test_without_time_for_another_the_known_colouring_is_taken():
    """The triangular prism with three colours: saturation order gets stuck near these centroids."""
    edges = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (0, 3), (1, 4), (2, 5)]
    problem = Problem.build(np.zeros((6, 1)), Constraints(cannot_link=edges), n_clusters=3)
    known = np.array([0, 1, 2, 1, 2, 0], dtype=np.int32)
    struck = _core.Stopper(0.0)
    found = any_colouring(context_of(problem, 1, struck), known=known)
    assert problem.is_proper(found)
    assert len(set(zip(known.tolist(), found.tolist(), strict=True))) == 3
