"""Intervals for means over seeds and paired tests between methods."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

CONFIDENCE = 0.95

# Two inertias that differ by less than this share are the same clustering, summed differently.
SAME = 1e-9


@dataclass(frozen=True)
class Estimate:
    """A mean, its bootstrap interval and what it rests on.

    Attributes
    ----------
    value
        NaN if every run failed.
    n_sets, n_sets_tried, n_sets_wanted
        Data sets that contribute, those with runs, successful or not, and those that the number
        is meant to describe.
    n_runs
        Runs that contribute.
    n_seeds
        Seeds per data set, the fewest of all.
    n_limited
        Runs that the time limit ended, with or without a clustering.
    """

    value: float
    low: float
    high: float
    n_sets: int = 1
    n_sets_tried: int = 1
    n_sets_wanted: int = 1
    n_runs: int = 0
    n_seeds: int = 0
    n_limited: int = 0

    @property
    def partial(self) -> bool:
        """Whether data sets have not been tried."""
        return self.n_sets_tried < self.n_sets_wanted


@dataclass(frozen=True)
class Comparison:
    """Paired comparison of two methods over the instances that both solved.

    Attributes
    ----------
    wins, losses
        Instances on which the first method is better, or worse.
    ratio
        Geometric mean of first over second.
    p_value, p_holm
        Of the Wilcoxon signed-rank test, alone and corrected for all comparisons made with it.
    seeds, limits, n_limited
        What it rests on, see ``PairedMeans``.
    """

    first: str
    second: str
    n: int
    wins: int
    losses: int
    ratio: float
    p_value: float
    p_holm: float = float("nan")
    seeds: tuple[int, int] = (0, 0)
    limits: tuple[float, ...] = ()
    n_limited: int = 0


def bootstrap_interval(values: ArrayLike) -> tuple[float, float]:
    """Bias-corrected and accelerated bootstrap interval of a mean.

    Equal values give an interval of length zero, fewer than two none at all.

    Examples
    --------
    >>> bootstrap_interval([2.0, 2.0])
    (2.0, 2.0)
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.size < 2:
        return float("nan"), float("nan")
    if np.ptp(sample) <= SAME * np.abs(sample).max():
        return float(sample.mean()), float(sample.mean())
    options = {"confidence_level": CONFIDENCE, "n_resamples": 2000, "vectorized": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # degenerate resamples of few values
        result = stats.bootstrap((sample,), np.mean, rng=np.random.default_rng(0), **options)  # type: ignore[call-overload]
    interval = result.confidence_interval
    return float(interval.low), float(interval.high)


def compare(first: str, second: str, a: ArrayLike, b: ArrayLike, same: float = SAME) -> Comparison:
    """Test whether two methods differ in a positive quantity, instance by instance.

    Instances on which either has no value are left out. The test is on logarithms of ratios, so
    that large instances do not outweigh small ones.

    Parameters
    ----------
    same
        Values that differ by a smaller share count as equal.
    """
    ratios = np.asarray(a, dtype=np.float64) / np.asarray(b, dtype=np.float64)
    difference = np.log(ratios[np.isfinite(ratios)])
    difference[np.abs(difference) < same] = 0.0
    return Comparison(
        first,
        second,
        n=difference.size,
        wins=int((difference < 0).sum()),
        losses=int((difference > 0).sum()),
        ratio=float(np.exp(difference.mean())) if difference.size else float("nan"),
        p_value=_wilcoxon(difference),
    )


def corrected(found: Sequence[Comparison]) -> list[Comparison]:
    """Correct the p-values of comparisons that are made together."""
    p_values = holm([item.p_value for item in found])
    return [replace(item, p_holm=p) for item, p in zip(found, p_values, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for multiple testing by Holm's step-down procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    steps = np.minimum(np.maximum.accumulate(np.asarray(p_values)[order] * factors), 1.0)
    corrected = np.empty(len(order))
    corrected[order] = steps
    return [float(p) for p in corrected]


def _wilcoxon(difference: NDArray[np.float64]) -> float:
    if not difference.any():
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small samples and zeros change the method, not the test
        return float(stats.wilcoxon(difference).pvalue)
