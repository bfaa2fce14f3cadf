from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest

from kempe import Constraints, _core
from kempe.assign.exact import ExactAssigner, ExactDescent, exact_assignment
from kempe.graph import CannotLinkGraph
from kempe.problem import Problem


def random_graph(size, density, rng):
    pairs = np.column_stack(np.triu_indices(size, k=1))
    return CannotLinkGraph.from_edges(size, pairs[rng.random(len(pairs)) < density])


def cost_of(costs, colours):
    return costs[np.arange(colours.size), colours].sum()


def brute_force(graph, costs, allowed, nonempty):
    """Cost of the best of all assignments; infinite if there is none."""
    m, k = costs.shape
    best = np.inf
    for choice in itertools.product(range(k), repeat=m):
        colours = np.array(choice, dtype=np.int32)
        if nonempty and len(set(choice)) < k:
            continue
        if allowed[np.arange(m), colours].all() and graph.is_proper(colours):
            best = min(best, cost_of(costs, colours))
    return best


def backends():
    for name, module in (("auto", "numpy"), ("lp", "numpy"), ("cpsat", "ortools")):
        missing = pytest.mark.skipif(
            __import__("importlib.util").util.find_spec(module) is None, reason=f"no {module}"
        )
        yield pytest.param(name, marks=missing)


@pytest.mark.parametrize("backend", list(backends()))
@pytest.mark.parametrize("seed", range(40))
def test_it_equals_brute_force_on_tiny_instances(backend, seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    graph = random_graph(m, rng.choice([0.2, 0.5, 0.8]), rng)
    costs = rng.random((m, k))
    allowed = (rng.random((m, k)) < 0.7) | (seed % 3 > 0)
    nonempty = seed % 2 == 0
    expected = brute_force(graph, costs, allowed, nonempty)
    result = exact_assignment(graph, costs, allowed=allowed, nonempty=nonempty, backend=backend)
    if np.isinf(expected):
        assert result.status == "infeasible"
        assert result.colours is None
        return
    assert result.status == "optimal"
    assert result.objective == pytest.approx(expected, abs=1e-9)
    assert result.objective == pytest.approx(cost_of(costs, result.colours))
    assert result.gap == pytest.approx(0, abs=1e-6)
    assert graph.is_proper(result.colours)


def planted(rng, size=40, k=4, density=0.2):
    """A graph that certainly has a proper colouring, and that colouring."""
    colours = rng.integers(k, size=size).astype(np.int32)
    pairs = np.column_stack(np.triu_indices(size, k=1))
    apart = colours[pairs[:, 0]] != colours[pairs[:, 1]]
    return CannotLinkGraph.from_edges(
        size, pairs[apart & (rng.random(len(pairs)) < density)]
    ), colours


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


@pytest.mark.parametrize("backend", list(backends()))
def test_the_first_improvement_is_an_improvement_and_the_optimum_cannot_be_improved(backend):
    rng = np.random.default_rng(5)
    graph, start = planted(rng, density=0.4)
    costs = rng.random((40, 4))
    assigner = ExactAssigner(graph, backend=backend)
    best = assigner.solve(costs, incumbent=start)
    assert best.status == "optimal"
    first = assigner.solve(costs, incumbent=start, mode="first")
    assert first.objective < cost_of(costs, start)
    again = assigner.solve(costs, incumbent=best.colours, mode="first")
    assert again.status == "optimal"
    assert np.array_equal(again.colours, best.colours)


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
    ("backend", "module", "advice"),
    [("cpsat", "ortools.sat.python", r"kempe\[exact\]"), ("gurobi", "gurobipy", "gurobipy")],
)
def test_a_missing_solver_is_named_together_with_the_remedy(monkeypatch, backend, module, advice):
    monkeypatch.setitem(sys.modules, module, None)
    graph = CannotLinkGraph.from_edges(4, np.array([[0, 1], [1, 2], [2, 3]]))
    costs = np.array([[0.0, 1.0]] * 4)
    with pytest.raises(ImportError, match=advice):
        exact_assignment(graph, costs, backend=backend)


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


def test_gurobi_agrees_within_its_free_licence():
    pytest.importorskip("gurobipy")
    rng = np.random.default_rng(1)
    graph, start = planted(rng, size=20, k=3)
    costs = rng.random((20, 3))
    result = exact_assignment(graph, costs, incumbent=start, backend="gurobi")
    assert result.objective == pytest.approx(exact_assignment(graph, costs).objective)


class ChainDescent:
    """Kempe chains to fixed centroids, alternated with the means."""

    def settle(self, problem, colours, centroids, rng, stopper):
        costs = problem.costs(centroids)
        return _core.chain_descent(problem.offsets, problem.targets, costs, colours, stopper)

    def descend(self, problem, colours, rng, stopper):
        while True:
            better = self.settle(problem, colours, problem.means(colours)[0], rng, stopper)
            if problem.inertia(better) >= problem.inertia(colours):
                return colours
            colours = better


@pytest.fixture
def tight_problem():
    rng = np.random.default_rng(2)
    graph, start = planted(rng, size=100, k=3, density=0.07)
    constraints = Constraints(cannot_link=graph.edges)
    return Problem.build(rng.normal(size=(100, 2)), constraints, n_clusters=3), start


@pytest.mark.parametrize("mode", ["first", "optimal"])
def test_exact_refinement_goes_on_where_kempe_swaps_end(tight_problem, mode):
    problem, start = tight_problem
    rng, stopper = np.random.default_rng(0), _core.Stopper()
    kempe = ChainDescent().descend(problem, start, rng, stopper)
    refined = ExactDescent(ChainDescent(), mode=mode).descend(problem, start, rng, stopper)
    assert problem.is_proper(refined)
    assert problem.inertia(refined) < problem.inertia(kempe)
    # Nothing is left to gain at its own means.
    costs = problem.costs(problem.means(refined)[0])
    assert exact_assignment(problem, costs).objective >= cost_of(costs, refined) * (1 - 1e-6)


def test_the_exact_step_is_not_repeated_on_a_partition_already_explored(tight_problem, monkeypatch):
    problem, start = tight_problem
    rng, stopper = np.random.default_rng(0), _core.Stopper()
    descent = ExactDescent(ChainDescent())
    end = descent.descend(problem, start, rng, stopper)
    calls = []
    monkeypatch.setattr(ExactAssigner, "solve", lambda *a, **k: calls.append(1))
    renamed = np.array([2, 0, 1], dtype=np.int32)[end]
    descent.descend(problem, renamed, rng, stopper)
    assert not calls


def test_a_limit_of_effort_gives_the_same_answer_every_time():
    rng = np.random.default_rng(4)
    graph, start = planted(rng, size=300, k=4, density=0.03)
    costs = rng.random((300, 4))
    results = [
        exact_assignment(graph, costs, incumbent=start, mode="first", effort=0.2) for _ in range(2)
    ]
    assert np.array_equal(results[0].colours, results[1].colours)
    assert results[0].objective <= cost_of(costs, start)


def test_a_graph_too_hard_for_the_solvers_costs_less_each_time(monkeypatch):
    rng = np.random.default_rng(4)
    graph, start = planted(rng, size=300, k=4, density=0.025)
    problem = Problem.build(
        rng.normal(size=(300, 2)), Constraints(cannot_link=graph.edges), n_clusters=4
    )
    solve, spent = ExactAssigner.solve, []

    def watched(self, *args, effort, **options):
        result = solve(self, *args, effort=effort, **options)
        spent.append((effort, result.status))
        return result

    monkeypatch.setattr(ExactAssigner, "solve", watched)
    descent = ExactDescent(ChainDescent(), effort=0.004, least_effort=0.001)
    stopper = _core.Stopper()
    for _ in range(6):
        centroids = rng.normal(size=(4, 2))
        descent.descend(
            problem, descent.settle(problem, start, centroids, rng, stopper), rng, stopper
        )
    assert spent[0][0] == 0.004
    assert "unchanged" in [status for _, status in spent]
    factor = {"unchanged": 0.5, "improved": 2.0, "optimal": 1.0}
    for (effort, status), (following, _) in itertools.pairwise(spent):
        assert following == np.clip(effort * factor[status], 0.001, 0.004)
