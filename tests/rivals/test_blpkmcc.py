"""BLPKM-CC on cases worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kempe import InfeasibleConstraintsError
from kempe.rivals import BLPKMCC


def test_the_program_finds_the_assignment_that_greedy_order_misses():
    # Row 2 is apart from rows 0 and 1. In data order it finds no cluster; the cheapest assignment
    # moves row 0 (squared distances add up to 100 + 0 + 1; the only other, mirrored, to 181).
    X = np.array([[0.0], [10.0], [1.0]])
    start = np.array([[0.0], [10.0]])
    model = BLPKMCC(2, init=start, max_iter=1).fit(X, cannot_link=[(0, 2), (1, 2)])
    assert model.labels_.tolist() == [1, 1, 0]


def test_every_cluster_gets_a_row():
    start = np.array([[0.0], [10.0], [100.0]])
    model = BLPKMCC(3, init=start).fit([[0.0], [1.0], [10.0]])
    assert sorted(model.labels_.tolist()) == [0, 1, 2]


def test_plain_and_squared_distances_choose_differently():
    # Three rows are one supernode. Plain distances to 0 and 4: 10 and 14; squared: 100 and 68.
    X = np.array([[0.0], [0.0], [10.0], [0.0], [4.0]])
    options = {"init": np.array([[0.0], [4.0]]), "max_iter": 1}
    pairs = {"must_link": [(0, 1), (1, 2)]}
    plain = BLPKMCC(2, metric="euclidean", **options).fit(X, **pairs)
    squared = BLPKMCC(2, **options).fit(X, **pairs)
    assert plain.labels_.tolist() == [0, 0, 0, 0, 1]
    assert squared.labels_.tolist() == [1, 1, 1, 0, 1]


@pytest.mark.parametrize("seed", range(10))
def test_the_inertia_never_rises(planted, violations, inertia, seed):
    case = planted(seed, n_clusters=4)
    model = BLPKMCC(4, random_state=seed).fit(case.X, constraints=case.constraints)
    history = np.array(model.result_.statistics.inertia)
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    assert violations(model.labels_, case.constraints) == []
    assert model.inertia_ == pytest.approx(inertia(case.X, model.labels_))
    assert np.unique(model.labels_).size == 4


@pytest.mark.parametrize("seed", range(5))
def test_plain_distances_return_the_iteration_of_the_lowest_plain_total(planted, violations, seed):
    case = planted(seed)
    model = BLPKMCC(3, metric="euclidean", random_state=seed)
    model.fit(case.X, constraints=case.constraints)
    assert violations(model.labels_, case.constraints) == []
    totals = []
    for limit in range(1, model.n_iter_ + 1):
        part = BLPKMCC(3, metric="euclidean", random_state=seed, max_iter=limit)
        part.fit(case.X, constraints=case.constraints)
        spread = case.X - part.cluster_centers_[part.labels_]
        totals.append(np.linalg.norm(spread, axis=1).sum())
    assert totals[-1] == pytest.approx(min(totals))


def test_constraints_that_need_more_clusters_are_infeasible():
    with pytest.raises(InfeasibleConstraintsError, match="2 clusters"):
        BLPKMCC(2).fit([[0.0], [1.0], [2.0]], cannot_link=[(0, 1), (1, 2), (0, 2)])


def test_at_most_max_iter_iterations(planted):
    case = planted(4, n_rows=200)
    model = BLPKMCC(3, random_state=0, max_iter=2).fit(case.X, constraints=case.constraints)
    assert model.n_iter_ == 2
    assert model.result_.stop_reason == "max_iter"
