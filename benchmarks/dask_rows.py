"""Rows that no process has at once: a cluster of two workers against one machine and dask-ml.

Rows are generated in parts, and pairs name rows whose hidden groups fit them. ``large`` fits the
same rows in several ways, each in a process of its own: on a cluster, on one of which a worker is
killed in the middle, on one machine, and without constraints by ``dask_ml.cluster.KMeans``.
``passes`` measures single passes over the rows, and what a model of their cost makes of them for
many more. Walls need a quiet machine.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import numpy as np
import typer
from numpy.typing import NDArray

from tables import Section, number, show, write_markdown

WORKERS = 2
MEMORY_LIMIT = "3GB"
KILLED_AT_PASS = 3
SAMPLE = 20_000
"""Rows that starting centroids are found on."""
PASSES = ((8, 20, 2), (8, 20, 1), (8, 80, 2), (32, 20, 2))
"""Features, clusters and workers of single passes; the first makes the model."""
PARTS = 8
"""Parts of their rows."""
FEW_ROWS = 8_000
"""So few that a pass takes no time but that of handing over."""
PLANS = (
    (20_000_000, 8, 20, 2, 40),
    (1_000_000_000, 8, 20, 16, 500),
    (1_000_000_000, 8, 20, 64, 500),
    (1_000_000_000, 100, 100, 64, 4000),
)
"""Rows, features, clusters, workers and parts that the model speaks of."""

app = typer.Typer(add_completion=False, help=__doc__)


@dataclass(frozen=True)
class Data:
    """Rows about centres, in parts that know their numbers."""

    rows: int
    features: int
    clusters: int
    pairs: int
    part: int = 500_000

    def centres(self) -> NDArray[np.float64]:
        """Where the hidden groups lie."""
        return 2.0 * np.random.default_rng(0).normal(size=(self.clusters, self.features))

    def groups(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Hidden group of some rows, which depends on their numbers alone."""
        mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        return ((mixed >> np.uint64(33)) % np.uint64(self.clusters)).astype(np.int64)

    def block(self, number: int) -> NDArray[np.float64]:
        """Rows of one part."""
        first = number * self.part
        numbers = np.arange(first, min(first + self.part, self.rows))
        noise = np.random.default_rng([1, number]).normal(size=(numbers.size, self.features))
        return noise + self.centres()[self.groups(numbers)]

    @property
    def parts(self) -> range:
        """Numbers of the parts."""
        return range(-(-self.rows // self.part))

    def lazy(self) -> Any:
        """All rows as a Dask array."""
        import dask.array as da
        from dask import delayed

        sizes = [min(self.part, self.rows - number * self.part) for number in self.parts]
        blocks = [
            da.from_delayed(delayed(self.block)(number), (size, self.features), float)
            for number, size in zip(self.parts, sizes, strict=True)
        ]
        return da.concatenate(blocks)

    def constraints(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Must-link and cannot-link pairs, half of each, that the groups satisfy all but a few.

        A tenth of the rows claims to belong to another group, so that pairs bind.
        """
        rng = np.random.default_rng(2)
        pool = np.unique(rng.integers(self.rows, size=2 * self.pairs))
        claimed = self.groups(pool)
        liars = rng.random(pool.size) < 0.1
        claimed[liars] = rng.integers(self.clusters, size=np.count_nonzero(liars))
        first, second = rng.integers(pool.size, size=(2, 40 * self.pairs))
        same = claimed[first] == claimed[second]
        pairs = np.column_stack([pool[first], pool[second]])
        apart = pairs[~same][: self.pairs // 2]
        return pairs[same & (first != second)][: self.pairs - len(apart)], apart

    def start(self) -> NDArray[np.float64]:
        """Find starting centroids by a search over a sample, whatever the pairs."""
        from kempe import KempeKMeans

        sample = KempeKMeans(self.clusters, random_state=0).fit(self.block(0)[:SAMPLE])
        return np.asarray(sample.cluster_centers_)


def peak_mb() -> float:
    """Most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cluster_of(workers: int) -> Any:
    """Start workers of one thread each."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        memory_limit=MEMORY_LIMIT,
        dashboard_address=":0",
        silence_logs=50,
    )


def on_cluster(data: Data, *, kill: bool) -> dict[str, Any]:
    """One descent on a cluster; every pair is looked at in the end."""
    from distributed import Client, wait

    from kempe import Constraints
    from kempe.dask import KempeKMeans
    from kempe.search import Callbacks

    must_link, cannot_link = data.constraints()
    with cluster_of(WORKERS) as cluster, Client(cluster) as client:

        class Kill(Callbacks):
            def on_iteration(self, state: Any) -> None:
                if kill and state.iteration == KILLED_AT_PASS:
                    os.kill(client.submit(os.getpid, pure=False).result(), signal.SIGKILL)

        rows = data.lazy().persist()
        wait(rows)
        model = KempeKMeans(
            data.clusters, init=data.start(), max_mutations=0, gather_up_to=0, callbacks=Kill()
        )
        started = time.perf_counter()
        model.fit(rows, must_link=must_link, cannot_link=cannot_link)
        seconds = time.perf_counter() - started
        numbers = np.unique(np.concatenate([must_link, cannot_link]))
        found = np.asarray(model.labels_[numbers].compute())
        compact = [np.searchsorted(numbers, pairs) for pairs in (must_link, cannot_link)]
        violated = Constraints(*compact).violations(found)
        counts = model.labels_.map_blocks(_counted, data.clusters, chunks=(data.clusters,))
        sizes = counts.compute().reshape(-1, data.clusters).sum(axis=0)
        return {
            "seconds": seconds,
            "passes": model.n_iter_,
            "inertia": model.inertia_,
            "violated": len(violated.must_link) + len(violated.cannot_link),
            "sizes": sizes.tolist(),
            "labels": found.tolist(),
            "client": peak_mb(),
            "workers": sorted(client.run(peak_mb).values()),
        }


def _counted(labels: NDArray[np.int32], k: int) -> NDArray[np.int64]:
    return np.bincount(labels, minlength=k)


def on_one_machine(data: Data, *, batched: bool) -> dict[str, Any]:
    """One descent from the same start, with all rows in one memory."""
    from kempe import KempeKMeans
    from kempe.engine import SequentialDescent
    from kempe.engine.batched import BatchedDescent

    rows = np.empty((data.rows, data.features))
    for number_ in data.parts:
        rows[number_ * data.part : (number_ + 1) * data.part] = data.block(number_)
    must_link, cannot_link = data.constraints()
    model = KempeKMeans(data.clusters, init=data.start(), max_mutations=0, n_jobs=WORKERS)
    # Nobody but this benchmark wants the descent of a cluster on one machine.
    descent = BatchedDescent if batched else SequentialDescent
    started = time.perf_counter()
    with patch("kempe.engine.params.SequentialDescent", descent):
        model.fit(rows, must_link=must_link, cannot_link=cannot_link)
    numbers = np.unique(np.concatenate([must_link, cannot_link]))
    return {
        "seconds": time.perf_counter() - started,
        "inertia": model.inertia_,
        "sizes": np.bincount(model.labels_, minlength=data.clusters).tolist(),
        "labels": model.labels_[numbers].tolist(),
        "client": peak_mb(),
        "workers": [],
    }


def by_dask_ml(data: Data) -> dict[str, Any]:
    """K-means of dask-ml from the same start, without constraints."""
    from dask_ml.cluster import KMeans
    from distributed import Client, wait

    from kempe.dask.parts import Parts
    from kempe.dask.results import score_of_part
    from kempe.dask.tasks import compute

    with cluster_of(WORKERS) as cluster, Client(cluster) as client:
        rows = data.lazy().persist()
        wait(rows)
        start = data.start()
        started = time.perf_counter()
        model = KMeans(data.clusters, init=start).fit(rows)
        seconds = time.perf_counter() - started
        # Its own inertia adds up distances, not their squares.
        centres = np.ascontiguousarray(model.cluster_centers_, dtype=np.float64)
        scores = compute(Parts.of(rows).map(score_of_part, centres))
        return {
            "seconds": seconds,
            "passes": int(model.n_iter_),
            "inertia": -float(sum(scores)),
            "client": peak_mb(),
            "workers": sorted(client.run(peak_mb).values()),
        }


STEPS: dict[str, Callable[[Data], dict[str, Any]]] = {
    "cluster": lambda data: on_cluster(data, kill=False),
    "cluster, a worker killed": lambda data: on_cluster(data, kill=True),
    "one machine, batched": lambda data: on_one_machine(data, batched=True),
    "one machine": lambda data: on_one_machine(data, batched=False),
    "dask-ml, no pairs": by_dask_ml,
}


Rows = Annotated[int, typer.Option(min=1, help="Number of rows.")]
Out = Annotated[Path | None, typer.Option(help="Write the tables to this file, as Markdown.")]


@app.command(hidden=True)
def step(name: str, rows: int, pairs: int) -> None:
    """Make one of the runs, and print what was measured."""
    data = Data(rows, 8, 20, pairs)
    json.dump(STEPS[name](data), sys.stdout)


def measured(name: str, rows: int, pairs: int) -> dict[str, Any] | None:
    """Make a run in a process of its own; nothing if it fails."""
    command = [sys.executable, __file__, "step", name, str(rows), str(pairs)]
    print(f"{name} ...", file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    print(
        f"  {found['seconds']:.1f} s, inertia {found['inertia']:.12g}", file=sys.stderr, flush=True
    )
    return found


@app.command()
def large(rows: Rows = 20_000_000, pairs: int = 100_000, out: Out = None) -> None:
    """Fit the same rows on a cluster, with a worker killed, on one machine, and by dask-ml."""
    title = (
        f"{rows:,} x 8 rows, {pairs:,} pairs, k = 20, one descent from the same start "
        f"(load of the machine before: {os.getloadavg()[1]:.1f})"
    )
    runs = {name: measured(name, rows, pairs) for name in STEPS}
    first = runs["cluster"]
    assert first is not None
    header = [
        "run", "seconds", "passes", "inertia", "relative to the first", "pairs violated",
        "labels that differ", "largest worker, MB", "client, MB",
    ]  # fmt: skip
    lines = [_line(name, run, first) for name, run in runs.items()]
    finish([Section(title, header, lines)], out)


def _line(name: str, run: dict[str, Any] | None, first: dict[str, Any]) -> list[str]:
    if run is None:
        return [name, *["–"] * 8]
    differ = None
    if "labels" in run:
        differ = int(np.sum(np.array(run["labels"]) != np.array(first["labels"])))
        differ += int(np.abs(np.subtract(run["sizes"], first["sizes"])).sum()) // 2
    return [
        name,
        number(run["seconds"], 3),
        str(run.get("passes", "–")),
        f"{run['inertia']:.9g}",
        f"{run['inertia'] / first['inertia'] - 1:+.1e}",
        str(run.get("violated", "–")),
        "–" if differ is None else str(differ),
        number(max(run["workers"]), 3) if run["workers"] else "–",
        number(run["client"], 3),
    ]


@app.command()
def passes(rows: Rows = 2_000_000, out: Out = None) -> None:
    """Measure single passes over the rows, and model larger ones."""
    handing_over = measure_pass(FEW_ROWS, *PASSES[0]).wall / PARTS
    measured = {shape: measure_pass(rows, *shape) for shape in PASSES}
    products = rows * PASSES[0][0] * PASSES[0][1]
    model = Model(measured[PASSES[0]].busy / products, handing_over)
    finish([_measured(rows, measured, model), _planned(model)], out)


def finish(sections: list[Section], out: Path | None) -> None:
    """Show tables, and write them if they are wanted."""
    show(sections)
    if out is not None:
        write_markdown(out, sections)


@dataclass(frozen=True)
class Pass:
    """One pass over rows: wall seconds, processor seconds of the workers, bytes for each part."""

    wall: float
    busy: float
    sent: int
    returned: int


@dataclass(frozen=True)
class Model:
    """A pass costs so much for each row, cluster and feature, and for each part."""

    product: float
    part: float

    def seconds(self, rows: int, features: int, clusters: int, workers: int, parts: int) -> float:
        """Wall seconds, with a core for each worker."""
        return rows * features * clusters * self.product / workers + parts * self.part


def measure_pass(rows: int, features: int, clusters: int, workers: int, repeats: int = 5) -> Pass:
    """Look at the rows several times."""
    from distributed import Client

    from kempe.dask.parts import Parts
    from kempe.dask.rows import PartedRows
    from kempe.engine.crowd import look_at_part

    data = Data(rows, features, clusters, 0, part=rows // PARTS)
    nobody = np.empty(0, dtype=np.int64)
    with cluster_of(workers) as cluster, Client(cluster) as client:
        free = PartedRows(Parts.of(data.lazy().persist()), nobody, np.zeros(features))
        centroids = data.centres()
        free.look(centroids)  # wakes everybody
        before, started = sum(client.run(time.process_time).values()), time.perf_counter()
        for _ in range(repeats):
            free.look(centroids)
        wall = (time.perf_counter() - started) / repeats
        busy = (sum(client.run(time.process_time).values()) - before) / repeats
    back = look_at_part(data.block(0), np.empty(0), nobody, 0, centroids)
    return Pass(wall, busy, len(pickle.dumps(centroids)), len(pickle.dumps(back)))


def _measured(rows: int, found: dict[tuple[int, int, int], Pass], model: Model) -> Section:
    header = [
        "features", "clusters", "workers", "seconds", "modelled", "processor seconds",
        "ns for a row, cluster and feature", "bytes to a part", "bytes from a part",
    ]  # fmt: skip
    lines = []
    for (features, clusters, workers), one in found.items():
        products = rows * features * clusters
        times = [one.wall, model.seconds(rows, features, clusters, workers, PARTS), one.busy]
        shape = [str(value) for value in (features, clusters, workers)]
        each = number(1e9 * one.busy / products, 3)
        lines.append(
            [*shape, *(number(t, 3) for t in times), each, str(one.sent), str(one.returned)]
        )
    return Section(f"One pass over {rows:,} rows in {PARTS} parts", header, lines)


def _planned(model: Model) -> Section:
    header = ["rows", "features", "clusters", "workers", "parts", "seconds a pass, modelled"]
    lines = [[*(f"{v:,}" for v in plan), number(model.seconds(*plan), 3)] for plan in PLANS]
    product, part = number(1e9 * model.product, 3), number(1e3 * model.part, 3)
    title = f"Modelled: {product} ns for a row, cluster and feature, {part} ms for a part"
    return Section(title, header, lines)


if __name__ == "__main__":
    app()
