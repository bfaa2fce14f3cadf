"""The reduced problem against slow twins made of dictionaries and sets."""

from __future__ import annotations

import time

import numpy as np
import pytest

from kempe import Constraints, InfeasibleConstraintsError, _core
from kempe.problem import CENTRE_UP_TO_BYTES, Problem


def supernodes_by_dictionary(n_rows, must_link):
    """Slow twin of the union-find, numbered by first row."""
    group = {row: {row} for row in range(n_rows)}
    for first, second in np.asarray(must_link).reshape(-1, 2).tolist():
        merged = group[first] | group[second]
        for row in merged:
            group[row] = merged
    number = {}
    return [number.setdefault(min(group[row]), len(number)) for row in range(n_rows)]


def edges_by_set(supernode, cannot_link):
    """Slow twin of the graph."""
    return {
        frozenset((int(supernode[a]), int(supernode[b])))
        for a, b in np.asarray(cannot_link).reshape(-1, 2).tolist()
    }


def random_colours(problem, seed):
    return np.random.default_rng(seed).integers(
        problem.n_clusters, size=problem.n_supernodes, dtype=np.int32
    )


def weights_for(seed, n_rows):
    return np.random.default_rng(seed + 1000).uniform(0.1, 3.0, size=n_rows)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_supernodes_and_graph_match_their_slow_twins(seed, dtype, planted):
    instance = planted(seed, n_rows=50, n_pairs=10 + 6 * seed)
    ml, cl = (
        pairs.astype(dtype)
        for pairs in (instance.constraints.must_link, instance.constraints.cannot_link)
    )
    problem = Problem.build(instance.X, Constraints(ml, cl), n_clusters=3)
    assert problem.supernode.tolist() == supernodes_by_dictionary(50, ml)
    assert problem.n_supernodes == len(set(problem.supernode.tolist()))
    graph = problem.graph.matrix.tocoo()
    found = [frozenset((int(a), int(b))) for a, b in zip(graph.row, graph.col, strict=True)]
    assert set(found) == edges_by_set(problem.supernode, cl)
    assert len(found) == 2 * problem.graph.n_edges == 2 * len(set(found))
    assert (
        problem.graph.degree.tolist()
        == np.asarray(problem.graph.matrix.sum(axis=1)).ravel().tolist()
    )


def test_repeated_and_reversed_pairs_change_nothing(planted):
    instance = planted(3)
    ml, cl = instance.constraints.must_link, instance.constraints.cannot_link
    twice = Constraints(np.concatenate([ml, ml[:, ::-1]]), np.concatenate([cl[:, ::-1], cl]))
    once, again = (
        Problem.build(instance.X, c, n_clusters=3) for c in (instance.constraints, twice)
    )
    assert np.array_equal(once.supernode, again.supernode)
    assert (once.graph.matrix != again.graph.matrix).nnz == 0


def test_components_are_those_of_the_graph():
    constraints = Constraints([(0, 1)], [(1, 2), (3, 4), (4, 5)], n_rows=8)
    problem = Problem.build(np.zeros((8, 1)), constraints, n_clusters=3)
    component = problem.graph.components[problem.supernode]
    assert component[0] == component[1] == component[2]
    assert component[3] == component[4] == component[5]
    assert len({int(component[row]) for row in (0, 3, 6, 7)}) == 4


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_inertia_means_and_costs_match_their_definitions(seed, dtype, weighted, planted, inertia):
    instance = planted(seed, n_features=3, dtype=dtype)
    weights = weights_for(seed, 60) if weighted else None
    problem = Problem.build(instance.X, instance.constraints, n_clusters=3, sample_weight=weights)
    colours = random_colours(problem, seed)
    labels = problem.labels(colours)
    tolerance = 1e-5 if dtype == np.float32 else 1e-10
    wanted = inertia(instance.X, labels, weights)
    assert problem.inertia(colours) == pytest.approx(wanted, rel=tolerance)
    means, weight = problem.means(colours)
    ones = np.ones(60) if weights is None else weights
    for cluster in range(3):
        members = labels == cluster
        mean = np.average(instance.X[members], axis=0, weights=ones[members])
        assert means[cluster] + problem.shift == pytest.approx(mean, rel=1e-4, abs=1e-4)
        assert weight[cluster] == pytest.approx(ones[members].sum())
    costs = problem.costs(means)
    total = problem.within + costs[np.arange(problem.n_supernodes), colours].sum()
    assert total == pytest.approx(wanted, rel=tolerance)


def test_a_large_offset_costs_no_digits(planted, inertia):
    instance = planted(1)
    near, far = (
        Problem.build(instance.X + offset, instance.constraints, n_clusters=3)
        for offset in (0.0, 1e7)
    )
    colours = random_colours(near, 0)
    assert far.inertia(colours) == pytest.approx(near.inertia(colours), rel=1e-6)


def test_supernodes_lie_at_the_means_of_their_rows(planted):
    instance = planted(2)
    problem = instance.problem
    points = problem.points(np.arange(problem.n_supernodes)) + problem.shift
    for vertex in range(problem.n_supernodes):
        assert points[vertex] == pytest.approx(instance.X[problem.supernode == vertex].mean(axis=0))
    assert problem.weight.tolist() == np.bincount(problem.supernode).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups_of_rows_are_merged_into_weighted_means(dtype):
    """A group without weight lies at its plain mean and adds nothing."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12, 3)).astype(dtype)
    groups = [[3, 1], [0, 7, 8], [2, 5]]
    weights = [np.array([2.0, 0.5]), np.array([1.0, 0.0, 3.0]), np.zeros(2)]
    merged, within = _core.merge_rows(
        rows,
        np.concatenate(groups).astype(np.int32),
        np.repeat(np.arange(3, dtype=np.int32), [2, 3, 2]),
        np.concatenate(weights),
        3,
    )
    expected = 0.0
    for mean, group, weight in zip(merged, groups, weights, strict=True):
        wanted = np.average(rows[group], axis=0, weights=weight if weight.any() else None)
        np.testing.assert_allclose(mean, wanted, rtol=1e-5)
        expected += float(weight @ ((rows[group] - wanted) ** 2).sum(axis=1))
    assert merged.dtype == dtype
    assert within == pytest.approx(expected, rel=1e-5)


def test_an_empty_cluster_has_no_weight(planted):
    problem = planted(0).problem
    means, weight = problem.means(np.zeros(problem.n_supernodes, dtype=np.int32))
    assert weight.tolist() == [60.0, 0.0, 0.0]
    assert means[1:].tolist() == [[0.0, 0.0]] * 2


@pytest.mark.parametrize("seed", range(10))
def test_proper_colourings_are_told_from_improper_ones(seed, planted, violations):
    instance = planted(seed)
    problem = instance.problem
    first_row = np.unique(problem.supernode, return_index=True)[1]
    hidden = instance.labels[first_row].astype(np.int32)
    assert problem.is_proper(hidden)
    colours = random_colours(problem, seed)
    broken = violations(problem.labels(colours), instance.constraints)
    assert problem.is_proper(colours) == (not broken)


def test_a_contradiction_names_the_pair():
    constraints = Constraints([(0, 1), (1, 2), (5, 6)], [(3, 4), (2, 0), (5, 6)])
    with pytest.raises(InfeasibleConstraintsError, match=r"rows 2 and 0 .* 2 = 1 = 0"):
        Problem.build(np.zeros((7, 1)), constraints, n_clusters=2)


@pytest.mark.parametrize("pairs", [[(0, 60)], [(-1, 3)]])
def test_pairs_out_of_range_are_refused(pairs, planted):
    with pytest.raises(ValueError, match=r"must_link pair 0"):
        Problem.build(planted(0).X, Constraints(pairs), n_clusters=2)


def test_no_constraints_leave_every_row_alone(planted):
    problem = Problem.build(planted(0).X, n_clusters=2)
    assert problem.n_supernodes == problem.n_rows == 60
    assert problem.graph.n_edges == 0
    assert problem.within == 0.0


def test_data_is_not_changed_and_may_be_read_only_or_in_fortran_order(planted):
    instance = planted(0)
    for X in (np.asfortranarray(instance.X), instance.X.copy()):
        X.flags.writeable = False
        before = X.copy()
        problem = Problem.build(X, instance.constraints, n_clusters=3)
        assert np.array_equal(X, before)
        colours = random_colours(problem, 0)
        assert problem.inertia(colours) == pytest.approx(instance.problem.inertia(colours))


def test_float32_stays_float32_and_large_data_is_not_copied():
    X = np.ones((10, 2), dtype=np.float32)
    assert Problem.build(X, n_clusters=1).rows.dtype == np.float32
    large = np.zeros((CENTRE_UP_TO_BYTES // 8 // 64 + 1, 64))
    assert np.shares_memory(Problem.build(large, n_clusters=1).rows, large)


@pytest.mark.slow
@pytest.mark.timing
def test_six_million_pairs_on_seventy_thousand_rows_take_less_than_three_seconds():
    rng = np.random.default_rng(0)
    n_rows = 70_000
    labels = rng.integers(10, size=n_rows)
    pairs = rng.integers(n_rows, size=(6_120_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    X = rng.normal(size=(n_rows, 4))
    must_link, cannot_link = pairs[same], pairs[~same]
    started = time.process_time()
    problem = Problem.build(X, Constraints(must_link, cannot_link), n_clusters=10)
    assert time.process_time() - started < 3.0
    assert problem.n_supernodes < n_rows


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("row", [-1, 5, 2**31 - 1])
def test_kernels_refuse_rows_that_do_not_exist(dtype, row):
    pairs = np.array([[0, 1], [0, row]], dtype=dtype)
    with pytest.raises(ValueError, match="does not exist"):
        _core.supernodes(5, pairs)
    with pytest.raises(ValueError, match="does not exist"):
        _core.cannot_link_graph(np.arange(5, dtype=np.int32), 5, pairs)


@pytest.mark.parametrize("weighted", [False, True])
def test_inertia_inside_each_supernode_is_that_of_its_rows(weighted):
    rng = np.random.default_rng(3)
    X, weight = rng.normal(size=(9, 2)), rng.uniform(1, 2, 9) if weighted else None
    constraints = Constraints(must_link=[(0, 3), (3, 8), (2, 5)])
    problem = Problem.build(X, constraints, n_clusters=2, sample_weight=weight)
    for v, inside in enumerate(problem.within_each):
        rows = np.flatnonzero(problem.supernode == v)
        share = np.ones(rows.size) if weight is None else weight[rows]
        mean = np.average(X[rows], axis=0, weights=share)
        assert inside == pytest.approx((share[:, None] * (X[rows] - mean) ** 2).sum(), abs=1e-12)
    assert problem.within_each.sum() == pytest.approx(problem.within)
