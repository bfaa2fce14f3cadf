"""Every method on six instances, and our rivals against the public programs of their authors.

``same`` gives every method the same starting centroids: k-means++ on the rows, seeded as the
authors' programs of COPKM and COPKM_P are. ``programs`` starts each rival as its public
program does with the same seed, so that both can be compared seed by seed:

- PCCC (github.com/phil85/PCCC-Algorithm): k-means++ on the means of must-linked rows,
- BLPKMCC (github.com/phil85/BLPKM-CC): rows at random,
- COPKM_P and COPKM (github.com/ryx1339/DSATUR-COP-KMeans): k-means++ on the rows.

``swaps`` takes Kempe swaps out of the exact assignment of the rivals: the paper expects them to
accelerate it.

Their figures, in ``public_programs.csv``, are means over seeds 0 to 4 on the same kind of machine,
with HiGHS in place of Gurobi. PCCC was told to compare descents by squared distances too, BLPKMCC
ran with the plain ones that its program has.
"""

from __future__ import annotations

import csv
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.cluster import kmeans_plusplus

from kempe import Constraints, datasets, methods
from kempe.exceptions import NoSolutionFoundError
from kempe.problem import Problem
from tables import Section, number, show, write_markdown

Instance = tuple[str, float]

# In scikit-learn's order of rows, with the pairs drawn for that order, as the public programs had
# it; the catalogue's iris has another order and therefore other pairs.
IRIS: Instance = ("iris", 0.05)
INSTANCES: tuple[Instance, ...] = (
    IRIS,
    ("COL2/n300-k10-s30", 0.2),
    ("COL2/n300-k10-s50", 0.2),
    ("COL3/n500-k20", 0.05),
    ("COL3/n500-k20", 0.2),
    ("COL3/n1000-k10", 0.05),
)


@dataclass(frozen=True)
class Data:
    """What a method is given."""

    X: NDArray[np.float64]
    constraints: Constraints
    n_clusters: int


Start = Callable[[Data, int], NDArray[np.float64]]

# The public programs ran with seeds 0 to 4 and without a limit that any of them reached.
PUBLIC_SEEDS = 5
PUBLIC_TIME_LIMIT = 600.0


def rows_at_random(data: Data, seed: int) -> NDArray[np.float64]:
    """Draw rows with NumPy's legacy generator."""
    legacy = np.random.RandomState(seed)
    return data.X[legacy.choice(len(data.X), size=data.n_clusters, replace=False)]


def plus_plus_on_rows(data: Data, seed: int) -> NDArray[np.float64]:
    """Take scikit-learn's k-means++."""
    return np.asarray(kmeans_plusplus(data.X, data.n_clusters, random_state=seed)[0])


def plus_plus_on_means(data: Data, seed: int) -> NDArray[np.float64]:
    """Take scikit-learn's k-means++ on the means of must-linked rows, in order of last rows."""
    group = Problem.build(data.X, data.constraints, n_clusters=data.n_clusters).supernode
    last = np.zeros(group.max() + 1, dtype=np.intp)
    np.maximum.at(last, group, np.arange(len(data.X)))
    total = np.zeros((last.size, data.X.shape[1]))
    np.add.at(total, group, data.X)
    means = (total / np.bincount(group)[:, None])[np.argsort(last)]
    return np.asarray(kmeans_plusplus(means, data.n_clusters, random_state=seed)[0])


START_NAMES = {
    rows_at_random: "rows",
    plus_plus_on_rows: "++ rows",
    plus_plus_on_means: "++ means",
}


@dataclass(frozen=True)
class Entry:
    """A method with a setting and a start.

    Attributes
    ----------
    label
        Name in the tables.
    public
        Name of the public program in ``public_programs.csv`` to compare with, if any.
    """

    label: str
    method: str
    start: Start = plus_plus_on_rows
    options: Mapping[str, Any] = field(default_factory=dict)
    public: str = ""


COUNTERPARTS = (
    Entry("PCCC_squared", "PCCC_squared", plus_plus_on_means, public="PCCC"),
    Entry("PCCC", "PCCC", plus_plus_on_means, public="PCCC"),
    Entry("BLPKMCC_plain", "BLPKMCC_plain", rows_at_random, public="BLPKMCC"),
    Entry("BLPKMCC", "BLPKMCC", rows_at_random, public="BLPKMCC"),
    Entry("COPKM_P", "COPKM_P", plus_plus_on_rows, public="COPKM_P"),
    Entry("COPKM", "COPKM", plus_plus_on_rows, public="COPKM"),
)


# The rivals that solve integer programs, as they start, with and without Kempe swaps.
SWITCHED = tuple(
    Entry(f"{entry.label}{', no swaps' * (not swaps)}", entry.method, entry.start, options)
    for entry in COUNTERPARTS
    if entry.method in ("PCCC_squared", "BLPKMCC_plain", "BLPKMCC")
    for swaps in (True, False)
    for options in ({"kempe_swaps": swaps},)
)


@dataclass(frozen=True)
class Run:
    """Outcome of one fit; without an inertia it failed, for the reason given."""

    entry: Entry
    instance: Instance
    inertia: float | None
    cpu: float
    limited: bool
    reason: str = ""


@dataclass(frozen=True)
class Cell:
    """All runs of one entry on one instance."""

    runs: Sequence[Run]

    @property
    def successes(self) -> list[Run]:
        """Runs with a clustering."""
        return [run for run in self.runs if run.inertia is not None]

    @property
    def inertia(self) -> float | None:
        """Mean over the successful runs."""
        values = [run.inertia for run in self.runs if run.inertia is not None]
        return float(np.mean(values)) if values else None

    @property
    def cpu(self) -> float | None:
        """Mean over the successful runs; failures are quick."""
        values = [run.cpu for run in self.successes]
        return float(np.mean(values)) if values else None

    @property
    def share(self) -> str:
        """How many runs succeeded, as ``4 of 5``."""
        return f"{len(self.successes)} of {len(self.runs)}"

    def shown_inertia(self) -> str:
        """Mean inertia, and the share of successes unless that is all."""
        complete = len(self.successes) == len(self.runs)
        return number(self.inertia, 5) + ("" if complete else f" ({self.share})")

    def shown_cpu(self) -> str:
        """Mean CPU time, marked where runs ended at the limit."""
        return ("≥ " if any(run.limited for run in self.runs) else "") + number(self.cpu, 2)


Cells = dict[tuple[str, Instance], Cell]


app = typer.Typer(help=__doc__, no_args_is_help=True)

Methods = Annotated[list[str] | None, typer.Option("--method", help="Only this; repeatable.")]
Datasets = Annotated[list[str] | None, typer.Option("--dataset", help="Only this; repeatable.")]
Seeds = Annotated[int, typer.Option(min=1, help="Runs from the same starts.")]
Limit = Annotated[float, typer.Option(help="Most seconds of each run.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes. [default: one per core]")]
Out = Annotated[Path | None, typer.Option(help="Also write the tables as Markdown.")]


@app.command()
def same(
    method: Methods = None,
    dataset: Datasets = None,
    seeds: Seeds = 5,
    time_limit: Limit = 60.0,
    workers: Workers = None,
    out: Out = None,
) -> None:
    """Run every method on six instances from the same starts."""
    instances = chosen_instances(dataset)
    entries = [Entry(name, name) for name in chosen(methods.names(), method, "method")]
    cells = measure(entries, instances, seeds, time_limit, workers, "same start")
    sections = [
        table("Mean inertia", entries, instances, cells, Cell.shown_inertia),
        table("Mean CPU seconds", entries, instances, cells, Cell.shown_cpu),
        *failures(cells),
    ]
    finish(sections, out)


@app.command()
def programs(
    method: Methods = None, dataset: Datasets = None, workers: Workers = None, out: Out = None
) -> None:
    """Run the rivals from the starts of their public programs, and compare."""
    instances = chosen_instances(dataset)
    names = chosen(methods.names(), method, "method")
    entries = [entry for entry in COUNTERPARTS if entry.method in names]
    cells = measure(entries, instances, PUBLIC_SEEDS, PUBLIC_TIME_LIMIT, workers, "public programs")
    finish([comparison(entries, instances, cells, public_figures())], out)


@app.command()
def swaps(
    method: Methods = None,
    dataset: Datasets = None,
    seeds: Seeds = 5,
    time_limit: Limit = 60.0,
    workers: Workers = None,
    out: Out = None,
) -> None:
    """Run the rivals that solve integer programs with and without Kempe swaps."""
    instances = chosen_instances(dataset)
    names = chosen(methods.names(), method, "method")
    entries = [entry for entry in SWITCHED if entry.method in names]
    cells = measure(entries, instances, seeds, time_limit, workers, "with and without swaps")
    finish([acceleration(entries, instances, cells)], out)


def finish(sections: Sequence[Section], out: Path | None) -> None:
    """Print tables, and write them if so wanted."""
    show(sections)
    if out is not None:
        write_markdown(out, sections)


def chosen_instances(wanted: Sequence[str] | None) -> list[Instance]:
    """Instances of the data sets that are asked for."""
    names = chosen(list(dict.fromkeys(name for name, _ in INSTANCES)), wanted, "data set")
    return [item for item in INSTANCES if item[0] in names]


def chosen(known: list[str], wanted: Sequence[str] | None, what: str) -> list[str]:
    """Names that are asked for, in the order of those known; all by default."""
    unknown = set(wanted or ()) - set(known)
    if unknown:
        raise typer.BadParameter(
            f"unknown {what} {', '.join(sorted(unknown))}; known are {', '.join(known)}"
        )
    return [name for name in known if not wanted or name in wanted]


def measure(
    entries: Sequence[Entry],
    instances: Sequence[Instance],
    seeds: int,
    time_limit: float,
    workers: int | None,
    title: str,
) -> Cells:
    """Run everything, with a progress bar."""
    console = Console(stderr=True)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        jobs = [
            pool.submit(fit, entry, instance, seed, time_limit)
            for instance in instances
            for seed in range(seeds)
            for entry in entries
        ]
        done = track(as_completed(jobs), title, total=len(jobs), console=console)
        return grouped(job.result() for job in done)


def grouped(runs: Iterable[Run]) -> Cells:
    """Collect the runs of each entry on each instance."""
    found: dict[tuple[str, Instance], list[Run]] = defaultdict(list)
    for run in runs:
        found[run.entry.label, run.instance].append(run)
    return {key: Cell(value) for key, value in found.items()}


def fit(entry: Entry, instance: Instance, seed: int, time_limit: float) -> Run:
    """Fit one method once."""
    warm_up()
    data = load(instance)
    options = {"init": entry.start(data, seed), "time_limit": time_limit, **entry.options}
    model = methods.create(entry.method, data.n_clusters, seed, **options)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=1)
    wall, cpu = time.perf_counter(), time.process_time()
    reason = ""
    try:
        model.fit(data.X, constraints=data.constraints)
    except NoSolutionFoundError as error:
        reason = str(error)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    inertia = None if reason else float(model.inertia_)
    return Run(entry, instance, inertia, cpu, wall >= time_limit, reason)


@lru_cache(maxsize=1)
def load(instance: Instance) -> Data:
    """Give the standardised rows and the pairs of an instance."""
    name, level = instance
    if instance == IRIS:
        from sklearn.datasets import load_iris

        bunch = load_iris()
        constraints = datasets.make_constraints(bunch.target, level)
        return Data(datasets.standardise(bunch.data), constraints, n_clusters=3)
    known = datasets.load(name, level=level)
    return Data(known.X, known.constraints, known.n_clusters)


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Let a process load what is loaded on first use, which no method shall pay for."""
    X = np.arange(12.0).reshape(-1, 1) % 5
    for name in methods.names():
        limited = {"time_limit": 0.1} if name == "S_MDEClust" else {}
        methods.create(name, 3, 0, **limited).fit(X, cannot_link=[(0, 5), (5, 10), (1, 2)])


def table(
    title: str,
    entries: Sequence[Entry],
    instances: Sequence[Instance],
    cells: Cells,
    shown: Callable[[Cell], str],
) -> Section:
    """One line per method, one column per instance."""
    rows = [[e.label, *(shown(cells[e.label, item]) for item in instances)] for e in entries]
    return Section(title, ["method", *(short(item) for item in instances)], rows)


def failures(cells: Cells) -> list[Section]:
    """Count the failed runs, with the reason that the first of them gave."""
    rows = []
    for (label, instance), cell in cells.items():
        reasons = sorted(run.reason for run in cell.runs if run.reason)
        if reasons:
            rows.append([label, short(instance), str(len(reasons)), reasons[0]])
    header = ["method", "instance", "failed", "for example"]
    return [Section("Failures", header, sorted(rows))] if rows else []


def comparison(
    entries: Sequence[Entry],
    instances: Sequence[Instance],
    cells: Cells,
    public: Mapping[tuple[str, Instance], Mapping[str, str]],
) -> Section:
    """One line per rival and instance: ours, and the public program from the same starts."""
    header = ["ours", "start", "instance", "success", "theirs"]
    header += ["inertia", "theirs", "ratio", "CPU s", "theirs", "ratio"]
    rows = []
    for entry in entries:
        for instance in instances:
            theirs = public[entry.public, instance]
            row = [entry.label, START_NAMES[entry.start], short(instance)]
            rows.append([*row, *compared(cells[entry.label, instance], theirs)])
    return Section("Against the public programs, from their starting centroids", header, rows)


def acceleration(entries: Sequence[Entry], instances: Sequence[Instance], cells: Cells) -> Section:
    """One line per rival and instance: CPU time and inertia with and without Kempe swaps."""
    header = ["rival", "instance", "CPU s", "without", "ratio", "inertia", "without"]
    rows = []
    for with_swaps, without in zip(entries[::2], entries[1::2], strict=True):
        for instance in instances:
            on, off = cells[with_swaps.label, instance], cells[without.label, instance]
            ratio = None if not (on.cpu and off.cpu) else off.cpu / on.cpu
            row = [with_swaps.label, short(instance), on.shown_cpu(), off.shown_cpu()]
            row += [number(ratio, 2), on.shown_inertia(), off.shown_inertia()]
            rows.append(row)
    return Section("Exact assignment with and without Kempe swaps", header, rows)


def compared(cell: Cell, theirs: Mapping[str, str]) -> list[str]:
    """Success, inertia and CPU time of ours and theirs; ratios below 1 where ours are lower."""
    cells = [cell.share, f"{theirs['successes']} of {theirs['runs']}"]
    for ours, column, digits in ((cell.inertia, "inertia", 5), (cell.cpu, "cpu_s", 2)):
        known = float(theirs[column]) if theirs[column] else None
        ratio = None if ours is None or known is None else ours / known
        cells += [number(ours, digits), theirs[column] or "–", number(ratio, digits - 1)]
    return cells


def public_figures() -> dict[tuple[str, Instance], dict[str, str]]:
    """Means over five seeds of the public programs."""
    with Path(__file__).with_name("public_programs.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["program"], (row["dataset"], float(row["level"]))): row
            for row in csv.DictReader(file)
        }


def short(instance: Instance) -> str:
    """Name an instance without its collection."""
    return f"{instance[0].split('/')[-1]} {instance[1]:g}"


if __name__ == "__main__":
    app()
