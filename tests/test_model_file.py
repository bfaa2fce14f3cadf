"""Saved models: what is loaded equals what was saved, and a bad file does nothing but say so."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import kempe
from kempe import KSKM, FileFormatError, KempeKMeans, methods
from kempe.engine import MemeticParams
from kempe.kskm import ExactParams
from kempe.model_file import write_model
from kempe.preparation import Preparation
from kempe.rivals import PCCC
from kempe.search import Callbacks, MaxMutations


def as_plain(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters that ``==`` can compare."""
    return {k: (v.tolist(), v.dtype) if isinstance(v, np.ndarray) else v for k, v in params.items()}


def assert_same_model(one: Any, other: Any, X: Any) -> None:
    assert type(one) is type(other)
    assert as_plain(one.get_params()) == as_plain(other.get_params())
    assert vars(one).keys() == vars(other).keys()
    for name in ("labels_", "cluster_centers_"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)
    for name in ("inertia_", "n_iter_", "n_features_in_"):
        assert getattr(one, name) == getattr(other, name)
        assert type(getattr(one, name)) is type(getattr(other, name))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    assert one.score(X) == other.score(X)
    assert one.result_.statistics == other.result_.statistics
    assert one.result_.summary() == other.result_.summary()
    np.testing.assert_array_equal(one.result_.solution.colours, other.result_.solution.colours)


@pytest.fixture
def fitted(planted) -> KempeKMeans:
    case = planted(0)
    model = KempeKMeans(case.n_clusters, max_mutations=20, random_state=0)
    return model.fit(case.X, constraints=case.constraints)


@pytest.fixture
def saved(fitted, tmp_path) -> Path:
    path = tmp_path / "model.kempe"
    fitted.save(path)
    return path


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", methods.names())
def test_a_loaded_model_is_the_saved_one(planted, tmp_path, name, dtype):
    case = planted(0, n_pairs=10, dtype=dtype)  # few, so that all methods find a clustering
    model = methods.create(name, case.n_clusters, 0, init=case.X[: case.n_clusters])
    if "max_mutations" in model.get_params():
        model.set_params(max_mutations=20)
    model.fit(case.X, constraints=case.constraints)
    model.save(tmp_path / "model")
    assert_same_model(model, kempe.load(tmp_path / "model"), case.X)


@pytest.mark.parametrize(
    "params",
    [
        {"params": MemeticParams(population_size=3, annealing=False)},
        {"stop": MaxMutations(5)},
        {"init": "random", "target_inertia": -np.inf, "time_limit": 1e9},
        {"init": [[0.0, 1], [2, 3.5], [4, 5]]},
        {"init": np.array([[0, 1], [2, 3], [4, 5]]), "patience": np.int64(30)},
        {"init": ((0.0, 1.0), (2.0, 3.0), (4.0, 5.0)), "n_jobs": 2},
    ],
)
def test_parameters_of_all_plain_kinds_are_kept(planted, tmp_path, params):
    case = planted(0)
    model = KempeKMeans(case.n_clusters, **{"max_mutations": 10, **params}, random_state=0)
    model.fit(case.X, constraints=case.constraints)
    model.save(tmp_path / "model")
    assert_same_model(model, kempe.load(tmp_path / "model"), case.X)


def test_settings_of_exact_assignments_are_kept(planted, tmp_path):
    case = planted(0)
    exact = ExactParams("highs", effort=None, nonempty=True)
    model = KSKM(case.n_clusters, exact=exact, max_mutations=1, random_state=0)
    model.fit(case.X, constraints=case.constraints).save(tmp_path / "model")
    assert_same_model(model, kempe.load(tmp_path / "model"), case.X)


def test_names_of_features_and_soft_violations_are_kept(planted, tmp_path):
    pandas = pytest.importorskip("pandas")
    case = planted(0)
    frame = pandas.DataFrame(case.X, columns=["height", "größe"])
    model = PCCC(case.n_clusters, random_state=0).fit(frame, soft_cannot_link=[(0, 1), (0, 5)])
    model.save(tmp_path / "model")
    loaded = kempe.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["height", "größe"]
    assert loaded.feature_names_in_.dtype == model.feature_names_in_.dtype
    assert loaded.soft_violation_ == model.soft_violation_
    assert_same_model(model, loaded, frame)


@pytest.mark.parametrize("ids", [None, ["ann", "bob", "cid", "dan", "eve"], range(10, 15)])
def test_broken_soft_pairs_are_kept_with_their_names_and_prices(tmp_path, ids):
    X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    constraints = kempe.Constraints(
        row_names=ids,
        soft_must_link=[(0, 1), (1, 2)],
        soft_cannot_link=[(0, 1)],
        soft_cannot_link_confidence=0.6,
    )
    model = KempeKMeans(2, confidence=0.9, random_state=0).fit(X, constraints=constraints)
    model.save(tmp_path / "model")
    loaded = kempe.load(tmp_path / "model")
    assert len(model.result_.violated) == 2
    assert loaded.result_.violated.equals(model.result_.violated)
    assert loaded.result_.broken.pair_price == model.result_.broken.pair_price
    assert_same_model(model, loaded, X)


def test_a_file_that_knows_no_objective_has_that_of_the_inertia(fitted, saved, planted):
    old = rewritten(saved, lambda header: header["fitted"]["result"].pop("objective"))
    assert_same_model(fitted, kempe.load(old), planted(0).X)


def test_a_loaded_model_can_be_fitted_again(fitted, saved, planted):
    case = planted(0)
    again = kempe.load(saved).fit(case.X, constraints=case.constraints)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("callbacks", [Callbacks()]),
        ("stop", lambda state: False),
        ("random_state", np.random.RandomState(0)),
    ],
)
def test_what_is_no_plain_data_is_refused_by_name(fitted, tmp_path, name, value):
    fitted.set_params(**{name: value})
    with pytest.raises(TypeError, match=rf"{name}=.*cannot be saved.*set_params\({name}=None\)"):
        fitted.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    fitted.set_params(**{name: None}).save(tmp_path / "model")
    kempe.load(tmp_path / "model")


def test_only_fitted_models_of_kempe_are_saved(planted, tmp_path):
    with pytest.raises(NotFittedError):
        KSKM(3).save(tmp_path / "model")

    class Mine(KempeKMeans):
        pass

    case = planted(0)
    with pytest.raises(TypeError, match="Mine is no method of kempe"):
        Mine(3, max_mutations=0).fit(case.X).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def rewritten(
    path: Path, change: Any = lambda header: None, arrays: dict[str, Any] | None = None
) -> Path:
    """A valid archive with another header or other arrays; ``None`` takes an array away."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    top = json.loads(content["header.json"])
    change(top["header"])
    content["header.json"] = json.dumps(top).encode()
    for name, array in (arrays or {}).items():
        del content[f"{name}.npy"]
        if array is not None:
            buffer = io.BytesIO()
            np.save(buffer, array)
            content[f"{name}.npy"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


HEADERS = {
    "an unknown class": (lambda h: h.update({"class": "Popen"}), "no 'Popen' in this version"),
    "a class that is a list": (lambda h: h.update({"class": ["KSKM"]}), "there is no"),
    "another class": (lambda h: h.update({"class": "COPKM"}), "knows no sizes"),
    "no class": (lambda h: h.pop("class"), "'class' is missing"),
    "no parameters": (lambda h: h.pop("parameters"), "'parameters' is missing"),
    "parameters in a list": (lambda h: h.update(parameters=[1]), "attribute 'items'"),
    "an unknown parameter": (lambda h: h["parameters"].update(shell="rm"), "'shell'"),
    "a wrong type": (lambda h: h["parameters"].update(n_clusters="many"), "n_clusters"),
    "a wrong value": (lambda h: h["parameters"].update(n_clusters=-1), "n_clusters"),
    "unknown settings": (
        lambda h: h["parameters"].update(params={"settings": "Path", "values": {}}),
        "no 'Path' in this version",
    ),
    "bad settings": (
        lambda h: h["parameters"].update(
            params={"settings": "MemeticParams", "values": {"population_size": "six"}}
        ),
        "not supported between",
    ),
    "settings that are no mapping": (
        lambda h: h["parameters"].update(params={"settings": "MemeticParams", "values": 3}),
        "attribute 'items'",
    ),
    "no such array": (lambda h: h["parameters"].update(init={"array": "x"}), "'x' is missing"),
    "an odd parameter": (lambda h: h["parameters"].update(init={"file": "x"}), "no parameter"),
    "nothing fitted": (lambda h: h.pop("fitted"), "'fitted' is missing"),
    "fitted in a list": (lambda h: h.update(fitted=[]), "list indices"),
    "a negative inertia": (lambda h: h["fitted"].update(inertia=-1.0), "inertia must be"),
    "a NaN inertia": (lambda h: h["fitted"].update(inertia=float("nan")), "inertia must be"),
    "an inertia in words": (lambda h: h["fitted"].update(inertia="low"), "inertia must be"),
    "half an iteration": (lambda h: h["fitted"].update(n_iter=1.5), "n_iter must be"),
    "too many features": (lambda h: h["fitted"].update(n_features_in=10**30), "features"),
    "too few names": (lambda h: h["fitted"].update(feature_names_in=["a"]), "list of 2 names"),
    "names of numbers": (lambda h: h["fitted"].update(feature_names_in=[1, 2]), "1 is no name"),
    "no result": (lambda h: h["fitted"].pop("result"), "'result' is missing"),
    "more supernodes": (
        lambda h: h["fitted"]["result"].update(n_supernodes=10**12),
        "colours for 1000000000000 supernodes",
    ),
    "a reason that is none": (
        lambda h: h["fitted"]["result"].update(stop_reason=None),
        "None is no name",
    ),
    "kinds without names": (lambda h: h["fitted"]["result"].update(kinds=[]), "without a name"),
    "kinds that are a number": (lambda h: h["fitted"]["result"].update(kinds=3), "has no len"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_hostile_headers_are_refused(saved, name):
    change, message = HEADERS[name]
    with pytest.raises(
        FileFormatError, match=rf"model\.kempe is no valid kempe model: .*{message}"
    ):
        kempe.load(rewritten(saved, change))


ARRAYS = {
    "no centers": ({"centers": None}, "'centers' is missing"),
    "NaN centers": ({"centers": np.full((3, 2), np.nan)}, "NaN or infinity"),
    "centers of one dimension": ({"centers": np.ones(6)}, "shape \\(6,\\)"),
    "wide centers": ({"centers": np.ones((3, 7))}, "do not have 2 features"),
    "no rows of centers": ({"centers": np.ones((0, 2))}, "do not have 2 features"),
    "centers in words": ({"centers": np.array([["a", "b"]])}, "type <U1"),
    "complex centers": ({"centers": np.ones((3, 2), complex)}, "type complex128"),
    "fewer centers than labels": ({"centers": np.ones((1, 2))}, "not numbers of the 1 clusters"),
    "negative labels": ({"labels": np.full(60, -1, np.int32)}, "labels are not numbers"),
    "labels of another type": ({"labels": np.zeros(60)}, "labels is an array"),
    "colours too few": ({"colours": np.zeros(2, np.int32)}, "2 colours for"),
    "a short history": ({"history/elapsed": np.ones(1)}, "different lengths"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_hostile_arrays_are_refused(saved, name):
    arrays, message = ARRAYS[name]
    with pytest.raises(FileFormatError, match=message):
        kempe.load(rewritten(saved, arrays=arrays))


@pytest.fixture
def prepared(tmp_path) -> Path:
    """A model of a table with holes and words."""
    table = np.array([[1.0, "x"], [np.nan, "y"], [8.0, "x"], [9.0, None]], dtype=object)
    preparation = Preparation(["a", "b"], encode=["b"], impute="mean", standardise=True)
    model = KempeKMeans(2, random_state=0).fit(preparation.fit_transform(table))
    write_model(tmp_path / "model.kempe", model, preparation)
    return tmp_path / "model.kempe"


def test_a_model_with_a_preparation_is_a_pipeline(prepared):
    pipeline = kempe.load(prepared)
    assert [name for name, _ in pipeline.steps] == ["preparation", "clusterer"]
    labels = pipeline.predict(np.array([[1.0, "x"], [9.0, None]], dtype=object))
    assert labels[0] != labels[1]


def preparation(**entries: Any) -> Any:
    return lambda header: header["preparation"].update(entries)


PREPARATIONS = {
    "no names": (lambda h: h["preparation"].pop("names"), {}, "'names' is missing"),
    "names of numbers": (preparation(names=[1, 2]), {}, "not a list of names"),
    "a column twice": (preparation(names=["b", "b"]), {}, "contradict each other"),
    "other columns": (preparation(encode=["c"]), {}, "contradict each other"),
    "more columns": (preparation(names=["a", "b", "c"]), {}, "fill is not a row of 2"),
    "an odd imputer": (preparation(impute="eval"), {}, "no way to impute by 'eval'"),
    "no categories": (preparation(categories=[[]]), {}, "not categories for every column"),
    "few categories": (preparation(categories=[]), {}, "not categories for every column"),
    "more categories": (preparation(categories=[["w", "x", "y", "z"]]), {}, "not give the columns"),
    "odd categories": (preparation(categories=[["x", 1]]), {}, "not a list of names"),
    "nothing frequent": (preparation(most_frequent=[]), {}, "not a most frequent category"),
    "a list": (lambda h: h.update(preparation=[1]), {}, "list indices"),
    "no fill": (lambda h: None, {"preparation/fill": None}, "'fill' is missing"),
    "NaN": (lambda h: None, {"preparation/mean": np.array([np.nan])}, "not a row of 1 finite"),
    "wide": (lambda h: None, {"preparation/scale": np.ones(2)}, "scale is not a row of 1"),
    "names of clusters": (
        lambda h: h["fitted"].update(cluster_names=["one"]),
        {},
        "not a list of 2 names",
    ),
}


@pytest.mark.parametrize("name", PREPARATIONS)
def test_hostile_preparations_are_refused(prepared, name):
    change, arrays, message = PREPARATIONS[name]
    with pytest.raises(FileFormatError, match=rf"no valid kempe model: .*{message}"):
        kempe.load(rewritten(prepared, change, arrays))


def test_every_truncation_and_foreign_files_are_refused(saved):
    whole = saved.read_bytes()
    for content in [b"", b"hello", *(whole[:size] for size in range(0, len(whole), 97))]:
        saved.write_bytes(content)
        with pytest.raises(FileFormatError, match="damaged or not a kempe model"):
            kempe.load(saved)


WRITER = """
import sys, kempe
model = kempe.load(sys.argv[1])
while True:
    model.save(sys.argv[1])
    print("written", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("kill", [signal.SIGTERM, signal.SIGKILL])
def test_a_kill_while_saving_leaves_a_whole_model(saved, kill):
    for attempt in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(saved)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.001 * attempt)
        writer.send_signal(kill)
        writer.communicate()
        kempe.load(saved)
