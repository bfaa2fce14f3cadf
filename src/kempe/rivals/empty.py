"""What rivals do about empty clusters, each as its publication or program has it.

They differ from each other and from ``kempe.search.empty`` on purpose: results shall be theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.alternation import Assignment


def cluster_inertia(
    problem: Problem, colours: Colours, centroids: Centroids
) -> NDArray[np.float64]:
    """Inertia of each cluster about its centroid, without that inside the supernodes."""
    costs = problem.own_costs(colours, centroids)
    return np.asarray(np.bincount(colours, costs, minlength=problem.n_clusters), dtype=np.float64)


@dataclass(frozen=True)
class FillEmpty:
    """An assignment after which no cluster is empty, as PCCC has it.

    An empty cluster takes a random supernode of the worst cluster that can spare one. That never
    breaks a cannot-link pair and never raises the inertia.

    Attributes
    ----------
    assign
        The assignment that may leave clusters empty.
    violations
        Weighted soft violations of each cluster; the worst cluster has most, then the largest
        inertia.
    rng
        Draws the supernodes.
    """

    assign: Assignment
    violations: Callable[[Colours], NDArray[np.float64]]
    rng: np.random.Generator

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes, then fill the empty clusters."""
        colours = self.assign(problem, centroids, previous, stopper)
        size = np.bincount(colours, minlength=problem.n_clusters)
        if size.all():
            return colours
        inertia = cluster_inertia(problem, colours, centroids)
        worst_last = np.lexsort((inertia, self.violations(colours)))
        return self._filled(colours, size, worst_last)

    def _filled(
        self, colours: Colours, size: NDArray[np.intp], worst_last: NDArray[np.intp]
    ) -> Colours:
        filled = colours.copy()
        donors = [int(c) for c in worst_last if size[c] > 1]
        for empty in np.flatnonzero(size == 0):
            # As far as possible every empty cluster takes from another donor.
            donor = donors.pop()
            filled[self.rng.choice(np.flatnonzero(filled == donor))] = empty
            size[donor] -= 1
            if size[donor] > 1:
                donors.insert(0, donor)
        return filled


def fill_by_farthest(problem: Problem, centroids: Centroids, colours: Colours) -> Colours:
    """Give every empty cluster the costliest supernode of a cluster that can spare one.

    The COP-K-Means family does so, as k-means implementations commonly do; no cannot-link pair can
    stand in the way.
    """
    size = np.bincount(colours, minlength=problem.n_clusters)
    if size.all():
        return colours
    filled = colours.copy()
    cost = problem.own_costs(colours, centroids)
    for vertex in np.argsort(-cost, kind="stable"):
        empty = np.flatnonzero(size == 0)
        if not empty.size:
            break
        if size[filled[vertex]] > 1:
            size[filled[vertex]] -= 1
            size[empty[0]] = 1
            filled[vertex] = empty[0]
    return filled
