"""When kernels stop: deadlines, signals, and stoppers that depend on others."""

from __future__ import annotations

import gc
import math
import os
import signal
import threading
import time
import weakref
from contextlib import contextmanager

import numpy as np
import pytest

from kempe import KSKM, KempeKMeans, _core
from random_problems import large_problem

posix = pytest.mark.skipif(os.name == "nt", reason="signals work differently")


class Alarmed(Exception):
    """What the signal handler of a test raises."""


@contextmanager
def alarm(error, seconds=0.15):
    """Raise an exception in a signal handler soon."""

    def handler(*_):
        raise error

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def large():
    return large_problem(0, n=3000, k=20, d=4, n_pairs=300)


def relocate(large, stopper):
    """Run a kernel that only its stopper can end."""
    problem, colours = large
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    return search.relocate(colours, 10**9, 10**9, 0, -np.inf, 1, stopper)


@posix
def test_what_a_signal_handler_raises_ends_the_kernel_and_is_raised_by_the_next_look(large):
    stopper = _core.Stopper()
    error = Alarmed("now")
    with alarm(error):
        colours, _, _ = relocate(large, stopper)
    assert large[0].is_proper(colours)
    assert stopper.stopped
    assert not stopper.interrupted
    with pytest.raises(Alarmed) as raised:
        stopper.look()
    assert raised.value is error
    assert stopper.look(), "it is raised once, and the stopper has stopped for good"


@posix
def test_a_pending_exception_can_be_raised_without_a_look(large):
    stopper = _core.Stopper()
    with alarm(Alarmed()):
        relocate(large, stopper)
    with pytest.raises(Alarmed):
        stopper.raise_pending()
    stopper.raise_pending()


@posix
def test_ctrl_c_is_no_pending_exception(large):
    stopper = _core.Stopper()
    with alarm(KeyboardInterrupt):
        relocate(large, stopper)
    assert stopper.interrupted
    stopper.raise_pending()
    assert stopper.look()


@posix
def test_a_pending_exception_waits_for_the_thread_of_the_handler(large):
    stopper = _core.Stopper()
    with alarm(Alarmed()):
        relocate(large, stopper)
    answers = []
    other = threading.Thread(target=lambda: answers.append(stopper.look()))
    other.start()
    other.join()
    assert answers == [True]
    with pytest.raises(Alarmed):
        stopper.look()


@contextmanager
def watchers(stopper, watch, count=4):
    """Call a function in several threads; give what it returns once all have ended."""
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(watch())) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        stopper.stop()  # so that they end, whatever ended the test
        for thread in threads:
            thread.join()


@posix
def test_threads_that_look_leave_a_pending_exception_alone(large):
    """They ask while the handler's thread stores it, without a lock where Python has none."""

    def watch():
        while not stopper.stopped:
            stopper.raise_pending()
        return stopper.look()

    stopper = _core.Stopper()
    with watchers(stopper, watch) as answers, alarm(Alarmed(), 0.3):
        relocate(large, stopper)
    assert answers == [True] * 4
    with pytest.raises(Alarmed):
        stopper.raise_pending()


@posix
@pytest.mark.parametrize("repetition", range(3))
def test_whoever_sees_that_ctrl_c_has_stopped_it_sees_that_it_was_ctrl_c(large, repetition):
    def watch():
        while not stopper.stopped:
            pass
        return stopper.interrupted

    stopper = _core.Stopper()
    with watchers(stopper, watch) as answers, alarm(KeyboardInterrupt, 0.3):
        relocate(large, stopper)
    assert answers == [True] * 4


@posix
@pytest.mark.parametrize(
    "model",
    [
        KempeKMeans(20, max_mutations=10**8, random_state=0),
        KempeKMeans(20, max_mutations=10**8, random_state=0, n_jobs=2),
        KSKM(20, max_mutations=10**8, random_state=0),
    ],
    ids=["memetic", "threads", "KSKM"],
)
def test_what_a_signal_handler_raises_leaves_fit(model, large):
    problem, _ = large
    with alarm(Alarmed(), 0.4), pytest.raises(Alarmed):
        model.fit(problem.rows, constraints=problem.constraints)


@posix
def test_a_stopper_with_an_exception_is_freed_once_it_was_raised(large):
    class Marked(Alarmed):
        pass

    def run():
        stopper, error = _core.Stopper(), Marked()
        with alarm(error):
            relocate(large, stopper)
        with pytest.raises(Marked):
            stopper.look()
        return weakref.ref(error)

    error = run()
    gc.collect()
    assert error() is None


def test_without_a_limit_nothing_stops():
    stopper = _core.Stopper()
    assert not stopper.look()
    assert not stopper.stopped
    assert stopper.remaining > 1e6
    stopper.raise_pending()


@pytest.mark.parametrize(
    ("own", "parents", "least"),
    [(math.inf, 50.0, 50.0), (50.0, math.inf, 50.0), (20.0, 50.0, 20.0)],
)
def test_a_child_has_the_time_that_is_left_to_both(own, parents, least):
    child = _core.Stopper(parents).child(own)
    assert least - 5 < child.remaining <= least


def test_the_deadline_of_a_child_is_its_own():
    parent = _core.Stopper()
    child = parent.child(0.0)
    assert child.look()
    assert child.stopped
    assert not parent.look()
    assert not parent.stopped


def test_the_deadline_of_a_parent_ends_its_children():
    child = _core.Stopper(0.02).child()
    time.sleep(0.05)
    assert child.look()


def test_stopping_a_child_leaves_its_parent_and_its_siblings_alone():
    parent = _core.Stopper()
    child, sibling = parent.child(), parent.child()
    child.stop()
    assert child.look()
    assert not parent.look()
    assert not sibling.look()


def test_stopping_a_parent_stops_all_below():
    parent = _core.Stopper()
    grandchild = parent.child().child()
    assert not grandchild.look()
    parent.stop()
    assert grandchild.stopped
    assert grandchild.look()


def test_a_kernel_with_a_child_ends_when_the_parent_is_stopped(large):
    parent = _core.Stopper()
    threading.Timer(0.1, parent.stop).start()
    relocate(large, parent.child())


@posix
def test_an_interrupt_reaches_parent_and_child(large):
    parent = _core.Stopper()
    child = parent.child()
    with alarm(KeyboardInterrupt):
        relocate(large, child)
    assert child.interrupted
    assert parent.interrupted
    assert parent.stopped


@posix
@pytest.mark.parametrize("asked", ["parent", "child"])
def test_a_pending_exception_of_a_child_is_that_of_its_parent(large, asked):
    stoppers = {"parent": _core.Stopper()}
    stoppers["child"] = stoppers["parent"].child(1000.0)
    with alarm(Alarmed()):
        relocate(large, stoppers["child"])
    with pytest.raises(Alarmed):
        stoppers[asked].look()


def test_a_child_keeps_its_parent():
    child = _core.Stopper(1000.0).child()
    gc.collect()
    assert not child.look()
    assert 900 < child.remaining <= 1000


def test_overtime_outlasts_the_deadline_of_the_parent():
    parent = _core.Stopper(0.0)
    assert parent.look()
    child = parent.child(100.0, overtime=True)
    assert not child.look()
    assert 90 < child.remaining <= 100
    assert parent.child(0.0, overtime=True).look()


@posix
@pytest.mark.parametrize("error", [Alarmed, KeyboardInterrupt])
def test_a_signal_ends_overtime_and_its_parent(large, error):
    parent = _core.Stopper()
    with alarm(error):
        relocate(large, parent.child(overtime=True))
        assert parent.child(overtime=True).stopped
    assert parent.interrupted == (error is KeyboardInterrupt)
    if not parent.interrupted:
        with pytest.raises(Alarmed):
            parent.raise_pending()


@posix
@pytest.mark.parametrize("overtime", [False, True])
def test_a_signal_stops_the_root_whichever_stopper_notices_it(large, overtime):
    root = _core.Stopper()
    sibling, child = root.child(), root.child(overtime=overtime)
    with alarm(KeyboardInterrupt):
        relocate(large, child)
    assert root.stopped
    assert sibling.stopped
