"""The tables of the paper in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from experiments.tables import PaperTable, TableCell
from experiments.wording import rule_in_words
from kempe.bench.latex import latex_table, latex_text
from kempe.bench.wording import HEADINGS


def paper_table(table: PaperTable) -> str:
    """Booktabs table with our numbers and, in brackets, the published ones."""
    parts = []
    for quantity, _, rule in table.spec.parts:
        methods = table.methods(quantity)
        caption = (
            f"{table.spec.title}. {HEADINGS[quantity]}, ours (paper's), bold where the sizes "
            "disagree, italic where data sets are missing; agreement in size "
            f"{rule_in_words(rule)}."
        )
        rows = _rows(table, quantity, methods)
        parts.append(latex_table(caption, ["Data", "Level", *methods], rows, n_left=2))
    return "\n".join(parts)


def _rows(table: PaperTable, quantity: str, methods: Sequence[str]) -> Iterable[list[str]]:
    cells = table.lookup()
    for dataset, level in table.rows:
        found = [cells.get((dataset, level, quantity, name)) for name in methods]
        yield [latex_text(dataset), f"{level:g}", *(_cell(cell, table) for cell in found)]


def _cell(cell: TableCell | None, table: PaperTable) -> str:
    ours, paper = map(latex_text, table.numbers(cell))
    if cell is not None and cell.ours is not None:
        ours = "failed" if math.isnan(cell.ours.value) else ours
        if cell.size is False:
            ours = f"\\textbf{{{ours}}}"
        if cell.ours.partial:
            ours = f"\\textit{{{ours}}}"
    return f"{ours} ({paper})" if paper != "--" else ours
