"""Components in which every two vertices are linked: linear assignment problems."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kempe.exact.part import Floats


def assign_clique(costs: Floats) -> NDArray[np.intp] | None:
    """Give every vertex a cluster of its own at the lowest total cost; ``None`` if that cannot be.

    Parameters
    ----------
    costs
        Cost per vertex and cluster, infinite where a cluster is ruled out.
    """
    if costs.shape[0] > costs.shape[1]:
        return None
    try:
        return np.asarray(linear_sum_assignment(costs)[1])
    except ValueError:  # only with forbidden clusters
        return None
