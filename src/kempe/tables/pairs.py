"""Pairs of rows from tables in files, by row numbers or by ids."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kempe.pairs import MOST_ROWS
from kempe.soft_pairs import SoftLinks
from kempe.tables.delimited import DelimitedTable
from kempe.tables.errors import TableError, Unsaid
from kempe.tables.formats import open_table
from kempe.tables.ids import Ids
from kempe.tables.missing import is_missing
from kempe.tables.source import Source
from kempe.tables.table import Table, TextColumnsError, is_number

Pairs = NDArray[np.int64]
Kind = Literal["must-link", "cannot-link"]

NO_PAIRS = np.empty((0, 2), dtype=np.int64)

# What a third column says of a pair, in small letters and with hyphens.
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("must-link", "mustlink", "must", "ml", "together", "same"), "must-link"),
    **dict.fromkeys(("1", "+1", "1.0"), "must-link"),
    **dict.fromkeys(("cannot-link", "cannotlink", "cannot", "cl"), "cannot-link"),
    **dict.fromkeys(("apart", "different", "-1", "-1.0"), "cannot-link"),
}


SURE = ("confidence", "probability", "weight")
"""Names of a column that says how sure pairs are; a weight is the log-odds."""


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
        Their confidence; NaN where nobody says.
    """

    must_link: Pairs = field(default_factory=NO_PAIRS.copy)
    cannot_link: Pairs = field(default_factory=NO_PAIRS.copy)
    soft_must_link: Pairs = field(default_factory=NO_PAIRS.copy)
    soft_cannot_link: Pairs = field(default_factory=NO_PAIRS.copy)
    soft_must_link_confidence: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    soft_cannot_link_confidence: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @property
    def n_soft(self) -> int:
        """Number of soft pairs."""
        return len(self.soft_must_link) + len(self.soft_cannot_link)

    @property
    def soft(self) -> SoftLinks:
        """The soft pairs."""
        return SoftLinks(
            self.soft_must_link,
            self.soft_cannot_link,
            self.soft_must_link_confidence,
            self.soft_cannot_link_confidence,
        )

    def __or__(self, other: PairSet) -> PairSet:
        """Give the pairs of both."""
        names = [part.name for part in fields(self)]
        both = ((getattr(self, name), getattr(other, name)) for name in names)
        return PairSet(**dict(zip(names, map(np.concatenate, both), strict=True)))


def read_pairs(
    path: Path | Source, kind: Kind, *, ids: Ids | None = None, n_rows: int | None = None
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
    table = opened(path, _is_header if ids is None else _header_among(ids))
    if len(table.names) != 2:
        what = "row numbers" if ids is None else "ids"
        raise TableError(
            f"{table.source}: pairs of {what} need two columns, found {len(table.names)}",
            Unsaid.FORM,
        )
    if not table.has_rows:
        raise TableError(
            f"{table.source} holds no pair: its only line, {_first_line(table)!r}, was taken for "
            "the names of columns",
            Unsaid.IDS if ids is None else None,
        )
    rows = row_pairs(table, kind, ids, n_rows)
    if ids is None and len(rows) > 1:
        _warn_of_numeric_names(table)
    return rows


def read_groups(path: Path | Source, *, ids: Ids | None = None, n_rows: int | None = None) -> Pairs:
    """Read groups, a group and one of its rows a line, as must-link pairs.

    Parameters
    ----------
    path
        The file; ``-`` for standard input.
    ids, n_rows
        As for :func:`read_pairs`. Of two columns the members are in that of which all are known;
        in the second, if that says nothing.
    """
    is_member = is_number if ids is None else ids.__contains__
    table = opened(path, lambda first, second: not any(map(is_member, first)))
    if len(table.names) != 2:
        raise TableError(
            f"{table.source}: groups need two columns, a group and a member, found "
            f"{len(table.names)}",
            Unsaid.FORM,
        )
    texts = [table.texts(0), table.texts(1)]
    known = [sum(map(is_member, column)) for column in texts]
    members = 0 if known[0] > known[1] else 1
    rows = _rows(table, [members], ids)
    _check_range(rows, n_rows, table.place)
    return _chains(texts[1 - members], rows[:, 0])


def groups_in_column(table: Table, column: int) -> Pairs:
    """Read a column of the rows' own table that names the group of each, as must-link pairs."""
    groups = table.texts(column)
    pairs = _chains(groups, np.arange(len(groups)))
    if not len(pairs):
        raise TableError(
            f"{table.source}: the column {table.names[column]!r} has no two rows in one group"
        )
    return pairs


def _chains(groups: Sequence[str], rows: NDArray[np.int64]) -> Pairs:
    """Join each row to the one before it in its group; a blank names no group."""
    last: dict[str, int] = {}
    pairs = []
    for group, row in zip(groups, rows.tolist(), strict=True):
        if is_missing(group):
            continue
        if group in last:
            pairs.append((last[group], row))
        last[group] = row
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def row_pairs(table: Table, kind: Kind | None, ids: Ids | None, n_rows: int | None) -> Pairs:
    """Read the first two columns as pairs of rows, and check them."""
    rows = _rows(table, [0, 1], ids)
    _check_range(rows, n_rows, table.place)
    check_differ(rows, np.full(len(rows), kind == "cannot-link"), table.place)
    return rows


def _warn_of_numeric_names(table: Table) -> None:
    """Doubt a first line that data frames without names of columns write above pairs."""
    if isinstance(table, DelimitedTable) and table.first_line == "0,1":
        warnings.warn(
            f"{table.source}: the first line, 0,1, was taken for a pair; if it holds names of "
            "columns, take it out",
            stacklevel=3,
        )


def opened(path: Path | Source, is_header: Callable[[list[str], list[str]], bool]) -> Table:
    """Open a file of pairs."""
    try:
        return open_table(path, is_header, blanks=True)
    except ValueError as error:
        if str(error).endswith("is empty"):
            raise ValueError(f"{error}: it holds no pair") from None
        raise


def _is_header(first: list[str], second: list[str]) -> bool:
    """Whether the first line of pairs of row numbers holds names."""
    return not any(is_number(cell) for cell in first)


def _header_among(ids: Ids) -> Callable[[list[str], list[str]], bool]:
    """Tell names of columns from ids by the ids that there are."""
    return lambda first, second: not any(cell in ids for cell in first)


def says_header(ids: Ids | None, *, kinds: bool = False) -> Callable[[list[str], list[str]], bool]:
    """Tell names of columns from pairs, of which the last column may say what they are."""

    def is_header(first: list[str], second: list[str]) -> bool:
        if first[-1].strip().lower() in SURE:
            return True
        if kinds:
            return not any(_kind(cell) for cell in first[2:])
        return (_is_header if ids is None else _header_among(ids))(first, second)

    return is_header


def kinds_of(table: Table, column: int) -> NDArray[np.bool_]:
    """Read a column of kinds: whether each pair cannot be linked."""
    words = table.texts(column)
    kinds = [_kind(word) for word in words]
    if None in kinds:
        row = kinds.index(None)
        raise TableError(
            f"{table.place(row)}: {words[row]!r} says neither must-link (1) nor cannot-link (-1)",
            Unsaid.FORM,
        )
    return np.array([kind == "cannot-link" for kind in kinds])


def _kind(word: str) -> Kind | None:
    return _KINDS.get(word.strip().lower().replace("_", "-").replace(" ", "-"))


def _first_line(table: Table) -> str:
    return table.first_line if isinstance(table, DelimitedTable) else ",".join(table.names)


def _rows(table: Table, columns: Sequence[int], ids: Ids | None) -> NDArray[np.int64]:
    """Give columns of row numbers or of ids as row numbers."""
    if ids is None:
        return _row_numbers(table, columns)
    return np.column_stack([_rows_of_ids(table, column, ids) for column in columns])


def _row_numbers(table: Table, columns: Sequence[int]) -> NDArray[np.int64]:
    try:
        rows = table.numbers(columns)
    except TextColumnsError as error:
        row, cell = min(error.found.values())
        raise TableError(f"{table.place(row)}: {cell!r} is not a row number", Unsaid.IDS) from None
    broken = ~((rows == np.floor(rows)) & (rows >= 0) & (rows < MOST_ROWS))
    if broken.any():
        row = int(broken.any(axis=1).argmax())
        wrong = _shown(rows[row][broken[row]][0])
        raise ValueError(f"{table.place(row)}: {wrong} is no row number (a whole number from 0)")
    return rows.astype(np.int64)


def _shown(number: float) -> str:
    return "nothing" if np.isnan(number) else f"{number:g}"


def _rows_of_ids(table: Table, column: int, ids: Ids) -> NDArray[np.int64]:
    names = table.texts(column)
    rows = [ids.row(name) for name in names]
    if None in rows:
        row = rows.index(None)
        raise ValueError(
            f"{table.place(row)}: no row of {ids.source} has the id {names[row]!r} in column "
            f"{ids.column!r}"
        )
    return np.array(rows, dtype=np.int64)


def _check_range(rows: Pairs, n_rows: int | None, place: Callable[[int], str]) -> None:
    """Complain of the first row that the data does not have, by its place."""
    if n_rows is not None and rows.size and rows.max() >= n_rows:
        wrong = int((rows >= n_rows).any(axis=1).argmax())
        raise ValueError(
            f"{place(wrong)}: row {rows[wrong].max()} is out of range for {n_rows:,} rows, "
            "which are counted from 0"
        )


def check_differ(rows: Pairs, apart: NDArray[np.bool_], place: Callable[[int], str]) -> None:
    """Complain of the first pair that is to be apart and has one row at both ends."""
    wrong = apart & (rows[:, 0] == rows[:, 1])
    if wrong.any():
        raise ValueError(f"{place(int(wrong.argmax()))}: a row cannot be apart from itself")
