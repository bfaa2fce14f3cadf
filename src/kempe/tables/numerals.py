"""Numbers as people write them: with decimal commas or points, and true and false.

A column is read as a whole, because a single ``1,500`` may be one and a half or fifteen hundred.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kempe.tables.missing import is_missing

Numbers = NDArray[np.float64]
DecimalMark = Literal[",", "."]

_BLANKS = " '\u00a0\u202f"
# A number with a comma for the point; thousands may be parted by points, blanks or apostrophes.
_COMMA = re.compile(rf"[+-]?(\d+|\d{{1,3}}([.{_BLANKS}]\d{{3}})+)(,\d+)?([eE][+-]?\d+)?")
# A number whose thousands are parted by commas.
_THOUSANDS = re.compile(rf"[+-]?(\d+|\d{{1,3}}([,{_BLANKS}]\d{{3}})+)(\.\d+)?([eE][+-]?\d+)?")
# What may be either: three digits after the only mark, and no more than three before.
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_TRUTH = {"true": 1.0, "false": 0.0}


def parsed(cells: Sequence[str]) -> Numbers:
    """Read plain numbers: NaN where there is no value, infinity where there is something else."""
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        return np.array([_parsed(cell) for cell in cells])


def _parsed(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan if is_missing(cell) else math.inf


def booleans(cells: Sequence[str]) -> Numbers | None:
    """Read a column of true and false as 1 and 0, if it is one."""
    values = [math.nan if is_missing(cell) else _TRUTH.get(cell.lower(), 2.0) for cell in cells]
    return None if 2.0 in values or all(map(math.isnan, values)) else np.array(values)


def with_mark(cells: Sequence[str], mark: DecimalMark) -> Numbers | None:
    """Read a column of numbers with this decimal mark, if every cell is one."""
    pattern, other = (_COMMA, ".") if mark == "," else (_THOUSANDS, ",")
    values = []
    for cell in cells:
        if is_missing(cell):
            values.append(math.nan)
        elif pattern.fullmatch(cell):
            digits = cell.translate({ord(sign): None for sign in _BLANKS + other})
            values.append(float(digits.replace(",", ".")))
        else:
            return None
    return np.array(values)


def certainly_commas(cells: Sequence[str]) -> bool:
    """Whether commas in a column can be nothing but decimal marks."""
    written = [cell for cell in cells if not is_missing(cell)]
    with_comma = [cell for cell in written if "," in cell]
    return (
        all(map(_COMMA.fullmatch, written))
        and any(not _EITHER.fullmatch(cell) for cell in with_comma)
    )  # fmt: skip


def may_be_thousands(cells: Sequence[str]) -> int | None:
    """Give the first row of a column whose points may part thousands, as 1.500 does."""
    pointed = [row for row, cell in enumerate(cells) if "." in cell]
    if pointed and all(_EITHER.fullmatch(cells[row]) for row in pointed):
        return pointed[0]
    return None


def is_ambiguous(cell: str) -> bool:
    """Whether a number means one thing where commas are decimal marks and another where not."""
    return _EITHER.fullmatch(cell) is not None
