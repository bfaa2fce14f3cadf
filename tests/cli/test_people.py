"""``kempe fit --report``, ``kempe compare``, ``kempe choose-k``, and own tables in plans."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kempe.cli import app

TABLE = ("--id-column", "customer", "--encode", "city", "--impute", "mean", "--standardise")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Customers with string ids, holes and a category, and pairs of ids."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 3
    age, spend = np.array([20, 45, 70])[kind] + rng.normal(size=60), 100 * kind + rng.random(60)
    with open("customers.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["customer", "age", "spend", "city", "segment"])
        for row in range(60):
            cells = ["" if row == 7 else f"{age[row]:.1f}", f"{spend[row]:.2f}", "ABC"[kind[row]]]
            writer.writerow([f"C{row}", *cells, f"segment {kind[row]}"])
    Path("together.csv").write_text("C0,C3\nC1,C4\nC2,C8\n")
    Path("apart.csv").write_text("C0,C1\nC1,C2\nC3,C5\n")

    def invoke(*arguments):
        return CliRunner().invoke(app, [str(a) for a in arguments])

    return invoke


PAIRS = ("--must-link", "together.csv", "--cannot-link", "apart.csv")


def test_one_command_goes_from_a_table_with_ids_to_labels_and_a_report(run):
    done = run(
        *("fit", "customers.csv", "-k", 3, *TABLE, *PAIRS, "--ignore", "segment"),
        *("-o", "labels.csv", "--report", "out.html"),
    )
    assert done.exit_code == 0, done.output
    assert Path("labels.csv").read_text().startswith("customer,label\n")
    page = Path("out.html").read_text(encoding="utf-8")
    assert '"C17"' in page
    assert "<th scope=col>city=A</th>" in page
    # Means of the table, not of what was standardised.
    overall = re.search(r"<tfoot>.*?</tfoot>", page, re.DOTALL)[0]
    assert "<td>100." in overall


def test_a_report_names_the_clusters_by_known_labels(run):
    done = run(
        *("fit", "customers.csv", "-k", 3, *TABLE, "--labels-column", "segment"),
        *("--report", "out.html"),
    )
    assert done.exit_code == 0, done.output
    page = Path("out.html").read_text(encoding="utf-8")
    assert all(
        f"</span>segment {number}" in re.sub("<span class=cut.*?>", "", page) for number in range(3)
    )


def test_a_report_does_not_overwrite_an_input(run):
    done = run("fit", "customers.csv", "-k", 3, *TABLE, "--report", "customers.csv")
    assert done.exit_code == 2
    assert "would be overwritten" in done.output


def test_compare_prints_tables_and_writes_figures(run):
    done = run(
        *("compare", "customers.csv", "-k", 3, *TABLE, *PAIRS, "--truth-column", "segment"),
        *("--methods", "kempe, kskm", "--seeds", 2, "--workers", 1, "--time-limit", 10, "-q"),
    )
    assert done.exit_code == 0, done.output
    assert "2 of 2" in done.output
    assert "p (Holm)" in done.output
    assert "ARI" in done.output
    names = {path.name for path in Path("comparison").iterdir()}
    assert {"comparison.pdf", "comparison.svg", "comparison.png", "methods.csv"} <= names


def test_compare_ends_with_4_if_nothing_is_found(run):
    Path("clique.csv").write_text("\n".join(f"C{i},C{j}" for i in range(4) for j in range(i)))
    done = run(
        *("compare", "customers.csv", "-k", 3, *TABLE, "--ignore", "segment"),
        *("--cannot-link", "clique.csv", "--methods", "kempe", "--seeds", 1, "--workers", 1),
    )
    assert done.exit_code == 4
    assert "no run of kempe found a clustering: infeasible" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "nonsense"], "nonsense"),
        (["--truth-column", "nonsense"], "no column 'nonsense'"),
        (["--methods", "kempe,kempe"], "named twice"),
    ],
)
def test_compare_says_what_is_wrong(run, arguments, message):
    done = run("compare", "customers.csv", "-k", 3, *TABLE, "--ignore", "segment", *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert isinstance(done.exception, SystemExit)


def test_choose_k_prints_a_table_and_draws_it(run):
    done = run(
        *("choose-k", "customers.csv", *TABLE, *PAIRS, "--ignore", "segment", "--to", 4),
        *("--splits", 2, "-o", "k.csv", "--plot", "k.svg"),
    )
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].split() == ["k", "inertia", "silhouette", "held-out", "pairs"]
    assert "the smallest" not in done.output
    assert Path("k.csv").read_text().startswith("n_clusters,status,inertia")
    assert Path("k.svg").read_text().startswith("<?xml")
    assert any(line.split()[0] == "3" and line.endswith("<") for line in lines)


def test_choose_k_refuses_a_range_of_nothing(run):
    done = run("choose-k", "customers.csv", *TABLE, "--from", 5, "--to", 3)
    assert done.exit_code == 2
    assert "--from 5 is more than --to 3" in done.output


PLAN = """
name = "mine"
seeds = 2
time_limit = 10

[[data]]
name = "customers"
file = "customers.csv"
n_clusters = 3
id_column = "customer"
truth_column = "segment"
encode = ["city"]
impute = "mean"
standardise = true
must_link = "together.csv"
cannot_link = "apart.csv"

[[experiment]]
methods = ["kempe", "COPKM_P"]
datasets = ["own/customers"]
"""


def test_without_matplotlib_a_picture_is_refused_before_the_work(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    done = run("choose-k", "customers.csv", *TABLE, "--to", 4, "--plot", "k.png")
    assert done.exit_code == 2
    assert 'pip install "kempe[plot]"' in done.output
    assert "silhouette" not in done.output


def test_without_matplotlib_a_comparison_has_tables(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    options = ("-k", 3, "--methods", "COPKM_P", "--seeds", 1, "--workers", 1, "-o", "found")
    done = run("compare", "customers.csv", *TABLE, "--ignore", "segment", *options)
    assert done.exit_code == 0, done.output
    assert 'pip install "kempe[plot]"' in done.output.splitlines()[0]
    assert "COPKM_P" in Path("found/methods.csv").read_text()


def test_a_plan_runs_on_a_table_of_ones_own(run):
    Path("plans").mkdir()
    for name in ("customers.csv", "together.csv", "apart.csv"):
        Path(name).rename(Path("plans") / name)
    Path("plans/mine.toml").write_text(PLAN)
    assert "4 runs in all" in run("bench", "show", "plans/mine.toml").output
    done = run("bench", "run", "plans/mine.toml", "--workers", 1)
    assert done.exit_code == 0, done.output
    assert "4 runs in" in done.output
    report = run("bench", "report", "results/mine")
    assert report.exit_code == 0, report.output
    page = Path("results/mine/report/report.html").read_text(encoding="utf-8")
    assert "customers" in page
    assert "4 runs, of which 4 ended with a clustering." in page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("n_clusters = 3", "", "needs a number n_clusters"),
        ('impute = "mean"', 'impute = "magic"', "magic"),
        ('id_column = "customer"', 'ids = "customer"', "unknown entries"),
        ('file = "customers.csv"', 'file = "nobody.csv"', "nobody.csv"),
    ],
)
def test_a_plan_with_wrong_data_is_an_error_in_words(run, old, new, message):
    Path("mine.toml").write_text(PLAN.replace(old, new))
    done = run("bench", "run", "mine.toml")
    assert done.exit_code == 2
    assert message in done.output
    assert isinstance(done.exception, SystemExit)
