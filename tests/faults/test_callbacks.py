"""A callback that raises, at every moment: the exception arrives, everything is closed."""

from __future__ import annotations

import threading

import pytest

from kempe import methods
from kempe.search import Callbacks

MOMENTS = [
    ("on_start", 1),
    ("on_iteration", 1),
    ("on_iteration", 2),
    ("on_best", 1),
    ("on_end", 1),
    ("on_close", 1),
]


class Failure(Exception):
    pass


class Witness(Callbacks):
    """Counts how often it was opened and closed."""

    def __init__(self) -> None:
        self.closed = 0

    def on_close(self) -> None:
        self.closed += 1


def failing(moment: str, call: int) -> Callbacks:
    """Callbacks of which one raises when it is called so often."""
    calls = []

    def method(self, *arguments):
        calls.append(1)
        if len(calls) == call:
            raise Failure(f"{moment}, call {call}")

    return type("Failing", (Callbacks,), {moment: method})()


@pytest.mark.parametrize(("moment", "call"), MOMENTS)
@pytest.mark.parametrize("method", ["kempe", "KSKM", "PCCC", "COPKM_P", "S_MDEClust", "threads"])
def test_what_a_callback_raises_arrives_and_all_are_closed(planted, method, moment, call):
    case = planted(0, n_pairs=15)
    first, last = Witness(), Witness()
    options = {"n_jobs": 2} if method == "threads" else {}
    model = methods.create("kempe" if method == "threads" else method, case.n_clusters, 0)
    model.set_params(callbacks=[first, failing(moment, call), last], **options)
    few = {"max_mutations": 30, "population_size": 4, "max_generations": 2}
    model.set_params(**{name: few[name] for name in few.keys() & model.get_params().keys()})
    threads = threading.active_count()
    with pytest.raises(Failure, match=f"{moment}, call {call}"):
        model.fit(case.X, constraints=case.constraints)
    assert (first.closed, last.closed) == (1, 1)
    assert threading.active_count() == threads
    assert not hasattr(model, "labels_")
    model.set_params(callbacks=None).fit(case.X, constraints=case.constraints)


def test_closing_goes_on_when_everything_raises(planted):
    class Broken(Witness):
        def on_best(self, state):
            raise Failure("best")

        def on_close(self):
            super().on_close()
            raise Failure("close")

    case = planted(0)
    every = [Broken(), Broken(), Broken()]
    model = methods.create("kempe", 3, 0, callbacks=every)
    with pytest.raises(Failure):
        model.fit(case.X)
    assert [callback.closed for callback in every] == [1, 1, 1]
