"""Why cells differ: each cause on numbers made for it."""

import math

import numpy as np
import pytest

from experiments.causes import Difference, cause_of
from kempe.bench.statistics import Estimate, bootstrap_interval

# With ten seeds the paper's mean may lie beyond the interval by a factor of 1.72: the root of two
# because it is a mean of ten runs itself, and Student's t for an interval drawn from ten runs.
OURS = Estimate(1.10, low=1.06, high=1.12, n_seeds=10)


def cause(paper, *, dataset="COL2", quantity="inertia", ours=OURS, in_size=True, **more):
    found = cause_of(Difference(dataset, quantity, ours, paper, in_size, **more))
    return found and found.name


@pytest.mark.parametrize(
    ("paper", "wanted"), [(1.032, "starts"), (1.03, None), (1.134, "starts"), (1.135, None)]
)
def test_starts_explain_what_lies_within_the_interval_of_a_difference(paper, wanted):
    assert cause(paper) == wanted


def test_a_printed_number_stands_for_all_that_are_rounded_to_it():
    assert cause(1.135, unit=0.01) == "starts"
    assert cause(1.14, unit=0.01) is None


def test_without_an_interval_starts_explain_nothing():
    assert cause(1.11, ours=Estimate(1.10, math.nan, math.nan, n_seeds=10)) is None
    assert cause(1.11, ours=Estimate(1.10, 1.10, 1.10, n_seeds=1)) is None


@pytest.mark.parametrize("n", [3, 10, 30])
def test_the_interval_of_a_repetition_holds_nineteen_of_twenty(n):
    """Means of ten normal numbers, against intervals drawn from n others as ours are."""
    rng = np.random.default_rng(n)
    held = []
    for _ in range(300):
        runs = rng.normal(1.1, 0.1, n)
        low, high = bootstrap_interval(list(runs))
        ours = Estimate(float(runs.mean()), low, high, n_seeds=n)
        held.append(cause(float(rng.normal(1.1, 0.1, 10).mean()), ours=ours) == "starts")
    assert np.mean(held) == pytest.approx(0.95, abs=0.04)


def test_what_experiments_like_the_papers_give_stands_for_an_interval():
    ours = Estimate(1.10, math.nan, math.nan, n_seeds=30)
    assert cause(1.07, ours=ours, repeated=(1.06, 1.08)) == "starts"
    assert cause(1.05, ours=ours, repeated=(1.06, 1.08)) is None


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"quantity": "time"}, "program"),
        ({"dataset": "vehicle"}, "surrogate"),
        ({"rounded": True, "in_size": False}, "rounding"),
        ({"in_size": False}, "border"),
        ({"in_size": False, "opposed": True}, None),
        ({"cut_short": True}, "their limit"),
        ({}, None),
    ],
)
def test_each_cause_has_its_mark(changes, wanted):
    assert cause(2.0, **changes) == wanted


@pytest.mark.parametrize(
    ("quantity", "lower", "higher"),
    [
        ("inertia", "their limit", "limit"),
        ("success", "limit", "their limit"),
        ("time", "limit", "program"),
    ],
)
def test_a_limit_explains_what_lies_where_limits_lead(quantity, lower, higher):
    """Runs that end too soon succeed less often, at higher inertia, in less time."""
    ours = Estimate(0.5, math.nan, math.nan, n_limited=1)
    found = [cause(paper, quantity=quantity, ours=ours, cut_short=True) for paper in (0.6, 0.4)]
    assert found == [lower, higher]


def test_a_cell_that_the_limit_left_without_a_clustering_is_explained_by_it():
    ours = Estimate(math.nan, math.nan, math.nan, n_limited=3)
    assert cause(1.0, ours=ours) == "limit"
