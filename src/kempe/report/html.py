"""Building blocks that all pages share: style, tables, escaped text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

HERE = "kempe.report"


def style() -> str:
    """Give the style of all pages: light and dark, from phone to wide screen."""
    return part("style.css")


def part(name: str) -> str:
    """Give a file of this room."""
    return resources.files(HERE).joinpath(name).read_text(encoding="utf-8")


def facts(items: Mapping[str, str], kind: str = "") -> str:
    """List of names and values; of the kind "short" it stays in two columns on a phone."""
    pairs = (f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in items.items())
    return f'<dl class="{kind}">{"".join(pairs)}</dl>'


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    foot: Sequence[str] = (),
    kind: str = "",
) -> str:
    """Table that scrolls sideways where it is too wide; the cells are HTML, the head is text."""
    columns = "".join(f"<th scope=col>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    last = f"<tfoot><tr>{''.join(foot)}</tr></tfoot>" if foot else ""
    return (
        f'<div class=scroll><table class="{kind}"><thead><tr>{columns}</tr></thead>'
        f"<tbody>{body}</tbody>{last}</table></div>"
    )


def number(value: float, digits: int = 4) -> str:
    """Give a number with so many digits, with commas if it is large."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:,.{digits}g}"


def embedded(value: Any) -> str:
    """Give a value as JSON that may stand inside a script element."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
