"""PCCC on cases worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kempe import Constraints, InfeasibleConstraintsError, NoSolutionFoundError
from kempe.problem import Problem
from kempe.rivals import BLPKMCC, PCCC
from kempe.rivals.pccc import enough_centroids
from random_problems import random_problem

PAIR_OF_PAIRS = np.array([[0.0], [1.0], [8.0], [9.0]])
MIDDLES = np.array([[0.5], [8.5]])


def test_as_many_centroids_are_allowed_as_cannot_link_neighbours_need():
    star = Constraints(None, [(0, 1), (0, 2), (0, 3)])
    problem = Problem.build(np.arange(9.0)[:, None], star, n_clusters=6)
    assert enough_centroids(problem, 2) == 4  # three neighbours and one more
    assert enough_centroids(problem, 5) == 5
    assert enough_centroids(problem, None) == 6
    assert enough_centroids(problem, 10) == 6


# Two centroids share the first group, one serves the second and third: descent is stuck there.
GROUPS = np.array([[0.0], [1.0], [2.2], [3.4], [100.0], [100.1], [200.0], [200.1]])
STUCK = [0, 0, 1, 1, 2, 2, 2, 2]


def test_repositioning_leaves_a_local_optimum():
    start = np.array([[0.0], [1.0], [150.0]])
    stuck = PCCC(3, init=start, repositioning=None).fit(GROUPS)
    moved = PCCC(3, init=start, random_state=0).fit(GROUPS)
    assert stuck.labels_.tolist() == STUCK
    assert moved.inertia_ == pytest.approx(GROUPS[:4].var() * 4 + 2 * 0.005)


def test_a_descent_that_its_first_step_ends_is_not_repositioned():
    # As in the public program: nothing was better than the first step, which is the best already.
    start = np.array([[0.5], [2.8], [150.05]])
    model = PCCC(3, init=start, random_state=0).fit(GROUPS)
    assert model.labels_.tolist() == STUCK
    assert "reposition" not in model.result_.statistics.kind


def test_plain_distances_may_end_a_descent_that_squared_ones_go_on_with():
    ended = []
    for seed in range(4):
        problem, _ = random_problem(seed, n=40, k=5, density=0.1)
        squared, plain = (
            PCCC(5, quality=quality, repositioning=None, random_state=seed).fit(
                problem.rows, constraints=problem.constraints
            )
            for quality in ("sqeuclidean", "euclidean")
        )
        shared = plain.n_iter_
        same = squared.result_.statistics.inertia[:shared]
        assert plain.result_.statistics.inertia[: len(same)] == same
        ended.append(plain.n_iter_ < squared.n_iter_)
    assert any(ended)


@pytest.mark.parametrize("repositioning", [None, "inertia", "violations"])
@pytest.mark.parametrize("seed", range(6))
def test_labels_respect_every_pair_and_a_descent_never_rises(
    planted, violations, inertia, seed, repositioning
):
    case = planted(seed, n_clusters=4)
    model = PCCC(4, random_state=seed, repositioning=repositioning)
    model.fit(case.X, constraints=case.constraints)
    assert violations(model.labels_, case.constraints) == []
    assert model.inertia_ == pytest.approx(inertia(case.X, model.labels_))
    assert np.unique(model.labels_).size == 4
    history = np.array(model.result_.statistics.inertia)
    if repositioning is None:
        assert (np.diff(history) <= 1e-9 * history[0]).all()
    assert model.inertia_ == pytest.approx(history.min())


@pytest.mark.parametrize("seed", range(6))
def test_fewer_nearest_centroids_do_not_change_the_descent(planted, seed):
    case = planted(seed, n_clusters=8, n_rows=80, n_pairs=30)
    few, all_ = (
        PCCC(8, random_state=seed, n_nearest=q, repositioning=None).fit(
            case.X, constraints=case.constraints
        )
        for q in (1, None)
    )
    assert few.inertia_ == pytest.approx(all_.inertia_)


@pytest.mark.parametrize(("confidence", "violation"), [(1.0, 1.0), (2.0, 0.0)])
def test_a_soft_pair_is_violated_where_that_is_cheaper(confidence, violation):
    # The mean squared distance to the two centroids is 32.25; keeping rows 0 and 1 apart costs 56
    # more. So it takes a confidence above 56 / 32.25 = 1.74.
    model = PCCC(2, init=MIDDLES, repositioning=None).fit(
        PAIR_OF_PAIRS, soft_cannot_link=[(0, 1)], soft_cannot_link_confidence=confidence
    )
    assert model.soft_violation_ == violation
    assert (model.labels_[0] == model.labels_[1]) == (violation > 0)


def test_a_confident_soft_must_link_pair_is_kept():
    weak, strong = (
        PCCC(2, init=MIDDLES, repositioning=None).fit(
            PAIR_OF_PAIRS, soft_must_link=[(1, 2)], soft_must_link_confidence=weight
        )
        for weight in (0.5, 4.0)
    )
    assert weak.labels_[1] != weak.labels_[2]
    assert strong.labels_[1] == strong.labels_[2]


def test_hard_pairs_hold_whatever_the_soft_ones_say():
    model = PCCC(2, init=MIDDLES).fit(
        PAIR_OF_PAIRS,
        must_link=[(0, 3)],
        cannot_link=[(0, 1)],
        soft_must_link=[(0, 1)],
        soft_cannot_link=[(0, 3)],
        soft_must_link_confidence=1e3,
    )
    assert model.labels_[0] == model.labels_[3] != model.labels_[1]
    assert model.soft_violation_ == 1e3 + 1  # the pair inside a supernode is violated, too


@pytest.mark.parametrize("repositioning", ["inertia", "violations"])
@pytest.mark.parametrize("seed", range(4))
def test_soft_pairs_beside_hard_ones(planted, violations, seed, repositioning):
    case = planted(seed, n_rows=40, n_pairs=20)
    rng = np.random.default_rng(seed)
    soft = rng.integers(40, size=(12, 2))
    soft = soft[soft[:, 0] != soft[:, 1]]
    model = PCCC(3, random_state=seed, repositioning=repositioning, n_nearest=2).fit(
        case.X,
        constraints=case.constraints,
        soft_cannot_link=soft,
        soft_cannot_link_confidence=rng.random(len(soft)),
    )
    assert violations(model.labels_, case.constraints) == []


def test_soft_pairs_outside_the_data_are_refused():
    with pytest.raises(ValueError, match="row 9"):
        PCCC(2).fit(PAIR_OF_PAIRS, soft_must_link=[(0, 9)])


def test_constraints_that_need_more_clusters_are_infeasible():
    triangle = [(0, 1), (1, 2), (0, 2)]
    with pytest.raises(InfeasibleConstraintsError, match="2 clusters"):
        PCCC(2).fit(PAIR_OF_PAIRS, cannot_link=triangle)
    with pytest.raises(InfeasibleConstraintsError, match="2 clusters"):
        PCCC(2).fit(PAIR_OF_PAIRS, cannot_link=triangle, soft_must_link=[(0, 3)])


def test_a_run_out_of_time_returns_a_feasible_clustering(planted, violations):
    case = planted(0, n_rows=300, n_pairs=600, n_clusters=5)
    model = PCCC(5, time_limit=1e-6, random_state=0).fit(case.X, constraints=case.constraints)
    assert model.result_.stop_reason == "time_limit"
    assert violations(model.labels_, case.constraints) == []


def test_a_run_out_of_time_says_if_it_has_found_none():
    problem, _ = random_problem(4, n=60, k=3, density=0.12, merged=0)
    with pytest.raises(NoSolutionFoundError, match="stopped before it had an assignment"):
        PCCC(3, time_limit=1e-6, random_state=0).fit(problem.rows, constraints=problem.constraints)


@pytest.mark.parametrize("method", [PCCC, BLPKMCC])
def test_the_limit_of_one_assignment_strikes_only_when_there_is_one(method, planted, violations):
    case = planted(0, n_rows=300, n_pairs=600, n_clusters=5)
    model = method(5, assignment_time_limit=1e-6, random_state=0)
    model.fit(case.X, constraints=case.constraints)
    assert violations(model.labels_, case.constraints) == []


def test_soft_pairs_of_constraints_are_those_of_the_arguments():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    pairs, sure = rng.permutation(30).reshape(-1, 2), rng.uniform(0.6, 0.9, size=15)
    told = {"soft_cannot_link": pairs, "soft_cannot_link_confidence": sure}
    by_hand, together = (PCCC(3, random_state=0) for _ in range(2))
    by_hand.fit(X, **told)
    together.fit(X, constraints=Constraints(**told))
    assert np.array_equal(by_hand.labels_, together.labels_)
    assert together.soft_violation_ == by_hand.soft_violation_
    with pytest.raises(ValueError, match="give all of them there"):
        together.fit(X, constraints=Constraints(**told), soft_must_link=[(0, 1)])
