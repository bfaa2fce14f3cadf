"""One descent on several cores: against k-means of scikit-learn, against one, and a model of more.

Times are wall seconds of ``fit``, so this needs a quiet machine.
"""

from __future__ import annotations

import time
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from joblib import cpu_count
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from kempe import KempeKMeans
from large import Out, Seeds, finish, overlapping_blobs, warm_up
from tables import Section, number

# Rows, features, clusters.
SIZES = ((1_000_000, 16, 20), (200_000, 64, 50), (60_000, 784, 10))
MODELLED = (16, 64)
"""Cores that the model speaks of."""


class Walls(NamedTuple):
    """Wall seconds and inertia of one data set."""

    kmeans: float
    one: float
    several: float
    inertia: float
    kmeans_inertia: float

    def serial_share(self, cores: int) -> float:
        """Share of the work that only one core can do, by Amdahl's law."""
        share = (self.several / self.one * cores - 1) / (cores - 1)
        return min(1.0, max(0.0, share))


def timed(model: Any, X: NDArray[Any], threads: int) -> tuple[float, float]:
    """Wall seconds of a fit in which numerical libraries have so many threads; its inertia."""
    with threadpool_limits(threads):
        start = time.perf_counter()
        model.fit(X)
        return time.perf_counter() - start, float(model.inertia_)


def measure(X: NDArray[Any], k: int, seed: int, cores: int) -> Walls:
    """Fit k-means with all cores, and a single descent with one core and with all."""
    kmeans, kmeans_inertia = timed(KMeans(k, n_init=1, random_state=seed), X, cores)

    def descent(n_jobs: int) -> tuple[float, float]:
        model = KempeKMeans(k, max_mutations=0, n_jobs=n_jobs, random_state=seed)
        return timed(model, X, n_jobs)

    one, inertia = descent(1)
    several, same = descent(cores)
    if same != inertia:
        raise RuntimeError("the inertia depends on the number of threads")
    return Walls(kmeans, one, several, inertia, kmeans_inertia)


def line(walls: list[Walls], name: str, cores: int) -> list[str]:
    """Means over the seeds, and what Amdahl's law makes of them."""
    mean = Walls(*np.mean(walls, axis=0))
    share = mean.serial_share(cores)
    seconds = [number(value, 3) for value in (mean.kmeans, mean.one, mean.several)]
    ratios = [mean.several / mean.kmeans, mean.several / mean.one]
    inertia = np.exp(np.mean([np.log(one.inertia / one.kmeans_inertia) for one in walls]))
    speedups = [1 / (share + (1 - share) / more) for more in MODELLED]
    return [
        name,
        *seconds,
        *(number(ratio, 3) for ratio in ratios),
        f"{inertia:.5f}",
        number(share, 2),
        *(number(speedup, 3) for speedup in speedups),
    ]


def main(
    seeds: Seeds = 3,
    scale: Annotated[float, typer.Option(min=0, help="Share of the rows.")] = 1.0,
    dtype: Annotated[str, typer.Option(help="float32 or float64.")] = "float64",
    out: Out = None,
) -> None:
    """Compare one descent with k-means on all cores, and with itself on one."""
    cores = max(2, cpu_count())
    warm_up()
    rows = []
    for n, d, k in SIZES:
        walls = []
        for seed in range(seeds):
            X, _ = overlapping_blobs(max(k, int(scale * n)), d, k, seed)
            walls.append(measure(X.astype(dtype), k, seed, cores))
        rows.append(line(walls, f"{n:,} x {d}, k = {k}", cores))
    title = f"One descent on {cores} cores ({dtype}, wall seconds, means over {seeds} runs)"
    header = [
        *["data", f"k-means, {cores}", "ours, 1", f"ours, {cores}", "of k-means", "of one core"],
        *["inertia / k-means", "serial share", *(f"speed-up on {n}" for n in MODELLED)],
    ]
    finish([Section(title, header, rows)], out)


if __name__ == "__main__":
    typer.run(main)
