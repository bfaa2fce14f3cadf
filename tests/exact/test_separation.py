from __future__ import annotations

import itertools

import numpy as np
import pytest

from assignments import random_graph
from kempe.exact.separation import violated_cliques
from kempe.graph import CannotLinkGraph


def is_clique(graph, vertices):
    pairs = {tuple(pair) for pair in np.sort(graph.edges, axis=1).tolist()}
    return all(pair in pairs for pair in itertools.combinations(sorted(vertices), 2))


@pytest.mark.parametrize("seed", range(20))
def test_what_is_found_are_maximal_cliques_that_are_violated(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(12, 0.6, rng)
    shares = rng.dirichlet(np.full(3, 0.5), size=12)
    found = violated_cliques(graph, shares)
    assert len({tuple(clique) for clique in found}) == len(found)
    for clique in found:
        assert is_clique(graph, clique)
        assert (shares[clique].sum(axis=0) > 1.0).any()
        others = set(range(12)) - set(clique)
        assert not any(is_clique(graph, [*clique, vertex]) for vertex in others)


def test_a_triangle_of_halves_is_found_and_whole_shares_violate_nothing():
    graph = CannotLinkGraph.from_edges(4, np.array([[0, 1], [1, 2], [0, 2], [2, 3]]))
    halves = np.full((4, 2), 0.5)
    assert violated_cliques(graph, halves) == [[0, 1, 2]]
    assert violated_cliques(graph, np.eye(2)[[0, 1, 0, 1]]) == []
