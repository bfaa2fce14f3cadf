"""Executing one task: the same data for every method, and the same starting centroids.

Apart from those whose public programs draw their own, see ``kempe.methods.takes_start``.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import datasets, methods
from kempe.bench import own_methods
from kempe.bench.own import UNKNOWN, load_own
from kempe.bench.plan import Task
from kempe.bench.store import BY_LIMIT, NO_DATA, Record
from kempe.constraints import Constraints
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError

MAX_HISTORY = 40
"""Points of a convergence curve that are kept."""


def execute(task: Task, on_ready: Callable[[], None] = lambda: None) -> Record:
    """Run one task in this process.

    Parameters
    ----------
    on_ready
        Called when the data is there and the method is about to start.
    """
    try:
        data = _data(task.source, task.dataset, task.level, task.dtype)
    except (OSError, ValueError) as error:
        return _failure(task, NO_DATA, error)
    started = time.monotonic()
    try:
        return _run(task, data, on_ready)
    except InfeasibleConstraintsError as error:
        return _failure(task, "infeasible", error)
    except NoSolutionFoundError as error:
        in_time = time.monotonic() - started < task.time_limit
        return replace(
            _failure(task, "no solution", error), stop_reason="" if in_time else BY_LIMIT
        )
    except MemoryError as error:
        return _failure(task, "memory", error)
    except Exception as error:  # whatever a method does, the plan goes on
        return _failure(task, "error", error, type(error).__name__)


def _failure(task: Task, kind: str, error: BaseException, name: str = "") -> Record:
    detail = " ".join(str(part) for part in (name, error) if str(part))
    return Record.of(task, "failed", reason=f"{kind}: {detail}" if detail else kind)


def _run(task: Task, data: datasets.Dataset, on_ready: Callable[[], None]) -> Record:
    constraints = data.constraints if task.must_link else data.constraints.without_must_link()
    model = make_method(task, data.n_clusters, starting_centroids(task))
    on_ready()
    peak = PeakMemory()
    wall, cpu = time.perf_counter(), time.process_time()
    own_methods.fit(model, data.X, constraints)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    labels = np.asarray(model.labels_)
    check_labels(labels, len(data.X), data.n_clusters)
    wrong = violations(labels, constraints)
    reached = inertia(data.X, labels)
    if not math.isfinite(reached):
        raise OverflowError("the inertia of the clustering is too large for a number")
    return Record.of(
        task,
        "failed" if wrong else "ok",
        reason=f"violation: {wrong} pairs" if wrong else "",
        inertia=reached,
        ari=None if data.y is None else rand_index(data.y, labels),
        cpu_s=round(cpu, 6),
        wall_s=round(wall, 6),
        n_iter=int(getattr(model, "n_iter_", 0)),
        peak_mb=peak.megabytes(),
        violations=wrong,
        stop_reason=str(getattr(getattr(model, "result_", None), "stop_reason", "")),
        history=history(model),
    )


def make_method(task: Task, n_clusters: int, init: NDArray[np.float64]) -> Any:
    """Estimator of a task, with the limits and starting centroids that it understands."""
    common = {"init": init, "time_limit": task.time_limit}
    if task.packed or own_methods.is_own(task.method):
        packed = task.packed
        method = own_methods.unpacked(packed) if packed else own_methods.find(task.method)
        offered = {"n_clusters": n_clusters, "random_state": task.seed, **common}
        return own_methods.make(method, offered, task.options)
    if not methods.takes_start(task.method):
        del common["init"]
    model = methods.create(task.method, n_clusters, task.seed, **common, **task.options)
    if "n_jobs" in model.get_params() and "n_jobs" not in task.options:
        model.set_params(n_jobs=1)
    return model


# A worker gets tasks on the same data one after the other.
@lru_cache(maxsize=1)
def _data(source: str, dataset: str, level: float | None, dtype: str) -> datasets.Dataset:
    if source:
        return load_own(source, 1.0 if level is None else level, dtype)
    return datasets.load(dataset, level, dtype=dtype)


def starting_centroids(task: Task) -> NDArray[np.float64]:
    """k-means++ centroids, the same for all methods at a data set, level and seed."""
    return _starting_centroids(task.source, task.dataset, task.level, task.dtype, task.seed)


@lru_cache(maxsize=1)
def _starting_centroids(
    source: str, dataset: str, level: float | None, dtype: str, seed: int
) -> NDArray[np.float64]:
    from sklearn.cluster import kmeans_plusplus

    data = _data(source, dataset, level, dtype)
    own_seed = zlib.crc32(f"{dataset}|{level}|{seed}".encode())
    centroids, _ = kmeans_plusplus(data.X, data.n_clusters, random_state=own_seed)
    return np.asarray(centroids, dtype=np.float64)


def inertia(X: NDArray[Any], labels: NDArray[Any]) -> float:
    """Sum of squared distances to the means of the clusters, in double precision."""
    total = 0.0
    for cluster in np.unique(labels):
        rows = X[labels == cluster].astype(np.float64)
        rows -= rows.mean(axis=0)
        total += float(np.einsum("ij,ij->", rows, rows))
    return total


def check_labels(labels: NDArray[Any], n_rows: int, n_clusters: int) -> None:
    """Refuse labels that are no clustering of the rows into so many clusters at most."""
    if labels.shape != (n_rows,):
        raise ValueError(f"labels_ have the shape {labels.shape}, but there are {n_rows} rows")
    found = np.unique(labels).size
    if found > n_clusters:
        raise ValueError(f"labels_ have {found} clusters, but {n_clusters} were wanted")


def violations(labels: NDArray[Any], constraints: Constraints) -> int:
    """Count the pairs that a labelling violates."""
    must, cannot = constraints.must_link, constraints.cannot_link
    split = labels[must[:, 0]] != labels[must[:, 1]]
    joined = labels[cannot[:, 0]] == labels[cannot[:, 1]]
    return int(split.sum() + joined.sum())


def rand_index(y: NDArray[Any], labels: NDArray[Any]) -> float:
    """Compare a labelling with the true one, where it is known, by the adjusted Rand index."""
    from sklearn.metrics import adjusted_rand_score

    known = y != UNKNOWN
    return float(adjusted_rand_score(y[known], labels[known]))


def history(model: Any) -> list[tuple[float, float]]:
    """Improvements of the best inertia over time, thinned to at most ``MAX_HISTORY`` points."""
    statistics = getattr(getattr(model, "result_", None), "statistics", None)
    if statistics is None or not statistics.elapsed:
        return []
    best = np.minimum.accumulate(np.asarray(statistics.best_inertia, dtype=np.float64))
    improved = np.flatnonzero(np.append(np.inf, best[:-1]) > best)
    if improved.size > MAX_HISTORY:
        # Improvements become rare, so equal steps in their logarithm keep the early ones too.
        steps = np.geomspace(1, improved.size, MAX_HISTORY).round().astype(int) - 1
        improved = improved[np.unique(steps)]
    points = [(round(statistics.elapsed[i], 6), float(best[i])) for i in improved]
    return [point for point in points if all(map(math.isfinite, point))]


class PeakMemory:
    """Largest resident memory of this process since the object was made, where known."""

    def __init__(self) -> None:
        try:
            with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
                file.write("5")
        except OSError:
            pass

    def megabytes(self) -> float | None:
        """Peak so far; since the start of the process where it cannot be reset."""
        try:
            with open("/proc/self/status", encoding="ascii") as file:
                line = next(line for line in file if line.startswith("VmHWM"))
        except (OSError, StopIteration):
            return None
        return round(int(line.split()[1]) / 1024, 1)
