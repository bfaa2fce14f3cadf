"""How the figures of a report look: colours of methods, and SVG that follows its page."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kempe.bench.summary import sort_methods
from kempe.report.html import Html

# Text, axes and grid are drawn in these and replaced by the page's own colours.
INK = "#010203"
_FAINT = "#040506"

# Distinguishable with common colour deficiencies, on white and on black.
COLOURS = {
    "kempe": "#d1495b",
    "KSKM": "#2e86c1",
    "KSKM_repo": "#7fb3d5",
    "KSKM_E": "#8e6bbf",
    "KSKM_E_repo": "#b9a3da",
    "PCCC": "#2a9d6f",
    "PCKMeans": "#7a9a3c",
    "BLPKMCC": "#c98a1b",
    "COPKM_P": "#5f7f8c",
    "COPKM": "#a17c5b",
    "ICOPKM": "#9aa52b",
    "CLCKM": "#c76fa5",
    "S_MDEClust": "#3fb8b0",
}
Box = tuple[float, float, float, float]
"""Left, lower, right and upper end of a rectangle."""

_OTHERS = ("#e07a5f", "#6c8ebf", "#81b29a", "#b5838d")

# From a name to a point that is not next to it.
_LEADER = {"arrowstyle": "-", "color": INK, "lw": 0.5, "shrinkA": 1, "shrinkB": 4}

# Lines that lie on each other stay visible by their dashes.
_DASHES = ("-", "--", "-.", ":")


def colour(method: str) -> str:
    """Give the colour of a method, the same in all figures."""
    return COLOURS.get(method) or _OTHERS[sum(map(ord, method)) % len(_OTHERS)]


def plain(text: str) -> str:
    """Text that matplotlib draws as it is: no formula, nothing that cannot be printed."""
    printable = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return printable.replace("$", r"\$")


def decades(axis: Any, name: str, low: float, high: float) -> None:
    """Scale the x or y axis logarithmically over whole decades, so that labels have room."""
    from matplotlib.ticker import NullFormatter

    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    bounds = (10.0**first, 10.0 ** max(last, first + 1))
    axis.set(**{f"{name}scale": "log", f"{name}lim": bounds})
    getattr(axis, f"{name}axis").set_minor_formatter(NullFormatter())


def label_points(axis: Any, texts: Mapping[tuple[float, float], str], size: float = 7.5) -> None:
    """Write a text beside each point, where it covers no other text and no point if possible.

    A text that is not next to its point is joined to it by a line.
    """
    axis.figure.draw_without_rendering()  # only then are pixels known
    unit = axis.figure.dpi / 72
    places = {point: axis.transData.transform(point) / unit for point in texts}
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places.values()]
    (left, bottom), (right, top) = axis.transAxes.transform([(0, 0), (1, 1)]) / unit
    # From the top down, so that lines do not cross.
    for point in sorted(texts, key=lambda point: -places[point][1]):
        text, (x, y) = texts[point], places[point]
        width = 0.68 * size * len(text)  # names are mostly capitals
        boxes = [
            (start, y + rise, start + width, y + rise + size)
            for rise in (-3, 5, -11, -20, -29, -38, 14, 23)
            for start in (x + 7, x - 7 - width)
        ]
        inside = [
            box
            for box in boxes
            if left < box[0] and box[2] < right and bottom < box[1] and box[3] < top
        ] or boxes
        free = [box for box in inside if not any(_overlap(box, other) for other in taken)]
        box = (free or inside)[0]
        taken.append(box)
        far = not box[1] - 2 * size < y < box[3] + size
        axis.annotate(
            plain(text),
            point,
            xytext=(box[0] - x, box[1] - y),
            textcoords="offset points",
            fontsize=size,
            arrowprops=_LEADER if far else None,
        )


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def lines(methods: Iterable[str]) -> list[tuple[str, dict[str, Any]]]:
    """Give the methods in their order, each with the look of its line."""
    known = list(COLOURS)
    return [
        (
            name,
            {
                "color": colour(name),
                "linestyle": _DASHES[known.index(name) % len(_DASHES)] if name in known else "-",
                "linewidth": 2.2 if name == "kempe" else 1.5,
                "zorder": 5 if name == "kempe" else 3,
            },
        )
        for name in sort_methods(methods)
    ]


def svg(
    name: str,
    draw: Callable[[Sequence[Any]], None],
    *,
    columns: int,
    panels: int = 0,
    height: float = 3.1,
) -> Html:
    """Draw into a row or grid of axes and give the SVG element.

    Parameters
    ----------
    name
        Put before all names inside the element, which are then its own on the page.
    draw
        Gets the axes.
    columns, panels
        Axes in a row, and in all; by default one row.
    height
        Of a row, in inches.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    count = panels or columns
    rows = -(-count // columns)
    with rc_context(_STYLE):
        width = 9.6 if columns > 1 else 6.6
        figure = Figure(figsize=(width, height * rows + 0.2), layout="constrained")
        grid = np.ravel(figure.subplots(rows, columns, squeeze=False))
        for axis in grid:
            axis.grid(True, color=_FAINT, linewidth=0.6)
            axis.set_axisbelow(True)
        for axis in grid[count:]:
            axis.set_visible(False)
        draw(list(grid[:count]))
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return Html(_follow_page(buffer.getvalue(), name))


_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kempe",
    "font.family": "sans-serif",
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "legend.fontsize": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def _follow_page(svg: str, name: str) -> str:
    """Keep the SVG element only, with names of its own and ink and size of the page."""
    element = svg[svg.index("<svg") :]
    width = re.search(r' width="([\d.]+)pt"', element)
    limit = f' style="max-width: {1.52 * float(width[1]):.0f}px"' if width else ""
    element = re.sub(r' (?:width|height)="[\d.]+pt"', "", element, count=2)
    element = element.replace("<svg", f"<svg{limit}", 1)
    element = re.sub(r"font: ([^;]*?)'[^;]*sans-serif[^;]*", r"font: \1sans-serif", element)
    element = re.sub(r'( id="|url\(#|href="#)', rf"\1{name}-", element)
    element = element.replace(_FAINT, "var(--grid, #8884)")
    return element.replace(INK, "currentColor")
