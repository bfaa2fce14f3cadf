"""COP-K-Means in saturation order."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.alternation import Assignment
from kempe.rivals.copkm import COPKM, completed


class COPKM_P(COPKM):
    """COP-K-Means in saturation order (Algorithm 7 of the paper, its appendix A.4).

    Places next the supernode whose neighbours already show the largest number of clusters, which
    succeeds far more often than the order of the data. Keeps the best iteration when a later one
    gets stuck, so only a stuck first one is a failure.

    See ``COPKM`` for attributes.

    Parameters
    ----------
    n_clusters, init, max_iter, until, time_limit, random_state, verbose, callbacks
        As in ``COPKM``.
    """

    _keeps_best: ClassVar[bool] = True

    def _assignment(
        self, problem: Problem, rng: np.random.Generator, stopper: _core.Stopper
    ) -> Assignment:
        return SaturationAssignment()


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
        return completed(problem, centroids, colours, stuck)
