"""Formulae as MathML, which browsers draw themselves: no script, no fonts, no network."""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def inline(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula within a line."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def displayed(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula on a line of its own, which scrolls where the screen is narrow."""
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="displayed-formula">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer to ``html_math_renderer``."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
