from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe import _core
from kempe.exact import anneal
from kempe.graph import CannotLinkGraph

# The triangular prism: its 3-colourings fall into two classes that no Kempe swap connects.
PRISM = CannotLinkGraph.from_edges(
    6, np.array([[0, 1], [0, 2], [1, 2], [3, 4], [3, 5], [4, 5], [0, 3], [1, 4], [2, 5]])
)


def cost_of(costs, colours):
    return costs[np.arange(colours.size), colours].sum()


@pytest.mark.parametrize("seed", range(30))
def test_the_answer_is_proper_and_never_costs_more(seed):
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(12, k=1))
    graph = CannotLinkGraph.from_edges(12, pairs[rng.random(len(pairs)) < 0.3])
    start, complete = _core.cheapest_colouring(graph.core, rng.random((12, 5)))
    assert complete
    costs = rng.random((12, 5))
    found = anneal(graph, costs, start, rng, _core.Stopper())
    assert graph.is_proper(found)
    assert cost_of(costs, found) <= cost_of(costs, start)


def test_it_passes_between_colourings_that_swaps_do_not_connect():
    start = np.array([0, 1, 2, 1, 2, 0], dtype=np.int32)
    wanted = np.array([0, 1, 2, 2, 0, 1], dtype=np.int32)
    assert PRISM.is_proper(start)
    assert PRISM.is_proper(wanted)
    costs = np.ones((6, 3))
    costs[np.arange(6), wanted] = 0.0
    swapped = _core.chain_descent(PRISM.core, costs, start, _core.Stopper())
    assert cost_of(costs, swapped) > 0
    found = anneal(PRISM, costs, start, np.random.default_rng(0), _core.Stopper())
    np.testing.assert_array_equal(found, wanted)


def every_colouring(n, k):
    return (np.array(one, dtype=np.int32) for one in itertools.product(range(k), repeat=n))


def above_the_best(seed):
    """How far annealing ends above the cheapest colouring of a small graph, and its start."""
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(6, k=1))
    graph = CannotLinkGraph.from_edges(6, pairs[rng.random(len(pairs)) < 0.3])
    start, complete = _core.cheapest_colouring(graph.core, rng.random((6, 4)))
    assert complete
    costs, tied = rng.random((6, 4)), pairs[rng.random(len(pairs)) < 0.5].astype(np.int32)
    price = rng.normal(size=len(tied))

    def total(colours):
        same = colours[tied[:, 0]] == colours[tied[:, 1]]
        return cost_of(costs, colours) + np.abs(price[same != (price > 0)]).sum()

    def soft(unit):
        return _core.SoftPairs(6, tied[:, 0].copy(), tied[:, 1].copy(), price / unit)

    found = anneal(graph, costs, start, rng, _core.Stopper(), soft=soft)
    best = min(total(colours) for colours in every_colouring(6, 4) if graph.is_proper(colours))
    assert graph.is_proper(found)
    return total(found) - best, total(start) - best


def test_prices_of_soft_pairs_count_as_costs_do():
    found, begun = np.array([above_the_best(seed) for seed in range(20)]).T
    assert (found <= begun + 1e-12).all()
    assert np.count_nonzero(found > 1e-9) <= 1  # it is no exact method
    assert np.count_nonzero(begun > 1e-9) >= 19


def test_without_a_choice_of_clusters_the_start_is_returned():
    graph = CannotLinkGraph.from_edges(3, np.empty((0, 2), int))
    start = np.zeros(3, dtype=np.int32)
    found = anneal(graph, np.ones((3, 1)), start, np.random.default_rng(0), _core.Stopper())
    np.testing.assert_array_equal(found, start)
