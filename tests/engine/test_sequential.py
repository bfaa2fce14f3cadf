"""The sequential descent and its relocations against slow twins that look at every chain."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kempe import Constraints, _core
from kempe.engine import SequentialDescent
from kempe.problem import Problem
from kempe.search.descent import Budget
from random_problems import (
    best_inertia,
    context_of,
    improving_chains,
    large_problem,
    neighbours,
    random_problem,
)

seeds = st.integers(0, 2**32 - 1)
shapes = st.fixed_dictionaries(
    {
        "n": st.integers(6, 45),
        "k": st.integers(2, 6),
        "d": st.sampled_from([1, 2, 5, 9]),
        "density": st.sampled_from([0.0, 0.05, 0.2, 0.5]),
        "merged": st.integers(0, 6),
        "dtype": st.sampled_from([np.float32, np.float64]),
        "weighted": st.booleans(),
    }
)


class Twin:
    """A clustering in plain NumPy and dictionaries, which tries every move by recomputing."""

    def __init__(self, problem, centroids=None):
        self.k = problem.n_clusters
        self.points = problem.points(np.arange(problem.n_supernodes))
        self.weight = problem.weight
        self.centroids = centroids
        self.neighbours = neighbours(problem)

    def cost(self, colours):
        """Cost to the fixed centroids, or the inertia between supernodes if there are none."""
        centroids = self.means(colours) if self.centroids is None else self.centroids
        return float(self.weight @ ((self.points - centroids[colours]) ** 2).sum(axis=1))

    def means(self, colours):
        """Weighted mean of each cluster, 0 where there is no weight."""
        share = (colours == np.arange(self.k)[:, None]) * self.weight
        total = share.sum(axis=1, keepdims=True)
        return share @ self.points / np.where(total > 0, total, 1.0)

    def chain(self, colours, v, other):
        """Vertices that are reached from one vertex inside its own and another colour."""
        allowed = {int(colours[v]), other}
        reached, frontier = {v}, [v]
        while frontier:
            found = {u for w in frontier for u in self.neighbours[w] if int(colours[u]) in allowed}
            frontier = list(found - reached)
            reached |= found
        return sorted(reached)

    def swapped(self, colours, chain, other):
        """Colours after the swap of a chain that holds the colour ``other`` and one more."""
        own = next((int(colours[v]) for v in chain if colours[v] != other), other)
        after = colours.copy()
        after[chain] = np.where(colours[chain] == other, own, other)
        return after

    def moved_alone(self, colours, v, other):
        """Colours after the move of one vertex, its neighbours ignored."""
        after = colours.copy()
        after[v] = other
        return after

    def improving_chain(self, colours):
        """A chain that the descent should have swapped, or None."""
        scale = float(self.weight @ (self.points**2).sum(axis=1))
        cost = self.cost(colours)
        bar = cost - 1e-9 * (cost + scale)  # what is above is no better, but for rounding
        filled = set(colours.tolist())
        for v, other in itertools.product(range(len(colours)), range(self.k)):
            # The last vertex of a cluster stays, or its cluster would be empty.
            if other == colours[v] or (colours == colours[v]).sum() == 1:
                continue
            if self.cost(self.moved_alone(colours, v, other)) >= bar:
                continue
            chain = self.chain(colours, v, other)
            after = self.swapped(colours, chain, other)
            if self.cost(after) < bar and filled <= set(after.tolist()):
                return chain
        return None

    def improving_ejection(self, colours):
        """Moves of a vertex and of the one neighbour in its way that should have been made."""
        cost = self.cost(colours)
        scale = float(self.weight @ (self.points**2).sum(axis=1))
        sizes = np.bincount(colours, minlength=self.k)
        for v, to in itertools.product(range(len(colours)), range(self.k)):
            inside = [u for u in self.neighbours[v] if colours[u] == to]
            # Only vertices that want to go there look for a way, and no cluster is emptied.
            if len(inside) != 1 or sizes[to] == 1 or sizes[colours[v]] == 1:
                continue
            if self.cost(self.moved_alone(colours, v, to)) >= cost - 1e-9 * (cost + scale):
                continue
            for refuge in self.refuges(colours, inside[0], {to, int(colours[v])}):
                after = self.moved_alone(colours, inside[0], refuge)
                after[v] = to
                if self.cost(after) < cost - 1e-9 * (cost + scale):
                    return v, inside[0], refuge
        return None

    def refuges(self, colours, u, forbidden):
        """Colours that one vertex can take without any other."""
        around = {int(colours[x]) for x in self.neighbours[u]}
        return [c for c in range(self.k) if c not in forbidden and c not in around]


def rng(seed=0):
    return np.random.default_rng(seed)


def descend(problem, colours, descent=None):
    return (descent or SequentialDescent()).descend(context_of(problem), colours)


def settle(problem, colours, centroids):
    return SequentialDescent().settle(context_of(problem), colours, centroids)


class Relocated(NamedTuple):
    colours: np.ndarray
    tries: int
    failures: int


def relocate(problem, colours, *, seed=0, descent=None, stopper=None, **limits):
    """The kernel that the descent improves by."""
    limits = {"tries": 50, "patience": 1000, "failures": 0, "target": -np.inf, **limits}
    limits["target"] -= problem.within
    descent = descent or SequentialDescent()
    return Relocated(
        *descent._search(problem).relocate(
            colours,
            seed=int(rng(seed).integers(2**63)),
            stopper=stopper or _core.Stopper(),
            **limits,
        )
    )


def random_centroids(problem, seed):
    return rng(seed).normal(size=(problem.n_clusters, problem.n_features))


def build(X, *, k, must_link=None, cannot_link=None, weights=None):
    return Problem.build(
        np.asarray(X), Constraints(must_link, cannot_link), n_clusters=k, sample_weight=weights
    )


def clusters(colours):
    """The partition, whatever the clusters are called."""
    return {frozenset(np.flatnonzero(colours == c).tolist()) for c in np.unique(colours)}


def assert_no_worse(problem, before, after):
    assert after.dtype == np.int32
    assert problem.is_proper(after)
    assert set(before.tolist()) <= set(after.tolist()), "a cluster was emptied"
    assert problem.inertia(after) <= problem.inertia(before) * (1 + 1e-9)


def test_improving_relocates_within_its_budget_and_never_hands_out_anything_worse():
    problem, colours = random_problem(5, n=80, k=6)
    optimum = descend(problem, colours)
    budget = Budget(tries=200, most_failures=40)
    steps = list(SequentialDescent().improve(context_of(problem), optimum, budget))
    inertia = [problem.inertia(optimum), *(problem.inertia(step.colours) for step in steps)]
    assert (np.diff(inertia) <= 0).all()
    assert inertia[-1] < inertia[0]
    assert 40 <= sum(step.tries for step in steps) <= 200
    assert all(problem.is_proper(step.colours) for step in steps)


@given(seeds, shapes)
@settings(max_examples=60, deadline=None)
def test_descending_ends_where_no_chain_of_a_vertex_that_gains_improves(seed, shape):
    problem, colours = random_problem(seed, **shape)
    after = descend(problem, colours)
    assert_no_worse(problem, colours, after)
    assert Twin(problem).improving_chain(after) is None


@given(seeds, shapes)
@settings(max_examples=60, deadline=None)
def test_descending_ends_where_no_single_neighbour_in_the_way_can_be_moved_on(seed, shape):
    problem, colours = random_problem(seed, **shape)
    assert Twin(problem).improving_ejection(descend(problem, colours)) is None


@given(seeds, shapes)
@settings(max_examples=60, deadline=None)
def test_settling_ends_where_no_chain_improves_the_cost_to_the_centroids(seed, shape):
    problem, colours = random_problem(seed, **shape)
    centroids = random_centroids(problem, seed)
    after = settle(problem, colours, centroids)
    assert problem.is_proper(after)
    assert set(colours.tolist()) <= set(after.tolist())
    twin = Twin(problem, centroids)
    assert twin.cost(after) <= twin.cost(colours) * (1 + 1e-12)
    assert twin.improving_chain(after) is None


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_a_local_optimum_stays_as_it_is(seed):
    problem, colours = random_problem(seed, density=0.2)
    optimum = descend(problem, colours)
    np.testing.assert_array_equal(descend(problem, optimum), optimum)


@pytest.mark.parametrize("apart", [1e4, 1e8])
def test_a_start_that_mixes_groups_far_apart_ends_in_a_local_optimum_all_the_same(apart):
    problem, _ = random_problem(3, n=60, k=6, density=0.02)
    far = apart * (np.arange(problem.n_rows) % 2)[:, None]
    problem = build(problem.rows + far, k=6, cannot_link=problem.constraints.cannot_link)
    start, stuck = _core.dsatur(problem.graph.core, 6)
    assert stuck < 0
    optimum = descend(problem, start)
    assert problem.inertia(optimum) < 1e-6 * problem.inertia(start)
    again = descend(problem, optimum)
    assert problem.inertia(again) == pytest.approx(problem.inertia(optimum), rel=1e-9)


@pytest.mark.parametrize("d", [1, 3, 8, 9, 16, 47, 48, 49, 70])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_code_path_of_the_distances_ends_in_a_local_optimum(d, dtype):
    problem, colours = random_problem(d, d=d, k=3, density=0.1, dtype=dtype)
    assert Twin(problem).improving_chain(descend(problem, colours)) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_data_of_many_features_is_left_without_an_improving_chain(dtype):
    """Beyond two million values chains are priced by a rounded table at standing centroids."""
    problem, colours = large_problem(0, n=2100, d=1000, k=6, n_pairs=10_000, dtype=dtype)
    assert problem.n_supernodes * problem.n_features > 2e6
    after = descend(problem, colours)
    assert_no_worse(problem, colours, after)
    assert problem.inertia(after) < problem.inertia(colours) * (1 - 1e-4)
    means, _ = problem.means(after)
    costs = problem.costs(means)
    left = improving_chains(problem, after, means)
    for s in range(left.n_moves):
        part = slice(left.offsets[s], left.offsets[s + 1])
        vertices = left.vertices[part]
        terms = costs[vertices, after[vertices]] - costs[vertices, left.colours[part]]
        assert left.gain[s] <= 1e-4 * np.abs(terms).sum()
    assert_no_worse(problem, after, relocate(problem, after, tries=3).colours)


def assign_by_table(problem, colours, centroids, thorough):
    """Repeat the kernel until it changes nothing, as a descent does."""
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    while True:
        before = colours
        colours = search.assign_by_table(colours, centroids, thorough, _core.Stopper())
        if (colours == before).all():
            return colours


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize("density", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(10))
def test_no_chain_and_no_ejection_improves_what_was_assigned_by_a_table(seed, density, thorough):
    problem, colours = random_problem(seed, n=40, k=5, density=density, weighted=seed % 2 == 1)
    centroids = random_centroids(problem, seed)
    # Supernodes without any pair are not looked at.
    free = problem.graph.degree == 0
    colours[free] = problem.costs(centroids)[free].argmin(axis=1)
    after = assign_by_table(problem, colours, centroids, thorough)
    np.testing.assert_array_equal(after[free], colours[free])
    assert problem.is_proper(after)
    assert set(colours.tolist()) <= set(after.tolist())
    twin = Twin(problem, centroids)
    assert twin.cost(after) <= twin.cost(colours)
    assert twin.improving_chain(after) is None
    assert twin.improving_ejection(after) is None


def test_several_neighbours_in_the_way_are_sent_where_each_likes_best():
    # Row 0 lies on centroid 0, where rows 1 to 3 are; those prefer clusters 1, 2 and 3 to its own.
    centroids = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [-2.0, 0.0], [0.0, -9.0]])
    X = np.vstack([[0.0, 0.0], 0.45 * centroids[1:4], centroids])
    problem = build(X, k=5, cannot_link=[(0, 1), (0, 2), (0, 3)])
    colours = np.array([4, 0, 0, 0, 0, 1, 2, 3, 4], dtype=np.int32)
    after = assign_by_table(problem, colours, centroids - problem.shift, False)
    assert after[:4].tolist() == [0, 1, 2, 3]


def test_a_thorough_search_of_the_table_is_no_worse_and_sometimes_better():
    gains = []
    for seed in range(30):
        problem, colours = random_problem(seed, n=45, k=4, density=0.2)
        centroids = random_centroids(problem, seed)
        quick, thorough = (
            problem.inertia(assign_by_table(problem, colours, centroids, choice), centroids)
            for choice in (False, True)
        )
        gains.append(quick - thorough)
    assert min(gains) >= -1e-6
    assert max(gains) > 0.1


def test_free_vertices_alone_go_where_hartigan_and_wong_send_them():
    X = np.concatenate([rng().normal(size=(20, 2)), 8 + rng(1).normal(size=(20, 2))])
    after = descend(build(X, k=2), np.tile([0, 1], 20).astype(np.int32))
    assert clusters(after) == {frozenset(range(20)), frozenset(range(20, 40))}


def test_one_cluster_has_nowhere_to_go():
    problem = build(rng().normal(size=(9, 2)), k=1)
    colours = np.zeros(9, dtype=np.int32)
    np.testing.assert_array_equal(descend(problem, colours), colours)
    assert (relocate(problem, colours).colours == 0).all()
    assert (settle(problem, colours, np.ones((1, 2))) == 0).all()


def test_as_many_clusters_as_points_stay_full():
    problem = build(rng().normal(size=(7, 2)), k=7, cannot_link=[(0, 1), (1, 2)])
    colours = rng().permutation(7).astype(np.int32)
    for after in (descend(problem, colours), relocate(problem, colours).colours):
        assert sorted(after.tolist()) == list(range(7))


@pytest.mark.parametrize("seed", range(5))
def test_empty_clusters_at_the_start_are_filled(seed):
    problem, colours = random_problem(seed, n=30, k=3, density=0.1)
    wider = build(
        problem.rows,
        k=7,
        must_link=problem.constraints.must_link,
        cannot_link=problem.constraints.cannot_link,
    )
    after = descend(wider, colours)
    assert_no_worse(wider, colours, after)
    assert np.unique(after).size == 7
    assert Twin(wider).improving_chain(after) is None


def test_equal_points_move_nowhere_and_the_descent_ends():
    problem = build(np.ones((12, 3)), k=4, cannot_link=[(0, 1), (2, 3)])
    colours = np.arange(12, dtype=np.int32) % 4
    np.testing.assert_array_equal(descend(problem, colours), colours)
    relocated = relocate(problem, colours)
    assert problem.is_proper(relocated.colours)
    assert np.unique(relocated.colours).size == 4


@pytest.mark.parametrize("seed", range(5))
def test_few_distinct_points_with_many_copies_end_in_a_local_optimum(seed):
    X = rng(seed).integers(3, size=(40, 2)).astype(float)
    hidden = rng(seed).integers(4, size=40).astype(np.int32)
    pairs = rng(seed).integers(40, size=(30, 2))
    problem = build(X, k=4, cannot_link=pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]])
    after = descend(problem, hidden)
    assert_no_worse(problem, hidden, after)
    assert Twin(problem).improving_chain(after) is None
    assert_no_worse(problem, after, relocate(problem, after).colours)


@given(seeds, st.sampled_from([0.05, 0.3]), st.sampled_from([0.2, 0.6, 0.9]))
@settings(max_examples=40, deadline=None)
def test_weights_of_zero_do_no_harm(seed, density, share):
    weightless = rng(seed).random(30) < share
    weightless[0] = False
    base, _ = random_problem(seed, n=30, density=density, k=4)
    problem = build(
        base.rows,
        k=4,
        must_link=base.constraints.must_link,
        cannot_link=base.constraints.cannot_link,
        weights=np.where(weightless, 0.0, 1.5),
    )
    hidden = random_problem(seed, n=30, density=density, k=4)[1]
    after = descend(problem, hidden)
    assert_no_worse(problem, hidden, after)
    relocated = relocate(problem, after).colours
    assert_no_worse(problem, after, relocated)
    centroids = random_centroids(problem, seed)
    settled = settle(problem, hidden, centroids)
    assert problem.is_proper(settled)
    assert problem.inertia(settled, centroids) <= problem.inertia(hidden, centroids) * (1 + 1e-12)
    assert Twin(problem).improving_chain(relocated) is None


@pytest.mark.parametrize("seed", range(8))
def test_a_weight_counts_as_so_many_points(seed):
    weights = rng(seed).integers(1, 4, size=12)
    X = rng(seed).normal(size=(12, 2))
    repeated = np.repeat(np.arange(12), weights)
    chains = np.column_stack([np.arange(repeated.size - 1), np.arange(1, repeated.size)])
    same = chains[repeated[chains[:, 0]] == repeated[chains[:, 1]]]
    one = build(X, k=3, weights=weights.astype(float))
    other = build(X[repeated], k=3, must_link=same)
    colours = (np.arange(12) % 3).astype(np.int32)
    assert one.inertia(descend(one, colours)) == pytest.approx(
        other.inertia(descend(other, colours))
    )


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_data_far_from_the_origin_gives_the_same_clusters(offset):
    X = np.round(rng(3).normal(size=(60, 2)), 3)
    pairs = np.column_stack([np.arange(0, 40, 2), np.arange(1, 40, 2)])
    colours = (np.arange(60) % 2).astype(np.int32)
    near, far = (build(data, k=2, cannot_link=pairs) for data in (X, X + offset))
    np.testing.assert_array_equal(descend(near, colours), descend(far, colours))


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_scale_of_the_data_does_not_matter(scale):
    problem, colours = random_problem(4, density=0.2)
    constraints = problem.constraints
    scaled = Problem.build(problem.rows * scale, constraints, n_clusters=4)
    after = descend(scaled, colours)
    assert scaled.inertia(after) / scale**2 == pytest.approx(
        problem.inertia(descend(problem, colours))
    )


@given(seeds, shapes)
@settings(max_examples=40, deadline=None)
def test_relocating_never_ends_worse_and_ends_in_a_local_optimum(seed, shape):
    problem, colours = random_problem(seed, **shape)
    optimum = descend(problem, colours)
    outcome = relocate(problem, optimum, seed=seed, tries=30)
    assert_no_worse(problem, optimum, outcome.colours)
    assert Twin(problem).improving_chain(outcome.colours) is None
    assert outcome.tries == 30


@pytest.mark.parametrize("seed", range(8))
def test_relocating_finds_the_optimum_of_a_tiny_problem(seed):
    problem, colours = random_problem(seed, n=9, k=3, merged=1, density=0.2)
    best = min(
        problem.inertia(relocate(problem, colours, seed=i, tries=100).colours) for i in range(3)
    )
    assert best == pytest.approx(best_inertia(problem))


@pytest.mark.parametrize("tries", [0, 1, 7])
def test_no_more_relocations_are_tried_than_allowed(tries):
    problem, colours = random_problem(0)
    assert relocate(problem, colours, tries=tries).tries == tries


def test_failures_in_a_row_end_the_relocations():
    problem, colours = random_problem(0)
    optimum = relocate(problem, colours, tries=400).colours
    assert relocate(problem, optimum, patience=9).tries == 9
    outcome = relocate(problem, optimum, patience=9, failures=5)
    assert (outcome.tries, outcome.failures) == (4, 9)
    assert relocate(problem, optimum, patience=9, failures=9).tries == 0


def test_an_improvement_forgets_earlier_failures():
    problem, colours = random_problem(2, n=80, k=8)
    start = problem.inertia(descend(problem, colours))
    seen = set()
    for seed in range(20):
        outcome = relocate(problem, colours, tries=1, failures=5, seed=seed)
        improved = problem.inertia(outcome.colours) < start * (1 - 1e-9)
        assert outcome.failures == (0 if improved else 6)
        seen.add(outcome.failures)
    assert seen == {0, 6}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_inertia_kept_while_relocating_is_the_true_one(seed, weighted):
    """Seen from outside: a target a hair above what is reached ends it, one below does not."""
    problem, colours = random_problem(seed, n=120, k=8, density=0.05, weighted=weighted)
    full = relocate(problem, colours, tries=200)
    reached = problem.inertia(full.colours)
    met = relocate(problem, colours, tries=200, target=reached * (1 + 1e-11))
    assert problem.inertia(met.colours) == pytest.approx(reached, rel=1e-10)
    assert met.tries < 200
    missed = relocate(problem, colours, tries=200, target=reached * (1 - 1e-11))
    assert missed.tries == 200


def test_a_target_that_is_met_at_once_needs_no_relocation():
    problem, colours = random_problem(0)
    outcome = relocate(problem, colours, target=problem.inertia(colours))
    np.testing.assert_array_equal(outcome.colours, descend(problem, colours))
    assert outcome.tries == 0


def test_the_same_seed_gives_the_same_result():
    problem, colours = random_problem(5, n=100, k=8)
    one, other = (relocate(problem, colours, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.colours, other.colours)
    assert one[1:] == other[1:]


def test_results_do_not_depend_on_what_the_same_object_did_before():
    problem, colours = random_problem(5, n=100, k=8)
    used = SequentialDescent()
    expected = relocate(problem, colours, seed=3)
    for seed in range(4):
        relocate(problem, colours, seed=seed, descent=used)
        descend(problem, relocate(problem, colours, seed=7).colours, used)
        used.settle(context_of(problem), colours, random_centroids(problem, seed))
        again = relocate(problem, colours, seed=3, descent=used)
        np.testing.assert_array_equal(again.colours, expected.colours)
        assert again[1:] == expected[1:]


def test_one_object_serves_several_threads_and_problems():
    descent = SequentialDescent()
    problems = [random_problem(seed, n=80, k=6) for seed in range(8)]
    expected = [relocate(*each).colours for each in problems]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: relocate(*each, descent=descent).colours, problems * 3))
    for result, wanted in zip(found, expected * 3, strict=True):
        np.testing.assert_array_equal(result, wanted)


@pytest.fixture(scope="module")
def large():
    return large_problem(0, n=3000, k=30, d=6, n_pairs=18_000)


@pytest.mark.timing
def test_a_stopper_that_has_stopped_ends_everything_at_once(large):
    problem, colours = large
    descent = SequentialDescent()
    relocate(problem, colours, descent=descent, tries=0)  # working memory is there from here on
    stopper = _core.Stopper()
    stopper.stop()
    began = time.perf_counter()
    found = [
        descent.descend(context_of(problem, stopper=stopper), colours),
        descent.settle(context_of(problem, stopper=stopper), colours, random_centroids(problem, 0)),
        relocate(problem, colours, descent=descent, stopper=stopper).colours,
    ]
    assert time.perf_counter() - began < 0.5
    for after in found:
        assert problem.is_proper(after)
    assert relocate(problem, colours, stopper=stopper).tries == 0


@pytest.mark.timing
def test_a_stopper_ends_relocations_from_another_thread(large):
    problem, colours = large
    stopper = _core.Stopper()
    threading.Timer(0.3, stopper.stop).start()
    began = time.perf_counter()
    outcome = relocate(problem, colours, tries=10**9, patience=10**9, stopper=stopper)
    assert time.perf_counter() - began < 2
    assert_no_worse(problem, colours, outcome.colours)


@pytest.mark.timing
def test_a_time_limit_ends_relocations(large):
    problem, colours = large
    began = time.perf_counter()
    outcome = relocate(
        problem, colours, tries=10**9, patience=10**9, stopper=_core.Stopper(seconds=0.2)
    )
    assert time.perf_counter() - began < 2
    assert_no_worse(problem, colours, outcome.colours)


@pytest.mark.parametrize(
    ("colours", "message"),
    [
        (np.zeros(3, dtype=np.int32), "one entry per supernode"),
        (np.array([0, 1, 2, 0], dtype=np.int32), "outside"),
        (np.array([0, 1, -1, 0], dtype=np.int32), "outside"),
    ],
)
def test_colours_that_do_not_fit_are_refused(colours, message):
    problem = build(np.arange(8.0).reshape(4, 2), k=2)
    with pytest.raises(ValueError, match=message):
        descend(problem, colours)
    with pytest.raises(ValueError, match=message):
        relocate(problem, colours)


def test_centroids_that_do_not_fit_are_refused():
    problem = build(np.arange(8.0).reshape(4, 2), k=2)
    with pytest.raises(ValueError, match="shape"):
        settle(problem, np.zeros(4, dtype=np.int32), np.zeros((2, 3)))
