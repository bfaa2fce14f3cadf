"""Whatever kernels of the core are given, they raise an exception or work: they never crash."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kempe import _core
from kempe.graph import CannotLinkGraph
from kempe.problem import Problem
from random_problems import random_problem

NAN, INF = np.nan, np.inf


def triangle():
    """Three vertices joined to each other, and one by itself."""
    return CannotLinkGraph.from_edges(4, np.array([(0, 1), (0, 2), (1, 2)])).core


def edgeless(size):
    return CannotLinkGraph.from_edges(size, np.empty((0, 2), int)).core


def ints(*values):
    return np.array(values, dtype=np.int32)


def longs(*values):
    return np.array(values, dtype=np.int64)


def never():
    return _core.Stopper()


@pytest.mark.parametrize(
    ("offsets", "targets", "message"),
    [
        (longs(), ints(), "must not be empty"),
        (longs(1, 2), ints(0, 0), "from 0 to the number"),
        (longs(0, 1, 1), ints(1, 0), "from 0 to the number"),
        (longs(0, 2, 1, 2), ints(1, 0), "from 0 to the number"),
        (longs(0, 2**40, 2), ints(1, 0), "from 0 to the number"),
        (longs(0, -1, 2), ints(1, 0), "from 0 to the number"),
        (longs(0, 1, 2), ints(2, 0), "out of range"),
        (longs(0, 1, 2), ints(-1, 0), "out of range"),
        (longs(0, 1, 2), ints(0, 0), "its own neighbour"),
        (longs(0, 2, 3, 4), ints(2, 1, 0, 0), "ascend"),
        (longs(0, 2, 4), ints(1, 1, 0, 0), "ascend"),
        (longs(0, 1, 1), ints(1), "both its ends"),
        (longs(0, 1, 2, 3, 4), ints(1, 2, 3, 0), "both its ends"),
        (longs(0, 1, 2, 4), ints(1, 2, 0, 1), "both its ends"),
    ],
)
def test_a_malformed_graph_is_refused(offsets, targets, message):
    with pytest.raises(ValueError, match=message):
        _core.Graph(offsets, targets)


@given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
@settings(max_examples=60, deadline=None)
def test_a_graph_is_accepted_exactly_if_its_matrix_is_symmetric(seed, size, density):
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.random((size, size)) < density, 1)
    matrix = matrix | matrix.T
    if size and seed % 2:  # often breaks the symmetry, or puts something on the diagonal
        matrix[tuple(rng.integers(size, size=2))] ^= True
    rows = sparse.csr_array(matrix)
    arrays = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    if (matrix == matrix.T).all() and not matrix.diagonal().any():
        graph = _core.Graph(*arrays)
        assert graph.size == size
        np.testing.assert_array_equal(graph.offsets, arrays[0])
        np.testing.assert_array_equal(graph.targets, arrays[1])
    else:
        with pytest.raises(ValueError, match=r"own neighbour|both its ends"):
            _core.Graph(*arrays)


def test_a_graph_does_not_change_with_the_arrays_it_was_made_from():
    offsets, targets = longs(0, 1, 2), ints(1, 0)
    graph = _core.Graph(offsets, targets)
    targets[:] = 99
    np.testing.assert_array_equal(graph.targets, [1, 0])
    for view in (graph.offsets, graph.targets):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 7


def test_the_arrays_of_a_graph_outlive_it():
    targets = _core.Graph(longs(0, 1, 2), ints(1, 0)).targets
    gc.collect()
    np.testing.assert_array_equal(targets, [1, 0])


def test_the_kernel_makes_a_graph_that_would_pass_the_check():
    for seed in range(20):
        problem, _ = random_problem(seed, density=0.3)
        graph = problem.graph.core
        again = _core.Graph(graph.offsets, graph.targets)
        np.testing.assert_array_equal(again.targets, graph.targets)


def test_contradicting_pairs_leave_no_graph():
    pairs = np.array([[0, 2], [0, 1]])
    graph, position = _core.cannot_link_graph(ints(0, 0, 1), 2, pairs)
    assert position == 1
    assert graph.size == 2
    assert graph.targets.size == 0


@pytest.mark.parametrize(
    ("supernode", "size"), [(ints(0, 5), 2), (ints(0, -1), 2), (ints(0, 1), 1), (ints(0, 1), -1)]
)
def test_supernodes_that_do_not_exist_are_refused(supernode, size):
    with pytest.raises(ValueError, match=r"out of range|negative"):
        _core.cannot_link_graph(supernode, size, np.array([[0, 1]]))


def instance(**changes):
    """An instance of four supernodes, the last two of them merged, but for what is changed."""
    parts = {
        "rows": np.zeros((3, 2)),
        "merged": np.ones((2, 2)),
        "source": ints(0, 1, -1, -2),
        "weight": np.ones(4),
        "graph": triangle(),
    }
    return _core.Instance(**{**parts, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": ints(0, 1, -1, 3)}, "neither a row nor"),
        ({"source": ints(0, 1, -1, -3)}, "neither a row nor"),
        ({"source": ints(0, 1, -1, -(2**31))}, "neither a row nor"),
        ({"source": ints(0, 1, 2)}, "disagree"),
        ({"weight": np.ones(3)}, "disagree"),
        ({"weight": np.array([1, 1, 1, -1.0])}, "not negative"),
        ({"weight": np.array([1, 1, 1, NAN])}, "not negative"),
        ({"weight": np.array([1, 1, 1, INF])}, "finite"),
        ({"merged": np.ones((2, 3))}, "numbers of features"),
        ({"rows": np.zeros((3, 0)), "merged": np.ones((2, 0))}, "a feature"),
        ({"graph": 5}, "disagree"),
    ],
)
def test_a_malformed_instance_is_refused(changes, message):
    if "graph" in changes:
        changes = {"graph": edgeless(changes["graph"])}
    instance()
    with pytest.raises(ValueError, match=message):
        instance(**changes)


def test_an_instance_without_supernodes_is_refused():
    with pytest.raises(ValueError, match="a supernode"):
        instance(source=ints(), weight=np.ones(0), graph=edgeless(0))


@pytest.mark.parametrize("changes", [{"graph": None}, {"rows": np.zeros(3)}, {"source": "rows"}])
def test_an_instance_of_other_things_is_refused(changes):
    with pytest.raises(TypeError):
        instance(**changes)


def graph_kernels():
    """Kernels over a graph of four vertices, with arguments of which some are wrong."""
    graph, start, costs = triangle(), ints(0, 1, 2, 0), np.ones((4, 3))
    temperatures = (5, 1.0, 0.1, 0.1, 1.0, 1)

    def tabu(k=3, start=start, allowed=None):
        _core.tabu_colouring(graph, k, start, allowed, 1, 10, never())

    def fewest_broken(k=3, start=start):
        pairs = _core.SoftPairs(4, ints(0, 1), ints(1, 2), np.array([1.0, -1.0]))
        _core.fewest_broken(pairs, k, start, 1, 10, never())

    def descend(costs=costs, start=start):
        _core.chain_descent(graph, costs, start, never())

    def anneal(costs=costs, start=start, schedule=temperatures, soft=None):
        _core.anneal(graph, costs, start, *schedule, never(), soft)

    yield lambda: _core.dsatur(graph, 0), "positive"
    yield lambda: _core.dsatur(graph, -3), "positive"
    yield lambda: _core.colour_exactly(graph, 0, 10, never()), "positive"
    yield lambda: _core.is_proper(graph, start[1:]), "one entry per supernode"
    yield lambda: _core.unpeel(graph, start, start, 0), "positive"
    yield lambda: _core.unpeel(graph, ints(4), start, 3), "out of range"
    yield lambda: _core.unpeel(graph, ints(-1), start, 3), "out of range"
    yield lambda: _core.unpeel(graph, ints(0), start[1:], 3), "one entry per supernode"
    yield lambda: _core.unpeel(graph, ints(0), ints(-1, 3, 0, 0), 3), "outside"
    yield lambda: _core.unpeel(graph, ints(0), ints(-2, 0, 0, 0), 3), "outside"
    yield lambda: _core.unpeel(graph, ints(0), ints(-1, 0, 1, 0), 2), "not that of a peeling"
    yield lambda: tabu(k=0), "positive"
    yield lambda: tabu(start=ints(0, 1, 3, 0)), "outside"
    yield lambda: tabu(start=start[1:]), "one entry per supernode"
    yield lambda: tabu(allowed=np.ones((4, 2), np.uint8)), "allowed"
    yield lambda: fewest_broken(k=0), "positive"
    yield lambda: fewest_broken(start=ints(0, 1, 3, 0)), "outside"
    yield lambda: fewest_broken(start=start[1:]), "one entry per supernode"
    yield lambda: _core.cheapest_colouring(graph, costs[1:]), "one row per supernode"
    yield lambda: _core.cheapest_colouring(graph, costs[:, :0].copy()), "a column"
    yield lambda: _core.cheapest_colouring(graph, NAN * costs), "not a number"
    yield lambda: descend(costs=costs[1:]), "one row per supernode"
    yield lambda: descend(costs=NAN * costs), "not a number"
    yield lambda: descend(start=ints(0, 1, 3, 0)), "outside"
    yield lambda: descend(start=ints(0, 1, -1, 0)), "outside"
    yield lambda: anneal(costs=costs[1:]), "one row per supernode"
    yield lambda: anneal(costs=NAN * costs), "not a number"
    yield lambda: anneal(start=ints(0, 1, 3, 0)), "outside"
    yield lambda: anneal(soft=_core.SoftPairs(9, ints(0), ints(8), np.ones(1))), "as many"
    yield lambda: anneal(schedule=(5, 0.1, 1.0, 0.1, 1.0, 1)), "in order"
    yield lambda: anneal(schedule=(5, NAN, NAN, 0.1, 1.0, 1)), "in order"
    offsets = longs(0, 1)
    yield lambda: _core.move_conflicts(graph, offsets, ints(4), ints(0)), "out of range"
    yield lambda: _core.move_conflicts(graph, offsets, ints(0, 1), ints(0)), "disagree"
    yield lambda: _core.move_conflicts(graph, longs(0, 2), ints(0), ints(0)), "number of entries"
    yield lambda: _core.move_conflicts(graph, longs(0, 3, 1), ints(0), ints(0)), "number of entries"
    yield lambda: _core.move_conflicts(graph, longs(), ints(), ints()), "must not be empty"


def independent_set_kernels():
    weights, offsets, targets = np.ones(2), longs(0, 1, 2), ints(1, 0)
    for kernel in (_core.mwis_greedy, _core.mwis_small):
        yield lambda kernel=kernel: kernel(weights[1:], offsets, targets), "disagree"
        yield lambda kernel=kernel: kernel(weights, longs(0, 9, 2), targets), "number of entries"
        yield lambda kernel=kernel: kernel(weights, offsets, ints(2, 0)), "out of range"
        yield lambda kernel=kernel: kernel(weights, offsets, ints(0, 1)), "own neighbour"
        yield lambda kernel=kernel: kernel(NAN * weights, offsets, targets), "finite"
    score = np.array([0.0, NAN])
    yield lambda: _core.mwis_by_order(weights, offsets, targets, score), "not a number"
    yield lambda: _core.mwis_by_order(weights, offsets, targets, score[1:]), "one entry per node"
    many = np.ones(33)
    yield lambda: _core.mwis_small(many, np.zeros(34, np.int64), ints()), "at most 32"


def instance_kernels():
    """Kernels over an instance of four supernodes in two dimensions."""
    core, colours, centroids = instance(), ints(0, 1, 2, 0), np.zeros((3, 2))
    search = _core.SequentialSearch(core, 3)
    everyone = ints(0, 1, 2, 3)
    wrong_centroids = [
        (np.zeros((3, 1)), "number of features|shape"),
        (np.zeros((0, 2)), "a centroid|shape"),
        (np.full((3, 2), NAN), "finite"),
        (np.full((3, 2), INF), "finite"),
    ]
    for wrong, message in wrong_centroids:
        yield lambda x=wrong: _core.saturation_assignment(core, x), message
        yield lambda x=wrong: _core.ordered_assignment(core, x, everyone), message
        yield lambda x=wrong: _core.squared_distances(core, everyone, x), message
        yield lambda x=wrong: _core.own_costs(core, colours, x), message
        yield lambda x=wrong: _core.between_inertia(core, colours, x), message
        yield lambda x=wrong: _core.improving_chains(core, colours, x), message
        yield lambda x=wrong: _core.simultaneous_step(core, colours, x), message
        yield lambda x=wrong: _core.simultaneous_settle(core, colours, x, never()), message
        yield lambda x=wrong: search.settle(colours, x, never()), message
        yield lambda x=wrong: search.assign_by_table(colours, x, True, never()), message
    for wrong, message in [
        (ints(0, 1, 3, 0), "outside"),
        (ints(0, 1, -1, 0), "outside"),
        (ints(0, 1, 2), "one entry per supernode"),
    ]:
        yield lambda x=wrong: _core.own_costs(core, x, centroids), message
        yield lambda x=wrong: _core.between_inertia(core, x, centroids), message
        yield lambda x=wrong: _core.cluster_means(core, x, 3), message
        yield lambda x=wrong: _core.improving_chains(core, x, centroids), message
        yield lambda x=wrong: _core.simultaneous_step(core, x, centroids), message
        yield lambda x=wrong: _core.simultaneous_descend(core, x, 3, never()), message
        yield lambda x=wrong: _core.three_colour_moves(core, x, np.ones(3, bool), never()), message
        yield lambda x=wrong: _core.fill_empty(core, x, 3), message
        yield lambda x=wrong: search.settle(x, centroids, never()), message
        yield lambda x=wrong: search.assign_by_table(x, centroids, True, never()), message
        yield lambda x=wrong: search.descend(x, never()), message
        yield lambda x=wrong: search.relocate(x, 1, 1, 0, 0.0, 1, never()), message
        yield lambda x=wrong: search.estimate(x, 0, 0), message
    for wrong in (-1, 3):
        yield lambda c=wrong: search.estimate(colours, c, 0), "no such cluster"
    for wrong in (-1, 4):
        yield lambda v=wrong: search.estimate(colours, 0, v), "no such supernode"
    for k in (0, -1):
        yield lambda k=k: _core.SequentialSearch(core, k), "positive"
        yield lambda k=k: _core.cluster_means(core, colours, k), "positive"
        yield lambda k=k: _core.simultaneous_descend(core, colours, k, never()), "positive"
        yield lambda k=k: _core.fill_empty(core, colours, k), "positive"
        yield lambda k=k: _core.kmeans_plus_plus(core, everyone, k, 1), "positive"
    nothing = np.ones(0, bool)
    yield lambda: _core.three_colour_moves(core, colours, nothing, never()), "positive"
    yield lambda: _core.kmeans_plus_plus(core, ints(), 2, 1), "nothing to choose from"
    yield lambda: _core.kmeans_plus_plus(core, ints(4), 2, 1), "out of range"
    yield lambda: _core.points(core, ints(-1)), "out of range"
    yield lambda: _core.squared_distances(core, ints(9), centroids), "out of range"
    yield lambda: _core.ordered_assignment(core, centroids, ints(0, 1, 2, 2)), "once"
    soft, many = (_core.SoftPairs(n, ints(0), ints(1), np.ones(1)) for n in (4, 5))
    order = ints(0, 1, 2, 3)
    yield lambda: _core.priced_assignment(core, soft, centroids, ints(0, 1, 2, 2)), "once"
    yield lambda: _core.priced_assignment(core, many, centroids, order), "as many"
    yield lambda: _core.priced_assignment(core, soft, centroids, order, ints(0, 1, 2, 9)), "outside"


def row_kernels():
    rows, labels, one = np.zeros((3, 2)), ints(0, 1, 1), np.ones(3)
    centroids = np.zeros((2, 2))
    yield lambda: _core.combine_rows(rows, labels[1:], one, centroids), "disagree"
    yield lambda: _core.combine_rows(rows, labels + ints(1), one, centroids), "outside"
    yield lambda: _core.combine_rows(rows, labels, one, centroids[:, :1].copy()), "disagree"
    yield lambda: _core.sum_squares(rows, labels, one[1:], 2), "disagree"
    yield lambda: _core.sum_squares(rows, labels, one, 1), "outside"
    yield lambda: _core.sum_squares(rows, labels, one, 0), "positive"
    yield lambda: _core.merge_rows(rows, ints(0, 1, 3), labels, one, 2), "not a row"
    yield lambda: _core.merge_rows(rows, ints(0, 1, -1), labels, one, 2), "not a row"
    yield lambda: _core.merge_rows(rows, ints(0, 1, 2), labels, one, 1), "group is out of range"
    yield lambda: _core.merge_rows(rows, ints(0, 1, 2), labels, one[1:], 2), "disagree"
    yield lambda: _core.supernodes(2**31, np.empty((0, 2), np.int64)), "too many rows"
    yield lambda: _core.supernodes(3, np.zeros((2, 3), np.int64)), "two columns"
    yield lambda: _core.supernodes(3, np.array([[0, 3]])), "does not exist"
    yield lambda: _core.supernodes(3, np.array([[0, -1]])), "does not exist"


@pytest.mark.parametrize(
    "cases", [graph_kernels, independent_set_kernels, instance_kernels, row_kernels]
)
def test_wrong_arguments_are_refused(cases):
    for number, (call, message) in enumerate(cases()):
        try:
            with pytest.raises(ValueError, match=message):
                call()
        except BaseException as error:
            error.add_note(f"case {number}")
            raise


def test_arrays_in_place_of_a_graph_are_refused():
    graph = triangle()
    with pytest.raises(TypeError):
        _core.peel(graph.offsets, graph.targets, 3)
    with pytest.raises(TypeError):
        _core.dsatur(None, 3)


def test_a_graph_without_vertices_is_a_graph():
    nobody, none = _core.Graph(longs(0), ints()), ints()
    assert _core.dsatur(nobody, 2)[1] == -1
    assert _core.is_proper(nobody, none)
    assert _core.peel(nobody, 2).size == 0
    assert _core.unpeel(nobody, none, none, 2).size == 0
    assert _core.breadth_first_order(nobody).size == 0
    assert _core.largest_clique(nobody, 2, never())[0].size == 0
    assert _core.clique_cover(nobody)[1].size == 0
    assert _core.colour_exactly(nobody, 1, 5, never())[0] == 1
    assert _core.tabu_colouring(nobody, 1, none, None, 0, 5, never())[1] == 0
    assert _core.cheapest_colouring(nobody, np.empty((0, 2)))[1]
    assert _core.chain_descent(nobody, np.empty((0, 2)), none, never()).size == 0
    assert _core.anneal(nobody, np.empty((0, 2)), none, 3, 1, 1, 1, 1, 0, never()).size == 0


def test_infinite_points_end_in_an_exception_or_a_result():
    problem = Problem.build(np.zeros((4, 1)), n_clusters=2)
    huge = np.array([[1e308], [-1e308]])
    colours, stuck = _core.saturation_assignment(problem.core, huge)
    assert colours.size == 4
    assert stuck in range(-1, 4)


def test_stoppers_nest_to_a_depth_and_no_further():
    """Each asks the one above it, and 200,000 of them used to end the process."""
    stopper = _core.Stopper()
    for _ in range(100):
        stopper = stopper.child()
    with pytest.raises(ValueError, match="nested too deeply"):
        stopper.child()
    assert not stopper.look()
    assert stopper.remaining > 1e6


def test_an_instance_owns_what_it_has_checked():
    rows = np.arange(12.0).reshape(6, 2)
    source = np.arange(6, dtype=np.int32)
    weight = np.ones(6)
    graph = _core.Graph(np.zeros(7, dtype=np.int64), np.empty(0, dtype=np.int32))
    instance = _core.Instance(rows, np.empty((0, 2)), source, weight, graph)
    colours = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    expected = _core.cluster_means(instance, colours, 2)
    source[:] = 2**30
    weight[:] = np.nan
    del source, weight
    found = _core.cluster_means(instance, colours, 2)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
