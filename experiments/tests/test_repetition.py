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


def scattered(rng, n_sets, n_seeds, common=0.1, own=0.05):
    """Inertias of a method and of a baseline that share a part of their luck."""
    luck = rng.normal(0.0, common, (n_sets, n_seeds))
    method, base = (1 + luck + rng.normal(0.0, own, luck.shape) for _ in range(2))
    return 1.1 * method, base


def multiples(method, base):
    pairs = [(cell(list(one)), cell(list(other))) for one, other in zip(method, base, strict=True)]
    return Repetition(pairs, "inertia", "multiple", MULTIPLE, decimals=2)


@pytest.mark.parametrize(("n_sets", "n_seeds"), [(1, 3), (1, 10), (5, 3), (5, 30)])
def test_the_interval_holds_nineteen_of_twenty_other_experiments(n_sets, n_seeds):
    rng = np.random.default_rng(n_sets + n_seeds)
    held = []
    for _ in range(200):
        low, high = multiples(*scattered(rng, n_sets, n_seeds)).interval()
        method, base = scattered(rng, n_sets, PAPER_SEEDS)
        held.append(low <= np.mean(method.mean(axis=1) / base.mean(axis=1)) <= high)
    assert np.mean(held) == pytest.approx(0.95, abs=0.05)


def test_a_steady_method_beside_a_baseline_that_scatters_has_an_interval():
    rng = np.random.default_rng(0)
    again = multiples([[1.0] * 10], [list(rng.uniform(0.5, 1.5, 10))])
    low, high = again.confidence()
    assert high - low > 0.1
    assert again.interval()[0] < low < high < again.interval()[1]


def test_the_interval_of_a_multiple_holds_it_where_data_sets_differ_in_their_seeds():
    base = [[10.0 + seed % 3 for seed in range(count)] for count in (2, 10)]
    method = [[30.0 + seed for seed in range(count)] for count in (2, 10)]
    low, high = multiples(method, base).confidence()
    assert low <= np.mean([np.mean(a) / np.mean(b) for a, b in zip(method, base, strict=True)])
    assert high >= np.mean([np.mean(a) / np.mean(b) for a, b in zip(method, base, strict=True)])


def test_one_seed_of_a_data_set_is_too_few_for_an_interval():
    again = multiples([[1.0], [1.0, 2.0]], [[1.0], [1.0, 2.0]])
    assert again.interval() is None
    assert np.isnan(again.confidence()).all()
