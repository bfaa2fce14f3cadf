"""Greedy assignments against slow twins that follow their definition."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from kempe import Constraints, NoSolutionFoundError, _core
from kempe.problem import Problem
from kempe.rivals.copkm import OrderedAssignment, fill_by_farthest
from kempe.rivals.copkm_p import SaturationAssignment
from kempe.rivals.icopkm import nearest_assignment


def place(problem, centroids, colours, vertex):
    """Nearest cluster that no coloured neighbour has, or -1."""
    taken = set(colours[problem.graph.matrix[[vertex]].indices])
    costs = problem.costs(centroids)[vertex]
    free = [c for c in np.argsort(costs, kind="stable") if c not in taken]
    return free[0] if free else -1


def ordered_twin(problem, centroids, order, relaxed=False):
    colours = np.full(problem.n_supernodes, -1, dtype=np.int32)
    for vertex in order:
        colours[vertex] = place(problem, centroids, colours, vertex)
        if colours[vertex] < 0 and not relaxed:
            return colours, vertex
        if colours[vertex] < 0:
            colours[vertex] = problem.costs(centroids)[vertex].argmin()
    return colours, -1


def saturation_twin(problem, centroids):
    colours = np.full(problem.n_supernodes, -1, dtype=np.int32)
    while (colours < 0).any():
        vertex = max(np.flatnonzero(colours < 0), key=lambda v: urgency(problem, colours, v))
        colours[vertex] = place(problem, centroids, colours, vertex)
        if colours[vertex] < 0:
            return colours, vertex
    return colours, -1


def clique_twin(problem, centroids, clique):
    """Of all ways to give the vertices of a clique clusters of their own, the cheapest."""
    costs = problem.costs(centroids)[clique]
    ways = permutations(range(problem.n_clusters), len(clique))
    return min(ways, key=lambda way: costs[np.arange(len(clique)), way].sum())


def urgency(problem, colours, vertex):
    seen = set(colours[problem.graph.matrix[[vertex]].indices]) - {-1}
    return len(seen), problem.graph.degree[vertex], -vertex


def breadth_first_twin(problem):
    order = []
    for root in np.flatnonzero(problem.graph.degree > 0):
        queue = [] if root in order else [root]
        while queue:
            vertex = queue.pop(0)
            order.append(vertex)
            neighbours = problem.graph.matrix[[vertex]].indices
            queue += [u for u in sorted(neighbours) if u not in order and u not in queue]
    return order + list(np.flatnonzero(problem.graph.degree == 0))


def random_case(planted, seed):
    problem = planted(seed, n_pairs=60, n_clusters=4).problem
    rng = np.random.default_rng(seed)
    centroids = problem.points(rng.choice(problem.n_supernodes, 4, replace=False))
    return problem, centroids, rng.permutation(problem.n_supernodes).astype(np.int32)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("relaxed", [False, True])
def test_ordered_assignment_is_what_its_definition_says(planted, seed, relaxed):
    problem, centroids, order = random_case(planted, seed)
    colours, stuck = _core.ordered_assignment(problem.core, centroids, order, relaxed)
    expected, expected_stuck = ordered_twin(problem, centroids, order, relaxed)
    assert stuck == expected_stuck
    np.testing.assert_array_equal(colours, expected)


def priced_twin(problem, prices, centroids, order, previous):
    """One vertex after the other to the cheapest cluster, pairs with the placed ones counted."""
    colours = np.full(problem.n_supernodes, -1) if previous is None else previous.copy()
    soft, costs = problem.soft, problem.costs(centroids)
    for v in order:
        row = costs[v].copy()
        for a, b, price in zip(soft.first, soft.second, prices, strict=True):
            other = b if a == v else a if b == v else v
            if other != v and colours[other] >= 0:
                row[colours[other]] -= price
        taken = colours[problem.graph.matrix[[v]].indices]
        row[taken[taken >= 0]] = np.inf
        colours[v] = row.argmin() if np.isfinite(row).any() else -1
        if colours[v] < 0:
            return colours, v
    return colours, -1


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_priced_assignment_is_what_its_definition_says(planted, seed, again):
    case = planted(seed, n_pairs=60, n_clusters=4)
    rng = np.random.default_rng(seed)
    pairs = rng.integers(case.problem.n_rows, size=(80, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    both = case.problem.constraints | Constraints(
        soft_must_link=pairs[:40], soft_cannot_link=pairs[40:]
    )
    problem = Problem.build(case.problem.rows, both, n_clusters=4)
    prices = problem.soft.votes * rng.uniform(0.1, 2.0, size=problem.soft.votes.size)
    centroids = problem.points(rng.choice(problem.n_supernodes, 4, replace=False))
    order = rng.permutation(problem.n_supernodes).astype(np.int32)
    previous = None
    if again:
        previous = np.empty(problem.n_supernodes, dtype=np.int32)
        previous[problem.supernode] = case.labels
    found = _core.priced_assignment(
        problem.core, problem.soft.core(prices), centroids, order, previous
    )
    expected, stuck = priced_twin(problem, prices, centroids, order, previous)
    assert found[1] == stuck
    np.testing.assert_array_equal(found[0], expected)


@pytest.mark.parametrize("seed", range(20))
def test_saturation_assignment_is_what_its_definition_says(planted, seed):
    problem, centroids, _ = random_case(planted, seed)
    colours, stuck = _core.saturation_assignment(problem.core, centroids)
    expected, expected_stuck = saturation_twin(problem, centroids)
    assert stuck == expected_stuck
    if stuck < 0:
        np.testing.assert_array_equal(colours, expected)


@pytest.mark.parametrize("seed", range(10))
def test_breadth_first_order_is_what_its_definition_says(planted, seed):
    problem = planted(seed, n_pairs=25).problem
    order = _core.breadth_first_order(problem.graph.core)
    np.testing.assert_array_equal(order, breadth_first_twin(problem))


@pytest.mark.parametrize(("assign", "complete"), [("ordered", 7), ("saturation", 10)])
def test_a_complete_greedy_assignment_respects_every_pair(planted, assign, complete):
    proper = []
    for seed in range(10):
        problem, centroids, order = random_case(planted, seed)
        method = OrderedAssignment(order) if assign == "ordered" else SaturationAssignment()
        try:
            colours = method(problem, centroids, None, _core.Stopper())
        except NoSolutionFoundError:
            continue
        proper.append(problem.is_proper(colours))
    assert proper == [True] * complete


def test_a_stuck_assignment_names_the_row_and_how_far_it_got():
    # Rows 1 and 2 are one supernode; row 3 is apart from both clusters in use.
    X = np.array([[0.0], [9.0], [9.0], [1.0]])
    problem = Problem.build(X, Constraints([(1, 2)], [(0, 3), (2, 3)]), n_clusters=2)
    centroids = np.array([[0.0], [9.0]]) - problem.shift
    assign = OrderedAssignment(np.arange(3, dtype=np.int32))
    with pytest.raises(NoSolutionFoundError, match=r"row 3 .* 3 of 4 rows"):
        assign(problem, centroids, None, _core.Stopper())


def test_nearest_assignment_ignores_cannot_link_pairs():
    X = np.array([[0.0], [0.1], [5.0]])
    problem = Problem.build(X, Constraints(None, [(0, 1)]), n_clusters=2)
    centroids = np.array([[0.0], [5.0]]) - problem.shift
    colours = nearest_assignment(problem, centroids, None, _core.Stopper())
    assert colours.tolist() == [0, 0, 1]


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3]])
def test_an_order_that_misses_a_supernode_is_refused(order):
    problem = Problem.build(np.arange(3.0)[:, None], n_clusters=1)
    with pytest.raises(ValueError, match="every supernode once"):
        _core.ordered_assignment(problem.core, np.zeros((1, 1)), np.array(order, dtype=np.int32))


def test_an_empty_cluster_gets_the_farthest_supernode_that_can_be_spared():
    problem = Problem.build(np.array([[0.0], [1.0], [3.0], [90.0]]), n_clusters=3)
    centroids = np.array([[0.0], [50.0], [999.0]]) - problem.shift
    colours = np.array([0, 0, 0, 1], dtype=np.int32)
    # Row 3 is farther from its centroid than row 2, but alone in its cluster.
    assert fill_by_farthest(problem, centroids, colours).tolist() == [0, 0, 2, 1]


@pytest.mark.parametrize("seed", range(5))
def test_whole_cliques_are_assigned_at_the_lowest_cost_and_the_rest_as_before(seed):
    rng = np.random.default_rng(seed)
    pairs = [(0, 1), (2, 3), (4, 5), (5, 6), (4, 6), (7, 8), (8, 9)]  # two pairs, three, a path
    problem = Problem.build(rng.normal(size=(12, 2)), Constraints(None, pairs), n_clusters=4)
    centroids = rng.normal(size=(4, 2))
    stopper = _core.Stopper()
    found = SaturationAssignment(whole_cliques=True)(problem, centroids, None, stopper)
    expected = saturation_twin(problem, centroids)[0]
    for clique in ([0, 1], [2, 3], [4, 5, 6]):
        expected[clique] = clique_twin(problem, centroids, clique)
    np.testing.assert_array_equal(found, fill_by_farthest(problem, centroids, expected))
