"""Ties between centroids that coincide, as the repositioning of PCCC makes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.alternation import Assignment


@dataclass(frozen=True)
class SplitTies:
    """An assignment in which chance decides between centroids that coincide.

    Both cost a supernode the same, so it is up to the solver which one it gets. Integer-programming
    solvers give some supernodes to either. The exact assignment gives nearly all to the first,
    which leaves a cluster empty and the centroid that was moved without effect. So the Kempe chains
    between the two clusters are exchanged at random: that changes no cost and breaks no pair.

    Attributes
    ----------
    assign
        The assignment that decides everything else.
    rng
        Draws which chains are exchanged.
    """

    assign: Assignment
    rng: np.random.Generator

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes, then split what is shared by coinciding centroids."""
        colours = self.assign(problem, centroids, previous, stopper)
        for first, second in coinciding(centroids):
            colours = self._split(problem, colours, first, second)
        return colours

    def _split(self, problem: Problem, colours: Colours, first: int, second: int) -> Colours:
        shared = np.flatnonzero((colours == first) | (colours == second))
        if not shared.size:
            return colours
        graph = problem.graph.induced(shared)
        exchanged = self.rng.random(graph.components.max() + 1) < 0.5
        moved = shared[exchanged[graph.components]]
        split = colours.copy()
        split[moved] = first + second - colours[moved]
        return split


def coinciding(centroids: Centroids) -> Iterator[tuple[int, int]]:
    """Give the pairs of centroids that lie in one place; of more than two, a row of pairs."""
    _, place = np.unique(centroids, axis=0, return_inverse=True)
    order = np.argsort(place, axis=None, kind="stable")
    same = np.flatnonzero(np.diff(place.ravel()[order]) == 0)
    return ((int(order[i]), int(order[i + 1])) for i in same)
