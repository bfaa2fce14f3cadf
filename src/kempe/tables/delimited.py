"""Tables as text: cells between commas, semicolons, tabs, bars or blanks, a row a line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, zip_longest

import numpy as np

from kempe.tables.errors import TableError, Unsaid
from kempe.tables.missing import is_missing
from kempe.tables.numerals import DecimalMark, Numbers, parsed
from kempe.tables.source import Source
from kempe.tables.table import Table, is_number, numbered

DELIMITERS = ",;\t|"
CHUNK = 50_000
"""Lines that are held as text at a time."""

IsHeader = Callable[[list[str], list[str]], bool]


class DelimitedTable(Table):
    """A table as text, of which only the first lines are looked at until columns are asked for.

    Parameters
    ----------
    source
        The text.
    header
        Whether the first line holds names; or a function that tells, given the first two lines.
    blanks
        Whether blanks part cells that nothing else parts, even if they are no numbers.
    decimal
        The decimal mark, if it was said.
    """

    is_text = True

    def __init__(
        self,
        source: Source,
        header: bool | IsHeader,
        *,
        blanks: bool = False,
        decimal: DecimalMark | None = None,
    ) -> None:
        self._source = source
        self.decimal = decimal
        first, second = _first_lines(source)
        # None: blanks, however many there are.
        self._delimiter = _delimiter(source, first, second, blanks)
        self.first_line = first.strip()
        cells, next_cells = (self._cells(line) for line in (first, second))
        has_header = header if isinstance(header, bool) else header(cells, next_cells)
        super().__init__(source.name, cells if has_header else numbered(len(cells)), has_header)

    def _cells(self, line: str) -> list[str]:
        if self._delimiter is None:
            return line.split()
        return [c.strip() for row in csv.reader([line], delimiter=self._delimiter) for c in row]

    @cached_property
    def _n_rows(self) -> int:
        return sum(1 for _ in self._rows())

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._n_rows

    @property
    def has_rows(self) -> bool:
        """Whether there is any row."""
        return next(self._rows(), None) is not None

    def _floats(self, columns: Sequence[int]) -> Numbers:
        if not columns:
            return np.empty((self.n_rows, 0))
        if self.decimal == ",":  # points part thousands, which plain numbers do not show
            return np.full((self.n_rows, len(columns)), np.inf)
        try:
            return self._quickly(columns)
        except ValueError:  # whatever it is, the other way finds out
            return self._carefully(columns)

    def _quickly(self, columns: Sequence[int]) -> Numbers:
        """Read a text that has nothing but numbers in these columns."""
        with self._source.text() as file:
            lines = islice(_filled(file), int(self.has_header), None)
            every = list(columns) == list(range(len(self.names)))
            return np.loadtxt(
                lines if every else self._whole(lines),
                delimiter=self._delimiter,
                # Without usecols NumPy sees to it that every line has the same number of cells.
                usecols=None if every else columns,
                ndmin=2,
                comments=None,
                quotechar='"',
            ).reshape(-1, len(columns))

    def _whole(self, lines: Iterable[str]) -> Iterator[str]:
        """Pass on lines that have as many cells as the first."""
        count, delimiter = len(self.names), self._delimiter
        for line in lines:
            surely = delimiter is not None and line.count(delimiter) == count - 1
            if not surely and len(self._cells(line)) != count:
                raise ValueError("a line is too long or too short")
            yield line

    def _carefully(self, columns: Sequence[int]) -> Numbers:
        """Read a text with holes, or with something that is no number."""
        parts = [np.empty((0, len(columns)))]
        rows = (cells for _, cells in self._rows())
        while chunk := list(islice(rows, CHUNK)):
            parts.append(np.column_stack([parsed([cells[c] for cells in chunk]) for c in columns]))
        return np.concatenate(parts)

    def texts(self, column: int) -> list[str]:
        """Give one column as text without blanks around it."""
        return [cells[column].strip() for _, cells in self._rows()]

    def texts_of(self, columns: Sequence[int]) -> list[list[str]]:
        """Give several columns, in one pass over the text."""
        rows = [[cells[column].strip() for column in columns] for _, cells in self._rows()]
        return [[cells[place] for cells in rows] for place in range(len(columns))]

    def place(self, row: int) -> str:
        """Say on which line a row is."""
        line, _ = next(islice(self._rows(), row, None))
        return f"{self.source}, line {line}"

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of every row that is not empty."""
        with self._source.text() as file:
            rows = _split(file) if self._delimiter is None else self._parted(file)
            filled = ((line, cells) for line, cells in rows if any(map(str.strip, cells)))
            for line, cells in islice(filled, int(self.has_header), None):
                if len(cells) != len(self.names):
                    raise ValueError(
                        f"{self.source}, line {line}: {len(cells)} cells, "
                        f"but the first line has {len(self.names)}"
                    )
                yield line, cells

    def _parted(self, file: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(file, delimiter=self._delimiter or ",")
        for cells in _readable(reader, self.source):
            yield reader.line_num, cells


def names_come_first(first: list[str], second: list[str], *, source: str) -> bool:
    """Whether the first line of rows to cluster holds names rather than values.

    Raises
    ------
    TableError
        If nobody can tell: names may be numbers, such as years.
    """
    above = [*zip_longest(first, second[: len(first)], fillvalue="")]
    if not any(is_number(cell) for cell in first):
        return True
    if any(_is_word(cell) and is_number(below) for cell, below in above):
        return True
    if _may_be_names(above):
        raise TableError(
            f"{source}: the first line, {_shortened(first)}, may hold names or values",
            Unsaid.NAMES_OR_VALUES,
        )
    return False


def _may_be_names(above: list[tuple[str, str]]) -> bool:
    """Whether numbers look like those that stand above columns: 0, 1, 2 or 2019, 2020, 2021.

    Two of them, or one beside words, are no evidence unless the values below are of another kind.
    """
    numbers = [(cell, below) for cell, below in above if is_number(cell)]
    if not all(cell.isdecimal() for cell, _ in numbers):
        return False
    values = [int(cell) for cell, _ in numbers]
    if values != list(range(values[0], values[0] + len(values))):
        return False
    if len(numbers) == 1 and not any(_is_word(cell) for cell, _ in above):
        return False
    below = [cell for _, cell in numbers if is_number(cell)]
    return len(numbers) > 2 or (bool(below) and not any(cell.isdecimal() for cell in below))


def _shortened(cells: list[str], most: int = 6) -> str:
    return ",".join(cells[:most]) + (",..." if len(cells) > most else "")


def _first_lines(source: Source) -> tuple[str, str]:
    with source.text() as file:
        lines = list(islice(_filled(file), 2))
    if not lines:
        raise ValueError(f"{source.name} is empty")
    if "\0" in lines[0]:
        raise ValueError(f"{source.name} is neither text nor a table of a known format")
    return lines[0], lines[1] if len(lines) > 1 else ""


def _delimiter(source: Source, first: str, second: str, blanks: bool) -> str | None:
    """Say what parts cells; nothing if blanks do, which names of a single column may have."""
    if source.suffix == ".tsv":
        return "\t"
    delimiter = max(DELIMITERS, key=first.count)
    cells = (second or first).split()
    if delimiter in first or len(cells) < 2 or len(cells) != len(first.split()):
        return delimiter
    return None if blanks or all(map(is_number, cells)) else delimiter


def _split(file: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    return ((number, line.split()) for number, line in enumerate(file, start=1))


def _readable(reader: Iterator[list[str]], source: str) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise ValueError(f"{source}, line {reader.line_num}: {error}") from None  # type: ignore[attr-defined]


def _filled(lines: Iterable[str]) -> Iterator[str]:
    return (line for line in lines if line.strip())


def _is_word(cell: str) -> bool:
    return not is_missing(cell) and not is_number(cell)
