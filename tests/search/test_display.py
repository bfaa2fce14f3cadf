"""The progress bar and the log lines."""

from __future__ import annotations

import io
import logging
import math

import numpy as np
import pytest
from rich.console import Console

from kempe import KempeKMeans
from kempe.search.bar import LiveBar, seconds_left
from kempe.search.callbacks import Callbacks
from kempe.search.display import LogBest, ProgressBar, display
from kempe.search.recorder import Recorder
from kempe.search.result import Solution
from kempe.search.stop import MaxMutations, TimeLimit


@pytest.fixture
def run(planted):
    """Search that looks at three solutions and reports to some callbacks."""

    def report(*callbacks):
        instance = planted(0)
        problem = instance.problem
        with Recorder(problem, [MaxMutations(2)], callbacks) as recorder:
            for kind, inertia in (("start", 3.0), ("perturb", 2.0), ("relocate", 2.5)):
                recorder.record(Solution(None, inertia, inertia), kind)
            return recorder.result()

    return report


def test_nothing_is_shown_at_verbosity_zero(run, capfd):
    run(*display(0))
    assert capfd.readouterr() == ("", "")


def test_the_bar_goes_to_standard_error_and_ends_with_the_best(run, capfd):
    run(*display(1, [MaxMutations(2)]))
    out, err = capfd.readouterr()
    assert out == ""
    assert "60 rows, 3 clusters" in err
    assert "mutation 2" in err
    assert "best 2" in err


def test_the_bar_is_redrawn_on_a_terminal_and_the_cursor_comes_back(run):
    screen = io.StringIO()
    run(ProgressBar([MaxMutations(2)], Console(file=screen, force_terminal=True, width=100)))
    assert "\x1b[?25l" in screen.getvalue()
    assert screen.getvalue().rindex("\x1b[?25h") > screen.getvalue().rindex("\x1b[?25l")


def test_the_cursor_comes_back_after_an_exception(planted):
    screen = io.StringIO()
    bar = ProgressBar(console=Console(file=screen, force_terminal=True, width=100))
    with pytest.raises(LookupError), Recorder(planted(0).problem, callbacks=[bar]):
        raise LookupError
    assert "\x1b[?25h" in screen.getvalue()


@pytest.mark.parametrize(
    ("rules", "share"),
    [
        ([], 0.0),
        ([MaxMutations(40)], 0.25),
        ([TimeLimit(2.0)], 0.5),
        ([MaxMutations(40), TimeLimit(2.0)], 0.5),
        ([MaxMutations(5)], 1.0),
        ([MaxMutations(0)], 0.0),
    ],
)
def test_the_bar_follows_the_limit_that_is_nearest(rules, share, make_state):
    assert ProgressBar(rules)._share(make_state(iteration=10, elapsed=1.0)) == share


def drawn(bar: LiveBar) -> str:
    screen = io.StringIO()
    Console(file=screen, width=80).print(bar.get_renderable())
    return screen.getvalue()


def test_the_bar_moves_with_the_time_before_anything_is_reported():
    now = 0.0
    bar = LiveBar(Console(file=io.StringIO(), width=80), seconds=10.0)
    bar.get_time = lambda: now
    task = bar.add_task("many rows", total=1.0, state="first descent")
    shown = []
    for now in (0.5, 4.0, 9.0, 20.0):
        shown.append(drawn(bar))
        assert bar.tasks[task].completed == pytest.approx(min(0.99, now / 10.0))
    assert "0:06 left" in shown[1]
    assert "0:00 left" in shown[3]
    bar.update(task, completed=1.0)
    assert "left" not in drawn(bar)
    assert "0:20" in drawn(bar)


def test_the_bar_pulses_until_mutations_tell_how_far_it_is(make_state, planted):
    bar = ProgressBar([MaxMutations(40)], Console(file=io.StringIO(), width=80))
    bar.on_start(planted(0).problem)
    task = bar._progress.tasks[0]
    assert task.total is None
    bar.on_iteration(make_state(iteration=10, elapsed=1.0))
    assert (task.total, task.completed) == (1.0, 0.25)
    bar.on_close()


@pytest.mark.parametrize(
    ("share", "elapsed", "limit", "left"),
    [
        (0.25, 10.0, math.inf, 30.0),
        (0.25, 10.0, 15.0, 5.0),
        (0.0, 10.0, math.inf, math.inf),
        (0.0, 10.0, 60.0, 50.0),
        (0.5, 70.0, 60.0, 0.0),
    ],
)
def test_the_time_that_is_left_is_estimated(share, elapsed, limit, left):
    assert seconds_left(share, elapsed, limit) == left


def test_a_bar_with_large_numbers_fits_a_terminal(make_state):
    bar = LiveBar(Console(file=io.StringIO(), width=80), seconds=3600.0)
    state = "mutation 1,024  best 1.66228e+06"
    bar.add_task("200,000 rows, 20 clusters", total=1.0, completed=0.5, state=state)
    (line,) = drawn(bar).splitlines()
    assert state in line
    assert "left" in line


def test_the_log_has_a_line_for_every_new_best(run, caplog):
    with caplog.at_level(logging.INFO, logger="kempe"):
        run(*display(2))
    lines = [record.getMessage() for record in caplog.records]
    assert "60 rows" in lines[0]
    assert [line.split()[-1] for line in lines if " best " in line] == ["3", "2"]
    assert any(line.startswith("mutations ") for line in lines)


@pytest.fixture
def no_logging_set_up():
    """Leave the root logger without handlers, as in a script that never mentions logging."""
    root = logging.getLogger()
    kept, root.handlers = root.handlers, []
    yield logging.getLogger("kempe")
    root.handlers = kept


def test_log_lines_appear_without_any_set_up_and_leave_the_logger_as_it_was(
    run, capfd, no_logging_set_up
):
    logger = no_logging_set_up
    before = (list(logger.handlers), logger.level)
    run(LogBest())
    assert (list(logger.handlers), logger.level) == before
    assert "kempe: " in capfd.readouterr().err


class Failing(Callbacks):
    def on_iteration(self, state):
        raise LookupError("the user's own")


def test_the_logger_is_as_it_was_after_an_exception(planted, no_logging_set_up):
    logger = no_logging_set_up
    before = (list(logger.handlers), logger.level)
    case = planted(0)
    with pytest.raises(LookupError):
        KempeKMeans(3, verbose=2, callbacks=Failing()).fit(case.X, constraints=case.constraints)
    assert (list(logger.handlers), logger.level) == before


@pytest.fixture
def notebook(monkeypatch):
    """Stand in for IPython: what was shown below the cell, the latest last."""
    import sys
    import types

    shown = []

    class Place:
        def update(self, content):
            shown.append(content)

    def display(content, display_id=False):
        shown.append(content)
        return Place()

    module = types.SimpleNamespace(HTML=str, display=display)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(display=module))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    return shown


def test_the_bar_of_a_notebook_ends_when_the_search_ends(notebook):
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = KempeKMeans(3, verbose=1, max_mutations=20, random_state=0).fit(X)
    assert 'value="1.000"' in notebook[-1]
    assert f"mutation 20  best {model.inertia_:.6g}  ended as planned" in notebook[-1]
    assert "left" not in notebook[-1]
    assert "80 rows, 3 clusters" in notebook[0]


def test_the_bar_of_a_notebook_ends_with_an_error(notebook):
    class Fails(Callbacks):
        def on_iteration(self, state):
            raise RuntimeError("enough")

    X = np.random.default_rng(0).normal(size=(80, 2))
    with pytest.raises(RuntimeError, match="enough"):
        KempeKMeans(3, verbose=1, callbacks=Fails(), random_state=0).fit(X)
    assert "80 rows, 3 clusters" in notebook[-1]
