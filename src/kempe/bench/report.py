"""A report on one or several stores: one HTML page, LaTeX, CSV and Markdown."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any

from kempe.bench.latex import latex_table
from kempe.bench.page import html_page
from kempe.bench.statistics import Comparison, compare, corrected
from kempe.bench.store import Record, Store
from kempe.bench.summary import ALL, BASELINE, PairedMeans, Quantity, Summary
from kempe.bench.tables import UNPUBLISHED, PaperTable, TableCell, build_tables, total_agreement
from kempe.bench.wording import (
    in_sentence,
    limits_in_words,
    p_value,
    seeds_in_words,
    verdict,
    why,
)
from kempe.datasets.catalogue import COLLECTIONS
from kempe.storage import replacing


def write_report(stores: Sequence[str | PathLike[str]], folder: str | PathLike[str]) -> Path:
    """Write ``report.html`` and, for tables, tests and agreement, LaTeX, CSV and Markdown files.

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
    opened = [Store(store) for store in stores]
    records = list({record.key: record for store in opened for record in store.records()}.values())
    if not records:
        raise ValueError(f"no results in {', '.join(str(store) for store in stores)}")
    target = Path(folder)
    if any(target.resolve() == store.folder.resolve() for store in opened):
        raise ValueError(
            f"a report in {target} would overwrite the runs there; name another folder"
        )
    (target / "tables").mkdir(parents=True, exist_ok=True)
    summary = Summary(records)
    tables = build_tables(summary)
    comparisons = method_comparisons(summary)
    _write_runs(target / "runs.csv", records)
    for table in [table for table in tables if table.has_runs]:
        _write_cells(target / "tables" / f"{table.spec.name}.csv", table)
        _write_text(target / "tables" / f"{table.spec.name}.tex", latex_table(table))
    _write_comparisons(target / "comparisons.csv", comparisons)
    _write_text(target / "summary.md", markdown_summary(records, tables, comparisons))
    machines = [facts for store in opened for facts in store.environments().values()]
    page = target / "report.html"
    _write_text(page, html_page(summary, records, tables, comparisons, machines))
    return page


def method_comparisons(summary: Summary) -> dict[tuple[str, str], list[Comparison]]:
    """Test every method against kempe and KSKM, over all collections and in each."""
    quantities: tuple[Quantity, ...] = ("inertia", "time")
    found: dict[tuple[str, str], list[Comparison]] = {}
    for collection in ("", *COLLECTIONS):
        for quantity in quantities:
            pairs = _pairs(summary, summary.instances(collection=collection), quantity)
            if pairs:
                found[collection or ALL, quantity] = pairs
    return found


def _pairs(
    summary: Summary, instances: Sequence[tuple[str, float]], quantity: Quantity
) -> list[Comparison]:
    """Compare all methods with kempe and KSKM, and correct the p-values together."""
    compared = [
        _comparison(first, second, summary.paired_means(first, second, quantity, instances))
        for first, second in combinations(summary.methods(), 2)
        if {first, second} & {*UNPUBLISHED, BASELINE}
    ]
    return corrected([pair for pair in compared if pair.n])


def _comparison(first: str, second: str, means: PairedMeans) -> Comparison:
    return replace(
        compare(first, second, means.first, means.second),
        seeds=means.seeds,
        limits=means.limits,
        n_limited=means.n_limited,
    )


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text)


def _write_runs(path: Path, records: Iterable[Record]) -> None:
    names = [item.name for item in fields(Record) if item.name not in ("history", "options")]
    with replacing(path) as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([getattr(record, name) for name in names] for record in records)


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


def _write_comparisons(path: Path, comparisons: dict[tuple[str, str], list[Comparison]]) -> None:
    with replacing(path) as file:
        writer = csv.writer(file)
        writer.writerow(["collection", "quantity", *(item.name for item in fields(Comparison))])
        for (collection, quantity), pairs in comparisons.items():
            writer.writerows([collection, quantity, *asdict(pair).values()] for pair in pairs)


# Markdown


def markdown_summary(
    records: Sequence[Record],
    tables: Sequence[PaperTable],
    comparisons: dict[tuple[str, str], list[Comparison]],
) -> str:
    """Agreement with the paper per table that has runs, and the paired tests over all instances."""
    covered = [table for table in tables if table.has_runs]
    parts = [verdict(covered, len(records), sum(record.ok for record in records))]
    parts += [_markdown_agreement(covered)] if covered else []
    for (collection, quantity), pairs in comparisons.items():
        if collection == ALL and max(pair.n for pair in pairs) > 1:
            parts.append(f"Paired tests, {in_sentence(quantity)}:\n\n{_markdown_tests(pairs)}")
    return "\n\n".join(parts) + "\n"


def _markdown_tests(pairs: Sequence[Comparison]) -> str:
    head = (
        "| first | second | instances | first lower | second lower | ratio | seeds | limit "
        "| left out | p (Holm) |"
    )
    rows = [
        f"| {pair.first} | {pair.second} | {pair.n} | {pair.wins} | {pair.losses} "
        f"| {pair.ratio:.4g} | {seeds_in_words(*pair.seeds)} | {limits_in_words(pair.limits)} "
        f"| {pair.n_limited} | {p_value(pair.p_holm)} |"
        for pair in pairs
    ]
    return "\n".join([head, f"|---|---|{'---:|' * 8}", *rows])


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
