"""Building blocks that all pages share: style, tables, escaped text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from string import Formatter
from typing import Any

HERE = "kempe.report"


class Html(str):
    """Text that is HTML already; all other text is escaped where it is put into a page."""

    __slots__ = ()


class _Filler(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Html):
            return value
        return escape(format(value, format_spec))


_FILLER = _Filler()


def html(template: str, /, *parts: object, **named: object) -> Html:
    """Fill the places of a template, as ``str.format`` does, and escape what is put there.

    Pages are made in this way only: whatever a name holds, it stays text.

    Parameters
    ----------
    template
        HTML that is written in the program, never one that was put together.
    *parts, **named
        What to put there. What is ``Html`` already is left as it is.

    Examples
    --------
    >>> html("<b>{name}</b>{rest}", name="<i>", rest=Html("<hr>"))
    '<b>&lt;i&gt;</b><hr>'
    """
    return Html(_FILLER.vformat(template, parts, named))


def join(parts: Iterable[str], between: str = "") -> Html:
    """Put pieces of a page one behind the other; those that are no HTML are escaped.

    Examples
    --------
    >>> join([Html("<hr>"), "<b>"])
    '<hr>&lt;b&gt;'
    """
    return Html(between.join(p if isinstance(p, Html) else escape(p) for p in parts))


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


def short(text: str) -> str:
    """Give text that is cut where it is too long for its cell."""
    return f'<span class=cut title="{escape(text)}">{escape(text)}</span>'


def number(value: float, digits: int = 4) -> str:
    """Give a number with so many digits, with commas if it is large."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:,.{digits}g}"


def embedded(value: Any) -> str:
    """Give a value as JSON that may stand inside a script element."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
