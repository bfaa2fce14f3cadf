"""What runs on collection 4 cost: CPU seconds beside the paper's, and memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments.tables import PaperTable, TableCell
from kempe.bench.plan import MAIN
from kempe.bench.store import Record

COLLECTION, TABLE = "COL4", "time-col4"


class _Most(NamedTuple):
    """The largest of some numbers, and where it is."""

    value: float
    where: str


def costs_table(records: Sequence[Record], tables: Sequence[PaperTable]) -> str:
    """Write a row for each method: its time as a multiple of the paper's, and its most memory.

    Parameters
    ----------
    records
        All runs.
    tables
        The paper's tables, of which that of the CPU seconds is looked at.
    """
    cells = [cell for table in tables if table.spec.name == TABLE for cell in table.cells]
    compared = [cell for cell in cells if _seconds(cell) is not None]
    if not compared:
        return ""
    lines = [
        "CPU seconds on collection 4 as multiples of the paper's, and the largest memory of a run, "
        "data included:",
        "",
        "| method | cells | geometric mean | above the paper's | largest | most memory |",
        "|---|---|---|---|---|---|",
    ]
    methods = dict.fromkeys(cell.method for cell in compared)
    return "\n".join([*lines, *(_line(method, compared, records) for method in methods)])


def _line(method: str, compared: Sequence[TableCell], records: Sequence[Record]) -> str:
    found = [
        _Most(_seconds(cell) or 0.0, _named(cell)) for cell in compared if cell.method == method
    ]
    ratios = np.array([one.value for one in found])
    memory = max(
        (
            _Most(record.peak_mb, f"{record.name} {100 * (record.level or 0):g} %")
            for record in records
            if (record.collection, record.method, record.variant) == (COLLECTION, method, MAIN)
            and record.peak_mb is not None
        ),
        default=None,
    )
    most = max(found)
    return (
        f"| `{method}` | {ratios.size} | {math.exp(np.log(ratios).mean()):.2g} "
        f"| {np.count_nonzero(ratios > 1)} | {most.value:.2g} ({most.where}) "
        f"| {'–' if memory is None else f'{memory.value:,.0f} MB ({memory.where})'} |"
    )


def _seconds(cell: TableCell) -> float | None:
    """Give our seconds over the paper's; nothing unless there are both."""
    if cell.ours is None or not cell.paper or not cell.ours.value > 0:
        return None
    return float(cell.ours.value) / float(cell.paper)


def _named(cell: TableCell) -> str:
    return f"{cell.dataset} {100 * cell.level:g} %"
