"""By how much every method, and all else that takes a limit, exceeds a limit of 0.3 seconds.

Four kinds of problems are large in one way each. Every call has a process of its own, in which what
is imported on first use has been imported, and one thread; seconds are of the processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import kempe
from kempe import methods
from kempe.exceptions import NoSolutionFoundError
from tables import Section, show, write_markdown

LIMIT = 0.3
TRIES = 3
"""The least of several: a busy machine only ever adds."""
METHODS = [
    *("kempe", "KSKM", "KSKM_E", "PCCC", "BLPKMCC", "IPC_KMeans", "COPKM_P", "COPKM", "ICOPKM"),
    *("CLCKM", "S_MDEClust", "PCKMeans"),
]
# Rows, features, clusters and pairs that are drawn.
KINDS = {
    "large": (400_000, 10, 10, 20_000),
    "many pairs": (20_000, 4, 20, 1_600_000),
    "many clusters": (30_000, 20, 600, 10_000),
    "many features": (3_000, 2_000, 8, 3_000),
}


def problem(kind: str) -> tuple[Any, Any, Any, int]:
    """Give data, planted clusters, pairs that are apart in them, and the number of clusters."""
    n, d, k, n_pairs = KINDS[kind]
    rng = np.random.default_rng(0)
    planted = rng.permutation(np.arange(n) % k)
    X = 4 * rng.normal(size=(k, d))[planted] + rng.normal(size=(n, d))
    pairs = rng.integers(n, size=(n_pairs, 2))
    return X, planted, pairs[planted[pairs[:, 0]] != planted[pairs[:, 1]]], k


def of_method(name: str) -> Callable[..., Any]:
    """Fit a method."""

    def call(X: Any, planted: Any, apart: Any, k: int, limit: float) -> None:
        methods.create(name, k, random_state=0, time_limit=limit).fit(X, cannot_link=apart)

    return call


def certified(X: Any, planted: Any, apart: Any, k: int, limit: float) -> None:
    """Bound the planted clusters."""
    given = {"cannot_link": apart, "time_limit": limit, "random_state": 0}
    kempe.certify(X, planted, n_clusters=k, **given)


def sized(share: float) -> Callable[..., Any]:
    """Fit with sizes between a share of the mean size and as much more than it."""

    def call(X: Any, planted: Any, apart: Any, k: int, limit: float) -> None:
        mean = len(X) / k
        sizes = {"size_min": int(mean * share), "size_max": int(np.ceil(mean * (2 - share)))}
        model = kempe.KempeKMeans(k, random_state=0, time_limit=limit, **sizes)
        model.fit(X, cannot_link=apart)

    return call


def softly(X: Any, planted: Any, apart: Any, k: int, limit: float) -> None:
    """Fit with pairs of which one in ten is wrong."""
    wrong = np.arange(len(apart)) % 10 == 0
    model = kempe.KempeKMeans(k, random_state=0, time_limit=limit)
    model.fit(X, soft_must_link=apart[wrong], soft_cannot_link=apart[~wrong])


def relaxed(with_data: bool) -> Callable[..., Any]:
    """Give up pairs, of which one in ten is wrong."""

    def call(X: Any, planted: Any, apart: Any, k: int, limit: float) -> None:
        wrong = np.arange(len(apart)) % 10 == 0
        pairs = {"must_link": apart[wrong], "cannot_link": apart[~wrong]}
        given = X if with_data else None
        kempe.relax(given, n_clusters=k, time_limit=limit, random_state=0, **pairs)

    return call


CALLS: dict[str, Callable[..., Any]] = {
    **{name: of_method(name) for name in METHODS},
    "kempe, sizes within half of the mean": sized(0.5),
    "kempe, equal sizes": sized(1.0),
    "kempe, soft pairs": softly,
    "relax": relaxed(with_data=True),
    "relax without data": relaxed(with_data=False),
    "certify": certified,
}


def measured(name: str, kind: str) -> tuple[float, str]:
    """Seconds beyond the limit, and how the call ended."""
    warnings.simplefilter("ignore")
    parts = problem(kind)
    few = np.arange(12)[:, None] % 4 * np.array([[1.0, 2.0]])
    CALLS[name](few, np.arange(12) % 2, np.array([[0, 1]]), 2, 5.0)  # imports
    spent: list[float] = []
    timer = threading.Timer(LIMIT, lambda: spent.append(time.process_time()))
    began, outcome = time.process_time(), ""
    timer.start()
    try:
        CALLS[name](*parts, LIMIT)
    except NoSolutionFoundError:
        outcome = "none"
    ended = time.process_time()
    timer.cancel()
    # A machine with other work to do gives less of the processor before the limit than after it.
    at_limit = min([began + LIMIT, *spent])
    return ended - at_limit, outcome


def cell(name: str, kind: str, tries: int) -> str:
    """Measure in processes of their own, and take the least."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    found = []
    for _ in range(tries):
        done = subprocess.run(
            [sys.executable, __file__, "--only", name, "--kind", kind, "--once"],
            capture_output=True,
            text=True,
            env={**os.environ, **one},
            check=False,
        )
        if done.returncode:
            return done.stderr.strip().splitlines()[-1][:60]
        found.append(json.loads(done.stdout.splitlines()[-1]))
        if found[-1][0] < 0.1:
            break
    seconds, outcome = min(found)
    return f"{max(seconds, 0.0):.2f}" + (f" ({outcome})" if outcome else "")


def main(
    only: Annotated[list[str] | None, typer.Option(help="Calls; all.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Kinds of problems; all.")] = None,
    tries: Annotated[int, typer.Option(min=1, help="Calls of each kind.")] = TRIES,
    once: Annotated[bool, typer.Option(hidden=True)] = False,
    out: Annotated[Path | None, typer.Option(help="Write the table as Markdown.")] = None,
) -> None:
    """Measure by how much limits are exceeded."""
    names, kinds = only or list(CALLS), kind or list(KINDS)
    if once:
        typer.echo(json.dumps(measured(names[0], kinds[0])))
        return
    rows = []
    for name in names:
        rows.append([name, *(cell(name, each, tries) for each in kinds)])
        typer.echo("  ".join(rows[-1]), err=True)
    table = Section("Seconds beyond a limit of 0.3", ["", *kinds], rows)
    show([table])
    if out:
        write_markdown(out, [table])


if __name__ == "__main__":
    typer.run(main)
