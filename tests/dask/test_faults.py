"""What may happen around a fit on a cluster: killed workers, little memory, Ctrl-C, no time."""

from __future__ import annotations

import os
import signal

import dask
import dask.array as da
import numpy as np
import pytest

from dask_cases import Case
from kempe import NoSolutionFoundError
from kempe.dask import KempeKMeans
from kempe.exceptions import WorkerLostError
from kempe.search import Callbacks


class AtPass(Callbacks):
    """Does something after a pass over the rows."""

    def __init__(self, number, action):
        self.number, self.action, self.passes = number, action, 0

    def on_iteration(self, state):
        self.passes += 1
        if self.passes == self.number:
            self.action()


def rows_of(case):
    return da.from_array(case.X, chunks=(300, 3))


def model_of(case, **settings):
    settings = {"init": case.init, "max_mutations": 0, "gather_up_to": 0} | settings
    return KempeKMeans(case.k, **settings)


def test_a_killed_worker_changes_nothing(case, client):
    rows = rows_of(case).persist()
    expected = model_of(case).fit(rows, **case.pairs)

    def kill():
        os.kill(client.submit(os.getpid, pure=False).result(), signal.SIGKILL)

    watch = AtPass(2, kill)
    found = model_of(case, callbacks=watch).fit(rows, **case.pairs)
    assert watch.passes > 2
    assert found.inertia_ == expected.inertia_
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_.compute())


def test_workers_that_die_over_a_part_are_told_plainly(case, client):
    def die(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 2:
            os._exit(1)
        return block

    def allow(failures, dask_scheduler=None):
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, failures
        return before

    before = client.run_on_scheduler(allow, 0)
    try:
        deadly = rows_of(case).map_blocks(die, dtype=float, meta=np.empty((0, 0)))
        with pytest.raises(WorkerLostError, match="make the parts smaller"):
            model_of(case).fit(deadly, **case.pairs)
    finally:
        client.run_on_scheduler(allow, before)
        client.wait_for_workers(2)


def test_ctrl_c_returns_the_best_so_far(case):
    watch = AtPass(2, lambda: signal.raise_signal(signal.SIGINT))
    found = model_of(case, callbacks=watch).fit(rows_of(case), **case.pairs)
    assert found.result_.stop_reason == "interrupted"
    labels = found.labels_.compute()
    means = found.cluster_centers_
    assert found.inertia_ == pytest.approx(np.sum((case.X - means[labels]) ** 2), rel=1e-9)
    assert found.inertia_ > model_of(case).fit(rows_of(case), **case.pairs).inertia_


def test_ctrl_c_before_the_first_pass_is_raised(case):
    def interrupting(block):
        signal.raise_signal(signal.SIGINT)
        return block

    rows = rows_of(case).map_blocks(interrupting, dtype=float, meta=np.empty((0, 0)))
    with dask.config.set(scheduler="synchronous"), pytest.raises(KeyboardInterrupt):
        model_of(case).fit(rows, **case.pairs)


def test_ctrl_c_in_the_search_over_summaries_leaves_one_pass(case):
    class AtBest(Callbacks):
        def on_best(self, state):
            if state.kind != "descend":
                signal.raise_signal(signal.SIGINT)

    model = model_of(case, max_mutations=None, callbacks=AtBest(), random_state=0)
    found = model.fit(rows_of(case), **case.pairs)
    assert found.result_.stop_reason == "interrupted"
    assert found.result_.statistics.kind.count("descend") == 1
    assert len(found.labels_.compute()) == len(case.X)


def test_the_time_limit_ends_a_descent_after_a_pass():
    case = Case(5, n_rows=5000)
    found = model_of(case, time_limit=1e-6).fit(rows_of(case), **case.pairs)
    assert found.result_.stop_reason == "time_limit"
    assert found.n_iter_ == 1


def test_a_start_that_may_not_be_looked_for_fails(case):
    from kempe.engine import MemeticParams

    wheel = [(0, i) for i in range(1, 6)] + [(i, i % 5 + 1) for i in range(1, 6)]  # needs four
    apart = [(a + 6 * copy, b + 6 * copy) for copy in range(2) for a, b in wheel]
    params = MemeticParams(exhaustive_start=False)
    with pytest.raises(NoSolutionFoundError):
        KempeKMeans(3, max_mutations=0, gather_up_to=0, params=params).fit(
            rows_of(case), cannot_link=apart
        )
