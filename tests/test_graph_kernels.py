"""Kernels on the cannot-link graph, against slow and obvious twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe import _core
from kempe.graph import CannotLinkGraph


def random_graph(size: int, density: float, seed: int) -> CannotLinkGraph:
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(size, k=1))
    return CannotLinkGraph.from_edges(size, pairs[rng.random(len(pairs)) < density])


def colourable(graph: CannotLinkGraph, k: int) -> bool:
    """Try everything."""
    choices = itertools.product(range(k), repeat=graph.size)
    return any(graph.is_proper(np.array(c, dtype=np.int32)) for c in choices)


def is_clique(graph: CannotLinkGraph, vertices) -> bool:
    return all(graph.matrix[a, b] for a, b in itertools.combinations(vertices, 2))


GRAPHS = list(itertools.product((1, 5, 7), (0.3, 0.6), (0, 1, 2)))


@pytest.mark.parametrize(("size", "density", "seed"), GRAPHS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_exact_colouring_agrees_with_trying_everything(size, density, seed, k):
    graph = random_graph(size, density, seed)
    status, colours, touched = _core.colour_exactly(
        graph.offsets, graph.targets, k, 10**6, _core.Stopper()
    )
    assert status == colourable(graph, k)
    if status:
        assert graph.is_proper(colours)
        assert colours.max() < k
    else:
        assert not colourable(graph.induced(np.flatnonzero(touched)), k)


def test_exact_colouring_gives_up_after_the_given_nodes():
    graph = random_graph(60, 0.5, 0)
    status, _, _ = _core.colour_exactly(graph.offsets, graph.targets, 8, 10, _core.Stopper())
    assert status == -1


@pytest.mark.parametrize(("size", "density", "seed"), [*GRAPHS, (40, 0.4, 3)])
def test_clique_cover_has_maximal_cliques_and_every_edge(size, density, seed):
    graph = random_graph(size, density, seed)
    offsets, members = _core.clique_cover(graph.offsets, graph.targets)
    covered = set()
    for clique in np.split(members, offsets[1:-1]) if len(members) else []:
        assert is_clique(graph, clique)
        others = np.setdiff1d(np.arange(size), clique)
        assert not any(is_clique(graph, [*clique, v]) for v in others)
        covered |= set(itertools.combinations(clique.tolist(), 2))
    assert covered == set(map(tuple, graph.edges.tolist()))


@pytest.mark.parametrize(("size", "density", "seed"), [*GRAPHS, (12, 0.7, 3)])
def test_largest_clique_agrees_with_trying_everything(size, density, seed):
    graph = random_graph(size, density, seed)
    clique, complete = _core.largest_clique(graph.offsets, graph.targets, 99, _core.Stopper())
    assert complete
    assert is_clique(graph, clique)
    larger = itertools.combinations(range(size), len(clique) + 1)
    assert not any(is_clique(graph, subset) for subset in larger)


@pytest.mark.parametrize("k", [2, 4])
def test_peeling_leaves_the_k_core(k):
    graph = random_graph(30, 0.12, 0)
    left = np.arange(graph.size)
    while (low := graph.induced(left).degree < k).any():
        left = left[~low]
    order = _core.peel(graph.offsets, graph.targets, k)
    assert sorted(order) == sorted(set(range(graph.size)) - set(left))


def test_peeled_vertices_are_coloured_last_with_the_colours_that_are_left():
    graph = random_graph(30, 0.1, 0)
    k = 6
    order = _core.peel(graph.offsets, graph.targets, k)
    assert len(order) == graph.size
    none = np.full(graph.size, -1, dtype=np.int32)
    colours = _core.unpeel(graph.offsets, graph.targets, order, none, k)
    assert graph.is_proper(colours)
    assert colours.min() >= 0
    assert colours.max() < k


@pytest.mark.parametrize("seed", range(5))
def test_tabu_search_counts_its_conflicts_and_respects_the_allowed_colours(seed):
    graph = random_graph(40, 0.3, seed)
    rng = np.random.default_rng(seed)
    k = 4
    allowed = (rng.random((graph.size, k)) < 0.6) | (np.arange(k) == 0)
    start = np.zeros(graph.size, dtype=np.int32)
    colours, conflicts = _core.tabu_colouring(
        graph.offsets, graph.targets, k, start, allowed.astype(np.uint8), 1, 2000, _core.Stopper()
    )
    assert conflicts == np.sum(colours[graph.edges[:, 0]] == colours[graph.edges[:, 1]])
    assert allowed[np.arange(graph.size), colours].all()


def test_tabu_search_repeats_with_the_same_seed():
    graph = random_graph(60, 0.3, 0)
    start = np.zeros(graph.size, dtype=np.int32)
    runs = [
        _core.tabu_colouring(graph.offsets, graph.targets, 5, start, None, 7, 500, _core.Stopper())
        for _ in range(2)
    ]
    assert np.array_equal(runs[0][0], runs[1][0])


def cheapest_twin(graph, costs):
    """Colour a vertex with the fewest clusters left, then of highest degree, then the last."""
    left = np.isfinite(costs)
    colours = np.full(graph.size, -1)
    for _ in range(graph.size):
        open_ = np.flatnonzero(colours < 0)
        v = max(open_, key=lambda u: (-left[u].sum(), graph.degree[u], u))
        if not left[v].any():
            return colours, False
        colours[v] = np.where(left[v], costs[v], np.inf).argmin()
        left[graph.matrix[[v]].toarray()[0] > 0, colours[v]] = False
    return colours, True


@pytest.mark.parametrize("seed", range(6))
def test_cheapest_colouring_agrees_with_its_slow_twin(seed):
    graph = random_graph(25, 0.2, seed)
    rng = np.random.default_rng(seed)
    costs = np.where(rng.random((25, 4)) < 0.9, rng.random((25, 4)), np.inf)
    colours, complete = _core.cheapest_colouring(graph.offsets, graph.targets, costs)
    expected, expected_complete = cheapest_twin(graph, costs)
    assert complete == expected_complete
    if complete:
        assert np.array_equal(colours, expected)


def chain_of(graph, colours, vertex, colour):
    """Vertices that change when ``vertex`` and ``colour`` are swapped."""
    both = {colours[vertex], colour}
    chain, queue = {vertex}, [vertex]
    while queue:
        v = queue.pop()
        around = graph.targets[graph.offsets[v] : graph.offsets[v + 1]]
        new = {u for u in around.tolist() if colours[u] in both} - chain
        chain |= new
        queue += new
    return sorted(chain)


@pytest.mark.parametrize("seed", range(6))
def test_no_kempe_chain_improves_what_chain_descent_returns(seed):
    graph = random_graph(25, 0.2, seed)
    costs = np.random.default_rng(seed).random((25, 5))
    start, complete = _core.cheapest_colouring(graph.offsets, graph.targets, costs)
    assert complete
    colours = _core.chain_descent(graph.offsets, graph.targets, costs, start, _core.Stopper())
    assert graph.is_proper(colours)
    cost = costs[np.arange(25), colours].sum()
    assert cost <= costs[np.arange(25), start].sum()
    for vertex, colour in itertools.product(range(25), range(5)):
        chain = chain_of(graph, colours, vertex, colour)
        swapped = colours.copy()
        swapped[chain] = np.where(colours[chain] == colour, colours[vertex], colour)
        assert costs[np.arange(25), swapped].sum() >= cost - 1e-9
