"""A report on one or several stores: one HTML page, LaTeX, CSV and Markdown."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any

from kempe.bench.page import html_page
from kempe.bench.statistics import Comparison, compare, corrected
from kempe.bench.store import Record, Store
from kempe.bench.summary import ALL, PairedMeans, Quantity, Summary
from kempe.bench.tables import write_tables
from kempe.bench.wording import (
    in_sentence,
    limits_in_words,
    markdown_cell,
    outcome_in_words,
    p_value,
    seeds_in_words,
)
from kempe.storage import replacing

Comparisons = Mapping[tuple[str, str], Sequence[Comparison]]
"""Paired tests by collection and quantity."""


@dataclass(frozen=True)
class Runs:
    """What a report is about.

    Attributes
    ----------
    records
        All runs, each once.
    machines
        What they were made with.
    """

    records: Sequence[Record]
    machines: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, stores: Sequence[str | PathLike[str]], target: Path) -> Runs:
        """Read several stores as one.

        Parameters
        ----------
        target
            Where the report goes, which must not be a store.
        """
        opened = [Store(store) for store in stores]
        records = {record.key: record for store in opened for record in store.records()}
        if not records:
            raise ValueError(f"no results in {', '.join(str(store) for store in stores)}")
        if any(target.resolve() == store.folder.resolve() for store in opened):
            raise ValueError(
                f"a report in {target} would overwrite the runs there; name another folder"
            )
        machines = [facts for store in opened for facts in store.environments().values()]
        return cls(list(records.values()), machines)

    @cached_property
    def summary(self) -> Summary:
        """The runs by method and instance."""
        return Summary(self.records)

    @property
    def solved(self) -> int:
        """Number of runs that ended with a clustering."""
        return sum(record.ok for record in self.records)


def write_report(stores: Sequence[str | PathLike[str]], folder: str | PathLike[str]) -> Path:
    """Write ``report.html``, runs and paired tests as CSV and Markdown, and tables as LaTeX.

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
    target.mkdir(parents=True, exist_ok=True)
    comparisons = method_comparisons(runs.summary, runs.summary.methods()[:1])
    write_runs(target / "runs.csv", runs.records)
    write_comparisons(target / "comparisons.csv", comparisons)
    write_tables(target / "tables", runs.summary)
    told = [outcome_in_words(len(runs.records), runs.solved), *markdown_tests(comparisons)]
    write_text(target / "summary.md", "\n\n".join(told) + "\n")
    page = target / "report.html"
    write_text(page, html_page(runs.summary, runs.records, comparisons, runs.machines))
    return page


def method_comparisons(summary: Summary, references: Iterable[str]) -> Comparisons:
    """Test every method against some, over all collections and in each.

    Parameters
    ----------
    references
        The methods that others are tested against.
    """
    quantities: tuple[Quantity, ...] = ("inertia", "time")
    found: dict[tuple[str, str], list[Comparison]] = {}
    for collection in ("", *summary.collections()):
        for quantity in quantities:
            instances = summary.instances(collection=collection)
            pairs = _pairs(summary, instances, quantity, set(references))
            if pairs:
                found[collection or ALL, quantity] = pairs
    return found


def _pairs(
    summary: Summary,
    instances: Sequence[tuple[str, float]],
    quantity: Quantity,
    references: set[str],
) -> list[Comparison]:
    """Compare all methods with some, and correct the p-values together."""
    compared = [
        _comparison(first, second, summary.paired_means(first, second, quantity, instances))
        for first, second in combinations(summary.methods(), 2)
        if {first, second} & references
    ]
    return corrected([pair for pair in compared if pair.n])


def _comparison(first: str, second: str, means: PairedMeans) -> Comparison:
    return replace(
        compare(first, second, means.first, means.second),
        seeds=means.seeds,
        limits=means.limits,
        n_limited=means.n_limited,
    )


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as file:
        file.write(text)


def write_runs(path: Path, records: Iterable[Record]) -> None:
    """Write a line for each run, without its history."""
    names = [item.name for item in fields(Record) if item.name not in ("history", "options")]
    with replacing(path) as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([getattr(record, name) for name in names] for record in records)


def write_comparisons(path: Path, comparisons: Comparisons) -> None:
    """Write a line for each paired test."""
    with replacing(path) as file:
        writer = csv.writer(file)
        writer.writerow(["collection", "quantity", *(item.name for item in fields(Comparison))])
        for (collection, quantity), pairs in comparisons.items():
            writer.writerows([collection, quantity, *asdict(pair).values()] for pair in pairs)


def markdown_tests(comparisons: Comparisons) -> list[str]:
    """Give the paired tests over all collections that rest on several instances, as tables."""
    return [
        f"Paired tests, {in_sentence(quantity)}:\n\n{_markdown_tests(pairs)}"
        for (collection, quantity), pairs in comparisons.items()
        if collection == ALL and max(pair.n for pair in pairs) > 1
    ]


def _markdown_tests(pairs: Sequence[Comparison]) -> str:
    head = (
        "| first | second | instances | first lower | second lower | ratio | seeds | limit "
        "| left out | p (Holm) |"
    )
    rows = [
        f"| {markdown_cell(pair.first)} | {markdown_cell(pair.second)} | {pair.n} | {pair.wins} "
        f"| {pair.losses} | {pair.ratio:.4g} | {seeds_in_words(*pair.seeds)} "
        f"| {limits_in_words(pair.limits)} | {pair.n_limited} "
        f"| {markdown_cell(p_value(pair.p_holm))} |"
        for pair in pairs
    ]
    return "\n".join([head, f"|---|---|{'---:|' * 8}", *rows])
