"""What holds for every method on every problem, shown on random tiny ones.

``tiny_problems.py`` has the problems and the promises, ``fuzz.py`` tries far more of them. Here the
examples are always the same (``derandomize``): a test that fails says something about the change
that it tests, not about luck. Finding new examples is the fuzzer's business, and what it has found
is stored in ``regressions/``.
"""

from __future__ import annotations

import itertools
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kempe import methods
from tiny_problems import (
    VARIANTS,
    TinyProblem,
    check_promises,
    exact_inertia,
    feasible_labellings,
    fit,
    optimum,
    rounding,
    tiny_problems,
)

settings.register_profile(
    "same examples every time",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
few = settings(settings.get_profile("same examples every time"), max_examples=15)
some = settings(few, max_examples=40)

every_method = pytest.mark.parametrize("variant", VARIANTS)


def test_every_method_is_among_the_variants():
    assert {name for name, _ in VARIANTS.values()} == set(methods.names())


@every_method
@given(problem=tiny_problems())
@some
def test_labels_are_feasible_or_the_error_is_true(variant, problem):
    check_promises(variant, problem, fit(variant, problem), optimum(problem))


# Steps after which each method must have ended, whatever the problem.
MOST_STEPS = {
    "kempe": 200,
    "KSKM": 21,
    "KSKM_repo": 21,
    "KSKM_E": 6,
    "KSKM_E_repo": 6,
    "KSKM_text": 21,
    "KSKM_repo_text": 21,
    "KSKM_E_text": 6,
    "KSKM_E_repo_text": 6,
    "PCCC": 60,
    "PCCC_squared": 60,
    "PCKMeans": 300,
    "BLPKMCC": 100,
    "BLPKMCC_plain": 100,
    "IPC_KMeans": 100,
    "COPKM_P": 300,
    "COPKM": 300,
    "COPKM_P_text": 300,
    "COPKM_text": 300,
    "ICOPKM": 300,
    "CLCKM": 300,
    "S_MDEClust": 8,
}


@every_method
@given(problem=tiny_problems(12))
@few
def test_no_method_takes_more_steps_than_it_may(variant, problem):
    # ``fit`` ends by an error after some seconds, so a loop that does not count its steps shows.
    assert fit(variant, problem).n_iter <= MOST_STEPS[VARIANTS[variant][0]]


@every_method
@given(problem=tiny_problems(12), exponent=st.sampled_from([-60, -7, 1, 30]))
@few
def test_a_scale_of_a_power_of_two_changes_no_bit(variant, problem, exponent):
    assume(problem.dtype == "float64")
    scale = 2.0**exponent
    # The tolerance of S-MDEClust is an inertia that the user gives.
    own, scaled = ({}, {})
    if variant == "S_MDEClust":
        own, scaled = {"tol": 1e-4}, {"tol": 1e-4 * scale**2}
    before = fit(variant, problem, **own)
    larger = replace(problem, X=(problem.data * scale).tolist())
    after = fit(variant, larger, **scaled)
    assert after == replace(before, inertia=before.inertia * scale**2)


@every_method
@given(problem=tiny_problems(plain=True), shift=st.sampled_from([1.0, -250.0, 4096.0]))
@few
def test_a_translation_changes_nothing_but_rounding(variant, problem, shift):
    assume(problem.weights is None)
    assume(len({tuple(row) for row in problem.X}) == len(problem.X))  # no ties between equal points
    moved = replace(problem, X=(problem.data + shift).tolist())
    before, after = fit(variant, problem), fit(variant, moved)
    assert after.error == before.error
    assert after.labels == before.labels
    if not before.error:
        allowed = rounding(moved, before.inertia)
        assert after.inertia == pytest.approx(before.inertia, rel=1e-9, abs=allowed)


@every_method
@given(problem=tiny_problems())
@few
def test_the_same_seed_gives_the_same_result(variant, problem):
    assert fit(variant, problem) == fit(variant, problem)


@every_method
@given(problem=tiny_problems(), draws=st.data())
@few
def test_pairs_that_follow_from_others_change_nothing(variant, problem, draws):
    group = problem.group
    same = [(b, a) for a in range(len(group)) for b in range(a + 1) if group[a] == group[b]]
    linked = {frozenset((group[a], group[b])) for a, b in problem.cannot_link}
    assume(all(len(ends) == 2 for ends in linked))  # a contradiction is explained by its pairs
    apart = [
        (a, b)
        for a in range(len(group))
        for b in range(len(group))
        if frozenset((group[a], group[b])) in linked
    ]
    more = replace(
        problem,
        must_link=[*problem.must_link, draws.draw(st.sampled_from(same))],
        cannot_link=[*problem.cannot_link, *apart[:2], *apart[-1:]],
    )
    assert fit(variant, more) == fit(variant, problem)


# Methods whose result does not depend on the order of the rows, given the start: the optimum does
# not, and neither do assignments that are optimal. The others place rows one after the other, or
# break ties by the order; where no pair keeps rows apart, all but the searches do the same.
ORDERLESS = ["kempe", "BLPKMCC"]
ORDERLESS_WITHOUT_PAIRS = [*ORDERLESS, "COPKM", "CLCKM", "COPKM_P", "COPKM_text", "COPKM_P_text"]


@pytest.mark.parametrize("variant", ORDERLESS_WITHOUT_PAIRS)
@given(problem=tiny_problems(plain=True), draws=st.data())
@some
def test_permuting_rows_permutes_the_result(variant, problem, draws):
    if variant not in ORDERLESS:
        problem = replace(problem, cannot_link=())
    inertias = sorted(exact_inertia(problem, row) for row in feasible_labellings(problem))
    assume(all(a < b * (1 - 1e-6) for a, b in itertools.pairwise(inertias)))  # no tie
    order = draws.draw(st.permutations(range(len(problem.X))))
    place = np.argsort(order)
    start = problem.data[: problem.n_clusters] + 0.001
    moved = replace(
        problem,
        X=problem.data[list(order)].tolist(),
        must_link=[(int(place[a]), int(place[b])) for a, b in problem.must_link],
        cannot_link=[(int(place[a]), int(place[b])) for a, b in problem.cannot_link],
        weights=None if problem.weights is None else [problem.weights[i] for i in order],
    )
    before, after = fit(variant, problem, init=start), fit(variant, moved, init=start)
    assert after.error == before.error
    assert partition(after.labels) == partition([before.labels[i] for i in order if before.labels])


def partition(labels):
    """The clusters as sets of rows, whatever their numbers."""
    clusters = {}
    for row, label in enumerate(labels):
        clusters.setdefault(label, set()).add(row)
    return {frozenset(rows) for rows in clusters.values()}


def crowd() -> list[TinyProblem]:
    """A few problems that no strategy draws, so that other processes have the same."""
    rng = np.random.default_rng(5)
    return [
        TinyProblem(
            rng.normal(size=(14, 2)).tolist(), 3, [(0, 5)], [(0, 1), (1, 2), (3, 8)], seed=seed
        )
        for seed in range(2)
    ]


def fit_all(problem: TinyProblem):
    return [fit(variant, problem) for variant in VARIANTS]


def test_threads_and_processes_get_the_same_results():
    alone = [fit_all(problem) for problem in crowd()]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(fit_all, crowd())) == alone
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert list(pool.map(fit_all, crowd())) == alone


@pytest.mark.parametrize("variant", ["kempe", "kempe, searching", "kempe, annealing"])
@given(problem=tiny_problems(12))
@few
def test_the_number_of_threads_changes_nothing(variant, problem):
    assert fit(variant, problem, n_jobs=2) == fit(variant, problem)
