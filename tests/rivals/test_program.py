"""Integer-programming assignments against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe import Constraints, InfeasibleConstraintsError, NoSolutionFoundError, _core
from kempe.problem import Problem
from kempe.rivals import program
from kempe.rivals.pccc import FillEmpty, cluster_inertia
from kempe.rivals.program import ProgramAssignment, nearest_allowed, plain_costs
from kempe.rivals.soft import SoftProgram, WeightedPairs, violation_price
from random_problems import random_problem


def every_colouring(problem):
    for colours in itertools.product(range(problem.n_clusters), repeat=problem.n_supernodes):
        candidate = np.array(colours, dtype=np.int32)
        if problem.is_proper(candidate):
            yield candidate


def total(costs, colours):
    return costs[np.arange(colours.size), colours].sum()


def small(planted, seed, **options):
    case = planted(seed, n_rows=9, n_pairs=8, **options)
    problem = case.problem
    rng = np.random.default_rng(seed)
    return problem, rng.normal(scale=4.0, size=(problem.n_clusters, problem.n_features))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("nonempty", [False, True])
def test_the_program_finds_the_cheapest_assignment(planted, seed, nonempty):
    problem, centroids = small(planted, seed)
    assign = ProgramAssignment(problem, nonempty=nonempty)
    colours = assign(problem, centroids, None, _core.Stopper())
    candidates = every_colouring(problem)
    if nonempty:
        candidates = (c for c in candidates if np.unique(c).size == problem.n_clusters)
    costs = problem.costs(centroids)
    assert total(costs, colours) == pytest.approx(min(total(costs, c) for c in candidates))
    assert problem.is_proper(colours)


@pytest.mark.parametrize("seed", range(8))
def test_one_centroid_more_than_neighbours_loses_nothing(planted, seed):
    problem, centroids = small(planted, seed, n_clusters=4, cannot_link_only=True)
    nearest = int(problem.graph.degree.max()) + 1
    costs = problem.costs(centroids)
    restricted, full = (
        ProgramAssignment(problem, nearest=q)(problem, centroids, None, _core.Stopper())
        for q in (nearest, None)
    )
    assert total(costs, restricted) == pytest.approx(total(costs, full))


def test_too_few_nearest_centroids_are_enlarged_until_there_is_an_assignment():
    # Both rows are nearest to the first centroid, and apart.
    problem = Problem.build(np.array([[0.0], [0.1]]), Constraints(None, [(0, 1)]), n_clusters=2)
    centroids = np.array([[0.0], [5.0]]) - problem.shift
    colours = ProgramAssignment(problem, nearest=1)(problem, centroids, None, _core.Stopper())
    assert colours.tolist() == [0, 1]


def test_nearest_allowed_marks_the_cheapest_clusters_of_each_row():
    costs = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    assert nearest_allowed(costs, 2, _core.Stopper()).tolist() == [
        [False, True, True],
        [True, False, True],
    ]
    assert nearest_allowed(costs, 3, _core.Stopper()) is None


def test_a_triangle_in_two_clusters_is_infeasible():
    pairs = Constraints(None, [(0, 1), (1, 2), (0, 2)])
    problem = Problem.build(np.arange(3.0)[:, None], pairs, n_clusters=2)
    with pytest.raises(InfeasibleConstraintsError, match="2 clusters"):
        ProgramAssignment(problem)(problem, np.array([[0.0], [1.0]]), None, _core.Stopper())


@pytest.mark.parametrize("seed", range(4))
def test_a_stopped_program_returns_what_it_has_and_nothing_worse_than_before(planted, seed):
    problem, centroids = small(planted, seed)
    previous = next(every_colouring(problem))
    costs = problem.costs(centroids)
    for start in (previous, None):
        colours = ProgramAssignment(problem)(problem, centroids, start, _core.Stopper(0.0))
        assert problem.is_proper(colours)
        assert start is None or total(costs, colours) <= total(costs, previous)


def test_marks_that_are_made_in_pieces_are_those_of_the_whole(monkeypatch):
    costs = np.random.default_rng(0).random((50, 9))
    whole = nearest_allowed(costs, 4, _core.Stopper())
    assert (whole.sum(axis=1) == 4).all()
    monkeypatch.setattr(program, "_AT_ONCE", 7)
    np.testing.assert_array_equal(nearest_allowed(costs, 4, _core.Stopper()), whole)
    late = nearest_allowed(costs, 4, _core.Stopper(0.0))
    np.testing.assert_array_equal(late[:7], whole[:7])
    assert not late[7:].any()


@pytest.mark.parametrize("nonempty", [False, True])
def test_no_program_is_begun_when_the_time_is_up(planted, nonempty, monkeypatch):
    problem, _ = small(planted, 0)
    centroids = np.zeros((problem.n_clusters, 2))  # all supernodes would like the first
    assign = ProgramAssignment(problem, nearest=2, nonempty=nonempty)
    monkeypatch.setattr(assign, "_assigner", None)
    colours = assign(problem, centroids, None, _core.Stopper(0.0))
    assert problem.is_proper(colours)
    assert np.unique(colours).size == problem.n_clusters or not nonempty


def test_a_stopped_program_keeps_the_previous_assignment_or_says_that_it_has_none():
    problem, hidden = random_problem(4, n=60, k=3, density=0.12, merged=0)
    centroids = np.random.default_rng(0).normal(size=(3, 2))
    assign, costs = ProgramAssignment(problem), problem.costs(centroids)
    kept = assign(problem, centroids, hidden, _core.Stopper(0.0))
    assert problem.is_proper(kept)
    assert total(costs, kept) <= total(costs, hidden)
    with pytest.raises(NoSolutionFoundError, match="an assignment of the 60 supernodes"):
        assign(problem, centroids, None, _core.Stopper(0.0))


def test_plain_costs_add_up_the_distances_of_all_rows(planted):
    case = planted(2, n_rows=20)
    problem = case.problem
    centroids = np.random.default_rng(0).normal(size=(3, 2))
    expected = np.zeros((problem.n_supernodes, 3))
    for row, supernode in zip(problem.rows, problem.supernode, strict=True):
        expected[supernode] += np.linalg.norm(row - centroids, axis=1)
    np.testing.assert_allclose(plain_costs(problem, centroids), expected)


def test_soft_weights_between_the_same_supernodes_add_up_with_their_signs():
    # Rows 0 and 1 are one supernode, so the pairs (0, 2) and (1, 2) join the same two.
    problem = Problem.build(np.arange(4.0)[:, None], Constraints([(0, 1)]), n_clusters=2)
    soft = WeightedPairs.build(problem, [(0, 2), (0, 1)], [(1, 2), (2, 3)], [2.0, 9.0], [0.5, 1.5])
    assert soft.first.tolist() == [0, 1]
    assert soft.second.tolist() == [1, 2]
    assert soft.confidence.tolist() == [1.5, 1.5]
    assert soft.together.tolist() == [True, False]


def test_violations_are_counted_with_their_confidence():
    problem = Problem.build(np.arange(4.0)[:, None], n_clusters=2)
    soft = WeightedPairs.build(problem, [(0, 1)], [(2, 3), (0, 2)], [0.25], [1.0, 4.0])
    colours = np.array([0, 1, 1, 1], dtype=np.int32)
    assert soft.violation(colours) == 1.25
    assert soft.violation_by_cluster(colours, 2).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("weight", [[1.0, 2.0], [-1.0], [np.nan]])
def test_wrong_confidences_are_refused(weight):
    problem = Problem.build(np.arange(3.0)[:, None], n_clusters=2)
    with pytest.raises(ValueError, match="soft_must_link_confidence"):
        WeightedPairs.build(problem, [(0, 1)], None, weight)


def test_the_price_is_the_mean_squared_distance_to_the_nearest_centroids():
    problem = Problem.build(np.array([[0.0], [4.0]]), n_clusters=3)
    centroids = np.array([[0.0], [1.0], [10.0]]) - problem.shift
    assert violation_price(problem, centroids, 2) == pytest.approx((0 + 1 + 9 + 16) / 4)
    assert violation_price(problem, centroids, 3) == pytest.approx((0 + 1 + 100 + 9 + 16 + 36) / 6)


def random_soft_pairs(problem, seed):
    rng = np.random.default_rng(seed)
    together, apart = rng.integers(problem.n_rows, size=(2, 4, 2))
    apart = apart[apart[:, 0] != apart[:, 1]]
    return WeightedPairs.build(problem, together, apart, rng.random(4), rng.random(len(apart)))


@pytest.mark.parametrize("seed", range(10))
def test_the_soft_program_finds_the_cheapest_compromise(planted, seed):
    problem, centroids = small(planted, seed)
    soft = random_soft_pairs(problem, seed)
    costs = problem.costs(centroids)
    price = violation_price(problem, centroids, problem.n_clusters)

    def value(colours):
        return total(costs, colours) + price * soft.violation(colours)

    program = SoftProgram(problem, soft, problem.n_clusters, lambda _: price)
    colours = program(problem, centroids, None, _core.Stopper())
    assert problem.is_proper(colours)
    assert value(colours) == pytest.approx(min(value(c) for c in every_colouring(problem)))


def test_the_soft_program_respects_the_restriction_to_the_nearest_centroids():
    # However confident, the pair stays apart: no centroid is among the nearest of both rows.
    problem = Problem.build(np.array([[0.0], [10.0]]), n_clusters=2)
    centroids = np.array([[0.0], [10.0]]) - problem.shift
    soft = WeightedPairs.build(problem, [(0, 1)], None, 1e6)
    restricted, free = (
        SoftProgram(problem, soft, nearest, lambda _: 1.0)(
            problem, centroids, None, _core.Stopper()
        )
        for nearest in (1, 2)
    )
    assert restricted.tolist() == [0, 1]
    assert free[0] == free[1]


def test_cluster_inertia_is_about_the_given_centroids():
    problem = Problem.build(np.array([[0.0], [2.0], [9.0]]), n_clusters=2)
    centroids = np.array([[0.0], [10.0]]) - problem.shift
    colours = np.array([0, 0, 1], dtype=np.int32)
    assert cluster_inertia(problem, colours, centroids) == pytest.approx([4.0, 1.0])


def test_an_empty_cluster_takes_a_supernode_of_the_worst_cluster():
    X = np.array([[0.0], [1.0], [50.0], [90.0]])
    problem = Problem.build(X, n_clusters=3)
    colours = np.array([0, 0, 1, 1], dtype=np.int32)
    fill = FillEmpty(lambda *_: colours, lambda c: np.zeros(3), np.random.default_rng(0))
    centroids = np.array([[0.5], [70.0], [999.0]]) - problem.shift
    filled = fill(problem, centroids, None, _core.Stopper())
    assert filled[:2].tolist() == [0, 0]
    assert sorted(filled[2:].tolist()) == [1, 2]


def test_soft_violations_come_before_inertia_when_a_cluster_is_filled():
    problem = Problem.build(np.array([[0.0], [1.0], [50.0], [90.0]]), n_clusters=3)
    colours = np.array([0, 0, 1, 1], dtype=np.int32)
    fill = FillEmpty(
        lambda *_: colours, lambda c: np.array([2.0, 1.0, 0.0]), np.random.default_rng(0)
    )
    centroids = np.array([[0.5], [70.0], [999.0]]) - problem.shift
    filled = fill(problem, centroids, None, _core.Stopper())
    assert filled[2:].tolist() == [1, 1]


def test_several_empty_clusters_are_all_filled():
    problem = Problem.build(np.arange(5.0)[:, None], n_clusters=4)
    fill = FillEmpty(
        lambda *_: np.zeros(5, dtype=np.int32), lambda c: np.zeros(4), np.random.default_rng(0)
    )
    filled = fill(problem, np.zeros((4, 1)), None, _core.Stopper())
    assert np.unique(filled).size == 4


def test_what_every_clustering_violates_is_counted():
    problem = Problem.build(np.arange(4.0)[:, None], Constraints([(0, 1)]), n_clusters=2)
    # Apart within a supernode; together against apart, of which the lighter is violated at least.
    soft = WeightedPairs.build(problem, [(2, 3)], [(0, 1), (2, 3)], [2.0], [4.0, 0.5])
    assert soft.unavoidable == 4.5
    assert soft.violation(np.array([0, 1, 1], dtype=np.int32)) == 4.5
    assert soft.violation(np.array([0, 0, 1], dtype=np.int32)) == 6.0
