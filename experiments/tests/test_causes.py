"""Why cells differ: each cause on numbers made for it."""

import math

import pytest

from experiments.causes import Difference, cause_of
from kempe.bench.statistics import Estimate

# Ten seeds, so that the paper's mean may lie beyond the interval by a factor of the root of two.
OURS = Estimate(1.10, low=1.06, high=1.12, n_seeds=10)


def cause(paper, *, dataset="COL2", quantity="inertia", ours=OURS, in_size=True):
    found = cause_of(Difference(dataset, quantity, ours, paper, in_size))
    return found and found.name


@pytest.mark.parametrize(
    ("paper", "wanted"), [(1.045, "starts"), (1.04, None), (1.127, "starts"), (1.13, None)]
)
def test_starts_explain_what_lies_within_the_interval_of_a_difference(paper, wanted):
    assert cause(paper) == wanted


def test_without_an_interval_starts_explain_nothing():
    assert cause(1.11, ours=Estimate(1.10, math.nan, math.nan, n_seeds=10)) is None


def test_more_seeds_leave_less_to_starts():
    assert cause(1.045, ours=Estimate(1.10, 1.06, 1.12, n_seeds=3)) is None


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"quantity": "time"}, "program"),
        ({"dataset": "vehicle"}, "surrogate"),
        ({"ours": Estimate(1.1, 1.1, 1.1, n_limited=1)}, "limit"),
        ({"in_size": False}, "border"),
        ({}, None),
    ],
)
def test_each_cause_has_its_mark(changes, wanted):
    assert cause(2.0, **changes) == wanted
