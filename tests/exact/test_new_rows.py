"""Clusters of new rows under pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe import Constraints, InfeasibleConstraintsError, KempeKMeans
from kempe.exact.new_rows import assign_new_rows


def best_of_all(costs, constraints, known):
    """The lowest cost by looking at all clusters of the new rows."""
    n, k = costs.shape
    best = np.inf
    for clusters in itertools.product(range(k), repeat=n):
        violations = constraints.violations(np.concatenate([clusters, known]))
        if not (violations.must_link.size or violations.cannot_link.size):
            best = min(best, costs[np.arange(n), clusters].sum())
    return best


@pytest.mark.parametrize("seed", range(60))
def test_new_rows_get_the_cheapest_clusters_under_which_pairs_hold(seed):
    rng = np.random.default_rng(seed)
    n, k, n_known = 6, 3, 5
    costs = rng.random((n, k))
    known = rng.integers(k, size=n_known).astype(np.int32)
    pairs = rng.integers(n + n_known, size=(6, 2))
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & (pairs.min(axis=1) < n)]
    held = Constraints(pairs[:2], pairs[2:])
    best = best_of_all(costs, held, known)
    if np.isinf(best):
        with pytest.raises(InfeasibleConstraintsError) as error:
            assign_new_rows(costs, held, known)
        every = n + np.column_stack(np.triu_indices(n_known, 1))
        same = known[every[:, 0] - n] == known[every[:, 1] - n]
        fixed = Constraints(every[same], every[~same])
        assert error.value.certificate.verify(held | fixed, k)
        return
    clusters = assign_new_rows(costs, held, known)
    assert held.violations(np.concatenate([clusters, known])) == Constraints(n_rows=n + n_known)
    assert costs[np.arange(n), clusters].sum() == pytest.approx(best)


X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0]])


@pytest.fixture
def model():
    return KempeKMeans(3, random_state=0).fit(X)


def test_pairs_of_new_rows_hold(model):
    plain = model.predict([[0.4], [0.6]])
    assert plain[0] == plain[1]
    apart = model.predict([[0.4], [0.6]], cannot_link=[(0, 1)])
    assert apart.tolist() == [plain[0], model.labels_[2]]
    together = model.predict([[0.4], [20.0]], must_link=[(0, 1)])
    assert together[0] == together[1]


def test_rows_of_the_fit_keep_their_clusters_and_hold_new_ones(model):
    new = [[0.4], [0.6]]
    last = len(new) + 4
    assert model.predict(new, must_link=[(0, last)])[0] == model.labels_[4]
    held = Constraints(None, [(1, len(new)), (1, len(new) + 2)])
    assert model.predict(new, constraints=held)[1] == model.labels_[4]


def test_pairs_that_cannot_hold_get_a_proof(model):
    new = [[0.4]]
    with pytest.raises(InfeasibleConstraintsError, match="must-link pairs join them") as error:
        model.predict(new, must_link=[(0, 1), (0, 5)])
    assert set(error.value.certificate.rows) == {0, 1, 5}
    with pytest.raises(InfeasibleConstraintsError, match="at least 4 clusters"):
        model.predict(new, cannot_link=[(0, 1), (0, 3), (0, 5)])
    with pytest.raises(InfeasibleConstraintsError, match="contradict"):
        model.predict([[0.4], [0.5]], must_link=[(0, 1)], cannot_link=[(0, 1)])


def test_pairs_of_rows_that_are_not_there_are_refused(model):
    with pytest.raises(ValueError, match="6"):
        model.predict([[0.4]], must_link=[(0, 6)])
