"""Pairs of rows from files, by row numbers or by ids."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kempe.pairs import MOST_ROWS
from kempe.tables.delimited import DelimitedTable
from kempe.tables.errors import TableError, Unsaid
from kempe.tables.formats import open_table, text
from kempe.tables.ids import Ids
from kempe.tables.source import Source
from kempe.tables.table import MemoryTable, Table, TextColumnsError, is_number

Pairs = NDArray[np.int64]
Kind = Literal["must-link", "cannot-link"]

NO_PAIRS = np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PairSet:
    """Pairs of all kinds, as one file of constraints may hold them.

    Attributes
    ----------
    must_link, cannot_link
        Pairs that hold.
    soft_must_link, soft_cannot_link
        Pairs that may be violated at a price.
    soft_must_link_confidence, soft_cannot_link_confidence
        Their confidence.
    """

    must_link: Pairs = field(default_factory=NO_PAIRS.copy)
    cannot_link: Pairs = field(default_factory=NO_PAIRS.copy)
    soft_must_link: Pairs = field(default_factory=NO_PAIRS.copy)
    soft_cannot_link: Pairs = field(default_factory=NO_PAIRS.copy)
    soft_must_link_confidence: Sequence[float] = ()
    soft_cannot_link_confidence: Sequence[float] = ()

    @property
    def n_soft(self) -> int:
        """Number of soft pairs."""
        return len(self.soft_must_link) + len(self.soft_cannot_link)

    @property
    def soft(self) -> dict[str, Any]:
        """The soft pairs that there are, as ``fit`` takes them."""
        given = {name: value for name, value in vars(self).items() if name.startswith("soft_")}
        return {name: value for name, value in given.items() if len(value)}


def read_pairs(
    path: Path, kind: Kind, *, ids: Ids | None = None, n_rows: int | None = None
) -> Pairs:
    """Read pairs, one a line, and check every one of them.

    Parameters
    ----------
    path
        The file; ``-`` for standard input.
    kind
        What the pairs are.
    ids
        Ids of the rows; without them, pairs are of row numbers counted from 0.
    n_rows
        Number of rows, if it is known.
    """
    table = _two_columns(path, ids)
    if not table.has_rows:
        raise TableError(
            f"{table.source} holds no pair: its only line, {_first_line(table)!r}, was taken for "
            "the names of columns",
            Unsaid.IDS if ids is None else None,
        )
    rows = _row_numbers(table) if ids is None else _rows_of_ids(table, ids)
    if ids is None and len(rows) > 1:
        _warn_of_numeric_names(table)
    _check(rows, kind, n_rows, table.place)
    return rows.astype(np.int64)


def _warn_of_numeric_names(table: Table) -> None:
    """Doubt a first line that data frames without names of columns write above pairs."""
    if isinstance(table, DelimitedTable) and table.first_line == "0,1":
        warnings.warn(
            f"{table.source}: the first line, 0,1, was taken for a pair; if it holds names of "
            "columns, take it out",
            stacklevel=3,
        )


def _two_columns(path: Path, ids: Ids | None) -> Table:
    try:
        table = open_table(path, _is_header if ids is None else _header_among(ids))
    except ValueError as error:
        if str(error).endswith("is empty"):
            raise ValueError(f"{error}: it holds no pair") from None
        raise
    if len(table.names) != 2:
        what = "row numbers" if ids is None else "ids"
        raise TableError(
            f"{table.source}: pairs of {what} need two columns, found {len(table.names)}",
            Unsaid.CONSTRAINTS if path.suffix == ".json" else None,
        )
    return table


def _is_header(first: list[str], second: list[str]) -> bool:
    """Whether the first line of pairs of row numbers holds names."""
    return not any(is_number(cell) for cell in first)


def _header_among(ids: Ids) -> Callable[[list[str], list[str]], bool]:
    """Tell names of columns from ids by the ids that there are."""
    return lambda first, second: not any(cell in ids for cell in first)


def _first_line(table: Table) -> str:
    return table.first_line if isinstance(table, DelimitedTable) else ",".join(table.names)


def _row_numbers(table: Table) -> NDArray[np.float64]:
    try:
        rows = table.numbers([0, 1])
    except TextColumnsError as error:
        row, cell = min(error.found.values())
        raise TableError(f"{table.place(row)}: {cell!r} is not a row number", Unsaid.IDS) from None
    broken = ~((rows == np.floor(rows)) & (rows >= 0) & (rows < MOST_ROWS))
    if broken.any():
        row = int(broken.any(axis=1).argmax())
        first, second = (_shown(number) for number in rows[row])
        raise ValueError(
            f"{table.place(row)}: ({first}, {second}) is not a pair of row numbers "
            "(whole numbers from 0)"
        )
    return rows


def _shown(number: float) -> str:
    return "nothing" if np.isnan(number) else f"{number:g}"


def _rows_of_ids(table: Table, ids: Ids) -> Pairs:
    columns = [[ids.row(name) for name in table.texts(column)] for column in (0, 1)]
    if any(None in column for column in columns):
        row = min(column.index(None) for column in columns if None in column)
        column = 0 if columns[0][row] is None else 1
        name = table.texts(column)[row]
        raise ValueError(
            f"{table.place(row)}: no row of {ids.source} has the id {name!r} in column "
            f"{ids.column!r}"
        )
    return np.array(columns, dtype=np.int64).T


def _check(rows: NDArray[Any], kind: Kind, n_rows: int | None, place: Callable[[int], str]) -> None:
    """Complain of the first pair that cannot be, by its place."""
    if n_rows is not None and rows.size and rows.max() >= n_rows:
        wrong = int((rows >= n_rows).any(axis=1).argmax())
        raise ValueError(
            f"{place(wrong)}: row {rows[wrong].max():.0f} is out of range for {n_rows:,} rows, "
            "which are counted from 0"
        )
    same = rows[:, 0] == rows[:, 1]
    if kind == "cannot-link" and same.any():
        raise ValueError(f"{place(int(same.argmax()))}: a row cannot be apart from itself")


# Files of constraints as the program PCCC reads them: pairs of row numbers and confidences.
_PAIRS: Mapping[str, tuple[str, Kind]] = {
    "ml": ("must_link", "must-link"),
    "cl": ("cannot_link", "cannot-link"),
    "sml": ("soft_must_link", "must-link"),
    "scl": ("soft_cannot_link", "cannot-link"),
}
_CONFIDENCES = {
    "sml_proba": ("sml", "soft_must_link_confidence"),
    "scl_proba": ("scl", "soft_cannot_link_confidence"),
}


def read_constraint_file(
    path: Path, *, ids: Ids | None = None, n_rows: int | None = None
) -> PairSet:
    """Read a file of JSON with pairs of all kinds, as the program PCCC has them.

    Parameters
    ----------
    path
        The file, with ``ml`` and ``cl``, and with ``sml`` and ``scl`` for soft pairs, whose
        confidences are ``sml_proba`` and ``scl_proba``.
    ids
        Ids of the rows; without them, pairs are of row numbers counted from 0.
    n_rows
        Number of rows, if it is known.
    """
    source = Source(path)
    content = _json(source)
    unknown = set(content) - set(_PAIRS) - set(_CONFIDENCES)
    if unknown or not set(content) & set(_PAIRS):
        what = f"unknown: {', '.join(sorted(unknown))}" if unknown else "there is none of them"
        raise ValueError(f"{source.name} should hold {', '.join(_PAIRS)}; {what}")
    found: dict[str, Any] = {
        name: _json_pairs(source, key, kind, content.get(key) or [], ids, n_rows)
        for key, (name, kind) in _PAIRS.items()
    }
    for key, (pairs, name) in _CONFIDENCES.items():
        found[name] = _confidences(
            source, key, content.get(key) or [], len(content.get(pairs) or [])
        )
    if not any(len(found[name]) for name, _ in _PAIRS.values()):
        raise ValueError(f"{source.name} holds no pair")
    return PairSet(**found)


def _json(source: Source) -> dict[str, Any]:
    try:
        with source.text() as file:
            content = json.load(file)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{source.name} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{source.name} should hold an object with {', '.join(_PAIRS)}")
    return content


def _json_pairs(
    source: Source, key: str, kind: Kind, pairs: Any, ids: Ids | None, n_rows: int | None
) -> Pairs:
    if not isinstance(pairs, list) or not all(_is_pair(pair) for pair in pairs):
        raise ValueError(f"{source.name}: {key!r} is not a list of pairs")
    if not pairs:
        return NO_PAIRS.copy()
    columns = [[text(pair[side]) for pair in pairs] for side in (0, 1)]
    table = MemoryTable(f"{source.name}, {key!r}", ["first", "second"], columns, first=("pair", 1))
    rows = _row_numbers(table) if ids is None else _rows_of_ids(table, ids)
    _check(rows, kind, n_rows, table.place)
    return rows.astype(np.int64)


def _is_pair(pair: object) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and all(isinstance(end, int | float | str) for end in pair)
    )


def _confidences(source: Source, key: str, values: Any, count: int) -> list[float]:
    numbers = isinstance(values, list) and all(isinstance(v, int | float) for v in values)
    if not numbers or len(values) not in (0, count):
        raise ValueError(f"{source.name}: {key!r} is not a list of {count} confidences")
    return [float(value) for value in values] or [1.0] * count
