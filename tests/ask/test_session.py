"""Sessions of questions."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from typer.testing import CliRunner

from kempe import Constraints, FileFormatError
from kempe.ask import STRATEGIES, Proposal, Session, clusters
from kempe.ask.answers import AnswerBook
from kempe.ask.spread import AnswerSpread
from kempe.cli import app
from kempe.tables import open_table, read_pairs
from kempe.tables.ids import Ids

TOGETHER, APART = "together", "apart"


def blobs(n=60, k=3, d=2, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    return 4 * rng.normal(size=(k, d))[truth] + rng.normal(size=(n, d)), truth


def play(session, truth, questions):
    for _ in range(questions):
        question = session.next()
        if question is None:
            return
        first, second = question.rows
        session.answer(question.pair, TOGETHER if truth[first] == truth[second] else APART)


def assert_holds(session):
    violations = session.constraints.violations(session.labels_)
    assert not violations.must_link.size
    assert not violations.cannot_link.size


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_asks_what_nobody_knows_and_clusters_obey(strategy):
    X, truth = blobs(40)
    session = Session(X, 3, strategy=strategy, random_state=0)
    for _ in range(25):
        question = session.next()
        if question is None:
            break
        assert session._ledger.known.relation(*question.rows) is None
        assert question.why
        first, second = question.rows
        session.answer(question.pair, TOGETHER if truth[first] == truth[second] else APART)
        assert_holds(session)
    assert not session.conflicts


@pytest.mark.parametrize("strategy", ["auto", "explore-consolidate", "random"])
def test_questions_end_when_everything_is_known(strategy):
    X, truth = blobs(14, 2)
    session = Session(X, 2, strategy=strategy, random_state=0)
    play(session, truth, 100)
    assert session.next() is None
    assert adjusted_rand_score(truth, session.labels_) == 1.0


@pytest.mark.parametrize("strategy", ["auto", "random", "super-instances"])
def test_what_nobody_could_say_is_not_asked_again(strategy):
    X, _ = blobs(20)
    session = Session(X, 3, strategy=strategy, random_state=0)
    seen = set()
    for number in range(30):
        question = session.next()
        if question is None:
            break
        pair = tuple(sorted(question.rows))
        assert pair not in seen
        seen.add(pair)
        session.skip(question.pair) if number % 2 else session.answer(question.pair, "unsure")


def test_answers_help_more_than_random_ones():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 120)
    truth = np.arange(120) % 2
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 2 * truth)[:, None]
    ours, chance = Session(X, 2, random_state=0), Session(X, 2, strategy="random", model="plain")
    for session in (ours, chance):
        play(session, truth, 30)
    assert ours.chosen_ == "spread"
    assert adjusted_rand_score(truth, ours.labels_) > 0.9
    assert adjusted_rand_score(truth, chance.labels_) < 0.5


def test_undo_brings_back_what_was():
    X, truth = blobs()
    session = Session(X, 3, random_state=0)
    play(session, truth, 5)
    before = (session.labels_.copy(), session.next(), session.answers)
    session.answer(session.next().pair, APART)
    session.undo()
    assert (session.labels_ == before[0]).all()
    assert (session.next(), session.answers) == before[1:]
    for _ in range(5):
        assert session.undo()
    assert not session.undo()
    assert session.answers == []


def test_what_was_retracted_no_longer_holds_and_can_be_brought_back():
    session = Session(blobs()[0], 3, random_state=0)
    session.answer((0, 1), TOGETHER)
    session.answer((2, 3), APART)
    session.retract((1, 0))
    assert [one.rows for one in session.answers] == [(2, 3)]
    assert session.constraints.must_link.size == 0
    session.undo()
    assert [one.rows for one in session.answers] == [(0, 1), (2, 3)]
    for wrong in (((5, 6), None), ((2, 3), TOGETHER)):
        with pytest.raises(ValueError, match="nothing like that was said"):
            session.retract(*wrong)


def test_one_of_two_answers_about_a_pair_can_be_taken_back():
    session = Session(blobs()[0], 3, random_state=0)
    session.answer((0, 1), TOGETHER)
    session.answer((1, 0), APART)
    assert len(session.conflicts) == 1
    session.retract((0, 1), TOGETHER)
    assert [one.said for one in session.answers] == [APART]
    assert session.conflicts == []
    assert session.labels_[0] != session.labels_[1]


def test_a_contradiction_is_proven_in_ids_and_left_out():
    X, _ = blobs(10)
    session = Session(X, 3, ids=list("abcdefghij"), random_state=0)
    session.answer(("g", "h"), TOGETHER)
    session.answer(("a", "b"), TOGETHER)
    session.answer(("b", "c"), TOGETHER)
    session.answer(("c", "a"), APART)
    (conflict,) = session.conflicts
    assert "a = b = c" in conflict.proof or "c = b = a" in conflict.proof
    assert {one.rows for one in conflict.others} == {(0, 1), (1, 2)}
    assert_holds(session)
    session.retract(("a", "b"))
    assert session.conflicts == []
    assert session.labels_[2] != session.labels_[0]


def test_more_kinds_than_clusters_are_a_conflict():
    session = Session(blobs(10)[0], 2, random_state=0)
    session.answer((0, 1), APART)
    session.answer((1, 2), APART)
    session.answer((4, 5), APART)
    session.answer((0, 2), APART)
    (conflict,) = session.conflicts
    assert {one.rows for one in conflict.others} == {(0, 1), (1, 2)}
    assert "at least 3 clusters" in conflict.proof
    assert conflict.certificate.verify(Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)]), 2)


def test_labels_make_pairs():
    session = Session(blobs()[0], 3, random_state=0)
    session.label([0, 1, 2], "big")
    session.label([5], "small")
    session.label([6, 7], "small")
    labels = session.labels_
    assert len(set(labels[[0, 1, 2]])) == 1
    assert len(set(labels[[5, 6, 7]])) == 1
    assert labels[0] != labels[5]
    session.undo()
    assert len(session.answers) == 3


def test_a_row_with_two_labels_is_a_contradiction_unless_it_is_alone(tmp_path):
    with Session(blobs()[0], 3, random_state=0, log=tmp_path / "log") as session:
        session.label([4], "big")
        session.label([4], "huge")  # another name says nothing about other rows
        assert not session.answers
        session.label([0, 1], "big")
        session.label([0, 2], "small")
        assert session.conflicts
        labels = session.labels_
        assert labels[4] == labels[0] == labels[1]
    with Session(blobs()[0], 3, log=tmp_path / "log") as session:
        np.testing.assert_array_equal(session.labels_, labels)
        session.undo()
        assert not session.conflicts


def test_no_cell_of_what_is_exported_is_a_formula_and_all_of_it_can_be_read(tmp_path):
    X = blobs()[0][:60]
    ids = [f"=1+{n}" for n in range(60)]
    session = Session(X, 3, ids=ids, random_state=0)
    session.answer(("=1+0", "=1+1"), "together")
    session.answer(("=1+0", "=1+2"), "apart", confidence=0.8)
    for path in session.export(tmp_path):
        if path.suffix == ".csv":
            with path.open(newline="") as file:
                cells = [cell for row in csv.reader(file) for cell in row]
            assert not any(cell.startswith("=") for cell in cells)
    (tmp_path / "data.csv").write_text(
        "id,x,y\n" + "\n".join(f"{n},{x},{y}" for n, (x, y) in zip(ids, X, strict=True))
    )
    named = Ids(open_table(tmp_path / "data.csv"), 0)
    pairs = read_pairs(tmp_path / "must_link.csv", "must-link", ids=named)
    np.testing.assert_array_equal(pairs, [[0, 1]])


def test_the_score_is_the_share_of_answers_that_were_predicted():
    X, truth = blobs()
    session = Session(X, 3, random_state=0)
    assert np.isnan(session.score())
    hits = []
    for _ in range(15):
        question = session.next()
        first, second = question.rows
        same = session.labels_[first] == session.labels_[second]
        said = truth[first] == truth[second]
        hits.append(same == said)
        session.answer(question.pair, TOGETHER if said else APART)
    assert session.score() == pytest.approx(np.mean(hits))
    assert session.curve()[-1] == pytest.approx(session.score())


def test_a_log_brings_back_the_same_session(tmp_path):
    X, truth = blobs()
    log = tmp_path / "log.jsonl"
    with Session(X, 3, log=log, random_state=0) as session:
        play(session, truth, 12)
        session.undo()
        session.search()
        play(session, truth, 4)
        session.label([1, 2], "x")
        wanted = (session.labels_.tolist(), session.next(), session.answers, session.score())
    with Session(X, 3, log=log, random_state=99) as again:
        assert (again.labels_.tolist(), again.next(), again.answers, again.score()) == wanted


def test_what_was_answered_survives_a_kill(tmp_path):
    log = tmp_path / "log.jsonl"
    program = textwrap.dedent(f"""
        import os, signal
        import numpy as np
        from kempe.ask import Session
        X = np.random.default_rng(0).normal(size=(30, 2))
        session = Session(X, 3, log={str(log)!r}, random_state=0)
        for number in range(4):
            session.answer((number, number + 10), "apart")
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    with log.open("ab") as file:
        file.write(b'{"event":"answer","rows":[7,')  # what a kill may leave of a line
    X = np.random.default_rng(0).normal(size=(30, 2))
    with Session(X, 3, log=log) as session:
        assert [one.rows for one in session.answers] == [(n, n + 10) for n in range(4)]
        session.answer((8, 9), TOGETHER)
    lines = log.read_text().splitlines()
    assert len(lines) == 6
    assert all(json.loads(line) for line in lines)


def test_a_log_of_something_else_is_refused(tmp_path):
    X, _ = blobs()
    log = tmp_path / "log.jsonl"
    Session(X, 3, log=log).close()
    with pytest.raises(ValueError, match="other data"):
        Session(X + 1, 3, log=log)
    with pytest.raises(ValueError, match="3 clusters"):
        Session(X, 4, log=log)
    for text in ("a,b\n", "[1]\n", '{"kind": "other"}\n'):
        (tmp_path / "foreign").write_text(text)
        with pytest.raises(FileFormatError):
            Session(X, 3, log=tmp_path / "foreign")
    with log.open("a") as file:
        file.write('{"event": "answer", "rows": [1]}\n')
    with pytest.raises(FileFormatError):
        Session(X, 3, log=log)


@pytest.mark.parametrize("text", ["my thesis", "a,b\n1,2", '{"kind": "other"}\nx', '{"a"'])
def test_a_file_that_is_no_log_is_not_touched(tmp_path, text):
    path = tmp_path / "thesis.txt"
    path.write_text(text)
    with pytest.raises(FileFormatError):
        Session(blobs()[0], 3, log=path)
    assert path.read_text() == text


@pytest.mark.parametrize("size", [0, 5, 30])
def test_what_a_kill_leaves_of_the_first_line_is_begun_anew(tmp_path, size):
    X, path = blobs()[0], tmp_path / "log"
    Session(X, 3, log=path, random_state=0).close()
    path.write_bytes(path.read_bytes()[:size])
    with Session(X, 3, log=path, random_state=0) as session:
        session.answer((0, 1), "together")
    with Session(X, 3, log=path) as session:
        assert len(session.answers) == 1


HOSTILE_LINES = [
    "[" * 100_000 + "]" * 100_000,
    "{}",
    '{"event": "more"}',
    '{"event": ["undo"]}',
    '{"event": "answer", "rows": [0, 1' + "0" * 5000 + '], "said": "apart"}',
    *(
        f'{{"event": "answer", "rows": {rows}, "said": "apart"}}'
        for rows in ("[0, 999]", "[-1, 3]", '["a", "b"]', "[0.5, 3]", "[0, 0]", "[true, false]")
    ),
    '{"event": "answer", "rows": [0, 3], "said": "perhaps"}',
    '{"event": "answer", "rows": [0, 3], "said": ["apart"]}',
    *(
        f'{{"event": "answer", "rows": [0, 3], "said": "apart", {more}}}'
        for more in (
            *('"confidence": 0.1', '"confidence": NaN', '"confidence": 5', '"confidence": "x"'),
            *('"confidence": true', '"predicted": "x"', '"asked": []'),
        )
    ),
    '{"event": "label", "rows": [], "label": "x"}',
    '{"event": "label", "rows": [1], "label": 7}',
    '{"event": "label", "rows": [1], "label": null}',
    '{"event": "skip", "rows": [1]}',
    '{"event": "skip", "rows": ["a", "b"]}',
    '{"event": "retract", "rows": 3}',
]


@pytest.mark.parametrize("line", HOSTILE_LINES, ids=range(len(HOSTILE_LINES)))
def test_lines_that_no_session_has_written_are_refused(tmp_path, line):
    X, path = blobs()[0], tmp_path / "log"
    Session(X, 3, log=path, random_state=0).close()
    with path.open("a") as file:
        file.write(line + "\n")
    for _ in range(2):  # the first one has let go of the file
        with pytest.raises(FileFormatError, match="no log of a session"):
            Session(X, 3, log=path)


@pytest.mark.parametrize("seed", [None, -5, 10**30, "3", [1], 2.5])
def test_a_log_has_a_seed(tmp_path, seed):
    X, path = blobs()[0], tmp_path / "log"
    Session(X, 3, log=path, random_state=0).close()
    path.write_text(json.dumps({**json.loads(path.read_text()), "seed": seed}) + "\n")
    with pytest.raises(FileFormatError, match="seed"):
        Session(X, 3, log=path)


def test_a_full_disk_leaves_the_log_and_the_session_as_they_were(tmp_path, monkeypatch):
    X, path = blobs()[0], tmp_path / "log"
    with Session(X, 3, log=path, random_state=0) as session:
        session.answer((0, 1), "together")
        before, file = path.read_bytes(), session._log._file

        class Full:
            """Takes a part of a line, and no more."""

            def __getattr__(self, name):
                return getattr(file, name)

            def write(self, content):
                if len(content) < 20:
                    raise OSError(28, "No space left on device")
                return file.write(content[:-19])

        monkeypatch.setattr(session._log, "_file", Full())
        with pytest.raises(OSError, match="No space"):
            session.answer((1, 2), "apart")
        monkeypatch.setattr(session._log, "_file", file)
        assert path.read_bytes() == before
        assert len(session.answers) == 1
        session.answer((3, 4), "apart")
    with Session(X, 3, log=path) as session:
        assert [one.rows for one in session.answers] == [(0, 1), (3, 4)]


def test_ctrl_c_while_a_contradiction_is_proven_loses_nothing(monkeypatch):
    session = Session(blobs()[0], 3, random_state=0)
    session.answer((0, 1), "together")
    proof = AnswerBook._conflict

    def interrupted(self, answer):
        monkeypatch.setattr(AnswerBook, "_conflict", proof)
        raise KeyboardInterrupt

    monkeypatch.setattr(AnswerBook, "_conflict", interrupted)
    session.answer((0, 1), "apart")
    with pytest.raises(KeyboardInterrupt):
        _ = session.labels_
    assert len(session.answers) == 2
    assert len(session.conflicts) == 1
    assert session.labels_[0] == session.labels_[1]


def test_ctrl_c_in_a_search_ends_it_and_changes_nothing(monkeypatch):
    session = Session(blobs()[0], 3, random_state=0, model="plain")
    before, version = session.labels_.copy(), session.version
    fit = clusters.KempeKMeans.fit

    def cut_short(self, *arguments, **options):
        fitted = fit(self, *arguments, **options)
        fitted.result_ = replace(fitted.result_, stop_reason="interrupted")
        return fitted

    with monkeypatch.context() as patched:
        patched.setattr(clusters.KempeKMeans, "fit", cut_short)
        with pytest.raises(KeyboardInterrupt):
            session.search()
        with pytest.raises(KeyboardInterrupt):
            Session(blobs()[0], 3, random_state=0)
    assert session.version == version
    np.testing.assert_array_equal(session.labels_, before)


@pytest.mark.parametrize("ids", [list(np.arange(60)), [(n, "x") for n in range(60)]])
def test_ids_of_any_kind_are_logged(tmp_path, ids):
    X = blobs()[0][:60]
    with Session(X, 3, ids=ids, log=tmp_path / "log", random_state=0) as session:
        session.answer((ids[3], ids[7]), "apart")
    with Session(X, 3, ids=ids, log=tmp_path / "log") as session:
        assert session.answers[0].rows == (3, 7)


@pytest.mark.skipif(os.name == "nt", reason="there is no lock")
def test_two_sessions_do_not_write_one_log(tmp_path):
    X, _ = blobs()
    with (
        Session(X, 3, log=tmp_path / "log"),
        pytest.raises(ValueError, match="in use"),
    ):
        Session(X, 3, log=tmp_path / "log")
    Session(X, 3, log=tmp_path / "log").close()


def far_apart():
    """Two groups of rows, far from each other: rows 0 to 19, and 20 to 39."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 2)) + 50 * (np.arange(40) >= 20)[:, None]


@pytest.mark.parametrize("model", ["plain", "spread", "auto"])
def test_an_answer_that_is_only_thought_may_be_overruled_by_the_rows(model):
    session = Session(far_apart(), 2, model=model, random_state=0)
    for row in range(1, 6):
        session.answer((0, row), TOGETHER)
        session.answer((0, 20 + row), APART)
    session.answer((7, 30), TOGETHER, confidence=0.8)
    assert session.labels_[7] == session.labels_[0] != session.labels_[30]
    session.answer((7, 30), TOGETHER)  # for certain now
    assert session.labels_[7] == session.labels_[30]
    assert_holds(session)


def test_uncertain_answers_make_soft_pairs_and_contradict_nothing():
    session = Session(blobs()[0], 3, random_state=0)
    session.answer((0, 1), TOGETHER)
    session.answer((1, 0), APART, confidence=0.9)
    session.answer((2, 3), APART, confidence=0.7)
    session.answer((4, 5), TOGETHER, confidence=1)
    assert session.conflicts == []
    soft = session.constraints.soft
    assert soft.cannot_link.tolist() == [[1, 0], [2, 3]]
    assert soft.cannot_link_confidence.tolist() == [0.9, 0.7]
    assert session.constraints.must_link.tolist() == [[0, 1], [4, 5]]
    assert_holds(session)
    session.retract((2, 3))
    assert session.constraints.soft.count == 1


@pytest.mark.parametrize("strategy", ["auto", "explore-consolidate", "super-instances"])
def test_who_is_never_certain_is_still_asked_something_new(strategy):
    X, truth = blobs(60, 3, seed=2)
    session = Session(X, 3, strategy=strategy, random_state=0)
    seen = set()
    for _ in range(40):
        question = session.next()
        if question is None:
            break
        assert tuple(sorted(question.rows)) not in seen
        seen.add(tuple(sorted(question.rows)))
        said = TOGETHER if truth[question.rows[0]] == truth[question.rows[1]] else APART
        session.answer(question.pair, said, confidence=0.9)
    assert len(seen) > 20
    assert not session.constraints.must_link.size
    assert adjusted_rand_score(truth, session.labels_) > 0.6


def test_wrong_answers_hurt_less_if_they_are_not_certain():
    reached = []
    for confidence in (None, 0.9):
        for seed in range(4):
            X, truth = blobs(90, 3, 6, seed=seed)
            session, rng = Session(X, 3, random_state=0), np.random.default_rng(1)
            for _ in range(50):
                question = session.next()
                first, second = question.rows
                same = (truth[first] == truth[second]) != (rng.random() < 0.1)
                session.answer(question.pair, TOGETHER if same else APART, confidence=confidence)
            reached.append(adjusted_rand_score(truth, session.labels_))
    certain, thought = np.reshape(reached, (2, 4))
    assert (thought > certain).all()


def test_uncertain_answers_are_in_the_log_and_in_what_is_exported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, truth = blobs(50, seed=5)
    with Session(X, 3, log="log", random_state=0) as session:
        play(session, truth, 6)
        session.answer((0, 1), TOGETHER, confidence=0.8)
        session.answer((2, 3), APART, confidence=0.6)
        session.export("out")
        wanted = session.labels_.tolist()
    with Session(X, 3, log="log") as again:
        assert (again.labels_.tolist(), again.constraints.soft.count) == (wanted, 2)
    assert Path("out/soft_pairs.csv").read_text().splitlines() == [
        "first,second,kind,confidence",
        "0,1,must-link,0.8",
        "2,3,cannot-link,0.6",
    ]
    np.savetxt("data.csv", X, delimiter=",", header="a,b", comments="")
    arguments = ["fit", "data.csv", "-k", "3", "--max-mutations", "0", "-o", "again.csv"]
    arguments += ["--constraints", "out/constraints.json", "--init-labels", "out/labels.csv"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    found = [int(line) for line in Path("again.csv").read_text().splitlines()[1:]]
    assert adjusted_rand_score(wanted, found) == 1.0


def test_soft_pairs_may_be_known_from_the_beginning():
    given = Constraints(soft_must_link=[(0, 30)], soft_must_link_confidence=0.9)
    session = Session(far_apart(), 2, constraints=given, random_state=0)
    assert session.constraints.soft.count == 1
    assert session.labels_[0] != session.labels_[30]


@pytest.mark.parametrize("model", ["plain", "spread"])
def test_a_fit_with_what_was_exported_finds_the_same_clusters(tmp_path, model, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, truth = blobs(80, seed=3)
    ids = [f"row {number}" for number in range(80)]
    session = Session(X, 3, ids=ids, model=model, random_state=0)
    play(session, truth, 25)
    files = session.export("out")
    assert {path.name for path in files} >= {"answers.csv", "must_link.csv", "labels.csv"}
    table = ["id,a,b", *(f"{i},{x!r},{y!r}" for i, (x, y) in zip(ids, X.tolist(), strict=True))]
    Path("data.csv").write_text("\n".join(table) + "\n")
    arguments = ["fit", "data.csv", "-k", "3", "--id-column", "id", "--max-mutations", "0"]
    arguments += ["--constraints", "out/constraints.json", "--init-labels", "out/labels.csv"]
    done = CliRunner().invoke(app, [*arguments, "-o", "again.csv"])
    assert done.exit_code == 0, done.output
    again = [line.rsplit(",")[-1] for line in Path("again.csv").read_text().splitlines()[1:]]
    assert adjusted_rand_score(session.labels_, again) == 1.0


def test_a_strategy_of_ones_own(tmp_path):
    class InOrder:
        def propose(self, view):
            for row in range(1, len(view.X)):
                if view.is_open(0, row):
                    return Proposal(0, row, "the next one")
            return None

    session = Session(blobs(6)[0], 3, strategy=InOrder())
    assert session.next().rows == (0, 1)
    session.answer((0, 1), TOGETHER)
    assert session.next().rows == (0, 2)


def test_known_pairs_hold_from_the_beginning():
    X, _ = blobs()
    session = Session(X, 3, constraints=Constraints([(0, 1)], [(0, 2)]), random_state=0)
    assert_holds(session)
    session.answer((1, 2), TOGETHER)
    assert len(session.conflicts) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.answer((0, 0), TOGETHER), "two different rows"),
        (lambda s: s.answer((0, 99), TOGETHER), "no row 99"),
        (lambda s: s.answer((0, 1, 2), TOGETHER), "two rows"),
        (lambda s: s.answer((0, 1), "maybe"), "one of together"),
        (lambda s: s.answer((0, 1), TOGETHER, confidence=2), "above 0.5 and at most 1"),
        (lambda s: s.answer((0, 1), TOGETHER, confidence=0.5), "the answer is 'unsure'"),
        (lambda s: s.label([], "x"), "at least one row"),
    ],
)
def test_wrong_answers_are_refused_and_leave_nothing(call, message):
    session = Session(blobs(10)[0], 3)
    with pytest.raises(ValueError, match=message):
        call(session)
    assert session.answers == []


def test_wrong_arguments_are_refused():
    X, _ = blobs(10)
    for arguments in (
        {"n_clusters": 1},
        {"n_clusters": 11},
        {"n_clusters": 3, "strategy": "best"},
        {"n_clusters": 3, "model": "best"},
        {"n_clusters": 3, "ids": ["a"]},
        {"n_clusters": 3, "ids": ["a"] * 10},
    ):
        with pytest.raises(ValueError):
            Session(X, **arguments)


def test_what_is_made_ready_beforehand_is_what_would_be_made_anyway(monkeypatch):
    X, truth = blobs(60, 3, 1)
    begin, made = threading.Event(), []

    class Slow(AnswerSpread):
        def __init__(self, *arguments):
            made.append(threading.current_thread())
            assert begin.wait(60)
            super().__init__(*arguments)

    monkeypatch.setattr(clusters, "AnswerSpread", Slow)
    ready, plain = (Session(X, 3, random_state=0, model=model) for model in ("auto", "plain"))
    for session in (ready, plain, ready):
        session.prepare()
    assert ready.next() is not None, "which needs nothing of it"
    begin.set()
    later = Session(X, 3, random_state=0)
    for session in (ready, later):
        play(session, truth, 10)
    np.testing.assert_array_equal(ready.labels_, later.labels_)
    assert ready.next() == later.next()
    assert [thread is threading.main_thread() for thread in made] == [False, True]


def test_a_preparation_that_fails_fails_where_it_is_needed(monkeypatch):
    X, _ = blobs(60, 3, 1)
    broken = mock.Mock(side_effect=MemoryError("no room"))
    monkeypatch.setattr(clusters, "AnswerSpread", broken)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    session = Session(X, 3, random_state=0)
    session.prepare()
    with pytest.raises(MemoryError, match="no room"):
        _ = session.spread


@pytest.mark.slow
@pytest.mark.parametrize("scale", [2.0**-480, 2.0**-300, 2.0**300, 2.0**480])
def test_units_do_not_matter(scale):
    X, truth = blobs()
    found = []
    for data in (X, scale * X):
        session = Session(data, 3, random_state=0)
        with np.errstate(all="raise"):
            play(session, truth, 12)
        found.append(session.labels_)
    np.testing.assert_array_equal(*found)


def test_many_rows_are_no_hindrance():
    X, truth = blobs(20_000, 5, 8)
    session = Session(X, 5, random_state=0)
    play(session, truth, 8)
    assert_holds(session)
    assert len(session.spread.sites.points) <= 1200
