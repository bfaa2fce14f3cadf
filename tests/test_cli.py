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
from kempe.cli.app import COMMANDS

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
        "ml.csv": "0,1\n",
        "cl.csv": "first,second\n1,2\n0,4\n",
        "triangle.csv": "0,1\n0,2\n1,2\n",
    }.items():
        Path(name).write_text(text, encoding="utf-8")

    def invoke(*arguments):
        return CliRunner().invoke(app, [str(a) for a in arguments])

    return invoke


def labels_in(path):
    lines = Path(path).read_text().splitlines()
    assert lines[0] == "label"
    return [int(line) for line in lines[1:]]


def test_the_version_is_that_of_the_package(run):
    assert run("--version").output == f"kempe {__version__}\n"


def test_help_names_every_command_as_the_command_itself_does(run):
    output = run("--help").output
    for name, command in COMMANDS.items():
        assert f"{name} " in output
        own = run(name, "--help")
        assert own.exit_code == 0
        assert command.summary in output
        assert command.summary in own.output


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal_and_speaks_no_python(run, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    output = run(name, "--help").output
    assert max(map(len, output.splitlines())) <= 80
    for word in ("<bool>", "<int", "<float", "<str", "<list", "None"):
        assert word not in output


def test_every_method_is_told_in_a_line_of_words(run):
    lines = run("methods").output.splitlines()
    assert [line.split()[0] for line in lines] == methods.names()
    assert all(len(line) <= 80 and "=" not in line for line in lines)


def test_the_case_of_a_method_does_not_matter(run):
    for name in ("KEMPE", "kskm", "Pccc"):
        assert run("fit", "plain.csv", "-k", 2, "--method", name, "-q").exit_code == 0


@pytest.mark.timing
def test_help_is_shown_within_eight_times_the_start_of_python():
    resource = pytest.importorskip("resource")

    def seconds(*arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Processor time: wall time would measure what else the machine does.
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    seconds("-m", "kempe", "--help")  # compiles what is new
    rounds = [(seconds("-c", "pass"), seconds("-m", "kempe", "--help")) for _ in range(7)]
    nothing, shown = map(min, zip(*rounds, strict=True))
    assert shown <= 8 * nothing


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


def test_known_labels_of_some_rows_are_constraints_and_name_the_clusters(run):
    options = ["--ignore", "name", "--labels-column", "known", "-o", "labels.csv"]
    assert run("fit", "text.csv", "-k", 2, *options).exit_code == 0
    labels = Path("labels.csv").read_text().split()
    assert labels[0] == "label"
    assert (labels[1], labels[3], labels[5]) == ("p", "q", "p")
    assert set(labels[1:]) == {"p", "q"}


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


def test_feasible_constraints_pass_the_check(run):
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
