"""Assignments that place one supernode after another and never take a step back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.exceptions import NoSolutionFoundError
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.empty import fill_by_farthest


@dataclass(frozen=True)
class OrderedAssignment:
    """Give supernodes, in a fixed order, the nearest centroid free of cannot-link conflicts.

    Attributes
    ----------
    order
        All supernodes, the first to be placed first.
    """

    order: NDArray[np.int32]

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes, or raise ``NoSolutionFoundError`` at the first that cannot be."""
        colours, stuck = _core.ordered_assignment(problem.core, centroids, self.order)
        return _complete(problem, centroids, colours, stuck)


class SaturationAssignment:
    """Place next the supernode whose neighbours show most colours, then that of highest degree."""

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes, or raise ``NoSolutionFoundError`` at the first that cannot be."""
        colours, stuck = _core.saturation_assignment(problem.core, centroids)
        return _complete(problem, centroids, colours, stuck)


class NearestAssignment:
    """Give every supernode its nearest centroid, whatever the cannot-link pairs say."""

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes."""
        return np.asarray(problem.costs(centroids).argmin(axis=1), dtype=np.int32)


def _complete(problem: Problem, centroids: Centroids, colours: Colours, stuck: int) -> Colours:
    if stuck < 0:
        return fill_by_farthest(problem, centroids, colours)
    row = int(np.argmax(problem.supernode == stuck))
    placed = int(np.count_nonzero(colours[problem.supernode] >= 0))
    raise NoSolutionFoundError(
        f"row {row} found no cluster free of cannot-link conflicts after {placed} of "
        f"{problem.n_rows} rows were assigned"
    )
