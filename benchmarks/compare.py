"""Inertia and CPU time of kempe, KSKM and unconstrained k-means, and of the authors' program.

All runs of one call share a machine, data and starting centroids. Where the authors' figures are
known, a second series of runs measures the CPU time until their mean inertia is reached; those runs
make their own start, and its time counts. ``kskm_authors.csv`` has their figures: mean and lowest
inertia and mean CPU seconds of up to five seeds that found a clustering.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from folders import available, use_shared_data
from kempe.bench import Experiment, Plan, Record, Store, load_plan, run
from kempe.bench.progress import PlanProgress
from kempe.bench.statistics import compare, corrected
from kempe.bench.store import StoreError
from tables import Section, number, show, write_csv, write_markdown

KMEANS = "reference_methods:UnconstrainedKMeans"
FROM_SCRATCH = "reference_methods:kempe_from_scratch"
METHODS = {"kempe": "kempe", "KSKM": "KSKM_text", "KSKM as run": "KSKM", "k-means": KMEANS}
FIGURES_OF_AUTHORS = Path(__file__).with_name("kskm_authors.csv")
TARGET = "target"
WARM_UP = "warm-up"

TOLERANCE = 1e-6
"""Relative difference of inertia that does not count; the authors' figures are rounded."""
SHORT = 0.1
"""Seconds below which the fixed costs of a run hide the ratio of two times."""
ALLOWANCE = 0.01
"""Seconds that a run may take longer than a short one of the authors."""

Instance = tuple[str, float]


@dataclass(frozen=True)
class Runs:
    """Means over the seeds of one method on one instance."""

    inertia: float
    lowest: float
    cpu: float

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> Runs | None:
        """Condense pairs of inertia and CPU seconds; ``None`` if there are none."""
        if not pairs:
            return None
        inertia, cpu = np.array(pairs).T
        return cls(float(inertia.mean()), float(inertia.min()), float(cpu.mean()))

    @property
    def spread(self) -> float:
        """How far the mean lies above the lowest, relatively."""
        return (self.inertia - self.lowest) / self.lowest


@dataclass(frozen=True)
class Row:
    """What is known about one instance.

    Attributes
    ----------
    target
        Runs of kempe that end at the mean inertia of the authors.
    missed
        How many of them ended above it.
    """

    instance: Instance
    kempe: Runs
    kskm: Runs | None
    as_run: Runs | None
    kmeans: Runs | None
    authors: Runs | None
    target: Runs | None
    missed: int

    @property
    def name(self) -> str:
        """Data set and level."""
        return f"{self.instance[0]} {self.instance[1]:g}"

    @property
    def quality(self) -> float | None:
        """Our mean inertia over that of the authors."""
        return None if self.authors is None else self.kempe.inertia / self.authors.inertia

    @property
    def speed_up(self) -> float | None:
        """CPU time of the authors over ours until their inertia is reached."""
        if self.authors is None or self.target is None:
            return None
        return self.authors.cpu / self.target.cpu


def main(
    everything: Annotated[
        bool, typer.Option("--all", help="All 346 instances of collections 1 to 3.")
    ] = False,
    collections: Annotated[
        list[str] | None, typer.Option(help="Only this collection, as COL2; may be repeated.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Only data sets like this; may be repeated.")
    ] = None,
    level: Annotated[list[float] | None, typer.Option(help="Only this level.")] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="Only kempe and this: KSKM, KSKM as run or k-means.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs per method and instance.")] = 5,
    time_limit: Annotated[float, typer.Option(help="Most seconds of a run.")] = 300.0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes. [default: one per core]")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Folder that keeps the runs; an interrupted call goes on.")
    ] = None,
    out: Annotated[
        list[Path] | None, typer.Option(help="Write a .csv or .md file; may be repeated.")
    ] = None,
) -> None:
    """Compare kempe with KSKM, unconstrained k-means and the authors' figures."""
    use_shared_data()
    authors = read_authors()
    patterns = dataset or [f"{name}/*" for name in collections or ["COL1", "COL2", "COL3"]]
    try:
        chosen = instances(everything, patterns, level or [])
        kept = chosen_methods(methods or list(METHODS))
        tasks = plan(chosen, kept, seeds, time_limit, authors, workers or os.cpu_count() or 1)
        rows = condense(execute(tasks, store, workers), authors)
    except (ValueError, StoreError) as error:
        raise typer.BadParameter(str(error)) from error
    sections = [comparison(rows), *([summary(rows), paired_tests(rows)] if rows else [])]
    show(sections)
    for path in out or []:
        write(path, rows, sections)


def instances(everything: bool, patterns: Sequence[str], levels: Sequence[float]) -> list[Instance]:
    """Instances that are asked for and whose data is there."""
    chosen = load_plan(Path(__file__).with_name("compare.toml"))
    if everything:
        whole = Experiment(["kempe"], ["COL1/*", "COL2/*", "COL3/*"])
        chosen = replace(chosen, experiments=[whole])
    tasks = chosen.restricted(["kempe"], patterns, seeds=1).tasks()
    wanted = [(task.dataset, task.level) for task in tasks if not levels or task.level in levels]
    found = [item for item in sorted(wanted) if available(item[0])]
    if not found:
        raise ValueError("no instance is left, or its data is missing")
    return found


def chosen_methods(names: Sequence[str]) -> list[str]:
    """Names that the runner knows, kempe always among them."""
    unknown = set(names) - set(METHODS)
    if unknown:
        raise ValueError(f"unknown method {', '.join(unknown)}; known are {', '.join(METHODS)}")
    return [METHODS[name] for name in METHODS if name == "kempe" or name in names]


def plan(
    chosen: Iterable[Instance],
    methods: Sequence[str],
    seeds: int,
    time_limit: float,
    authors: dict[Instance, Runs],
    workers: int,
) -> Plan:
    """All runs, those on the same data next to each other."""
    common = {"seeds": range(seeds), "time_limit": time_limit}
    # The first run of a process pays for what is loaded on first use; these are not counted.
    experiments = [Experiment(["kempe"], ["COL3/n500-k2"], [0.05], range(workers), WARM_UP)]
    for name, level in chosen:
        experiments.append(Experiment(methods, [name], [level], **common))
        known = authors.get((name, level))
        if known is not None:
            goal = {FROM_SCRATCH: {"target_inertia": known.inertia * (1 + TOLERANCE)}}
            experiments.append(
                Experiment([FROM_SCRATCH], [name], [level], variant=TARGET, options=goal, **common)
            )
    return Plan("compare", experiments)


def execute(tasks: Plan, store: Path | None, workers: int | None) -> list[Record]:
    """Run a plan, in a folder that vanishes unless one is given."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        PlanProgress(tasks.name, Console(stderr=True)) as progress,
    ):
        return run(
            tasks,
            Store(store or Path(scratch)),
            workers=workers,
            on_start=progress.start,
            on_record=lambda record: progress.record(_as_expected(record)),
        )


def _as_expected(record: Record) -> Record:
    """Do not show it as a failure that unconstrained k-means violates constraints."""
    return replace(record, status="ok") if record.method == KMEANS else record


def read_authors() -> dict[Instance, Runs]:
    """Figures of the authors' program per instance."""
    with FIGURES_OF_AUTHORS.open(encoding="utf-8", newline="") as file:
        return {
            (row["dataset"], float(row["level"])): Runs(
                float(row["inertia"]), float(row["lowest"]), float(row["cpu_s"])
            )
            for row in csv.DictReader(file)
        }


def condense(records: Iterable[Record], authors: dict[Instance, Runs]) -> list[Row]:
    """Group records by instance."""
    cells: dict[Instance, dict[str, list[tuple[float, float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for record in records:
        # Unconstrained k-means violates constraints, which the runner takes for a failure.
        usable = record.ok or record.method == KMEANS
        if usable and record.inertia is not None and record.variant != WARM_UP:
            cell = cells[record.dataset, float(record.level or 0)]
            cell[record.method].append((record.inertia, record.cpu_s or 0.0))
    rows = [_row(instance, cells[instance], authors.get(instance)) for instance in sorted(cells)]
    return [row for row in rows if row is not None]


def _row(
    instance: Instance, cell: dict[str, list[tuple[float, float]]], authors: Runs | None
) -> Row | None:
    ours = Runs.of(cell["kempe"])
    if ours is None:
        return None
    goal = np.inf if authors is None else authors.inertia * (1 + 2 * TOLERANCE)
    missed = sum(inertia > goal for inertia, _ in cell[FROM_SCRATCH])
    others = [Runs.of(cell[METHODS[name]]) for name in ("KSKM", "KSKM as run", "k-means")]
    return Row(instance, ours, *others, authors, Runs.of(cell[FROM_SCRATCH]), missed)


def comparison(rows: Sequence[Row]) -> Section:
    """One line per instance; ratios are above 1 where kempe is better."""
    header = [
        "instance",
        "inertia",
        "CPU s",
        "KSKM inertia",
        "CPU",
        "k-means inertia",
        "CPU",
        "authors' inertia",
        "CPU",
        "s to theirs",
        "speed-up",
    ]
    title = "kempe, and the others as multiples of it"
    return Section(title, header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    ours = row.kempe
    cells = [row.name, number(ours.inertia, 6), number(ours.cpu, 3)]
    for other in (row.kskm, row.kmeans, row.authors):
        cells.append(number(other and other.inertia / ours.inertia, 5))
        cells.append(number(other and other.cpu / ours.cpu, 3))
    missed = f" ({row.missed} missed)" if row.missed else ""
    return [*cells, number(row.target and row.target.cpu, 3) + missed, number(row.speed_up, 3)]


def summary(rows: Sequence[Row]) -> Section:
    """Figures over all instances."""
    lines = [
        ("instances", str(len(rows))),
        ("mean spread over seeds, (mean - min) / min", _percent([r.kempe.spread for r in rows])),
    ]
    for name, others in (
        ("KSKM", [row.kskm for row in rows]),
        ("unconstrained k-means", [row.kmeans for row in rows]),
    ):
        pairs = [(o, r.kempe) for o, r in zip(others, rows, strict=True) if o is not None]
        if pairs:
            ratios = [(o.inertia / k.inertia, o.cpu / k.cpu) for o, k in pairs]
            inertia, cpu = np.exp(np.log(ratios).mean(axis=0))
            text = f"{inertia:.4f}, {cpu:.3g}"
            lines.append((f"{name} over kempe, geometric means of inertia and CPU", text))
    return Section("Summary", ["figure", "value"], [*lines, *_against_authors(rows)])


def paired_tests(rows: Sequence[Row]) -> Section:
    """Wilcoxon signed-rank tests over instances, corrected together."""
    found = []
    for name, others in (
        ("KSKM", [row.kskm for row in rows]),
        ("the authors' program", [row.authors for row in rows]),
    ):
        pairs = [(r.kempe, o) for r, o in zip(rows, others, strict=True) if o is not None]
        for quantity in ("inertia", "cpu"):
            ours, theirs = ([getattr(pair[i], quantity) for pair in pairs] for i in (0, 1))
            # The authors' inertia is known to so many digits only.
            found.append(compare(f"{name}: {quantity}", "", ours, theirs, same=TOLERANCE))
    header = ["kempe against", "instances", "lower", "higher", "ratio", "p", "p (Holm)"]
    lines = [
        [
            item.first.replace("cpu", "CPU time"),
            str(item.n),
            str(item.wins),
            str(item.losses),
            f"{item.ratio:.4g}",
            f"{item.p_value:.2g}",
            f"{item.p_holm:.2g}",
        ]
        for item in corrected([item for item in found if item.n])
    ]
    return Section("Paired tests (Wilcoxon signed-rank over instances)", header, lines)


def _against_authors(rows: Sequence[Row]) -> list[tuple[str, str]]:
    known = [(row, row.authors) for row in rows if row.authors is not None]
    if not known:
        return []
    worse = [row for row, _ in known if (row.quality or 0) > 1 + TOLERANCE]
    ours, theirs = sum(row.kempe.cpu for row, _ in known), sum(a.cpu for _, a in known)
    lines = [
        ("instances with figures of the authors", str(len(known))),
        ("mean inertia above theirs", _named(worse)),
        ("worst ratio of mean inertia to theirs", f"{max(r.quality or 0 for r, _ in known):.6f}"),
        *_as_run(known),
        ("total CPU, ours / theirs", f"{ours:.2f} s / {theirs:.2f} s = {ours / theirs:.3f}"),
        ("runs that did not reach their inertia", str(sum(row.missed for row, _ in known))),
    ]
    timed = [(row, a.cpu, row.target.cpu) for row, a in known if row.target is not None]
    return [*lines, *_time_to_quality(timed)]


def _as_run(known: Sequence[tuple[Row, Runs]]) -> list[tuple[str, str]]:
    """Compare the paper's method as run, which is theirs, with their program."""
    pairs = [(row.as_run, authors) for row, authors in known if row.as_run is not None]
    if not pairs:
        return []
    ratios = np.log([(ours.inertia / a.inertia, ours.cpu / a.cpu) for ours, a in pairs])
    inertia, cpu = np.exp(ratios.mean(axis=0))
    name = "KSKM as run over their program, geometric means of inertia and CPU"
    return [(name, f"{inertia:.4f}, {cpu:.3g}")]


def _time_to_quality(timed: Sequence[tuple[Row, float, float]]) -> list[tuple[str, str]]:
    long = {row.name: theirs / ours for row, theirs, ours in timed if theirs >= SHORT}
    excess = {row.name: ours - theirs - ALLOWANCE for row, theirs, ours in timed if theirs < SHORT}
    lines = []
    if long:
        slowest = min(long, key=long.__getitem__)
        mean = np.exp(np.log(list(long.values())).mean())
        lines += [
            (f"instances that cost them {SHORT:g} s or more", str(len(long))),
            ("time to their inertia, theirs / ours, geometric mean", f"{mean:.1f}"),
            ("the same, minimum", f"{long[slowest]:.2f} ({slowest})"),
        ]
    if excess:
        worst = max(excess, key=excess.__getitem__)
        lines += [
            ("instances that cost them less", str(len(excess))),
            (
                f"worst excess over theirs + {1000 * ALLOWANCE:g} ms",
                f"{1000 * excess[worst]:.1f} ms ({worst})",
            ),
        ]
    return lines


def _percent(shares: Sequence[float]) -> str:
    return f"{100 * float(np.mean(shares)):.4f} %"


def _named(rows: Sequence[Row]) -> str:
    names = ", ".join(row.name for row in rows[:5])
    more = ", ..." if len(rows) > 5 else ""
    return f"{len(rows)} ({names}{more})" if rows else "0"


def write(path: Path, rows: Sequence[Row], sections: Sequence[Section]) -> None:
    """Write all figures as CSV, or the printed tables as Markdown."""
    if path.suffix == ".md":
        write_markdown(path, sections)
        return
    kinds = ("kempe", "kskm", "as_run", "kmeans", "authors", "target")
    header = ["dataset", "level"]
    header += [f"{kind}_{part}" for kind in kinds for part in ("inertia", "lowest", "cpu_s")]
    lines = [[*row.instance, *_flat(row, kinds), row.missed] for row in rows]
    write_csv(path, [*header, "target_missed"], lines)


def _flat(row: Row, kinds: Iterable[str]) -> list[float | str]:
    found = [getattr(row, kind) for kind in kinds]
    return [
        value
        for runs in found
        for value in ((runs.inertia, runs.lowest, runs.cpu) if runs else ("", "", ""))
    ]


if __name__ == "__main__":
    typer.run(main)
