"""Free rows in the parts of a Dask collection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.dask.parts import Parts
from kempe.dask.tasks import compute, keep, task, tree
from kempe.engine.batched import BatchedStep
from kempe.engine.crowd import (
    NOTHING,
    Floats,
    FreeRowSums,
    Numbers,
    Rows,
    farthest_of_part,
    look_at_part,
)
from kempe.problem import Centroids


class PartedRows:
    """Rows in no constraint, part by part; centroids travel to them, sums travel back.

    Parameters
    ----------
    parts
        All rows.
    held
        Numbers of rows that are in a constraint, ascending.
    origin
        Centroids and rows are told to others less this.
    """

    def __init__(self, parts: Parts, held: Numbers, origin: Floats) -> None:
        self.parts = parts
        self.origin = origin
        self._hold(held)

    def _hold(self, held: Numbers) -> None:
        """Tell the parts which rows do not count; they keep that from one look to the next."""
        self._held = held
        positions = [
            task(np.asarray, held[where] - first, name="held")
            for where, first in zip(self.parts.split(held), self.parts.first, strict=True)
        ]
        self._positions = keep(positions)

    def map(self, function: Callable[..., Any], *arguments: Any, name: str) -> list[Any]:
        """Give a task for each part: ``function(rows, weight, held, first, *arguments)``."""
        each = (self._positions, self.parts.first.tolist())
        return self.parts.map(function, *arguments, each=each, name=name)

    def look(self, centroids: Centroids, cluster_weight: Floats = NOTHING) -> FreeRowSums:
        """Add up all rows at their nearest centroids."""
        looks = self.map(look_at_part, centroids + self.origin, cluster_weight, name="look")
        crowd: FreeRowSums = compute([tree(FreeRowSums.merged, looks)])[0]
        return replace(crowd, better_elsewhere=self._centred(crowd.better_elsewhere))

    def farthest(self, centroids: Centroids, most: int) -> Rows:
        """Give the rows that cost most."""
        parts = self.map(farthest_of_part, centroids + self.origin, most, name="farthest")
        rows: Rows = compute([tree(partial(Rows.first_of, most=most), parts)])[0]
        return self._centred(rows)

    def _centred(self, rows: Rows) -> Rows:
        return replace(rows, points=rows.points - self.origin)

    def withdraw(self, numbers: Numbers) -> None:
        """Leave out rows from now on."""
        if numbers.size:
            self._hold(np.union1d(self._held, numbers))

    def label_tasks(
        self, step: BatchedStep, named: Numbers, supernode: NDArray[np.int32]
    ) -> list[Any]:
        """Give a task for the labels of each part, which needs nothing but its rows.

        Parameters
        ----------
        named, supernode
            Numbers of the rows in constraints, and the supernode of each.
        """
        numbers = np.concatenate([named, step.gathered.withdrawn])
        single = np.arange(supernode.max(initial=-1) + 1, len(step.gathered), dtype=np.int32)
        colours = step.colours[np.concatenate([supernode, single])]
        order = np.argsort(numbers)
        numbers, colours = numbers[order], colours[order]
        parts = self.parts
        where = list(zip(parts.split(numbers), parts.first, strict=True))
        each = ([numbers[part] - first for part, first in where], [colours[p] for p, _ in where])
        seen = step.seen + self.origin
        return parts.map(part_labels, seen, step.anchors, each=each, name="labels")


def part_labels(
    rows: NDArray[Any],
    weight: Floats,
    positions: Numbers,
    colours: NDArray[np.int32],
    seen: Centroids,
    anchors: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Label one part: by the nearest centroid, and rows of some positions as told."""
    nearest, _ = _core.nearest_centroids(rows, seen)
    labels = anchors[nearest]
    labels[positions] = colours
    return labels
