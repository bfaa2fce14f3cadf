"""A search that goes on from a clustering: labels of rows made a proper colouring.

The labels may break some of the pairs, as they do after a person has given one more. As few rows as
possible change: what no pair objects to stays as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.exact.assigner import ExactAssigner
from kempe.graph import CannotLinkGraph
from kempe.problem import Colours, Problem
from kempe.search.descent import Context
from kempe.search.first_colouring import first_colouring

# Parts of the graph up to so many supernodes are repaired exactly, with so much effort at most.
EXACT_UP_TO = 24
EXACT_EFFORT = 0.2

# More broken pairs than this are left to tabu search, which looks at all of them at once.
MOST_CHAINS = 256
TABU_ITERATIONS = 100_000


def is_labels(init: Any) -> bool:
    """Whether a start is given as the cluster of each row, and not as centroids or in words."""
    return not isinstance(init, str) and np.ndim(init) == 1


def checked_labels(init: Any, n_rows: int, n_clusters: int) -> NDArray[np.int32]:
    """Give labels as integers, or say what is wrong with them.

    Parameters
    ----------
    n_rows, n_clusters
        What they must fit.
    """
    labels = np.asarray(init)
    if labels.shape != (n_rows,):
        raise ValueError(f"init must have a label for each of {n_rows} rows, got {labels.shape}")
    if labels.dtype.kind not in "biu":
        raise ValueError(f"init must hold whole numbers, got {labels.dtype}")
    lowest, highest = int(labels.min()), int(labels.max())
    if lowest < 0 or highest >= n_clusters:
        raise ValueError(
            f"init must hold clusters from 0 to {n_clusters - 1}, got {lowest} to {highest}"
        )
    return labels.astype(np.int32)


def colours_of_labels(
    context: Context,
    labels: NDArray[np.int32],
    *,
    exhaustive: bool = True,
    known: Colours | None = None,
) -> Colours:
    """Give a proper colouring in which few rows have another cluster than their label says.

    Parameters
    ----------
    labels
        Cluster of each row, whatever the constraints.
    exhaustive, known
        What to do where no small change helps, see ``first_colouring``.

    Raises
    ------
    InfeasibleConstraintsError
        If there is no clustering that satisfies the constraints.
    """
    problem = context.problem
    colours = most_common(problem, labels)
    broken = broken_edges(problem.graph, colours)
    if not len(broken):
        return colours
    if len(broken) <= MOST_CHAINS:
        colours = _mend_small_parts(problem, labels, colours, broken)
        colours = _swap_chains(problem, colours)
    if problem.is_proper(colours):
        return colours
    colours, conflicts = _core.tabu_colouring(
        problem.graph.core,
        problem.n_clusters,
        colours,
        None,
        int(context.rng.integers(2**63)),
        TABU_ITERATIONS,
        context.stopper,
    )
    if conflicts == 0:
        return colours
    centroids, _ = problem.means(colours)
    return first_colouring(context, centroids, exhaustive=exhaustive, known=known)


def most_common(problem: Problem, labels: NDArray[np.int32]) -> Colours:
    """Give each supernode the label that most of its rows have, the lowest of several."""
    colours = np.empty(problem.n_supernodes, dtype=np.int32)
    colours[problem.supernode] = labels
    if problem.n_supernodes == problem.n_rows:
        return colours
    split = problem.supernode[colours[problem.supernode] != labels]
    mixed = np.zeros(problem.n_supernodes, dtype=np.bool_)
    mixed[split] = True
    rows = np.flatnonzero(mixed[problem.supernode])
    vertices, position = np.unique(problem.supernode[rows], return_inverse=True)
    votes = np.zeros((vertices.size, problem.n_clusters), dtype=np.int64)
    np.add.at(votes, (position, labels[rows]), 1)
    colours[vertices] = votes.argmax(axis=1)
    return colours


def broken_edges(graph: CannotLinkGraph, colours: Colours) -> NDArray[np.int32]:
    """Give the edges whose ends have the same colour."""
    edges = graph.edges
    broken: NDArray[np.int32] = edges[colours[edges[:, 0]] == colours[edges[:, 1]]]
    return broken


def rows_changed(
    problem: Problem, labels: NDArray[np.int32], vertices: NDArray[Any]
) -> NDArray[np.float64]:
    """Count the rows of some supernodes that another cluster would change, for every cluster."""
    where = np.full(problem.n_supernodes, -1, dtype=np.int64)
    where[vertices] = np.arange(vertices.size)
    rows = np.flatnonzero(where[problem.supernode] >= 0)
    same = np.zeros((vertices.size, problem.n_clusters))
    np.add.at(same, (where[problem.supernode[rows]], labels[rows]), 1.0)
    changed: NDArray[np.float64] = same.sum(axis=1, keepdims=True) - same
    return changed


def _mend_small_parts(
    problem: Problem, labels: NDArray[np.int32], colours: Colours, broken: NDArray[np.int32]
) -> Colours:
    """Assign small parts of the graph anew, with the fewest rows that change, then the nearest."""
    graph, component = problem.graph, problem.graph.components
    centroids, _ = problem.means(colours)
    colours = colours.copy()
    for number in np.unique(component[broken[:, 0]]).tolist():
        part = np.flatnonzero(component == number)
        if part.size > EXACT_UP_TO:
            continue
        near = problem.squared_distances(centroids, part.astype(np.int32))
        ties = near / (near.sum() or 1.0)  # all together less than one row
        assigner = ExactAssigner(graph.induced(part), solver="highs")
        found = assigner.solve(rows_changed(problem, labels, part) + ties, effort=EXACT_EFFORT)
        if found.colours is not None:
            colours[part] = found.colours
    return colours


def _swap_chains(problem: Problem, colours: Colours) -> Colours:
    """Mend broken edges one by one, each by the Kempe chain with the fewest rows.

    A chain that holds one end and not the other can be swapped: no other edge breaks by it, so
    every swap leaves fewer broken edges than before.
    """
    colours = colours.copy()
    centroids, _ = problem.means(colours)
    size = np.bincount(problem.supernode, minlength=problem.n_supernodes)
    for edge in broken_edges(problem.graph, colours).tolist():
        if colours[edge[0]] != colours[edge[1]]:  # mended with another
            continue
        best: tuple[float, float] | None = None
        for chain, target in _chains(problem, colours, edge):
            before = colours[chain]
            other = np.where(before == target, colours[edge[0]], target).astype(np.int32)
            near, own = problem.costs(centroids, chain), np.arange(chain.size)
            rise = float((near[own, other] - near[own, before]).sum())
            price = (float(size[chain].sum()), rise)
            if best is None or price < best:
                best, swapped, after = price, chain, other
        if best is not None:
            colours[swapped] = after
    return colours


def _chains(
    problem: Problem, colours: Colours, edge: list[int]
) -> list[tuple[NDArray[np.int32], int]]:
    """Find the chains that part the ends of a broken edge, and the colour that each swaps with."""
    found = []
    for start, other in (edge, edge[::-1]):
        for target in range(problem.n_clusters):
            if target != colours[start]:
                chain = _chain(problem.graph, colours, start, target)
                if other not in chain:
                    found.append((np.array(sorted(chain), dtype=np.int32), target))
    return found


def _chain(graph: CannotLinkGraph, colours: Colours, start: int, target: int) -> set[int]:
    """Give the supernodes of two colours that hang together with one, broken edges apart."""
    pair = int(colours[start]) + target
    chain, waiting = {start}, [start]
    while waiting:
        vertex = waiting.pop()
        wanted = pair - int(colours[vertex])
        near = graph.targets[graph.offsets[vertex] : graph.offsets[vertex + 1]]
        more = set(near[colours[near] == wanted].tolist()) - chain
        chain |= more
        waiting.extend(more)
    return chain
