"""Large data: k-means without constraints, growth with n, collection 4, relocation, peak memory.

CPU seconds are those of ``fit`` alone, with all numerical libraries limited to one thread.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from folders import available, paper_values, use_shared_data
from kempe import Constraints, KempeKMeans, _core, datasets
from kempe.bench import Experiment, Plan, Record, Store, run
from kempe.bench.execution import PeakMemory
from kempe.bench.progress import PlanProgress
from kempe.engine import MemeticParams
from kempe.search import Callbacks, SearchState
from tables import Section, number, show, write_markdown

app = typer.Typer(no_args_is_help=True, help=__doc__)

Out = Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")]
Seeds = Annotated[int, typer.Option(min=1, help="Number of data sets and runs.")]

FROM_SCRATCH = "reference_methods:kempe_from_scratch"
IMAGES = ("mnist", "cifar10", "cifar100")
LARGE_SETS = ("banana", "letter", "shuttle", *IMAGES)
TOLERANCE = 1e-6
MEGABYTE = 2**20


class Timed(NamedTuple):
    """Outcome of one fit."""

    inertia: float
    cpu: float


def timed_fit(model: Any, X: NDArray[Any], **constraints: Any) -> Timed:
    """Fit on one thread and measure its CPU time."""
    with threadpool_limits(1):
        start = time.process_time()
        model.fit(X, **constraints)
        cpu = time.process_time() - start
    return Timed(float(model.inertia_), cpu)


def overlapping_blobs(
    n_rows: int, n_features: int, n_clusters: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Clusters about two standard deviations wide between neighbouring centres."""
    # Centres are uniform in a box of side 20; their typical distance grows with the dimension.
    deviation = 2.0 * np.sqrt(n_features)
    X, y = make_blobs(
        n_rows, n_features, centers=n_clusters, cluster_std=deviation, random_state=seed
    )
    return X, y


def true_cannot_link(y: NDArray[Any], n_pairs: int, seed: int) -> Constraints:
    """Random pairs of rows with different labels."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(y.size, size=(4 * n_pairs, 2))
    apart = pairs[y[pairs[:, 0]] != y[pairs[:, 1]]][:n_pairs]
    return Constraints(None, apart, n_rows=y.size)


def finish(sections: Sequence[Section], out: Path | None) -> None:
    """Print tables and write them where asked."""
    show(sections)
    if out is not None:
        write_markdown(out, sections)


def warm_up() -> None:
    """Load what is loaded on first use."""
    X, _ = overlapping_blobs(100, 2, 2, seed=0)
    timed_fit(KMeans(2, n_init=1), X)
    timed_fit(KempeKMeans(2, max_mutations=0), X, cannot_link=[(0, 1)])


@app.command()
def unconstrained(
    n_rows: Annotated[int, typer.Option(help="Rows.")] = 100_000,
    n_features: Annotated[int, typer.Option(help="Features.")] = 16,
    n_clusters: Annotated[int, typer.Option(help="Clusters.")] = 20,
    n_pairs: Annotated[int, typer.Option(help="Cannot-link pairs of the second run.")] = 1000,
    seeds: Seeds = 3,
    out: Out = None,
) -> None:
    """Compare a single descent with scikit-learn's k-means, with no and with few constraints."""
    warm_up()
    rows = []
    for seed in range(seeds):
        X, y = overlapping_blobs(n_rows, n_features, n_clusters, seed)
        pairs = true_cannot_link(y, n_pairs, seed)
        single = KempeKMeans(n_clusters, max_mutations=0, n_jobs=1, random_state=seed)
        rows.append(
            [
                timed_fit(KMeans(n_clusters, n_init=1, random_state=seed), X),
                timed_fit(single, X),
                timed_fit(single, X, constraints=pairs),
            ]
        )
    figures = np.array(rows)
    title = (
        f"Single descent against k-means, {n_rows:,} x {n_features}, k = {n_clusters}, "
        "as multiples of KMeans(n_init=1)"
    )
    pairs_text = f"{n_pairs:,} cannot-link pairs"
    header = ["seed", "k-means CPU s", "CPU", "inertia", f"{pairs_text}: CPU", "inertia"]
    finish([Section(title, header, _multiples(figures))], out)


def _multiples(figures: NDArray[np.float64]) -> list[list[str]]:
    """Lines per seed and of the geometric means; axes are seed, run, and inertia or CPU."""
    inertia, cpu = (figures[:, 1:, part] / figures[:, :1, part] for part in (0, 1))
    columns = np.column_stack(
        [figures[:, 0, 1], cpu[:, 0], inertia[:, 0], cpu[:, 1], inertia[:, 1]]
    )
    mean = np.exp(np.log(columns).mean(axis=0))
    names = [*[str(seed) for seed in range(len(columns))], "geometric mean"]
    return [
        [name, *(number(value, 4) for value in line)]
        for name, line in zip(names, [*columns, mean], strict=True)
    ]


@app.command()
def growth(
    smallest: Annotated[int, typer.Option(help="Fewest rows.")] = 10_000,
    largest: Annotated[int, typer.Option(help="Most rows.")] = 1_000_000,
    steps: Annotated[int, typer.Option(min=2, help="Sizes, in equal ratios.")] = 5,
    seeds: Seeds = 3,
    out: Out = None,
) -> None:
    """CPU time of a single descent against n: d = 8, k = 10, n/10 cannot-link pairs."""
    warm_up()
    sizes = np.geomspace(smallest, largest, steps).round().astype(int)
    seconds = np.array([[_descent_time(int(n), seed) for seed in range(seeds)] for n in sizes])
    mean = seconds.mean(axis=1)
    exponent = np.polyfit(np.log(sizes), np.log(mean), 1)[0]
    rows = [
        [f"{n:,}", number(cpu, 3), number(1e6 * cpu / n, 3)]
        for n, cpu in zip(sizes, mean, strict=True)
    ]
    title = f"Single descent, CPU time grows as n^{exponent:.3f} (means over {seeds} runs)"
    finish([Section(title, ["n", "CPU s", "µs per row"], rows)], out)


def _descent_time(n_rows: int, seed: int) -> float:
    X, y = overlapping_blobs(n_rows, 8, 10, seed)
    constraints = true_cannot_link(y, n_rows // 10, seed)
    model = KempeKMeans(10, max_mutations=0, n_jobs=1, random_state=seed)
    return timed_fit(model, X, constraints=constraints).cpu


@app.command()
def collection4(
    share: Annotated[float, typer.Option(help="Share of the paper's time for KSKM.")] = 0.2,
    dataset: Annotated[list[str] | None, typer.Option(help="Only this set.")] = None,
    level: Annotated[list[float] | None, typer.Option(help="Only this level.")] = None,
    seeds: Seeds = 1,
    out: Out = None,
) -> None:
    """Compare with the lowest inertia of any method in the paper on collection 4.

    Each run ends after a share of the time that the paper gives for KSKM, making the start
    included, or earlier if the search is done.
    """
    use_shared_data()
    found = [name for name in dataset or LARGE_SETS if available(f"COL4/{name}")]
    if not found:
        raise typer.BadParameter("none of the data is there; set KEMPE_DATA to its folder")
    experiments = [
        _limited(name, cell, share, seeds)
        for name in found
        for cell in level or datasets.levels("COL4")
    ]
    # The first run of a process pays for what is loaded on first use; it is not reported.
    first = Experiment(["kempe"], ["COL3/n500-k2"], [0.05], [0], variant="warm-up")
    with (
        tempfile.TemporaryDirectory() as scratch,
        PlanProgress("collection 4", Console(stderr=True)) as progress,
    ):
        records = run(
            Plan("collection4", [first, *experiments]),
            Store(scratch),
            workers=1,
            on_start=progress.start,
            on_record=progress.record,
        )
    cells = [_beside_paper(record) for record in records if record.collection == "COL4"]
    title = f"Collection 4 in {share:g} of the paper's time for KSKM"
    header = [
        *["data set", "seed", "paper KSKM s", "wall s", "CPU s", "inertia"],
        *["lowest in paper", "ours / lowest"],
    ]
    finish([Section(title, header, cells)], out)


def _limited(name: str, level: float, share: float, seeds: int) -> Experiment:
    return Experiment(
        [FROM_SCRATCH],
        [f"COL4/{name}"],
        [level],
        range(seeds),
        time_limit=share * _paper("time", name, level)["KSKM"],
        dtype="float32" if name in IMAGES else "float64",
    )


def _paper(quantity: Literal["inertia", "time"], name: str, level: float) -> dict[str, float]:
    """Figures of all methods that have one."""
    return {
        key[4]: value
        for key, value in paper_values().items()
        if key[:3] == (f"{quantity}-col4", name, level) and value is not None
    }


def _beside_paper(record: Record) -> list[str]:
    level = float(record.level or 0)
    seconds = _paper("time", record.name, level)["KSKM"]
    lowest = min(_paper("inertia", record.name, level).values())
    cells = [f"{record.name} {level:g}", str(record.seed), number(seconds, 3)]
    if not record.ok or record.inertia is None:
        return [*cells, "–", "–", record.reason, number(lowest, 8), "–"]
    # The paper prints two decimals.
    lower = record.inertia <= lowest * (1 + TOLERANCE) + 0.005
    ratio = f"{record.inertia / lowest:.6f}" + ("" if lower else " (above)")
    times = [number(record.wall_s, 3), number(record.cpu_s, 3)]
    return [*cells, *times, number(record.inertia, 8), number(lowest, 8), ratio]


class FirstOfEachKind(Callbacks):
    """Processor time until the first solution of each kind; a relocation ends the search."""

    def __init__(self) -> None:
        self.began = time.process_time()
        self.seconds: dict[str, float] = {}

    def on_iteration(self, state: SearchState) -> bool:
        """Note the time."""
        self.seconds.setdefault(state.kind, time.process_time() - self.began)
        return state.kind == "relocate"


@app.command()
def relocation(
    dataset: Annotated[list[str] | None, typer.Option(help="Only this set.")] = None,
    level: Annotated[list[float] | None, typer.Option(help="Only this level.")] = None,
    out: Out = None,
) -> None:
    """CPU seconds of the default until the first clustering of images, and the first relocation."""
    use_shared_data()
    found = [name for name in dataset or IMAGES if available(f"COL4/{name}")]
    levels = level or datasets.levels("COL4")
    rows = [_until_relocated(name, cell) for name in found for cell in levels]
    header = ["data set", "first clustering, CPU s", "first relocation, CPU s", "inertia"]
    finish([Section("The first relocation", header, rows)], out)


def _until_relocated(name: str, level: float) -> list[str]:
    data = datasets.load(f"COL4/{name}", level, dtype=np.float32)
    # One clustering and one relocation of it, instead of several side by side.
    alone = MemeticParams(generation_size=1)
    watch = FirstOfEachKind()
    model = KempeKMeans(
        data.n_clusters, max_mutations=2, params=alone, n_jobs=1, random_state=0, callbacks=watch
    )
    with threadpool_limits(1):
        model.fit(data.X, constraints=data.constraints)
    seconds = [number(watch.seconds.get(kind), 3) for kind in ("start", "relocate")]
    return [f"{name} {level:g}", *seconds, number(model.inertia_, 8)]


@app.command()
def memory(
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="Also 60,000 x 3,072 with 100 clusters; slow.")
    ] = False,
    level: Annotated[list[float] | None, typer.Option(help="Only this level of mnist.")] = None,
    seconds: Annotated[float, typer.Option(help="Time limit of a fit.")] = 30.0,
    out: Out = None,
) -> None:
    """Peak memory of a fit beyond the interpreter and the input, each in a fresh process."""
    use_shared_data()
    cells = [f"mnist:{cell}" for cell in level or datasets.levels("COL4")]
    wanted = (cells if available("COL4/mnist") else []) + (["synthetic:0.005"] if synthetic else [])
    if not wanted:
        raise typer.BadParameter("mnist is not there, and --synthetic was not asked for")
    rows = [_memory_row(name, seconds) for name in wanted]
    header = ["data set", "rows", "supernodes", "k", "input MB", "beyond it MB", "bound MB"]
    title = "Peak memory of a fit; the bound is supernodes * (2k + 16) * 8 bytes + 100 MB"
    finish([Section(title, header, rows)], out)


def _memory_row(name: str, seconds: float) -> list[str]:
    command = [sys.executable, __file__, "measure-memory", name, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr[-2000:]}")
    found = json.loads(done.stdout)
    bound = found["supernodes"] * (2 * found["k"] + 16) * 8 / MEGABYTE + 100
    return [
        name.replace(":", " "),
        f"{found['rows']:,}",
        f"{found['supernodes']:,}",
        str(found["k"]),
        f"{found['input_mb']:,.0f}",
        f"{found['peak_mb'] - found['before_mb'] - found['input_mb']:,.0f}",
        f"{bound:,.0f}",
    ]


@app.command(hidden=True)
def measure_memory(name: str, seconds: float) -> None:
    """Fit in this process and print what it took as JSON."""
    warm_up()
    before = resident_megabytes()
    kind, level = name.split(":")
    X, constraints, k = mixture(float(level)) if kind == "synthetic" else mnist(float(level))
    model = KempeKMeans(k, time_limit=seconds, n_jobs=1, random_state=0)
    # Restarting the mark forgets what loading took. (ru_maxrss cannot be restarted, and a new
    # process inherits it from its parent.)
    peak = PeakMemory()
    with threadpool_limits(1):
        model.fit(X, constraints=constraints)
    given = X.nbytes + constraints.must_link.nbytes + constraints.cannot_link.nbytes
    facts = {
        "rows": len(X),
        "k": k,
        "supernodes": _core.supernodes(len(X), constraints.must_link)[1],
        "before_mb": before,
        "input_mb": given / MEGABYTE,
        "peak_mb": peak.megabytes(),
    }
    typer.echo(json.dumps(facts))


def resident_megabytes() -> float:
    """Memory that this process holds now."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def mnist(level: float) -> tuple[NDArray[Any], Constraints, int]:
    """Load standardised MNIST in single precision."""
    data = datasets.load("COL4/mnist", level, dtype=np.float32)
    return data.X, data.constraints, data.n_clusters


def mixture(level: float) -> tuple[NDArray[Any], Constraints, int]:
    """Make data of the size of CIFAR-100 from a mixture of 100 normal distributions."""
    n_rows, n_features, n_clusters = 60_000, 3072, 100
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((n_clusters, n_features), dtype=np.float32)
    y = rng.integers(n_clusters, size=n_rows)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    for rows in _blocks(n_rows):
        X[rows] = 4 * X[rows] + centres[y[rows]]
    return X, datasets.make_constraints(y, level), n_clusters


def _blocks(n_rows: int, step: int = 1000) -> Iterable[slice]:
    return (slice(start, start + step) for start in range(0, n_rows, step))


if __name__ == "__main__":
    app()
