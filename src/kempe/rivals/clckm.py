"""COP-K-Means in breadth-first order over the cannot-link graph."""

from __future__ import annotations

import numpy as np

from kempe import _core
from kempe.problem import Problem
from kempe.rivals.alternation import Assignment
from kempe.rivals.copkm import COPKM, OrderedAssignment


class CLCKM(COPKM):
    """CLC-K-Means (Yang et al. 2013): cannot-linked supernodes first, breadth first.

    Each component of the cannot-link graph is placed outwards from its first row, so a supernode
    meets its placed neighbours at once; supernodes without cannot-link pairs come last.

    See ``COPKM`` for attributes.

    Parameters
    ----------
    n_clusters, init, max_iter, until, time_limit, random_state, verbose, callbacks
        As in ``COPKM``.

    References
    ----------
    Y. Yang, T. Rutayisire, C. Lin, T. Li, F. Teng: An improved COP-Kmeans clustering for solving
    constraint violation based on MapReduce framework. Fundamenta Informaticae 126, 2013.
    """

    def _assignment(
        self, problem: Problem, rng: np.random.Generator, stopper: _core.Stopper
    ) -> Assignment:
        return OrderedAssignment(_core.breadth_first_order(problem.graph.core))
