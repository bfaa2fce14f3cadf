"""The service of the examples, with real requests."""

from __future__ import annotations

import importlib.util
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kempe import KempeKMeans

pytest.importorskip("fastapi")
testclient = pytest.importorskip("fastapi.testclient")

APP = Path(__file__).parents[1] / "examples" / "service" / "app.py"


@pytest.fixture
def model(planted):
    case = planted(0, n_rows=90, n_clusters=3)
    return KempeKMeans(3, random_state=0).fit(case.X, constraints=case.constraints)


@pytest.fixture
def service(model, tmp_path, monkeypatch):
    model.save(tmp_path / "model.kempe")
    monkeypatch.setenv("KEMPE_MODEL", str(tmp_path / "model.kempe"))
    spec = importlib.util.spec_from_file_location("service_app", APP)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "service_app", module)
    spec.loader.exec_module(module)
    with testclient.TestClient(module.app) as client:
        client.app_module = module
        yield client


def test_new_rows_get_their_clusters_also_from_many_threads(service, model):
    rows = np.random.default_rng(0).normal(scale=4, size=(40, 2))

    def ask(row):
        answer = service.post("/predict", json={"rows": [row.tolist()]})
        assert answer.status_code == 200, answer.text
        return answer.json()[0]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, rows)) == model.predict(rows).tolist()


def job(**changes):
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(40, 2)) + np.repeat([[0, 0], [8, 0]], 20, axis=0)).tolist()
    return {"rows": rows, "n_clusters": 2, "must_link": [[0, 39]], "seconds": 5} | changes


def test_a_fit_obeys_the_pairs(service):
    answer = service.post("/fit", json=job()).json()
    assert answer["labels"][0] == answer["labels"][39]
    assert answer["labels"][1] != answer["labels"][38]


def test_a_fit_ends_in_time(service):
    rows = np.random.default_rng(0).normal(size=(3000, 20)).tolist()
    answer = service.post("/fit", json=job(rows=rows, n_clusters=30, must_link=[], seconds=0.2))
    assert answer.json()["stopped_by"] == "time_limit"


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"cannot_link": [[0, 1], [1, 2], [0, 2]]}, 422, "3 clusters are needed"),
        ({"cannot_link": [[0, 39]]}, 422, "contradict"),
        ({"must_link": [[0, 40]]}, 400, "out of range"),
        ({"rows": [[1.0], [1.0, 2.0]]}, 422, "different lengths"),
        ({"n_clusters": 50}, 400, "n_samples=40"),
        ({"n_clusters": 0}, 422, "greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_said_in_the_answer(service, changes, code, said):
    answer = service.post("/fit", json=job(**changes))
    assert answer.status_code == code
    assert said in answer.text


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ('{"rows": [[1.0, 2.0, 3.0]]}', 422, "3 columns, not 2"),
        ('{"rows": [[1.0], [1.0, 2.0]]}', 422, "different lengths"),
        ('{"rows": [[1.0, NaN]]}', 422, "finite number"),
        ('{"rows": [[1.0, Infinity]]}', 422, "finite number"),
        ('{"rows": [[1.0, "a"]]}', 422, "valid number"),
        ('{"rows": [[]]}', 422, "at least 1"),
        ('{"rows": []}', 422, "at least 1"),
        ('{"rows": [[' + "1," * 1000 + "1]]}", 422, "at most 1000"),
        ("{", 422, "JSON"),
        ("[" * 100_000, 400, "parsing"),
    ],
)
@pytest.mark.parametrize("door", ["/predict", "/fit"])
def test_rows_that_cannot_be_used_are_refused(service, door, body, code, said):
    if door == "/fit":
        if "columns, not" in said:
            return
        body = body.replace('"rows"', '"n_clusters": 1, "rows"')
    answer = service.post(door, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == code, answer.text
    assert said in answer.text


def test_a_body_that_is_too_long_is_refused_before_it_is_read(service, monkeypatch):
    monkeypatch.setattr(service.app_module, "MOST_BYTES", 100)
    answer = service.post("/predict", json={"rows": [[1.0, 2.0]] * 50})
    assert answer.status_code == 413
    unsaid = service.post("/predict", content=iter([b"{}"]))
    assert unsaid.status_code == 411


def test_predictions_do_not_wait_for_fits(service, monkeypatch):
    """All threads that predictions may use were once taken by fits that waited."""
    go_on = threading.Event()
    fitted = service.app_module._fitted
    monkeypatch.setattr(service.app_module, "_fitted", lambda job: go_on.wait(60) and fitted(job))
    with ThreadPoolExecutor(50) as pool:
        fits = [pool.submit(service.post, "/fit", json=job(seconds=30)) for _ in range(45)]
        try:
            answer = pool.submit(service.post, "/predict", json={"rows": [[0.0, 0.0]]})
            assert answer.result(timeout=30).status_code == 200
        finally:
            go_on.set()
        assert {fit.result().status_code for fit in fits} == {200, 503}


def test_too_many_fits_at_once_are_told_to_come_again(service):
    state = service.app.state
    state.fits = 1000
    assert service.post("/fit", json=job(seconds=0.1)).status_code == 503
    state.fits = 0
    assert service.post("/fit", json=job()).status_code == 200
    assert state.fits == 0
