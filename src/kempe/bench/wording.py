"""Words and numbers that pages, LaTeX tables and Markdown summaries share."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from kempe.words import counted

HEADINGS: dict[str, str] = {
    "inertia": "Inertia",
    "time": "CPU time",
    "success": "Success rate",
    "ari": "Adjusted Rand index",
}
"""Titles of the quantities."""


def outcome_in_words(n_runs: int, n_solved: int) -> str:
    """Say how many runs there are."""
    return f"{counted(n_runs, 'run')}, of which {n_solved:,} ended with a clustering."


def seeds_in_words(low: int, high: int) -> str:
    """Give the number of seeds, or the fewest and the most."""
    return f"{low}" if low == high else f"{low} to {high}"


def limits_in_words(limits: Sequence[float]) -> str:
    """Give the time limits of some runs."""
    return f"{', '.join(f'{limit:g}' for limit in limits)} s"


def in_sentence(quantity: str) -> str:
    """Title of a quantity inside a sentence."""
    heading = HEADINGS[quantity]
    return heading if heading.startswith("CPU") else heading[0].lower() + heading[1:]


def p_value(p: float) -> str:
    """P-value as text."""
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def machine_in_words(facts: Mapping[str, Any]) -> str:
    """Describe what runs were made with, as far as it is known."""
    processor, cores, python = (facts.get(name) for name in ("processor", "cores", "python"))
    packages = facts.get("packages")
    versions = packages.items() if isinstance(packages, Mapping) else ()
    told = ", ".join(f"{name} {version}" for name, version in versions)
    return f"{processor}, {cores} cores; Python {python}; {told}"


def markdown_cell(text: str) -> str:
    """Text that stays text in a cell of a Markdown table."""
    plain = escape(" ".join(text.split()), quote=False)
    # A line inside a word is no mark.
    return re.sub(r"[\\`*\[\]|~]|(?<!\w)_|_(?!\w)", r"\\\g<0>", plain)


def format_number(value: float | None, quantity: str, decimals: int = 2) -> str:
    """Print a number as the tables do."""
    if value is None or math.isnan(value):
        return "–"
    if quantity == "time" and 0 < abs(value) < 0.01:
        return f"{value:.2g}"
    if abs(value) >= 1e5:
        return f"{value:,.0f}"
    return f"{value:,.{decimals}f}"
