"""How tight the certificates are, and what they cost.

Every instance is searched and certified in a process of its own, on one thread, until a limit of
processor time or until the gap is closed; then its certificate is verified once more. Results are
added to a CSV file as they come, and an instance that is in it is not run again.
"""

from __future__ import annotations

import csv
import os
import resource
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from threadpoolctl import threadpool_limits

from folders import shared, use_shared_data
from kempe import Constraints, certify, datasets
from kempe.proof import OptimalityCertificate, ProofCallbacks, ProofState
from tables import Section, number, show, write_markdown

Instance = tuple[str, str, float]
"""Collection, name, level of constraints."""

SPREAD = (
    *(("COL2", f"n300-k{k}-s{s}", level)
      for k, s, level in ((10, 10, 0.05), (10, 30, 0.1), (10, 50, 0.2), (10, 20, 0.3),
                          (20, 10, 0.05), (20, 30, 0.1), (20, 50, 0.2), (20, 40, 0.4),
                          (50, 10, 0.05), (50, 30, 0.2), (50, 50, 0.5))),
    *(("COL3", f"n{n}-k{k}", level)
      for n, k, level in ((500, 2, 0.05), (500, 5, 0.05), (500, 10, 0.1), (500, 20, 0.05),
                          (500, 20, 0.1), (500, 50, 0.15), (500, 100, 0.2), (1000, 5, 0.05),
                          (1000, 10, 0.1), (1000, 20, 0.15), (1000, 50, 0.05), (1000, 100, 0.2),
                          (2000, 2, 0.05), (2000, 5, 0.05), (2000, 10, 0.05), (2000, 20, 0.2),
                          (5000, 2, 0.05), (5000, 10, 0.05), (5000, 20, 0.1))),
)  # fmt: skip
# Too many groups for one matrix, at least with the fewest constraints: bounded by prices of groups
# or in parts.
LARGE = tuple(
    ("COL4", name, level)
    for name in ("banana", "letter", "shuttle")
    for level in (0.005, 0.01, 0.05)
)
GROWTH = tuple(("COL3", f"n{n}-k10", 0.05) for n in (500, 1000, 2000, 5000))
# Time and memory against the number of rows, at the same k and d.
ROWS = tuple(("planted", f"{n}-k10-d4", 0.01) for n in (10_000, 30_000, 100_000))
# Rows from which on all may not be bounded at once.
LARGE_FROM = 4000
# Data without pairs on which Croella, Piccialli and Sudoso (2025) report gaps, with their k. The
# files are those of their repository, https://github.com/AnnaLivia/AVOC: n and d, then the rows;
# they are looked for in $KEMPE_AVOC. Their clusters of two of them are those of standardised data.
AVOC = {"Abalone": 3, "Facebook": 3, "Frogs": 4, "Electric": 3, "Pulsar": 2}
AVOC_STANDARDISED = ("Electric", "Pulsar")
UNCONSTRAINED = {
    "iris": (load_iris, 3),
    "wine": (load_wine, 3),
    "breast cancer": (load_breast_cancer, 2),
}
SCALINGS = ("unscaled", "scaled")
TOLERANCES = (1e-4, 1e-3, 1e-2)


@dataclass(frozen=True)
class Row:
    """Outcome of one instance; ``loss`` is what the checker takes off the solver's bound."""

    collection: str
    name: str
    level: float
    limit: float
    n_rows: int
    n_groups: int
    n_clusters: int
    inertia: float
    lower_bound: float
    gap: float
    cpu_seconds: float
    n_nodes: int
    method: str
    optimal: bool
    verified: bool
    verify_seconds: float
    loss: float
    megabytes: float


class Watch(ProofCallbacks):
    """Ends a proof after some seconds of processor time, and notes how large it was."""

    def __init__(self, limit: float) -> None:
        # The last step and the check come after the end.
        self.end = time.process_time() + 0.95 * limit
        self.n_groups = 0
        self.bound = 0.0

    def on_start(self, n_rows: int, n_groups: int, n_clusters: int) -> None:
        """Note the size."""
        self.n_groups = n_groups

    def on_bound(self, state: ProofState) -> bool:
        """Note the solver's bound; end when the time is up."""
        self.bound = state.lower_bound
        return time.process_time() > self.end


def load(instance: Instance) -> tuple[NDArray[np.float64], int, Constraints]:
    """Rows, number of clusters and constraints of an instance."""
    collection, name, level = instance
    if collection in SCALINGS:
        loader, k = UNCONSTRAINED[name]
        X = loader().data
        return datasets.standardise(X) if collection == "scaled" else X, k, Constraints()
    if collection == "AVOC":
        folder = Path(os.environ.get("KEMPE_AVOC", shared() / "data" / "avoc"))
        X = read_avoc(folder / f"{name}.txt")
        scaled = name in AVOC_STANDARDISED
        return datasets.standardise(X) if scaled else X, AVOC[name], Constraints()
    if collection == "planted":
        return planted(*(int(part.strip("kd")) for part in name.split("-")), level)
    found = datasets.load(f"{collection}/{name}", level, dtype=np.float64)
    return found.X, found.n_clusters, found.constraints


def read_avoc(path: Path) -> NDArray[np.float64]:
    """Rows of a file whose first line says how many there are, and of how many numbers."""
    first, *numbers = path.read_text(encoding="utf-8").split("\n", 1)
    n, d = (int(size) for size in first.split())
    return np.array(numbers[0].split(), dtype=np.float64).reshape(n, d)


def planted(
    n: int, k: int, d: int, level: float, seed: int = 0
) -> tuple[NDArray[np.float64], int, Constraints]:
    """Overlapping clusters, and pairs of a share of the rows that tell them apart."""
    rng = np.random.default_rng(seed)
    hidden = rng.permutation(np.arange(n) % k)
    X = 2 * rng.normal(size=(k, d))[hidden] + rng.normal(size=(n, d))
    drawn = rng.integers(n, size=(int(level * n), 2))
    same = hidden[drawn[:, 0]] == hidden[drawn[:, 1]]
    must = drawn[same & (drawn[:, 0] != drawn[:, 1])]
    return X, k, Constraints(must_link=must, cannot_link=drawn[~same])


def run(instance: Instance, limit: float, seed: int, clock: float = 1.0) -> Row:
    """Search, certify and verify one instance on one thread.

    ``clock`` is how many seconds pass for each one of the processor.
    """
    X, k, constraints = load(instance)
    watch = Watch(limit)
    started = time.process_time()
    with threadpool_limits(1):
        certificate = certify(
            X,
            n_clusters=k,
            constraints=constraints,
            # Whether there are parts, which share out what time there is, depends on it.
            time_limit=clock * limit if len(X) >= LARGE_FROM else None,
            random_state=seed,
            callbacks=watch,
        )
        seconds = time.process_time() - started
        proven = certificate.verify(X, constraints=constraints)
    inertia = certificate.inertia
    return Row(
        *instance,
        limit,
        X.shape[0],
        watch.n_groups,
        k,
        inertia,
        certificate.lower_bound,
        certificate.gap,
        seconds,
        certificate.n_nodes,
        certificate.method,
        certificate.is_optimal,
        proven.lower_bound >= certificate.lower_bound * (1 - 1e-9),
        time.process_time() - started - seconds,
        _loss(certificate, watch.bound),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def _loss(certificate: OptimalityCertificate, solver: float) -> float:
    """Say what the checker takes off the solver's last bound, relative to the inertia."""
    inertia = certificate.inertia
    return max(0.0, (min(solver, inertia) - certificate.lower_bound) / inertia) if inertia else 0.0


def instances(chosen: str) -> list[Instance]:
    """Instances of a table by its name."""
    if chosen == "collection1":
        return _of_collection("COL1")
    if chosen == "all":
        return [i for collection in ("COL1", "COL2", "COL3") for i in _of_collection(collection)]
    if chosen == "unconstrained":
        return [(scaling, name, 0.0) for name in UNCONSTRAINED for scaling in SCALINGS]
    if chosen == "avoc":
        return [("AVOC", name, 0.0) for name in AVOC]
    if chosen == "mnist":
        return [("COL4", "mnist", level) for level in datasets.levels("COL4")]
    return list({"spread": SPREAD, "growth": GROWTH, "large": LARGE, "rows": ROWS}[chosen])


def _of_collection(collection: str) -> list[Instance]:
    names = [name.split("/")[1] for name in datasets.names(collection)]
    return [(collection, name, level) for name in names for level in datasets.levels(collection)]


def read(path: Path) -> dict[tuple[Instance, float], Row]:
    """Rows that were measured before."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = [_parsed(row) for row in csv.DictReader(file)]
    return {((row.collection, row.name, row.level), row.limit): row for row in rows}


def open_after(shorter: float, path: Path) -> set[Instance]:
    """Instances that some shorter limit left open."""
    known = read(path).items()
    return {instance for (instance, limit), row in known if limit < shorter and not row.optimal}


def _parsed(cells: dict[str, str]) -> Row:
    values: dict[str, Any] = {}
    for item in fields(Row):
        cell = cells[item.name]
        kinds: dict[Any, Any] = {"int": int, "float": float, "bool": "True".__eq__, "str": str}
        values[item.name] = kinds[item.type](cell)
    return Row(**values)


def append(path: Path, row: Row) -> None:
    """Add a row to the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.is_file()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [item.name for item in fields(Row)], lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(asdict(row))


def measure(
    wanted: Sequence[Instance], limit: float, seed: int, path: Path, workers: int, clock: float
) -> list[Row]:
    """Run what is not in the file yet."""
    known = read(path)
    missing = [instance for instance in wanted if (instance, limit) not in known]
    with ProcessPoolExecutor(workers, get_context("spawn"), max_tasks_per_child=1) as pool:
        tasks = [pool.submit(run, instance, limit, seed, clock) for instance in missing]
        for task in tasks:
            append(path, task.result())
    known = read(path)
    return [known[instance, limit] for instance in wanted]


def measured(wanted: Sequence[Instance], limit: float, path: Path) -> list[Row]:
    """Give what is in the file: the longest run of each instance that keeps the limit."""
    known = sorted(read(path).items(), key=lambda item: item[0][1])
    rows = {instance: row for (instance, seconds), row in known if seconds <= limit}
    return [rows[instance] for instance in wanted if instance in rows]


def table(title: str, rows: Iterable[Row]) -> Section:
    """Rows as a table."""
    header = ["instance", "level %", "k", "rows", "groups", "best inertia", "bound", "gap %",
              "CPU s", "nodes", "proven", "verified", "check s", "loss", "MB"]  # fmt: skip
    return Section(title, header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    name = row.name if row.collection == "COL1" else f"{row.collection} {row.name}"
    yes = {True: "yes", False: "no"}
    return [
        name,
        f"{100 * row.level:g}",
        str(row.n_clusters),
        f"{row.n_rows:,}",
        f"{row.n_groups:,}",
        number(row.inertia, 8),
        number(row.lower_bound, 8) + ("" if row.method == "sdp" else f" ({row.method})"),
        f"{100 * row.gap:.4f}",
        f"{row.cpu_seconds:.1f}",
        f"{row.n_nodes:,}",
        yes[row.optimal],
        yes[row.verified],
        f"{row.verify_seconds:.1f}",
        f"{row.loss:.0e}",
        f"{row.megabytes:.0f}",
    ]


def summary(rows: Sequence[Row]) -> Section:
    """How many gaps are closed how far, and what all of it took."""
    cells = [
        *(
            [f"gap at most {100 * t:g} %", str(sum(row.gap <= t for row in rows))]
            for t in TOLERANCES
        ),
        ["verified", str(sum(row.verified for row in rows))],
        ["CPU seconds in all", f"{sum(row.cpu_seconds for row in rows):.0f}"],
        ["longest, CPU seconds", f"{max(row.cpu_seconds for row in rows):.1f}"],
        ["longest check, CPU seconds", f"{max(row.verify_seconds for row in rows):.1f}"],
        ["largest gap %", f"{100 * max(row.gap for row in rows):.3f}"],
        ["largest loss to the checker", f"{max(row.loss for row in rows):.1e}"],
    ]
    return Section(f"{len(rows)} instances", ["", "value"], cells)


def main(
    chosen: Annotated[
        str,
        typer.Argument(
            help="collection1, all, spread, large, mnist, avoc, rows, unconstrained or growth."
        ),
    ],
    limit: Annotated[float, typer.Option(help="Processor seconds for each instance.")] = 60.0,
    only: Annotated[str, typer.Option(help="Only instances whose name has this in it.")] = "",
    still_open: Annotated[
        bool, typer.Option("--still-open", help="Only instances that a shorter limit left open.")
    ] = False,
    only_measured: Annotated[
        bool, typer.Option("--measured", help="Run nothing: show what is in the file.")
    ] = False,
    clock: Annotated[
        float, typer.Option(help="Seconds on the clock for each of the processor, if it is busy.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Seed of search and proof.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Instances at a time.")] = 1,
    store: Annotated[Path, typer.Option(help="CSV file to add to.")] = Path("certify.csv"),
    out: Annotated[Path | None, typer.Option(help="Write a Markdown file.")] = None,
) -> None:
    """Certify the instances of a table."""
    use_shared_data()
    wanted = [instance for instance in instances(chosen) if only in instance[1]]
    if still_open:
        wanted = sorted(open_after(limit, store) & set(wanted))
    if only_measured:
        rows = measured(wanted, limit, store)
    else:
        rows = measure(wanted, limit, seed, store, workers, clock)
    sections = [summary(rows), table(f"{chosen}, at most {limit:g} CPU seconds each", rows)]
    show(sections)
    if out is not None:
        write_markdown(out, sections)


if __name__ == "__main__":
    typer.run(main)
