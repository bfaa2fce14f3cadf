"""How far the default search ends above the best known, and at what price.

Every instance of collections 1 to 3 is fitted at the default setting, and once more until the mean
inertia of the authors' program is reached, as ``compare.py`` does; ``best_known.csv`` is the
yardstick.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from best_known import Best, BestKnown
from compare import Row, condense, execute, instances, plan, read_authors, summary
from folders import use_shared_data
from kempe.bench.store import StoreError
from tables import Section, number, show, write_markdown

SMALL, LARGE = 1e-4, 3e-3
"""Gaps that are counted: what hardly matters, and what should not be."""


def main(
    collections: Annotated[
        list[str] | None, typer.Option(help="Only this collection, as COL2; may be repeated.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Only data sets like this; may be repeated.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs per instance.")] = 5,
    worst: Annotated[int, typer.Option(min=0, help="Instances that are listed.")] = 20,
    time_limit: Annotated[float, typer.Option(help="Most seconds of a run.")] = 300.0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes. [default: one per core]")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Folder that keeps the runs; an interrupted call goes on.")
    ] = None,
    keep: Annotated[bool, typer.Option(help="Write lower values to best_known.csv.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the tables as Markdown.")] = None,
) -> None:
    """Measure the gaps of the default search to the best known."""
    use_shared_data()
    authors = read_authors()
    patterns = dataset or [f"{name}/*" for name in collections or ["COL1", "COL2", "COL3"]]
    try:
        chosen = instances(True, patterns, [])
        processes = workers or os.cpu_count() or 1
        tasks = plan(chosen, ["kempe"], seeds, time_limit, authors, processes)
        rows = condense(execute(tasks, store, workers), authors)
    except (ValueError, StoreError) as error:
        raise typer.BadParameter(str(error)) from error
    table = BestKnown.read()
    lower = [row.name for row in rows if table.offer(row.instance, _found(row))]
    if lower and keep:
        table.write()
    sections = [overview(rows, table, lower), worst_gaps(rows, table, worst), summary(rows)]
    show(sections)
    if out is not None:
        write_markdown(out, sections)


def _found(row: Row) -> Best:
    return Best(row.kempe.lowest, "search, default setting")


def gap(row: Row, table: BestKnown) -> float:
    """Mean inertia over the best known, less one."""
    best = table[row.instance].inertia
    return row.kempe.inertia / best - 1 if best > 0 else 0.0


def overview(rows: Sequence[Row], table: BestKnown, lower: Sequence[str]) -> Section:
    """Gaps over all instances."""
    gaps = np.array([gap(row, table) for row in rows])
    lines = [
        ("instances", str(len(rows))),
        ("mean gap to the best known", f"{100 * gaps.mean():.4f} %"),
        ("largest gap of an instance, mean over seeds", f"{100 * gaps.max():.4f} %"),
        (f"instances with a gap above {100 * SMALL:g} %", str((gaps > SMALL).sum())),
        (f"instances with a gap above {100 * LARGE:g} %", str((gaps > LARGE).sum())),
        ("CPU seconds, one seed of all instances", f"{sum(row.kempe.cpu for row in rows):.1f}"),
        ("new best inertia found", str(len(lower)) + (f" ({', '.join(lower)})" if lower else "")),
    ]
    return Section("Default search against the best known", ["figure", "value"], lines)


def worst_gaps(rows: Sequence[Row], table: BestKnown, most: int) -> Section:
    """List the instances with the largest gaps."""
    listed = sorted(rows, key=lambda row: -gap(row, table))[:most]
    lines = [
        [
            row.name,
            number(row.kempe.inertia, 8),
            number(table[row.instance].inertia, 8),
            f"{100 * gap(row, table):.4f}",
            number(row.kempe.cpu, 3),
            number(row.authors and row.authors.inertia / row.kempe.inertia, 5),
            number(row.authors and row.authors.cpu, 3),
            number(row.speed_up, 3),
        ]
        for row in listed
    ]
    header = ["instance", "mean inertia", "best known", "gap %", "CPU s"]
    header += ["authors' inertia / ours", "authors' CPU s", "speed-up to theirs"]
    return Section("Largest gaps", header, lines)


if __name__ == "__main__":
    typer.run(main)
