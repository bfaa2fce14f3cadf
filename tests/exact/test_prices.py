from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from assignments import brute_force, planted, random_graph
from kempe.exact import ExactAssigner, relaxation
from kempe.exact.part import AssignmentPart, CliqueRows
from kempe.exact.prices import CliquePrices


def priced(rng, cover):
    """A random part and random prices, with what each vertex pays."""
    graph = random_graph(6, 0.5, rng)
    part = AssignmentPart(graph, CliqueRows.of(graph), rng.random((6, 3)), None, cover)
    cliques = sparse.csr_array(rng.random((part.cliques.count, 3)) / 2)
    prices = CliquePrices(cliques, cover * rng.random(3))
    return part, prices, prices.paid(part)


@pytest.mark.parametrize("cover", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_no_assignment_costs_less_than_any_prices_say(seed, cover):
    part, prices, paid = priced(np.random.default_rng(seed), cover)
    bound = prices.bounds(paid.min(axis=1), part, np.zeros(6, np.int32))
    everything = np.ones(part.costs.shape, dtype=bool)
    assert bound[0] <= brute_force(part.graph, part.costs, everything, cover) + 1e-12


def test_a_vertex_pays_for_all_its_cliques_and_is_rewarded_for_its_cluster():
    part, prices, paid = priced(np.random.default_rng(0), cover=True)
    for vertex in range(6):
        expected = part.costs[vertex] - prices.rewards
        for clique in range(part.cliques.count):
            start, end = part.cliques.offsets[clique : clique + 2]
            if vertex in part.cliques.members[start:end]:
                expected = expected + prices.cliques.toarray()[clique]
        assert paid[vertex] == pytest.approx(expected)


@pytest.mark.parametrize("nonempty", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_relaxation_that_begins_with_one_choice_each_finds_the_others(
    seed, nonempty, monkeypatch
):
    rng = np.random.default_rng(seed)
    graph, _ = planted(rng, size=30, k=6)
    assigner, costs = ExactAssigner(graph), rng.random((30, 6))
    for _ in range(3):
        monkeypatch.setattr(relaxation, "FIRST_CHOICES", 6)
        expected = ExactAssigner(graph).solve(costs, nonempty=nonempty).objective
        monkeypatch.setattr(relaxation, "FIRST_CHOICES", 1)
        assert assigner.solve(costs, nonempty=nonempty).objective == pytest.approx(expected)
        costs = costs + 0.1 * rng.random((30, 6))
