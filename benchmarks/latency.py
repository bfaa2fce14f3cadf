"""How long a service waits for ``predict``: kempe and scikit-learn, call by call in turns.

Once with the cores as they are, and once with a process on every core that does nothing but
compute, as beside other work on a server.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.cluster import KMeans

from kempe import KempeKMeans
from tables import Section, number, show, write_markdown

SHAPES = ((8, 4), (10, 64), (50, 300))
"""Clusters and features of the models."""

ROWS = (1, 100)
"""Rows in one call."""


def main(
    calls: Annotated[int, typer.Option(min=20, help="Calls of each model.")] = 1000,
    out: Annotated[Path | None, typer.Option(help="Write the table as Markdown.")] = None,
) -> None:
    """Measure the time of one call of ``predict``."""
    rng = np.random.default_rng(0)
    models = {shape: fitted(*shape, rng) for shape in SHAPES}
    sections = []
    for title, busy in (("cores as they are", 0), ("all cores busy", os.cpu_count() or 1)):
        with spinning(busy):
            rows = [
                row
                for (k, d), pair in models.items()
                for n in ROWS
                for row in [[f"{k} clusters, {d} features", str(n), *measured(pair, n, calls, rng)]]
            ]
        sections.append(Section(f"predict, microseconds: {title}", HEADER, rows))
    show(sections)
    if out is not None:
        write_markdown(out, sections)


HEADER = (
    "model",
    "rows",
    "scikit-learn, median",
    "kempe, median",
    "ratio",
    "scikit-learn, 99 %",
    "kempe, 99 %",
    "ratio",
)


def fitted(k: int, d: int, rng: np.random.Generator) -> tuple[KMeans, KempeKMeans]:
    """Give both models, fitted to the same data."""
    X = rng.normal(size=(20 * k, d))
    ours = KempeKMeans(k, max_mutations=0, random_state=0)
    return KMeans(k, n_init=1, random_state=0).fit(X), ours.fit(X, cannot_link=[(0, 1)])


def measured(
    models: tuple[KMeans, KempeKMeans], n: int, calls: int, rng: np.random.Generator
) -> list[str]:
    """Cells of one row: medians, 99th percentiles and their ratios."""
    seconds = np.array([timed_in_turns(models, n, rng) for _ in range(calls)])
    cells = []
    for quantile in (0.5, 0.99):
        theirs, ours = 1e6 * np.quantile(seconds, quantile, axis=0)
        cells += [number(theirs, 3), number(ours, 3), f"{ours / theirs:.2f}"]
    return cells


def timed_in_turns(models: tuple[Any, ...], n: int, rng: np.random.Generator) -> list[float]:
    """Seconds of one call of each model, on the same new rows."""
    row = rng.normal(size=(n, models[0].n_features_in_))
    seconds = []
    for model in models:
        started = time.perf_counter()
        model.predict(row)
        seconds.append(time.perf_counter() - started)
    return seconds


@contextmanager
def spinning(count: int) -> Iterator[None]:
    """Keep so many cores busy."""
    context = multiprocessing.get_context("spawn")
    crew = [context.Process(target=spin, daemon=True) for _ in range(count)]
    for process in crew:
        process.start()
    if crew:
        time.sleep(2.0)  # they import this module first
    try:
        yield
    finally:
        for process in crew:
            process.kill()
            process.join()


def spin() -> None:
    """Compute for ever, until killed."""
    while True:
        sum(range(10_000))


if __name__ == "__main__":
    typer.run(main)
