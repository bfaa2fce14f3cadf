from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from assignments import brute_force, cost_of, planted, random_graph
from kempe import _core
from kempe.exact import ExactAssigner, branching
from kempe.graph import CannotLinkGraph


def exact_assignment(graph, costs, *, solver="auto", **options):
    return ExactAssigner(graph, solver=solver).solve(costs, **options)


def needs(module):
    missing = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(missing, reason=f"{module} is not installed")


SOLVERS = pytest.mark.parametrize(
    "solver",
    [
        "auto",
        "highs",
        pytest.param("cpsat", marks=needs("ortools")),
        pytest.param("gurobi", marks=needs("gurobipy")),
    ],
)


@SOLVERS
@pytest.mark.parametrize("seed", range(40))
def test_it_equals_brute_force_on_tiny_instances(solver, seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    graph = random_graph(m, rng.choice([0.2, 0.5, 0.8]), rng)
    costs = rng.random((m, k))
    allowed = (rng.random((m, k)) < 0.7) | (seed % 3 > 0)
    nonempty = seed % 2 == 0
    expected = brute_force(graph, costs, allowed, nonempty)
    result = exact_assignment(graph, costs, allowed=allowed, nonempty=nonempty, solver=solver)
    if np.isinf(expected):
        assert result.status == "infeasible"
        assert result.colours is None
        return
    assert result.status == "optimal"
    assert result.objective == pytest.approx(expected, abs=1e-9)
    assert result.objective == pytest.approx(cost_of(costs, result.colours))
    assert result.bound == pytest.approx(result.objective, rel=1e-6)
    assert graph.is_proper(result.colours)


@pytest.mark.parametrize("seed", range(200))
def test_it_is_never_worse_than_its_start_nor_improper_even_without_time(seed):
    rng = np.random.default_rng(seed)
    graph, start = planted(rng, density=rng.choice([0.1, 0.3, 0.5]))
    costs = rng.random((40, 4))
    mode = ("first", "optimal")[seed % 2]
    stopper = _core.Stopper((0.0, 0.01, 1.0)[seed % 3])
    result = exact_assignment(graph, costs, incumbent=start, mode=mode, stopper=stopper)
    assert graph.is_proper(result.colours)
    assert result.objective <= cost_of(costs, start) + 1e-12
    assert result.objective == pytest.approx(cost_of(costs, result.colours))
    assert result.bound <= result.objective
    if result.status == "improved":
        assert result.objective < cost_of(costs, start)


@SOLVERS
def test_the_first_improvement_is_an_improvement_and_the_optimum_cannot_be_improved(solver):
    rng = np.random.default_rng(5)
    graph, start = planted(rng, density=0.4)
    costs = rng.random((40, 4))
    assigner = ExactAssigner(graph, solver=solver)
    best = assigner.solve(costs, incumbent=start)
    assert best.status == "optimal"
    first = assigner.solve(costs, incumbent=start, mode="first")
    assert first.objective < cost_of(costs, start)
    again = assigner.solve(costs, incumbent=best.colours, mode="first")
    assert again.status == "optimal"
    assert np.array_equal(again.colours, best.colours)


@SOLVERS
def test_without_a_start_the_first_colouring_is_never_called_cheaper_than_it_is(solver):
    rng = np.random.default_rng(6)
    graph, _ = planted(rng, density=0.4)
    costs = rng.random((40, 4))
    cheapest = exact_assignment(graph, costs).objective
    first = ExactAssigner(graph, solver=solver).solve(costs, mode="first")
    assert graph.is_proper(first.colours)
    assert first.objective == pytest.approx(cost_of(costs, first.colours))
    assert first.bound <= cheapest + 1e-9
    assert first.status != "optimal" or first.objective == pytest.approx(cheapest)


def test_an_assigner_answers_each_call_for_its_own_costs():
    rng = np.random.default_rng(0)
    graph, _ = planted(rng)
    assigner = ExactAssigner(graph)
    for _ in range(5):
        costs = rng.random((40, 4))
        again = exact_assignment(graph, costs).objective
        assert assigner.solve(costs).objective == pytest.approx(again)


def test_the_scale_and_offset_of_the_costs_do_not_matter():
    rng = np.random.default_rng(0)
    graph, _ = planted(rng)
    costs = rng.random((40, 4))
    plain = exact_assignment(graph, costs)
    scaled = exact_assignment(graph, 1e-9 * costs)
    shifted = exact_assignment(graph, 1e6 * costs + 1e9)
    assert np.array_equal(plain.colours, scaled.colours)
    assert np.array_equal(plain.colours, shifted.colours)


@pytest.mark.parametrize("wrong", ["improper", "forbidden", "empty"])
def test_a_wrong_incumbent_is_refused(wrong):
    graph = CannotLinkGraph.from_edges(3, np.array([[0, 1]]))
    costs = np.ones((3, 2))
    incumbent = np.array([0, 0 if wrong == "improper" else 1, 0], dtype=np.int32)
    allowed = np.ones((3, 2), dtype=bool)
    allowed[2, 0] = wrong != "forbidden"
    if wrong == "empty":
        graph, incumbent = CannotLinkGraph.from_edges(3, np.empty((0, 2), int)), incumbent * 0
    with pytest.raises(ValueError, match="the incumbent"):
        exact_assignment(
            graph, costs, incumbent=incumbent, allowed=allowed, nonempty=wrong == "empty"
        )


def test_costs_of_the_wrong_shape_or_not_finite_are_refused():
    graph = CannotLinkGraph.from_edges(3, np.array([[0, 1]]))
    with pytest.raises(ValueError, match="one row for each of 3"):
        exact_assignment(graph, np.ones((2, 2)))
    with pytest.raises(ValueError, match="NaN or infinity"):
        exact_assignment(graph, np.full((3, 2), np.nan))


@pytest.mark.parametrize(
    ("solver", "module", "advice"),
    [
        ("cpsat", "ortools.sat.python", r"kempe\[exact\]"),
        ("gurobi", "gurobipy", r"kempe\[gurobi\]"),
    ],
)
def test_a_missing_solver_is_named_together_with_the_remedy(monkeypatch, solver, module, advice):
    monkeypatch.setitem(sys.modules, module, None)
    graph = CannotLinkGraph.from_edges(4, np.array([[0, 1], [1, 2], [2, 3]]))
    costs = np.array([[0.0, 1.0]] * 4)
    with pytest.raises(ImportError, match=advice):
        exact_assignment(graph, costs, solver=solver)


def test_it_works_without_ortools(monkeypatch):
    rng = np.random.default_rng(3)
    graph, start = planted(rng, density=0.5)
    costs = rng.random((40, 4))
    expected = exact_assignment(graph, costs).objective
    for module in ("ortools", "ortools.sat.python"):
        monkeypatch.setitem(sys.modules, module, None)
    for mode in ("first", "optimal"):
        result = exact_assignment(graph, costs, incumbent=start, mode=mode)
        assert result.objective <= cost_of(costs, start)
    assert result.objective == pytest.approx(expected)


@needs("gurobipy")
def test_a_model_too_large_for_the_licence_of_gurobi_is_refused_with_advice():
    rng = np.random.default_rng(1)
    graph, _ = planted(rng, size=800, k=4, density=0.01)
    with pytest.raises(RuntimeError, match=r"licence of Gurobi.*highs"):
        exact_assignment(graph, rng.random((800, 4)), solver="gurobi")


def test_a_limit_of_effort_gives_the_same_answer_every_time():
    rng = np.random.default_rng(4)
    graph, start = planted(rng, size=300, k=4, density=0.03)
    costs = rng.random((300, 4))
    results = [
        exact_assignment(graph, costs, incumbent=start, mode="first", effort=0.2) for _ in range(2)
    ]
    assert np.array_equal(results[0].colours, results[1].colours)
    assert results[0].objective <= cost_of(costs, start)


def test_few_clusters_and_a_weak_relaxation_are_left_to_cpsat(monkeypatch):
    pytest.importorskip("ortools")
    rng = np.random.default_rng(3)
    hidden = rng.integers(3, size=90)
    pairs = np.column_stack(np.triu_indices(90, k=1))
    apart = pairs[(hidden[pairs[:, 0]] != hidden[pairs[:, 1]]) & (rng.random(len(pairs)) < 0.07)]
    graph, costs = CannotLinkGraph.from_edges(90, apart), rng.random((90, 3))
    asked = []

    def watched(*arguments, **options):
        asked.append(1)
        return solve_by_cpsat(*arguments, **options)

    solve_by_cpsat = branching.solve_by_cpsat
    monkeypatch.setattr(branching, "solve_by_cpsat", watched)
    auto, highs = (exact_assignment(graph, costs, solver=name) for name in ("auto", "highs"))
    assert len(asked) == 1
    assert auto.status == highs.status == "optimal"
    assert auto.objective == pytest.approx(highs.objective)
