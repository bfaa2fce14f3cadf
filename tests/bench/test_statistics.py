"""Intervals and tests, against cases worked by hand."""

import math
from itertools import combinations, product

import numpy as np
import pytest

from kempe.bench.statistics import bootstrap_interval, compare, corrected, holm


def test_an_interval_surrounds_the_mean_and_shrinks_with_the_sample():
    rng = np.random.default_rng(0)
    few, many = rng.normal(5, 1, 10), rng.normal(5, 1, 1000)
    for sample in (few, many):
        low, high = bootstrap_interval(sample)
        assert low < sample.mean() < high
    narrow, wide = bootstrap_interval(many), bootstrap_interval(few)
    assert narrow[1] - narrow[0] < wide[1] - wide[0]
    normal = 1.96 * many.std() / math.sqrt(1000)
    assert narrow[1] - many.mean() == pytest.approx(normal, rel=0.15)


def test_an_interval_is_the_same_every_time():
    sample = [1.0, 2.0, 4.0, 7.0]
    assert bootstrap_interval(sample) == bootstrap_interval(sample)


def test_equal_or_single_values_are_no_problem():
    assert bootstrap_interval([3.0, 3.0, 3.0]) == (3.0, 3.0)
    assert all(math.isnan(bound) for bound in bootstrap_interval([3.0]))
    assert all(math.isnan(bound) for bound in bootstrap_interval([]))


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04, then never falling.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def exact_p_value(difference):
    """Two-sided Wilcoxon p-value by listing all signs."""
    ranks = np.argsort(np.argsort(np.abs(difference))) + 1
    observed = ranks[np.asarray(difference) > 0].sum()
    sums = [
        sum(r for r, s in zip(ranks, signs, strict=True) if s)
        for signs in product([0, 1], repeat=len(ranks))
    ]
    lower = np.mean([total <= observed for total in sums])
    upper = np.mean([total >= observed for total in sums])
    return min(1.0, 2 * min(lower, upper))


def test_wilcoxon_by_hand():
    a = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    b = a * np.array([1.1, 1.2, 1.3, 0.95, 1.5, 1.6])
    found = compare("x", "y", a, b)
    assert (found.n, found.wins, found.losses) == (6, 5, 1)
    assert found.ratio == pytest.approx(np.prod(a / b) ** (1 / 6))
    # All positive but the smallest: two of 64 sign patterns are as extreme on either side.
    assert exact_p_value(np.log(a / b)) == pytest.approx(4 / 64)
    assert found.p_value == pytest.approx(4 / 64)


def test_rounding_errors_are_no_difference():
    a = np.array([1.0, 2.0, 3.0])
    found = compare("x", "y", a, a * (1 + 1e-13))
    assert (found.wins, found.losses, found.p_value) == (0, 0, 1.0)


def test_only_instances_that_both_solved_are_compared():
    values = {
        "x": np.array([1.0, 1.0, np.nan, 1.0]),
        "y": np.array([2.0, np.nan, 2.0, 3.0]),
        "z": np.array([1.0, 1.0, 1.0, 1.0]),
    }
    found = [compare(a, b, values[a], values[b]) for a, b in combinations(values, 2)]
    assert [pair.n for pair in found] == [2, 3, 3]
    assert [(pair.wins, pair.losses) for pair in found] == [(2, 0), (0, 0), (0, 3)]


def test_p_values_of_comparisons_are_corrected_together():
    rng = np.random.default_rng(0)
    a = rng.random(12) + 1
    found = corrected([compare("x", "y", a, a * factor) for factor in (1.1, 1.0, rng.random(12))])
    assert [pair.p_holm for pair in found] == holm([pair.p_value for pair in found])
    assert found[0].p_holm > found[0].p_value
