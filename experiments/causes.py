"""Why a number of ours differs from the published one, as far as the runs can tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy import stats

from experiments.rule import PAPER_SEEDS
from kempe.bench.statistics import Estimate

PAPER_LIMIT = 3600.0

# Data whose constraint sets are not published; see the catalogue of data sets.
_SURROGATES = ("vehicle",)


@dataclass(frozen=True)
class Difference:
    """A cell that differs.

    Attributes
    ----------
    dataset, quantity
        Of which row and part of a table.
    ours, paper
        The two numbers.
    in_size
        Whether they differ in size, not only in direction.
    opposed
        Whether one is better than the baseline and the other worse.
    rounded
        Whether they differ in direction, but a number that rounds to the paper's would not.
    unit
        What one more in the last digit that the paper prints means.
    cut_short
        Whether the paper's own figures say that runs of the cell ended before they were done.
    repeated
        Where experiments like the paper's end, in 95 of 100 cases; asked for where the interval of
        our number does not say it: it is no mean, or one of multiples of the baseline.
    """

    dataset: str
    quantity: str
    ours: Estimate
    paper: float
    in_size: bool
    opposed: bool = False
    rounded: bool = False
    unit: float = 0.0
    cut_short: bool = False
    repeated: tuple[float, float] | None = None

    def may_follow_from_ending_ours(self) -> bool:
        """Whether ours lies where runs that end too soon lead.

        They succeed less often, at higher inertia, in less time.
        """
        higher = not self.ours.value < self.paper  # a cell without a clustering has no inertia
        return higher == (self.quantity == "inertia") and self.ours.value != self.paper


@dataclass(frozen=True)
class Cause:
    """A reason for which two numbers may differ, and the test whether it can be the one."""

    name: str
    words: str
    applies: Callable[[Difference], bool]


def cause_of(difference: Difference) -> Cause | None:
    """Give the first cause that applies, ``None`` if the difference stays unexplained."""
    return next((cause for cause in CAUSES if cause.applies(difference)), None)


def _by_program(difference: Difference) -> bool:
    return difference.quantity == "time" and not _by_limit(difference)


def _by_surrogate(difference: Difference) -> bool:
    return difference.dataset in _SURROGATES


def _by_limit(difference: Difference) -> bool:
    return difference.ours.n_limited > 0 and difference.may_follow_from_ending_ours()


def _by_rounding(difference: Difference) -> bool:
    return difference.rounded and not difference.in_size


def _by_border(difference: Difference) -> bool:
    return not difference.in_size and not difference.opposed


def _by_chance(difference: Difference) -> bool:
    """Whether ten other starts may well give a number that is printed like the paper's."""
    low, high = difference.repeated or _interval_of_a_repetition(difference.ours)
    slack = difference.unit / 2
    return low - slack <= difference.paper <= high + slack


def _by_limit_of_the_paper(difference: Difference) -> bool:
    return difference.cut_short and not difference.may_follow_from_ending_ours()


def _interval_of_a_repetition(ours: Estimate) -> tuple[float, float]:
    """Give where the mean of ten other starts lies; NaN where there is no interval.

    The interval of our mean says where the true mean lies; the paper's own is as uncertain. An
    interval that is drawn from few runs is too narrow, by what Student's t makes of them.
    """
    if math.isnan(ours.low) or ours.n_seeds < 2:
        return math.nan, math.nan
    n = ours.n_seeds
    few = stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975) * math.sqrt(n / (n - 1))
    wider = few * math.sqrt(1 + n / PAPER_SEEDS)
    low, high = (ours.value + wider * (end - ours.value) for end in (ours.low, ours.high))
    return low, high


CAUSES: Sequence[Cause] = (
    Cause(
        "program",
        "CPU times of other programs: compiled code, HiGHS and OR-Tools here, Python and Gurobi "
        "in the paper",
        _by_program,
    ),
    Cause("surrogate", "the paper's pairs of this data set are not published", _by_surrogate),
    Cause(
        "rounding",
        "both numbers agree in size, and a number that is printed like the paper's agrees in "
        "direction too",
        _by_rounding,
    ),
    Cause(
        "starts",
        "the paper's number lies within what other starts give, in 95 of 100 cases",
        _by_chance,
    ),
    Cause(
        "border",
        "both numbers agree in size, and the line between equal and different lies between them",
        _by_border,
    ),
    Cause(
        "limit",
        "our limit ended runs of the cell, which makes them worse and shorter; the paper's was "
        f"{PAPER_LIMIT:g} s",
        _by_limit,
    ),
    Cause(
        "their limit",
        "by the paper's own figures its limits of time and memory ended integer programs in the "
        f"cell: some found no clustering, or they took {PAPER_LIMIT:g} s on average; ours are "
        "better",
        _by_limit_of_the_paper,
    ),
)
"""The causes, the surest first."""
