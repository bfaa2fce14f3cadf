"""Kernels on the cannot-link graph, against slow and obvious twins."""

from __future__ import annotations

import heapq
import itertools
import math

import numpy as np
import pytest
from scipy import sparse

from core_random import CoreRandom
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


def neighbours(graph: CannotLinkGraph, vertex: int) -> list[int]:
    return graph.targets[graph.offsets[vertex] : graph.offsets[vertex + 1]].tolist()


def n_conflicts(graph: CannotLinkGraph, colours) -> int:
    """Edges whose ends have the same colour."""
    return int(np.sum(colours[graph.edges[:, 0]] == colours[graph.edges[:, 1]]))


def is_clique(graph: CannotLinkGraph, vertices) -> bool:
    edges = set(map(tuple, graph.edges.tolist()))
    return edges.issuperset(itertools.combinations(sorted(map(int, vertices)), 2))


GRAPHS = list(itertools.product((1, 5, 7), (0.3, 0.6), (0, 1, 2)))


@pytest.mark.parametrize(("size", "density", "seed"), GRAPHS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_exact_colouring_agrees_with_trying_everything(size, density, seed, k):
    graph = random_graph(size, density, seed)
    status, colours, touched = _core.colour_exactly(graph.core, k, 10**6, _core.Stopper())
    assert status == colourable(graph, k)
    if status:
        assert graph.is_proper(colours)
        assert colours.max() < k
    else:
        assert not colourable(graph.induced(np.flatnonzero(touched)), k)


def test_exact_colouring_gives_up_after_the_given_nodes():
    graph = random_graph(60, 0.5, 0)
    status, _, _ = _core.colour_exactly(graph.core, 8, 10, _core.Stopper())
    assert status == -1


@pytest.mark.parametrize(("size", "density", "seed"), [*GRAPHS, (40, 0.4, 3)])
def test_clique_cover_has_maximal_cliques_and_every_edge(size, density, seed):
    graph = random_graph(size, density, seed)
    offsets, members = _core.clique_cover(graph.core)
    covered = set()
    for clique in np.split(members, offsets[1:-1]) if len(members) else []:
        assert is_clique(graph, clique)
        others = np.setdiff1d(np.arange(size), clique)
        assert not any(is_clique(graph, [*clique, v]) for v in others)
        covered |= set(itertools.combinations(clique.tolist(), 2))
    assert covered == set(map(tuple, graph.edges.tolist()))


def test_a_cover_that_is_stopped_has_every_edge_all_the_same():
    graph, stopped = random_graph(40, 0.4, 3), _core.Stopper()
    stopped.stop()
    offsets, members = _core.clique_cover(graph.core, stopped)
    np.testing.assert_array_equal(members.reshape(-1, 2), graph.edges)
    np.testing.assert_array_equal(np.diff(offsets), 2)
    for plain, watched in zip(
        _core.clique_cover(graph.core),
        _core.clique_cover(graph.core, _core.Stopper(1e6)),
        strict=True,
    ):
        np.testing.assert_array_equal(plain, watched)


@pytest.mark.parametrize("density", [0.0, 0.01, 0.05, 0.4])
def test_components_are_those_of_scipy(density):
    graph = random_graph(60, density, 1)
    _, expected = sparse.csgraph.connected_components(graph.matrix, directed=False)
    np.testing.assert_array_equal(graph.components, expected)


@pytest.mark.parametrize(("size", "density", "seed"), [*GRAPHS, (12, 0.7, 3)])
def test_largest_clique_agrees_with_trying_everything(size, density, seed):
    graph = random_graph(size, density, seed)
    clique, complete = _core.largest_clique(graph.core, 99, _core.Stopper())
    assert complete
    assert is_clique(graph, clique)
    larger = itertools.combinations(range(size), len(clique) + 1)
    assert not any(is_clique(graph, subset) for subset in larger)


def dsatur_by_heap(graph: CannotLinkGraph, k: int) -> tuple[list[int], int]:
    """Most saturated first, then highest degree, then lowest number; the lowest colour left.

    A vertex enters the heap again whenever it is more saturated; what it was before is skipped.
    """
    around = [neighbours(graph, v) for v in range(graph.size)]
    colours = [-1] * graph.size
    taken: list[set[int]] = [set() for _ in around]
    heap = [(0, -len(around[v]), v) for v in range(graph.size)]
    heapq.heapify(heap)
    while heap:
        saturation, _, v = heapq.heappop(heap)
        if colours[v] >= 0 or -saturation != len(taken[v]):
            continue
        colour = next((c for c in range(k) if c not in taken[v]), -1)
        if colour < 0:
            return colours, v
        colours[v] = colour
        for u in around[v]:
            if colours[u] < 0 and colour not in taken[u]:
                taken[u].add(colour)
                heapq.heappush(heap, (-len(taken[u]), -len(around[u]), u))
    return colours, -1


# The queue is in words of 64 bits, and 64 of these have a word of their own.
@pytest.mark.parametrize("size", [5, 63, 64, 65, 300, 4096, 4097])
@pytest.mark.parametrize("k", [3, 6, 20])
def test_saturation_order_is_that_of_a_heap(size, k):
    rng = np.random.default_rng(size)
    ring = np.column_stack([np.arange(size), np.roll(np.arange(size), 1)])  # nobody is free
    others = rng.integers(size, size=(int(size * rng.choice([0.5, 2, 6])), 2))
    edges = np.concatenate([ring, others[others[:, 0] != others[:, 1]]])
    graph = CannotLinkGraph.from_edges(size, edges)
    colours, stuck = _core.dsatur(graph.core, k)
    assert (colours.tolist(), stuck) == dsatur_by_heap(graph, k)


@pytest.mark.parametrize("k", [2, 4])
def test_peeling_leaves_the_k_core(k):
    graph = random_graph(30, 0.12, 0)
    left = np.arange(graph.size)
    while (low := graph.induced(left).degree < k).any():
        left = left[~low]
    order = _core.peel(graph.core, k)
    assert sorted(order) == sorted(set(range(graph.size)) - set(left))


def test_peeled_vertices_are_coloured_last_with_the_colours_that_are_left():
    graph = random_graph(30, 0.1, 0)
    k = 6
    order = _core.peel(graph.core, k)
    assert len(order) == graph.size
    none = np.full(graph.size, -1, dtype=np.int32)
    colours = _core.unpeel(graph.core, order, none, k)
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
        graph.core, k, start, allowed.astype(np.uint8), 1, 2000, _core.Stopper()
    )
    assert conflicts == n_conflicts(graph, colours)
    assert allowed[np.arange(graph.size), colours].all()


class TabuTwin:
    """Tabu search that counts everything anew, with the choices of the same generator."""

    def __init__(self, graph, k, start, allowed, seed):
        self.graph, self.k, self.allowed = graph, k, allowed
        self.random = CoreRandom(seed)
        self.colours = start.copy()
        self.tabu_until = np.zeros((graph.size, k), dtype=int)
        # Ties are broken in the order of this list, so it is kept as the kernel keeps it.
        self.conflicting = []
        for v in range(graph.size):
            self.refresh(v)

    def with_colour(self, v, c):
        return sum(int(self.colours[u]) == c for u in neighbours(self.graph, v))

    def refresh(self, v):
        in_conflict = self.with_colour(v, self.colours[v]) > 0
        if in_conflict and v not in self.conflicting:
            self.conflicting.append(v)
        if not in_conflict and v in self.conflicting:
            place, last = self.conflicting.index(v), self.conflicting.pop()
            if last != v:
                self.conflicting[place] = last

    def best_move(self, iteration, best):
        chosen, lowest, ties = None, math.inf, 0
        now = n_conflicts(self.graph, self.colours)
        for v, c in itertools.product(self.conflicting, range(self.k)):
            change = self.with_colour(v, c) - self.with_colour(v, self.colours[v])
            tabu = self.tabu_until[v, c] > iteration and now + change >= best
            if c == self.colours[v] or not self.allowed[v, c] or tabu or change > lowest:
                continue
            ties = ties + 1 if change == lowest else 1
            if self.random.below(ties) == 0:
                chosen, lowest = (v, c), change
        return chosen

    def recolour(self, v, c, iteration):
        old, self.colours[v] = self.colours[v], c
        for u in [*neighbours(self.graph, v), v]:
            self.refresh(u)
        tenure = self.random.below(10) + int(0.6 * len(self.conflicting))
        self.tabu_until[v, old] = iteration + 1 + tenure

    def run(self, iterations):
        best, fewest = self.colours.copy(), n_conflicts(self.graph, self.colours)
        for iteration in range(1, iterations + 1):
            if n_conflicts(self.graph, self.colours) == 0:
                break
            if move := self.best_move(iteration, fewest):
                self.recolour(*move, iteration)
            if n_conflicts(self.graph, self.colours) < fewest:
                best, fewest = self.colours.copy(), n_conflicts(self.graph, self.colours)
        return best, fewest


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share_allowed", [1.0, 0.6])
def test_tabu_search_agrees_with_its_slow_twin(seed, share_allowed):
    graph = random_graph(14, 0.5, seed)
    rng = np.random.default_rng(seed)
    k = 3 + seed % 2
    allowed = (rng.random((graph.size, k)) < share_allowed) | (np.arange(k) == 0)
    start = np.zeros(graph.size, dtype=np.int32)
    colours, conflicts = _core.tabu_colouring(
        graph.core, k, start, allowed.astype(np.uint8), seed, 80, _core.Stopper()
    )
    expected, fewest = TabuTwin(graph, k, start, allowed, seed).run(80)
    assert conflicts == fewest
    np.testing.assert_array_equal(colours, expected)


@pytest.mark.parametrize(("size", "density", "seed"), [case for case in GRAPHS if case[0] > 1])
def test_tabu_search_finds_a_colouring_exactly_if_there_is_one(size, density, seed):
    graph = random_graph(size, density, seed)
    start = np.zeros(graph.size, dtype=np.int32)
    _, conflicts = _core.tabu_colouring(graph.core, 3, start, None, seed, 10_000, _core.Stopper())
    assert (conflicts == 0) == colourable(graph, 3)


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
    colours, complete = _core.cheapest_colouring(graph.core, costs)
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
        new = {u for u in neighbours(graph, v) if colours[u] in both} - chain
        chain |= new
        queue += new
    return sorted(chain)


@pytest.mark.parametrize("seed", range(6))
def test_no_kempe_chain_improves_what_chain_descent_returns(seed):
    graph = random_graph(25, 0.2, seed)
    costs = np.random.default_rng(seed).random((25, 5))
    start, complete = _core.cheapest_colouring(graph.core, costs)
    assert complete
    colours = _core.chain_descent(graph.core, costs, start, _core.Stopper())
    assert graph.is_proper(colours)
    cost = costs[np.arange(25), colours].sum()
    assert cost <= costs[np.arange(25), start].sum()
    for vertex, colour in itertools.product(range(25), range(5)):
        chain = chain_of(graph, colours, vertex, colour)
        swapped = colours.copy()
        swapped[chain] = np.where(colours[chain] == colour, colours[vertex], colour)
        assert costs[np.arange(25), swapped].sum() >= cost - 1e-9


def annealing_twin(graph, costs, start, sweeps, temperatures, prices, seed):
    """Annealing that counts conflicts anew, with the choices of the same generator."""
    size, k = costs.shape
    random = CoreRandom(seed)
    colours = start.copy()

    def cost():
        return costs[np.arange(size), colours].sum()

    best, lowest = start, math.inf if n_conflicts(graph, start) else cost()
    for sweep in range(sweeps):
        passed = sweep / max(1, sweeps - 1)
        temperature, price = (a * (b / a) ** passed for a, b in (temperatures, prices))
        for _ in range(size):
            v, target = random.below(size), random.below(k - 1)
            old = int(colours[v])
            target += target >= old
            around = [int(colours[u]) for u in neighbours(graph, v)]
            more = around.count(target) - around.count(old)
            energy = costs[v, target] - costs[v, old] + price * more
            if energy > 0 and random.uniform() >= math.exp(-energy / temperature):
                continue
            colours[v] = target
            if n_conflicts(graph, colours) == 0 and cost() < lowest - 1e-9:
                best, lowest = colours.copy(), cost()
    return best


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("proper", [True, False])
def test_annealing_agrees_with_its_slow_twin(seed, proper):
    graph = random_graph(12, 0.3, seed)
    costs = np.random.default_rng(seed).random((12, 4))
    start, complete = _core.cheapest_colouring(graph.core, costs)
    assert complete
    start = start if proper else np.zeros(12, dtype=np.int32)
    temperatures, prices = (0.5, 0.01), (0.1, 2.0)
    found = _core.anneal(
        graph.core,
        costs,
        start,
        40,
        *temperatures,
        *prices,
        seed,
        _core.Stopper(),
    )
    expected = annealing_twin(graph, costs, start, 40, temperatures, prices, seed)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(5))
def test_annealing_finds_the_cheapest_colouring_of_a_tiny_graph(seed):
    graph = random_graph(7, 0.3, seed)
    costs = np.random.default_rng(seed).random((7, 3))
    start, _ = _core.cheapest_colouring(graph.core, costs)
    found = _core.anneal(graph.core, costs, start, 2000, 0.5, 0.01, 0.1, 2.0, seed, _core.Stopper())
    choices = (np.array(c) for c in itertools.product(range(3), repeat=7))
    best = min(costs[np.arange(7), c].sum() for c in choices if graph.is_proper(c))
    assert costs[np.arange(7), found].sum() == pytest.approx(best)


def test_annealing_without_a_proper_colouring_returns_the_start():
    graph = random_graph(4, 1.0, 0)
    start = np.array([0, 1, 1, 0], dtype=np.int32)
    found = _core.anneal(
        graph.core,
        np.zeros((4, 3)),
        start,
        50,
        1.0,
        0.1,
        1.0,
        2.0,
        0,
        _core.Stopper(),
    )
    np.testing.assert_array_equal(found, start)
