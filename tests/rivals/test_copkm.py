"""COP-K-Means and its relatives on cases worked by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe import Constraints, NoSolutionFoundError, _core
from kempe.problem import Problem
from kempe.rivals import CLCKM, COPKM, COPKM_P, ICOPKM
from kempe.rivals.alternation import rows_or_given
from kempe.rivals.icopkm import certainty

FAMILY = [COPKM, COPKM_P, ICOPKM, CLCKM]

# Row 2 is apart from rows 0 and 1, which lie in different clusters: placed last it finds none.
STAR = np.array([[0.0], [10.0], [1.0]])
STAR_PAIRS = [(0, 2), (1, 2)]
ENDS = np.array([[0.0], [10.0]])


def test_copkm_fails_when_the_centre_of_a_star_comes_last():
    with pytest.raises(NoSolutionFoundError, match=r"iteration 1, row 2 .* 2 of 3 rows"):
        COPKM(2, init=ENDS).fit(STAR, cannot_link=STAR_PAIRS)


def test_copkm_succeeds_on_the_same_data_in_another_order():
    model = COPKM(2, init=ENDS).fit(STAR[[2, 0, 1]], cannot_link=[(0, 1), (0, 2)])
    assert model.labels_.tolist() == [0, 1, 1]


def test_saturation_order_starts_at_the_centre_of_the_star():
    model = COPKM_P(2, init=ENDS).fit(STAR, cannot_link=STAR_PAIRS)
    assert model.labels_.tolist() == [1, 1, 0]


def test_breadth_first_order_reaches_the_centre_of_the_star_second():
    model = CLCKM(2, init=ENDS, max_iter=1).fit(STAR, cannot_link=STAR_PAIRS)
    assert model.labels_.tolist() == [0, 0, 1]


def test_certainty_is_the_relative_margin_between_the_two_nearest_centroids():
    problem = Problem.build(np.array([[0.0], [4.0], [5.0], [10.0]]), n_clusters=2)
    margins = certainty(problem, ENDS - problem.shift)
    np.testing.assert_allclose(margins, [1.0, 1 / 3, 0.0, 1.0], atol=1e-12)


def test_a_doubtful_first_row_pushes_a_clear_one_away_only_in_data_order():
    X = np.array([[4.9], [0.0], [0.1], [10.0], [10.1]])
    options = {"init": ENDS, "max_iter": 1}
    in_order = COPKM(2, **options).fit(X, cannot_link=[(0, 1)])
    by_certainty = ICOPKM(2, random_state=0, **options).fit(X, cannot_link=[(0, 1)])
    assert in_order.labels_.tolist() == [0, 1, 0, 1, 1]
    assert by_certainty.labels_.tolist() == [1, 0, 0, 1, 1]


def test_copkm_fails_even_after_a_feasible_iteration():
    # First rows 0 and 1 share the left cluster. Its neighbour then moves to 5.83 and draws row 1
    # away, so row 2 is apart from a row in each cluster.
    X = np.array([[0.0], [4.0], [5.5], [6.0], [6.0]])
    with pytest.raises(NoSolutionFoundError, match="iteration 2, row 2"):
        COPKM(2, init=np.array([[0.0], [9.0]])).fit(X, cannot_link=STAR_PAIRS)


def test_saturation_order_keeps_a_feasible_iteration_when_a_later_one_gets_stuck(planted):
    case = planted(29, n_pairs=160, cannot_link_only=True)
    model = COPKM_P(3, init="random", random_state=29).fit(case.X, constraints=case.constraints)
    assert model.result_.stop_reason == "stuck"


@pytest.mark.parametrize("method", FAMILY)
def test_without_constraints_all_orders_are_k_means(method):
    X = np.array([[0.0], [1.0], [8.0], [9.0], [10.0]])
    model = method(2, init=np.array([[0.0], [1.0]]), random_state=0).fit(X)
    assert model.labels_.tolist() == [0, 0, 1, 1, 1]
    assert model.inertia_ == pytest.approx(2.5)


@pytest.mark.parametrize("method", FAMILY)
def test_labels_respect_every_pair(method, planted, violations, inertia):
    solved = 0
    for seed in range(8):
        case = planted(seed, n_clusters=4)
        try:
            model = method(4, random_state=seed).fit(case.X, constraints=case.constraints)
        except NoSolutionFoundError:
            continue
        assert violations(model.labels_, case.constraints) == []
        assert model.inertia_ == pytest.approx(inertia(case.X, model.labels_))
        solved += 1
    assert solved >= 6


@pytest.mark.parametrize("method", FAMILY)
def test_the_same_seed_gives_the_same_labels(method, planted):
    case = planted(3, n_pairs=15)
    first, second = (
        method(3, random_state=7).fit(case.X, constraints=case.constraints) for _ in "12"
    )
    np.testing.assert_array_equal(first.labels_, second.labels_)


@pytest.mark.parametrize("seed", [4, 5, 7])
def test_the_best_iteration_is_returned_when_the_inertia_rises(seed, planted):
    case = planted(seed, n_pairs=50)
    model = COPKM_P(3, random_state=seed).fit(case.X, constraints=case.constraints)
    history = model.result_.statistics.inertia
    assert model.inertia_ == min(history) < history[-1]


def test_random_centroids_are_rows_and_not_means_of_supernodes():
    # Three of the rows are one supernode: only rows can be two starting centroids inside it.
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    problem = Problem.build(X, Constraints([(0, 1), (1, 2)], None), n_clusters=3)
    starts = {
        tuple(
            np.sort(
                rows_or_given(problem, "random", np.random.default_rng(s), _core.Stopper()).ravel()
            )
        )
        for s in range(40)
    }
    rows = (X - problem.shift).ravel()
    assert starts == set(itertools.combinations(rows, 3))


def test_pairs_may_come_as_one_object():
    model = COPKM_P(2, init=ENDS).fit(STAR, constraints=Constraints(None, STAR_PAIRS))
    assert model.labels_.tolist() == [1, 1, 0]


@pytest.mark.parametrize("seed", [4, 5, 7])
def test_until_inertia_ends_where_the_inertia_first_does_not_fall(seed, planted):
    case = planted(seed, n_pairs=50)
    long, short = (
        COPKM_P(3, random_state=seed, until=until)
        .fit(case.X, constraints=case.constraints)
        .result_.statistics.inertia
        for until in ("clusters", "inertia")
    )
    first = next(i for i in range(1, len(long)) if long[i] >= long[i - 1])
    assert short == long[: first + 1]
    assert len(short) < len(long)
