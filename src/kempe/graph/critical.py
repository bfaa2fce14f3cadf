"""Make a proof small: leave out of what cannot be coloured whatever the proof does not need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.graph.cannot_link import CannotLinkGraph
from kempe.graph.colouring import Colourability, colour_graph

# Turns on one subgraph when vertices and pairs are left out one by one.
SHRINKING_TURNS = 6


def critical_edges(
    graph: CannotLinkGraph,
    core: NDArray[np.intp],
    n_clusters: int,
    rng: np.random.Generator,
    stopper: _core.Stopper,
) -> tuple[NDArray[np.int32], bool]:
    """Leave vertices, then edges, out of a part that cannot be coloured, as long as that lasts.

    Parameters
    ----------
    core
        Vertices that alone cannot be coloured.

    Returns
    -------
    edges
        Edges that cannot be coloured, between vertices of ``graph``.
    minimal
        Whether it was proven that every one is needed.
    """
    vertices = _without_needless_vertices(graph, core, n_clusters, rng, stopper)
    part = graph.induced(vertices)
    needed = np.ones(part.n_edges, dtype=bool)
    minimal = True
    for edge in range(part.n_edges):
        if not needed[edge]:
            continue
        trial = needed.copy()
        trial[edge] = False
        answer = _decide(part.size, part.edges[trial], n_clusters, rng, stopper)
        if answer.core is not None:
            needed = trial & np.isin(part.edges, answer.core).all(axis=1)
        elif answer.colours is None:
            minimal = False
    return vertices[part.edges[needed]].astype(np.int32), minimal


def _without_needless_vertices(
    graph: CannotLinkGraph,
    core: NDArray[np.intp],
    k: int,
    rng: np.random.Generator,
    stopper: _core.Stopper,
) -> NDArray[np.intp]:
    for vertex in core[np.argsort(graph.degree[core], kind="stable")]:
        if stopper.look():
            break
        if vertex not in core:
            continue
        trial = core[core != vertex]
        answer = colour_graph(graph.induced(trial), k, rng, stopper, turns=SHRINKING_TURNS)
        if answer.core is not None:
            core = trial[answer.core]
    return np.sort(core)


def _decide(
    size: int,
    edges: NDArray[np.int32],
    k: int,
    rng: np.random.Generator,
    stopper: _core.Stopper,
) -> Colourability:
    if stopper.look():
        return Colourability()
    graph = CannotLinkGraph.from_edges(size, edges)
    return colour_graph(graph, k, rng, stopper, turns=SHRINKING_TURNS)
