"""The cheapest pairs to break: tabu search on vertices, and on groups that move as one.

A few clusterings are kept. From each, pairs that it keeps are taken for certain at random, or those
that two of them keep; what they join moves as one, which gets over hills that single vertices
cannot; then the vertices search on by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from kempe import _core
from kempe.contradictions.signed_graph import SignedGraph
from kempe.problem import Colours

# Steps of one tabu search: at least so many, and so many for each vertex.
STEPS, STEPS_PER_VERTEX = 20_000, 20
# Share of these steps that groups get, and that vertices get afterwards.
OF_GROUPS, OF_VERTICES = 0.25, 0.5
# Clusterings that are kept, and how many are made of them at a time.
POPULATION, GENERATION = 8, 4
# How probable it is that a kept pair is taken for certain; one of these, at random.
CERTAIN = (0.2, 0.4, 0.6, 0.8, 0.9, 0.97)
# A share of what two clusterings agree on that is doubted all the same.
DOUBTED = 0.02


@dataclass(frozen=True)
class Effort:
    """How long to look.

    Attributes
    ----------
    generations
        Most generations of new clusterings.
    patience
        Generations in vain after which the search ends.
    """

    generations: int = 100
    patience: int = 12


@dataclass(frozen=True, eq=False)
class CheapColouring:
    """A clustering and what the pairs cost that it breaks."""

    cost: float
    colours: Colours


def cheapest_to_break(
    graph: SignedGraph,
    n_clusters: int,
    starts: Sequence[Colours],
    rng: np.random.Generator,
    stopper: _core.Stopper,
    *,
    threads: int = 1,
    effort: Effort,
    enough: Callable[[CheapColouring], bool] = lambda best: best.cost == 0,
) -> list[CheapColouring]:
    """Look for clusterings that break few pairs, the best first; all differ.

    Parameters
    ----------
    graph
        What pairs say.
    n_clusters
        Number of clusters.
    starts
        Clusterings to begin with; others are made at random.
    rng, stopper
        Randomness, and when to stop.
    threads
        Searches side by side. The result does not depend on it, unless there is a time limit.
    effort
        How long to look.
    enough
        Asked after every generation with the best: whether that is good enough.
    """
    search = _Search(graph, n_clusters, stopper)
    begin = [
        *starts,
        *(search.random(rng) for _ in range(max(POPULATION - len(starts), POPULATION // 2))),
    ]
    with ThreadPoolExecutor(threads) as pool:
        seeds = rng.integers(2**63, size=len(begin)).tolist()
        kept = _best_of(pool.map(search.improved, begin, seeds))
        in_vain = 0
        for _ in range(effort.generations):
            if in_vain >= effort.patience or stopper.look() or enough(kept[0]):
                break
            work = [search.variation(kept, rng) for _ in range(GENERATION)]
            before = kept[0].cost
            kept = _best_of([*kept, *pool.map(lambda make: make(), work)])
            in_vain = 0 if kept[0].cost < before else in_vain + 1
    return kept


def _best_of(found: object) -> list[CheapColouring]:
    """Keep the best that differ in what they cost or how they cluster."""
    kept: list[CheapColouring] = []
    for one in sorted(found, key=lambda each: each.cost):  # type: ignore[call-overload]
        if not any(np.array_equal(one.colours, other.colours) for other in kept):
            kept.append(one)
    return kept[:POPULATION]


@dataclass(frozen=True, eq=False)
class _Search:
    graph: SignedGraph
    n_clusters: int
    stopper: _core.Stopper

    @property
    def steps(self) -> int:
        return max(STEPS, STEPS_PER_VERTEX * self.graph.size)

    def random(self, rng: np.random.Generator) -> Colours:
        return rng.integers(self.n_clusters, size=self.graph.size).astype(np.int32)

    def improved(self, colours: Colours, seed: int, share: float = 1.0) -> CheapColouring:
        better = self._tabu(self.graph, colours, seed, share)
        return CheapColouring(self.graph.cost(better), better)

    def variation(
        self, kept: Sequence[CheapColouring], rng: np.random.Generator
    ) -> Callable[[], CheapColouring]:
        """Draw what to try next; trying it needs no more randomness."""
        graph = self.graph
        chosen = kept[int(rng.integers(len(kept)))].colours
        certain = graph.kept(chosen) & (graph.price > 0)
        if len(kept) > 1 and rng.random() < 0.5:
            certain &= graph.kept(kept[int(rng.integers(len(kept)))].colours)
            certain &= rng.random(certain.size) >= DOUBTED
        else:
            certain &= rng.random(certain.size) < rng.choice(CERTAIN)
        kick, *seeds = rng.integers(2**63, size=3).tolist()
        return partial(self._varied, chosen, certain, kick, seeds)

    def _varied(
        self, colours: Colours, certain: np.ndarray, kick: int, seeds: Sequence[int]
    ) -> CheapColouring:
        count, part = self.graph.joined_by(certain)
        together = np.empty(count, dtype=np.int32)
        together[part] = colours
        moved = self._tabu(self.graph.contracted(count, part), together, seeds[0], OF_GROUPS)
        return self.improved(self._kicked(moved[part], kick), seeds[1], OF_VERTICES)

    def _kicked(self, colours: Colours, seed: int) -> Colours:
        """Mend one broken pair at random, whatever that breaks."""
        graph = self.graph
        broken = np.flatnonzero(~graph.kept(colours))
        if not broken.size:
            return colours
        rng = np.random.default_rng(seed)
        pair = rng.choice(broken)
        colours = colours.copy()
        first, second = int(graph.first[pair]), int(graph.second[pair])
        belongs = colours[second] if graph.price[pair] > 0 else rng.integers(self.n_clusters)
        colours[first] = belongs
        return colours

    def _tabu(self, graph: SignedGraph, colours: Colours, seed: int, share: float) -> Colours:
        if self.stopper.look():  # its tables alone take a while
            return colours
        steps = int(share * self.steps)
        return _core.fewest_broken(graph.core, self.n_clusters, colours, seed, steps, self.stopper)
