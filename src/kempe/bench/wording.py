"""Words that the page, the LaTeX tables and the Markdown summary share."""

from __future__ import annotations

from collections.abc import Sequence

from kempe.bench.summary import BASELINE
from kempe.bench.tables import PaperTable, total_agreement

HEADINGS: dict[str, str] = {
    "inertia": "Inertia",
    "time": "CPU time",
    "success": "Success rate",
    "ari": "Adjusted Rand index",
}
"""Titles of the quantities."""


def verdict(tables: Sequence[PaperTable]) -> str:
    """Say in one sentence how much of the paper is there and agrees."""
    total = total_agreement(tables)
    return (
        f"Of {total.published:,} cells of the paper, {total.compared:,} have runs on all their "
        "data sets. "
        f"{total.size:,} of these agree in size ({_percent(total.size, total.compared)}); "
        f"{total.direction:,} of the {total.directed:,} that say better or worse than {BASELINE} "
        f"agree in direction ({_percent(total.direction, total.directed)}). "
        f"{total.partial:,} cells have runs on some of their data sets only, "
        f"{total.missing:,} none."
    )


def in_sentence(quantity: str) -> str:
    """Title of a quantity inside a sentence."""
    heading = HEADINGS[quantity]
    return heading if heading.startswith("CPU") else heading[0].lower() + heading[1:]


def p_value(p: float) -> str:
    """P-value as text, for HTML and Markdown."""
    return "&lt; 0.0001" if p < 1e-4 else f"{p:.4f}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"
