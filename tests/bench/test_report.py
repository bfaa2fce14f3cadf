"""The report on a small store: files, marks, figures."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from html_reader import Reader
from kempe.bench import Store
from kempe.bench.figures import mean_curve, profile
from kempe.bench.page import runs_section
from kempe.bench.report import write_report
from kempe.bench.summary import Cell, Summary
from small_store import FACTORS, check_page, check_runs_and_tests, made, make_store


@pytest.fixture(scope="module")
def small_store(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def page(small_store, tmp_path_factory):
    path = write_report([small_store.folder], tmp_path_factory.mktemp("report"))
    return path, path.read_text(encoding="utf-8")


def test_the_page_is_well_formed_and_says_what_was_run(page):
    check_page(page[1], 3)


def test_a_report_on_data_of_ones_own_says_nothing_of_the_paper(tmp_path):
    store = Store(tmp_path / "store")
    with store.writing() as append:
        for method, factor in FACTORS.items():
            for seed in (0, 1):
                append(replace(made("own/mine", method, factor, seed), level=1.0, ari=None))
    page = write_report([store.folder], tmp_path / "report")
    text, reader = page.read_text(encoding="utf-8"), Reader()
    reader.feed(text)
    assert reader.open == []
    assert "8 runs, of which 8 ended with a clustering." in text
    assert "mine" in text
    assert "<h2 id=tests>" not in text  # which a single instance has not
    for absent in ("COL1", "the paper"):
        assert absent not in text


def test_runs_and_tests_are_written_too(page):
    check_runs_and_tests(page[0].parent)


def test_means_of_every_instance_are_tables_of_csv_and_latex(page):
    folder = page[0].parent / "tables"
    names = {
        f"{q}.{kind}" for q in ("inertia", "time", "success", "ari") for kind in ("csv", "tex")
    }
    assert {path.name for path in folder.iterdir()} == names
    with open(folder / "inertia.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15
    assert [float(rows[0][name]) for name in FACTORS] == pytest.approx([91, 101, 131, 110.5])
    latex = (folder / "inertia.tex").read_text()
    assert r"COL2/n300-k10-s10 & 0.05 & \textbf{91.00} & 101.00 & 131.00 & 110.50 \\" in latex
    assert latex.count("{") == latex.count("}")


def test_several_stores_are_read_as_one(small_store, tmp_path):
    other = Store(tmp_path / "other")
    with other.writing() as append:
        append(made("COL3/n5000-k2", "KSKM", 1.0, 0))
    text = write_report([small_store.folder, other.folder], tmp_path / "out").read_text()
    assert "181, of which 15 failed" in text


def test_machines_that_read_the_same_are_told_once(small_store):
    here = {"processor": "one", "cores": 2, "python": "3.12", "packages": {}, "system": "a"}
    machines = [here, {**here, "system": "b"}]
    assert "<dt>machine</dt>" in runs_section(Summary(small_store.records()), [], machines, {}).body
    machines.append({**here, "cores": 4})
    body = runs_section(Summary(small_store.records()), [], machines, {}).body
    assert [f"<dt>machine {number}</dt>" in body for number in (1, 2, 3)] == [True, True, False]


def test_a_store_without_results_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no results"):
        write_report([tmp_path], tmp_path / "out")


def test_a_store_with_a_single_failed_run_can_be_reported(tmp_path):
    store = Store(tmp_path / "store")
    with store.writing() as append:
        append(made("COL3/n500-k2", "COPKM", 1.0, 2))
    assert "no solution" in write_report([store.folder], tmp_path / "out").read_text()


def test_profiles_by_hand():
    values = {"x": np.array([1.0, 4.0, np.nan]), "y": np.array([2.0, 2.0, np.nan])}
    ratios = profile(values)
    assert ratios["x"].tolist() == [1.0, 2.0]
    assert ratios["y"].tolist() == [1.0, 2.0]
    values["y"][0] = np.nan
    assert profile(values)["y"].tolist() == [1.0, np.inf]


def test_a_mean_curve_starts_when_all_seeds_have_a_solution():
    runs = [made("COL3/n500-k2", "KSKM", 1.0, seed) for seed in (0, 1)]
    times, mean = mean_curve(Cell(tuple(runs)), np.array([0.001, 0.02, 0.2]))
    assert times.tolist() == [0.02, 0.2]
    assert mean.tolist() == [201.0, 100.5]


def test_methods_come_in_the_order_of_the_paper(small_store):
    assert Summary(small_store.records()).methods() == ["kempe", "KSKM", "PCCC", "COPKM"]
