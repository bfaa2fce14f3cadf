"""Which reader a file needs, by its first bytes rather than by its name."""

from __future__ import annotations

import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from kempe.storage import DAMAGED, FOREIGN, Limits, check_array_header, opened_archive, read_array
from kempe.tables.delimited import DelimitedTable, IsHeader, names_come_first
from kempe.tables.errors import TableError
from kempe.tables.numerals import DecimalMark
from kempe.tables.source import Source
from kempe.tables.table import MemoryTable, Table, numbered

# Kinds of arrays that may be tables: numbers, text, and records of them.
_KINDS = "biufUSV"
# Readers of Excel make cells of all that is left out: so many for each that is there, and some.
MOST_EMPTY, MOST_EMPTY_SHARE = 1_000_000, 20
# Columns of equal values take next to nothing in files of Arrow.
PACKED_COLUMNS = Limits(free=FOREIGN.free, ratio=1000)


def open_table(
    path: Path | Source,
    header: bool | IsHeader | None = None,
    *,
    blanks: bool = False,
    decimal: DecimalMark | None = None,
) -> Table:
    """Open a table: CSV, TSV, Parquet, Arrow, Feather, NPY, NPZ or Excel, packed by gzip or not.

    Parameters
    ----------
    path
        The file; ``-`` for standard input.
    header
        Whether the first line of text holds names, or a function that tells, given the first
        two lines; by default it is found out.
    blanks
        Whether blanks may part cells that are no numbers.
    decimal
        The decimal mark of numbers in text; by default a point, or a comma where it can be
        nothing else.

    Raises
    ------
    ValueError
        If it cannot be read as a table.
    ImportError
        If this needs a package that is not installed.
    """
    source = path if isinstance(path, Source) else Source(path)
    read = _reader(source)
    if read is not None:
        return read(source)
    if header is None:
        header = partial(names_come_first, source=source.name)
    return DelimitedTable(source, header, blanks=blanks, decimal=decimal)


def _reader(source: Source) -> Callable[[Source], Table] | None:
    head = source.head(6)
    for magic, reader in _READERS.items():
        if head.startswith(magic):
            return reader
        # The beginning of a beginning: whatever it would be as text, the rest is missing.
        if head and magic.startswith(head) and not head.isascii():
            raise ValueError(f"{source.name} cannot be read: it ends too early")
    return None


def _read_npy(source: Source) -> Table:
    with source.binary() as file, _damage_told(source):
        check_array_header(file, FOREIGN.most(source.size), "the array", _KINDS)
        file.seek(0)
        array = npy.read_array(file, allow_pickle=False)
    return _table_of(source, array)


def _read_zip(source: Source) -> Table:
    with (
        source.binary() as file,
        _damage_told(source),
        opened_archive(file, FOREIGN, source.size) as archive,
    ):
        entries = {entry.filename: entry for entry in archive.infolist()}
        if "xl/workbook.xml" not in entries:
            return _npz_table(source, archive, entries)
    return _read_excel(source)


def _npz_table(
    source: Source, archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo]
) -> Table:
    if not entries or not all(name.endswith(".npy") for name in entries):
        raise TableError(f"{source.name} is an archive, but neither of Excel nor of NumPy")
    names = [name.removesuffix(".npy") for name in entries]
    chosen = names[0] if len(names) == 1 else "X"
    if chosen not in names:
        raise TableError(
            f"{source.name} holds the arrays {', '.join(names)}; the rows to cluster must be "
            "called X, or be alone"
        )
    array = read_array(archive, entries[f"{chosen}.npy"], _KINDS)
    others = [name for name in names if name != chosen]
    if others:
        warnings.warn(f"{source.name}: took the array X, not {', '.join(others)}", stacklevel=2)
    return _table_of(source, array)


@contextmanager
def _damage_told(source: Source) -> Iterator[None]:
    """Say of whatever a reader trips over that the file cannot be read."""
    try:
        yield
    except (TableError, ImportError):
        raise
    except DAMAGED as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TableError(f"{source.name} cannot be read: {reason}") from None


def _table_of(source: Source, array: NDArray[Any]) -> Table:
    if array.dtype.names:
        columns = [_column(source, array[name]) for name in array.dtype.names]
        return MemoryTable(source.name, array.dtype.names, columns)
    if array.ndim not in (1, 2) or array.dtype.kind not in "biufUS":
        raise ValueError(
            f"{source.name} holds an array of shape {array.shape} and type {array.dtype}, which is "
            "no table"
        )
    columns = [_column(source, column) for column in (array.T if array.ndim == 2 else [array])]
    return MemoryTable(source.name, numbered(len(columns)), columns, has_header=False)


def _column(source: Source, values: NDArray[Any]) -> NDArray[Any] | list[str]:
    if values.ndim != 1 or values.dtype.kind not in "biufUS":
        raise TableError(
            f"{source.name} has a column of shape {values.shape} and type {values.dtype}"
        )
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind == "U" and not _are_characters(values):
        raise TableError(f"{source.name} cannot be read: it holds text that is none")
    return [text(v) for v in values.tolist()]


def _are_characters(values: NDArray[np.str_]) -> bool:
    """Whether what NumPy takes for characters is so for Python."""
    native = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    codes = native.view(np.uint32) if native.itemsize else np.empty(0, np.uint32)
    return int(codes.max(initial=0)) <= sys.maxunicode


def text(value: object) -> str:
    """Write a value as it would be written in a file of text."""
    if value is None or value != value:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip()
    whole = isinstance(value, float) and value.is_integer()
    return f"{value:.0f}" if whole else str(value).strip()


def _read_parquet(source: Source) -> Table:
    parquet = needed("pyarrow.parquet", "Parquet")

    def read(file: IO[bytes]) -> Any:
        known = parquet.ParquetFile(file)
        _check_cells(source, known.metadata.num_rows, known.metadata.num_columns)
        return known.read()

    return _arrow_table(source, read)


def _read_arrow(source: Source) -> Table:
    return _arrow_table(source, needed("pyarrow.feather", "Arrow").read_table)


def _check_cells(source: Source, n_rows: int, n_columns: int) -> None:
    """Refuse a file whose rows, in memory, would be far larger than the file."""
    if 8 * n_rows * max(n_columns, 1) > PACKED_COLUMNS.most(source.size):
        raise ValueError(f"it claims {n_rows:,} rows of {n_columns:,} columns, more than its size")


def _arrow_table(source: Source, read: Callable[[IO[bytes]], Any]) -> Table:
    import pyarrow

    with source.binary() as file, _damage_told(source):
        try:
            table = read(file)
            # Arrow believes what a file says of where its texts end, unless it is told not to.
            table.validate(full=True)
            columns = [_arrow_column(column) for column in table.columns]
        except pyarrow.ArrowException as error:
            raise ValueError(str(error).splitlines()[0]) from None
        return MemoryTable(source.name, table.column_names, columns)


def _arrow_column(column: Any) -> NDArray[Any] | list[str]:
    import pyarrow.types as kinds

    if kinds.is_integer(column.type) and column.null_count == 0:
        return np.asarray(column.to_numpy())  # as integers: ids may have more digits than floats
    if kinds.is_floating(column.type) or kinds.is_integer(column.type):
        return np.asarray(column.to_numpy(), dtype=np.float64)
    return [text(value) for value in column.to_pylist()]


def _read_excel(source: Source) -> Table:
    needed("openpyxl", "Excel")
    with source.binary() as file, _damage_told(source):
        sheets, filled = _first_sheet(file)
    if not filled:
        raise ValueError(f"the first sheet of {source.name}, {sheets[0]!r}, is empty")
    if len(sheets) > 1:
        what = f"{sheets[0]!r}, the first of {len(sheets)} sheets"
        warnings.warn(f"{source.name}: read {what}", stacklevel=2)
    (line, names), rows = filled[0], filled[1:]
    for number, cells in rows:
        if len(cells) > len(names):
            raise ValueError(
                f"{source.name}, row {number}: there is a value in column {len(cells)}, but the "
                f"first row has {len(names)}"
            )
    return MemoryTable(
        source.name,
        [text(name) for name in names],
        [
            [text(cells[column]) if column < len(cells) else "" for _, cells in rows]
            for column in range(len(names))
        ],
        first=("row", line + 1),
    )


def _first_sheet(file: IO[bytes]) -> tuple[list[str], list[tuple[int, tuple[Any, ...]]]]:
    """Names of all sheets, and those rows of the first that have a value, up to their last one.

    What the sheet says of its own size may be missing or wrong, and one cell far away makes it as
    large as sheets can be. So it is not asked.
    """
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(file, read_only=True, data_only=True)
    except InvalidFileException as error:
        raise ValueError(str(error)) from None
    sheet = book.worksheets[0]
    sheet.reset_dimensions()
    filled, empty, known = [], 0, 0
    for line, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        places = [n for n, cell in enumerate(cells, start=1) if cell is not None]
        known, empty = known + len(places), empty + len(cells) - len(places)
        if empty > MOST_EMPTY + MOST_EMPTY_SHARE * known:
            raise ValueError("nearly all of its cells are empty; save it as CSV or Parquet")
        if places:
            filled.append((line, cells[: places[-1]]))
    return [each.title for each in book.worksheets], filled


def _read_old_excel(source: Source) -> Table:
    raise ValueError(f"{source.name} is of an old version of Excel; save it as .xlsx or CSV")


def needed(module: str, what: str) -> Any:
    """Import a module that files of a kind need, or say what to install."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(
            f'{what} files need {package}: pip install "kempe[tables]", or save the table as CSV'
        ) from None


_READERS: dict[bytes, Callable[[Source], Table]] = {
    b"\x93NUMPY": _read_npy,
    b"PK\x03\x04": _read_zip,
    b"PAR1": _read_parquet,
    b"ARROW1": _read_arrow,
    b"FEA1": _read_arrow,
    b"\xd0\xcf\x11\xe0": _read_old_excel,
}


# Endings of files that are no tables as text.
OTHER_FORMATS = (".npy", ".npz", ".parquet", ".arrow", ".feather", ".xlsx", ".xls", ".json")
