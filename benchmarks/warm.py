"""What one more answer costs: a warm re-solve after each of fifty pairs, and where it leads.

A clustering is searched without pairs. Then pairs come one by one, each of which the clusters at
hand break if one of some that are drawn does, and each time ``fit(init=labels)`` with
``max_mutations=0`` goes on from the clusters before. After the last pair a full search, which
begins anew with all of them, is beside it. CPU seconds are those of ``fit``, on one thread.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from kempe import Constraints, KempeKMeans
from large import Timed, finish, overlapping_blobs, timed_fit, warm_up
from tables import Section, number

SIZES = {1_000: 3.0, 10_000: 15.0, 100_000: 150.0}
"""Rows, and the milliseconds in which an answer shall be taken in."""

FEATURES, CLUSTERS, DRAWN = 10, 10, 64
MOST_ABOVE = 0.5
"""Percent that the inertia after all answers may lie above a full search."""


class Course(NamedTuple):
    """A series of answers: milliseconds of each re-solve, pairs that clusters broke, the end."""

    milliseconds: list[float]
    surprising: int
    inertia: float
    full: Timed


def course(n_rows: int, answers: int, seed: int) -> Course:
    """Take in one answer after the other."""
    X, y = overlapping_blobs(n_rows, FEATURES, CLUSTERS, seed)
    rng = np.random.default_rng(seed)
    labels = KempeKMeans(CLUSTERS, max_mutations=20, random_state=seed).fit(X).labels_
    pairs = np.empty((0, 2), dtype=np.int64)
    milliseconds, surprising, reached = [], 0, np.inf
    for _ in range(answers):
        pair, surprises = drawn(labels, y, rng)
        pairs = np.vstack([pairs, pair])
        surprising += surprises
        model: Any = KempeKMeans(CLUSTERS, max_mutations=0, n_jobs=1, random_state=seed)
        constraints = told(pairs, y)
        reached, seconds = timed_fit(model, X, constraints=constraints, init=labels)
        milliseconds.append(1000 * seconds)
        labels = model.labels_
    full = timed_fit(KempeKMeans(CLUSTERS, n_jobs=1, random_state=seed), X, constraints=constraints)
    return Course(milliseconds, surprising, reached, full)


def drawn(
    labels: NDArray[Any], y: NDArray[Any], rng: np.random.Generator
) -> tuple[NDArray[np.int64], bool]:
    """Draw a pair that clusters break, if there is one among some; and whether there is."""
    pairs = rng.integers(len(y), size=(DRAWN, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    first, second = pairs.T
    broken = (labels[first] == labels[second]) != (y[first] == y[second])
    return pairs[broken.argmax()], bool(broken.any())


def told(pairs: NDArray[np.int64], y: NDArray[Any]) -> Constraints:
    """Say of each pair whether it belongs together."""
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints(pairs[same], pairs[~same], n_rows=len(y))


def line(n_rows: int, courses: list[Course]) -> list[str]:
    """Give the line of a table."""
    times = np.concatenate([one.milliseconds for one in courses])
    above = [100 * (one.inertia / one.full.inertia - 1) for one in courses]
    return [
        f"{n_rows:,}",
        number(float(np.median(times)), 3),
        number(float(times.max()), 3),
        number(SIZES.get(n_rows, np.nan), 3),
        f"{sum(one.surprising for one in courses)} of {times.size}",
        f"{np.mean(above):+.3f}",
        f"{max(above):+.3f}",
        number(float(np.mean([one.full.cpu for one in courses])), 3),
    ]


def main(
    answers: Annotated[int, typer.Option(min=1, help="Pairs, one after the other.")] = 50,
    seeds: Annotated[int, typer.Option(min=1, help="Data sets of each size.")] = 3,
    rows: Annotated[list[int] | None, typer.Option(help="Only this number of rows.")] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
) -> None:
    """Measure re-solves at several sizes."""
    warm_up()
    sizes = rows or list(SIZES)
    lines = [line(n, [course(n, answers, seed) for seed in range(seeds)]) for n in sizes]
    header = [
        *["rows", "median CPU ms", "longest", "wanted", "pairs that clusters broke"],
        *["% above a full search", "at most", "its CPU s"],
    ]
    title = f"One more pair, {FEATURES} features, k = {CLUSTERS}, {answers} answers, {seeds} seeds"
    finish([Section(title, header, lines)], out)


if __name__ == "__main__":
    typer.run(main)
