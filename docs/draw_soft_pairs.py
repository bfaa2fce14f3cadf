"""The picture of hard and soft pairs: the same rows and the same pairs, one of which is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from draw_how_it_works import PALETTE
from matplotlib.collections import LineCollection
from numpy.typing import NDArray
from panels import INK, Panel, new_figure

from kempe import KempeKMeans

# Rows of each of two groups, and how many of them each expert has put together.
ROWS, TOGETHER = 14, 6


def rows_and_pairs() -> tuple[NDArray[Any], NDArray[Any]]:
    """Two groups of rows, a chain of right pairs in each, and a wrong pair between them."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(2 * ROWS, 2)) * 0.75
    rows[ROWS:, 0] += 4.5
    chains = [(start + i, start + i + 1) for start in (0, ROWS) for i in range(TOGETHER - 1)]
    return rows, np.array([*chains, (2, ROWS + 3)])


def fitted(how: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows, pairs and labels where pairs are ``"hard"`` or ``"soft"``."""
    rows, pairs = rows_and_pairs()
    model = KempeKMeans(2, random_state=0)
    if how == "hard":
        model.fit(rows, must_link=pairs)
    else:
        model.fit(rows, soft_must_link=pairs)
    # The cluster of the first row is the first, so that both panels have the same colours.
    return rows, pairs, (model.labels_ != model.labels_[0]).astype(int)


def hard_and_soft() -> list[Panel]:
    """Show what one wrong pair does to a clustering that must obey it, and to another."""
    panels = []
    for how in ("hard", "soft"):
        rows, pairs, labels = fitted(how)
        broken = labels[pairs[:, 0]] != labels[pairs[:, 1]]
        figure, ax = new_figure(3.9, 2.6)
        _draw_pairs(ax, rows[pairs[~broken]], "solid", 1.0)
        _draw_pairs(ax, rows[pairs[broken]], (0, (5, 2, 1, 2)), 2.0)
        for cluster, marker in enumerate("os"):
            members = rows[labels == cluster]
            ax.scatter(*members.T, s=45, marker=marker, color=PALETTE[cluster], zorder=3)
        ax.set_aspect("equal")
        ax.axis("off")
        told = f"{how}: {broken.sum()} of {len(pairs)} pairs broken"
        ax.set_title(told.capitalize())
        panels.append(Panel(figure, f"Two groups of points in two clusters, pairs {told}"))
    return panels


def _draw_pairs(ax: Any, segments: NDArray[Any], style: Any, width: float) -> None:
    lines = LineCollection(list(segments), colors=INK, linestyles=[style], linewidths=width)
    ax.add_collection(lines)
