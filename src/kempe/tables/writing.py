"""Tables written as text."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from kempe.storage import replacing
from kempe.tables.formats import OTHER_FORMATS
from kempe.tables.source import STANDARD


def check_writable(path: Path) -> None:
    """Refuse a name that says another format than the one that would be written."""
    if path.suffix.lower() in OTHER_FORMATS:
        raise ValueError(f"{path}: tables are written as .csv or .tsv, packed if .gz follows")


def write_table(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table as CSV, or as TSV if the name says so, packed if it ends in ``.gz``.

    To standard output (``-``) it goes without names, as other programs like to read it.
    """
    check_writable(path)
    if path == STANDARD:
        _write(sys.stdout, None, rows, ",")
        return
    packed = path.suffix.lower() == ".gz"
    delimiter = "\t" if (path.with_suffix("") if packed else path).suffix.lower() == ".tsv" else ","
    if not packed:
        with replacing(path) as file:
            _write(file, names, rows, delimiter)
        return
    with (
        replacing(path, "wb") as raw,
        gzip.open(raw, "wb") as inner,
        io.TextIOWrapper(inner, encoding="utf-8", newline="") as text,
    ):
        _write(text, names, rows, delimiter)


def _write(
    file: IO[str], names: Sequence[str] | None, rows: Iterable[Sequence[object]], delimiter: str
) -> None:
    writer = csv.writer(file, lineterminator="\n", delimiter=delimiter)
    if names is not None:
        writer.writerow(names)
    writer.writerows(rows)
