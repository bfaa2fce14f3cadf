"""The kernel that looks for the cheapest pairs to break, beside a slow twin and brute force."""

import itertools
import math

import numpy as np
import pytest

from core_random import CoreRandom
from kempe import _core
from kempe.contradictions.signed_graph import SignedGraph


def random_signed_graph(size, n_pairs, seed, *, whole=True):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(size, size=(n_pairs, 2))
    price = rng.choice([-2.0, -1.0, 1.0, 2.0], size=n_pairs)
    return SignedGraph.of(size, pairs, price if whole else price * rng.uniform(0.5, 1, n_pairs))


class Twin:
    """Tabu search that counts everything anew, with the choices of the same generator."""

    def __init__(self, graph, k, start, seed):
        self.graph, self.k, self.random = graph, k, CoreRandom(seed)
        self.colours = start.copy()
        self.tabu_until = np.zeros((graph.size, k), dtype=int)
        self.troubled = []  # ties are broken in the order of this list
        for v in range(graph.size):
            self.refresh(v)

    def neighbours(self, v):
        """As the kernel has them: in the order of the pairs."""
        g = self.graph
        for first, second in zip(g.first.tolist(), g.second.tolist(), strict=True):
            if v in (first, second):
                yield second if v == first else first

    def refresh(self, v):
        g = self.graph
        touched = (g.first == v) | (g.second == v)
        troubled = bool((touched & ~g.kept(self.colours)).any())
        if troubled and v not in self.troubled:
            self.troubled.append(v)
        if not troubled and v in self.troubled:
            place, last = self.troubled.index(v), self.troubled.pop()
            if last != v:
                self.troubled[place] = last

    def change(self, v, c):
        moved = self.colours.copy()
        moved[v] = c
        return self.graph.cost(moved) - self.graph.cost(self.colours)

    def best_move(self, iteration, best):
        chosen, lowest, ties = None, math.inf, 0
        now = self.graph.cost(self.colours)
        for v, c in itertools.product(self.troubled, range(self.k)):
            if c == self.colours[v]:
                continue
            change = self.change(v, c)
            tabu = self.tabu_until[v, c] > iteration and now + change >= best
            if tabu or change > lowest:
                continue
            ties = ties + 1 if change == lowest else 1
            if self.random.below(ties) == 0:
                chosen, lowest = (v, c), change
        return chosen

    def run(self, iterations):
        best, least = self.colours.copy(), self.graph.cost(self.colours)
        for iteration in range(1, iterations + 1):
            if not self.troubled:
                break
            move = self.best_move(iteration, least)
            if move is None:
                continue
            v, c = move
            old, self.colours[v] = self.colours[v], c
            for u in [*self.neighbours(v), v]:
                self.refresh(u)
            tenure = self.random.below(10) + int(0.3 * len(self.troubled))
            self.tabu_until[v, old] = iteration + 1 + tenure
            if self.graph.cost(self.colours) < least:
                best, least = self.colours.copy(), self.graph.cost(self.colours)
        return best


@pytest.mark.parametrize("seed", range(10))
def test_it_agrees_with_its_slow_twin(seed):
    graph = random_signed_graph(12, 40, seed)
    k = 2 + seed % 3
    start = np.random.default_rng(seed).integers(k, size=12).astype(np.int32)
    found = _core.fewest_broken(graph.core, k, start, seed, 60, _core.Stopper())
    np.testing.assert_array_equal(found, Twin(graph, k, start, seed).run(60))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_it_finds_what_all_clusterings_show_to_be_the_least(seed, whole):
    graph = random_signed_graph(7, 16, seed, whole=whole)
    k = 2 + seed % 2
    every = itertools.product(range(k), repeat=7)
    least = min(graph.cost(np.array(colours, dtype=np.int32)) for colours in every)
    start = np.zeros(7, dtype=np.int32)
    found = _core.fewest_broken(graph.core, k, start, seed, 3000, _core.Stopper())
    assert graph.cost(found) == pytest.approx(least)


def test_it_is_never_worse_than_its_start_and_ends_when_told():
    graph = random_signed_graph(40, 300, 3)
    start = np.random.default_rng(3).integers(4, size=40).astype(np.int32)
    stopper = _core.Stopper()
    stopper.stop()
    found = _core.fewest_broken(graph.core, 4, start, 0, 10**9, stopper)
    np.testing.assert_array_equal(found, start)
    found = _core.fewest_broken(graph.core, 4, start, 0, 500, _core.Stopper())
    assert graph.cost(found) < graph.cost(start)


def test_parts_that_move_as_one_cost_as_much_more_or_less_as_their_vertices():
    graph = random_signed_graph(15, 60, 4)
    chosen = (graph.price > 0) & (np.arange(graph.price.size) % 3 == 0)
    count, part = graph.joined_by(chosen)
    assert count < 15
    joined = graph.contracted(count, part)
    every = [np.random.default_rng(seed).integers(3, size=count) for seed in range(6)]
    clusterings = [colours.astype(np.int32) for colours in every]
    # What is said inside a part, or for and against the same two parts, is there in any case.
    beside = [graph.cost(colours[part]) - joined.cost(colours) for colours in clusterings]
    assert beside == pytest.approx([beside[0]] * len(beside))
