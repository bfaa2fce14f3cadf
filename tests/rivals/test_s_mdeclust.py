"""S-MDEClust on cases worked by hand and against exhaustive search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe import NoSolutionFoundError
from kempe.problem import Problem
from kempe.rivals import BLPKMCC, S_MDEClust, s_mdeclust
from kempe.rivals.s_mdeclust import matched, spread
from random_problems import random_problem


def test_centroids_are_matched_to_their_nearest_counterparts():
    reference = np.array([[0.0], [10.0], [20.0]])
    np.testing.assert_array_equal(
        matched(np.array([[19.0], [1.0], [12.0]]), reference), [[1.0], [12.0], [19.0]]
    )


def test_spread_is_the_sum_over_all_pairs():
    values = [3.0, 1.0, 7.5, 1.0]
    expected = sum(abs(a - b) for a, b in itertools.combinations(values, 2))
    assert spread(values) == pytest.approx(expected)
    assert spread([2.0, 2.0]) == 0.0


@pytest.mark.parametrize("assignment", ["exact", "greedy"])
@pytest.mark.parametrize("seed", range(6))
def test_small_problems_are_solved_to_optimality_with_mutation(
    planted, brute_force_optimum, violations, assignment, seed
):
    case = planted(seed, n_rows=8, n_pairs=6)
    options = {"max_generations": 30, "random_state": seed}
    optimum, _ = brute_force_optimum(case.X, case.constraints, 3)
    mutated, plain = (
        S_MDEClust(3, assignment=assignment, mutation=mutation, **options).fit(
            case.X, constraints=case.constraints
        )
        for mutation in (True, False)
    )
    assert violations(mutated.labels_, case.constraints) == []
    assert violations(plain.labels_, case.constraints) == []
    assert mutated.inertia_ == pytest.approx(optimum)
    # Without mutation all members may agree on a local optimum.
    assert plain.inertia_ >= optimum * (1 - 1e-9)


def test_the_search_ends_when_all_members_agree():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = S_MDEClust(2, population_size=5, random_state=0).fit(X)
    assert model.result_.stop_reason == "converged"
    assert model.inertia_ == pytest.approx(0.01)


@pytest.mark.parametrize("assignment", ["exact", "greedy"])
def test_evolution_is_never_worse_than_its_best_member(planted, violations, assignment):
    case = planted(5, n_rows=80, n_clusters=5)
    model = S_MDEClust(
        5, population_size=6, assignment=assignment, max_generations=3, random_state=1
    ).fit(case.X, constraints=case.constraints)
    history = model.result_.statistics
    members = [v for v, kind in zip(history.inertia, history.kind, strict=True) if kind == "member"]
    assert len(members) == 6
    assert model.inertia_ <= min(members)
    assert violations(model.labels_, case.constraints) == []


def test_a_given_start_is_the_first_member(planted):
    case = planted(3)
    start = case.X[:3]
    descent = BLPKMCC(3, init=start).fit(case.X, constraints=case.constraints)
    model = S_MDEClust(3, init=start, population_size=4, max_generations=0)
    model.fit(case.X, constraints=case.constraints)
    assert model.result_.statistics.inertia[0] == pytest.approx(descent.inertia_)


def test_patience_counts_offspring_without_a_new_best(planted):
    case = planted(6, n_rows=80, n_clusters=6)
    model = S_MDEClust(6, population_size=4, patience=3, population_tol=0.0, random_state=0)
    model.fit(case.X, constraints=case.constraints)
    assert model.result_.stop_reason == "patience"
    # Generations are not broken off.
    assert model.result_.statistics.kind.count("offspring") % 4 == 0


def test_offspring_of_parents_matched_to_the_third(monkeypatch, planted):
    case = planted(2)
    model = S_MDEClust(3, population_size=4, max_generations=1, random_state=0, scale=0.5)
    made = []

    def watched(self, members, position):
        child = original(self, members, position)
        made.append((child, [m.centroids for i, m in enumerate(members) if i != position]))
        return child

    original = s_mdeclust._Evolution._offspring
    monkeypatch.setattr(s_mdeclust._Evolution, "_offspring", watched)
    model.fit(case.X, constraints=case.constraints)
    for child, parents in made:
        possible = [
            matched(first, third) + 0.5 * (matched(second, third) - third)
            for first, second, third in itertools.permutations(parents, 3)
        ]
        assert any(np.allclose(child, one) for one in possible)


def test_a_mutation_draws_rows_half_uniformly_and_half_by_plain_distance():
    problem = Problem.build(np.array([[0.0], [0.0], [3.0], [9.0]]), n_clusters=2)
    evolution = s_mdeclust._Evolution(
        problem, None, np.random.default_rng(0), None, True, (0.5, 0.8), True, 1e-6, 1e-4
    )
    centroids = np.array([[0.0], [9.0]]) - problem.shift
    colours = np.zeros(problem.n_supernodes, dtype=np.int32)
    expected = 0.5 / 4 + 0.5 * np.array([0.0, 0.0, 3.0, 9.0]) / 12
    np.testing.assert_allclose(evolution._chances(colours, centroids), expected)
    np.testing.assert_allclose(evolution._chances(None, centroids), 1 / 4)


def test_the_same_seed_gives_the_same_labels(planted):
    case = planted(7)
    model = S_MDEClust(3, population_size=4, max_generations=3, mutation=True, random_state=2)
    first = model.fit(case.X, constraints=case.constraints).labels_
    again = model.fit(case.X, constraints=case.constraints).labels_
    np.testing.assert_array_equal(first, again)


def test_a_run_out_of_time_returns_a_feasible_clustering(planted, violations):
    case = planted(0, n_rows=300, n_pairs=600, n_clusters=5)
    model = S_MDEClust(5, time_limit=1e-6, random_state=0)
    model.fit(case.X, constraints=case.constraints)
    assert model.result_.stop_reason == "time_limit"
    assert violations(model.labels_, case.constraints) == []


def test_a_run_out_of_time_says_if_it_has_found_none():
    problem, _ = random_problem(4, n=60, k=3, density=0.12, merged=0)
    model = S_MDEClust(3, time_limit=1e-6, random_state=0)
    with pytest.raises(NoSolutionFoundError, match="stopped before it had an assignment"):
        model.fit(problem.rows, constraints=problem.constraints)
