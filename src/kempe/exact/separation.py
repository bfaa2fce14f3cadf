"""Cliques that a fractional solution violates, though it satisfies those of the cover.

The cover has each edge in some clique, and most cliques of the graph are not in it. Few of the
others matter, and a solution shows which.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe.exact.part import Floats
from kempe.graph import CannotLinkGraph

# Shares of a clique that exceed one by less than this are not worth a row.
EXCESS = 1e-3


def violated_cliques(graph: CannotLinkGraph, shares: Floats) -> list[list[int]]:
    """Find maximal cliques whose vertices have more than one share in a cluster.

    From every vertex that is split a clique grows by the largest share that fits, which finds most
    of what there is.

    Parameters
    ----------
    shares
        Share per vertex and cluster of a solution; most are zero.
    """
    split = (shares > EXCESS) & (shares < 1.0 - EXCESS)
    neighbours = _Neighbours(graph)
    found: set[tuple[int, ...]] = set()
    for cluster in np.flatnonzero(split.any(axis=0)):
        vertices = np.flatnonzero(split[:, cluster])
        share = shares[vertices, cluster]
        largest_first = vertices[np.argsort(-share, kind="stable")].tolist()
        for vertex in largest_first:
            clique = _grown([vertex], largest_first, neighbours)
            if shares[clique, cluster].sum() > 1.0 + EXCESS:
                found.add(tuple(sorted(_maximal(clique, neighbours, graph.degree))))
    return [list(clique) for clique in sorted(found)]


class _Neighbours:
    """Neighbours of the vertices that are asked for, as sets."""

    def __init__(self, graph: CannotLinkGraph) -> None:
        self._graph = graph
        self._known: dict[int, frozenset[int]] = {}

    def of(self, vertex: int) -> frozenset[int]:
        """Give the neighbours of one vertex."""
        if vertex not in self._known:
            start, end = self._graph.offsets[vertex : vertex + 2]
            self._known[vertex] = frozenset(self._graph.targets[start:end].tolist())
        return self._known[vertex]

    def of_all(self, vertices: list[int]) -> frozenset[int]:
        """Give the vertices that are neighbours of all of some."""
        return frozenset.intersection(*map(self.of, vertices))


def _grown(clique: list[int], candidates: list[int], neighbours: _Neighbours) -> list[int]:
    """Add each candidate that is a neighbour of all before it."""
    grown, common = list(clique), neighbours.of_all(clique)
    for vertex in candidates:
        if vertex in common:
            grown.append(vertex)
            common &= neighbours.of(vertex)
    return grown


def _maximal(clique: list[int], neighbours: _Neighbours, degree: NDArray[np.int64]) -> list[int]:
    """Add neighbours of high degree until none fits."""
    common = sorted(neighbours.of_all(clique), key=lambda vertex: (-degree[vertex], vertex))
    return _grown(clique, common, neighbours)
