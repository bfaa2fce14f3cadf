from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from kempe.kskm import mwis
from kempe.kskm.assignment import SimultaneousDescent
from kempe.kskm.kskm import Schedule, iterate
from kempe.kskm.shift import RELOCATIONS, Relocation, Relocator
from kempe.problem import Problem
from kempe.search.callbacks import Callbacks
from kempe.search.descent import Descent
from kempe.search.recorder import Recorder
from kempe.search.stop import MaxMutations, Patience, TimeLimit
from random_problems import best_inertia, context_of, random_problem


def search(problem, colours, *rules, seed=0, descent=None, callbacks=(), kind="replace", **options):
    with Recorder(problem, rules or (MaxMutations(30),), callbacks) as recorder:
        return recorder.follow(
            lambda: iterate(
                recorder.context(np.random.default_rng(seed)),
                colours,
                descent or SimultaneousDescent(),
                recorder,
                Schedule(**options),
                Relocator(problem, Relocation(kind)),
            )
        )


@pytest.mark.parametrize("seed", range(6))
def test_tiny_problems_are_solved_to_the_optimum_and_never_beyond(seed):
    problem, colours = random_problem(seed, n=9, k=3, merged=1, density=0.3)
    optimum = best_inertia(problem)
    result = search(problem, colours, MaxMutations(100))
    # Full clusters are asked for, and on points in general position the optimum has them.
    assert result.inertia == pytest.approx(optimum)


@pytest.mark.parametrize("method", mwis.METHODS)
@pytest.mark.parametrize("kind", RELOCATIONS)
def test_every_combination_returns_a_proper_full_clustering(method, kind):
    problem, colours = random_problem(1, n=50, k=5, density=0.2, weighted=True)
    result = search(
        problem,
        colours,
        MaxMutations(10),
        descent=SimultaneousDescent(method, three_colour=True),
        kind=kind,
    )
    assert problem.is_proper(result.solution.colours)
    assert np.unique(result.solution.colours).size == 5
    assert result.inertia == pytest.approx(problem.inertia(result.solution.colours))
    assert result.inertia == min(result.statistics.inertia)
    assert (np.diff(result.statistics.best_inertia) <= 0).all()


def test_four_of_five_mutations_perturb():
    result = search(*random_problem(0), MaxMutations(10))
    expected = ["start", *(["perturb"] * 4 + ["relocate"]) * 2]
    assert result.statistics.kind == expected
    assert result.n_mutations == 10
    assert result.stop_reason == "max_mutations"


@pytest.mark.parametrize(("share", "kind"), [(0.0, "relocate"), (1.0, "perturb")])
def test_the_schedule_can_be_one_sided(share, kind):
    result = search(*random_problem(0), MaxMutations(5), perturbation=share)
    assert result.statistics.kind == ["start"] + [kind] * 5


def test_a_round_of_mutations_may_begin_with_its_relocation():
    options = {"perturbation": 2 / 3, "relocate_first": True}
    result = search(*random_problem(0), MaxMutations(7), **options)
    expected = ["start", *["relocate", "perturb", "perturb"] * 2, "relocate"]
    assert result.statistics.kind == expected


def test_zero_mutations_are_one_descent():
    problem, colours = random_problem(0)
    result = search(problem, colours, MaxMutations(0))
    expected = SimultaneousDescent().descend(context_of(problem), colours)
    np.testing.assert_array_equal(result.solution.colours, expected)
    assert result.n_mutations == 0


def test_a_seed_makes_a_run_reproducible():
    problem, colours = random_problem(0, n=80, k=6)
    first, second, other = (search(problem, colours, seed=s).statistics for s in (1, 1, 2))
    assert first.inertia == second.inertia
    assert first.inertia != other.inertia


@dataclass
class SpyingDescent(Descent):
    """Without a single step, and remembers where it was asked to settle from."""

    inner: SimultaneousDescent = field(default_factory=SimultaneousDescent)
    settled_from: list = field(default_factory=list)

    def settle(self, context, colours, centroids):
        self.settled_from.append(context.problem.inertia(colours))
        return self.inner.settle(context, colours, centroids)

    def descend(self, context, colours):
        return self.inner.descend(context, colours)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("failures", [1, 3])
def test_the_search_returns_to_the_best_after_several_failures(failures, keep):
    problem, colours = random_problem(3, n=80, k=6)
    descent = SpyingDescent()
    options = {"failures_before_return": failures, "keep_returning": keep}
    result = search(problem, colours, descent=descent, **options)
    history, best = result.statistics.inertia, result.statistics.best_inertia
    failed = seen = 0
    for i in range(1, len(history) - 1):
        failed = 0 if history[i] < best[i - 1] else failed + 1
        back = failed >= failures
        assert descent.settled_from[i] == (best[i] if back else history[i])
        failed = 0 if back and not keep else failed
        seen += back and best[i] != history[i]
    assert seen > 2


class InterruptAt(Callbacks):
    def __init__(self, iteration):
        self.iteration = iteration

    def on_iteration(self, state):
        if state.iteration == self.iteration:
            raise KeyboardInterrupt


def test_ctrl_c_returns_the_best_so_far():
    problem, colours = random_problem(0)
    result = search(problem, colours, MaxMutations(1000), callbacks=[InterruptAt(7)])
    assert result.stop_reason == "interrupted"
    assert result.n_mutations == 7
    assert result.inertia == min(result.statistics.inertia)


class InterruptedDescent(SpyingDescent):
    def descend(self, context, colours):
        raise KeyboardInterrupt


def test_ctrl_c_before_there_is_a_solution_is_the_users():
    problem, colours = random_problem(0)
    with pytest.raises(KeyboardInterrupt):
        search(problem, colours, descent=InterruptedDescent())


@pytest.mark.timing
def test_a_time_limit_ends_the_search():
    problem, colours = random_problem(0)
    result = search(problem, colours, TimeLimit(0.05))
    assert result.stop_reason == "time_limit"
    assert result.runtime < 2


def test_patience_ends_the_search():
    problem, colours = random_problem(0)
    result = search(problem, colours, Patience(4))
    assert result.stop_reason == "patience"
    best = result.statistics.best_inertia
    assert best[-1] == best[-5]


def test_duplicate_points_still_give_full_clusters():
    problem = Problem.build(np.ones((6, 2)), n_clusters=4)
    result = search(problem, np.zeros(6, dtype=np.int32), MaxMutations(5))
    assert np.unique(result.solution.colours).size == 4
    assert result.inertia == 0


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match="perturbation"):
        Schedule(perturbation=-0.1)
    with pytest.raises(ValueError, match="failures_before_return"):
        Schedule(failures_before_return=0)
