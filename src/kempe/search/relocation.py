"""Relocation: a centroid that can be spared moves onto a supernode that costs much.

``engine/relocation`` of the compiled core draws by the same rules, many times in a row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kempe.problem import Centroids, Colours, Problem


def relocated_centroids(problem: Problem, colours: Colours, rng: np.random.Generator) -> Centroids:
    """Take a random centroid away and put it on a supernode drawn in proportion to its cost."""
    centroids, weight = problem.means(colours)
    cumulative = np.cumsum(problem.own_costs(colours, centroids))
    if not cumulative[-1] > 0:  # every supernode is its own centroid
        return centroids
    removed = int(rng.choice(problem.n_clusters, p=removal_chances(centroids, weight)))
    drawn = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    centroids[removed] = problem.points(np.array([min(drawn, cumulative.size - 1)]))[0]
    return centroids


def removal_chances(centroids: Centroids, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of each centroid to be taken away: the cheaper its removal, the likelier.

    Few clusters are superfluous. The probability is inversely proportional to what merging the
    cluster with the most suitable other one adds to the inertia, which for weights ``a`` and ``b``
    is ``a b / (a + b)`` times the squared distance of the means. Where that is nothing (empty
    clusters, coinciding centroids), those clusters share all the probability, so that the scale of
    the data does not matter.
    """
    if (weight > 0).all() and weight.size > 1:
        distance = cdist(centroids, centroids, "sqeuclidean")
        np.fill_diagonal(distance, np.inf)
        mass = np.outer(weight, weight) / np.add.outer(weight, weight)
        cost = (mass * distance).min(axis=1)
    else:
        cost = weight
    free = cost <= 0
    chance = free.astype(np.float64) if free.any() else 1 / cost
    return np.asarray(chance / chance.sum())
