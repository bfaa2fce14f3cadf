"""Empty clusters: the model wants none, the algorithm may leave some."""

from __future__ import annotations

import numpy as np

from kempe import _core
from kempe.problem import Colours, Problem


def fill_empty(problem: Problem, colours: Colours) -> Colours:
    """Give every empty cluster the supernode whose move lowers the inertia most.

    A supernode may always move into an empty cluster, so no cluster is empty afterwards if there
    are at least as many supernodes as clusters. The inertia never rises.
    """
    if np.bincount(colours, minlength=problem.n_clusters).all():
        return colours
    return _core.fill_empty(problem.core, colours, problem.n_clusters)
