"""COP-K-Means in saturation order."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kempe.assign.greedy import SaturationAssignment
from kempe.estimators.copkm import COPKM
from kempe.problem import Problem
from kempe.search.alternation import Assignment, Settled, not_improved


class COPKM_P(COPKM):
    """COP-K-Means in saturation order (Algorithm 7 of the paper, its appendix A.4).

    Places next the supernode whose neighbours already show the largest number of clusters, which
    succeeds far more often than the order of the data. Ends when the inertia no longer falls, or
    when an iteration gets stuck, and keeps the best iteration; it fails only if the first iteration does.

    See ``COPKM`` for parameters and attributes.
    """

    _keeps_best: ClassVar[bool] = True
    _settled: ClassVar[Settled] = staticmethod(not_improved)

    def _assignment(self, problem: Problem, rng: np.random.Generator) -> Assignment:
        return SaturationAssignment()
