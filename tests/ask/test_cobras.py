"""What super-instances were built on: it holds, or they begin anew."""

from __future__ import annotations

import numpy as np
import pytest

from kempe.ask import Session, SuperInstances, cobras


def blobs(seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=60)
    return 4 * rng.normal(size=(3, 2))[truth] + rng.normal(size=(60, 2)), truth


def test_ctrl_c_in_a_split_leaves_questions_to_ask(monkeypatch):
    X, truth = blobs()
    session = Session(X, 3, strategy="super-instances", random_state=0, model="plain")

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(cobras, "_split", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.next()
    question = session.next()
    assert question is not None
    session.answer(
        question.pair, "together" if np.ptp(truth[list(question.rows)]) == 0 else "apart"
    )
    assert session.next() is not None


def test_another_answer_to_the_same_question_begins_anew():
    X, _ = blobs()
    strategy = SuperInstances()
    session = Session(X, 3, strategy=strategy, random_state=0, model="plain")
    question = session.next()
    session.answer(question.pair, "apart")
    session.next()
    run = strategy._run
    session.answer(session.next().pair, "apart")
    session.next()
    assert strategy._run is run
    session.retract(question.pair)
    session.answer(question.pair, "together")
    session.next()
    assert strategy._run is not run
