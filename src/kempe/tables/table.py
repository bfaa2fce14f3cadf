"""What a table offers, wherever it comes from."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.tables.errors import TableError, Unsaid
from kempe.tables.numerals import (
    DecimalMark,
    Numbers,
    booleans,
    certainly_commas,
    may_be_thousands,
    parsed,
    with_mark,
)


class TextColumnsError(ValueError):
    """Columns that were to be numbers hold something else.

    Attributes
    ----------
    found : mapping of int to (int, str)
        For each such column the first row with a cell that is no finite number, and that cell.
    """

    def __init__(self, table: Table, found: Mapping[int, tuple[int, str]]) -> None:
        column, (row, cell) = next(iter(found.items()))
        name = table.names[column]
        super().__init__(f"{table.place(row)}, column {name!r}: {cell!r} is not a finite number")
        self.found = dict(found)


class Table(ABC):
    """Rows and named columns.

    Attributes
    ----------
    source
        What messages call the file.
    names
        Name of each column; ``"1"``, ``"2"``, ... if there are none.
    has_header
        Whether the columns have names of their own.
    decimal
        The decimal mark of numbers written as text, if it was said.
    is_text
        Whether all numbers are written as text.
    """

    decimal: DecimalMark | None = None
    is_text = False

    def __init__(self, source: str, names: Sequence[str], has_header: bool) -> None:
        self.source = source
        self.names = tuple(names)
        self.has_header = has_header

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def has_rows(self) -> bool:
        """Whether there is any row."""
        return self.n_rows > 0

    def numbers(self, columns: Sequence[int]) -> Numbers:
        """Give some columns as finite numbers, and NaN where there is no value.

        True and false are 1 and 0. Decimal commas are read where they can be nothing else, with a
        warning that says so.

        Raises
        ------
        TextColumnsError
            If there is something else; it names every column in which there is.
        """
        data = self._floats(columns)
        wrong = [i for i in range(len(columns)) if np.isinf(data[:, i]).any()]
        if wrong:
            self._reread(data, columns, wrong)
        return data

    @abstractmethod
    def _floats(self, columns: Sequence[int]) -> Numbers:
        """Give some columns as plain numbers, with infinity where a cell is none."""

    def _reread(self, data: Numbers, columns: Sequence[int], wrong: Sequence[int]) -> None:
        """Read what is no plain number as people write it, or complain."""
        texts = dict(zip(wrong, self.texts_of([columns[i] for i in wrong]), strict=True))
        mark: DecimalMark = self.decimal or "."
        if self.decimal is None and any(map(certainly_commas, texts.values())):
            mark = ","
        found = {}
        for i, cells in texts.items():
            values = booleans(cells)
            if values is None and (mark == "," or self.decimal == "."):
                values = with_mark(cells, mark)
            if values is None:
                row = first_wrong(data[:, i]) - 1
                found[columns[i]] = (row, cells[row])
            else:
                data[:, i] = values
        if mark == "," and self.decimal is None:
            found |= self._thousands([c for i, c in enumerate(columns) if i not in texts])
        if found:
            raise TextColumnsError(self, found)
        if mark == "," and self.decimal is None:
            warnings.warn(f"{self.source}: commas were read as decimal marks", stacklevel=4)

    def _thousands(self, columns: Sequence[int]) -> dict[int, tuple[int, str]]:
        """Find columns such as 1.500, which beside decimal commas may be fifteen hundred."""
        columns = columns if self.is_text else []
        texts = dict(zip(columns, self.texts_of(columns), strict=True))
        rows = {column: may_be_thousands(cells) for column, cells in texts.items()}
        return {c: (row, texts[c][row]) for c, row in rows.items() if row is not None}

    @abstractmethod
    def texts(self, column: int) -> list[str]:
        """Give one column as text without blanks around it."""

    def texts_of(self, columns: Sequence[int]) -> list[list[str]]:
        """Give several columns as text.

        Parameters
        ----------
        columns
            Their positions.
        """
        return [self.texts(column) for column in columns]

    @abstractmethod
    def place(self, row: int) -> str:
        """Say where a row is, for messages: the file, and the line if it has lines."""

    def position(self, name: str) -> int:
        """Position of a column, by name or by number from 1."""
        if self.names.count(name) > 1:
            raise ValueError(f"{self.source} has {self.names.count(name)} columns {name!r}")
        if name in self.names:
            return self.names.index(name)
        if name.isdecimal() and 1 <= int(name) <= len(self.names):
            return int(name) - 1
        raise TableError(
            f"{self.source} has no column {name!r}; it has {listed(self.names)}",
            None if self.has_header else Unsaid.NAMES,
        )


class MemoryTable(Table):
    """A table whose columns are in memory.

    Parameters
    ----------
    columns
        Arrays of numbers, or lists of text.
    first
        What messages call the first row: a word and a number.
    """

    def __init__(
        self,
        source: str,
        names: Sequence[str],
        columns: Sequence[NDArray[Any] | list[str]],
        *,
        has_header: bool = True,
        first: tuple[str, int] = ("row", 0),
    ) -> None:
        super().__init__(source, names, has_header)
        self._columns = columns
        self._first = first

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._columns[0]) if self._columns else 0

    def _floats(self, columns: Sequence[int]) -> Numbers:
        data = np.empty((self.n_rows, len(columns)))
        for position, column in enumerate(columns):
            cells = self._columns[column]
            values = parsed(cells) if isinstance(cells, list) else cells.astype(np.float64)
            data[:, position] = values
        return data

    def texts(self, column: int) -> list[str]:
        """Give one column as text without blanks around it."""
        cells = self._columns[column]
        return list(cells) if isinstance(cells, list) else [_written(c) for c in cells.tolist()]

    def place(self, row: int) -> str:
        """Say where a row is, for messages."""
        word, number = self._first
        return f"{self.source}, {word} {number + row}"


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, be it infinite."""
    try:
        return not math.isnan(float(cell))
    except ValueError:
        return False


def first_wrong(values: Numbers) -> int:
    """Give the number, from 1, of the first row that ``parsed`` could not read; 0 if none."""
    wrong = np.isinf(values)
    return int(wrong.argmax()) + 1 if wrong.any() else 0


def _written(value: Any) -> str:
    """Write a cell as a person would: spreadsheets hold whole numbers as 7.0."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.0f}" if value.is_integer() else repr(value)
    return str(value)


def listed(names: Sequence[str], most: int = 12) -> str:
    """Write names as a list, not all if there are many."""
    shown = ", ".join(map(repr, names[:most]))
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def numbered(count: int) -> list[str]:
    """Give names to columns without any: their numbers from 1."""
    return [str(number) for number in range(1, count + 1)]
