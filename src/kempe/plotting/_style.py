"""Colours and markers that a colour-blind reader can tell apart, and the late import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Paul Tol's "muted" scheme, in an order that keeps neighbours apart, and orange.
COLOURS = (
    "#332288",
    "#DDCC77",
    "#117733",
    "#CC6677",
    "#88CCEE",
    "#882255",
    "#44AA99",
    "#999933",
    "#AA4499",
    "#EE7733",
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK = "#333333"
BROKEN = "#D00000"
# Soft pairs may be broken, which is no fault of the labels.
GIVEN_UP = "#C65102"
# Strokes and gaps by kind, so that kinds differ without colour, too.
DASHES: dict[str, Any] = {
    "must-link": "solid",
    "cannot-link": (0, (4, 3)),
    "soft must-link": (0, (7, 2, 1.5, 2)),
    "soft cannot-link": (0, (1.5, 2)),
}


def colour(cluster: int) -> str:
    """Colour of a cluster; they repeat with another marker."""
    return COLOURS[cluster % len(COLOURS)]


def marker(cluster: int) -> str:
    """Marker of a cluster."""
    return MARKERS[(cluster // len(COLOURS)) % len(MARKERS)]


def pyplot() -> Any:
    """Import ``matplotlib.pyplot``, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'plotting needs matplotlib; install it with: pip install "kempe[plot]"'
        ) from error
    return plt


def axes(ax: Axes | None) -> Axes:
    """Give the axes to draw on, new ones if none are given."""
    plt = pyplot()
    return plt.subplots(figsize=(6.4, 4.8), layout="constrained")[1] if ax is None else ax


def without_ticks(ax: Axes) -> None:
    """Drop the scales, which mean nothing in a projection."""
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ("top", "right", "bottom", "left"):
        ax.spines[side].set_color("#BBBBBB")
