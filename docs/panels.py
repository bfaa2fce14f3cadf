"""Panels of pictures as SVG within a page: their ink is the colour of its text, light or dark."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

DOCS = Path(__file__).parent

INK = "#010203"
"""What is drawn in this colour is shown in that of the text."""

# Paul Tol's "bright" scheme: each is seen on white and on black, also by the colour-blind.
BLUE, RED, GREEN, YELLOW, CYAN, PURPLE = (
    "#4477AA",
    "#EE6677",
    "#228833",
    "#CCBB44",
    "#66CCEE",
    "#AA3377",
)
STYLE = {
    "svg.fonttype": "none",  # text stays text: it can be searched and is drawn in the page's size
    "svg.hashsalt": "kempe",  # the same picture has the same names inside
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "grid.color": INK,
    "grid.alpha": 0.15,
}
IDS = re.compile(r'(id="|href="#|url\(#)')


@dataclass(frozen=True)
class Panel:
    """A figure, and what it shows in words, for those who do not see it."""

    figure: Figure
    description: str


def new_figure(width: float = 4.2, height: float = 3.2) -> tuple[Figure, Any]:
    """Give a figure with one panel of axes; sizes are in inches, a hundred pixels each."""
    figure = Figure(figsize=(width, height), layout="constrained", dpi=100)
    return figure, figure.subplots()


def as_svg(panel: Panel, name: str) -> str:
    """Give a panel as part of a page; names inside it begin with ``name``."""
    text = io.StringIO()
    panel.figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    drawing = text.getvalue().partition("<svg")[2]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    drawing = IDS.sub(rf"\g<1>{name}-", drawing.replace(INK.lower(), "currentColor"))
    width = panel.figure.get_figwidth() * 100
    return (
        f'<svg role="img" aria-label="{escape(panel.description)}" style="width:{width:.0f}px"'
        + (re.sub(r'\s(width|height)="[\d.]+pt"', "", drawing, count=2))
    )


def drawn(draw: Callable[[], list[Panel]]) -> list[str]:
    """Draw panels in the style of the pages."""
    name = f"{draw.__module__}-{draw.__name__}".replace("_", "-")
    with matplotlib.rc_context(STYLE):
        return [as_svg(panel, f"{name}-{number}") for number, panel in enumerate(draw())]
