"""A report on the paper's tables, from one or several stores: HTML, LaTeX, CSV, Markdown."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

from experiments.claims import claims_page
from experiments.costs import costs_table
from experiments.latex import paper_table
from experiments.multiples import BASELINE
from experiments.page import html_page
from experiments.program import beside_the_program
from experiments.tables import UNPUBLISHED, PaperTable, TableCell, build_tables, total_agreement
from experiments.wording import unrun, verdict, why
from kempe.bench.report import (
    Comparisons,
    Runs,
    markdown_tests,
    method_comparisons,
    write_comparisons,
    write_runs,
    write_text,
)
from kempe.storage import replacing


def write_report(stores: Sequence[str | PathLike[str]], folder: str | PathLike[str]) -> Path:
    """Write ``report.html``, ``claims.md`` and files of tables, tests and agreement.

    LaTeX, CSV and Markdown.

    Parameters
    ----------
    stores
        Folders with results, read as one.
    folder
        Where to write; made if it does not exist.

    Returns
    -------
    Path
        The HTML page.
    """
    target = Path(folder)
    runs = Runs.read(stores, target)
    (target / "tables").mkdir(parents=True, exist_ok=True)
    tables = build_tables(runs.summary)
    comparisons = method_comparisons(runs.summary, [*UNPUBLISHED, BASELINE])
    write_runs(target / "runs.csv", runs.records)
    for table in [table for table in tables if table.has_runs]:
        _write_cells(target / "tables" / f"{table.spec.name}.csv", table)
        write_text(target / "tables" / f"{table.spec.name}.tex", paper_table(table))
    write_comparisons(target / "comparisons.csv", comparisons)
    write_text(target / "summary.md", markdown_summary(runs, tables, comparisons))
    write_text(target / "claims.md", claims_page(runs.summary, tables))
    page = target / "report.html"
    write_text(page, html_page(runs, tables, comparisons))
    return page


def _write_cells(path: Path, table: PaperTable) -> None:
    head = (
        "dataset,level,quantity,method,paper,ours,low,high,data_sets,data_sets_tried,"
        "data_sets_of,runs,seeds,ended_by_limit,agrees_in_size,agrees_in_direction,cause"
    )
    with replacing(path) as file:
        writer = csv.writer(file)
        writer.writerow(head.split(","))
        writer.writerows(_cell_row(cell) for cell in table.cells)


def _cell_row(cell: TableCell) -> list[Any]:
    ours = cell.ours
    numbers = [""] * 9 if ours is None else list(asdict(ours).values())
    return [
        cell.dataset,
        cell.level,
        cell.quantity,
        cell.method,
        cell.paper,
        *numbers,
        cell.size,
        cell.direction,
        "" if cell.cause is None else cell.cause.name,
    ]


def markdown_summary(runs: Runs, tables: Sequence[PaperTable], comparisons: Comparisons) -> str:
    """Agreement with the paper per table that has runs, and the paired tests over all instances."""
    covered = [table for table in tables if table.has_runs]
    parts = [verdict(covered, len(runs.records), runs.solved)]
    if covered:
        beside = (costs_table(runs.records, covered), beside_the_program(runs.summary))
        parts += [_markdown_agreement(covered), *filter(None, beside), *unrun(covered)]
    return "\n\n".join([*parts, *markdown_tests(comparisons)]) + "\n"


def _markdown_agreement(tables: Sequence[PaperTable]) -> str:
    lines = [
        "| table of the paper | agree in direction | two like ours | opposite | agree in size "
        "| explained | unexplained | partial |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows = [(table.spec.title, table.agreement()) for table in tables]
    for title, counts in [*rows, ("**all tables**", total_agreement(tables))]:
        direction = _of(counts.direction, counts.directed)
        direction += f" | {counts.repeatable:.0f} | {counts.opposed}"
        size = _of(counts.size, counts.compared)
        differ = f"{counts.explained} | {counts.unexplained}"
        lines.append(f"| {title} | {direction} | {size} | {differ} | {counts.partial} |")
    causes = [f"- {table.spec.title}: {why(table)}" for table in tables if table.differences]
    return "\n".join([*lines, *([""] if causes else []), *causes])


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "–"
