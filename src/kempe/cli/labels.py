"""Labels of rows as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kempe.storage import unguarded
from kempe.tables import open_table, write_table
from kempe.tables.missing import is_missing
from kempe.tables.table import is_number

if TYPE_CHECKING:
    from kempe.search.result import BrokenPairs
    from kempe.tables import Ids, Table

COLUMN = "label"


def write_joined(path: Path, table: Table, labels: Sequence[object]) -> None:
    """Write a table with the label of each row in a column of its own, the last one."""
    name = COLUMN if COLUMN not in table.names else f"kempe_{COLUMN}"
    columns = [typed(texts) for texts in table.texts_of(range(len(table.names)))]
    write_table(path, [*table.names, name], zip(*columns, labels, strict=True))


def violated_table(broken: BrokenPairs | None) -> tuple[list[str], list[list[object]]]:
    """Give the soft pairs that labels break as a table; with the method's prices if it has any."""
    names = ["kind", "first", "second", "confidence", "price"]
    if broken is None:
        return names, []
    kinds = ["must-link" if together else "cannot-link" for together in broken.together]
    sure = [None if value != value else float(value) for value in broken.confidence]
    rows = zip(kinds, *zip(*broken.names, strict=True), sure, broken.price.tolist(), strict=True)
    return names, [list(row) for row in rows] if kinds else []


def typed(cells: Sequence[str]) -> list[Any]:
    """Give a column of text as numbers, if it is one, and holes as nothing."""
    if not all(is_number(cell) or is_missing(cell) for cell in cells):
        return [None if cell == "" else cell for cell in cells]
    whole = all(cell.lstrip("+-").isdecimal() for cell in cells if is_number(cell))
    kind = int if whole and all(str(int(c)) == c for c in cells if is_number(c)) else float
    if kind is float and whole:  # such as 007, which is no number but a name
        return [None if cell == "" else cell for cell in cells]
    return [kind(cell) if is_number(cell) else None for cell in cells]


def write_labels(path: Path, labels: Sequence[object], ids: Ids | None = None) -> None:
    """Write the label of each row, behind its id if there are ids."""
    if ids is None:
        write_table(path, [COLUMN], ([label] for label in labels))
    else:
        write_table(path, [ids.column, COLUMN], zip(ids.names, labels, strict=True))


def read_labels(path: Path, n_rows: int, ids: Ids | None = None) -> NDArray[np.int32]:
    """Read the cluster of each row, whatever it is called, as numbers from 0.

    Parameters
    ----------
    path
        A file as ``write_labels`` writes it: labels in the order of the rows, or with ids.
    n_rows
        Number of rows of the data.
    ids
        Ids of the rows, if there are any.
    """
    table = open_table(path, _is_header)
    if len(table.names) == 2 and ids is not None:
        names = map(unguarded, table.texts(0))
        labels = _in_order_of(ids, dict(zip(names, table.texts(1), strict=True)), path)
    elif len(table.names) == 1:
        labels = table.texts(0)
    else:
        hint = "" if ids is not None else "; for labels with ids give --id-column"
        raise ValueError(f"{path}: labels need one column, found {len(table.names)}{hint}")
    if len(labels) != n_rows:
        raise ValueError(f"{path} has {len(labels):,} labels, but the data has {n_rows:,} rows")
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _is_header(first: list[str], second: list[str]) -> bool:
    """Whether the first line is that which ``write_labels`` writes; clusters may have any name."""
    return first[-1] == COLUMN


def _in_order_of(ids: Ids, labels: dict[str, str], path: Path) -> list[str]:
    missing = [name for name in ids.names if name not in labels]
    if missing:
        raise ValueError(f"{path} has no label for the id {missing[0]!r}")
    return [labels[name] for name in ids.names]
