"""The price of a pair, against what the data says and against all clusterings."""

from __future__ import annotations

import numpy as np
import pytest

from kempe import Constraints, KempeKMeans
from kempe.problem import Problem
from kempe.report import pair_prices, prices


def priced(X, k, constraints, sample_weight=None):
    """Prices by kind and rows, of the clustering that a fit finds."""
    X = np.asarray(X, dtype=np.float64)
    model = KempeKMeans(k, random_state=0)
    model.fit(X, constraints=constraints, sample_weight=sample_weight)
    problem = Problem.build(X, constraints, n_clusters=k, sample_weight=sample_weight)
    found = pair_prices(problem, model.result_.solution.colours)
    return {(p.kind, p.first, p.second): p for p in found}, model


def test_a_must_link_pair_across_two_groups_costs_what_it_moves():
    X = [[0.0], [0.1], [0.2], [10.0], [10.1], [10.2]]
    found, model = priced(X, 2, Constraints([(0, 3), (1, 2)]))
    free = KempeKMeans(2, random_state=0).fit(X, must_link=[(1, 2)])
    assert list(found) == [("must-link", 0, 3)]
    price = found["must-link", 0, 3]
    assert price.price == pytest.approx(model.inertia_ - free.inertia_)
    assert price.moved == 1


def test_a_cannot_link_pair_inside_a_group_costs_what_it_parts():
    X = [[0.0], [0.1], [0.2], [10.0], [10.1], [10.2]]
    found, model = priced(X, 2, Constraints(None, [(0, 1), (2, 5)]))
    free = KempeKMeans(2, random_state=0).fit(X, cannot_link=[(2, 5)])
    assert found["cannot-link", 0, 1].price == pytest.approx(model.inertia_ - free.inertia_)
    assert ("cannot-link", 2, 5) not in found  # these are apart anyway


def test_a_pair_that_others_imply_costs_nothing_and_its_repetitions_count_as_one():
    X = [[0.0], [0.1], [0.2], [10.0], [10.1], [10.2]]
    implied, _ = priced(X, 2, Constraints([(0, 3), (3, 4), (0, 4)]))
    assert not implied
    repeated, _ = priced(X, 2, Constraints([(0, 3), (3, 0), (0, 3)]))
    assert list(repeated) == [("must-link", 0, 3)]


def test_prices_count_weights():
    X = [[0.0], [0.1], [0.2], [10.0], [10.1], [10.2]]
    light, _ = priced(X, 2, Constraints([(0, 3)]), np.array([0.1, 1, 1, 1, 1, 1]))
    heavy, _ = priced(X, 2, Constraints([(0, 3)]), np.array([2.0, 1, 1, 1, 1, 1]))
    pair = ("must-link", 0, 3)
    assert light[pair].price < heavy[pair].price


@pytest.mark.parametrize("seed", range(6))
def test_no_price_exceeds_what_the_optimum_without_the_pair_would_save(seed, planted):
    case = planted(seed, n_rows=9, n_clusters=2, n_pairs=7)
    found, model = priced(case.X, case.n_clusters, case.constraints)
    for (kind, first, second), price in found.items():
        without = prices._without(case.constraints, kind, (first, second))
        # Nine rows are few enough for a fit to look at all clusterings.
        best = KempeKMeans(case.n_clusters, random_state=0).fit(case.X, constraints=without)
        assert best.result_.stop_reason == "optimal"
        assert 0 < price.price <= model.inertia_ - best.inertia_ + 1e-9


def test_the_work_is_bounded(planted, monkeypatch):
    case = planted(0, n_rows=60, n_pairs=60)
    assert len(priced(case.X, 3, case.constraints)[0]) > 2
    monkeypatch.setattr(prices, "MOST_DESCENTS", 2)
    assert len(priced(case.X, 3, case.constraints)[0]) <= 2
    monkeypatch.setattr(prices, "MOST_WORK", 1)
    assert not priced(case.X, 3, case.constraints)[0]
    monkeypatch.setattr(prices, "MOST_CANDIDATES", 1)
    assert len(prices._some(case.constraints.cannot_link)) == 1


def test_wrong_pairs_are_the_expensive_ones():
    rng = np.random.default_rng(3)
    labels = rng.integers(8, size=1500)
    X = 3 * rng.normal(size=(8, 6))[labels] + rng.normal(size=(1500, 6))
    pairs = rng.integers(1500, size=(900, 2))
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    wrong = pairs[~same][:4]
    constraints = Constraints(np.concatenate([pairs[same][:60], wrong]), pairs[~same][4:])
    found, _ = priced(X, 8, constraints)
    assert {pair[1:] for pair in list(found)[:4]} == {(min(p), max(p)) for p in wrong.tolist()}


def test_no_descent_runs_where_none_is_promised(planted, monkeypatch):
    case = planted(0, n_rows=60, n_pairs=60)
    descents = []
    descended = prices._descended
    monkeypatch.setattr(prices, "_descended", lambda *a: descents.append(1) or descended(*a))
    assert priced(case.X, 3, case.constraints)[0]
    assert descents
    descents.clear()
    assert not priced(case.X, 3, None)[0]
    monkeypatch.setattr(prices, "MOST_WORK", 1)
    assert not priced(case.X, 3, case.constraints)[0]
    assert not descents
