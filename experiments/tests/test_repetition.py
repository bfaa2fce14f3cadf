"""What chance leaves of an agreement in direction."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from experiments.repetition import REPETITIONS, Repetition
from experiments.rule import MULTIPLE, PAPER_SEEDS, RATE
from kempe.bench.store import Record
from kempe.bench.summary import Cell


def cell(inertias, cpu_s=1.0):
    """Runs with these inertias, failed where there is none, at seeds from 0."""
    return Cell(
        tuple(
            Record(
                *("main", "COL4", "banana", 0.01, "KSKM", seed),
                "failed" if value is None else "ok",
                inertia=value,
                cpu_s=cpu_s,
            )
            for seed, value in enumerate(inertias)
        )
    )


def agreement(method, base, kind="multiple", rule=MULTIPLE, quantity="inertia", **options):
    pairs = [(cell(method), cell(base))]
    return Repetition(pairs, quantity, kind, rule, decimals=2, **options).agreement()


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.2])
def test_numbers_that_do_not_scatter_are_repeated_for_sure(factor):
    base = [10.0] * 6
    assert agreement([factor * value for value in base], base) == 1.0
    assert agreement([factor * value for value in base], base, kind="best") == 1.0


def test_starts_that_both_methods_have_in_common_do_not_count_as_chance():
    base = list(np.random.default_rng(0).uniform(5.0, 50.0, 10))
    assert agreement([1.05 * value for value in base], base) == 1.0


def test_a_method_that_is_worse_in_one_run_of_two_agrees_with_itself_as_binomials_say():
    # Equal to the baseline unless every drawn run is equal to it: the others are far above.
    here = there = 0.5**PAPER_SEEDS
    runs = [10.0] * 5 + [30.0] * 5
    expected = here * there + (1 - here) * (1 - there)
    assert agreement(runs, [10.0] * 10) == pytest.approx(expected, abs=3 / REPETITIONS)
    # One run of the two: equal or worse with the same chance, independently of the ten.
    halves = agreement([10.0, 30.0], [10.0] * 10, kind="best", alone=True)
    assert halves == pytest.approx(0.25 * 0.5 + 0.75 * 0.5, abs=0.12)


def test_the_printed_digits_of_the_paper_are_part_of_the_chance():
    # 1.0049 is equal to the baseline, and is printed as 1.00; 1.0051 is worse, and printed as 1.01.
    assert agreement([10.049] * 3, [10.0] * 3) == 1.0
    assert agreement([10.051] * 3, [10.0] * 3) == 1.0
    # Inertias themselves: what is worse than the baseline here is equal to it after rounding.
    assert agreement([0.104] * 3, [0.1] * 3, kind="absolute", rule=RATE) == 1.0


def test_rates_of_success_scatter_like_binomials():
    runs = [10.0] * 9 + [None]
    # The same direction: some run fails in both experiments, or in none.
    fails = 1 - stats.binom.pmf(0, 10, 0.1)
    expected = fails**2 + (1 - fails) ** 2
    found = agreement(runs, [10.0] * 10, kind="rate", rule=RATE, quantity="success")
    assert found == pytest.approx(expected, abs=0.12)


def test_failing_always_is_repeated_for_sure():
    assert agreement([None] * 4, [10.0] * 4) == 1.0


def test_the_interval_is_what_the_best_of_ten_runs_scatters_over():
    rng = np.random.default_rng(0)
    runs = [float(value) for value in rng.uniform(1, 2, 40)]
    again = Repetition([(cell(runs), cell([1.0] * 40))], "inertia", "best", MULTIPLE, decimals=2)
    low, high = again.interval()
    wanted = [min(rng.choice(runs, 10)) for _ in range(4000)]
    np.testing.assert_allclose([low, high], np.quantile(wanted, (0.025, 0.975)), atol=0.05)


def test_too_few_seeds_give_no_interval():
    again = Repetition([(cell([1.0] * 19), cell([1.0] * 40))], "inertia", "best", MULTIPLE, 2)
    assert again.interval() is None
