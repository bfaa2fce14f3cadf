"""Why a number of ours differs from the published one, as far as the runs can tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    rounded
        Whether they differ in direction, but a number that rounds to the paper's would not.
    """

    dataset: str
    quantity: str
    ours: Estimate
    paper: float
    in_size: bool
    rounded: bool = False


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
    return difference.quantity == "time"


def _by_surrogate(difference: Difference) -> bool:
    return difference.dataset in _SURROGATES


def _by_limit(difference: Difference) -> bool:
    return difference.ours.n_limited > 0


def _by_rounding(difference: Difference) -> bool:
    return difference.rounded and not difference.in_size


def _by_border(difference: Difference) -> bool:
    return not difference.in_size


def _by_chance(difference: Difference) -> bool:
    """Whether ten other starts may well give the paper's number.

    The interval of our mean says where the true mean lies; the paper's own is as uncertain.
    """
    ours = difference.ours
    if math.isnan(ours.low):
        return False
    wider = math.sqrt(1 + ours.n_seeds / PAPER_SEEDS)
    low = ours.value - wider * (ours.value - ours.low)
    high = ours.value + wider * (ours.high - ours.value)
    return low <= difference.paper <= high


CAUSES: Sequence[Cause] = (
    Cause(
        "program",
        "CPU times of other programs: compiled code, HiGHS and OR-Tools here, Python and Gurobi "
        "in the paper",
        _by_program,
    ),
    Cause("surrogate", "the paper's pairs of this data set are not published", _by_surrogate),
    Cause(
        "limit",
        f"our limit ended runs of the cell; the paper's was {PAPER_LIMIT:g} s",
        _by_limit,
    ),
    Cause(
        "rounding",
        "both numbers agree in size, and a number that is printed like the paper's agrees in "
        "direction too",
        _by_rounding,
    ),
    Cause(
        "border",
        "both numbers agree in size, and the line between equal and different lies between them",
        _by_border,
    ),
    Cause(
        "starts",
        "the paper's number lies within what other starts give, in 95 of 100 cases",
        _by_chance,
    ),
)
"""The causes, the surest first."""
