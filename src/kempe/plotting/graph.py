"""The cannot-link graph over supernodes, coloured by cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kempe.constraints import Constraints
from kempe.plotting._style import (
    BROKEN,
    DASHES,
    GIVEN_UP,
    INK,
    axes,
    colour,
    marker,
    without_ticks,
)
from kempe.problem import Problem
from kempe.soft_pairs import supernode_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_constraint_graph(
    constraints: Constraints | Problem,
    labels: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    max_nodes: int = 500,
    random_state: int | None = 0,
) -> Axes:
    """Draw the cannot-link graph: one dot per supernode, one line per pair of them.

    Supernodes without a cannot-link pair are left out. A dot is the larger the more rows it holds,
    and a line is red if the labels put both its ends into one cluster. Soft pairs that the labels
    break are drawn, too, dash-dotted or dotted, with a legend.

    Parameters
    ----------
    constraints
        The constraints, or a problem made from them.
    labels
        Cluster of each row of the data, for the colours.
    ax
        Where to draw; a new figure by default.
    max_nodes
        Draw at most this many supernodes, those with most pairs.
    random_state
        Seed of the layout.

    Returns
    -------
    Axes
        What was drawn on.
    """
    ax = axes(ax)
    supernode, graph = _graph(constraints)
    given_up = _given_up(constraints, labels, supernode)
    whole = _with_edges(graph, given_up)
    kept = _busiest(whole, max_nodes)
    part = sparse.csr_array(graph[kept][:, kept])
    places = spring_layout(
        sparse.csr_array(whole[kept][:, kept]), np.random.default_rng(random_state)
    )
    size = np.bincount(supernode, minlength=graph.shape[0])[kept]
    colours = None if labels is None else _colours(np.asarray(labels), supernode)[kept]
    _draw_edges(ax, part, places, colours)
    _draw_given_up(ax, given_up, kept, places)
    _draw_nodes(ax, places, size, colours)
    left_out = int(np.count_nonzero(np.diff(whole.indptr))) - kept.size
    if left_out > 0:
        ax.set_title(f"the {kept.size} supernodes with most pairs; {left_out} more left out")
    without_ticks(ax)
    return ax


def spring_layout(
    graph: sparse.csr_array, rng: np.random.Generator, rounds: int = 80
) -> NDArray[np.float64]:
    """Place the vertices: edges pull, all vertices push each other (Fruchterman, Reingold)."""
    n = graph.shape[0]
    places = rng.uniform(-1, 1, size=(n, 2))
    if n < 2:
        return places
    ideal = 1.6 / np.sqrt(n)
    adjacent = graph.toarray() > 0
    for step in np.linspace(0.2, 0.005, rounds):
        apart = places[:, None] - places[None]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        # The pull to the middle keeps separate components in the picture.
        force = ideal**2 / distance**2 - np.where(adjacent, distance / ideal, 0.0)
        move = (apart * force[:, :, None]).sum(axis=1) - 0.5 * places
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        places += move / length * np.minimum(length, step)
    return places


def _graph(constraints: Constraints | Problem) -> tuple[NDArray[np.int32], sparse.csr_array]:
    if isinstance(constraints, Problem):
        return constraints.supernode, constraints.graph.matrix
    n_rows = constraints.n_rows
    if n_rows is None:
        soft = constraints.soft
        every = (constraints.must_link, constraints.cannot_link, soft.must_link, soft.cannot_link)
        n_rows = 1 + max(int(pairs.max(initial=0)) for pairs in every)
    problem = Problem.build(np.zeros((n_rows, 1)), constraints, n_clusters=1)
    return problem.supernode, problem.graph.matrix


def _given_up(
    constraints: Constraints | Problem, labels: ArrayLike | None, supernode: NDArray[np.int32]
) -> dict[str, NDArray[np.int64]]:
    """Give the supernodes of soft pairs that labels break, by kind, each two once."""
    pairs = constraints.constraints if isinstance(constraints, Problem) else constraints
    if labels is None or not pairs.soft.count:
        return {}
    broken = pairs.soft.violations(np.asarray(labels))
    kinds = {"soft must-link": broken.must_link, "soft cannot-link": broken.cannot_link}
    ends = {kind: supernode_ends(supernode, given) for kind, given in kinds.items()}
    return {kind: np.unique(e[e[:, 0] != e[:, 1]], axis=0) for kind, e in ends.items()}


def _with_edges(graph: sparse.csr_array, more: dict[str, NDArray[np.int64]]) -> sparse.csr_array:
    for ends in more.values():
        ones = np.ones(len(ends), dtype=np.int32)
        once = sparse.coo_array((ones, (ends[:, 0], ends[:, 1])), shape=graph.shape)
        graph = sparse.csr_array(graph + once + once.T)
    return graph


def _busiest(graph: sparse.csr_array, most: int) -> NDArray[np.int64]:
    degree = np.diff(graph.indptr)
    order = np.argsort(-degree, kind="stable")[:most]
    return np.sort(order[degree[order] > 0])


def _colours(labels: NDArray[Any], supernode: NDArray[np.int32]) -> NDArray[np.int64]:
    if labels.shape != supernode.shape:
        raise ValueError(f"labels must have shape {supernode.shape}, got {labels.shape}")
    _, codes = np.unique(labels, return_inverse=True)
    of_supernode = np.empty(int(supernode.max(initial=-1)) + 1, dtype=np.int64)
    of_supernode[supernode] = codes
    return of_supernode


def _draw_edges(
    ax: Axes,
    graph: sparse.csr_array,
    places: NDArray[np.float64],
    colours: NDArray[np.int64] | None,
) -> None:
    from matplotlib.collections import LineCollection

    first, second = sparse.triu(graph).nonzero()
    broken = (
        np.zeros(first.size, dtype=bool) if colours is None else colours[first] == colours[second]
    )
    segments = places[np.column_stack([first, second])]
    alpha = float(np.clip(60 / max(1, first.size), 0.08, 0.6))
    ax.add_collection(
        LineCollection(list(segments[~broken]), colors=INK, linewidths=0.6, alpha=alpha, zorder=1)
    )
    ax.add_collection(
        LineCollection(list(segments[broken]), colors=BROKEN, linewidths=1.5, zorder=2)
    )


def _draw_given_up(
    ax: Axes,
    given_up: dict[str, NDArray[np.int64]],
    kept: NDArray[np.int64],
    places: NDArray[np.float64],
) -> None:
    from matplotlib.collections import LineCollection

    for kind, ends in given_up.items():
        drawn = np.searchsorted(kept, ends[np.isin(ends, kept).all(axis=1)])
        if len(drawn):
            lines = LineCollection(
                list(places[drawn]),
                colors=GIVEN_UP,
                linestyles=[DASHES[kind]],
                linewidths=1.5,
                zorder=2,
                label=f"{kind}, broken ({len(ends):,})",
            )
            ax.add_collection(lines)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="best", fontsize="small", framealpha=0.9)


def _draw_nodes(
    ax: Axes,
    places: NDArray[np.float64],
    size: NDArray[np.int64],
    colours: NDArray[np.int64] | None,
) -> None:
    area = np.clip(24 * np.sqrt(size), 24, 400)
    if colours is None:
        ax.scatter(places[:, 0], places[:, 1], s=area, c=INK, zorder=3)
        return
    for cluster in np.unique(colours):
        members = colours == cluster
        ax.scatter(
            places[members, 0],
            places[members, 1],
            s=area[members],
            c=colour(int(cluster)),
            marker=marker(int(cluster)),
            edgecolors="white",
            linewidths=0.5,
            zorder=3,
        )
