"""Stopping rules."""

from __future__ import annotations

import numpy as np
import pytest

from kempe.search.stop import (
    AnyOf,
    DiminishingReturns,
    MaxMutations,
    Patience,
    TargetInertia,
    TimeLimit,
)


@pytest.mark.parametrize(
    ("rule", "field", "goes_on", "stops"),
    [
        (MaxMutations(5), "iteration", 4, 5),
        (Patience(5), "since_best", 4, 5),
        (TimeLimit(5.0), "elapsed", 4.999, 5.0),
        (TargetInertia(5.0), "best_objective", 5.001, 5.0),
    ],
)
def test_a_rule_stops_exactly_at_its_limit(rule, field, goes_on, stops, make_state):
    assert not rule(make_state(**{field: goes_on}))
    assert rule(make_state(**{field: stops}))


def test_no_mutations_means_one_descent(make_state):
    assert MaxMutations(0)(make_state(iteration=0))


def test_any_rule_is_enough_and_the_first_that_says_so_is_remembered(make_state):
    mutations, patience = MaxMutations(10), Patience(3)
    rule = AnyOf([mutations, patience])
    assert not rule(make_state(iteration=9, since_best=2))
    assert rule.triggered is None
    assert rule(make_state(iteration=9, since_best=3))
    assert rule.triggered is patience
    assert rule(make_state(iteration=10, since_best=3))
    assert rule.triggered is mutations


def test_without_rules_nothing_stops(make_state):
    assert not AnyOf([])(make_state(iteration=10**9))


def test_a_function_of_the_user_is_a_rule(make_state):
    rule = AnyOf([lambda state: state.kind == "relocate"])
    assert rule(make_state(kind="relocate"))
    assert not rule(make_state(kind="perturb"))


def hardly_gained(history, share, least):
    """Slow twin: whether the later half of a history of (mutations, lowest) gained too little."""
    now, lowest = history[-1]
    halfway = [low for mutations, low in history if 2 * mutations <= now][-1]
    return now >= least and halfway - lowest <= share * halfway


@pytest.mark.parametrize("seed", range(20))
def test_the_later_half_of_the_mutations_decides(seed, make_state):
    rng = np.random.default_rng(seed)
    rule = DiminishingReturns(share=0.01, least=20)
    mutations = [0, *np.cumsum(rng.integers(1, 9, size=60)).tolist()]
    lowest = 100 * np.exp(-np.cumsum(rng.exponential(0.003, size=61) * (rng.random(61) < 0.3)))
    history, said = [], []
    for now, low in zip(mutations, lowest.tolist(), strict=True):
        history.append((now, low))
        said.append(rule(make_state(iteration=now, best_objective=low)))
        assert said[-1] == hardly_gained(history, 0.01, 20)
    assert not any(said[: np.searchsorted(mutations, 20)])
    assert any(said)
    assert not all(said[np.searchsorted(mutations, 20) :])


def test_returns_diminish_in_each_search_anew(make_state):
    rule = DiminishingReturns(share=0.01, least=4)
    states = [make_state(iteration=now, best_objective=5.0) for now in range(5)]
    for _ in range(3):
        assert [rule(state) for state in states] == [False, False, False, False, True]


def test_returns_of_nothing_are_nothing(make_state):
    rule = DiminishingReturns(share=0.0)
    assert not rule(make_state(iteration=0, best_objective=0.0))
    assert rule(make_state(iteration=1, best_objective=0.0))
