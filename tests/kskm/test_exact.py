"""The refinement of KSKM_E."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from assignments import cost_of, planted
from kempe import Constraints, _core
from kempe.exact import ExactAssigner
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.kskm import ExactDescent, SimultaneousDescent
from kempe.kskm.exact import _rounds_lower, exact_start
from kempe.problem import Problem
from kempe.search.descent import Descent
from random_problems import context_of


class ChainDescent(Descent):
    """Kempe chains to fixed centroids, alternated with the means."""

    def settle(self, context, colours, centroids):
        graph, costs = context.problem.graph, context.problem.costs(centroids)
        return _core.chain_descent(graph.core, costs, colours, context.stopper)

    def descend(self, context, colours):
        problem = context.problem
        while True:
            better = self.settle(context, colours, problem.means(colours)[0])
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
    context = context_of(problem)
    kempe = ChainDescent().descend(context, start)
    refined = ExactDescent(ChainDescent(), mode=mode).descend(context, start)
    assert problem.is_proper(refined)
    assert problem.inertia(refined) < problem.inertia(kempe)
    # Nothing is left to gain at its own means.
    costs = problem.costs(problem.means(refined)[0])
    best = ExactAssigner(problem.graph).solve(costs).objective
    assert best >= cost_of(costs, refined) * (1 - 1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_as_in_the_program_a_descent_ends_unless_its_cost_rounds_lower(tight_problem, scale):
    """Whole numbers hide every improvement of small costs, and none of large ones."""
    small, start = tight_problem
    X = scale * (small.rows + small.shift)
    problem = Problem.build(X, small.constraints, n_clusters=3)
    context = context_of(problem)
    swapped = ChainDescent().descend(context, start)
    first = ExactAssigner(problem.graph).solve(
        problem.costs(problem.means(swapped)[0]), incumbent=swapped, mode="first"
    )
    descent = ExactDescent(ChainDescent(), effort=math.inf, annealing=False, as_program=True)
    end = descent.descend(context, start)
    assert problem.is_proper(end)
    goes_on = problem.inertia(end) < problem.inertia(first.colours) * (1 - 1e-9)
    assert goes_on == (scale > 1)
    # Costs below 0 round to 0, never below themselves; large ones keep their order.
    assert _rounds_lower(problem, swapped, first.colours) == (scale > 1)


def test_as_in_the_program_swaps_settle_before_centroids_move(tight_problem):
    problem, start = tight_problem
    asked = []

    class Watched(ChainDescent):
        def settle(self, context, colours, centroids):
            asked.append(np.array_equal(centroids, problem.means(colours)[0]))
            return super().settle(context, colours, centroids)

        def descend(self, context, colours):
            raise AssertionError("descended step by step")

    ExactDescent(Watched(), as_program=True).descend(context_of(problem), start)
    assert len(asked) > 1
    assert all(asked)


def test_the_exact_step_is_not_repeated_on_a_partition_already_explored(tight_problem, monkeypatch):
    problem, start = tight_problem
    context = context_of(problem)
    descent = ExactDescent(ChainDescent())
    end = descent.descend(context, start)
    calls = []
    monkeypatch.setattr(ExactAssigner, "solve", lambda *a, **k: calls.append(1))
    renamed = np.array([2, 0, 1], dtype=np.int32)[end]
    descent.descend(context, renamed)
    assert not calls


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
    context = context_of(problem)
    for _ in range(6):
        centroids = rng.normal(size=(4, 2))
        descent.descend(context, descent.settle(context, start, centroids))
    assert spent[0][0] == 0.004
    assert "unchanged" in [status for _, status in spent]
    factor = {"unchanged": 0.5, "improved": 2.0, "optimal": 1.0}
    for (effort, status), (following, _) in itertools.pairwise(spent):
        assert following == np.clip(effort * factor[status], 0.001, 0.004)


def test_after_a_perturbation_there_is_one_step_of_swaps(tight_problem):
    problem, start = tight_problem
    context = context_of(problem)
    inner = SimultaneousDescent()
    centroids = problem.means(start)[0][[1, 2, 0]]
    stepped = ExactDescent(inner).step(context, start, centroids)
    np.testing.assert_array_equal(stepped, inner.step(context, start, centroids))


def test_no_annealing_leaves_what_swaps_settle_on(tight_problem):
    problem, start = tight_problem
    assert problem.graph.is_tight(3)
    lower = []
    for seed in range(8):
        context = context_of(problem, seed)
        centroids = np.random.default_rng(seed).normal(size=(3, 2))
        costs = problem.costs(centroids)
        swapped = ChainDescent().settle(context, start, centroids)
        plain, annealed = (
            ExactDescent(ChainDescent(), annealing=use).settle(context, start, centroids)
            for use in (False, True)
        )
        np.testing.assert_array_equal(plain, swapped)
        lower.append(cost_of(costs, annealed) < cost_of(costs, plain))
    assert any(lower)


@pytest.mark.parametrize("solver", ["auto", "highs", "cpsat"])
def test_the_solver_alone_finds_a_first_clustering(tight_problem, solver, monkeypatch):
    problem, _ = tight_problem
    monkeypatch.setattr(_core, "tabu_colouring", None)
    centroids = np.random.default_rng(1).normal(size=(3, 2))
    assert problem.is_proper(exact_start(context_of(problem), centroids, solver))


def test_the_solver_proves_that_there_is_no_first_clustering():
    pairs = np.array([*itertools.combinations(range(4), 2), (3, 4), (4, 5)])
    problem = Problem.build(np.eye(6), Constraints(cannot_link=pairs), n_clusters=3)
    with pytest.raises(InfeasibleConstraintsError, match="4 rows"):
        exact_start(context_of(problem), np.eye(6)[:3], "auto")


def test_a_solver_without_time_says_that_it_found_nothing(tight_problem):
    problem, _ = tight_problem
    stopper = _core.Stopper()
    stopper.stop()
    with pytest.raises(NoSolutionFoundError, match="may nevertheless exist"):
        exact_start(context_of(problem, stopper=stopper), np.zeros((3, 2)), "highs")
