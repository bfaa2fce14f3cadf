"""Empty clusters: the model wants none, the algorithms may leave some.

What all searches do about them is here. Three other rules stand beside it for a reason: PCCC and
the COP-K-Means family have their own, as published, and the exact assignment fills clusters at
given costs instead of at means, see ``cover_clusters`` in ``kempe.exact.part``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.search.result import Solution


def full_solution(problem: Problem, colours: Colours) -> Solution:
    """Give every empty cluster the supernode whose move lowers the inertia most.

    A supernode may always move into an empty cluster, so no cluster is empty afterwards if there
    are at least as many supernodes as clusters. The inertia never rises.
    """
    centroids, weight = problem.means(colours)
    # A cluster without weight is empty, or has nothing but members without weight.
    weightless = np.count_nonzero(weight) < problem.n_clusters
    if weightless and not np.bincount(colours, minlength=problem.n_clusters).all():
        colours = _core.fill_empty(problem.core, colours, problem.n_clusters)
        centroids, _ = problem.means(colours)
    return Solution.of(problem, colours, centroids)


def means_or_points(problem: Problem, colours: Colours, rng: np.random.Generator) -> Centroids:
    """Means of the clusters, and a supernode at random for each that is empty."""
    centroids, weight = problem.means(colours)
    empty = np.flatnonzero(weight == 0)
    if empty.size:
        centroids[empty] = problem.points(rng.choice(problem.everyone, empty.size))
    return centroids


def costs_at_means(problem: Problem, colours: Colours) -> NDArray[np.float64]:
    """Cost per supernode and cluster at the means of a clustering.

    The mean of an empty cluster means nothing, so nothing is cheaper than elsewhere there.
    """
    centroids, weight = problem.means(colours)
    costs = problem.costs(centroids)
    costs[:, weight == 0] = costs.max()
    return costs
