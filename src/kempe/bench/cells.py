"""Cells of a store: values as text and back, whatever the file holds."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

MOST_LETTERS = 2000
"""Longer texts are cut when they are written: a method may fail with a page of words."""

LONGEST_LINE = 2**20
"""Letters of a line of a store; longer ones are none of ours."""


def to_cell(value: Any) -> str:
    """Text as it is but on one line and not too long, nothing for ``None``, the rest as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        text = " ".join(value.splitlines())
        return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 2]} …"
    return json.dumps(value, allow_nan=False)


def from_cell(cell: str, kind: str) -> Any:
    """Value of a cell.

    Parameters
    ----------
    kind
        The annotation of its field.

    Raises
    ------
    ValueError
        If the cell holds something else.
    """
    if kind == "str":
        return cell
    value = read_json(cell) if cell else None
    if value is None and kind.endswith("| None"):
        return None
    if not _KINDS[kind.removesuffix(" | None")](value):
        raise ValueError(f"{cell[:40]!r} is no {_NAMES.get(kind.split()[0], kind)}")
    return value


def read_json(text: str) -> Any:
    """Read JSON without numbers that are none."""
    try:
        return json.loads(text, parse_constant=_refused)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def _is_float(value: Any) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


def _is_history(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(point, list) and len(point) == 2 and all(map(_is_float, point))
        for point in value
    )


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "int": _is_int,
    "float": _is_float,
    "bool": lambda value: isinstance(value, bool),
    "dict[str, Any]": lambda value: isinstance(value, dict),
    "list[tuple[float, float]]": _is_history,
}

_NAMES = {"int": "whole number", "float": "number", "bool": "truth value", "dict[str,": "object"}
