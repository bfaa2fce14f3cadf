"""How far two experiments like ours would agree with each other, whatever the paper says.

Numbers are means over a few starts, so a method that is a little worse than another in one
experiment may well be its equal in the next. Runs drawn with replacement from those at hand make
experiments like ours and like the paper's; how often two of them agree in direction is what chance
leaves to be reached, and how far they lie apart is what other starts explain. The method and the
baseline are drawn together, since other starts change both.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from experiments.rule import PAPER_SEEDS, Kind, Rule
from kempe.bench.summary import Cell, Quantity

REPETITIONS = 200
_SEED = 0

# Ends of an interval rest on one in forty repetitions.
_REPETITIONS_OF_INTERVALS = 1000
_TAILS = (0.025, 0.975)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Repetition:
    """A number of a table, ready to be measured again and again.

    Attributes
    ----------
    pairs
        Runs of the method and of the baseline on each of its data sets.
    quantity, kind, rule
        What the number is, and when it counts as equal to the baseline's.
    decimals
        Digits after the point that the paper prints.
    alone
        Whether one run of the method stands against ten of the baseline; they need no common seeds.
    """

    pairs: Sequence[tuple[Cell, Cell]]
    quantity: Quantity
    kind: Kind
    rule: Rule
    decimals: int
    alone: bool = False

    def agreement(self) -> float:
        """Chance that an experiment with as many seeds as ours and one like the paper's agree.

        They agree if both say better than the baseline, or worse, or equal, the paper's after
        rounding, or if all runs of the method fail in both.
        """
        rng = np.random.default_rng(_SEED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # means of nothing are NaN
            ours = self._numbers(rng, like_paper=False)
            paper = self._numbers(rng, like_paper=True)
        here = self.rule.directions(*ours)
        there = self.rule.directions(*(np.round(side, self.decimals) for side in paper))
        return float(np.mean((here == there) | (np.isnan(here) & np.isnan(there))))

    def confidence(self) -> tuple[float, float]:
        """Give a bootstrap interval of a multiple; NaN where a data set has a single seed."""
        if self._fewest_seeds < 2:
            return math.nan, math.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            multiples = np.nanmean(self._multiples(like_paper=False), axis=0)
            low, high = np.nanquantile(multiples, _TAILS)
        return float(low), float(high)

    def interval(self) -> tuple[float, float] | None:
        """Give where an experiment like the paper's ends, in 95 of 100 cases, seen from ours.

        ``None`` where there are too few seeds to tell: one for a multiple, and fewer than twice the
        paper's for the best of ten, which would be too high if it were drawn from so few.
        """
        if self._fewest_seeds < (2 * PAPER_SEEDS if self.kind == "best" else 2):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            paper = self._multiples(like_paper=True)
            if self.kind == "best":
                low, high = np.nanquantile(np.nanmean(paper, axis=0), _TAILS)
                return float(low), float(high)
            return self._interval_of_means(paper)

    def _interval_of_means(self, paper: Floats) -> tuple[float, float]:
        """Give ours, and how far the paper's may lie from it: both scatter."""
        ours = self._multiples(like_paper=False)
        differences = np.nanmean(paper, axis=0) - np.nanmean(ours, axis=0)
        seeds = np.array([len(cell.seeds) for cell, _ in self.pairs])
        wider = _allowance_for_few(np.nan_to_num(np.nanvar(ours, axis=1)), seeds)
        mean = np.nanmean(
            [cell.mean(self.quantity) / base.mean(self.quantity) for cell, base in self.pairs]
        )
        low, high = mean + wider * np.nanquantile(differences, _TAILS)
        return float(low), float(high)

    @property
    def _fewest_seeds(self) -> int:
        return min(len(cell.seeds & base.seeds) for cell, base in self.pairs)

    def _multiples(self, *, like_paper: bool) -> Floats:
        """Multiples of the baseline, a row for each data set and a column for each experiment."""
        # Two experiments have nothing in common but the runs that they are drawn from.
        rng = np.random.default_rng((_SEED, like_paper))
        values, baselines = self._drawn(rng, _REPETITIONS_OF_INTERVALS, like_paper=like_paper)
        return values / baselines

    def _numbers(self, rng: np.random.Generator, *, like_paper: bool) -> tuple[Floats, Floats]:
        """Numbers of the method and of the baseline, one of each per experiment."""
        values, baselines = self._drawn(rng, REPETITIONS, like_paper=like_paper)
        if self.kind in ("multiple", "best"):
            ratios = np.nanmean(values / baselines, axis=0)
            return ratios, np.ones_like(ratios)
        return np.nanmean(values, axis=0), np.nanmean(baselines, axis=0)

    def _drawn(
        self, rng: np.random.Generator, repetitions: int, *, like_paper: bool
    ) -> tuple[Floats, Floats]:
        """Numbers of the method and of the baseline, a row for each data set."""
        drawn = [
            self._drawn_of(*pair, rng, repetitions, like_paper=like_paper) for pair in self.pairs
        ]
        values, baselines = (np.array(side) for side in zip(*drawn, strict=True))
        return values, baselines

    def _drawn_of(
        self,
        cell: Cell,
        base: Cell,
        rng: np.random.Generator,
        repetitions: int,
        *,
        like_paper: bool,
    ) -> tuple[Floats, Floats]:
        """Numbers of one data set, from the same seeds for both unless the method runs alone."""
        if self.alone:
            others = self._runs(cell, cell.seeds), self._runs(base, base.seeds)
            counts = (1, PAPER_SEEDS) if like_paper else tuple(runs.size for runs in others)
            one, many = (
                runs[rng.integers(runs.size, size=(repetitions, count))]
                for runs, count in zip(others, counts, strict=True)
            )
            return np.nanmean(one, axis=1), self._condensed(many)
        common = cell.seeds & base.seeds
        both = self._runs(cell, common), self._runs(base, common)
        count = PAPER_SEEDS if like_paper else len(common)
        chosen = rng.integers(len(common), size=(repetitions, count))
        return self._condensed(both[0][chosen]), self._condensed(both[1][chosen])

    def _runs(self, cell: Cell, seeds: frozenset[int]) -> Floats:
        """One value per seed, NaN where the run failed."""
        runs = [run for run in cell.runs if run.seed in seeds]
        if self.quantity == "success":
            return np.array([float(run.ok) for run in runs])
        values = np.full(len(runs), np.nan)
        values[[run.ok for run in runs]] = Cell(tuple(runs)).values(self.quantity)
        return values

    def _condensed(self, values: Floats) -> Floats:
        """One number per experiment, from a row of runs each."""
        if self.kind != "best":
            return np.asarray(np.nanmean(values, axis=1))
        condense = np.nansum if self.quantity == "time" else np.nanmin
        starts = range(0, values.shape[1], PAPER_SEEDS)
        tens = [condense(values[:, start : start + PAPER_SEEDS], axis=1) for start in starts]
        return np.asarray(np.mean(tens, axis=0))


def _allowance_for_few(variances: Floats, seeds: NDArray[np.int64]) -> float:
    """By what factor an interval that is drawn from few runs is too narrow.

    Runs drawn anew scatter as if their mean were known, and quantiles of the normal distribution
    take their variance for known. A mean over many data sets forgives both more than one over a
    single set: the degrees of freedom are those of Welch and Satterthwaite.

    Parameters
    ----------
    variances, seeds
        Of the numbers of each data set.
    """
    total = variances.sum()
    if total == 0:
        return 1.0
    freedom = total**2 / (variances**2 / (seeds - 1)).sum()
    known = (variances * seeds / (seeds - 1)).sum() / total
    return float(stats.t.ppf(_TAILS[1], freedom) / stats.norm.ppf(_TAILS[1]) * math.sqrt(known))
