"""Pictures of the page "How it works": small problems, really solved."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from numpy.typing import NDArray
from panels import BLUE, GREEN, INK, PURPLE, RED, YELLOW, Panel, new_figure
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs

from kempe import KSKM, Constraints, KempeKMeans

PALETTE = (BLUE, RED, GREEN, YELLOW, PURPLE)

# Two clusters side by side and a third above them. p, q, r and s are each on the wrong side.
NAMES = ("", "", "", "p", "r", "", "", "", "q", "s", "", "", "")
POINTS = np.array(
    [
        *[(0.0, 0.1), (0.3, 0.9), (-0.4, -0.5), (3.5, 0.8), (3.4, -0.5)],
        *[(4.2, 0.1), (4.6, 0.9), (4.7, -0.4), (0.9, 0.6), (0.8, -0.5)],
        *[(1.6, 2.5), (2.4, 2.9), (2.8, 2.2)],
    ]
)
COLOURS = np.repeat([0, 1, 2], [5, 5, 3])
EDGES = np.array(
    [(3, 8), (8, 4), (4, 9), (0, 5), (1, 10), (3, 12), (8, 10), (6, 12), (2, 11), (7, 12)]
)


def chains(edges: NDArray[Any], colours: NDArray[Any], first: int, second: int) -> NDArray[Any]:
    """Give the number of each vertex's Kempe chain of two colours; -1 for other colours."""
    inside = np.isin(colours, (first, second))
    kept = edges[inside[edges].all(axis=1)]
    graph = sparse.coo_array((np.ones(len(kept)), kept.T), shape=(len(colours),) * 2)
    numbers = connected_components(graph, directed=False)[1]
    return np.where(inside, numbers, -1)


def inertia(points: NDArray[Any], colours: NDArray[Any]) -> float:
    """Sum of squared distances to the means of the clusters."""
    parts = [points[colours == colour] for colour in np.unique(colours)]
    return float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))


def draw_graph(
    ax: Any,
    points: NDArray[Any],
    edges: NDArray[Any],
    colours: NDArray[Any],
    thick: NDArray[Any] | None = None,
) -> None:
    """Draw vertices in their colours, and dashed edges; thick ones are those of a chain."""
    bold = np.zeros(len(edges), dtype=bool) if thick is None else thick[edges].all(axis=1)
    for chosen, width, style in ((edges[~bold], 1.0, (0, (4, 3))), (edges[bold], 3.0, "solid")):
        lines = LineCollection(
            list(points[chosen]), colors=INK, linewidths=width, linestyles=[style], alpha=0.6
        )
        ax.add_collection(lines)
    for colour in np.unique(colours):
        members = points[colours == colour]
        ax.scatter(*members.T, s=150, color=PALETTE[colour], zorder=3)
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.axis("off")


def draw_means(ax: Any, points: NDArray[Any], colours: NDArray[Any]) -> None:
    """Mark the means of the clusters."""
    for colour in np.unique(colours):
        mean = points[colours == colour].mean(axis=0)
        ax.scatter(*mean, s=90, marker="+", linewidths=2.5, color=PALETTE[colour], zorder=2)


def swap() -> list[Panel]:
    """One chain of four vertices, exchanged."""
    numbers = chains(EDGES, COLOURS, 0, 1)
    chain = numbers == numbers[NAMES.index("p")]
    after = np.where(chain, 1 - COLOURS, COLOURS)
    panels = []
    for when, colours in (("Before", COLOURS), ("After", after)):
        figure, ax = new_figure(3.9, 3.2)
        draw_graph(ax, POINTS, EDGES, colours, chain)
        draw_means(ax, POINTS, colours)
        for name, point in zip(NAMES, POINTS, strict=True):
            ax.annotate(name, point, ha="center", va="center", color="white", zorder=4)
        ax.set_title(f"{when}: inertia {inertia(POINTS, colours):.1f}")
        panels.append(
            Panel(
                figure,
                f"{when} the exchange: a graph of three clusters, with a chain of four vertices "
                "of two clusters marked",
            )
        )
    return panels


def columns(n_each: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two clusters as two columns of vertices."""
    heights = np.tile(np.arange(n_each), 2).astype(float)
    colours = np.repeat([0, 1], n_each)
    return np.column_stack([2.2 * colours, -0.75 * heights]), colours


def tight() -> list[Panel]:
    """Few edges and many chains, beside more edges and one chain."""
    loose = np.array([(0, 6), (0, 7), (2, 8), (3, 9), (3, 10), (4, 9)])
    more = np.array([(1, 7), (1, 8), (2, 9), (4, 10), (5, 11), (5, 10)])
    panels = []
    for name, edges in (("Loose", loose), ("Tight", np.concatenate([loose, more]))):
        points, colours = columns(6)
        numbers = chains(edges, colours, 0, 1)
        count = len(np.unique(numbers))
        figure, ax = new_figure(3.4, 3.6)
        draw_graph(ax, points, edges, colours)
        for number, point in zip(numbers, points, strict=True):
            ax.annotate(
                str(number + 1),
                point,
                ha="center",
                va="center",
                color="white",
                fontsize=8,
                zorder=4,
            )
        ax.set_title(f"{name}: {count} chain{'s' if count > 1 else ''}")
        panels.append(
            Panel(figure, f"{name}: two clusters of six vertices whose edges leave {count} chains")
        )
    return panels


def blobs(n_rows: int, n_groups: int) -> tuple[NDArray[Any], Constraints]:
    """Points in groups that overlap, and pairs of which an expert has said something."""
    points, group = make_blobs(n_rows, centers=n_groups, cluster_std=0.9, random_state=4)
    pairs = np.random.default_rng(0).integers(n_rows, size=(n_rows // 3, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = group[pairs[:, 0]] == group[pairs[:, 1]]
    return points, Constraints(pairs[same], pairs[~same])


def relocation() -> list[Panel]:
    """Draw a single descent, and what relocations make of it."""
    points, constraints = blobs(400, 12)
    panels = []
    for name, mutations in (("One descent", 0), ("64 relocations later", 64)):
        model = KempeKMeans(12, max_mutations=mutations, random_state=3)
        model.fit(points, constraints=constraints)
        figure, ax = new_figure(3.9, 3.6)
        for cluster in range(12):
            members = points[model.labels_ == cluster]
            ax.scatter(*members.T, s=9, color=PALETTE[cluster % 5], marker="os^"[cluster // 5])
        for width, colour in ((5, "white"), (2, "black")):
            ax.scatter(*model.cluster_centers_.T, s=80, marker="x", linewidths=width, color=colour)
        ax.set_title(f"{name}: inertia {model.inertia_:.0f}")
        ax.set_aspect("equal")
        ax.axis("off")
        panels.append(Panel(figure, f"{name}: points in twelve groups, and the cluster centres"))
    return panels


def convergence() -> list[Panel]:
    """Best inertia so far, over the mutations, of the two searches."""
    points, constraints = blobs(800, 40)
    figure, ax = new_figure(6.4, 3.2)
    histories = {
        (name, seed): model(40, max_mutations=2000, random_state=seed)
        .fit(points, constraints=constraints)
        .result_.statistics
        for name, model in (("KempeKMeans", KempeKMeans), ("KSKM", KSKM))
        for seed in range(5)
    }
    lowest = min(min(history.best_inertia) for history in histories.values())
    for (name, seed), history in histories.items():
        ax.step(
            1 + np.array(history.iteration),
            100 * (np.array(history.best_inertia) / lowest - 1),
            where="post",
            color=BLUE if name == "KempeKMeans" else RED,
            label=name if seed == 0 else None,
            linewidth=1.2,
        )
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=0.1)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("clusterings looked at")
    ax.set_ylabel("% above the lowest")
    ax.grid()
    ax.legend()
    return [Panel(figure, "Five searches of each kind: the inertia falls and then stays")]
