"""The recorder keeps the best, the history and the reason for the end."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from kempe import NoSolutionFoundError
from kempe.search.callbacks import CallbackList, Callbacks
from kempe.search.recorder import Recorder
from kempe.search.result import COLUMNS, Solution
from kempe.search.stop import MaxMutations, Patience, TargetInertia, TimeLimit


@pytest.fixture(scope="module")
def problem(planted):
    return planted(0).problem


def record_all(recorder, inertias):
    for inertia in inertias:
        recorder.record(Solution(np.zeros(1, dtype=np.int32), inertia, inertia), "perturb")


class Diary(Callbacks):
    """Writes down what it was told."""

    def __init__(self):
        self.entries = []

    def on_start(self, problem):
        self.entries.append("start")

    def on_iteration(self, state):
        self.entries.append(("iteration", state.iteration, state.inertia, state.since_best))

    def on_best(self, state):
        self.entries.append(("best", state.best_inertia))

    def on_end(self, result):
        self.entries.append(("end", result.inertia))


def test_the_best_solution_is_kept_and_an_equal_one_does_not_replace_it(problem):
    recorder = Recorder(problem)
    kept = Solution(np.zeros(1, dtype=np.int32), 2.0, 2.0)
    assert recorder.record(Solution(np.zeros(1, dtype=np.int32), 3.0, 3.0), "start")
    assert recorder.record(kept, "perturb")
    assert not recorder.record(Solution(np.zeros(1, dtype=np.int32), 2.0, 2.0), "perturb")
    assert recorder.best is kept
    assert recorder.result().solution is kept


def test_the_history_has_one_row_per_solution(problem, tmp_path):
    recorder = Recorder(problem)
    record_all(recorder, [3.0, 2.0, 4.0])
    result = recorder.result()
    assert result.n_mutations == 2
    assert result.statistics.best_inertia == [3.0, 2.0, 2.0]
    assert sorted(result.statistics.elapsed) == result.statistics.elapsed
    result.to_csv(tmp_path / "history.csv")
    with open(tmp_path / "history.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == COLUMNS[:5]  # the objective is the inertia and says nothing new
    assert [float(row[2]) for row in rows[1:]] == [3.0, 2.0, 4.0]


def test_the_objective_decides_which_solution_is_the_best(problem, tmp_path):
    diary = Diary()
    recorder = Recorder(problem, [TargetInertia(4.0)], [diary])
    dear, best = (
        Solution(np.full(1, i, dtype=np.int32), *values)
        for i, values in enumerate([(1.0, 6.0), (3.0, 4.0)])
    )
    assert recorder.record(dear, "start")
    assert not recorder.should_stop()  # the inertia is low enough, the objective is not
    assert recorder.record(best, "perturb")
    assert recorder.should_stop()
    result = recorder.result()
    assert result.solution is best
    assert (result.inertia, result.objective) == (3.0, 4.0)
    assert result.statistics.best_inertia == [1.0, 3.0]
    assert result.statistics.best_objective == [6.0, 4.0]
    assert [entry for entry in diary.entries if entry[0] == "best"] == [
        ("best", 1.0),
        ("best", 3.0),
    ]
    assert result.summary().startswith("objective     4 (33.33 % below the first descent)\n")
    result.to_csv(tmp_path / "history.csv")
    assert (tmp_path / "history.csv").read_text().splitlines()[0].split(",") == list(COLUMNS)


def test_callbacks_hear_everything_in_order(problem):
    first, second = Diary(), Diary()
    recorder = Recorder(problem, callbacks=[CallbackList([first]), second])
    record_all(recorder, [3.0, 2.0, 4.0])
    recorder.result()
    assert first.entries == second.entries
    assert first.entries == [
        "start",
        ("iteration", 0, 3.0, 0),
        ("best", 3.0),
        ("iteration", 1, 2.0, 0),
        ("best", 2.0),
        ("iteration", 2, 4.0, 1),
        ("end", 2.0),
    ]


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (MaxMutations(2), "max_mutations"),
        (Patience(1), "patience"),
        (TargetInertia(2.0), "target_inertia"),
        (TimeLimit(1e-9), "time_limit"),
        (lambda state: state.iteration == 2, "user_rule"),
    ],
)
def test_the_result_says_which_rule_ended_the_search(problem, rule, reason):
    recorder = Recorder(problem, [rule])
    record_all(recorder, [3.0, 2.0, 4.0])
    assert recorder.should_stop()
    assert recorder.result().stop_reason == reason


def test_a_search_that_ends_by_itself_gives_its_own_reason(problem):
    recorder = Recorder(problem, [MaxMutations(100)])
    record_all(recorder, [3.0])
    assert not recorder.should_stop()
    assert recorder.result("no neighbour improves").stop_reason == "no neighbour improves"


def test_kernels_see_the_shortest_time_limit(problem):
    recorder = Recorder(problem, [TimeLimit(50.0), TimeLimit(20.0)])
    assert 0.0 < recorder.stopper.remaining <= 20.0


def test_without_a_solution_there_is_no_result(problem):
    with pytest.raises(NoSolutionFoundError, match="no feasible clustering"):
        Recorder(problem).result()


def test_the_summary_tells_inertia_gain_reason_and_size(problem):
    recorder = Recorder(problem, [MaxMutations(1)])
    record_all(recorder, [4.0, 3.0])
    recorder.should_stop()
    summary = recorder.result().summary()
    for expected in ("inertia       3", "25.00 %", "ended as planned", "supernodes"):
        assert expected in summary


def test_every_callback_is_closed_whatever_another_raises(problem):
    closed = []

    class Closing(Callbacks):
        def __init__(self, name, fails=False):
            self.name, self.fails = name, fails

        def on_close(self):
            closed.append(self.name)
            if self.fails:
                raise LookupError(self.name)

    callbacks = [Closing("one"), Closing("two", fails=True), Closing("three")]
    with pytest.raises(LookupError, match="two"), Recorder(problem, callbacks=callbacks):
        pass
    assert closed == ["one", "two", "three"]


def test_ctrl_c_before_any_solution_is_the_users_and_afterwards_the_end(problem):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Recorder(problem).follow(interrupted)
    recorder = Recorder(problem)
    record_all(recorder, [3.0])
    assert recorder.follow(interrupted).stop_reason == "interrupted"


def test_an_assignment_that_finds_nothing_fails_only_a_search_without_a_solution(problem):
    def stuck():
        raise NoSolutionFoundError("nothing found")

    with pytest.raises(NoSolutionFoundError, match="nothing found"):
        Recorder(problem).follow(stuck)
    recorder = Recorder(problem)
    record_all(recorder, [3.0])
    assert recorder.follow(stuck).stop_reason == "stuck"
