"""Limits on sizes of clusters on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kempe
from kempe.bench.comparison import SIZED_RIVAL, called_in_full
from kempe.cli import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.savetxt("rows.csv", rng.normal(size=(12, 2)), delimiter=",", header="a,b", comments="")

    def invoke(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return invoke


def sizes_in(path):
    return np.bincount([int(line) for line in Path(path).read_text().split()[1:]]).tolist()


def test_each_cluster_may_have_sizes_of_its_own(run):
    limits = ("--size-min", "2,3,7", "--size-max", "2,3,7")
    done = run("fit", "rows.csv", "-k", 3, *limits, "--model", "model", "-o", "labels.csv")
    assert done.exit_code == 0, done.output
    assert sizes_in("labels.csv") == [2, 3, 7]
    assert kempe.load("model").size_max == [2, 3, 7]
    done = run("predict", "model", "rows.csv", "--size-max", "5,5,2", "-o", "new.csv")
    assert done.exit_code == 0, done.output
    assert sizes_in("new.csv") == [5, 5, 2]


def test_shares_and_numbers_go_together(run):
    done = run("fit", "rows.csv", "-k", 2, "--size-min", "0.5,1", "-o", "labels.csv")
    assert done.exit_code == 0, done.output
    assert sizes_in("labels.csv")[0] >= 6


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("few", "'few' is no number of rows"),
        ("3,x", "'x' is no number of rows"),
        ("3,", "'' is no number of rows"),
        ("-1", "-1 is no number of rows"),
        ("nan", "nan is no number of rows"),
        ("inf", "inf is no number of rows"),
        ("3,4", "2 numbers for 3 clusters"),
        ("2.5", "a whole number of rows"),
    ],
)
def test_what_is_no_size_is_refused(run, value, message):
    done = run("fit", "rows.csv", "-k", 3, "--size-max", value)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_one_cluster_is_singular(run):
    done = run("check", "rows.csv", "-k", 1, "--size-max", 12)
    assert "feasible with 1 cluster of at least 1 and at most 12 rows" in done.output
    done = run("fit", "rows.csv", "-k", 1, "--size-max", 3)
    assert done.exit_code == 3
    assert "1 cluster of at least 1 and at most 3 rows has room for 3 rows" in done.output


def test_rows_of_the_fit_count_only_where_sizes_are_given(run):
    assert run("fit", "rows.csv", "-k", 3, "--model", "model").exit_code == 0
    done = run("predict", "model", "rows.csv", "--with-fit")
    assert done.exit_code == 2
    assert "give --size-min or --size-max" in done.output


def test_all_methods_of_a_comparison_have_the_same_sizes(run):
    done = run("compare", "rows.csv", "-k", 3, "--size-max", "4,4,4", "-o", "found", "-q")
    assert done.exit_code == 2
    assert "one size_min and one size_max for all clusters" in done.output


def test_a_program_is_called_as_its_package():
    assert called_in_full("k-means-constrained") == SIZED_RIVAL
    assert called_in_full("kempe") == "kempe"
