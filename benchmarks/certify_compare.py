"""Count the instances on which KSKM, PCCC and the others were optimal.

Certificates decide it: an inertia within the tolerance of a proven lower bound is optimal to that
tolerance, one that is above that of the certified labels by more is not, and in between it stays
open. The paper has means over collections, which decide nothing. What has figures of single
instances are our runs of all methods in ``docs/results/runs``, and those of the authors' program in
``kskm_authors.csv``, which are rounded: where that digit matters, the answer is open too.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated

import typer

from compare import read_authors
from kempe.bench import Store
from kempe.bench.plan import MAIN
from kempe.bench.summary import Summary
from tables import Section, show, write_markdown

RUNS = Path(__file__).parents[1] / "docs" / "results" / "runs"
AUTHORS = "KSKM, the authors' program"
VERDICTS = ("optimal", "not optimal", "open", "no solution")

Instance = tuple[str, float]
"""Collection and name, and level of constraints."""


@dataclass(frozen=True)
class Bounds:
    """What a certificate says about an instance."""

    lower: float
    inertia: float

    def verdict(self, inertia: float | None, rounding: float, tolerance: float) -> str:
        """Say whether a clustering of this inertia is optimal."""
        if inertia is None:
            return "no solution"
        if inertia + rounding <= self.lower * (1 + tolerance):
            return "optimal"
        worse = inertia - rounding > self.inertia * (1 + tolerance)
        return "not optimal" if worse else "open"


@dataclass
class Figures:
    """The lowest and the mean inertia of a method on instances, and how they were rounded."""

    rounding: float
    lowest: dict[Instance, float | None] = field(default_factory=dict)
    mean: dict[Instance, float | None] = field(default_factory=dict)


def main(
    certificates: Annotated[Path, typer.Argument(help="Table that certify.py wrote as CSV.")],
    collection: Annotated[
        list[str] | None, typer.Option(help="Collection to look at; may be repeated. [COL1]")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="Relative gap that counts as optimal.")] = 1e-4,
    runs: Annotated[Path, typer.Option(help="Store with our runs.")] = RUNS,
    out: Annotated[Path | None, typer.Option(help="Write a Markdown file.")] = None,
) -> None:
    """Count the instances on which each method was optimal."""
    collections = collection or ["COL1"]
    bounds = read_certificates(certificates, collections)
    methods = read_runs(runs, collections)
    methods[AUTHORS] = figures_of_authors(collections)
    sections = [comparison(kind, methods, bounds, tolerance) for kind in ("lowest", "mean")]
    show(sections)
    if out is not None:
        write_markdown(out, sections)


def read_certificates(path: Path, collections: Sequence[str]) -> dict[Instance, Bounds]:
    """Bounds of the instances of some collections, the best of all certificates of each."""
    found: dict[Instance, Bounds] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["collection"] in collections:
                own = Bounds(float(row["lower_bound"]), float(row["inertia"]))
                instance = f"{row['collection']}/{row['name']}", float(row["level"])
                known = found.get(instance, own)
                found[instance] = Bounds(
                    max(own.lower, known.lower), min(own.inertia, known.inertia)
                )
    return found


def figures_of_authors(collections: Sequence[str]) -> Figures:
    """Figures of the authors' program on some collections."""
    figures = Figures(0.5e-6)
    for (dataset, level), runs in read_authors().items():
        if dataset.split("/")[0] in collections:
            figures.lowest[dataset, level] = runs.lowest
            figures.mean[dataset, level] = runs.inertia
    return figures


def read_runs(folder: Path, collections: Sequence[str]) -> dict[str, Figures]:
    """Figures of our runs of each method, as the paper ran it."""
    summary = Summary(run for run in Store(folder).records() if run.collection in collections)
    methods = {name: Figures(rounding=0.0) for name in summary.methods()}
    for name, (dataset, level) in product(methods, summary.instances()):
        cell = summary.cell(MAIN, dataset, level, name)
        if cell is not None:
            found = dataset, level
            methods[name].lowest[found] = cell.best("inertia") if cell.solved else None
            methods[name].mean[found] = cell.mean("inertia") if cell.solved else None
    return methods


def comparison(
    kind: str, methods: Mapping[str, Figures], bounds: Mapping[Instance, Bounds], tolerance: float
) -> Section:
    """Count the verdicts on the lowest or the mean inertia of each method."""
    certified = sum(b.inertia - b.lower <= tolerance * b.inertia for b in bounds.values())
    title = (
        f"Instances of {len(bounds)} ({certified} with bounds that tight) on which the {kind} "
        f"inertia of all seeds is optimal to {100 * tolerance:g} %"
    )
    rows = []
    for name, figures in methods.items():
        counts = _counts(getattr(figures, kind), figures.rounding, bounds, tolerance)
        verdicts = [str(counts[verdict]) for verdict in VERDICTS]
        rows.append([name, str(counts.total()), *verdicts])
    return Section(title, ["method", "instances", *VERDICTS], rows)


def _counts(
    values: Mapping[Instance, float | None],
    rounding: float,
    bounds: Mapping[Instance, Bounds],
    tolerance: float,
) -> Counter[str]:
    common: Iterable[Instance] = values.keys() & bounds.keys()
    return Counter(bounds[i].verdict(values[i], rounding, tolerance) for i in common)


if __name__ == "__main__":
    typer.run(main)
