"""Which reader a file needs, by its first bytes rather than by its name."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kempe.tables.delimited import DelimitedTable, IsHeader, names_come_first
from kempe.tables.source import Source
from kempe.tables.table import MemoryTable, Table, numbered


def open_table(path: Path, header: bool | IsHeader | None = None) -> Table:
    """Open a table: CSV, TSV, Parquet, Arrow, Feather, NPY, NPZ or Excel, packed by gzip or not.

    Parameters
    ----------
    path
        The file; ``-`` for standard input.
    header
        Whether the first line of text holds names, or a function that tells, given the first
        two lines; by default it is found out.

    Raises
    ------
    ValueError
        If it cannot be read as a table.
    ImportError
        If this needs a package that is not installed.
    """
    source = Source(path)
    read = _reader(source)
    if read is not None:
        return read(source)
    if header is None:
        header = partial(names_come_first, source=source.name)
    return DelimitedTable(source, header)


def _reader(source: Source) -> Callable[[Source], Table] | None:
    head = source.head(6)
    for magic, reader in _READERS.items():
        if head.startswith(magic):
            return reader
    return None


def _read_npy(source: Source) -> Table:
    with source.binary() as file:
        return _table_of(source, _loaded(source, file))


def _read_zip(source: Source) -> Table:
    with source.binary() as file:
        try:
            names = zipfile.ZipFile(file).namelist()
        except zipfile.BadZipFile as error:
            raise ValueError(f"{source.name} is damaged: {error}") from None
    if "xl/workbook.xml" in names:
        return _read_excel(source)
    if names and all(name.endswith(".npy") for name in names):
        return _read_npz(source)
    raise ValueError(f"{source.name} is an archive, but neither of Excel nor of NumPy")


def _read_npz(source: Source) -> Table:
    with source.binary() as file, _loaded(source, file) as archive:
        names = list(archive)
        chosen = names[0] if len(names) == 1 else "X"
        if chosen not in names:
            raise ValueError(
                f"{source.name} holds the arrays {', '.join(names)}; the rows to cluster must be "
                "called X, or be alone"
            )
        array = _unpickled(source, lambda: archive[chosen])
    others = [name for name in names if name != chosen]
    if others:
        warnings.warn(f"{source.name}: took the array X, not {', '.join(others)}", stacklevel=2)
    return _table_of(source, array)


def _loaded(source: Source, file: IO[bytes]) -> Any:
    return _unpickled(source, lambda: np.load(file, allow_pickle=False))


def _unpickled(source: Source, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        reason = "it holds Python objects" if "allow_pickle" in str(error) else error
        raise ValueError(f"{source.name} cannot be read: {reason}") from None


def _table_of(source: Source, array: NDArray[Any]) -> Table:
    if array.dtype.names:
        columns = [_column(array[name]) for name in array.dtype.names]
        return MemoryTable(source.name, array.dtype.names, columns)
    if array.ndim not in (1, 2) or array.dtype.kind not in "biufUS":
        raise ValueError(
            f"{source.name} holds an array of shape {array.shape} and type {array.dtype}, which is "
            "no table"
        )
    columns = [_column(column) for column in (array.T if array.ndim == 2 else [array])]
    return MemoryTable(source.name, numbered(len(columns)), columns, has_header=False)


def _column(values: NDArray[Any]) -> NDArray[Any] | list[str]:
    return values if values.dtype.kind in "biuf" else [text(v) for v in values.tolist()]


def text(value: object) -> str:
    """Write a value as it would be written in a file of text."""
    if value is None or value != value:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip()
    whole = isinstance(value, float) and value.is_integer()
    return f"{value:.0f}" if whole else str(value).strip()


def _read_parquet(source: Source) -> Table:
    from_file = _needed("pyarrow.parquet", "Parquet").read_table
    with source.binary() as file:
        return _arrow_table(source, lambda: from_file(file))


def _read_arrow(source: Source) -> Table:
    from_file = _needed("pyarrow.feather", "Arrow").read_table
    with source.binary() as file:
        return _arrow_table(source, lambda: from_file(file))


def _arrow_table(source: Source, read: Callable[[], Any]) -> Table:
    import pyarrow

    try:
        table = read()
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{source.name} cannot be read: {reason}") from None
    columns = [_arrow_column(column) for column in table.columns]
    return MemoryTable(source.name, table.column_names, columns)


def _arrow_column(column: Any) -> NDArray[Any] | list[str]:
    import pyarrow.types as kinds

    if kinds.is_integer(column.type) and column.null_count == 0:
        return np.asarray(column.to_numpy())  # as integers: ids may have more digits than floats
    if kinds.is_floating(column.type) or kinds.is_integer(column.type):
        return np.asarray(column.to_numpy(), dtype=np.float64)
    return [text(value) for value in column.to_pylist()]


def _read_excel(source: Source) -> Table:
    load_workbook = _needed("openpyxl", "Excel").load_workbook
    with source.binary() as file:
        book = load_workbook(file, read_only=True, data_only=True)
        sheets = [sheet.title for sheet in book.worksheets]
        lines = list(enumerate(book.worksheets[0].iter_rows(values_only=True), start=1))
    filled = [(line, cells) for line, cells in lines if any(cell is not None for cell in cells)]
    if not filled:
        raise ValueError(f"the first sheet of {source.name}, {sheets[0]!r}, is empty")
    if len(sheets) > 1:
        what = f"{sheets[0]!r}, the first of {len(sheets)} sheets"
        warnings.warn(f"{source.name}: read {what}", stacklevel=2)
    (line, names), rows = filled[0], [cells for _, cells in filled[1:]]
    return MemoryTable(
        source.name,
        [text(name) for name in names],
        [[text(cells[column]) for cells in rows] for column in range(len(names))],
        first=("row", line + 1),
    )


def _read_old_excel(source: Source) -> Table:
    raise ValueError(f"{source.name} is of an old version of Excel; save it as .xlsx or CSV")


def _needed(module: str, what: str) -> Any:
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
