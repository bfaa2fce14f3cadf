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


class _Multiple(NamedTuple):
    """Our seconds over the paper's in a cell, and whether our limit cut some of them."""

    value: float
    where: str
    cut: bool


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
    found: dict[str, list[_Multiple]] = {}
    for cell in cells:
        multiple = _multiple(cell)
        if multiple is not None:
            found.setdefault(cell.method, []).append(multiple)
    if not found:
        return ""
    lines = [
        "CPU seconds on collection 4 as multiples of the paper's, and the largest memory of a run, "
        "data included. Times that our limit cut are too short, and so are their multiples:",
        "",
        "| method | cells | geometric mean | above the paper's | largest | cut by our limit "
        "| geometric mean of the others | most memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows = (_line(method, multiples, records) for method, multiples in found.items())
    return "\n".join([*lines, *rows])


def _line(method: str, multiples: Sequence[_Multiple], records: Sequence[Record]) -> str:
    memory = max(
        (
            _Most(record.peak_mb, f"{record.name} {100 * (record.level or 0):g} %")
            for record in records
            if (record.collection, record.method, record.variant) == (COLLECTION, method, MAIN)
            and record.peak_mb is not None
        ),
        default=None,
    )
    most = max(multiples)
    whole = [one for one in multiples if not one.cut]
    return (
        f"| `{method}` | {len(multiples)} | {_mean(multiples)} "
        f"| {sum(one.value > 1 for one in multiples)} | {most.value:.2g} ({most.where}) "
        f"| {len(multiples) - len(whole)} | {_mean(whole)} "
        f"| {'–' if memory is None else f'{memory.value:,.0f} MB ({memory.where})'} |"
    )


def _mean(multiples: Sequence[_Multiple]) -> str:
    if not multiples:
        return "–"
    return f"{math.exp(np.mean([math.log(one.value) for one in multiples])):.2g}"


def _multiple(cell: TableCell) -> _Multiple | None:
    """Give our seconds over the paper's; nothing unless there are both."""
    if cell.ours is None or not cell.paper or not cell.ours.value > 0:
        return None
    where = f"{cell.dataset} {100 * cell.level:g} %"
    return _Multiple(cell.ours.value / cell.paper, where, cell.ours.n_limited > 0)
