"""Compiled kernels of kempe: arrays in, arrays out. All release the GIL while they work."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Floats: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.int32]
_Longs: TypeAlias = NDArray[np.int64]

class Instance:
    """The immutable problem; borrows its arrays and keeps them alive.

    A supernode's point is ``rows[source]`` if ``source >= 0``, else ``merged[~source]``.
    """

    def __init__(
        self,
        rows: NDArray[Any],
        merged: NDArray[Any],
        source: _Ints,
        weight: _Floats,
        offsets: _Longs,
        targets: _Ints,
    ) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def dimension(self) -> int: ...

class Stopper:
    """Tells kernels when to stop: after ``seconds``, on ``stop()``, or on Ctrl-C."""

    def __init__(self, seconds: float = ...) -> None: ...
    def look(self) -> bool:
        """Look at the clock and at pending signals; whether to stop."""
    def stop(self) -> None: ...
    @property
    def stopped(self) -> bool: ...
    @property
    def interrupted(self) -> bool: ...
    @property
    def remaining(self) -> float: ...

def supernodes(rows: int, must_link: NDArray[Any]) -> tuple[_Ints, int]:
    """Supernode of each row, numbered by first row, and their number."""

def cannot_link_graph(
    supernode: _Ints, size: int, cannot_link: NDArray[Any]
) -> tuple[_Longs, _Ints, int]:
    """Offsets and targets of the graph, and the position of a pair inside one supernode or -1."""

def merge_rows(
    rows: NDArray[Any], members: _Ints, group: _Ints, weight: _Floats, groups: int
) -> tuple[NDArray[Any], float]:
    """Weighted means of groups of rows, and the inertia inside the groups."""

def combine_rows(
    rows: NDArray[Any], labels: _Ints, coefficients: _Floats, centroids: _Floats
) -> _Floats:
    """For each cluster the sum of ``coefficient * (row - centroid)`` over its rows."""

def cluster_means(instance: Instance, colours: _Ints, n_clusters: int) -> tuple[_Floats, _Floats]:
    """Mean and weight of each cluster."""

def between_inertia(instance: Instance, colours: _Ints, centroids: _Floats) -> float:
    """Weighted squared distances of all supernodes to their centroids."""

def squared_distances(instance: Instance, vertices: _Ints, centroids: _Floats) -> _Floats:
    """Squared distances of some supernodes to all centroids."""

def points(instance: Instance, vertices: _Ints) -> _Floats:
    """Points of some supernodes."""

def is_proper(instance: Instance, colours: _Ints) -> bool:
    """Whether no edge joins two vertices of one colour."""

def saturation_assignment(instance: Instance, centroids: _Floats) -> tuple[_Ints, int]:
    """Nearest admissible centroid in saturation order; the vertex that got stuck, or -1."""

def dsatur(instance: Instance, n_clusters: int) -> tuple[_Ints, int]:
    """Classic DSATUR colouring; the vertex that got stuck, or -1."""

def kmeans_plus_plus(instance: Instance, candidates: _Ints, n_clusters: int, seed: int) -> _Ints:
    """Supernodes drawn by greedy k-means++ from ``candidates``."""
