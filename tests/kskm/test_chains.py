from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kempe import _core
from kempe.kskm.moves import Moves, conflicts
from kempe.problem import Problem
from random_problems import improving_chains, neighbours, random_problem

seeds = st.integers(0, 2**32 - 1)


def all_chains(problem, colours):
    """Twin: the components of every pair of colours, by the definition."""
    around = neighbours(problem)
    for a, b in itertools.combinations(range(problem.n_clusters), 2):
        left = set(np.flatnonzero((colours == a) | (colours == b)).tolist())
        while left:
            chain, frontier = set(), {min(left)}
            while frontier:
                chain |= frontier
                near = {u for v in frontier for u in around[v]}
                frontier = (near & left) - chain
            left -= chain
            yield chain, (a, b)


def swap_gain(problem, colours, centroids, chain, pair):
    vertices = np.array(sorted(chain), dtype=np.int32)
    costs = problem.costs(centroids, vertices)
    rows = np.arange(vertices.size)
    now = colours[vertices]
    return float((costs[rows, now] - costs[rows, sum(pair) - now]).sum())


def entries(moves: Moves, s: int):
    part = slice(moves.offsets[s], moves.offsets[s + 1])
    return moves.vertices[part], moves.colours[part]


def random_centroids(problem, seed):
    return np.random.default_rng(seed).normal(size=(problem.n_clusters, problem.n_features))


@given(seeds, st.sampled_from([np.float32, np.float64]), st.sampled_from([0.02, 0.1, 0.5]))
@settings(max_examples=40, deadline=None)
def test_exactly_the_improving_chains_are_found(seed, dtype, density):
    problem, colours = random_problem(seed, dtype=dtype, density=density, weighted=bool(seed % 2))
    check_chains(problem, colours, random_centroids(problem, seed))


@pytest.mark.parametrize("seed", range(10))
def test_a_row_of_great_weight_hides_no_chain(seed):
    """What it gains must be taken off again without a rest that others feel."""
    without, colours = random_problem(seed, merged=0)
    weight = np.r_[1e20, np.ones(without.n_supernodes - 1)]
    problem = Problem.build(
        without.rows, without.constraints, n_clusters=without.n_clusters, sample_weight=weight
    )
    check_chains(problem, colours, random_centroids(problem, seed))


def check_chains(problem, colours, centroids):
    """Compare all improving chains with those of the twin."""
    expected = {}
    for chain, pair in all_chains(problem, colours):
        gain = swap_gain(problem, colours, centroids, chain, pair)
        if gain > 1e-9:
            expected[frozenset(chain), pair] = gain
    moves = improving_chains(problem, colours, centroids)
    found = {}
    for s in range(moves.n_moves):
        vertices, after = entries(moves, s)
        pair = tuple(sorted({int(colours[vertices[0]]), int(after[0])}))
        np.testing.assert_array_equal(after, sum(pair) - colours[vertices])
        found[frozenset(vertices.tolist()), pair] = moves.gain[s]
    assert len(found) == moves.n_moves, "a chain was reported twice"
    assert found == pytest.approx(expected)


def test_chains_towards_an_empty_cluster_are_single_vertices():
    problem, colours = random_problem(3, k=4)
    wider = Problem(**{**problem.__dict__, "n_clusters": 5})
    centroids = np.vstack([problem.means(colours)[0], problem.points([0])])
    moves = improving_chains(wider, colours, centroids)
    into_empty = [entries(moves, s) for s in range(moves.n_moves)]
    into_empty = [vertices for vertices, after in into_empty if 4 in after]
    assert into_empty
    assert all(vertices.size == 1 for vertices in into_empty)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_every_single_swap_keeps_the_colouring_proper(seed):
    problem, colours = random_problem(seed, density=0.3)
    moves = improving_chains(problem, colours, random_centroids(problem, seed))
    assume(moves.n_moves > 0)
    for s in range(moves.n_moves):
        assert problem.is_proper(moves.apply(colours, np.arange(moves.n_moves) == s))


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_two_swaps_conflict_exactly_if_they_share_a_vertex_or_break_the_colouring(seed):
    problem, colours = random_problem(seed, n=24, density=0.25)
    moves = improving_chains(problem, colours, random_centroids(problem, seed))
    offsets, targets = conflicts(problem, moves)
    found = {
        (s, int(t)) for s in range(moves.n_moves) for t in targets[offsets[s] : offsets[s + 1]]
    }
    assert len(found) == targets.size, "a conflict was reported twice"
    for s, t in itertools.combinations(range(moves.n_moves), 2):
        shared = np.intersect1d(entries(moves, s)[0], entries(moves, t)[0]).size > 0
        both = np.isin(np.arange(moves.n_moves), [s, t])
        expected = shared or not problem.is_proper(moves.apply(colours, both))
        assert ((s, t) in found) == ((t, s) in found) == expected


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_any_compatible_set_of_swaps_keeps_the_colouring_proper(seed):
    problem, colours = random_problem(seed, density=0.3, k=6)
    moves = improving_chains(problem, colours, random_centroids(problem, seed))
    offsets, targets = conflicts(problem, moves)
    rng = np.random.default_rng(seed)
    chosen = np.zeros(moves.n_moves, dtype=bool)
    for s in rng.permutation(moves.n_moves):
        chosen[s] = not chosen[targets[offsets[s] : offsets[s + 1]]].any()
    assert problem.is_proper(moves.apply(colours, chosen))


def test_coinciding_centroids_leave_nothing_to_improve():
    problem, colours = random_problem(1)
    centroids = np.ones((problem.n_clusters, problem.n_features))
    assert improving_chains(problem, colours, centroids).n_moves == 0


def test_wrong_arrays_are_refused():
    problem, colours = random_problem(0)
    centroids = random_centroids(problem, 0)
    with pytest.raises(ValueError, match="number of features"):
        improving_chains(problem, colours, centroids[:, :1].copy())
    with pytest.raises(ValueError, match="outside"):
        improving_chains(problem, colours + np.int32(9), centroids)
    with pytest.raises(ValueError, match="one entry per supernode"):
        improving_chains(problem, colours[1:].copy(), centroids)
    with pytest.raises(ValueError, match="out of range"):
        _core.move_conflicts(
            problem.graph.core, np.array([0, 1]), np.array([999], np.int32), np.array([0], np.int32)
        )


def test_own_costs_are_those_of_the_own_centroid():
    problem, colours = random_problem(0, weighted=True)
    centroids = random_centroids(problem, 0)
    expected = problem.costs(centroids)[np.arange(problem.n_supernodes), colours]
    np.testing.assert_allclose(_core.own_costs(problem.core, colours, centroids), expected)
