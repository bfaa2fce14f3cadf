"""Tables written as text, as Parquet or as Excel, by the ending of their name."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from kempe.storage import guarded, replacing
from kempe.tables.formats import OTHER_FORMATS, needed
from kempe.tables.source import STANDARD

_WRITERS = {".parquet": ("pyarrow.parquet", "Parquet"), ".xlsx": ("openpyxl", "Excel")}


def check_writable(path: Path) -> None:
    """Refuse a name of a format that is not written, or not without what is not installed."""
    suffix = path.suffix.lower()
    if suffix in _WRITERS:
        needed(*_WRITERS[suffix])
    elif suffix in OTHER_FORMATS:
        raise ValueError(
            f"{path}: tables are written as .csv or .tsv, packed if .gz follows, as .parquet or "
            ".xlsx"
        )


def write_table(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table: Parquet, Excel, or text, packed if the name ends in ``.gz``.

    To standard output (``-``) it goes without names, as other programs like to read it. In files of
    text and in Excel no cell is a formula: in text such cells get an apostrophe.
    """
    check_writable(path)
    if path == STANDARD:
        _write(sys.stdout, None, rows, ",")
    elif path.suffix.lower() == ".parquet":
        _write_parquet(path, names, rows)
    elif path.suffix.lower() == ".xlsx":
        _write_excel(path, names, rows)
    else:
        _write_text(path, names, rows)


def _write_text(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    packed = path.suffix.lower() == ".gz"
    delimiter = "\t" if (path.with_suffix("") if packed else path).suffix.lower() == ".tsv" else ","
    head, *safe = ([guarded(cell) for cell in row] for row in [names, *rows])
    if not packed:
        with replacing(path) as file:
            _write(file, head, safe, delimiter)
        return
    with (
        replacing(path, "wb") as raw,
        gzip.open(raw, "wb") as inner,
        io.TextIOWrapper(inner, encoding="utf-8", newline="") as text,
    ):
        _write(text, head, safe, delimiter)


def _write(
    file: IO[str],
    names: Sequence[object] | None,
    rows: Iterable[Sequence[object]],
    delimiter: str,
) -> None:
    writer = csv.writer(file, lineterminator="\n", delimiter=delimiter)
    if names is not None:
        writer.writerow(names)
    writer.writerows(rows)


def _write_parquet(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    import pyarrow
    import pyarrow.parquet

    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    table = pyarrow.table([pyarrow.array(column) for column in columns], names=_distinct(names))
    with replacing(path, "wb") as file:
        pyarrow.parquet.write_table(table, file)


def _distinct(names: Sequence[str]) -> list[str]:
    """Give a number to names that are there already, which nobody could read again."""
    found: list[str] = []
    for name in names:
        count = sum(other == name or other.startswith(f"{name}.") for other in found)
        found.append(f"{name}.{count}" if name in found else name)
    return found


def _write_excel(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()

    def cell(value: object) -> Any:
        made = WriteOnlyCell(sheet, value=value)
        if isinstance(value, str):
            made.data_type = "s"  # else = begins a formula
        return made

    for row in [names, *rows]:
        sheet.append([cell(value) for value in row])
    with replacing(path, "wb") as file:
        book.save(file)
