"""Clusters at fixed costs where pairs may be broken at a price."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe import Constraints, InfeasibleConstraintsError, _core
from kempe.exact import soft_assignment
from kempe.exact.new_rows import assign_new_rows
from kempe.exact.soft_assignment import OpenPairs, assign_softly
from kempe.graph import CannotLinkGraph
from kempe.soft_pairs import PairPrice


def drawn(seed):
    """Costs, cannot-link pairs and priced pairs of a few supernodes, some of which are decided."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 8)), int(rng.integers(2, 4))
    costs = rng.random((n, k))
    for vertex in np.flatnonzero(rng.random(n) < 0.2):
        costs[vertex, np.arange(k) != rng.integers(k)] = np.inf
    every = np.array(list(itertools.combinations(range(n), 2)), dtype=np.int32)
    kind = rng.random(len(every))
    first, second = np.ascontiguousarray(every[kind > 0.4].T)
    price = rng.normal(size=first.size) * 10 ** rng.uniform(-1.5, 1)
    return CannotLinkGraph.from_edges(n, every[kind < 0.15]), costs, OpenPairs(first, second, price)


def total(graph, costs, pairs, colours):
    """What an assignment costs, pair by pair."""
    if any(colours[a] == colours[b] for a, b in graph.edges):
        return np.inf
    cost = sum(costs[v, c] for v, c in enumerate(colours))
    for a, b, price in zip(pairs.first, pairs.second, pairs.price, strict=True):
        if (colours[a] == colours[b]) != (price > 0):
            cost += abs(price)
    return cost


def lowest(graph, costs, pairs):
    n, k = costs.shape
    every = itertools.product(range(k), repeat=n)
    return min(total(graph, costs, pairs, colours) for colours in every)


@pytest.mark.parametrize("table", [2**16, 0], ids=["exact", "annealed"])
@pytest.mark.parametrize("seed", range(80))
def test_an_assignment_costs_as_little_as_the_best_of_all(seed, table, monkeypatch):
    monkeypatch.setattr(soft_assignment, "LARGEST_TABLE", table)
    graph, costs, pairs = drawn(seed)
    best = lowest(graph, costs, pairs)
    colours = assign_softly(graph, costs, pairs, _core.Stopper())
    if colours is None:
        assert np.isinf(best)
    else:
        assert total(graph, costs, pairs, colours) == pytest.approx(best)


def test_a_long_chain_is_solved_from_its_ends():
    rng = np.random.default_rng(0)
    n, k = 200, 4
    costs = rng.random((n, k))
    chain = np.arange(n, dtype=np.int32)
    pairs = OpenPairs(chain[:-1], chain[1:], rng.normal(size=n - 1))
    reached = costs[0]
    for price, own in zip(pairs.price, costs[1:], strict=True):
        broken = np.where(np.eye(k, dtype=bool) != (price > 0), abs(price), 0.0)
        reached = (reached[:, None] + broken).min(axis=0) + own
    graph = CannotLinkGraph.from_edges(n, np.empty((0, 2), dtype=np.int32))
    colours = assign_softly(graph, costs, pairs, _core.Stopper())
    assert total(graph, costs, pairs, colours) == pytest.approx(reached.min())


@pytest.mark.parametrize("seed", range(60))
def test_new_rows_break_soft_pairs_where_that_is_cheapest(seed):
    rng = np.random.default_rng(seed)
    n, k, n_known = 5, 3, 4
    costs = rng.random((n, k))
    known = rng.integers(k, size=n_known).astype(np.int32)
    pairs = rng.integers(n + n_known, size=(14, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    sure = rng.uniform(0.51, 0.99, size=len(pairs[3:8]))
    held = Constraints(
        pairs[:1],
        pairs[1:3],
        soft_must_link=pairs[3:8],
        soft_cannot_link=pairs[8:],
        soft_must_link_confidence=sure,
    )
    price = PairPrice(rng.uniform(0.05, 0.5), 1.5)
    best = np.inf
    for clusters in itertools.product(range(k), repeat=n):
        labels = np.concatenate([clusters, known])
        broken = held.violations(labels)
        if not (broken.must_link.size or broken.cannot_link.size):
            cost = costs[np.arange(n), clusters].sum() + price.of_broken(held.soft, labels)
            best = min(best, cost)
    if np.isinf(best):
        with pytest.raises(InfeasibleConstraintsError):
            assign_new_rows(costs, held, known, price)
        return
    clusters = assign_new_rows(costs, held, known, price)
    labels = np.concatenate([clusters, known])
    found = costs[np.arange(n), clusters].sum() + price.of_broken(held.soft, labels)
    assert found == pytest.approx(best)
