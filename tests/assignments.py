"""Small assignment problems, and the best of all their assignments."""

from __future__ import annotations

import itertools

import numpy as np

from kempe.graph import CannotLinkGraph


def random_graph(size, density, rng):
    pairs = np.column_stack(np.triu_indices(size, k=1))
    return CannotLinkGraph.from_edges(size, pairs[rng.random(len(pairs)) < density])


def cost_of(costs, colours):
    return costs[np.arange(colours.size), colours].sum()


def brute_force(graph, costs, allowed, nonempty):
    """Cost of the best of all assignments; infinite if there is none."""
    m, k = costs.shape
    best = np.inf
    for choice in itertools.product(range(k), repeat=m):
        colours = np.array(choice, dtype=np.int32)
        if nonempty and len(set(choice)) < k:
            continue
        if allowed[np.arange(m), colours].all() and graph.is_proper(colours):
            best = min(best, cost_of(costs, colours))
    return best


def planted(rng, size=40, k=4, density=0.2):
    """A graph that certainly has a proper colouring, and that colouring."""
    colours = rng.integers(k, size=size).astype(np.int32)
    pairs = np.column_stack(np.triu_indices(size, k=1))
    apart = colours[pairs[:, 0]] != colours[pairs[:, 1]]
    return CannotLinkGraph.from_edges(
        size, pairs[apart & (rng.random(len(pairs)) < density)]
    ), colours
