"""Which column of a table is what, and what is wrong with those that are to be clustered by."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kempe.tables.missing import is_missing
from kempe.tables.numerals import is_ambiguous, parsed
from kempe.tables.table import Table, TextColumnsError

if TYPE_CHECKING:
    from kempe.cli.options import TableOptions

# Names under which data frames write their row numbers.
_INDEX = re.compile(r"|Unnamed: \d+|__index_level_\d+__")

# What is nearly a number: what it is called, and what to do about it.
_DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?"
_MONEY = r"([€$£¥]|EUR|USD|GBP|CHF) ?-?[\d.,' ]+|-?[\d.,' ]+ ?([€$£¥]|EUR|USD|GBP|CHF)"
_KINDS = {
    ("dates", "write them as numbers, such as days since the first"): re.compile(_DATE),
    ("amounts of money", "write plain numbers"): re.compile(_MONEY),
    ("percentages", "write plain numbers"): re.compile(r"-?[\d.,]+ ?%"),
    ("decimal commas", "say --decimal ,"): re.compile(r"[+-]?\d+,\d+"),
}


@dataclass(frozen=True)
class Roles:
    """Positions of the columns of a table, by what they are for.

    Attributes
    ----------
    features
        Columns to cluster by, in the order of the table.
    categories
        Those of them that hold categories.
    ids, groups, labels, weights
        Columns of their own.
    remarks
        What was decided without being asked.
    """

    features: tuple[int, ...]
    categories: frozenset[int] = frozenset()
    ids: int | None = None
    groups: int | None = None
    labels: int | None = None
    weights: int | None = None
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Table, options: TableOptions) -> Roles:
        """Find the columns by what was said about them."""
        taken: dict[int, str] = {}
        ids, groups, labels, weights = (
            None if name is None else _take(table, taken, f"--{role}-column", name)
            for role, name in (
                ("id", options.id_column),
                ("groups", options.groups_column),
                ("labels", options.labels_column),
                ("weights", options.weights_column),
            )
        )
        for name in names_in(table, options.ignore):
            taken.setdefault(table.position(name), "--ignore")
        encoded = frozenset(
            _take(table, taken, "--encode", name) for name in names_in(table, options.encode)
        )
        left_out = {column for column, option in taken.items() if option != "--encode"}
        rest = [column for column in range(len(table.names)) if column not in left_out]
        if options.columns:
            wanted = {table.position(name) for name in names_in(table, options.columns)} | encoded
            rest = [column for column in rest if column in wanted]
        unnamed = [c for c in rest if _INDEX.fullmatch(table.names[c])]
        features = tuple(column for column in rest if column not in unnamed)
        if not features:
            raise ValueError(f"{table.source} has no columns left to cluster by")
        _check_different(table, features)
        return cls(features, encoded, ids, groups, labels, weights, _left_out(unnamed))


def names_in(table: Table, given: Sequence[str] | None) -> list[str]:
    """Part lists of names at their commas; a column may have a comma in its name."""
    names: list[str] = []
    for name in given or ():
        whole = name in table.names or "," not in name
        names += [name] if whole else [part.strip() for part in name.split(",") if part.strip()]
    return names


def _check_different(table: Table, columns: Sequence[int]) -> None:
    counts = Counter(table.names[column] for column in columns)
    for name, count in counts.items():
        if count > 1:
            numbers = [str(c + 1) for c in columns if table.names[c] == name]
            raise ValueError(
                f"{table.source} has {count} columns {name!r}, numbers {', '.join(numbers)}"
                f"; rename one, or leave it out by its number: --ignore {numbers[-1]}"
            )


def _take(table: Table, taken: dict[int, str], option: str, name: str) -> int:
    """Find a column that must not be used for something else."""
    column = table.position(name)
    if column in taken and taken[column] != option:
        raise ValueError(f"the column {name!r} is named twice: by {taken[column]} and by {option}")
    taken[column] = option
    return column


def _left_out(columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"Left out, because it has no name: column {column + 1}." for column in columns)


def numbers_and_words(
    table: Table,
    roles: Roles,
    imputed: bool,
    *,
    whole: frozenset[int] = frozenset(),
    advise: bool = True,
) -> NDArray[Any]:
    """Read the columns to cluster by: numbers, and words where there are categories.

    Holes are NaN among numbers and None among words; they are refused in numbers that are not
    ``imputed`` and in those columns of words that must be ``whole``.

    Raises
    ------
    ValueError
        If columns cannot be used as they are; it lists all of them, with ``advise`` what helps.
    """
    if not table.has_rows:
        raise ValueError(f"{table.source} has names of columns but no rows")
    numeric = [column for column in roles.features if column not in roles.categories]
    complaints: dict[int, Complaint] = {}
    try:
        numbers = table.numbers(numeric)
    except TextColumnsError as error:
        complaints = {c: _of_text(table, c, *cell) for c, cell in error.found.items()}
        numeric = [column for column in numeric if column not in complaints]
        numbers = table.numbers(numeric)
    words = {column: _words(table, column) for column in roles.categories}
    holes = {column: np.isnan(numbers[:, i]) for i, column in enumerate(numeric)}
    holes |= {column: _is_none(cells) for column, cells in words.items()}
    for column, missing in holes.items():
        allowed = column not in whole if column in words else imputed
        if missing.all() or (missing.any() and not allowed):
            complaints[column] = _of_holes(table, column, missing)
    if complaints:
        raise ValueError(_all_complaints(table, complaints, advise))
    return _joined(roles.features, numeric, numbers, words) if words else numbers


def _words(table: Table, column: int) -> NDArray[Any]:
    cells = [None if is_missing(cell) else cell for cell in table.texts(column)]
    return np.array(cells, dtype=object)


def _is_none(cells: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([cell is None for cell in cells], dtype=bool)


def _joined(
    features: Sequence[int],
    numeric: Sequence[int],
    numbers: NDArray[np.float64],
    words: dict[int, NDArray[Any]],
) -> NDArray[Any]:
    """Put numbers and words side by side, in the order of the table."""
    columns = dict(zip(numeric, numbers.T, strict=True)) | words
    cells = np.empty((len(numbers), len(features)), dtype=object)
    for position, column in enumerate(features):
        cells[:, position] = columns[column]
    return cells


class Complaint(NamedTuple):
    """What is wrong with a column, and what helps."""

    what: str
    advice: str


def _of_holes(table: Table, column: int, holes: NDArray[np.bool_]) -> Complaint:
    if holes.all():
        return Complaint("no value at all", f"use {_ignore(table, column)}")
    values = "value" if holes.sum() == 1 else "values"
    first = _where(table, int(holes.argmax()))
    what = f"{holes.sum():,} missing {values}, the first in {first}"
    return Complaint(what, f"use --impute mean, or {_ignore(table, column)}")


def _of_text(table: Table, column: int, row: int, cell: str) -> Complaint:
    """Say what is wrong with a column that is to be numbers; what helps depends on the rest."""
    cells = [text for text in table.texts(column) if not is_missing(text)]
    example = f"such as {_shortened(cell)} in {_where(table, row)}"
    ignore = _ignore(table, column)
    if is_ambiguous(cell):
        number = cell.replace(",", ".")
        return Complaint(
            f"points or commas that may be decimal marks or not, {example}",
            f"say --decimal {cell.strip('+-0123456789')} if it is {number}, or the other mark if "
            f"it is {number.replace('.', '')}",
        )
    for kind, pattern in _KINDS.items():
        if pattern.fullmatch(cell):
            what, advice = kind
            return Complaint(f"{what}, {example}", f"{advice}, or use {ignore}")
    if np.isfinite(parsed(cells)).mean() > 0.5:
        what = f"{_shortened(cell)} in {_where(table, row)} is not a finite number"
        return Complaint(what, f"correct it, or use {ignore}")
    name = shlex.quote(table.names[column])
    if len(set(cells)) == table.n_rows > 2:
        return Complaint(f"text, all different, {example}", f"use --id-column {name}, or {ignore}")
    return Complaint(f"text, {example}", f"use --encode {name}, or {ignore}")


def _all_complaints(table: Table, complaints: dict[int, Complaint], advise: bool) -> str:
    count = "a column" if len(complaints) == 1 else f"{len(complaints)} columns"
    are = "it is" if len(complaints) == 1 else "they are"
    told = [f"{table.source} has {count} that cannot be used as {are}:"]
    for column in sorted(complaints):
        what, advice = complaints[column]
        told.append(f"  {table.names[column]!r}: {what}")
        if advise:
            told.append(f"      {advice}")
    return "\n".join(told)


def _ignore(table: Table, column: int) -> str:
    return f"--ignore {shlex.quote(table.names[column])}"


def _shortened(cell: str, most: int = 30) -> str:
    return repr(cell if len(cell) <= most else cell[:most] + "...")


def _where(table: Table, row: int) -> str:
    return table.place(row).removeprefix(f"{table.source}, ")


def weights_of(table: Table, column: int) -> NDArray[np.float64]:
    """Read a column of weights."""
    weights = table.numbers([column])[:, 0]
    wrong = ~(weights >= 0)
    if wrong.any():
        row = int(wrong.argmax())
        what = "missing" if np.isnan(weights[row]) else f"{weights[row]:g}, which is negative"
        raise ValueError(f"{table.place(row)}: the weight is {what}")
    return weights
