"""When a number of ours agrees with one of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

PAPER_SEEDS = 10
"""Runs of each method on each instance in the paper."""

Kind = Literal["multiple", "best", "absolute", "rate"]
"""Whether a number is a multiple of the baseline's, one of the best of ten, itself, or a share."""


@dataclass(frozen=True)
class Rule:
    """When a number of ours agrees with a published one.

    Attributes
    ----------
    size
        Allowed difference of sizes: absolute (``"difference"``), relative (``"share"``), or the
        allowed ratio (``"factor"``).
    scale
        What ``size`` means.
    equal
        Two methods whose numbers differ by no more than this count as equal; relative, but
        absolute for success rates.
    """

    size: float
    scale: Literal["difference", "share", "factor"]
    equal: float

    def same_size(self, ours: float, paper: float) -> bool:
        """Whether two numbers agree in size."""
        slack = 1e-9
        if self.scale == "difference":
            return abs(ours - paper) <= self.size + slack
        if paper == 0 or ours == 0:
            return ours == paper
        ratio = max(ours / paper, paper / ours)
        return ratio <= (self.size if self.scale == "factor" else 1 + self.size) + slack

    def directions(self, values: ArrayLike, baselines: ArrayLike) -> NDArray[np.float64]:
        """-1 below the baseline, 1 above it, 0 if both are equal within the rule; NaN of NaN."""
        baselines = np.asarray(baselines, dtype=np.float64)
        absolute = (self.scale == "difference") & (baselines <= 1)
        slack = self.equal * np.where(absolute, 1.0, np.abs(baselines)) + 1e-9
        differences = np.asarray(values, dtype=np.float64) - baselines
        return np.sign(np.where(np.abs(differences) <= slack, 0.0, differences))

    def direction(self, value: float, baseline: float) -> int:
        """Give the direction of one number; see ``directions``."""
        return int(self.directions(value, baseline))

    def may_be(self, direction: int, printed: float, baseline: float, unit: float) -> bool:
        """Whether some number that is printed like this one has that direction.

        Parameters
        ----------
        unit
            What one more in the last printed digit means.
        """
        lowest, highest = (self.direction(printed + side * unit / 2, baseline) for side in (-1, 1))
        return lowest <= direction <= highest


MULTIPLE = Rule(0.02, "difference", 0.005)
FINE_MULTIPLE = Rule(0.01, "difference", 0.0005)
RATE = Rule(0.05, "difference", 0.02)
LOOSE_RATE = Rule(0.1, "difference", 0.02)
INERTIA = Rule(0.01, "share", 0.001)
TIME = Rule(2.0, "factor", 0.1)
