"""Limits on the sizes of clusters: how few and how many rows each may have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe.words import counted

Rows = NDArray[np.int32]

# A share of the rows that is a whole number but for rounding is that number.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class SizeLimits:
    """Fewest and most rows of each cluster. Rows count, whatever they weigh.

    Attributes
    ----------
    least, most
        One number per cluster.
    """

    least: Rows
    most: Rows

    @classmethod
    def of(
        cls, size_min: ArrayLike | None, size_max: ArrayLike | None, n_rows: int, n_clusters: int
    ) -> SizeLimits | None:
        """Make limits of what a user says; ``None`` if that is nothing.

        Parameters
        ----------
        size_min, size_max
            A number of rows, a share of all rows below 1, or one of these for each cluster.
        n_rows, n_clusters
            Size of the problem.

        Examples
        --------
        >>> limits = SizeLimits.of(0.1, 30, n_rows=95, n_clusters=4)
        >>> limits.least.tolist(), limits.most.tolist()
        ([10, 10, 10, 10], [30, 30, 30, 30])
        """
        if size_min is None and size_max is None:
            return None
        # Clusters are never empty.
        least = _numbers("size_min", 1 if size_min is None else size_min, n_rows, n_clusters)
        most = _numbers("size_max", n_rows if size_max is None else size_max, n_rows, n_clusters)
        wrong = least > most
        if wrong.any():
            c = int(wrong.argmax())
            raise ValueError(
                f"size_min is larger than size_max: cluster {c} would have at least "
                f"{counted(int(least[c]), 'row')} and at most {most[c]}"
            )
        return cls(least, most)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.least.size)

    @property
    def same_for_all(self) -> bool:
        """Whether all clusters have the same limits, so that their numbers mean nothing."""
        return bool((self.least == self.least[0]).all() and (self.most == self.most[0]).all())

    def sizes_of(self, labels: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Rows of each cluster."""
        return np.bincount(labels, minlength=self.n_clusters)

    def hold(self, sizes: NDArray[np.integer[Any]]) -> bool:
        """Whether clusters of some sizes break none of them."""
        return not ((sizes < self.least) | (sizes > self.most)).any()

    def excess(self, sizes: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
        """By how many rows clusters of some sizes break their limits; 0 where they do not."""
        return np.asarray(np.maximum(0, np.maximum(self.least - sizes, sizes - self.most)))

    def __str__(self) -> str:
        if not self.same_for_all:
            return "at least " + _listed(self.least) + " and at most " + _listed(self.most)
        least, most = int(self.least[0]), int(self.most[0])
        return f"exactly {least}" if least == most else f"at least {least} and at most {most}"

    @property
    def in_words(self) -> str:
        """The same in rows."""
        return f"{self} {'row' if int(self.most.max()) == 1 else 'rows'}"


def _listed(values: Rows) -> str:
    shown = ", ".join(str(value) for value in values[:8].tolist())
    return f"({shown}{', ...' if values.size > 8 else ''})"


def _numbers(name: str, value: ArrayLike, n_rows: int, n_clusters: int) -> Rows:
    if isinstance(value, int | float) and not isinstance(value, bool):  # nearly always
        return np.full(n_clusters, _number(name, value, n_rows), dtype=np.int32)
    given = np.asarray(value)
    if given.dtype.kind not in "iuf" or given.ndim > 1:
        raise ValueError(f"{name} must be a number or one number per cluster: {value!r}")
    if given.ndim == 1 and given.size != n_clusters:
        raise ValueError(
            f"{name} has {counted(given.size, 'number')} for {counted(n_clusters, 'cluster')}"
        )
    each = [_number(name, float(one), n_rows) for one in np.atleast_1d(given)]
    return np.array(each if given.ndim else each * n_clusters, dtype=np.int32)


def _number(name: str, value: float, n_rows: int) -> int:
    """Rows that a number means; a share is rounded so that the limit holds exactly."""
    if isinstance(value, int):
        value = min(value, 2**64)  # beyond doubles, too, that is more than all rows
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{name} must be a number of rows or a share of them: {value:g}")
    at_least = name == "size_min"
    if value >= 1 or value == 0:
        if value != round(value):
            raise ValueError(f"{name} must be a whole number of rows, or a share below 1: {value}")
        if at_least and value > n_rows:
            raise ValueError(f"size_min of {value:g} is more than all {counted(n_rows, 'row')}")
        rows = int(min(value, n_rows))  # more than all rows says no more than all of them
    else:
        slack = ROUNDING * max(value * n_rows, 1.0)
        rows = math.ceil(value * n_rows - slack) if at_least else math.floor(value * n_rows + slack)
    if rows == 0 and not at_least:
        raise ValueError(
            f"size_max of {value:g} leaves no cluster a single one of {counted(n_rows, 'row')}"
        )
    return max(rows, 1)
