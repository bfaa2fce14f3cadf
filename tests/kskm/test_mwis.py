from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kempe import _core
from kempe.kskm import mwis


def random_graph(seed, n, density):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1)
    adjacency = sparse.csr_array((upper | upper.T).astype(np.int8))
    weights = rng.exponential(size=n)
    return weights, adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int32)


def dense(offsets, targets):
    n = offsets.size - 1
    matrix = np.zeros((n, n), dtype=bool)
    matrix[np.repeat(np.arange(n), np.diff(offsets)), targets] = True
    return matrix


def best_weight(weights, offsets, targets):
    """Twin: every subset."""
    n = weights.size
    subsets = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    edges = np.einsum("si,ij,sj->s", subsets, dense(offsets, targets), subsets)
    return (subsets[edges == 0] @ weights).max()


def assert_maximal_independent(chosen, offsets, targets):
    adjacency = dense(offsets, targets)
    assert not adjacency[np.ix_(chosen, chosen)].any()
    assert (chosen | adjacency[:, chosen].any(axis=1)).all(), "a node would still fit"


@given(st.integers(0, 2**32 - 1), st.integers(0, 10), st.floats(0.0, 0.9))
@settings(max_examples=40, deadline=None)
def test_exact_equals_exhaustive_search(seed, n, density):
    graph = random_graph(seed, n, density)
    chosen = mwis.solve(*graph, "exact")
    assert_maximal_independent(chosen, *graph[1:])
    assert graph[0][chosen].sum() == pytest.approx(best_weight(*graph))


@pytest.mark.parametrize("seed", range(12))
def test_the_integer_program_equals_exhaustive_search(seed):
    graph = random_graph(seed, 11, [0.1, 0.3, 0.6][seed % 3])
    chosen = mwis._by_integer_program(*graph)
    assert graph[0][chosen].sum() == pytest.approx(best_weight(*graph))


@pytest.mark.parametrize("seed", range(3))
def test_integer_program_and_branch_and_bound_agree_on_larger_graphs(seed):
    graph = random_graph(seed, 32, 0.15)
    assert graph[0][mwis._by_integer_program(*graph)].sum() == pytest.approx(
        graph[0][_core.mwis_small(*graph)].sum()
    )


# Stated quality on random graphs of up to ten nodes: share of the best weight, mean and worst.
@pytest.mark.parametrize(
    ("method", "mean", "worst"), [("greedy", 0.99, 0.8), ("spectral", 0.97, 0.6)]
)
def test_heuristics_are_independent_maximal_and_close_to_the_best(method, mean, worst):
    shares = []
    for seed in range(60):
        graph = random_graph(seed, 10, [0.1, 0.3, 0.5, 0.8][seed % 4])
        chosen = mwis.solve(*graph, method, np.random.default_rng(seed))
        assert_maximal_independent(chosen, *graph[1:])
        shares.append(graph[0][chosen].sum() / best_weight(*graph))
    assert np.mean(shares) >= mean
    assert min(shares) >= worst


@pytest.mark.parametrize("density", [0.01, 0.1])
def test_all_methods_agree_roughly_on_a_large_graph(density):
    graph = random_graph(7, 300, density)
    weight = {}
    for method in mwis.METHODS if density < 0.05 else ("greedy", "spectral"):
        chosen = mwis.solve(*graph, method, np.random.default_rng(0))
        assert_maximal_independent(chosen, *graph[1:])
        weight[method] = graph[0][chosen].sum()
    best = max(weight.values())
    assert weight["greedy"] >= 0.95 * best
    assert weight["spectral"] >= 0.6 * best
    assert weight.get("exact", best) == pytest.approx(best)


@given(st.integers(0, 2**32 - 1), st.integers(0, 15), st.floats(0.0, 0.9))
@settings(max_examples=40, deadline=None)
def test_nodes_are_taken_by_descending_score_unless_a_neighbour_is_in(seed, n, density):
    graph = random_graph(seed, n, density)
    adjacency = dense(*graph[1:])
    score = np.random.default_rng(seed).integers(5, size=n).astype(float)
    expected = np.zeros(n, dtype=bool)
    for v in np.argsort(-score, kind="stable"):
        expected[v] = not adjacency[v, expected].any()
    np.testing.assert_array_equal(_core.mwis_by_order(*graph, score), expected)


@given(st.integers(0, 2**32 - 1), st.integers(0, 15), st.floats(0.0, 0.9))
@settings(max_examples=40, deadline=None)
def test_greedy_is_no_worse_than_taking_nodes_by_weight_or_by_weight_per_conflict(seed, n, density):
    weights, offsets, _ = graph = random_graph(seed, n, density)
    greedy = weights[_core.mwis_greedy(*graph)].sum()
    for score in (weights, weights / (np.diff(offsets) + 1.0)):
        assert greedy >= weights[_core.mwis_by_order(*graph, score)].sum() * (1 - 1e-12)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_the_local_search_leaves_no_exchange_of_one_against_two(seed):
    weights, offsets, targets = random_graph(seed, 20, 0.3)
    adjacency = dense(offsets, targets)
    chosen = mwis.solve(weights, offsets, targets)
    blockers = adjacency[:, chosen].sum(axis=1)
    for v in np.flatnonzero(~chosen):
        assert weights[v] <= weights[chosen & adjacency[v]].sum() * (1 + 1e-9)
    for x in np.flatnonzero(chosen):
        alone = np.flatnonzero(adjacency[x] & (blockers == 1))
        for u, v in itertools.combinations(alone, 2):
            assert adjacency[u, v] or weights[u] + weights[v] <= weights[x] * (1 + 1e-9)


def test_an_empty_graph_has_an_empty_set():
    nothing = np.empty(0), np.zeros(1, np.int64), np.empty(0, np.int32)
    for method in mwis.METHODS:
        assert mwis.solve(*nothing, method).size == 0


def test_wrong_arguments_are_refused():
    graph = random_graph(0, 5, 0.5)
    with pytest.raises(ValueError, match="mwis must be one of"):
        mwis.solve(*graph, "best")
    with pytest.raises(ValueError, match="disagree in shape"):
        mwis.solve(graph[0][1:].copy(), *graph[1:])
    with pytest.raises(ValueError, match="out of range"):
        mwis.solve(graph[0], graph[1], graph[2] + np.int32(5))
    with pytest.raises(ValueError, match="at most 32"):
        _core.mwis_small(*random_graph(0, 33, 0.1))
