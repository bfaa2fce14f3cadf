from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from kempe import Constraints, KempeKMeans, _core
from kempe.engine import MemeticParams, SequentialDescent, memetic_search
from kempe.engine.memetic import Agreement
from kempe.engine.sequential import BATCH
from kempe.engine.start import Starts
from kempe.kskm import ExactDescent, SimultaneousDescent
from kempe.problem import Problem
from kempe.search.callbacks import Callbacks
from kempe.search.descent import Context
from kempe.search.first_colouring import starting_solution
from kempe.search.recorder import Recorder
from kempe.search.result import Solution
from kempe.search.seeding import starting_centroids
from kempe.search.stop import MaxMutations, Patience, TargetInertia, TimeLimit
from random_problems import best_inertia, large_problem, random_problem

DESCENTS = {
    "sequential": SequentialDescent,
    "simultaneous": SimultaneousDescent,
    "exact": lambda: ExactDescent(SequentialDescent()),
}


def search(problem, *rules, seed=0, descent=None, n_jobs=1, callbacks=(), **params):
    rules = rules or (MaxMutations(200),)
    params = MemeticParams(**{"saturation_rounds": 0, **params})
    plan = params.plan(problem)
    with Recorder(problem, rules, callbacks) as recorder:
        return memetic_search(
            problem,
            recorder,
            np.random.default_rng(seed),
            plan=plan if descent is None else replace(plan, descent=descent),
            n_jobs=n_jobs,
        )


@dataclass
class Log(Callbacks):
    calls: list = field(default_factory=list)

    def on_start(self, problem):
        self.calls.append("start")

    def on_iteration(self, state):
        self.calls.append(state)

    def on_end(self, result):
        self.calls.append("end")


def assert_sound(problem, result):
    """What is returned is a proper full clustering, and the history tells how it was found."""
    colours = result.solution.colours
    assert problem.is_proper(colours)
    assert np.unique(colours).size == problem.n_clusters
    assert result.inertia == pytest.approx(problem.inertia(colours), rel=1e-12)
    assert result.inertia == min(result.statistics.inertia)
    assert (np.diff(result.statistics.best_inertia) <= 0).all()
    assert (np.diff(result.statistics.iteration) > 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_tiny_problems_are_solved_to_the_optimum_and_never_beyond(seed):
    problem, _ = random_problem(seed, n=9, k=3, merged=1, density=0.3)
    result = search(problem, MaxMutations(150), seed=seed)
    assert result.inertia == pytest.approx(best_inertia(problem))


@pytest.mark.parametrize("descent", DESCENTS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_descent_returns_a_proper_full_clustering(descent, n_jobs):
    problem, _ = random_problem(1, n=40, k=4, density=0.15, weighted=True)
    result = search(problem, MaxMutations(40), descent=DESCENTS[descent](), n_jobs=n_jobs)
    assert_sound(problem, result)
    assert result.stop_reason == "max_mutations"


def test_recombination_takes_part_once_the_population_is_full():
    problem, _ = random_problem(2, n=60, k=5)
    settings = {"population_size": 3, "extra_relocations": 2, "agreement": 0, "annealing": False}
    result = search(problem, MaxMutations(3000), **settings)
    assert_sound(problem, result)
    kinds = result.statistics.kind
    assert kinds[0] == "start"
    assert kinds.count("start") >= 3
    assert set(kinds) == {"start", "relocate", "recombine"}


@pytest.mark.parametrize(
    ("descent", "generation"),
    [("sequential", 1), ("sequential", 2), ("sequential", 3), ("simultaneous", 2), ("exact", 2)],
)
def test_a_seed_gives_one_result_whatever_the_number_of_threads(descent, generation):
    problem, _ = random_problem(3, n=30 if descent == "exact" else 60, k=6, density=0.1)
    mutations = {"sequential": 600, "simultaneous": 40, "exact": 10}[descent]
    results = [
        search(
            problem,
            MaxMutations(mutations),
            seed=5,
            n_jobs=n_jobs,
            descent=DESCENTS[descent](),
            generation_size=generation,
            population_size=3,
            extra_relocations=3,
            relocations_per_cluster=0,
        )
        for n_jobs in (1, 1, 2, 4)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].solution.colours, other.solution.colours)
        assert results[0].n_mutations == other.n_mutations
        assert results[0].statistics.inertia == other.statistics.inertia


def test_another_seed_goes_another_way():
    problem, _ = random_problem(3, n=60, k=6)
    histories = [search(problem, seed=seed).statistics.inertia for seed in range(2)]
    assert histories[0] != histories[1]


def test_zero_mutations_are_one_descent():
    problem, _ = random_problem(0)
    result = search(problem, MaxMutations(0))
    context = Context(problem, np.random.default_rng(0).spawn(2)[0], _core.Stopper())
    centroids = starting_centroids(problem, "k-means++", context.rng)
    start = starting_solution(context, centroids, SequentialDescent())
    expected = SequentialDescent().descend(context, start)
    np.testing.assert_array_equal(result.solution.colours, expected)
    assert result.n_mutations == 0
    assert result.statistics.kind == ["start"]


def test_threads_make_no_clustering_that_nobody_asked_for(monkeypatch):
    """One descent is one descent, however many threads there are."""
    made = []
    make = Starts.make
    monkeypatch.setattr(
        Starts,
        "make",
        lambda self, context, number: made.append(number) or make(self, context, number),
    )
    problem, _ = random_problem(0)
    for n_jobs in (1, 2, 4):
        made.clear()
        search(problem, MaxMutations(0), n_jobs=n_jobs, generation_size=4)
        assert made == [0]
        made.clear()
        search(problem, MaxMutations(2), n_jobs=n_jobs, generation_size=4)
        assert len(made) <= 3


def test_clusterings_that_agree_are_counted_until_a_lower_one_comes():
    def found(*inertia):
        return [Solution(np.zeros(1, np.int32), each, each) for each in inertia]

    agreement = Agreement(needed=3)
    assert not agreement.reached_by(found(5.0, 5.0 * (1 + 1e-12)))
    assert not agreement.reached_by(found(7.0, 4.0)), "those above no longer count"
    assert not agreement.reached_by(found(4.0))
    assert agreement.reached_by(found(9.0, 4.0))
    never = Agreement(needed=0)
    assert not any(never.reached_by(found(1.0)) for _ in range(50))


def test_an_easy_search_ends_when_enough_clusterings_agree():
    X = np.repeat(100.0 * np.arange(4), 10)[:, None] + np.tile(np.arange(10.0), 4)[:, None]
    model = KempeKMeans(4, random_state=0).fit(X)
    kinds = model.result_.statistics.kind
    assert model.result_.stop_reason == "converged"
    assert kinds.count("start") + kinds.count("recombine") == MemeticParams().agreement
    longer = KempeKMeans(4, random_state=0, max_mutations=1000).fit(X)
    assert longer.result_.stop_reason == "max_mutations"


@pytest.mark.parametrize("mutations", [1, 10, 100, 333])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_number_of_mutations_is_kept_exactly(mutations, n_jobs):
    problem, _ = random_problem(0)
    result = search(problem, MaxMutations(mutations), n_jobs=n_jobs, agreement=0)
    assert result.n_mutations == mutations
    assert result.stop_reason == "max_mutations"


def test_a_target_ends_the_search_as_soon_as_it_is_met():
    problem, _ = random_problem(4, n=80, k=6)
    best = search(problem, MaxMutations(2000)).inertia
    result = search(problem, MaxMutations(2000), TargetInertia(best))
    assert result.inertia == pytest.approx(best)
    assert result.stop_reason == "target_inertia"
    easy = search(problem, MaxMutations(2000), TargetInertia(1e9))
    assert easy.n_mutations == 0


def test_patience_ends_the_search():
    problem, _ = random_problem(4)
    result = search(problem, Patience(150))
    assert result.stop_reason == "patience"
    statistics = result.statistics
    last = statistics.iteration[statistics.inertia.index(result.inertia)]
    assert 150 <= result.n_mutations - last < 150 + BATCH


def test_a_rule_of_the_user_ends_the_search():
    problem, _ = random_problem(4)
    result = search(problem, lambda state: state.kind == "relocate")
    assert result.stop_reason == "user_rule"
    assert result.statistics.kind == ["start", "relocate"]


def test_callbacks_see_every_step_in_order():
    problem, _ = random_problem(4)
    log = Log()
    result = search(problem, callbacks=[log], n_jobs=2)
    assert log.calls[0] == "start"
    assert log.calls[-1] == "end"
    states = log.calls[1:-1]
    assert [state.inertia for state in states] == result.statistics.inertia
    assert [state.iteration for state in states] == result.statistics.iteration


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_callback_raises_reaches_the_caller(n_jobs):
    class Failing(Callbacks):
        def on_iteration(self, state):
            raise LookupError("the user's own")

    problem, _ = random_problem(4)
    with pytest.raises(LookupError, match="the user's own"):
        search(problem, callbacks=[Failing()], n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population_size": 1}, "population_size must be at least 2, got 1"),
        ({"generation_size": 0}, "generation_size must be at least 1, got 0"),
    ],
)
def test_settings_without_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        MemeticParams(**settings)


def test_effort_grows_with_the_number_of_clusters():
    params = MemeticParams()
    assert params.most_failures(40) > params.most_failures(4) > 0
    assert params.max_mutations(40) > params.max_mutations(4) > 0


def test_one_cluster_and_as_many_clusters_as_points():
    for k, n in ((1, 20), (6, 6)):
        problem, _ = random_problem(0, n=n, k=k, merged=0, density=0.0)
        assert_sound(problem, search(problem, MaxMutations(100)))


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("seconds", [0.3, 2.0])
def test_the_time_limit_is_kept_on_a_large_problem(seconds, n_jobs):
    problem, _ = random_problem(0, n=6000, k=40, d=8, density=0.003, merged=500)
    overshoot = []
    for _ in range(3):  # a busy machine may delay one run, hardly all
        began = time.perf_counter()
        result = search(problem, TimeLimit(seconds), n_jobs=n_jobs)
        overshoot.append(time.perf_counter() - began - seconds)
        assert result.stop_reason == "time_limit"
        assert_sound(problem, result)
    assert min(overshoot) < max(0.2, 0.02 * seconds)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_time_at_all_still_gives_a_clustering(n_jobs):
    problem, _ = random_problem(0, n=200, k=6, density=0.05)
    result = search(problem, TimeLimit(1e-9), n_jobs=n_jobs)
    assert_sound(problem, result)
    assert result.stop_reason == "time_limit"


@pytest.mark.timing
def test_threads_that_are_not_needed_any_more_do_not_keep_the_search_waiting():
    problem, _ = large_problem(0, n=6000, k=40, d=8, n_pairs=36_000)
    cpu = time.process_time()
    search(problem, MaxMutations(0), n_jobs=2, extra_relocations=10**6)
    assert time.process_time() - cpu < 2


LONG_FIT = """
import os, signal, sys, threading, time
import numpy as np
import kempe
from kempe.search import Callbacks

class InterruptSoon(Callbacks):
    def on_iteration(self, state):
        if state.iteration == 0:
            threading.Timer(0.5, self.interrupt).start()

    def interrupt(self):
        self.sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

X = np.random.default_rng(0).normal(size=(3000, 4))
callback = InterruptSoon()
options = {"n_jobs": int(sys.argv[2])} if sys.argv[1] == "KempeKMeans" else {}
model = getattr(kempe, sys.argv[1])(
    20, max_mutations=10**8, random_state=0, callbacks=callback, **options
)
model.fit(X, cannot_link=[(0, 1)])
waited = time.process_time() - callback.sent
assert model.labels_[0] != model.labels_[1]
print(model.result_.stop_reason, np.unique(model.labels_).size, waited)
"""


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.skipif(os.name == "nt", reason="signals work differently")
@pytest.mark.parametrize(
    ("estimator", "n_jobs"), [("KempeKMeans", 1), ("KempeKMeans", 2), ("KSKM", 1)]
)
def test_ctrl_c_ends_a_fit_soon_with_the_best_so_far(estimator, n_jobs):
    command = [sys.executable, "-c", LONG_FIT, estimator, str(n_jobs)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    reason, n_clusters, waited = done.stdout.split()
    assert (reason, n_clusters) == ("interrupted", "20")
    assert float(waited) < 0.5  # of processor time, so that a busy machine does not matter


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_in_python_code_ends_the_search_with_the_best_so_far(n_jobs):
    class Impatient(Callbacks):
        def on_iteration(self, state):
            if state.iteration >= 100:
                raise KeyboardInterrupt

    problem, _ = random_problem(4)
    result = search(problem, MaxMutations(10**8), callbacks=[Impatient()], n_jobs=n_jobs)
    assert result.stop_reason == "interrupted"
    assert_sound(problem, result)


def test_an_interrupt_before_the_first_solution_is_the_users():
    class Hasty(Callbacks):
        def on_start(self, problem):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        KempeKMeans(2, callbacks=Hasty()).fit(np.arange(10.0)[:, None])


def test_without_relocations_it_ends_when_all_starts_agree():
    points = np.array([[0.0], [0.1], [9.0], [9.1]])
    problem = Problem.build(points, Constraints(cannot_link=[(0, 2)]), n_clusters=2)
    result = search(
        problem,
        MaxMutations(200),
        TimeLimit(600),
        population_size=4,
        relocations_per_cluster=0.0,
        extra_relocations=0,
        enumerate_up_to=0,
    )
    assert result.stop_reason == "converged"
    assert result.n_mutations < 20
