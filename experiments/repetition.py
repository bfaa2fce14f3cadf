"""How far two experiments like ours would agree with each other, whatever the paper says.

Numbers are means over a few starts, so a method that is a little worse than another in one
experiment may well be its equal in the next. Runs drawn with replacement from those at hand make
experiments like ours and like the paper's; how often two of them agree in direction is what chance
leaves to be reached.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.rule import PAPER_SEEDS, Kind, Rule
from kempe.bench.summary import Cell, Quantity

REPETITIONS = 200
_SEED = 0

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

    def interval(self) -> tuple[float, float] | None:
        """Give what experiments like the paper's give, in 95 of 100 cases.

        ``None`` with fewer than twice as many seeds as the paper has: drawn from so few, the best
        of ten would be too high.
        """
        if min(len(cell.seeds & base.seeds) for cell, base in self.pairs) < 2 * PAPER_SEEDS:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            numbers, _ = self._numbers(np.random.default_rng(_SEED), like_paper=True)
        low, high = np.nanquantile(numbers, (0.025, 0.975))
        return float(low), float(high)

    def _numbers(self, rng: np.random.Generator, *, like_paper: bool) -> tuple[Floats, Floats]:
        """Numbers of the method and of the baseline, one of each per experiment."""
        drawn = [self._drawn(*pair, rng, like_paper=like_paper) for pair in self.pairs]
        values, baselines = (np.array(side) for side in zip(*drawn, strict=True))
        if self.kind in ("multiple", "best"):
            ratios = np.nanmean(values / baselines, axis=0)
            return ratios, np.ones_like(ratios)
        return np.nanmean(values, axis=0), np.nanmean(baselines, axis=0)

    def _drawn(
        self, cell: Cell, base: Cell, rng: np.random.Generator, *, like_paper: bool
    ) -> tuple[Floats, Floats]:
        """Numbers of one data set, from the same seeds for both unless the method runs alone."""
        if self.alone:
            others = self._runs(cell, cell.seeds), self._runs(base, base.seeds)
            counts = (1, PAPER_SEEDS) if like_paper else tuple(runs.size for runs in others)
            one, many = (
                runs[rng.integers(runs.size, size=(REPETITIONS, count))]
                for runs, count in zip(others, counts, strict=True)
            )
            return np.nanmean(one, axis=1), self._condensed(many)
        common = cell.seeds & base.seeds
        both = self._runs(cell, common), self._runs(base, common)
        count = PAPER_SEEDS if like_paper else len(common)
        chosen = rng.integers(len(common), size=(REPETITIONS, count))
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
