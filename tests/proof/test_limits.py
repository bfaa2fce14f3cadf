"""Every phase of a proof asks the clock, and Ctrl-C ends each of them."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time

import numpy as np
import pytest

from kempe import Constraints, _core, certify
from kempe.problem import Problem
from kempe.proof import checking
from kempe.proof.facts import Facts
from kempe.proof.presolve import Merged, presolve, presolve_problem
from kempe.proof.slowdown import Slowdown

# They measure time, so nothing else may run.
pytestmark = pytest.mark.timing

# Seconds of the processor beyond the limit: one step, which is to begin and to check a part.
ROOM = 1.0
# Where data is so large that nothing can be proven in time, it is read and the labels are checked.
READING_ROOM = 0.5
# Rows, clusters, pairs, seconds, and features if they are not four.
SHAPES = {
    "short": (2000, 5, 1000, 0.01),
    "large": (8000, 5, 4000, 0.1),
    "by prices": (20_000, 5, 5000, 1.0),
    "by prices at once": (20_000, 5, 5000, 0.01),
    "in parts": (8000, 5, 4000, 1.0, 12),
    "in parts at once": (8000, 5, 4000, 0.01, 12),
    "many pairs": (19_000, 10, 95_000, 0.3),
    "many clusters": (5000, 200, 2000, 0.3),
    "many rows": (100_000, 10, 50_000, 0.3),
    "many features": (3000, 8, 3000, 0.3, 2000),
}
LARGEST = {
    "hundreds of thousands of rows": (400_000, 10, 200_000, 0.3),
    "a million pairs": (20_000, 10, 1_600_000, 0.3),
}


def planted(n: int, k: int, n_pairs: int, d: int = 4):
    rng = np.random.default_rng(0)
    hidden = rng.permutation(np.arange(n) % k)
    X = 3 * rng.normal(size=(k, d))[hidden] + rng.normal(size=(n, d))
    drawn = rng.integers(n, size=(2 * n_pairs, 2))
    apart = drawn[hidden[drawn[:, 0]] != hidden[drawn[:, 1]]][:n_pairs]
    return X, hidden, apart


@pytest.fixture(autouse=True, scope="module")
def imported() -> None:
    """What is imported and looked for once takes no time of a test."""
    certify(np.eye(4), n_clusters=2, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize("searched", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_limit_is_kept_to_a_second(shape, searched):
    keeps_limit(*SHAPES[shape], searched=searched, room=ROOM)


@pytest.mark.slow
@pytest.mark.parametrize("shape", LARGEST)
def test_a_limit_too_short_for_any_proof_is_kept_to_half_a_second(shape):
    keeps_limit(*LARGEST[shape], searched=False, room=READING_ROOM)


def keeps_limit(
    n: int, k: int, n_pairs: int, limit: float, d: int = 4, *, searched: bool, room: float
) -> None:
    X, hidden, apart = planted(n, k, n_pairs, d)
    labels = None if searched else hidden
    about = {"n_clusters": k, "cannot_link": apart, "time_limit": limit, "random_state": 0}
    spent = []
    # What else the machine does can only add to it.
    while len(spent) < 3 and min(spent, default=math.inf) >= limit + room:
        started = time.process_time()
        certificate = certify(X, labels, **about)
        spent.append(time.process_time() - started)
    assert min(spent) < limit + room
    assert certificate.lower_bound >= 0
    certificate.verify(X, cannot_link=apart)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["large", "by prices", "in parts", "many pairs", "many rows"])
def test_ctrl_c_ends_every_phase_in_a_second(shape):
    n, k, n_pairs, _, *d = SHAPES[shape]
    X, hidden, apart = planted(n, k, n_pairs, *d)
    for moment in (0.05, 0.3, 1.0, 3.0):
        pressed: list[float] = []

        def press(moment: float = moment, pressed: list[float] = pressed) -> None:
            time.sleep(moment)
            pressed.append(time.process_time())
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        threading.Thread(target=press).start()
        with contextlib.suppress(KeyboardInterrupt):  # before there was anything to return
            certify(X, hidden, n_clusters=k, cannot_link=apart, time_limit=100, random_state=0)
        # What was proven so far is checked first.
        assert time.process_time() - pressed[0] < ROOM


@pytest.mark.parametrize(
    ("clock", "work", "slower"),
    [(8.0, 2.0, 4.0), (3.0, 3.0, 1.0), (3.0, 6.0, 1.0), (0.01, 0.0, 1.0)],
)
def test_a_machine_with_other_work_to_do_is_slower(monkeypatch, clock, work, slower):
    times = {"perf_counter": iter([1.0, 1.0 + clock]), "process_time": iter([5.0, 5.0 + work])}
    for name, values in times.items():
        monkeypatch.setattr(f"kempe.proof.slowdown.time.{name}", lambda values=values: next(values))
    measured = Slowdown()()
    monkeypatch.undo()
    assert measured == slower


@pytest.mark.parametrize("seed", range(20))
def test_the_presolve_of_a_problem_finds_what_that_of_its_facts_finds(seed):
    rng = np.random.default_rng(seed)
    n, k = 24, 3
    hidden = rng.integers(k, size=n)
    drawn = rng.integers(n, size=(150, 2))
    same = hidden[drawn[:, 0]] == hidden[drawn[:, 1]]
    together = drawn[same & (drawn[:, 0] != drawn[:, 1])][:4]
    pairs = Constraints(together, drawn[~same], n_rows=n)
    problem = Problem.build(rng.normal(size=(n, 2)), pairs, n_clusters=k, sample_weight=np.ones(n))
    slow = presolve(Facts.of(problem), k)
    merged = Merged.of(problem, _core.Stopper())
    fast = presolve_problem(problem, merged, n)
    assert fast.deductions == slow.deductions
    np.testing.assert_array_equal(fast.facts.group, slow.facts.group)
    np.testing.assert_array_equal(fast.facts.cannot, slow.facts.cannot)
    assert presolve_problem(problem, merged, slow.facts.n_groups - 1) is None


@pytest.mark.parametrize("seed", range(20))
def test_facts_of_some_rows_are_those_of_their_own_problem(seed):
    rng = np.random.default_rng(seed)
    n, k = 30, 4
    hidden = rng.integers(k, size=n)
    drawn = rng.integers(n, size=(60, 2))
    same = hidden[drawn[:, 0]] == hidden[drawn[:, 1]]
    pairs = Constraints(drawn[same & (drawn[:, 0] != drawn[:, 1])], drawn[~same], n_rows=n)
    X = rng.normal(size=(n, 2))
    problem = Problem.build(X, pairs, n_clusters=k)
    kept = rng.random(problem.n_supernodes) < 0.6
    rows = np.flatnonzero(kept[problem.supernode])
    own = Problem.build(X[rows], pairs.subset(rows), n_clusters=k)
    found, expected = Facts.of_rows(problem, rows), Facts.of(own)
    np.testing.assert_array_equal(found.group, expected.group)
    np.testing.assert_array_equal(found.cannot, expected.cannot)


def test_a_stopper_ends_the_deductions_and_what_they_are_holds():
    X, hidden, apart = planted(3000, 4, 200_000)
    problem = Problem.build(X, Constraints(cannot_link=apart), n_clusters=4)
    stopper = _core.Stopper(0.01)
    started = time.process_time()
    kinds, pairs, _, _ = _core.clique_deductions(problem.graph.core, 4, stopper)
    assert time.process_time() - started < 0.3
    same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    np.testing.assert_array_equal(same, kinds == 1)


def test_facts_of_the_checker_that_were_copied_change_alone():
    apart = np.array([(0, 1), (1, 2), (3, 4), (0, 4)])
    first = checking.facts.Facts.given(6, np.empty((0, 2), np.int64), apart)

    def apart_in(facts: checking.facts.Facts) -> list[set[int]]:
        return [set(facts.apart_from(a)) for a in range(6)]

    before = apart_in(first)
    second = first.copy()
    third = second.copy()
    second.separate(0, 5)
    second.join(0, 2)
    assert apart_in(first) == before
    assert apart_in(third) == before
    first.separate(2, 5)
    assert not third.are_apart(2, 5)
    assert second.apart_from(0) == {1, 4, 5}
    assert second.apart_from(1) == {0}


@pytest.mark.parametrize("ratio", [1e20, 1e40, 1e80, 1e110])
@pytest.mark.parametrize("seed", range(6))
def test_weights_of_any_ratio_that_is_allowed_are_certified(ratio, seed):
    rng = np.random.default_rng(seed)
    n, k = 14, 3
    hidden = rng.integers(k, size=n)
    X = rng.normal(size=(n, 2))
    weights = np.exp(rng.uniform(0, np.log(ratio), size=n)) / ratio ** (seed % 3 / 2)
    drawn = rng.integers(n, size=(6, 2))
    given = {"cannot_link": drawn[hidden[drawn[:, 0]] != hidden[drawn[:, 1]]]}
    given["sample_weight"] = weights
    certificate = certify(X, n_clusters=k, random_state=0, time_limit=0.3, **given)
    assert certificate.verify(X, **given).lower_bound <= certificate.inertia


def test_light_rows_take_nothing_from_a_bound_that_heavy_ones_have():
    X = np.array([[0.0], [1.0], [5.0], [6.0], [9.0], [2.0]])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1e-60])
    certificate = certify(X, n_clusters=2, sample_weight=weights, random_state=0)
    assert certificate.is_optimal
    assert certificate.parts[0].rows.tolist() == [0, 1, 2, 3, 4]
    certificate.verify(X, sample_weight=weights)


def test_weights_that_differ_by_too_much_are_refused_before_any_work():
    with pytest.raises(ValueError, match="differ by too much"):
        certify(np.eye(3), n_clusters=2, sample_weight=[1.0, 1e-130, 1.0], time_limit=None)
