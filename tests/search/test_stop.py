"""Stopping rules."""

from __future__ import annotations

import pytest

from kempe.search.stop import AnyOf, MaxMutations, Patience, TargetInertia, TimeLimit


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
