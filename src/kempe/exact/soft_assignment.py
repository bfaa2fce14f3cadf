"""Assign supernodes to fixed centroids where some pairs may be broken at a price.

Most supernodes decide by themselves: where another cluster is farther than all their pairs can pay
for, it is out, and pairs with those that have one cluster left are no more than costs. What is left
falls into components. A component in which pairs tie few rows at a time is solved exactly, one
supernode after the other; the others are annealed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kempe import _core
from kempe.exact.assigner import ExactAssigner
from kempe.exact.part import Floats
from kempe.graph import CannotLinkGraph
from kempe.problem import Colours

# Entries of the largest table that solves a component exactly.
LARGEST_TABLE = 2**16

# Wider components are annealed once for each of these, with so many trials. It begins at this share
# of what all pairs of a supernode cost, or of its distance from other clusters, and ends at another
# share of what one pair costs, or of that distance.
HOT = (1.0, 0.05, 0.05)
COLD = 0.1
TRIALS = 2_000_000
# The price of a cannot-link pair within a cluster in between, in units of the first temperature.
CHEAP, EXPENSIVE = 2.0, 6.0


@dataclass(frozen=True)
class OpenPairs:
    """Pairs of supernodes that may be broken, each two supernodes once.

    Attributes
    ----------
    first, second
        The two supernodes.
    price
        What breaking a pair costs; negative for pairs that belong apart.
    """

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    price: Floats

    @property
    def count(self) -> int:
        """Number of pairs."""
        return int(self.price.size)

    def where(self, chosen: NDArray[np.bool_]) -> OpenPairs:
        """Give some of the pairs."""
        return OpenPairs(self.first[chosen], self.second[chosen], self.price[chosen])

    def among(self, vertices: NDArray[np.intp], size: int) -> OpenPairs:
        """Give the pairs of a component, renumbered in the order of its vertices."""
        place = np.full(size, -1, dtype=np.int32)
        place[vertices] = np.arange(vertices.size, dtype=np.int32)
        inside = self.where(place[self.first] >= 0)
        return replace(inside, first=place[inside.first], second=place[inside.second])

    def weight(self, size: int) -> Floats:
        """Give what all pairs of each supernode cost together."""
        each = np.abs(self.price)
        both = (np.bincount(end, each, minlength=size) for end in (self.first, self.second))
        return np.asarray(sum(both), dtype=np.float64)

    def total(self, colours: Colours) -> float:
        """Price of the pairs that are broken."""
        same = colours[self.first] == colours[self.second]
        return float(np.abs(self.price[same != (self.price > 0)]).sum())


def assign_softly(
    graph: CannotLinkGraph, costs: Floats, pairs: OpenPairs, stopper: _core.Stopper
) -> Colours | None:
    """Assign every supernode to a cluster at a low total of costs and prices; none if none may be.

    The lowest of all where no component was too wide for its tables.

    Parameters
    ----------
    graph
        The cannot-link graph.
    costs
        Cost per supernode and cluster; infinite where it may not go.
    pairs
        Pairs that may be broken.
    stopper
        Ends the search.
    """
    costs, pairs = _decided(graph, costs, pairs)
    allowed = np.isfinite(costs)
    finite = np.where(allowed, costs, 0.0)
    colours = ExactAssigner(graph).solve(finite, allowed=allowed, stopper=stopper).colours
    if colours is None:
        return None
    for vertices in _components(graph, pairs):
        own, some = costs[vertices], pairs.among(vertices, graph.size)
        inside = graph.induced(vertices)
        found = eliminate(inside, own, some)
        if found is None:
            found = _annealed(inside, own, some, colours[vertices], stopper)
        colours[vertices] = found
    return colours


def _decided(graph: CannotLinkGraph, costs: Floats, pairs: OpenPairs) -> tuple[Floats, OpenPairs]:
    """Rule out clusters that no pair can pay for, and turn pairs with the decided into costs."""
    costs = costs.copy()
    free = (graph.degree == 0)[:, None]
    while True:  # every round decides a further supernode of a pair, or is the last
        most = costs.min(axis=1) + pairs.weight(graph.size)
        costs[free & (costs > most[:, None])] = np.inf
        decided = np.isfinite(costs).sum(axis=1) == 1
        known = decided[pairs.first] | decided[pairs.second]
        if not known.any():
            return costs, pairs
        _pay(costs, pairs.where(known), decided)
        pairs = pairs.where(~known)


def _pay(costs: Floats, pairs: OpenPairs, decided: NDArray[np.bool_]) -> None:
    """Add what pairs cost of which one supernode has a single cluster to the costs of the other."""
    cluster = np.isfinite(costs).argmax(axis=1)
    turned = decided[pairs.first]
    one = np.where(turned, pairs.first, pairs.second)
    other = np.where(turned, pairs.second, pairs.first)
    together = pairs.price > 0
    # Apart: the price at the cluster of the other. Together: at all others, so less at that one.
    np.add.at(costs, other[together], pairs.price[together, None])
    np.add.at(costs, (other, cluster[one]), -pairs.price)


def _components(graph: CannotLinkGraph, pairs: OpenPairs) -> list[NDArray[np.intp]]:
    """Give the supernodes that pairs tie together, with those that they must be apart from."""
    one, other = np.concatenate([np.column_stack([pairs.first, pairs.second]), graph.edges]).T
    ties = sparse.coo_array((np.ones(one.size), (one, other)), shape=(graph.size, graph.size))
    _, component = connected_components(ties, directed=False)
    members = np.flatnonzero(np.isin(component, component[pairs.first]))
    order = members[np.argsort(component[members], kind="stable")]
    ends = np.flatnonzero(np.diff(component[order])) + 1
    return np.split(order, ends) if order.size else []


@dataclass(frozen=True)
class _Table:
    """Costs of all clusters of a few supernodes, one axis for each."""

    vertices: tuple[int, ...]
    values: Floats

    def spread(self, over: Sequence[int]) -> Floats:
        """Put the axes where they belong among those of more supernodes, which come sorted."""
        shape = [1] * len(over)
        for vertex, length in zip(self.vertices, self.values.shape, strict=True):
            shape[over.index(vertex)] = length
        return self.values.reshape(shape)


def eliminate(graph: CannotLinkGraph, costs: Floats, pairs: OpenPairs) -> Colours | None:
    """Give the cheapest assignment, supernode after supernode, or none if that takes too long.

    A supernode is replaced by a table of its best costs for all clusters of those that it has pairs
    with, which after that have a pair with each other.
    """
    open_ = [np.flatnonzero(row) for row in np.isfinite(costs)]
    tables = _tables(graph, costs, pairs, open_)
    waiting = set(range(graph.size))
    answers: list[tuple[int, list[int], NDArray[np.intp]]] = []
    while waiting:
        vertex = min(waiting, key=lambda v: (_entries(tables[v], open_), v))
        if _entries(tables[vertex], open_) > LARGEST_TABLE:
            return None
        waiting.remove(vertex)
        over = sorted(set().union(*(table.vertices for table in tables[vertex])))
        values = reduce(np.add, (table.spread(over) for table in tables[vertex]))
        axis = over.index(vertex)
        others = [v for v in over if v != vertex]
        answers.append((vertex, others, values.argmin(axis=axis)))
        rest = _Table(tuple(others), values.min(axis=axis))
        for other in others:
            tables[other] = [t for t in tables[other] if vertex not in t.vertices]
            tables[other].append(rest)
    colours = np.empty(graph.size, dtype=np.int32)
    chosen: dict[int, int] = {}
    for vertex, others, best in reversed(answers):
        chosen[vertex] = int(best[tuple(chosen[other] for other in others)])
        colours[vertex] = open_[vertex][chosen[vertex]]
    return colours


def _tables(
    graph: CannotLinkGraph, costs: Floats, pairs: OpenPairs, open_: list[NDArray[np.intp]]
) -> list[list[_Table]]:
    """Give the costs of each supernode, and the prices of its pairs, those that hold included."""
    tables = [[_Table((v,), costs[v, clusters])] for v, clusters in enumerate(open_)]
    ties = zip(pairs.first.tolist(), pairs.second.tolist(), pairs.price.tolist(), strict=True)
    apart = ((a, b, -np.inf) for a, b in graph.edges.tolist())
    for a, b, price in (*ties, *apart):
        a, b = sorted((a, b))
        same = open_[a][:, None] == open_[b]
        table = _Table((a, b), np.where(same != (price > 0), abs(price), 0.0))
        tables[a].append(table)
        tables[b].append(table)
    return tables


def _entries(tables: list[_Table], open_: list[NDArray[np.intp]]) -> float:
    """How large the table is that joins these."""
    over = set().union(*(table.vertices for table in tables))
    return float(np.prod([float(open_[v].size) for v in over]))


def _annealed(
    graph: CannotLinkGraph,
    costs: Floats,
    pairs: OpenPairs,
    start: Colours,
    stopper: _core.Stopper,
) -> Colours:
    """Look for a cheap assignment, never a dearer one than the start."""
    above = costs - costs.min(axis=1, keepdims=True)
    apart = float(above[np.isfinite(above)].mean())
    most = max(apart, float(pairs.weight(graph.size).mean()))
    least = COLD * min(apart or most, float(np.abs(pairs.price).mean()))
    sweeps = max(1, TRIALS // graph.size)

    def anneal(seed: int, hot: float) -> Colours:
        soft = _core.SoftPairs(graph.size, pairs.first, pairs.second, pairs.price / hot)
        cooling = (sweeps, 1.0, min(least / hot, 1.0), CHEAP, EXPENSIVE)
        return _core.anneal(graph.core, above / hot, start, *cooling, seed, stopper, soft)

    def total(colours: Colours) -> float:
        return float(costs[np.arange(colours.size), colours].sum()) + pairs.total(colours)

    found = (anneal(seed, share * most) for seed, share in enumerate(HOT))
    return min([start, *found], key=total)
