"""What notebooks show of results: small cards of HTML in the colours of whoever shows them.

Nothing here has a style sheet: it would change the notebook, and not know whether that is dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_FAINT = "color-mix(in srgb, currentColor 28%, transparent)"
_BOX = (
    f"display:inline-block;max-width:100%;overflow-x:auto;border:1px solid {_FAINT};"
    "border-radius:8px;padding:.6em 1em;font-size:.93em;line-height:1.5"
)
_CELL = "text-align:{};padding:.15em .8em .15em 0;border:0;background:none;color:inherit"


def card(title: str, *parts: str) -> str:
    """Put parts of HTML below a title."""
    return f'<div style="{_BOX}"><b>{escape(title)}</b>{"".join(parts)}</div>'


def facts_of(summary: str) -> dict[str, str]:
    """Read a summary in lines, a name and a value parted by blanks."""
    pairs = (line.split("  ", 1) for line in summary.splitlines() if line.strip())
    return {name: rest[0].strip() if rest else "" for name, *rest in pairs}


def facts(items: Mapping[str, str]) -> str:
    """List names and values."""
    rows = "".join(
        f'<tr style="background:none"><td style="{_CELL.format("left")};opacity:.7">{escape(name)}'
        f'</td><td style="{_CELL.format("left")}">{escape(value)}</td></tr>'
        for name, value in items.items()
    )
    return f'<table style="border:0;margin:.3em 0 0;border-collapse:collapse">{rows}</table>'


def table(lines: Sequence[Sequence[str]], marked: int | None = None) -> str:
    """Make a table of text; the first line is its head, one of the others may be marked."""
    head, *rows = lines
    columns = "".join(
        f'<th style="{_CELL.format("left" if i == 0 else "right")};opacity:.7">{escape(name)}</th>'
        for i, name in enumerate(head)
    )
    body = "".join(
        f'<tr style="background:none{";font-weight:700" * (number == marked)}">'
        + "".join(
            f'<td style="{_CELL.format("left" if i == 0 else "right")}">{escape(cell)}</td>'
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for number, row in enumerate(rows)
    )
    return (
        '<table style="border:0;margin:.4em 0 0;border-collapse:collapse">'
        f'<thead><tr style="background:none">{columns}</tr></thead><tbody>{body}</tbody></table>'
    )


def note(text: str) -> str:
    """Add a line of words."""
    return f'<div style="opacity:.8;max-width:46em">{escape(text)}</div>'


def curve(x: Sequence[float], y: Sequence[float], label: str) -> str:
    """Draw a small falling curve, step by step; nothing if there is nothing to draw."""
    if len(x) < 2 or not max(x) > min(x) or not max(y) > min(y):
        return ""
    width, height = 260, 46
    across = [round(width * (v - x[0]) / (max(x) - x[0]), 1) for v in x]
    down = [round(height * (max(y) - v) / (max(y) - min(y)), 1) for v in y]
    path = f"M{across[0]},{down[0]}" + "".join(
        f"H{a}V{d}" for a, d in zip(across[1:], down[1:], strict=True)
    )
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="-2 -2 {width + 4} {height + 4}" '
        f'style="display:block;width:{width}px;max-width:100%;margin-top:.4em">'
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Make a data frame of pandas.

    Raises
    ------
    ImportError
        If pandas is not installed.
    """
    try:
        from pandas import DataFrame
    except ImportError:
        raise ImportError("data frames need pandas: pip install pandas") from None
    return DataFrame(list(rows))
