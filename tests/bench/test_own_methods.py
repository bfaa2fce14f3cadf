"""Methods of one's own: by name from the current folder, as classes, as estimators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from typer.testing import CliRunner

import kempe
from kempe import Constraints
from kempe.bench import own_methods
from kempe.cli.app import app

OFFERED = {"n_clusters": 3, "init": None, "time_limit": 1.0, "random_state": 5}


class Told(BaseEstimator):
    """An estimator that gives what it is told."""

    def __init__(self, n_clusters=2, labels=(), random_state=None):
        self.n_clusters = n_clusters
        self.labels = labels
        self.random_state = random_state

    def fit(self, X, must_link, cannot_link):
        self.labels_ = np.resize(self.labels or range(self.n_clusters), len(X))
        return self


class Bare:
    n_clusters = 2

    def fit(self, X):
        self.labels_ = np.zeros(len(X), dtype=int)


def test_a_class_gets_the_parameters_that_it_knows():
    made = own_methods.make(Told, OFFERED, {"labels": (0, 1)})
    assert (made.n_clusters, made.labels, made.random_state) == (3, (0, 1), 5)


def test_an_estimator_is_copied_and_keeps_what_is_its_own():
    mine = Told(labels=(1, 0))
    made = own_methods.make(mine, OFFERED, {})
    assert (made.n_clusters, made.labels) == (3, (1, 0))
    assert mine.n_clusters == 2


def test_an_object_that_is_no_estimator_gets_what_it_has():
    made = own_methods.make(Bare(), OFFERED, {})
    assert made.n_clusters == 3
    assert not hasattr(made, "time_limit")


def test_a_class_without_a_number_of_clusters_is_refused():
    with pytest.raises(TypeError, match="no parameter n_clusters"):
        own_methods.make(Bare, OFFERED, {})


@pytest.mark.parametrize("form", ["constraints", "must_link, cannot_link", "**pairs", ""])
def test_a_fit_gets_the_pairs_in_the_form_that_it_knows(form):
    seen = {}
    names = {"seen": seen}
    keep = "locals()" if "**" not in form else "pairs"
    comma = ", *, " if form and "**" not in form else ", " if form else ""
    exec(f"def fit(X{comma}{form}):\n    seen.update({keep})", names)
    model = type("Model", (), {"fit": staticmethod(names["fit"])})()
    own_methods.fit(model, np.ones((4, 1)), Constraints([(0, 1)], [(1, 2)]))
    wanted = {"constraints": {"constraints"}, "**pairs": {"constraints"}, "": set()}
    assert set(seen) - {"X"} == wanted.get(form, {"must_link", "cannot_link"})


def test_python_takes_classes_and_estimators(planted):
    data = planted(3, n_rows=40, n_clusters=2, n_pairs=10, noise=0.0)
    truth = Told(labels=tuple(data.labels.tolist()))
    methods = {"COPKM_P": "COPKM_P", "truth": truth, "KMeans": KMeans}
    found = kempe.compare(
        data.X, 2, constraints=data.constraints, methods=methods, seeds=1, workers=1
    )
    assert found.methods == ["COPKM_P", "truth", "KMeans"]
    by_name = {outcome.method: outcome for outcome in found.outcomes}
    assert by_name["truth"].solved == 1
    assert by_name["truth"].best > 0
    assert by_name["COPKM_P"].best <= by_name["truth"].best * (1 + 1e-9)


def test_names_of_own_methods():
    assert own_methods.name_of(Told) == "Told"
    assert own_methods.name_of(Told(labels=(1,))) == "Told(labels=(1,))"
    assert own_methods.name_of(Bare()) == "Bare"
    with pytest.raises(ValueError, match="named twice"):
        kempe.compare([[0.0], [1.0]], 2, methods=[Bare, Bare()])
    with pytest.raises(ValueError, match="has a name already"):
        kempe.compare([[0.0], [1.0]], 2, methods={"mine": "KSKM"})


@pytest.mark.parametrize("name", ["nowhere:Mine", ":Mine", "json:", "a b:c"])
def test_a_method_that_is_nowhere_is_refused_before_anything_runs(name, tmp_path):
    with pytest.raises(ValueError, match=r"no module 'nowhere'|is no method"):
        kempe.compare([[0.0], [1.0]], 2, methods=[name], folder=tmp_path)
    assert not list(tmp_path.glob("runs*"))


METHOD = """
import numpy as np

class Mine:
    def __init__(self, n_clusters, random_state):
        self.n_clusters = n_clusters

    def fit(self, X, *, constraints):
        self.labels_ = np.arange(len(X)) % self.n_clusters
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mymethod.py").write_text(METHOD)
    rows = "".join(f"{i},{i % 5},{'?' if i % 2 else i % 3}\n" for i in range(30))
    Path("data.csv").write_text(f"a,b,kind\n{rows}")
    return tmp_path


def compare(*options):
    command = ["compare", "data.csv", "-k", "3", "--seeds", "2", "--workers", "1"]
    return CliRunner().invoke(app, [*command, "--truth-column", "kind", *options])


def test_a_method_in_the_current_folder_is_compared(folder):
    done = compare("--methods", "COPKM_P,mymethod:Mine")
    assert done.exit_code == 0, done.output
    assert "2 of 2" in done.output
    assert "ARI over the 15 of 30 rows whose true label is known" in done.output


def test_a_method_that_always_fails_is_an_error_and_can_be_tried_again(folder):
    Path("mymethod.py").write_text(METHOD.replace("self.labels_ = ", "self.labels = "))
    done = compare("--methods", "COPKM_P,mymethod:Mine")
    assert done.exit_code == 2, done.output
    assert "no run of mymethod:Mine found a clustering: error: AttributeError" in done.output
    assert "--retry-failed" in done.output
    assert "COPKM_P" in Path("comparison/methods.csv").read_text()
    Path("mymethod.py").write_text(METHOD)
    assert compare("--methods", "COPKM_P,mymethod:Mine").exit_code == 2
    assert compare("--methods", "COPKM_P,mymethod:Mine", "--retry-failed").exit_code == 0


def test_a_class_that_is_not_there_is_named_with_its_file(folder):
    done = compare("--methods", "COPKM_P,mymethod:Other")
    assert done.exit_code == 2
    assert "mymethod.py has no 'Other'" in done.output
