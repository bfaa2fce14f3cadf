"""Tables as people have them: ids, holes, categories, partial labels, weights."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kempe
from kempe.cli import app
from kempe.cli.summary import sizes_in_words

CITIES = ("Rome", "Oslo", "Bonn")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code=0, stdin=None):
        done = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
        assert done.exit_code == code, done.output
        return done

    return invoke


@pytest.fixture
def customers(run):
    """Write customers.csv, with string ids, missing values and a category, and pairs by id."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(120):
        group = number % 3
        age, income = 30 + 12 * group + rng.normal(), 1000 * (1 + group) + 50 * rng.normal()
        cells = [f"c-{number:03d}", f"{age:.1f}", f"{income:.0f}", CITIES[group]]
        for column, chance in ((1, 0.05), (2, 0.05), (3, 0.03)):
            if rng.random() < chance:
                cells[column] = rng.choice(["", "NA", "?"])
        rows.append(cells)
    with open("customers.csv", "w", newline="") as file:
        csv.writer(file).writerows([["customer", "age", "income", "city"], *rows])
    Path("together.csv").write_text("one,other\nc-000,c-001\nc-010,c-050\n")
    Path("apart.csv").write_text("c-000,c-003\nc-004,c-007\nc-002,c-005\n")
    return [row[0] for row in rows]


def table(path):
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


PREPARED = ["--id-column", "customer", "--impute", "median", "--encode", "city", "--standardise"]
PAIRS = ["--must-link", "together.csv", "--cannot-link", "apart.csv"]


def test_from_a_real_table_to_labels_with_ids_in_one_command(run, customers):
    """As a process of its own, as a person starts it."""
    command = ["fit", "customers.csv", "-k", "3", *PREPARED, *PAIRS, "-o", "labels.csv"]
    done = subprocess.run(
        [sys.executable, "-m", "kempe", *command], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    for said in ("SimpleImputer (median)", "OneHotEncoder: city (4)", "StandardScaler"):
        assert said in done.stderr
    assert "2 must-link and 3 cannot-link pairs on 9 of 120 rows, all satisfied" in done.stderr
    header, rows = table("labels.csv")
    assert header == ["customer", "label"]
    assert [name for name, _ in rows] == customers
    label = dict(rows)
    assert set(label.values()) == {"0", "1", "2"}
    assert label["c-000"] == label["c-001"]
    assert label["c-010"] == label["c-050"]
    for one, other in (("c-000", "c-003"), ("c-004", "c-007"), ("c-002", "c-005")):
        assert label[one] != label[other]


def test_a_model_prepares_new_rows_as_it_did_the_old(run, customers):
    run("fit", "customers.csv", "-k", 3, *PREPARED, "--model", "model", "-o", "labels.csv")
    run("predict", "model", "customers.csv", "--id-column", "customer", "-o", "again.csv")
    assert table("again.csv") == table("labels.csv")  # without pairs the nearest centre is it
    Path("new.csv").write_text("city,id,income,age\nOslo,x,NA,\nRome,y,1000,30\nParis,z,3000,55\n")
    done = run("predict", "model", "new.csv", "--id-column", "id")
    assert [line.split(",")[0] for line in done.stdout.split()] == ["x", "y", "z"]
    assert "column 'city' has values that the model has not seen: Paris" in done.stderr
    pandas = pytest.importorskip("pandas")
    with pytest.warns(UserWarning, match="Paris"):
        labels = kempe.load("model").predict(pandas.read_csv("new.csv"))
    assert [line.split(",")[1] for line in done.stdout.split()] == list(map(str, labels))


def test_a_model_without_imputing_refuses_holes(run, customers):
    run("fit", "customers.csv", "-k", 3, *PREPARED, "--model", "model")
    Path("full.csv").write_text("a,kind\n1,x\n2,y\n9,x\n8,y\n")
    run("fit", "full.csv", "-k", 2, "--encode", "kind", "--model", "model")
    Path("holes.csv").write_text("a,kind\n1,\n,y\n")
    done = run("predict", "model", "holes.csv", code=2)
    assert "'a': 1 missing value, the first in line 3" in done.stderr
    assert "'kind': 1 missing value, the first in line 2" in done.stderr
    assert "--impute" not in done.stderr  # which predict does not have


def test_centres_are_in_the_units_of_the_table_and_categories_are_shares(run, customers):
    run("fit", "customers.csv", "-k", 3, *PREPARED, "--centers", "centers.csv", "-o", "labels.csv")
    header, rows = table("centers.csv")
    assert header == ["age", "income", "city=(missing)", "city=Bonn", "city=Oslo", "city=Rome"]
    centers = np.array(rows, dtype=float)
    assert sorted(np.round(centers[:, 1], -3)) == [1000, 2000, 3000]
    np.testing.assert_allclose(centers[:, 2:].sum(axis=1), 1)


def test_json_has_ids_and_names_of_clusters(run):
    Path("data.csv").write_text("id,a,kind\nx,1,low\ny,2,?\nz,9,high\n")
    columns = ["--id-column", "id", "--labels-column", "kind"]
    found = json.loads(run("fit", "data.csv", "-k", 2, *columns, "--json", "-q").stdout)
    assert found["ids"] == ["x", "y", "z"]
    assert found["labels"] == ["low", "low", "high"]
    assert sorted(found["clusters"]) == ["high", "low"]


UNKNOWN = ["", "NA", "nan", "-1", "?", "NaN", " ", "n/a", "<NA>", "null"]


@pytest.mark.parametrize("word", UNKNOWN)
def test_labels_that_say_nothing_constrain_nothing(run, word):
    rows = ["1,p", f"1.1,{word}", "5,q", f"5.1,{word}", "5.2,p"]
    Path("data.csv").write_text("a,kind\n" + "".join(f"{row}\n" for row in rows))
    done = run("fit", "data.csv", "-k", 2, "--labels-column", "kind", "-o", "-")
    labels = done.stdout.split()
    assert (labels[0], labels[2], labels[4]) == ("p", "q", "p")
    assert labels[1] != labels[3]  # one class of unknown rows would have joined them
    assert "3 of 5 rows of 'kind' known, in 2 classes" in done.stderr
    assert f"taken as unknown: 2 x {word.strip() or 'blank'}" in done.stderr


def test_clusters_without_a_known_label_get_numbers_that_are_no_label(run):
    Path("data.csv").write_text("a,kind\n1,1\n1.1,\n5,0\n9,\n9.1,\n")
    done = run("fit", "data.csv", "-k", 3, "--labels-column", "kind", "-o", "-", "--model", "m")
    assert done.stdout.split() == ["1", "1", "0", "2", "2"]
    assert run("predict", "m", "data.csv").stdout.split() == ["1", "1", "0", "2", "2"]
    model = kempe.load("m")
    frame = pytest.importorskip("pandas").DataFrame({"a": [5.0, 9.0]})
    assert model.cluster_names_[model.predict(frame)].tolist() == ["0", "2"]
    model.fit(np.array([[1.0], [2.0], [5.0]]))
    assert not hasattr(model, "cluster_names_")


def test_weights_pull_the_centres(run):
    Path("data.csv").write_text("a,w\n0,3\n4,1\n100,1\n")
    run("fit", "data.csv", "-k", 2, "--weights-column", "w", "--centers", "centers.csv")
    assert sorted(float(row[0]) for row in table("centers.csv")[1]) == [1.0, 100.0]


def test_the_options_of_the_search_reach_it(run):
    rng = np.random.default_rng(0)
    np.save("data.npy", rng.normal(size=(60, 2)))
    short = json.loads(run("fit", "data.npy", "-k", 6, "--max-mutations", 0, "--json").stdout)
    assert short["mutations"] == 0
    options = ["--max-mutations", 3, "--n-init", 2, "--n-jobs", 2, "--model", "m"]
    run("fit", "data.npy", "-k", 6, *options)
    params = kempe.load("m").get_params()
    assert (params["max_mutations"], params["n_init"], params["n_jobs"]) == (3, 2, 2)


def test_soft_pairs_of_a_constraint_file_reach_pccc(run):
    Path("data.csv").write_text("0\n1\n8\n9\n")
    Path("pairs.json").write_text('{"ml": [[2, 3]], "scl": [[0, 1]], "scl_proba": [0.1]}')
    done = run("fit", "data.csv", "-k", 2, "--constraints", "pairs.json", "--method", "PCCC")
    assert "violated with a confidence of 0.1" in done.stderr
    assert "1 must-link and 0 cannot-link" in done.stderr


def test_known_labels_and_pairs_of_several_files_are_joined(run):
    Path("data.csv").write_text("a,kind\n1,p\n2,p\n3,q\n4,\n5,\n6,\n")
    Path("pairs.json").write_text('{"cl": [[3, 4]]}')
    Path("more.csv").write_text("first,second\n4,5\n")
    files = ["--constraints", "pairs.json", "--cannot-link", "more.csv"]
    done = run("fit", "data.csv", "-k", 3, "--labels-column", "kind", *files)
    assert "1 must-link and 3 cannot-link pairs on 6 of 6 rows" in done.stderr


def test_check_understands_ids(run, customers):
    Path("clash.csv").write_text("c-000,c-001\n")
    ids = ["customers.csv", "--id-column", "customer"]
    assert "feasible with 2" in run("check", *ids, "-k", 2, *PAIRS).output
    done = run(
        "check", *ids, "-k", 2, "--must-link", "together.csv", "--cannot-link", "clash.csv", code=3
    )
    assert "rows c-000 and c-001 cannot be linked" in done.stderr


def test_certificates_go_with_ids_and_prepared_tables(run):
    Path("data.csv").write_text("id,a,kind\nx,0,p\ny,1,p\nz,8,\nu,9,q\nv,,q\n")
    Path("apart.csv").write_text("x,z\n")
    columns = [
        "--id-column",
        "id",
        "--encode",
        "kind",
        "--impute",
        "mean",
        "--cannot-link",
        "apart.csv",
    ]
    run("fit", "data.csv", "-k", 2, *columns, "-o", "labels.csv", "-q")
    run("certify", "data.csv", "labels.csv", *columns, "-o", "proof", "--labels-output", "best.csv")
    assert "verified" in run("verify", "proof", "data.csv", *columns).stderr
    assert [row[0] for row in table("best.csv")[1]] == ["x", "y", "z", "u", "v"]
    shuffled = "id,label\n" + "".join(
        f"{name},{label}\n" for name, label in table("labels.csv")[1][::-1]
    )
    Path("shuffled.csv").write_text(shuffled)
    run("certify", "data.csv", "shuffled.csv", *columns, "-q")
    Path("short.csv").write_text("id,label\nx,0\n")
    assert (
        "no label for the id 'y'"
        in run("certify", "data.csv", "short.csv", *columns, code=2).stderr
    )


def test_sizes_of_many_clusters_are_told_in_a_line():
    assert sizes_in_words(np.array([3, 1, 2])) == "3 + 1 + 2 rows"
    assert sizes_in_words(np.array([3, 1]), ["oak", "fir"]) == "oak 3, fir 1 rows"
    words = sizes_in_words(np.arange(1, 31))
    assert words == "30 of 1 to 30 rows, half of them up to 16"


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("after", ["nothing", "a clustering"])
def test_ctrl_c_shows_what_there_is(run, after):
    rng = np.random.default_rng(0)
    np.save("data.npy", rng.normal(size=(5000, 4)))
    source = "data.npy" if after == "a clustering" else "-"
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, "fit", source, "-k", "30", "--max-mutations", "1000000000"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()  # now it searches, or waits for its input
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    if after == "nothing":
        assert process.returncode == 130
        assert said == "error: stopped by Ctrl-C before there was anything to show\n"
    else:
        assert process.returncode == 0, said
        assert "mutations, stopped by Ctrl-C" in said


# Says on standard error when a first clustering is there, or that standard input is being read.
WAITING = """
import sys
from kempe.cli import main
from kempe.search.recorder import Recorder
from kempe.tables.source import Source
record = Recorder.record

def told(self, *arguments, **more):
    if self.best is None:
        print("found", file=sys.stderr, flush=True)
    return record(self, *arguments, **more)

def told_of_reading(self):
    print("reading", file=sys.stderr, flush=True)
    return read(self)

read = Source._read
Recorder.record, Source._read = told, told_of_reading
main()
"""
