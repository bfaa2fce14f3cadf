"""Which of several new centroids belongs to which cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from kempe.problem import Centroids


def match(centroids: Centroids, weight: NDArray[np.float64], targets: Centroids) -> Centroids:
    """Order the targets so that moving every cluster to its target costs least.

    Up to a constant for each cluster, the cost of all its supernodes about a target is the
    cluster's weight times the squared distance of its mean to the target.
    """
    cost = weight[:, None] * cdist(centroids, targets, "sqeuclidean")
    _, column = linear_sum_assignment(cost)
    return targets[column]
