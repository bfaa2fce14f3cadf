"""The server of the studio: what it gives, and whom it refuses."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kempe.ask import Session
from kempe.studio.server import MOST_BYTES, Studio
from kempe.studio.state import Desk
from kempe.studio.table import NamedColumns

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def studio(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + 5 * rng.integers(3, size=60)[:, None]
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "b.png").write_text("root:x:0:0")  # no picture, whatever its name says
    pictures = ["a.png", "b.png", "http://127.0.0.1/c.png", "missing.png", *[""] * 56]
    cells = NamedColumns(["x", "picture"], [[f"{x:.3f}" for x in X[:, 0]], pictures], tmp_path)
    ids = [SCRIPT, *(f"r{n}" for n in range(1, 60))]
    session = Session(X, 3, ids=ids, log=tmp_path / "log", random_state=0)
    served = Studio(Desk(session, cells, title=f"{SCRIPT}.csv"), report=lambda: "<p>report</p>")
    served.start()
    yield served
    served.stop()
    session.close()


def request(studio, method="GET", path="/", body=None, *, token=True, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=30)
    sent = {"Host": f"127.0.0.1:{studio.port}"}
    if token:
        sent["Cookie"] = f"kempe-studio-{studio.port}={studio.token}"
    if method == "POST":
        sent |= {"Content-Type": "application/json", "X-Kempe": "studio"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {name: value for name, value in sent.items() if value is not None}
    data = json.dumps(body).encode() if isinstance(body, dict) else body
    connection.putrequest(method, path, skip_host=True)
    for name, value in sent.items():
        connection.putheader(name, value)
    if data is not None and "Content-Length" not in sent:
        connection.putheader("Content-Length", str(len(data)))
    connection.endheaders(data)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def state(studio):
    return json.loads(request(studio, path="/get/state")[2])


def answer(studio, said="together", **headers):
    rows = [card["row"] for card in state(studio)["question"]["cards"]]
    return request(studio, "POST", "/do/answer", {"rows": rows, "said": said}, **headers)


def test_the_address_with_the_token_lets_in_and_others_do_not(studio):
    status, headers, _ = request(studio, path=f"/?token={studio.token}", token=False)
    assert (status, headers["Location"]) == (303, "/")
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=Strict" in headers["Set-Cookie"]
    assert request(studio)[0] == 200
    for path in ("/", "/?token=wrong", "/get/state", "/studio.js", "/export/labels.csv"):
        assert request(studio, path=path, token=False)[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:1"},
        {"Host": "evil.example"},
        {"Host": None},
        {"Host": "127.0.0.1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"X_Kempe": None},
        {"Cookie": None},
        {"Cookie": "kempe-studio=guess"},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
    ],
)
def test_a_page_of_another_site_cannot_answer(studio, headers):
    status, answered, _ = answer(studio, **headers)
    assert status in (403, 415)
    assert "Access-Control-Allow-Origin" not in answered
    assert studio.desk.session.answers == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Host": f"evil.example:{80}"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Cookie": None},
    ],
)
def test_a_page_of_another_site_cannot_read(studio, headers):
    for path in ("/get/state", "/get/labels", "/export/answers.csv", "/"):
        status, _, content = request(studio, path=path, **headers)
        assert status == 403
        assert b"r1" not in content


def test_nothing_foreign_may_be_loaded(studio):
    for path in ("/", "/get/state", "/studio.js", "/nothing"):
        headers = request(studio, path=path)[1]
        rules = headers["Content-Security-Policy"]
        assert "default-src 'none'" in rules
        assert "unsafe" not in rules
        assert "http" not in rules
        assert "frame-ancestors 'none'" in rules
        assert headers["X-Content-Type-Options"] == "nosniff"
    for path in ("/", "/studio.js", "/studio.css"):
        text = request(studio, path=path)[2].decode()
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text
        assert "innerHTML" not in text


def test_scripts_in_ids_and_names_are_data(studio):
    status, headers, content = request(studio, path="/get/row?row=0")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert json.loads(content)["id"] == SCRIPT
    assert SCRIPT not in request(studio)[2].decode()


def test_a_body_of_a_gigabyte_is_refused_unread(studio):
    status, _, _ = request(studio, "POST", "/do/undo", b"{}", Content_Length=str(2**30))
    assert status == 413
    assert request(studio, "POST", "/do/undo", b"x" * (MOST_BYTES + 1))[0] == 413
    assert request(studio, "POST", "/do/undo", b"{}", Content_Length="-5")[0] == 411
    chunked = {"Transfer_Encoding": "chunked"}
    assert request(studio, "POST", "/do/undo", b"0\r\n\r\n", **chunked)[0] == 411
    assert state(studio)["n_answers"] == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[1]",
        b"{",
        b"[" * 30_000,
        b"\xff\xfe",
        b'{"rows": [0, 0], "said": "together"}',
        b'{"rows": [0, 99], "said": "together"}',
        b'{"rows": [-1, 2], "said": "together"}',
        b'{"rows": [true, 2], "said": "together"}',
        b'{"rows": ["0", 2], "said": "together"}',
        b'{"rows": [0, 1, 2], "said": "together"}',
        b'{"rows": [0, 1], "said": "<b>"}',
        b'{"rows": [0, 1], "said": ["together"]}',
        b'{"rows": [0, 1], "said": "together", "confidence": 7}',
        b'{"rows": [0, 1], "said": "together", "confidence": "x"}',
        b'{"rows": [0, 1]}',
    ],
)
def test_nonsense_is_refused_and_changes_nothing(studio, body):
    for action in ("answer", "nothing", "retract", "label"):
        assert request(studio, "POST", f"/do/{action}", body)[0] == 400
    assert studio.desk.session.answers == []
    assert state(studio)["n_answers"] == 0


def test_a_thousand_requests_at_once_leave_it_alive(studio):
    def ask(_):
        try:
            return request(studio, path="/get/labels")[0]
        except OSError:
            return None

    with ThreadPoolExecutor(200) as pool:
        found = list(pool.map(ask, range(1000)))
    assert found.count(200) > 900
    assert answer(studio)[0] == 200


def test_who_says_nothing_holds_nobody_up(studio):
    silent = [socket.create_connection(("127.0.0.1", studio.port)) for _ in range(5)]
    started = time.monotonic()
    assert request(studio)[0] == 200
    assert time.monotonic() - started < 10
    for one in silent:
        one.close()


def test_who_speaks_byte_by_byte_is_not_listened_to_for_ever(studio, monkeypatch):
    monkeypatch.setattr("kempe.studio.server.SECONDS", 0.5)
    with socket.create_connection(("127.0.0.1", studio.port), timeout=30) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\n")
        started = time.monotonic()
        with contextlib.suppress(OSError):
            for _ in range(100):
                slow.sendall(b"x")
                time.sleep(0.1)
                if time.monotonic() - started > 1 and not slow.recv(1):
                    break
    assert time.monotonic() - started < 8


@pytest.mark.parametrize("path", ["http://[", "http://[x]y/get/state", "//[/", "/get/row?row=%5B"])
def test_addresses_that_are_none_are_refused(studio, path):
    assert request(studio, path=path)[0] in (400, 404)
    assert request(studio, "POST", path, {"rows": [0, 1]})[0] == 400


def test_a_length_of_many_digits_is_too_long(studio):
    assert request(studio, "POST", "/do/undo", Content_Length="9" * 5000)[0] == 413


def test_a_disk_that_is_full_is_told(studio, monkeypatch):
    def full(line):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(studio.desk.session._log, "_write", full)
    status, _, body = answer(studio)
    assert status == 507
    assert "No space left" in json.loads(body)["error"]
    assert state(studio)["n_answers"] == 0


def test_what_goes_wrong_inside_is_told(studio, monkeypatch):
    monkeypatch.setattr(studio.desk, "pairs", lambda: 1 / 0)
    status, _, body = request(studio, path="/get/pairs")
    assert status == 500
    assert "ZeroDivisionError" in json.loads(body)["error"]


@pytest.mark.parametrize("cell", ["http://[x.png", "file:///a%00.png", "\ud800.png", "a\0.png"])
def test_cells_that_look_like_pictures_and_are_none_are_text(cell):
    (shown,) = NamedColumns(["a"], [[cell]]).row(0)
    assert (shown["text"], shown["image"]) == (cell, False)


def test_answers_are_taken_and_taken_back(studio):
    status, _, content = answer(studio, "apart")
    after = json.loads(content)
    assert (status, after["n_answers"]) == (200, 1)
    assert after["changed"]
    rows = after["history"][0]["rows"]
    back = json.loads(request(studio, "POST", "/do/retract", {"rows": rows})[2])
    assert back["n_answers"] == 0
    assert request(studio, "POST", "/do/undo", {})[0] == 200  # of the retraction
    assert state(studio)["n_answers"] == 1
    request(studio, "POST", "/do/label", {"rows": [1, 2, 3], "name": "small"})
    assert "small" in {cluster["name"] for cluster in state(studio)["clusters"]}


def test_two_windows_see_the_same_session(studio):
    before = state(studio)
    assert request(studio, path=f"/get/state?version={before['version']}")[0] == 204
    answer(studio)
    assert request(studio, path=f"/get/state?version={before['version']}")[0] == 200
    rows = [card["row"] for card in before["question"]["cards"]]
    late = {"rows": rows, "said": "apart", "version": before["version"]}
    status, _, content = request(studio, "POST", "/do/answer", late)
    assert (status, json.loads(content)["n_answers"]) == (409, 1)


def test_the_map_and_the_labels_have_a_place_for_every_row(studio):
    points = np.frombuffer(request(studio, path="/get/map")[2], dtype="<f4").reshape(-1, 2)
    labels = np.frombuffer(request(studio, path="/get/labels")[2], dtype="<u2")
    assert points.shape == (60, 2)
    assert points.min() >= 0
    assert points.max() <= 1
    assert (labels == studio.desk.session.labels_).all()


def test_pictures_are_given_and_nothing_else(studio, tmp_path):
    status, headers, content = request(studio, path="/get/image?row=0&column=1")
    assert (status, headers["Content-Type"], content) == (200, "image/png", PNG)
    for query in ("row=1&column=1", "row=2&column=1", "row=3&column=1", "row=0&column=0"):
        assert request(studio, path=f"/get/image?{query}")[0] == 404
    for query in (
        "row=-1&column=1",
        "row=0&column=9",
        "row=60&column=1",
        "row=x",
        "",
        "row=%C2%B2",
    ):
        assert request(studio, path=f"/get/image?{query}")[0] == 404


def test_files_can_be_taken_away(studio):
    answer(studio)
    for name in ("must_link.csv", "cannot_link.csv", "labels.csv", "answers.csv", "report.html"):
        status, headers, content = request(studio, path=f"/export/{name}")
        assert status == 200
        assert "attachment" in headers["Content-Disposition"]
        assert content
    for name in ("../log", "log", "%2e%2e/log", "constraints.json/.."):
        assert request(studio, path=f"/export/{name}")[0] == 404


def test_it_listens_on_this_machine_alone(studio):
    assert studio._server.server_address[0] == "127.0.0.1"
    assert studio.address.startswith("http://127.0.0.1:")
    assert len(studio.token) > 40


@pytest.mark.parametrize(
    ("host", "called"),
    [
        ("127.0.0.1", {"127.0.0.1", "localhost", "[::1]"}),
        ("0.0.0.0", {"127.0.0.1", "localhost", "[::1]", "192.168.1.5", "[fe80::1]"}),
    ],
)
def test_names_that_others_make_point_here_are_refused(studio, host, called):
    studio.host = host
    names = {"127.0.0.1", "localhost", "[::1]", "192.168.1.5", "[fe80::1]", "evil.example", ""}
    assert {name for name in names if studio.is_called(f"{name}:{studio.port}")} == called
    assert not studio.is_called("127.0.0.1:1")
    assert not studio.is_called("127.0.0.1")


def test_answers_of_many_threads_are_all_kept(studio):
    def ask(number):
        return request(studio, "POST", "/do/label", {"rows": [number], "name": f"n{number % 2}"})[0]

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(10, 26))) == {200}
    assert threading.active_count() < 60
    assert len(studio.desk.session._log.events) == 16
