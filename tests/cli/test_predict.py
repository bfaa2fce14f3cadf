"""``kempe fit --model`` and ``kempe predict``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kempe
from kempe.cli import app

NEW = "1.2,2.1\n5.1,6\n9,8.8\n0,0\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "1,2\n1.1,2\n5,6\n5.2,6.1\n9,9\n"
    Path("plain.csv").write_text(rows)
    Path("named.csv").write_text("a,b\n" + rows)
    Path("cl.csv").write_text("0,2\n")
    Path("new.csv").write_text(NEW)

    def invoke(*arguments):
        return CliRunner().invoke(app, [str(a) for a in arguments])

    return invoke


def expected() -> list[int]:
    rows = np.loadtxt(NEW.split(), delimiter=",")
    model = kempe.load("model")
    centers = model.cluster_centers_
    return np.argmin(((rows[:, None] - centers) ** 2).sum(axis=2), axis=1).tolist()


def test_a_model_predicts_on_the_command_line(run):
    fitted = run("fit", "plain.csv", "-k", 3, "--cannot-link", "cl.csv", "--model", "model")
    assert fitted.exit_code == 0, fitted.output
    assert "not written" not in fitted.stderr
    done = run("predict", "model", "new.csv", "-o", "labels.csv")
    assert (done.exit_code, done.stdout) == (0, "")
    lines = Path("labels.csv").read_text().splitlines()
    assert lines == ["label", *map(str, expected())]
    assert run("predict", "model", "new.csv").stdout.split() == lines[1:]


def test_columns_are_found_by_name(run):
    run("fit", "named.csv", "-k", 3, "-q", "--model", "model")
    rows = [line.split(",") for line in NEW.split()]
    Path("mixed.csv").write_text(
        "b,note,a\n" + "".join(f"{second},x,{first}\n" for first, second in rows)
    )
    done = run("predict", "model", "mixed.csv")
    assert (done.exit_code, done.stderr) == (0, "")
    assert [int(label) for label in done.stdout.split()] == expected()
    assert kempe.load("model").feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model", "wide.csv"], "wide.csv has 3 columns, the model 2"),
        (["model", "other.csv"], "other.csv has no column 'a'"),
        (["new.csv", "new.csv"], "new.csv is damaged or not a kempe model"),
        (["missing", "new.csv"], "missing: No such file"),
        (["model", "new.csv", "-o", "new.csv"], "named twice"),
        (["model", "new.csv", "-o", "model"], "named twice"),
    ],
)
def test_what_is_wrong_is_one_line(run, arguments, message):
    Path("wide.csv").write_text("1,2,4\n")
    Path("other.csv").write_text("b,c\n1,2\n")
    run("fit", "named.csv", "-k", 3, "-q", "--model", "model")
    before = Path("model").read_bytes()
    done = run("predict", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert Path("new.csv").read_text() == NEW
    assert Path("model").read_bytes() == before


def test_a_model_of_scaled_data_scales_what_it_predicts(run):
    Path("skewed.csv").write_text("a,b\n1,2000\n2,2001\n1,9000\n2,9001\n8,2000\n9,9000\n")
    fitted = run("fit", "skewed.csv", "-k", 2, "--standardise", "--model", "model", "-o", "fit.csv")
    assert fitted.exit_code == 0, fitted.output
    assert "StandardScaler" in fitted.stderr
    done = run("predict", "model", "skewed.csv", "-o", "new.csv")
    assert done.exit_code == 0, done.output
    assert Path("new.csv").read_text() == Path("fit.csv").read_text()
    pipeline = kempe.load("model")
    rows = np.loadtxt("skewed.csv", delimiter=",", skiprows=1)
    assert pipeline.predict(rows).tolist() == [
        int(label) for label in Path("fit.csv").read_text().split()[1:]
    ]


def test_pairs_of_new_rows_hold_on_the_command_line(run):
    assert (
        run("fit", "plain.csv", "-k", 3, "--cannot-link", "cl.csv", "--model", "model").exit_code
        == 0
    )
    Path("apart.csv").write_text(
        "0,3\n1,4\n"
    )  # the first and the last; the second, a row of the fit
    Path("together.csv").write_text("1,2\n")
    pairs = ("--cannot-link", "apart.csv", "--must-link", "together.csv")
    done = run("predict", "model", "new.csv", *pairs, "-o", "labels.csv")
    assert done.exit_code == 0, done.output
    labels = [int(label) for label in Path("labels.csv").read_text().split()[1:]]
    assert labels[0] != labels[3]
    assert labels[1] == labels[2]
    assert labels[1] != kempe.load("model").labels_[0]


def test_pairs_that_cannot_hold_are_told_in_ids(run):
    assert run("fit", "plain.csv", "-k", 3, "--model", "model").exit_code == 0
    Path("ids.csv").write_text("id,a,b\nann,1,2\nbob,5,6\n")
    Path("pairs.csv").write_text("ann,bob\n")
    pairs = ("--cannot-link", "pairs.csv", "--must-link", "pairs.csv", "--id-column", "id")
    done = run("predict", "model", "ids.csv", *pairs)
    assert done.exit_code == 3
    assert "ann = bob" in done.output


def test_a_fit_goes_on_from_labels_in_a_file(run):
    Path("labels.csv").write_text("label\n2\n2\n0\n0\n1\n")
    Path("cl2.csv").write_text("0,1\n")
    run("fit", "plain.csv", "-k", 3, "--init-labels", "labels.csv", "-o", "same.csv", "-q")
    assert Path("same.csv").read_text() == Path("labels.csv").read_text()
    more = ("--init-labels", "labels.csv", "--cannot-link", "cl2.csv", "--max-mutations", 0)
    done = run("fit", "plain.csv", "-k", 3, *more, "-o", "apart.csv", "-q")
    assert done.exit_code == 0, done.output
    labels = Path("apart.csv").read_text().split()[1:]
    assert labels[0] != labels[1]
    refused = run("fit", "plain.csv", "-k", 3, "--init-labels", "labels.csv", "--method", "KSKM")
    assert refused.exit_code == 2
    assert "has no --init-labels" in refused.output


def test_pairs_that_do_not_hold_for_predictions_are_told(run):
    Path("cl.csv").write_text("first,second\n0,1\n2,3\n")
    run("fit", "plain.csv", "-k", 2, "--cannot-link", "cl.csv", "--model", "model", "-o", "l.csv")
    done = run("predict", "model", "plain.csv")
    fitted = Path("l.csv").read_text().split()[1:]
    moved = sum(a != b for a, b in zip(fitted, done.stdout.split(), strict=True))
    assert moved
    assert f"the rows of the fit, {moved} of them were in other clusters there" in done.stderr
    assert "pairs of the fit may break" in run("predict", "model", "new.csv").stderr
    held = run("predict", "model", "plain.csv", "--cannot-link", "cl.csv")
    assert held.stderr == ""
    labels = held.stdout.split()
    assert labels[0] != labels[1]
    assert labels[2] != labels[3]
    run("fit", "plain.csv", "-k", 2, "--model", "model")
    assert run("predict", "model", "plain.csv").stderr == ""


def test_soft_pairs_of_new_rows_are_broken_at_a_price(run):
    Path("soft.csv").write_text("0,1,must-link\n2,3,must-link\n0,3,must-link\n")
    fitted = run("fit", "plain.csv", "-k", 3, "--soft", "soft.csv", "--model", "model", "-q")
    assert fitted.exit_code == 0, fitted.output
    Path("ids.csv").write_text("id,a,b\nann,1.2,2.1\nbob,3.2,4.1\ncid,5.1,6\n")
    Path("pairs.csv").write_text("ann,bob,must-link\nbob,cid,cannot-link\nann,cid,must-link\n")
    new = ("predict", "model", "ids.csv", "--id-column", "id", "--soft", "pairs.csv")
    done = run(*new, "--soft-price", 3, "-o", "labels.csv", "--violated", "broken.csv")
    assert done.exit_code == 0, done.output
    assert "1 of 3 broken" in done.stderr
    labels = dict(line.split(",") for line in Path("labels.csv").read_text().split()[1:])
    assert labels["ann"] == labels["bob"] != labels["cid"]
    header, broken = Path("broken.csv").read_text().split()
    assert header == "kind,first,second,confidence,price"
    assert broken == "must-link,ann,cid,,3.0"
    cheap = run(*new, "-o", "-", "--violated", "broken.csv")
    assert "3 of 3 broken" in cheap.stderr, "rows lie close in the fit, so pairs cost little"
    price = kempe.load("model").result_.broken.pair_price
    told = Path("broken.csv").read_text().split()[1:]
    assert {float(line.split(",")[-1]) for line in told} == {price.unit * price.assumed}
    unsure = run(*new, "--confidence", 0.9, "--violated", "broken.csv")
    assert unsure.exit_code == 0, unsure.output
    told = Path("broken.csv").read_text().split()[1:]
    assert float(told[0].split(",")[-1]) == pytest.approx(price.unit * np.log(9))


@pytest.mark.parametrize(
    ("model", "more", "message"),
    [
        ("model", ["--soft-price", 0], "positive and finite, got 0"),
        ("model", ["--size-min", 1], "takes pairs or sizes"),
        ("plain", [], "fitted without soft pairs, so it does not know what breaking one costs"),
        ("kskm", [], "a model of KSKM takes no soft pairs of new rows, of which there are 1"),
    ],
)
def test_soft_pairs_that_cannot_be_priced_are_one_line(run, model, more, message):
    Path("soft.csv").write_text("0,1,must-link\n")
    run("fit", "plain.csv", "-k", 3, "--soft", "soft.csv", "--model", "model", "-q")
    run("fit", "plain.csv", "-k", 3, "--model", "plain", "-q")
    run("fit", "plain.csv", "-k", 3, "--method", "KSKM", "--model", "kskm", "-q")
    done = run("predict", model, "new.csv", "--soft", "soft.csv", *more)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
