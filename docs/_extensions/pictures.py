"""The directive ``picture``: drawn while pages are built, so never older than its source.

``{picture} how_it_works.swap`` calls the function ``swap`` of ``docs/draw_how_it_works.py``, which
gives panels. They stand side by side where there is room and below each other on a phone, and they
are part of the page, so that their ink is the colour of its text, on light ground and on dark.
"""

from __future__ import annotations

import importlib
import inspect
import io
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
from docutils import nodes
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

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


class Picture(SphinxDirective):
    """Panels with a caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Draw the panels."""
        module_name, _, function = self.arguments[0].partition(".")
        module = importlib.import_module(f"draw_{module_name}")
        self.env.note_dependency(inspect.getfile(module))
        for source in getattr(module, "SOURCES", ()):
            self.env.note_dependency(source)
        with matplotlib.rc_context(STYLE):
            panels = getattr(module, function)()
            drawn = [
                as_svg(panel, f"{module_name}-{function}-{number}".replace("_", "-"))
                for number, panel in enumerate(panels)
            ]
        figure = nodes.container(classes=["picture"])
        figure += nodes.raw("", f'<div class="panels">{"".join(drawn)}</div>', format="html")
        caption = nodes.container(classes=["picture-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        figure += caption
        return [figure]


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


DOCS = Path(__file__).parents[1]
