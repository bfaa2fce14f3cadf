"""Rows summarised by the means of small cells, which a search in one place can look at.

A cell is split where it varies most, at its mean, the cell of highest inertia first (Su and Dy
2007). Parts are summarised where they are, and summaries are merged in a tree.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.dask.rows import PartedRows
from kempe.dask.tasks import compute, tree
from kempe.engine.crowd import Floats, Numbers

# A part is divided into as many cells as its share of all, times this: merging chooses among them.
SPARE = 2
LEAST_CELLS = 64


@dataclass(frozen=True, eq=False)
class Cells:
    """Points that stand for many rows.

    Attributes
    ----------
    points
        Mean of each cell.
    weight
        Weight of each.
    within
        Inertia inside all of them.
    """

    points: Floats
    weight: Floats
    within: float

    @classmethod
    def merged(cls, parts: Sequence[Cells], most: int) -> Cells:
        """Put cells of several parts together, and make larger ones of them if there are many."""
        points = np.concatenate([part.points for part in parts])
        weight = np.concatenate([part.weight for part in parts])
        within = sum(part.within for part in parts)
        if len(points) <= most:
            return cls(points, weight, within)
        coarse = divided(points, weight, most)
        return cls(coarse.points, coarse.weight, coarse.within + within)


def summary(free: PartedRows, n_cells: int) -> Cells:
    """Divide free rows into at most so many cells.

    Parameters
    ----------
    free
        The rows.
    n_cells
        Most cells.
    """
    share = max(LEAST_CELLS, -(-SPARE * n_cells // len(free.parts)))
    cells = free.map(part_cells, min(share, n_cells), name="cells")
    found: Cells = compute([tree(partial(Cells.merged, most=n_cells), cells)])[0]
    return Cells(found.points - free.origin, found.weight, found.within)


def part_cells(rows: NDArray[Any], weight: Floats, held: Numbers, first: int, most: int) -> Cells:
    """Divide the free rows of one part into cells."""
    weight = weight if weight.size else np.ones(len(rows))
    free = weight > 0
    free[held] = False
    return divided(rows[free].astype(np.float64), weight[free], most)


def divided(points: Floats, weight: Floats, most: int) -> Cells:
    """Divide weighted points into at most so many cells."""
    if not len(points):
        return Cells(points, weight, 0.0)
    done: list[_RowsOfACell] = []
    root = _RowsOfACell.of(points, weight)
    # The number breaks ties, so that cells need no order of their own.
    heap, number = [(-root.inertia, 0, root)], 1
    while heap and len(heap) + len(done) < most:
        _, _, cell = heapq.heappop(heap)
        halves = cell.halves()
        if halves is None:
            done.append(cell)
            continue
        for half in halves:
            heapq.heappush(heap, (-half.inertia, number, half))
            number += 1
    cells = [*done, *(cell for _, _, cell in heap)]
    return Cells(
        np.array([cell.mean for cell in cells]),
        np.array([cell.total for cell in cells]),
        sum(cell.inertia for cell in cells),
    )


@dataclass(frozen=True, eq=False)
class _RowsOfACell:
    points: Floats
    weight: Floats
    total: float
    mean: Floats
    scatter: Floats

    @classmethod
    def of(cls, points: Floats, weight: Floats) -> _RowsOfACell:
        total = float(weight.sum())
        mean = weight @ points / total
        return cls(points, weight, total, mean, weight @ (points - mean) ** 2)

    @property
    def inertia(self) -> float:
        return float(self.scatter.sum())

    def halves(self) -> tuple[_RowsOfACell, _RowsOfACell] | None:
        """Cut at the mean of the feature of largest scatter; nothing if all points are equal."""
        feature = int(self.scatter.argmax())
        below = self.points[:, feature] < self.mean[feature]
        if below.all() or not below.any():
            return None
        above = ~below
        return (
            _RowsOfACell.of(self.points[below], self.weight[below]),
            _RowsOfACell.of(self.points[above], self.weight[above]),
        )
