"""Pairs that may be wrong, and pairs to give up, on the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kempe.cli import app

ROWS = "name,x,y\nann,0,0\nbob,0.1,0\ncid,5,5\ndan,5,5.1\neve,9,1\n"


@pytest.fixture
def run():
    def invoke(*arguments, code=0):
        done = CliRunner().invoke(app, list(arguments))
        assert done.exit_code == code, done.output
        return done

    return invoke


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(ROWS)
    return tmp_path


def write(folder, name, text):
    (folder / name).write_text(text)
    return name


FIT = ["fit", "data.csv", "-k", "2", "--id-column", "name", "-o", "labels.csv"]
SOFT = "first,second,probability\nann,bob,0.9\nbob,cid,0.8\nann,cid,0.1\ndan,eve,0.5\n"


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_soft_pairs_are_broken_and_written(run, files, ending):
    pairs = write(files, "pairs.csv", SOFT)
    done = run(*FIT, "--soft", pairs, "--violated", f"broken.{ending}")
    assert "1 of 3 broken" in done.stderr, "of four, one says nothing"
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "xlsx": pd.read_excel}[ending]
    [broken] = read(f"broken.{ending}").to_dict("records")
    assert [broken[name] for name in ("kind", "first", "second")] == ["must-link", "bob", "cid"]
    assert broken["confidence"] == pytest.approx(0.8)
    assert broken["price"] > 0


def test_files_of_soft_pairs_are_joined_whatever_says_how_sure_they_are(run, files):
    kinds = write(files, "kinds.csv", "a,b,kind,confidence\nann,bob,ml,0.9\nann,cid,cl,0.7\n")
    linked = write(files, "linked.csv", "a,b,weight\nbob,cid,0.5\n")
    unsure = write(files, "unsure.csv", "dan,eve,must-link\n")
    done = run(*FIT, "--soft", kinds, "--must-link", linked, "--soft", unsure)
    assert "of 4 broken" in done.stderr
    typed = write(files, "typed.csv", "a,b,kind\nann,bob,ml\nbob,cid,cl\n")
    done = run(*FIT, "--constraints", typed, "--soft", unsure, "--confidence", "0.9")
    assert "1 must-link and 1 cannot-link pair on 3 of 5 rows, all satisfied" in done.stderr


def test_the_summary_counts_what_hard_pairs_decide(run, files):
    hard = write(files, "hard.csv", "ann,bob\nbob,cid\n")
    soft = write(files, "pairs.csv", SOFT)
    done = run(*FIT, "--must-link", hard, "--soft", soft)
    assert "1 of 3 broken; hard pairs decide 3 of them" in done.stderr
    said = run(
        "check", "data.csv", "--id-column", "name", "-k", "2", "--must-link", hard, "--soft", soft
    )
    assert "hard ones keep 2 and break 1 whatever the clusters; 0 are open" in said.stdout


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--must-link", "a,b,confidence\nann,bob,0.4\n", "one half: say it the other way round"),
        ("--must-link", "a,b,confidence\nann,bob,1\n", "certain: give it as a hard pair"),
        ("--must-link", "a,b,confidence\nann,bob,\n", "line 2: the confidence is missing"),
        ("--must-link", "a,b,confidence\nann,bob,often\n", "'often', which is no number"),
        ("--cannot-link", "a,b,probability\nann,bob,0.9\n", "give the file as --soft"),
        ("--cannot-link", "a,b,weight\nann,bob,-2\n", "not above 0: say it the other way round"),
        ("--soft", "a,b,probability\nann,bob,1.2\n", "1.2, which is not between 0 and 1"),
        ("--soft", "a,b,weight\nann,bob,0\n", "0, which is nothing at all"),
        ("--soft", "a,b,weight\nann,bob,99\n", "99, which is certain"),
        ("--soft", "a,b,kind,probability\nann,bob,ml,0.9\n", "leave out the column of kinds"),
        ("--soft", "a,b\nann,bob\n", "need three columns"),
        ("--soft", "a,b,confidence\nann,bob,0.9\n", "need three columns"),
        ("--soft", "a,b,probability\nann,ann,0.1\n", "apart from itself"),
        ("--soft", "a,b,probability\n", "holds no pair"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(run, files, option, text, message):
    done = run(*FIT, option, write(files, "pairs.csv", text), code=2)
    assert "pairs.csv" in done.stderr
    assert message in done.stderr


def test_commands_that_know_no_soft_pairs_say_so(run, files):
    pairs = write(files, "pairs.csv", SOFT)
    done = run(
        "fit",
        "data.csv",
        "-k",
        "2",
        "--id-column",
        "name",
        "--method",
        "KSKM",
        "--soft",
        pairs,
        code=2,
    )
    assert "the method KSKM knows no soft pairs, of which there are 3" in done.stderr
    done = run(*FIT, "--method", "KSKM", "--confidence", "0.9", code=2)
    assert "no --confidence" in done.stderr


def test_numbers_of_clusters_are_tried_with_soft_pairs(run, files):
    pairs = write(files, "pairs.csv", SOFT.replace("dan,eve,0.5", "dan,eve,0.3\ncid,dan,0.9"))
    done = run("choose-k", "data.csv", "--id-column", "name", "--to", "4", "--soft", pairs)
    assert "±" in done.stdout


CONTRADICTION = "a,b,kind\nann,bob,ml\nbob,cid,ml\nann,cid,cl\n"


def test_giving_up_pairs_is_advised_only_where_pairs_are_to_blame(run, files):
    data = ["data.csv", "--id-column", "name", "-k", "2"]
    apart = write(files, "apart.csv", "ann,bob\n")
    done = run("check", *data, "--cannot-link", apart, "--size-max", "2", code=3)
    assert "size_max must be at least 3" in done.stderr
    assert "relax" not in done.stderr
    pairs = write(files, "pairs.csv", CONTRADICTION)
    done = run("check", *data, "--constraints", pairs, "--size-max", "2", code=3)
    assert "kempe relax finds the fewest pairs to give up" in done.stderr


def test_relax_names_the_pairs_to_give_up(run, files):
    pairs = write(files, "pairs.csv", CONTRADICTION)
    data = ["data.csv", "--id-column", "name", "-k", "2", "--constraints", pairs]
    done = run("fit", *data, code=3)
    assert "kempe relax finds the fewest pairs to give up" in done.stderr
    done = run(
        "relax", *data, "--given-up", "up.csv", "--kept", "kept.csv", "-o", "labels.csv", "--proof"
    )
    assert done.stdout.splitlines() == [
        "must-link    bob cid",
        "3 pairs cannot all hold: ann = bob, bob = cid, ann ≠ cid",
    ]
    assert "1 of 3 pairs: 1 must-link, 0 cannot-link" in done.stderr
    assert pd.read_csv("up.csv").values.tolist() == [["bob", "cid", "must-link", 1.0]]
    assert len(pd.read_csv("labels.csv")) == 5
    again = run("fit", "data.csv", "--id-column", "name", "-k", "2", "--constraints", "kept.csv")
    assert "all satisfied" in again.stderr


def test_relax_needs_no_data_and_prints_json(run, files):
    pairs = write(files, "pairs.csv", "a,b,kind\n0,1,ml\n1,2,ml\n0,2,cl\n")
    done = run("relax", "-k", "2", "--constraints", pairs, "--json", "-q")
    content = json.loads(done.stdout)
    assert content["cost"] == content["lower_bound"] == 1
    assert content["optimal"] is True
    assert np.unique(content["labels"]).size <= 2
    assert (
        "name its file"
        in run("relax", "-k", "2", "--constraints", pairs, "-o", "l.csv", code=2).stderr
    )
    assert "there are no pairs" in run("relax", "-k", "2", code=2).stderr


def test_what_relax_keeps_of_soft_pairs_holds_beside_the_hard_ones(run, files):
    hard = write(files, "hard.csv", "ann,bob\nbob,cid\n")
    soft = write(files, "soft.csv", "a,b,kind,confidence\nann,cid,cl,0.99\ndan,eve,ml,0.6\n")
    data = ["data.csv", "--id-column", "name", "-k", "2"]
    run("relax", *data, "--must-link", hard, "--soft", soft, "--kept", "kept.csv", "-q")
    kept = [["ann", "bob", "must-link"], ["bob", "cid", "must-link"], ["dan", "eve", "must-link"]]
    assert pd.read_csv("kept.csv").values.tolist() == kept
    again = run("fit", *data, "--constraints", "kept.csv")
    assert "3 must-link" in again.stderr
    assert "all satisfied" in again.stderr


def test_relax_gives_up_soft_pairs_alone_where_there_are_any(run, files):
    hard = write(files, "hard.csv", "0,1\n1,2\n")
    soft = write(files, "soft.csv", "a,b,kind,confidence\n0,2,cl,0.99\n3,4,ml,0.6\n")
    done = run("relax", "-k", "2", "--must-link", hard, "--soft", soft, "-q")
    assert done.stdout.startswith("cannot-link  0 2  4.59")
    both = write(files, "apart.csv", "a,b\n0,2\n")
    done = run(
        "relax", "-k", "2", "--must-link", hard, "--cannot-link", both, "--soft", soft, code=3
    )
    assert "only soft pairs are given up" in done.stderr


@pytest.mark.parametrize("command", [FIT, ["predict", "model", "data.csv"]])
@pytest.mark.parametrize(
    ("confidence", "message"), [("0.4", "no more than one half"), ("1", "give the pairs as hard")]
)
def test_a_confidence_of_all_pairs_that_is_none_is_refused(
    run, files, command, confidence, message
):
    soft = write(files, "pairs.csv", SOFT)
    done = run(*command, "--soft", soft, "--confidence", confidence, code=2)
    assert message in done.stderr


@pytest.mark.slow
def test_methods_with_soft_pairs_are_compared(run, files):
    soft = write(files, "pairs.csv", SOFT)
    compare = ["compare", "data.csv", "-k", "2", "--id-column", "name", "--soft", soft]
    done = run(*compare, "--seeds", "1", "--time-limit", "20", "--workers", "1")
    assert all(method in done.stdout for method in ("kempe", "PCCC", "PCKMeans"))
    assert "--truth-column judges by labels" in done.stderr
    refused = run(*compare, "--methods", "kempe,KSKM", "-o", "other", code=2)
    assert "KSKM cannot break a pair, and 3 of these may be wrong" in refused.stderr
