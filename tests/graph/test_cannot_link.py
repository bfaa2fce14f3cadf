"""The cannot-link graph as an object, and what CP-SAT is asked about it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe import _core
from kempe.graph import CannotLinkGraph
from kempe.graph.check import _largest_complete_part
from kempe.graph.colouring import solve_by_cpsat


def random_graph(size, density, seed):
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(size), 2)), dtype=np.int32)
    return CannotLinkGraph.from_edges(size, pairs[rng.random(len(pairs)) < density])


def colourable(graph, k):
    edges = graph.edges.tolist()
    return any(
        all(colours[a] != colours[b] for a, b in edges)
        for colours in itertools.product(range(k), repeat=graph.size)
    )


def test_components_that_are_cliques_are_known():
    edges = [(0, 2), (2, 4), (0, 4), (1, 5), (3, 6), (6, 7)]
    graph = CannotLinkGraph.from_edges(9, np.array(edges))
    assert [part.tolist() for part in graph.clique_components] == [[0, 2, 4], [1, 5]]
    complete = graph.complete_components[graph.components]
    assert np.flatnonzero(~complete).tolist() == [3, 6, 7]
    assert CannotLinkGraph.from_edges(2, np.empty((0, 2), int)).clique_components == []


def test_parts_are_the_connected_components():
    graph = CannotLinkGraph.from_edges(7, np.array([[0, 4], [4, 2], [1, 5]]))
    assert [part.tolist() for part in graph.parts()] == [[0, 2, 4], [1, 5], [3], [6]]


def test_a_graph_without_edges_has_vertices():
    graph = CannotLinkGraph.from_edges(3, np.empty((0, 2), dtype=int))
    assert graph.edges.shape == (0, 2)
    assert len(graph.parts()) == 3


@pytest.mark.parametrize(
    ("edges", "k", "tight"),
    [
        ([(0, 1), (1, 2), (0, 2)], 3, False),
        ([(0, 1), (1, 2), (0, 2)], 2, True),
        ([(0, 1), (0, 2), (0, 3)], 2, False),  # DSATUR colours trees although degrees are large
        ([], 1, False),
        ([(0, 1)], 1, True),
    ],
)
def test_a_graph_is_tight_if_dsatur_fails(edges, k, tight):
    graph = CannotLinkGraph.from_edges(4, np.array(edges, dtype=int).reshape(-1, 2))
    assert graph.is_tight(k) is tight


def test_the_largest_complete_part_is_the_largest_component_that_is_a_clique():
    triangle, path = [(0, 1), (1, 2), (0, 2)], [(3, 4), (4, 5), (5, 6)]
    graph = CannotLinkGraph.from_edges(10, np.array([*triangle, *path, (7, 8)]))
    assert _largest_complete_part(graph).tolist() == [0, 1, 2]
    assert _largest_complete_part(graph.induced(np.arange(3, 7))).size == 0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("k", [2, 3])
def test_cpsat_colours_exactly_what_can_be_coloured(seed, k):
    pytest.importorskip("ortools")
    graph = random_graph(6, 0.3 + 0.05 * seed, seed)
    answer = solve_by_cpsat(graph, k, 0, 10.0, _core.Stopper(60.0))
    if colourable(graph, k):
        assert answer.core is None
        assert graph.is_proper(answer.colours)
        assert answer.colours.max() < k
    else:
        assert answer.colours is None
        assert answer.core.tolist() == list(range(6))
