"""Rows in no constraint as a crowd: each goes to its nearest centroid, only sums are looked at.

The rows may lie in parts, anywhere: what is found in parts adds up to what is found in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.problem import Centroids

# Of each part, so many rows are handed out that another cluster would take for less, those that
# gain most; there are about as many as clusters in all of the data, however large it is.
MOST_BETTER_ELSEWHERE = 256

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

NOTHING: Floats = np.empty(0)


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of a crowd.

    Attributes
    ----------
    number
        Number of each among all rows.
    points
        Where they lie, (n, n_features).
    weight
        Weight of each.
    nearest
        Nearest centroid of each.
    gain
        What choosing them promises; those with most come first.
    """

    number: Numbers
    points: Floats
    weight: Floats
    nearest: NDArray[np.int32]
    gain: Floats

    @classmethod
    def first_of(cls, parts: Sequence[Rows], most: int) -> Rows:
        """Give those that gain most; of equal ones, the earlier row."""
        joined = [np.concatenate(values) for values in zip(*map(cls.values, parts), strict=True)]
        order = np.lexsort((joined[0], -joined[-1]))[:most]
        return cls(*(values[order] for values in joined))

    def values(self) -> tuple[NDArray[Any], ...]:
        """Give all attributes, in order."""
        return self.number, self.points, self.weight, self.nearest, self.gain

    def __len__(self) -> int:
        return len(self.number)


@dataclass(frozen=True, eq=False)
class FreeRowSums:
    """What rows at their nearest centroids add up to.

    Attributes
    ----------
    weight
        Total weight at each centroid.
    shift
        Weighted sum of differences to each centroid, (n_clusters, n_features).
    cost
        Weighted sum of squared distances to each centroid.
    better_elsewhere
        Rows that another cluster would take for less, if that was asked for.
    """

    weight: Floats
    shift: Floats
    cost: Floats
    better_elsewhere: Rows

    @classmethod
    def merged(cls, parts: Sequence[FreeRowSums]) -> FreeRowSums:
        """Add up parts of the data, in their order."""
        return cls(
            weight=np.sum([part.weight for part in parts], axis=0),
            shift=np.sum([part.shift for part in parts], axis=0),
            cost=np.sum([part.cost for part in parts], axis=0),
            better_elsewhere=Rows.first_of(
                [part.better_elsewhere for part in parts], MOST_BETTER_ELSEWHERE * len(parts)
            ),
        )

    def means(self, centroids: Centroids) -> Centroids:
        """Mean of the rows at each centroid; the centroid itself where there are none."""
        return centroids + self.shift / np.where(self.weight > 0, self.weight, 1.0)[:, None]

    @property
    def within(self) -> float:
        """Inertia about these means."""
        weight = np.where(self.weight > 0, self.weight, 1.0)
        return float(np.sum(self.cost - np.sum(self.shift**2, axis=1) / weight))

    def without(self, rows: Rows, centroids: Centroids) -> FreeRowSums:
        """Leave rows out."""
        k = self.weight.size
        away = rows.points - centroids[rows.nearest]
        lost = np.zeros_like(self.shift)
        np.add.at(lost, rows.nearest, rows.weight[:, None] * away)
        costs = rows.weight * np.sum(away**2, axis=1)
        weight = self.weight - np.bincount(rows.nearest, rows.weight, minlength=k)
        # Nothing is left of whom all have left, whatever rounding says.
        some = weight > 1e-9 * self.weight
        cost = self.cost - np.bincount(rows.nearest, costs, minlength=k)
        return FreeRowSums(
            weight=np.where(some, weight, 0.0),
            shift=np.where(some[:, None], self.shift - lost, 0.0),
            cost=np.where(some, cost, 0.0),
            better_elsewhere=self.better_elsewhere,
        )


class FreeRows(Protocol):
    """Rows that are in no constraint, wherever they are."""

    def look(self, centroids: Centroids, cluster_weight: Floats = NOTHING) -> FreeRowSums:
        """Add up all rows at their nearest centroids.

        Parameters
        ----------
        centroids
            Where the clusters are.
        cluster_weight
            Total weight of each cluster, in order to find rows that are better off elsewhere.
        """

    def farthest(self, centroids: Centroids, most: int) -> Rows:
        """Give the rows that cost most.

        Parameters
        ----------
        centroids
            Where the clusters are.
        most
            How many.
        """

    def withdraw(self, numbers: Numbers) -> None:
        """Leave out rows from now on.

        Parameters
        ----------
        numbers
            Their numbers.
        """


def look_at_part(
    rows: NDArray[Any],
    weight: Floats,
    held: Numbers,
    first: int,
    centroids: Centroids,
    cluster_weight: Floats = NOTHING,
) -> FreeRowSums:
    """Look at one part of the data.

    Parameters
    ----------
    rows
        The part, float32 or float64.
    weight
        Weight of each row; empty if all are 1.
    held
        Positions in the part of rows that do not belong to the crowd, ascending.
    first
        Number of the first row of the part.
    centroids, cluster_weight
        As for ``FreeRows.look``.
    """
    total, shift, cost, better_elsewhere, gain = _core.crowd(
        rows, weight, held, centroids, cluster_weight
    )
    most = np.argsort(-gain, kind="stable")[:MOST_BETTER_ELSEWHERE]
    chosen = better_elsewhere[most]
    nearest = _core.nearest_centroids(rows[chosen], centroids)[0]
    return FreeRowSums(total, shift, cost, _rows(rows, weight, chosen, first, nearest, gain[most]))


def farthest_of_part(
    rows: NDArray[Any], weight: Floats, held: Numbers, first: int, centroids: Centroids, most: int
) -> Rows:
    """Give the rows of one part that cost most.

    Parameters
    ----------
    rows, weight, held, first, centroids
        As for ``look_at_part``.
    most
        How many.
    """
    nearest, costs = _core.nearest_centroids(rows, centroids)
    costs = costs * weight if weight.size else costs
    costs[held] = -1.0
    if weight.size:
        costs[weight <= 0] = -1.0
    chosen = np.argsort(-costs, kind="stable")[:most]
    chosen = chosen[costs[chosen] >= 0]
    return _rows(rows, weight, chosen, first, nearest[chosen], costs[chosen])


def _rows(
    rows: NDArray[Any],
    weight: Floats,
    chosen: NDArray[np.integer],
    first: int,
    nearest: NDArray[np.int32],
    gain: Floats,
) -> Rows:
    points = np.ascontiguousarray(rows[chosen], dtype=np.float64)
    own = weight[chosen] if weight.size else np.ones(chosen.size)
    return Rows((first + chosen).astype(np.int64), points, own, nearest, gain)
