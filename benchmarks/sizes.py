"""Clusters of limited sizes: quality and CPU time beside k-means-constrained and a program.

``alone`` compares one descent with k-means-constrained (``pip install k-means-constrained``) from
the same starting centroids, and the default search with its best of as many starts. ``pairs``
compares the default search with an integer program that alternates between assigning all rows at
fixed centroids and moving the centroids; what the programs of a cell found can be kept, as they
take hours. ``starts`` asks for a clustering of each cell of collection 1. ``large`` descends once
on many rows.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.cluster import kmeans_plusplus

from folders import use_shared_data
from kempe import KempeKMeans, datasets
from kempe.bench.execution import PeakMemory
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.problem import Problem
from kempe.sizes import SizeLimits
from large import resident_megabytes
from tables import Section, show, write_markdown

ALONE = (
    "COL1/iris",
    "COL1/wine",
    "COL1/ecoli",
    "COL1/vehicle",
    "COL2/n300-k20-s30",
    "COL3/n500-k10",
    "COL3/n1000-k20",
    "COL3/n2000-k20",
)
WITH_PAIRS = (
    "COL1/iris",
    "COL1/wine",
    "COL1/glass",
    "COL1/ecoli",
    "COL1/movement_libras",
    "COL1/vehicle",
    "COL2/n300-k10-s30",
    "COL2/n300-k20-s30",
    "COL2/n300-k50-s30",
)
LEVELS = (0.05, 0.1, 0.15, 0.2)
# Larger ones, with their levels: twenty cells with the two kinds of limits of the others.
LARGER = (
    ("COL3/n500-k10", 0.05),
    ("COL3/n500-k20", 0.1),
    ("COL3/n1000-k10", 0.05),
    ("COL3/n1000-k20", 0.05),
    ("COL3/n1000-k50", 0.05),
    ("COL3/n2000-k10", 0.05),
    ("COL3/n2000-k20", 0.05),
    ("COL3/n2000-k50", 0.1),
    ("COL3/n5000-k10", 0.05),
    ("COL3/n5000-k20", 0.05),
)

app = typer.Typer(help=__doc__, add_completion=False, callback=use_shared_data)
Out = Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")]


# Rows and clusters of one descent each.
LARGE = ((10_000, 50), (20_000, 4000), (100_000, 50), (1_000_000, 20))


class Kind(NamedTuple):
    """A kind of limits: what it is called, and least and most rows of n in k clusters."""

    name: str
    limits: Callable[[int, int], tuple[int | None, int | None]]


def _about(share: float) -> Callable[[int, int], tuple[int, int]]:
    return lambda n, k: (
        min(int(n / k), int(np.ceil(n / k * (1 - share)))),
        max(-(-n // k), int(n / k * (1 + share))),
    )


KINDS = (
    Kind("equal", lambda n, k: (n // k, -(-n // k))),
    Kind("5 %", _about(0.05)),
    Kind("20 %", _about(0.2)),
    Kind("at most 1.5", lambda n, k: (None, int(1.5 * n / k))),
)
# For starts, one more.
AT_LEAST_HALF = Kind("at least 0.5", lambda n, k: (int(0.5 * n / k), None))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def _mean(values: Iterable[float]) -> float:
    """Geometric mean."""
    return float(np.exp(np.mean(np.log(list(values)))))


def _starts(X: NDArray[Any], k: int, count: int) -> list[NDArray[Any]]:
    return [kmeans_plusplus(X, k, random_state=seed)[0] for seed in range(count)]


def _rival(X: NDArray[Any], k: int, low: int | None, high: int | None, **kw: Any) -> Any:
    from k_means_constrained import KMeansConstrained

    return KMeansConstrained(k, size_min=low, size_max=high, random_state=0, n_jobs=1, **kw).fit(X)


def _report(sections: list[Section], out: Path | None) -> None:
    show(sections)
    if out is not None:
        write_markdown(out, sections)


class Cell(NamedTuple):
    """One data set with one kind of limits, of which both are fitted."""

    X: NDArray[Any]
    k: int
    low: int | None
    high: int | None

    def fit(self, **settings: Any) -> tuple[Any, float]:
        """Fit ours; the model and its CPU time."""
        sizes = {"size_min": self.low, "size_max": self.high}
        model = KempeKMeans(self.k, random_state=0, **sizes, **settings)
        return _timed(lambda: model.fit(self.X))

    def fit_rival(self, init: NDArray[Any]) -> tuple[Any, float]:
        """Fit k-means-constrained."""
        return _timed(lambda: _rival(self.X, self.k, self.low, self.high, init=init, n_init=1))


def _warm_up(*, rival: bool) -> None:
    """Import and load whatever a first fit does, so that no cell has to pay for it."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    cell = Cell(X, 3, 10, 10)
    cell.fit(max_mutations=0)
    if rival:
        cell.fit_rival(X[:3])


class Beside(NamedTuple):
    """How starts of one cell went: our inertia over the rival's, its best, CPU of both."""

    ratios: list[float]
    best: float
    own: float
    other: float


def _beside(cell: Cell, starts: int) -> Beside:
    ours, theirs = [], []
    for init in _starts(cell.X, cell.k, starts):
        ours.append(cell.fit(init=init, max_mutations=0))
        theirs.append(cell.fit_rival(init))
    inertia = [[model.inertia_ for model, _ in runs] for runs in (ours, theirs)]
    ratios = [own / other for own, other in zip(*inertia, strict=True)]
    return Beside(ratios, min(inertia[1]), sum(t for _, t in ours), sum(t for _, t in theirs))


@app.command()
def alone(
    starts: Annotated[int, typer.Option(min=1, help="Starts of each cell.")] = 10,
    searches: Annotated[bool, typer.Option(help="Also the default search.")] = True,
    out: Out = None,
) -> None:
    """Sizes without pairs, beside k-means-constrained."""
    _warm_up(rival=True)
    rows, ratios, speeds, above = [], [], [], 0
    for name in ALONE:
        data = datasets.load(name)
        for kind in KINDS:
            limits = kind.limits(len(data.X), data.n_clusters)
            cell = Cell(data.X, data.n_clusters, *limits)
            ratio, best, own, other = _beside(cell, starts)
            ratios += ratio
            speeds.append(other / own)
            row = [name, kind.name, f"{_mean(ratio):.4f}", f"{max(ratio):.4f}", f"{speeds[-1]:.1f}"]
            if searches:
                found, seconds = cell.fit()
                above += found.inertia_ > best * (1 + 1e-9)
                row += [f"{found.inertia_ / best:.4f}", f"{other / seconds:.1f}"]
            rows.append(row)
    higher = sum(ratio > 1 + 1e-9 for ratio in ratios)
    columns = ["data", "sizes", "inertia", "worst", "times faster"]
    columns += ["search", "times faster"] if searches else []
    title = (
        f"sizes alone, {starts} starts: {_mean(ratios):.4f} of k-means-constrained, higher in "
        f"{higher} of {len(ratios)}, {_mean(speeds):.1f} times faster"
    )
    title += f"; the search is above its best start in {above} cells" if searches else ""
    _report([Section(title, columns, rows)], out)


class Program:
    """Assignment at fixed centroids as an integer program, alternated with means."""

    def __init__(self, problem: Problem) -> None:
        assert problem.limits is not None
        self.problem = problem
        k, n, edges = problem.n_clusters, problem.n_supernodes, problem.graph.edges
        each = sparse.kron(sparse.eye_array(n), np.ones((1, k)))
        self.rules = [
            LinearConstraint(each, 1, 1),
            LinearConstraint(
                sparse.kron(problem.size[None, :], sparse.eye_array(k)),
                problem.limits.least,
                problem.limits.most,
            ),
        ]
        if len(edges):
            ends = (np.repeat(np.arange(len(edges)), 2), edges.ravel())
            both = sparse.coo_array((np.ones(edges.size), ends), shape=(len(edges), n))
            self.rules.append(LinearConstraint(sparse.kron(both, sparse.eye_array(k)), -np.inf, 1))

    def best_of(self, starts: list[NDArray[Any]], seconds: float, limit: float) -> float:
        """Lowest inertia over starts, of which none begins after the limit."""
        began, best = time.process_time(), np.inf
        for start in starts:
            if time.process_time() - began < limit:
                best = min(best, self._descend(start, seconds, began + limit))
        return best

    def _descend(self, centroids: NDArray[Any], seconds: float, end: float) -> float:
        problem, best = self.problem, np.inf
        while time.process_time() < end:
            costs = problem.costs(np.ascontiguousarray(centroids))
            found = milp(
                costs.ravel(),
                integrality=np.ones(costs.size),
                bounds=Bounds(0, 1),
                constraints=self.rules,
                options={"time_limit": seconds},
            )
            if found.x is None:
                break
            colours = found.x.reshape(costs.shape).argmax(axis=1).astype(np.int32)
            inertia = problem.inertia(colours)
            if inertia > best * (1 - 1e-9):
                break
            best, (centroids, _) = inertia, problem.means(colours)
        return best


class Effort(NamedTuple):
    """What the programs of a cell may take: restarts, seconds for one, CPU seconds for all."""

    restarts: int
    seconds: float
    limit: float


class Programs:
    """What programs reach, kept in a file if there is one: lowest inertia and CPU seconds."""

    def __init__(self, effort: Effort, path: Path | None) -> None:
        self.effort = effort
        self._path = path
        known = path is not None and path.exists()
        self._found = json.loads(path.read_text(encoding="utf-8")) if path and known else {}

    def reach(self, name: str, problem: Problem, X: NDArray[Any]) -> tuple[float, float]:
        """Solve the programs of a cell, unless that was done."""
        key = " ".join([name, *map(str, self.effort)])
        if key not in self._found:
            restarts, seconds, limit = self.effort
            starts = [start - problem.shift for start in _starts(X, problem.n_clusters, restarts)]
            self._found[key] = _timed(lambda: Program(problem).best_of(starts, seconds, limit))
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._path.write_text(json.dumps(self._found, indent=1), encoding="utf-8")
        inertia, spent = self._found[key]
        return inertia, spent


class CellWithPairs(NamedTuple):
    """A data set with pairs and limits."""

    data: str
    level: float
    kind: Kind

    def __str__(self) -> str:
        return f"{self.data} {self.level:g} {self.kind.name}"


CELLS_WITH_PAIRS = [
    CellWithPairs(name, level, kind)
    for name, level in [*((name, level) for name in WITH_PAIRS for level in LEVELS), *LARGER]
    for kind in (KINDS[0], KINDS[2])
]


class BesideProgram(NamedTuple):
    """Our inertia over that of the program, CPU seconds of both, and ours to its inertia."""

    ratio: float
    own: float
    reaching: float
    program: float


def _with_pairs(cell: CellWithPairs, programs: Programs) -> BesideProgram:
    data = datasets.load(cell.data, cell.level)
    X, k = data.X, data.n_clusters
    low, high = cell.kind.limits(len(X), k)
    model = KempeKMeans(k, size_min=low, size_max=high, random_state=0)
    _, own = _timed(lambda: model.fit(X, constraints=data.constraints))
    inertia = model.inertia_
    limits = SizeLimits.of(low, high, len(X), k)
    problem = Problem.build(X, data.constraints, n_clusters=k, limits=limits)
    best, spent = programs.reach(str(cell), problem, X)
    model.set_params(target_inertia=best)
    _, reaching = _timed(lambda: model.fit(X, constraints=data.constraints))
    return BesideProgram(inertia / best, own, reaching, spent)


@app.command()
def pairs(
    restarts: Annotated[int, typer.Option(min=1, help="Restarts of the program.")] = 10,
    seconds: Annotated[float, typer.Option(help="For one program.")] = 20.0,
    limit: Annotated[float, typer.Option(help="CPU seconds of all programs of a cell.")] = 300.0,
    only: Annotated[str, typer.Option(help="Part of what a cell is called.")] = "",
    kept: Annotated[Path | None, typer.Option(help="File of what programs found.")] = None,
    out: Out = None,
) -> None:
    """Sizes with pairs, beside an integer program."""
    programs = Programs(Effort(restarts, seconds, limit), kept)
    rows, cells, unsolved = [], [], 0
    for where in CELLS_WITH_PAIRS:
        if only not in str(where):
            continue
        try:
            cell = _with_pairs(where, programs)
        except (InfeasibleConstraintsError, NoSolutionFoundError):
            continue
        solved = cell.ratio > 0
        unsolved += not solved
        cells += [cell] if solved else []
        figures = [f"{cell.own:.2f}", f"{cell.reaching:.2f}", f"{cell.program:.1f}"]
        shown = f"{cell.ratio:.4f}" if solved else "–"
        rows.append([where.data, f"{where.level:g}", where.kind.name, shown, *figures])
        print(*rows[-1], flush=True)
    title = (
        f"sizes with pairs, {len(rows)} cells: {_mean(cell.ratio for cell in cells):.4f} of the "
        f"program, at worst {max(cell.ratio for cell in cells):.4f}, "
        f"{_mean(cell.program / cell.own for cell in cells):.1f} times faster, "
        f"{_mean(cell.program / cell.reaching for cell in cells):.0f} times to its inertia; the "
        f"program, given {limit:g} CPU seconds, has nothing in {unsolved} cells"
    )
    columns = ["data", "level", "sizes", "inertia", "CPU s", "to its inertia", "program CPU s"]
    _report([Section(title, columns, rows)], out)


@app.command()
def starts(
    seconds: Annotated[float, typer.Option(help="Most for one cell.")] = 60.0,
    collection: Annotated[str, typer.Option(help="Whose cells.")] = "COL1",
    out: Out = None,
) -> None:
    """Ask for a clustering, or a proof that there is none, of each cell."""
    rows, found, proven = [], 0, 0
    for name in datasets.names(collection):
        for level in LEVELS:
            data = datasets.load(name, level)
            k = data.n_clusters
            for kind in (*KINDS, AT_LEAST_HALF):
                low, high = kind.limits(len(data.X), k)
                model = KempeKMeans(
                    k,
                    size_min=low,
                    size_max=high,
                    max_mutations=0,
                    random_state=0,
                    time_limit=seconds,
                )
                began = time.process_time()
                try:
                    model.fit(data.X, constraints=data.constraints)
                    found += 1
                except InfeasibleConstraintsError:
                    proven += 1
                except NoSolutionFoundError:
                    spent = time.process_time() - began
                    rows.append([name, f"{level:g}", kind.name, f"{spent:.1f}"])
                    print(*rows[-1], flush=True)
    title = f"starts: {found} cells with a clustering, {proven} with a proof, {len(rows)} open"
    _report([Section(title, ["data", "level", "sizes", "CPU s"], rows)], out)


def _mixture(rows: int, features: int, clusters: int) -> NDArray[Any]:
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=3.0, size=(clusters, features))
    return centres[rng.integers(clusters, size=rows)] + rng.normal(size=(rows, features))


class Descended(NamedTuple):
    """One descent to equal sizes: its inertia, CPU seconds, megabytes beyond the data.

    And the CPU seconds of predicting as many new rows, of equal sizes as well.
    """

    inertia: float
    seconds: float
    megabytes: float
    predicting: float


def _large_cell(rows: int, clusters: int) -> tuple[Cell, NDArray[Any], NDArray[Any]]:
    """Give the rows of a fit, where it begins, and as many new rows."""
    both = _mixture(2 * rows, 10, clusters)
    X, new = both[:rows].copy(), both[rows:].copy()
    return Cell(X, clusters, *KINDS[0].limits(rows, clusters)), _starts(X, clusters, 1)[0], new


def _descend_large(rows: int, clusters: int) -> Descended:
    """Descend in a process of its own, where no earlier fit has left memory to use."""
    _warm_up(rival=False)
    cell, init, new = _large_cell(rows, clusters)
    before, peak = resident_megabytes(), PeakMemory()
    model, seconds = cell.fit(init=init, max_mutations=0)
    megabytes = (peak.megabytes() or np.nan) - before
    sizes = {"size_min": cell.low, "size_max": cell.high}
    _, predicting = _timed(lambda: model.predict(new, **sizes))
    return Descended(model.inertia_, seconds, megabytes, predicting)


@app.command()
def large(
    rival_up_to: Annotated[int, typer.Option(help="Rows up to which the rival runs.")] = 10_000,
    out: Out = None,
) -> None:
    """Descend once to clusters of equal sizes, beside k-means-constrained where there is time."""
    table = []
    for rows, clusters in LARGE:
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            own = process.submit(_descend_large, rows, clusters).result()
        cell, init, _ = _large_cell(rows, clusters)
        figures = [f"{rows:,} x 10", f"{clusters}", f"{own.seconds:.2f}", f"{own.megabytes:.0f}"]
        figures += [f"{cell.X.nbytes / 2**20:.0f}", f"{own.predicting:.2f}"]
        if rows <= rival_up_to:
            _warm_up(rival=True)
            other, seconds = cell.fit_rival(init)
            figures += [f"{own.inertia / other.inertia_:.4f}", f"{seconds / own.seconds:.0f}"]
        table.append(figures + ["–"] * (8 - len(figures)))
        print(*table[-1], flush=True)
    columns = ["data", "k", "CPU s", "MB", "data MB", "predict", "of the rival", "times faster"]
    _report([Section("one descent, equal sizes", columns, table)], out)


if __name__ == "__main__":
    app()
