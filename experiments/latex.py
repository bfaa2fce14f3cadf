"""The tables of the paper in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from experiments.tables import PaperTable, TableCell
from experiments.wording import rule_in_words
from kempe.bench.wording import HEADINGS


def latex_table(table: PaperTable) -> str:
    """Booktabs table with our numbers and, in brackets, the published ones."""
    parts = []
    for quantity, _, rule in table.spec.parts:
        methods = table.methods(quantity)
        head = " & ".join(["Data", "Level", *(_latex(method) for method in methods)])
        caption = (
            f"{table.spec.title}. {HEADINGS[quantity]}, ours (paper's), bold where the sizes "
            "disagree, italic where data sets are missing; agreement in size "
        )
        body = "\n".join(_latex_rows(table, quantity, methods))
        parts.append(
            "\\begin{table}\n"
            f"\\caption{{{_latex(caption + rule_in_words(rule))}.}}\n"
            f"\\begin{{tabular}}{{ll{'r' * len(methods)}}}\n\\toprule\n{head} \\\\\n\\midrule\n"
            f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        )
    return "\n".join(parts)


def _latex_rows(table: PaperTable, quantity: str, methods: Sequence[str]) -> Iterable[str]:
    cells = table.lookup()
    for dataset, level in table.rows:
        row = [_latex(dataset), f"{level:g}"]
        row += [_latex_cell(cells.get((dataset, level, quantity, name)), table) for name in methods]
        yield " & ".join(row).replace("–", "--") + r" \\"


def _latex_cell(cell: TableCell | None, table: PaperTable) -> str:
    ours, paper = table.numbers(cell)
    if cell is not None and cell.ours is not None:
        ours = "failed" if math.isnan(cell.ours.value) else ours
        if cell.size is False:
            ours = f"\\textbf{{{ours}}}"
        if cell.ours.partial:
            ours = f"\\textit{{{ours}}}"
    return f"{ours} ({paper})" if paper != "–" else ours


def _latex(text: str) -> str:
    for symbol in "&%_#":
        text = text.replace(symbol, f"\\{symbol}")
    return text.replace("±", "$\\pm$")
