"""Labels and prices as tables: by the ending of the name, joined, and without formulas."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kempe.cli import app
from kempe.cli.heartbeat import Heartbeat
from kempe.cli.labels import typed
from kempe.search.stop import SearchState


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["=1+1,1,red", "-x,1.5,", "@b,8,blue", "7,9,red", "007,9.5,red"]
    Path("data.csv").write_text("id,a,colour\n" + "".join(f"{row}\n" for row in rows))

    def invoke(*arguments, code=0):
        done = CliRunner().invoke(app, [str(a) for a in arguments])
        assert done.exit_code == code, done.output
        return done

    return invoke


FIT = ("fit", "data.csv", "-k", 2, "--id-column", "id", "--ignore", "colour")
IDS = ["=1+1", "-x", "@b", "7", "007"]


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def read_back(path):
    pandas = pytest.importorskip("pandas")
    return pandas.read_parquet(path) if path.endswith("parquet") else pandas.read_excel(path)


@pytest.mark.parametrize("name", ["out.parquet", "out.xlsx"])
def test_labels_are_written_as_the_name_says(run, name):
    run(*FIT, "-o", name, "--centers", f"centers-{name}")
    frame = read_back(name)
    assert list(frame.columns) == ["id", "label"]
    assert frame["id"].astype(str).tolist() == IDS
    assert frame["label"].nunique() == 2
    assert list(read_back(f"centers-{name}").columns) == ["a"]


def test_no_cell_is_a_formula(run):
    run(*FIT, "-o", "out.csv")
    assert [row[0] for row in read_csv("out.csv")] == ["id", "'=1+1", "'-x", "'@b", "7", "007"]
    run("certify", "data.csv", "out.csv", "--id-column", "id", "--ignore", "colour", "-q")
    run(*FIT, "-o", "out.xlsx")
    sheet = pytest.importorskip("openpyxl").load_workbook("out.xlsx").active
    assert [(cell.value, cell.data_type) for cell in sheet["A"]][1] == ("=1+1", "s")


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.xlsx"])
def test_join_writes_the_table_with_its_labels(run, name):
    labels = json.loads(run(*FIT, "--json").stdout)["labels"]
    run(*FIT, "-o", name, "--join")
    if name == "out.csv":
        head, *rows = read_csv(name)
        assert rows[1] == ["'-x", "1.5", "", str(labels[1])]
    else:
        frame = read_back(name)
        head = list(frame.columns)
        assert frame["label"].tolist() == labels
        assert frame["a"].tolist() == [1, 1.5, 8, 9, 9.5]
        assert frame["colour"].isna().tolist() == [False, True, False, False, False]
        assert frame["id"].astype(str).tolist() == IDS
    assert head == ["id", "a", "colour", "label"]
    Path("data.csv").write_text("label,a\nx,1\ny,2\nz,9\n")
    run("fit", "data.csv", "-k", 2, "--ignore", "label", "-o", "out.csv", "--join")
    assert read_csv("out.csv")[0] == ["label", "a", "kempe_label"]


def test_join_needs_a_place(run):
    assert "say where, by -o FILE" in run(*FIT, "--join", code=2).stderr


def test_columns_get_the_type_that_they_have():
    assert typed(["1", "2", ""]) == [1, 2, None]
    assert typed(["1.5", "NA", "2"]) == [1.5, None, 2.0]
    assert typed(["007", "8"]) == ["007", "8"]
    assert typed(["x", "", "1"]) == ["x", None, "1"]


def test_prices_are_a_table(run):
    Path("apart.csv").write_text("7,007\n=1+1,-x\n")
    run(*FIT, "--cannot-link", "apart.csv", "--prices", "prices.csv")
    head, *rows = read_csv("prices.csv")
    assert head == ["kind", "first", "second", "price", "share_of_inertia", "rows_moved"]
    assert {row[0] for row in rows} == {"cannot-link"}
    prices = [float(row[3]) for row in rows]
    assert prices == sorted(prices, reverse=True)
    assert all(price > 0 for price in prices)


def test_long_searches_say_what_they_have_reached(capsys):
    beat = Heartbeat()
    for elapsed in np.arange(0.5, 45, 0.5):
        beat.on_iteration(SearchState(7, 4.0, 3.0, 2, float(elapsed), "perturb", 4.0, 3.0))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"after {s} s" for s in (5, 10, 20, 40)]
    assert lines[0] == "after 5 s: inertia 3, 7 mutations, 2 of them since the best"


def test_the_summary_says_when_the_best_was_found():
    from dataclasses import replace

    from kempe import KempeKMeans
    from kempe.cli.summary import lines
    from kempe.constraints import Constraints

    model = KempeKMeans(2, random_state=0).fit(np.arange(20.0).reshape(10, 2))
    assert 0 <= model.result_.best_after <= model.result_.runtime
    model.result_ = replace(model.result_, runtime=66.0)
    model.result_.statistics.elapsed[:] = [3.0 for _ in model.result_.statistics.elapsed]
    assert lines(model, Constraints(), None)["time"] == "best found after 3.0 s of 66.0"
    assert "; found after 3.000 s" in model.result_.summary()
    model.result_ = replace(model.result_, runtime=0.5)
    assert lines(model, Constraints(), None)["time"] == "0.50 s"
