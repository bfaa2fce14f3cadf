"""The directive ``picture``: drawn while pages are built, so never older than its source.

``{picture} how_it_works.swap`` calls the function ``swap`` of ``docs/draw_how_it_works.py``, which
gives panels. They stand side by side where there is room and below each other on a phone.
"""

from __future__ import annotations

import importlib
import inspect

from docutils import nodes
from panels import drawn
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Picture(SphinxDirective):
    """Panels with a caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Draw the panels."""
        module_name, _, function = self.arguments[0].partition(".")
        module = importlib.import_module(f"draw_{module_name}")
        for source in (inspect.getfile(module), *getattr(module, "SOURCES", ())):
            self.env.note_dependency(source)
        panels = "".join(drawn(getattr(module, function)))
        caption = nodes.container(classes=["picture-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        picture = nodes.container(classes=["picture"])
        picture += nodes.raw("", f'<div class="panels">{panels}</div>', format="html")
        picture += caption
        return [picture]


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
