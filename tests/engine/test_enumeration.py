"""Complete enumeration: the optimum of a few supernodes, when it runs, and when it does not."""

from __future__ import annotations

import numpy as np
import pytest

from kempe import Constraints, InfeasibleConstraintsError, KempeKMeans, _core
from kempe.engine.enumeration import n_partitions
from kempe.search.callbacks import Callbacks
from random_problems import best_inertia, random_problem


def enumerate_from(problem, colours, stopper=None):
    return _core.best_partition(
        problem.core, colours, problem.n_clusters, stopper or _core.Stopper()
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_kernel_finds_what_looking_at_every_colouring_finds(seed):
    problem, colours = random_problem(
        seed,
        n=8,
        k=2 + seed % 3,
        d=1 + seed % 4,
        density=[0.0, 0.3, 0.8][seed % 3],
        merged=seed % 2,
        dtype=[np.float64, np.float32][seed % 2],
        weighted=seed % 4 == 1,
    )
    found, complete = enumerate_from(problem, colours)
    assert complete
    assert problem.is_proper(found)
    assert problem.inertia(found) == pytest.approx(best_inertia(problem), rel=1e-9)


def test_no_cluster_is_left_empty():
    problem, _ = random_problem(1, n=6, k=4, density=0.0, merged=0)
    found, _ = enumerate_from(problem, np.zeros(6, dtype=np.int32))
    assert np.unique(found).size == 4


def test_an_optimum_is_returned_as_it_is():
    problem, colours = random_problem(2, n=7, k=3)
    best, _ = enumerate_from(problem, colours)
    renamed = (2 - best).astype(np.int32)
    np.testing.assert_array_equal(enumerate_from(problem, renamed)[0], renamed)


def test_a_stopper_ends_the_enumeration_with_what_there_is():
    problem, colours = random_problem(3, n=40, k=8, density=0.0, merged=0)
    stopper = _core.Stopper()
    stopper.stop()
    found, complete = enumerate_from(problem, colours, stopper)
    assert not complete
    np.testing.assert_array_equal(found, colours)


def test_too_many_supernodes_are_refused():
    problem, colours = random_problem(4, n=70, merged=0)
    with pytest.raises(ValueError, match="at most 64"):
        enumerate_from(problem, colours)


def test_partitions_are_counted():
    assert [n_partitions(5, k) for k in range(1, 6)] == [1, 15, 25, 10, 1]


X = np.random.default_rng(7).normal(size=(9, 2))
APART = [(0, 1), (1, 2), (0, 2)]


def fitted(**options):
    return KempeKMeans(3, random_state=0, **options).fit(X, cannot_link=APART)


def test_a_fit_of_a_few_rows_is_optimal_and_says_so(brute_force_optimum):
    model = fitted()
    assert model.result_.stop_reason == "optimal"
    assert model.result_.statistics.kind == ["start", "enumerate"]
    best, _ = brute_force_optimum(X, Constraints(None, APART), 3)
    assert model.inertia_ == pytest.approx(best)


def test_one_descent_remains_one_descent():
    model = fitted(max_mutations=0)
    assert model.result_.statistics.kind == ["start"]
    assert model.result_.stop_reason == "max_mutations"


def test_a_given_start_is_the_first_solution():
    centroids = X[[3, 4, 5]]
    alone = fitted(init=centroids, max_mutations=0)
    first = fitted(init=centroids).result_.statistics.inertia[0]
    assert first == alone.inertia_


def test_a_target_that_the_start_reaches_is_enough():
    model = fitted(target_inertia=1e9)
    assert model.result_.stop_reason == "target_inertia"
    assert model.result_.n_mutations == 0


def test_a_rule_or_a_callback_ends_the_fit_before_the_enumeration():
    class Enough(Callbacks):
        def on_iteration(self, state):
            return True

    assert fitted(stop=lambda state: True).result_.stop_reason == "user_rule"
    assert fitted(callbacks=Enough()).result_.stop_reason == "callback"


def test_after_an_optimum_no_further_search_begins():
    states = []
    fitted(n_init=5, stop=lambda state: bool(states.append(state)))
    assert len(states) == 1


def test_infeasible_pairs_are_still_explained():
    with pytest.raises(InfeasibleConstraintsError, match="cannot-linked to each other"):
        KempeKMeans(2).fit(X, cannot_link=APART)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [1e6, 1e14])
def test_no_optimum_is_claimed_where_centring_rounds_the_differences_away(dtype, far):
    X = np.array([[0.0], [1e-3], [5e-3], [far]], dtype=dtype)
    model = KempeKMeans(3, random_state=0).fit(X)
    about = [X[model.labels_ == c].astype(float) for c in range(3)]
    true = sum(float(((rows - rows.mean()) ** 2).sum()) for rows in about)
    assert model.inertia_ == pytest.approx(true, rel=1e-3)
    if model.result_.stop_reason == "optimal":
        assert true == pytest.approx(5e-7, rel=1e-3)
    assert (model.result_.stop_reason == "optimal") == (dtype is np.float64 and far == 1e6)


def test_equal_rows_far_from_zero_are_still_an_optimum():
    X = np.array([[1e9 + 0.1], [1e9 + 0.1], [1e9 + 7.3]])
    model = KempeKMeans(2, random_state=0).fit(X)
    assert model.result_.stop_reason == "optimal"
