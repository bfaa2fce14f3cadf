"""Glassy problems: how they are told from others, and the annealing of the inertia."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core_random import CoreRandom
from kempe import Constraints, KempeKMeans, _core
from kempe.engine import MemeticParams
from kempe.engine.glass import BLOCKED, annealed, blocked_share, is_glassy
from kempe.problem import Problem
from kempe.search.result import Solution
from kempe.soft_pairs import SoftPairs
from random_problems import context_of, neighbours, random_problem

SCHEDULE = {"hot": 2.0, "cold": 0.5, "cheap": 1.0, "expensive": 3.0}


def anneal(problem, colours, sweeps, seed=0):
    return _core.anneal_inertia(
        problem.core,
        colours,
        problem.n_clusters,
        sweeps,
        *SCHEDULE.values(),
        seed,
        _core.Stopper(1e9),
    )


class Twin:
    """The same annealing, which measures and counts everything anew for every move."""

    def __init__(self, problem, colours, seed):
        self.problem, self.colours, self.random = problem, colours.copy(), CoreRandom(seed)
        self.points = problem.points(np.arange(problem.n_supernodes))
        self.neighbours = neighbours(problem)
        self.soft = [] if problem.soft is None else soft_ends(problem)
        self.unit = self.costs().mean()
        self.lowest, self.best = np.inf, None

    def costs(self):
        means, _ = self.problem.means(self.colours)
        square = ((self.points[:, None] - means) ** 2).sum(axis=2)
        costs = self.problem.weight[:, None] * square
        return costs - costs.min(axis=1, keepdims=True)

    def conflicts(self, v, colour):
        return sum(self.colours[u] == colour for u in self.neighbours[v])

    def pull(self, v, colour):
        return sum(price for a, b, price in self.soft if a == v and self.colours[b] == colour)

    def sweep(self, temperature, price):
        costs = self.costs() / self.unit
        for _ in self.colours:
            v = self.random.below(self.colours.size)
            to = self.random.below(self.problem.n_clusters - 1)
            to += to >= self.colours[v]
            energy = costs[v, to] - costs[v, self.colours[v]]
            energy -= (self.pull(v, to) - self.pull(v, self.colours[v])) / self.unit
            energy += price * (self.conflicts(v, to) - self.conflicts(v, self.colours[v]))
            if energy <= 0 or self.random.uniform() < np.exp(-energy / temperature):
                self.colours[v] = to
        value = solution(self.problem, self.colours).objective
        if self.problem.graph.is_proper(self.colours) and value < self.lowest:
            self.lowest, self.best = value, self.colours.copy()

    def run(self, sweeps, hot, cold, cheap, expensive):
        for i in range(sweeps):
            share = i / max(1, sweeps - 1)
            self.sweep(hot * (cold / hot) ** share, cheap * (expensive / cheap) ** share)

    def outcome(self):
        return self.colours if self.best is None else self.best


def soft_ends(problem):
    """Each soft pair twice, from either end, with its price."""
    once = list(zip(problem.soft.first, problem.soft.second, problem.prices, strict=True))
    return [*once, *((b, a, price) for a, b, price in once)]


def with_soft(problem, seed, n_pairs=25):
    """The same with soft pairs at random prices, of which some contradict the hard ones."""
    rng = np.random.default_rng([seed, 7])
    pairs = rng.integers(problem.n_rows, size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together, unsaid = rng.random(len(pairs)) < 0.5, np.full(len(pairs), np.nan)
    soft = SoftPairs.build(problem.supernode, problem.graph.core, pairs, together, unsaid)
    prices = soft.votes * rng.uniform(0.1, 3.0, size=soft.votes.size)
    return replace(problem, soft=soft).priced(prices)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("density", [0.05, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_annealing_the_objective_makes_the_moves_of_its_twin(seed, density, dtype, soft):
    problem, colours = random_problem(seed, n=20, k=4, density=density, dtype=dtype)
    problem = with_soft(problem, seed) if soft else problem
    twin = Twin(problem, colours, seed)
    twin.run(20, **SCHEDULE)
    # The end, in which the last conflicts vanish, is a tenth as long.
    cold, expensive = SCHEDULE["cold"], SCHEDULE["expensive"]
    twin.run(2, cold, cold / 10, expensive, 10 * expensive)
    np.testing.assert_array_equal(anneal(problem, colours, 20, seed), twin.outcome())


def glassy(seed, n=120, k=3, n_pairs=500):
    """Data without structure; pairs that only hidden labels satisfy keep everything where it is."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(k, size=n)
    pairs = rng.integers(n, size=(n_pairs, 2))
    pairs = pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]]
    return Problem.build(rng.normal(size=(n, 4)), Constraints(cannot_link=pairs), n_clusters=k)


def test_annealed_colourings_are_proper_from_whatever_start():
    problem = glassy(0, n_pairs=250)
    otherwise = _core.dsatur(problem.graph.core, problem.n_clusters)[0]
    for seed in range(3):
        assert problem.is_proper(annealed(context_of(problem, seed), otherwise))


def solution(problem, colours):
    return Solution.of(problem, colours)


def test_the_share_of_the_blocked_counts_whoever_is_nearer_to_another_centroid():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [0.15]])
    problem = Problem.build(X, Constraints(cannot_link=[(0, 5), (3, 5)]), n_clusters=2)
    # Of rows 0, 3 and 5, which have pairs, the last would rather be with the first.
    assert blocked_share(problem, np.array([0, 0, 0, 1, 1, 1], np.int32)) == pytest.approx(1 / 3)
    free = Problem.build(X, n_clusters=2)
    assert blocked_share(free, np.array([0, 0, 0, 1, 1, 1], np.int32)) == 0.0


def test_whoever_soft_pairs_hold_is_not_blocked():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [0.15]])
    hard = Constraints(cannot_link=[(0, 5), (3, 5)])
    soft = Constraints(soft_must_link=[(4, 5)])
    problem = Problem.build(X, hard | soft, n_clusters=2)
    colours = np.array([0, 0, 0, 1, 1, 1], np.int32)
    shares = [blocked_share(problem.priced(np.array([price])), colours) for price in (1.0, 1e3)]
    assert shares == [pytest.approx(1 / 3), 0.0]


def test_only_blocked_clusterings_that_differ_are_glassy():
    problem = glassy(1, n_pairs=300)
    first, stuck = _core.dsatur(problem.graph.core, 3)
    assert stuck < 0
    search = _core.SequentialSearch(problem.core, 3)
    low = solution(problem, search.descend(first, _core.Stopper(1e9)))
    high = solution(problem, first)
    assert high.inertia > 1.01 * low.inertia
    assert is_glassy(problem, [low, high]) == (blocked_share(problem, low.colours) > BLOCKED)
    assert not is_glassy(problem, [low, low])
    assert not is_glassy(problem, [low])
    free = Problem.build(problem.rows, n_clusters=3)
    assert not is_glassy(free, [low, high])


def test_a_glassy_problem_is_annealed_unless_that_is_switched_off():
    """The cannot-link pairs of planted classes leave little room without being tight."""
    lower = 0
    for seed in range(6):
        problem = glassy(seed, n=150, k=4, n_pairs=700)
        if problem.graph.is_tight(4):
            continue
        model, plain = (
            KempeKMeans(4, random_state=0, params=params).fit(
                problem.rows, constraints=problem.constraints
            )
            for params in (None, MemeticParams(annealing=False))
        )
        annealed_too = "anneal" in model.result_.statistics.kind
        assert "anneal" not in plain.result_.statistics.kind
        lower += annealed_too and model.inertia_ < plain.inertia_
    assert lower > 0


def test_annealing_does_not_depend_on_the_number_of_threads():
    problem = glassy(0, n=150, k=4, n_pairs=700)
    models = [
        KempeKMeans(4, random_state=3, n_jobs=n_jobs).fit(
            problem.rows, constraints=problem.constraints
        )
        for n_jobs in (1, 2)
    ]
    assert "anneal" in models[0].result_.statistics.kind
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
