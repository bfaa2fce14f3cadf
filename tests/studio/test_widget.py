"""The page in a notebook."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from kempe.ask import Session
from kempe.studio.state import Desk
from kempe.studio.widget import answered, script


@pytest.fixture
def session():
    return Session(np.random.default_rng(0).normal(size=(30, 2)), 3, random_state=0)


def test_the_widget_answers_as_the_server_does(session):
    pytest.importorskip("anywidget")
    widget, sent = session.widget(), []
    widget.send = lambda content, buffers=None: sent.append((content, buffers))

    def ask(path, body=None):
        widget._handle_custom_msg({"number": len(sent), "path": path, "body": body}, [])
        return sent[-1]

    content, _ = ask("/get/state")
    assert (content["number"], content["status"]) == (0, 200)
    rows = [card["row"] for card in content["body"]["question"]["cards"]]
    done, _ = ask("/do/answer", {"rows": rows, "said": "apart"})
    assert done["body"]["n_answers"] == len(session.answers) == 1
    _, buffers = ask("/get/labels")
    assert (np.frombuffer(buffers[0], dtype="<u2") == session.labels_).all()
    wrong, _ = ask("/do/answer", {"rows": [1], "said": "apart"})
    assert wrong["status"] == 400


def test_everything_that_the_page_asks_for_is_there(session):
    desk = Desk(session)
    version = desk.state()["version"]
    assert answered(desk, f"/get/state?version={version}", None)[0] == 204
    assert len(answered(desk, "/get/map", None)[2][0]) == 30 * 8
    assert answered(desk, "/get/pairs", None)[1] == []
    assert answered(desk, "/get/row?row=3", None)[1]["row"] == 3
    assert answered(desk, "/export/labels.csv", None)[1]["text"].startswith("label\n")
    assert answered(desk, "/export/other", None)[0] == 404
    for row in ("-1", "30", "9" * 5000, "x", ""):
        assert answered(desk, f"/get/row?row={row}", None)[0] == 404
    late = {"rows": [0, 1], "said": "apart", "version": version - 1}
    assert answered(desk, "/do/answer", late)[0] == 409


def test_columns_of_a_data_frame_are_shown_by_their_names():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(9, 2)), columns=["height", "weight"])
    state = Desk(Session(X, 2, random_state=0)).state()
    assert {cell["column"] for cell in state["question"]["cards"][0]["cells"]} == set(X)
    assert set(state["columns"]) == set(X)


def test_the_script_has_the_page_in_it():
    text = script()
    assert "Do these two belong together?" in text
    assert "export default" in text


def test_what_is_missing_is_named(session, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"kempe\[widget\]"):
        session.widget()
