"""Tables as spreadsheets of other countries write them, in several files, with loose spelling."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kempe.cli import app

GERMAN = "Kunde;Größe;Umsatz;Straße\nÄnne;1,5;1.200,50;Weg\nJörg;2,25;900;Allee\nUwe;9,75;7,5;Weg\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code=0):
        done = CliRunner().invoke(app, [str(a) for a in arguments])
        assert done.exit_code == code, done.output
        return done

    return invoke


def fitted(run, *arguments):
    done = run("fit", *arguments, "-k", 2, "--json")
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_a_german_table_needs_no_option(run, encoding):
    Path("kunden.csv").write_bytes(GERMAN.encode(encoding))
    Path("getrennt.csv").write_bytes("Jörg;Änne\n".encode())
    options = ["--id-column", "Kunde", "--encode", "Straße", "--cannot-link", "getrennt.csv"]
    found, said = fitted(run, "kunden.csv", *options)
    assert found["ids"] == ["Änne", "Jörg", "Uwe"]
    assert found["columns"] == ["Größe", "Umsatz", "Straße=Allee", "Straße=Weg"]
    total = np.bincount(found["labels"]) @ np.array(found["centers"])[:, :2]
    assert total == pytest.approx([13.5, 2108.0])
    assert "commas were read as decimal marks" in said
    assert ("cp1252" in said) == (encoding == "cp1252")


def test_what_was_found_out_can_be_said(run):
    Path("a.csv").write_bytes("größe;b\n1,500;2\n2,500;3\n3,500;4\n".encode("latin-1"))
    comma, said = fitted(run, "a.csv", "--decimal", ",", "--encoding", "latin-1")
    assert "note" not in said
    assert sorted(row[0] for row in comma["centers"])[-1] < 4
    point, _ = fitted(run, "a.csv", "--decimal", ".")
    assert sorted(row[0] for row in point["centers"])[-1] > 1000
    run("predict", "a.csv", "a.csv", "--decimal", ";", code=2)


def test_a_model_reads_new_tables_with_decimal_commas(run):
    Path("a.csv").write_text("x;y\n1,5;2\n2,5;3\n9,5;4\n")
    run("fit", "a.csv", "-k", 2, "--model", "m", "-q")
    Path("new.csv").write_text("x;y\n1,500;2\n9,500;4\n")
    first, second = run("predict", "m", "new.csv", "--decimal", ",").stdout.split()
    assert first != second


def test_files_of_a_pattern_are_one_table(run):
    Path("part-1.csv").write_text("id,x\na,1\nb,2\n")
    Path("part-2.csv").write_text("id,x\nc,8\nd,9\n")
    found, _ = fitted(run, "part-*.csv", "--id-column", "id")
    assert found["ids"] == ["a", "b", "c", "d"]
    assert found["labels"][0] == found["labels"][1] != found["labels"][2] == found["labels"][3]
    Path("part-3.csv").write_text("id,y\ne,9\n")
    done = run("fit", "part-*.csv", "-k", 2, "--id-column", "id", code=2)
    assert "part-3.csv has the columns 'id', 'y', but part-1.csv has 'id', 'x'" in done.stderr
    Path("part-3.csv").write_text("id,x\ne,oops\nb,1\n")
    done = run("fit", "part-*.csv", "-k", 2, "--ignore", "id", code=2)
    assert "'oops' in part-3.csv, line 2" in done.stderr
    done = run("fit", "part-*.csv", "-k", 2, "--id-column", "id", code=2)
    assert "'b' (part-1.csv, line 3; part-3.csv, line 3)" in done.stderr


def test_lists_of_columns_have_commas_or_not(run):
    Path("t.csv").write_text('a,b,c,"d,e",w\n1,2,x,4,y\n2,3,x,5,z\n3,4,y,6,y\n')
    chosen, _ = fitted(run, "t.csv", "--columns", "b, a")
    assert chosen["columns"] == ["a", "b"]
    both, _ = fitted(run, "t.csv", "--encode", "c,w", "--columns", "a")
    assert both["columns"] == ["a", "c=x", "c=y", "w=y", "w=z"]
    left, _ = fitted(run, "t.csv", "--ignore", "c,w", "--ignore", "d,e", "--ignore", "2")
    assert left["columns"] == ["a"]


def test_american_spelling_works(run):
    Path("t.csv").write_text("a,b\n1,200\n2,100\n9,300\n")
    british, _ = fitted(run, "t.csv", "--standardise", "--centres", "c1.csv")
    american, _ = fitted(run, "t.csv", "--standardize", "--centers", "c2.csv")
    assert british["inertia"] == american["inertia"]
    assert Path("c1.csv").read_text() == Path("c2.csv").read_text()


def test_true_and_false_are_numbers(run):
    Path("t.csv").write_text("a,member\n1,True\n2,FALSE\n9,true\n")
    found, _ = fitted(run, "t.csv")
    assert np.bincount(found["labels"]) @ np.array(found["centers"])[:, 1] == pytest.approx(2)
    Path("t.csv").write_text("a,member\n1,True\n2,7\n9,true\n")
    assert "'True' in line 2" in run("fit", "t.csv", "-k", 2, code=2).stderr


def test_words_for_unknown_labels_can_be_declared_and_classes_are_listed(run):
    Path("t.csv").write_text("a,kind\n1,oak\n2,fir\n3,tbd\n4,TBD\n5,oak\n6,\n")
    run("fit", "t.csv", "-k", 2, "--labels-column", "kind", code=3)
    done = run("fit", "t.csv", "-k", 2, "--labels-column", "kind", "--unknown", "tbd", "-o", "-")
    assert set(done.stdout.split()) == {"oak", "fir"}
    assert "3 of 6 rows of 'kind' known, in 2 classes: oak (2), fir (1)" in done.stderr
    assert "taken as unknown: 1 x tbd, 1 x TBD, 1 x blank" in done.stderr


def test_missing_categories_are_a_category_of_their_own(run):
    rows = ["1,red", "2,", "3,red", "4,NA", "5,blue", "6,red"]
    Path("t.csv").write_text("a,colour\n" + "".join(f"{row}\n" for row in rows))
    found, said = fitted(run, "t.csv", "--encode", "colour", "--model", "m")
    assert found["columns"] == ["a", "colour=(missing)", "colour=blue", "colour=red"]
    shares = np.bincount(found["labels"]) @ np.array(found["centers"])[:, 1:]
    assert shares == pytest.approx([2, 1, 3])
    assert "holes that are a category of their own: 2 in colour" in said
    assert len(run("predict", "m", "t.csv").stdout.split()) == 6
    most, said = fitted(run, "t.csv", "--encode", "colour", "--impute", "most_frequent")
    assert most["columns"] == ["a", "colour=blue", "colour=red"]
    assert "(most_frequent): 2 in colour" in said


def test_a_column_that_decides_alone_is_named(run):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(40, 10, 30), rng.normal(40_000, 9_000, 30)]).round(1)
    text = "age,income\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist())
    Path("people.csv").write_text(text)
    told = "scale: 'income' has 100.0 % of the variance, so it decides nearly alone; --standardise"
    assert told in fitted(run, "people.csv")[1]
    assert "scale:" not in fitted(run, "people.csv", "--standardise")[1]
    assert "scale:" not in fitted(run, "people.csv", "--ignore", "age")[1], "there is no other"
    Path("alike.csv").write_text("a,b\n1,2\n3,5\n2,1\n9,8\n")
    assert "scale:" not in fitted(run, "alike.csv")[1]
