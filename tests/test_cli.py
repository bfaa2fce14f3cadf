"""The command line as a person meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kempe import __version__, methods
from kempe.cli import app

ROWS = "1,2\n1.1,2\n5,6\n5.2,6.1\n9,9\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run ``kempe`` in a folder with some files."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "plain.csv": ROWS,
        "header.csv": "a,b\n" + ROWS,
        "semicolon.csv": ROWS.replace(",", ";"),
        "tab.tsv": ROWS.replace(",", "\t"),
        "quoted.csv": '"a","b"\n' + ROWS,
        "bom.csv": "\ufeffa,b\n" + ROWS,
        "gaps.csv": "a,b\n\n" + ROWS.replace("\n", "\n\n"),
        "index.csv": ",a,b\n" + "".join(f"{i},{r}\n" for i, r in enumerate(ROWS.split())),
        "text.csv": "a,b,name,known\n1,2,x,p\n1.1,2,y,\n5,6,z,q\n5.2,6.1,u,\n9,9,v,p\n",
        "hole.csv": "a,b\n1,2\n1.1,\n5,6\n",
        "nan.csv": "a,b\n1,2\n1.1,NaN\n5,6\n",
        "ragged.csv": "a,b\n1,2\n1.1,3,4\n5,6\n",
        "empty.csv": "",
        "only-header.csv": "a,b\n",
        "ml.csv": "0,1\n",
        "cl.csv": "first,second\n1,2\n0,4\n",
        "triangle.csv": "0,1\n0,2\n1,2\n",
        "far.csv": "0,99\n",
        "word.csv": "0,x\n",
        "half.csv": "0,1\n0,1.5\n",
        "negative.csv": "0,-1\n",
        "huge.csv": "0,99999999999999999999\n",
    }.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("latin.csv").write_text("größe,b\n" + ROWS, encoding="latin-1")

    def invoke(*arguments):
        return CliRunner().invoke(app, [str(a) for a in arguments])

    return invoke


def labels_in(path):
    lines = Path(path).read_text().splitlines()
    assert lines[0] == "label"
    return [int(line) for line in lines[1:]]


def test_the_version_is_that_of_the_package(run):
    assert run("--version").output == f"kempe {__version__}\n"


def test_help_names_every_command(run):
    output = run("--help").output
    for command in ("demo", "fit", "check", "methods", "certify", "verify"):
        assert command in output


def test_methods_are_those_of_the_registry(run):
    listed = [line.split()[0] for line in run("methods").output.splitlines()]
    assert listed == methods.names()


@pytest.mark.parametrize(
    "name",
    ["plain.csv", "header.csv", "semicolon.csv", "tab.tsv", "quoted.csv", "bom.csv", "gaps.csv"],
)
def test_every_usual_kind_of_csv_file_gives_the_same_labels(run, name):
    result = run("fit", name, "-k", 2, "-o", "labels.csv")
    assert result.exit_code == 0, result.output
    labels = labels_in("labels.csv")
    assert labels[0] == labels[1] != labels[2] == labels[3] == labels[4]
    assert "15.97" in result.stderr


def test_a_column_without_a_name_is_left_out_and_this_is_said(run):
    result = run("fit", "index.csv", "-k", 2, "--json")
    assert json.loads(result.stdout)["columns"] == ["a", "b"]
    assert "no name" in result.stderr


def test_pairs_are_respected_and_counted(run):
    result = run(
        "fit", "plain.csv", "-k", 2, "--must-link", "ml.csv", "--cannot-link", "cl.csv", "-o", "-"
    )
    labels = [int(line) for line in result.stdout.split()]
    assert labels[0] == labels[1] != labels[2]
    assert labels[0] != labels[4]
    assert "1 must-link and 2 cannot-link" in result.stderr
    assert "all satisfied" in result.stderr


@pytest.mark.parametrize("name", ["empty.csv", "only-header.csv"])
def test_a_file_without_pairs_is_no_constraint(run, name):
    result = run("fit", "plain.csv", "-k", 2, "--must-link", name, "-o", "-", "-q")
    assert result.exit_code == 0, result.output
    assert result.stdout == run("fit", "plain.csv", "-k", 2, "-o", "-", "-q").stdout


def test_known_labels_of_some_rows_are_constraints(run):
    options = ["--ignore", "name", "--labels-column", "known", "-o", "labels.csv"]
    assert run("fit", "text.csv", "-k", 2, *options).exit_code == 0
    labels = labels_in("labels.csv")
    assert labels[0] == labels[4] != labels[2]


def test_json_holds_labels_centres_and_figures(run):
    result = run("fit", "header.csv", "-k", 2, "--json", "--quiet")
    assert result.stderr == ""
    found = json.loads(result.stdout)
    X = np.loadtxt(ROWS.split(), delimiter=",")
    labels, centers = np.array(found["labels"]), np.array(found["centers"])
    assert found["inertia"] == pytest.approx(((X - centers[labels]) ** 2).sum())


def test_centres_are_in_the_units_of_the_file_even_if_columns_are_scaled(run):
    run("fit", "header.csv", "-k", 2, "--standardise", "-o", "l.csv", "--centers", "centers.csv")
    header, *rows = Path("centers.csv").read_text().splitlines()
    assert header == "a,b"
    X, labels = np.loadtxt(ROWS.split(), delimiter=","), np.array(labels_in("l.csv"))
    centers = np.loadtxt(rows, delimiter=",")
    for cluster in (0, 1):
        assert centers[cluster] == pytest.approx(X[labels == cluster].mean(axis=0))


def test_the_seed_makes_a_run_repeatable(run):
    first, second, other = (
        json.loads(run("fit", "plain.csv", "-k", 3, "--seed", seed, "--json").stdout)["labels"]
        for seed in (7, 7, 0)
    )
    assert first == second != other  # the same clusters, in another order


def test_without_an_output_the_summary_says_how_to_get_labels(run):
    assert "-o labels.csv" in run("fit", "plain.csv", "-k", 2).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "nowhere.csv", "-k", 2], 2, "nowhere.csv: No such file"),
        (["fit", "empty.csv", "-k", 2], 2, "empty.csv is empty"),
        (["fit", "only-header.csv", "-k", 2], 2, "has a header but no rows"),
        (["fit", "text.csv", "-k", 2], 2, "line 2, column 'name': 'x' is not a finite number"),
        (["fit", "hole.csv", "-k", 2], 2, "line 3, column 'b': the cell is empty"),
        (["fit", "nan.csv", "-k", 2], 2, "line 3, column 'b': 'NaN' is not a finite number"),
        (["fit", "ragged.csv", "-k", 2], 2, "line 3: 3 cells, but the first line has 2"),
        (["fit", "text.csv", "-k", 2, "--ignore", "nome"], 2, "has no column 'nome'"),
        (["fit", "plain.csv", "-k", 9], 2, "n_clusters=9"),
        (["fit", "plain.csv", "-k", 2, "--method", "COPKMEANS"], 2, "unknown method 'COPKMEANS'"),
        (["fit", "plain.csv", "-k", 2, "-o", "no/where.csv"], 2, "there is no folder"),
        (["fit", "plain.csv", "-k", 2, "-o", "."], 2, "is a folder"),
        (["demo", "--out", "no/where.png"], 2, "there is no folder"),
        (["fit", "latin.csv", "-k", 2], 2, "latin.csv is not UTF-8 text"),
        (["fit", "plain.csv", "-k", 2, "--must-link", "huge.csv"], 2, "pair 0: (0, 1e+20)"),
        (["fit", "plain.csv", "-k", 2, "--cannot-link", "far.csv"], 2, "row 99 is out of range"),
        (["fit", "plain.csv", "-k", 2, "--cannot-link", "word.csv"], 2, "'x' is not a finite"),
        (["fit", "plain.csv", "-k", 2, "--must-link", "half.csv"], 2, "pair 1: (0, 1.5)"),
        (["fit", "plain.csv", "-k", 2, "--must-link", "negative.csv"], 2, "pair 0: (0, -1)"),
        (["fit", "plain.csv", "-k", 2, "--must-link", "text.csv"], 2, "need two columns, found 4"),
        (["fit", "plain.csv", "-k", 2, "--cannot-link", "triangle.csv"], 1, "2 clusters"),
        (
            ["fit", "plain.csv", "-k", 2, "--must-link", "ml.csv", "--cannot-link", "triangle.csv"],
            1,
            "rows 0 and 1",
        ),
        (["check", "-k", 2], 2, "nothing to check"),
        (["check", "-k", 2, "--cannot-link", "triangle.csv"], 1, "3 rows 0, 1, 2"),
        (["check", "-k", 9, "--cannot-link", "far.csv", "--rows", 5], 2, "row 99 is out of range"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line_with_an_exit_code(run, arguments, code, message):
    result = run(*arguments)
    assert result.exit_code == code, result.output
    complaint = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(complaint) == 1
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "arguments",
    [["fit", "plain.csv"], ["fit", "plain.csv", "-k", 0], ["fit", "plain.csv", "-k", "x"], ["fti"]],
)
def test_wrong_usage_ends_with_code_two(run, arguments):
    assert run(*arguments).exit_code == 2


def test_feasible_constraints_pass_the_check(run):
    result = run("check", "-k", 3, "--cannot-link", "triangle.csv", "--must-link", "half.csv")
    assert result.exit_code == 2
    result = run("check", "-k", 3, "--cannot-link", "triangle.csv")
    assert result.exit_code == 0, result.output
    assert "3 cannot-link" in result.output


def test_the_demo_prints_a_table_and_writes_a_picture(run, tmp_path):
    result = run("demo", "--out", tmp_path / "picture.png")
    assert result.exit_code == 0, result.output
    for expected in ("k-means", "kempe", "inertia", "407/407", "3,598/3,598", "ARI"):
        assert expected in result.output
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_the_program_runs_on_its_own():
    kempe = Path(sys.executable).with_name("kempe")
    command = [kempe] if kempe.exists() else [sys.executable, "-m", "kempe"]
    done = subprocess.run(
        [*command, "--version"], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == f"kempe {__version__}\n"
    assert done.stderr == ""
