"""The report on the paper's tables, on a small store: files, marks, figures."""

import csv
from pathlib import Path

import numpy as np
import pytest

from experiments.figures import class_means
from experiments.program import beside_the_program
from experiments.report import write_report
from experiments.tables import SPECS, Agreement, PaperTable, TableCell
from experiments.wording import agreement_in_words, unrun
from kempe.bench import Record, Task
from kempe.bench.statistics import Estimate
from kempe.bench.summary import Summary
from small_store import check_page, check_runs_and_tests, make_store

ROOT = Path(__file__).parents[2]
WITH_RUNS = {"success-rate", "inertia", "time", "reposition", "smde-inertia", "smde-time"}


@pytest.fixture(scope="module")
def small_store(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def page(small_store, tmp_path_factory):
    path = write_report([small_store.folder], tmp_path_factory.mktemp("report"))
    return path, path.read_text(encoding="utf-8")


def test_the_page_is_well_formed_and_says_what_was_run(page):
    check_page(page[1], 5)


def test_cells_off_the_paper_are_marked_and_counted(page):
    _, text = page
    assert 'title="PCCC: 1.29703' in text
    assert "1.30<i>▲</i><small>1.04</small>" in text
    assert "14 of 15 data sets" in text
    assert "42 runs" in text


def test_every_table_with_runs_has_a_csv_and_a_latex_file(page):
    folder = page[0].parent / "tables"
    assert {path.stem for path in folder.glob("*.csv")} == WITH_RUNS
    assert {path.stem for path in folder.glob("*.tex")} == WITH_RUNS
    with open(folder / "inertia.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == "PCCC" and row["ours"]]
    assert {row["dataset"] for row in rows} == {"COL2", "COL3"}
    assert float(rows[0]["ours"]) == pytest.approx(131 / 101)
    assert rows[0]["paper"] == "1.04"
    assert rows[0]["data_sets"] == "14"
    assert rows[0]["agrees_in_size"] == "False"
    assert rows[0]["agrees_in_direction"] == "True"
    latex = (folder / "inertia.tex").read_text()
    assert r"\textit{\textbf{1.30}} (1.04)" in latex
    assert latex.count("{") == latex.count("}")


def test_tables_of_the_paper_without_runs_are_not_spoken_of(page):
    _, text = page
    for spec in SPECS:
        assert (f"<section id={spec.name}>" in text) == (spec.name in WITH_RUNS)
        assert (f'href="#{spec.name}"' in text) == (spec.name in WITH_RUNS)
    assert "1,249.09" not in text  # a row without runs in a table with runs
    assert "3,602.63" not in text  # a table without runs


def test_the_seeds_of_every_method_are_stated(page):
    _, text = page
    assert "<th scope=col>PCCC<small>3 seeds</small></th>" in text


def test_the_agreement_per_table_is_said_in_words_and_in_a_table(page):
    path, text = page
    summary = (path.parent / "summary.md").read_text(encoding="utf-8")
    verdict, agreement, program, tests, *_ = summary.split("\n\n")
    assert verdict in text
    assert "of the paper's authors" in program
    assert tests == "Paired tests, inertia:"
    lines = agreement.splitlines()
    counts = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    titles = [spec.title for spec in SPECS if spec.name in WITH_RUNS]
    assert [row[0] for row in counts] == [*titles, "**all tables**"]
    assert sum(int(row[7]) for row in counts[:-1]) == int(counts[-1][7]) > 0
    assert verdict.startswith("180 runs, of which 165 ended with a clustering. No cell of the")


def test_cells_without_runs_are_counted_once_most_of_the_paper_is_there():
    counts = {"published": 10, "size": 3, "directed": 4, "direction": 2, "partial": 1, "missing": 3}
    assert "Of 10 cells" in agreement_in_words(Agreement(compared=6, **counts))
    assert "only, 3 none." in agreement_in_words(Agreement(compared=6, **counts))
    assert "none" not in agreement_in_words(Agreement(compared=4, **counts))


@pytest.mark.parametrize(
    ("partial", "missing", "said"),
    [
        (0, 0, ""),
        (2, 0, " 2 cells have runs on some of their data sets only."),
        (0, 6, " 6 cells have no runs."),
        (2, 6, " 2 cells have runs on some of their data sets only, 6 none."),
    ],
)
def test_what_is_left_out_is_said_in_halves(partial, missing, said):
    total = Agreement(
        published=20, compared=12, size=4, directed=4, direction=2, partial=partial, missing=missing
    )
    assert agreement_in_words(total).endswith(" do not." + said)


def test_what_was_not_run_is_named_with_the_time_it_takes():
    estimate = Estimate(1.0, 1.0, 1.0, 1, n_runs=1, n_seeds=1, n_limited=0)
    ran = [
        TableCell("letter", level, "success", "KSKM", 1.0, estimate, size=True)
        for level in (0.005, 0.01, 0.05, 0.1)
    ]
    absent = [
        TableCell("cifar100", 0.01, "success", "KSKM", 1.0, None),
        TableCell("cifar100", 0.05, "success", "PCCC", 0.0, None),
        TableCell("cifar100", 0.05, "success", "kempe", None, None),
    ]
    _, lines = unrun([PaperTable(SPECS[1], [*ran, *absent])])
    assert lines.splitlines() == ["- cifar100 at 1 %: KSKM (1,267)", "- cifar100 at 5 %: PCCC"]
    assert unrun([PaperTable(SPECS[1], ran)]) == []
    assert unrun([PaperTable(SPECS[1], [*ran[:2], *absent])]) == []


def test_runs_and_tests_are_written_too(page):
    check_runs_and_tests(page[0].parent)


def test_size_classes_are_averaged_geometrically():
    rows, times = class_means(np.array([[100, 1.0], [100, 4.0], [1000, 3.0]]))
    assert rows.tolist() == pytest.approx([100, 1000])
    assert times.tolist() == pytest.approx([2, 3])


def test_kskm_is_set_beside_the_program_of_the_authors():
    with open(ROOT / "benchmarks" / "kskm_authors.csv", newline="") as file:
        rows = list(csv.DictReader(file))[:2]
    runs = []
    for row, factor in zip(rows, (1.0, 1.21), strict=True):
        task = Task("main", row["dataset"], float(row["level"]), "KSKM", 0)
        runs.append(Record.of(task, "ok", inertia=factor * float(row["inertia"]), cpu_s=1.0))
    said = beside_the_program(Summary(runs))
    assert "on 2 instances: 1.100 in the geometric mean, 1.105 in the median" in said
    assert beside_the_program(Summary([])) == ""
