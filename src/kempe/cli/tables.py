"""Reading and writing CSV files. Errors name the file, the line and the column."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from kempe.cli.console import SCREEN
from kempe.constraints import MOST_ROWS
from kempe.storage import replacing

DELIMITERS = ",;\t|"


class CellError(ValueError):
    """A cell does not hold a number."""


@dataclass(frozen=True)
class Table:
    """A CSV file of which only the first lines have been looked at.

    Attributes
    ----------
    path
        The file.
    delimiter
        What separates its cells.
    names
        Name of each column; ``"1"``, ``"2"``, ... if there is no header.
    has_header
        Whether the first line holds the names.
    """

    path: Path
    delimiter: str
    names: tuple[str, ...]
    has_header: bool

    @classmethod
    def open(cls, path: Path, header: bool | None = None) -> Table:
        """Find the delimiter and the header; a first line without a number is a header."""
        if _is_blank(path):
            raise ValueError(f"{path} is empty")
        with _text(path) as file:
            first = next(_filled(file))
        delimiter = max(DELIMITERS, key=first.count)
        cells = next(csv.reader([first], delimiter=delimiter))
        if header is None:
            header = not any(_is_number(cell) for cell in cells)
        names = [c.strip() for c in cells] if header else map(str, range(1, len(cells) + 1))
        return cls(path, delimiter, tuple(names), header)

    def position(self, name: str) -> int:
        """Position of a column, by name or by number from 1."""
        if name in self.names:
            return self.names.index(name)
        if name.isdigit() and 1 <= int(name) <= len(self.names):
            return int(name) - 1
        raise ValueError(f"{self.path} has no column {name!r}; it has {_listed(self.names)}")

    def numbers(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """Give some columns as finite numbers."""
        every = len(columns) == len(self.names)
        if not self.has_rows():
            raise ValueError(f"{self.path} has a header but no rows")
        try:
            with _text(self.path) as file:
                data = np.loadtxt(
                    islice(_filled(file), int(self.has_header), None),
                    delimiter=self.delimiter,
                    # Without usecols every line must have the same number of cells.
                    usecols=None if every else columns,
                    ndmin=2,
                    comments=None,
                    quotechar='"',
                )
        except ValueError as error:
            raise self._bad_cell(columns) or ValueError(f"{self.path}: {error}") from None
        if not np.isfinite(data).all() or data.shape[1] != len(columns):
            raise self._bad_cell(columns) or ValueError(f"{self.path} is not a table")
        return data

    def has_rows(self) -> bool:
        """Whether there is more than a header."""
        with _text(self.path) as file:
            return any(islice(_filled(file), int(self.has_header), None))

    def strings(self, column: int) -> list[str]:
        """Give one column as text."""
        return [cells[column].strip() for _, cells in self._rows()]

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of every row that is not empty."""
        with _text(self.path) as file:
            reader = csv.reader(file, delimiter=self.delimiter)
            rows = (cells for cells in reader if any(cell.strip() for cell in cells))
            for cells in islice(rows, int(self.has_header), None):
                if len(cells) != len(self.names):
                    raise ValueError(
                        f"{self.path}, line {reader.line_num}: {len(cells)} cells, "
                        f"but the first line has {len(self.names)}"
                    )
                yield reader.line_num, cells

    def _bad_cell(self, columns: Sequence[int]) -> ValueError | None:
        """Find what made reading numbers fail."""
        for line, cells in self._rows():
            for column in columns:
                if not _is_finite(cells[column]):
                    cell = cells[column].strip()
                    what = f"{cell!r} is not a finite number" if cell else "the cell is empty"
                    place = f"line {line}, column {self.names[column]!r}"
                    return CellError(f"{self.path}, {place}: {what}")
        return None


def read_pairs(path: Path) -> NDArray[np.int64]:
    """Pairs of row numbers, one pair a line; an empty file, or one with a header only, has none."""
    if _is_blank(path):
        return np.empty((0, 2), dtype=np.int64)
    table = Table.open(path)
    if len(table.names) != 2:
        raise ValueError(f"{path}: pairs of row numbers need two columns, found {len(table.names)}")
    if not table.has_rows():
        return np.empty((0, 2), dtype=np.int64)
    numbers = table.numbers([0, 1])
    broken = (numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= MOST_ROWS)
    if broken.any():
        position = int(np.flatnonzero(broken.any(axis=1))[0])
        first, second = (f"{number:g}" for number in numbers[position])
        raise ValueError(
            f"{path}, pair {position}: ({first}, {second}) is not a pair of row numbers "
            "(whole numbers from 0)"
        )
    return numbers.astype(np.int64)


def read_labels(path: Path, n_rows: int) -> NDArray[np.int32]:
    """Read the cluster of each row, whatever it is called, as numbers from 0."""
    table = Table.open(path)
    if len(table.names) != 1:
        raise ValueError(f"{path}: labels need one column, found {len(table.names)}")
    names = table.strings(0)
    if len(names) != n_rows:
        raise ValueError(f"{path} has {len(names):,} labels, but the data has {n_rows:,} rows")
    return np.unique(names, return_inverse=True)[1].astype(np.int32)


def write_columns(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def write_labels(path: Path, labels: Iterable[int]) -> None:
    """Write one cluster number a line: to a file below a head, to the screen without one."""
    if path == SCREEN:
        sys.stdout.writelines(f"{label}\n" for label in labels)
    else:
        write_columns(path, ["label"], ([label] for label in labels))


@contextmanager
def _text(path: Path) -> Iterator[TextIO]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            yield file
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: {error.reason}; save it as UTF-8") from None


def _is_blank(path: Path) -> bool:
    with _text(path) as file:
        return not any(_filled(file))


def _filled(lines: Iterable[str]) -> Iterator[str]:
    return (line for line in lines if line.strip())


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_finite(cell: str) -> bool:
    return _is_number(cell) and bool(np.isfinite(float(cell)))


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown + (", ..." if len(names) > most else "")
