"""Fixtures that all tests share: planted instances, exhaustive search, the benchmark data."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kempe import Constraints
from kempe.problem import Problem

# A shell starts what it runs in the background deaf to Ctrl-C, which many tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Planted:
    """Random data with constraints that its hidden labels satisfy, so it is always feasible."""

    X: NDArray[Any]
    labels: NDArray[np.int64]
    constraints: Constraints
    n_clusters: int

    @property
    def problem(self) -> Problem:
        return Problem.build(self.X, self.constraints, n_clusters=self.n_clusters)


def make_planted(
    seed: int = 0,
    *,
    n_rows: int = 60,
    n_features: int = 2,
    n_clusters: int = 3,
    n_pairs: int = 40,
    noise: float = 0.3,
    cannot_link_only: bool = False,
    dtype: Any = np.float64,
) -> Planted:
    """Blobs whose hidden labels agree with the blobs except for a share ``noise`` of the rows."""
    rng = np.random.default_rng(seed)
    blob = np.concatenate(
        [np.arange(n_clusters), rng.integers(n_clusters, size=n_rows - n_clusters)]
    )
    X = 4 * rng.normal(size=(n_clusters, n_features))[blob] + rng.normal(size=(n_rows, n_features))
    moved = rng.random(n_rows) < noise
    moved[:n_clusters] = False
    labels = np.where(moved, rng.integers(n_clusters, size=n_rows), blob)
    pairs = rng.integers(n_rows, size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    must_link = None if cannot_link_only else pairs[same]
    return Planted(X.astype(dtype), labels, Constraints(must_link, pairs[~same]), n_clusters)


def inertia_of(X: NDArray[Any], labels: NDArray[Any], weights: NDArray[Any] | None = None) -> float:
    """Inertia about the cluster means, straight from its definition."""
    data = np.asarray(X, dtype=np.float64)
    weight = np.ones(len(data)) if weights is None else np.asarray(weights, dtype=np.float64)
    total = 0.0
    for cluster in np.unique(labels):
        members = labels == cluster
        if weight[members].sum() > 0:
            mean = np.average(data[members], axis=0, weights=weight[members])
            total += float((weight[members] * ((data[members] - mean) ** 2).sum(axis=1)).sum())
    return total


def violated_pairs(labels: NDArray[Any], constraints: Constraints) -> list[tuple[int, int]]:
    """Pairs that a labelling does not respect."""
    ml, cl = constraints.must_link, constraints.cannot_link
    broken = np.concatenate(
        [ml[labels[ml[:, 0]] != labels[ml[:, 1]]], cl[labels[cl[:, 0]] == labels[cl[:, 1]]]]
    )
    return [(int(first), int(second)) for first, second in broken]


def brute_force(
    X: NDArray[Any],
    constraints: Constraints,
    n_clusters: int,
    weights: NDArray[Any] | None = None,
) -> tuple[float, NDArray[np.int64] | None]:
    """Lowest inertia over all feasible labellings with ``n_clusters`` non-empty clusters.

    Infinity and ``None`` if there is none. For at most about ten rows.
    """
    every = _labellings(len(X), n_clusters)
    for pairs, together in ((constraints.must_link, True), (constraints.cannot_link, False)):
        same = every[:, pairs[:, 0]] == every[:, pairs[:, 1]]
        every = every[(same == together).all(axis=1)]
    inertia = [inertia_of(X, labels, weights) for labels in every]
    if not inertia:
        return np.inf, None
    return min(inertia), every[int(np.argmin(inertia))]


def _labellings(n_rows: int, n_clusters: int) -> NDArray[np.int64]:
    """All partitions into ``n_clusters`` parts, each once: clusters appear in the order of rows."""
    every = np.array(list(itertools.product(range(n_clusters), repeat=n_rows)))
    highest = np.maximum.accumulate(every, axis=1)
    in_order = (np.diff(highest, axis=1, prepend=-1) <= 1).all(axis=1)
    return every[in_order & (highest[:, -1] == n_clusters - 1)]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--timing",
        choices=["only", "without"],
        help="run only the tests marked timing, or all others; -m and -k choose among those",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Narrow down what ``-m`` chooses; a second ``-m`` would replace the first."""
    given = config.option.markexpr
    wanted = [f"({given})"] if given else []
    if "stress" not in given:
        wanted.append("not stress")
    if chosen := config.getoption("--timing"):
        wanted.append("timing" if chosen == "only" else "not timing")
    config.option.markexpr = " and ".join(wanted)


@pytest.fixture(scope="session")
def planted() -> Callable[..., Planted]:
    return make_planted


@pytest.fixture(scope="session")
def inertia() -> Callable[..., float]:
    return inertia_of


@pytest.fixture(scope="session")
def violations() -> Callable[..., list[tuple[int, int]]]:
    return violated_pairs


@pytest.fixture(scope="session")
def brute_force_optimum() -> Callable[..., tuple[float, NDArray[np.int64] | None]]:
    return brute_force


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with the benchmark data: $KEMPE_SHARED, else ``shared`` beside the repository."""
    beside = Path(__file__).parents[1].parent / "shared"
    folder = Path(os.environ.get("KEMPE_SHARED", beside))
    if not (folder / "data" / "manifest.csv").exists():
        pytest.skip(f"benchmark data not found in {folder}; set KEMPE_SHARED to its folder")
    return folder
