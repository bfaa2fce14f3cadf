"""Clusters in the plane, with the pairs that bind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe.constraints import Constraints
from kempe.plotting._plane import Plane
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

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_clusters(
    X: ArrayLike,
    labels: ArrayLike,
    constraints: Constraints | None = None,
    centers: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    max_pairs: int = 150,
    random_state: int | None = 0,
) -> Axes:
    """Draw a clustering in the plane.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features). More than two features are projected onto their first
        two principal components.
    labels
        Cluster of each row.
    constraints
        If given, pairs are drawn as lines: solid for must-link, dashed for cannot-link, red if the
        labels violate them. Soft pairs are dash-dotted and dotted, orange if they are broken.
    centers
        Cluster centres, of shape (n_clusters, n_features), drawn as crosses.
    ax
        Where to draw; a new figure by default.
    max_pairs
        Draw at most this many satisfied pairs of each kind, and as many violated ones, chosen at
        random: all of them would hide the data.
    random_state
        Seed of that choice.

    Returns
    -------
    Axes
        What was drawn on.
    """
    ax = axes(ax)
    data, found = np.asarray(X, dtype=np.float64), np.asarray(labels)
    _check(data, found)
    plane = Plane.of(data)
    points = plane.place(data)
    _draw_points(ax, points, found)
    if constraints is not None:
        rng = np.random.default_rng(random_state)
        _draw_pairs(ax, points, found, constraints, max_pairs, rng)
        ax.legend(loc="best", fontsize="small", framealpha=0.9)
    if centers is not None:
        _draw_centres(ax, plane.place(np.asarray(centers, dtype=np.float64)))
    without_ticks(ax)
    return ax


def _check(data: NDArray[np.float64], labels: NDArray[Any]) -> None:
    if data.ndim != 2:
        raise ValueError(f"X must have two dimensions, got shape {data.shape}")
    if labels.shape != (data.shape[0],):
        raise ValueError(f"labels must have shape ({data.shape[0]},), got {labels.shape}")


def _draw_points(ax: Axes, points: NDArray[np.float64], labels: NDArray[Any]) -> None:
    size = float(np.clip(16000 / max(1, len(points)), 3, 40))
    for position, cluster in enumerate(np.unique(labels)):
        members = points[labels == cluster]
        ax.scatter(
            members[:, 0],
            members[:, 1],
            s=size,
            c=colour(position),
            marker=marker(position),
            linewidths=0,
            alpha=0.85,
            zorder=2,
        )


def _draw_centres(ax: Axes, centres: NDArray[np.float64]) -> None:
    for line_width, shade in ((4.0, "white"), (2.0, INK)):
        ax.scatter(
            centres[:, 0], centres[:, 1], s=70, c=shade, marker="x", linewidths=line_width, zorder=5
        )


def _draw_pairs(
    ax: Axes,
    points: NDArray[np.float64],
    labels: NDArray[Any],
    constraints: Constraints,
    most: int,
    rng: np.random.Generator,
) -> None:
    constraints.check_rows(len(points))
    kinds = {
        "must-link": (constraints.must_link, True, BROKEN),
        "cannot-link": (constraints.cannot_link, False, BROKEN),
        "soft must-link": (constraints.soft.must_link, True, GIVEN_UP),
        "soft cannot-link": (constraints.soft.cannot_link, False, GIVEN_UP),
    }
    for kind, (pairs, equal, shade) in kinds.items():
        holds = (labels[pairs[:, 0]] == labels[pairs[:, 1]]) == equal
        word = "broken" if kind.startswith("soft") else "violated"
        for group, broken in ((pairs[holds], None), (pairs[~holds], shade)):
            if len(group):
                chosen = rng.permutation(group)[:most]
                name = kind if broken is None else f"{kind}, {word} ({len(group):,})"
                _draw_lines(ax, points[chosen], DASHES[kind], broken, name)


def _draw_lines(
    ax: Axes, segments: NDArray[np.float64], dashes: Any, broken: str | None, name: str
) -> None:
    """Draw pairs as lines, in ink where no colour says that they are broken."""
    from matplotlib.collections import LineCollection

    lines = LineCollection(
        list(segments),
        colors=broken or INK,
        linestyles=[dashes],
        linewidths=1.2 if broken else 0.6,
        alpha=0.8 if broken else 0.35,
        zorder=4 if broken else 3,
        label=name,
    )
    ax.add_collection(lines)
