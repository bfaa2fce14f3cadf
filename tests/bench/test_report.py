"""The report on a small store: files, marks, figures."""

import csv
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from kempe import datasets
from kempe.bench import Record, Store, Task
from kempe.bench.figures import class_means, mean_curve, profile
from kempe.bench.report import write_report
from kempe.bench.summary import Cell, Summary
from kempe.bench.tables import SPECS, Agreement
from kempe.bench.wording import agreement_in_words

WITH_RUNS = {"success-rate", "inertia", "time", "reposition", "smde-inertia", "smde-time"}
FACTORS = {"kempe": 0.9, "KSKM": 1.0, "PCCC": 1.3, "COPKM": 1.1}


@pytest.fixture(scope="module")
def small_store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("store"))
    store.add_environment(
        "abc", {"processor": "P<1>", "cores": 2, "python": "3", "packages": {"kempe": "0"}}
    )
    with store.writing() as append:
        for name in datasets.names("COL2")[:-1] + datasets.names("COL3")[:1]:
            for method, factor in FACTORS.items():
                for seed in (0, 1, 2):
                    append(made(name, method, factor, seed))
    return store


def made(name, method, factor, seed):
    task = Task("main", name, 0.05, method, seed)
    if method == "COPKM" and seed == 2:
        return Record.of(task, "failed", reason="no solution: <stuck>")
    value = 100 * factor + seed
    return Record.of(
        task,
        "ok",
        inertia=value,
        ari=0.5,
        cpu_s=factor**3,
        wall_s=factor**3,
        violations=0,
        history=[(0.01, 2 * value), (0.1, value)],
        environment="abc",
    )


class Reader(HTMLParser):
    """Collects the tags and checks that they are closed."""

    VOID = frozenset({"meta", "br", "hr", "link", "use", "path", "rect", "img", "line"})

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def page(small_store, tmp_path_factory):
    path = write_report([small_store.folder], tmp_path_factory.mktemp("report"))
    return path, path.read_text(encoding="utf-8")


def test_the_page_is_well_formed_and_stands_alone(page):
    _, text = page
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    assert sum(tag == "svg" for tag, _ in reader.tags) == 5
    for tag, attributes in reader.tags:
        assert tag != "script"
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#"), (tag, attributes)
    assert "P&lt;1&gt;" in text


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


def test_what_was_run_is_stated(page):
    _, text = page
    assert "<td>14 of 150<small>3 seeds</small></td><td>1 of 96<small>3 seeds</small></td>" in text
    assert "<th scope=col>PCCC<small>3 seeds</small></th>" in text


def test_the_agreement_per_table_is_said_in_words_and_in_a_table(page):
    path, text = page
    summary = (path.parent / "summary.md").read_text(encoding="utf-8")
    verdict, agreement, tests, *_ = summary.split("\n\n")
    assert verdict in text
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
    assert "8 runs, of which 8 ended with a clustering. None of them" in text
    assert "mine" in text
    for absent in ("agreement", "tables", "tests", "data"):
        assert f"<h2 id={absent}>" not in text
    assert "COL1" not in text
    assert not list((page.parent / "tables").iterdir())


def test_runs_and_tests_are_written_too(page):
    with open(page[0].parent / "runs.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 15 * 4 * 3
    with open(page[0].parent / "comparisons.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    first = rows[0]
    assert (first["collection"], first["quantity"]) == ("all collections", "inertia")
    assert (first["first"], first["second"], first["wins"]) == ("kempe", "KSKM", "15")
    assert float(first["p_holm"]) < 0.01


def test_several_stores_are_read_as_one(small_store, tmp_path):
    other = Store(tmp_path / "other")
    with other.writing() as append:
        append(made("COL3/n5000-k2", "KSKM", 1.0, 0))
    text = write_report([small_store.folder, other.folder], tmp_path / "out").read_text()
    assert "181, of which 15 failed" in text


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


def test_size_classes_are_averaged_geometrically():
    rows, times = class_means(np.array([[100, 1.0], [100, 4.0], [1000, 3.0]]))
    assert rows.tolist() == pytest.approx([100, 1000])
    assert times.tolist() == pytest.approx([2, 3])


def test_methods_come_in_the_order_of_the_paper(small_store):
    assert Summary(small_store.records()).methods() == ["kempe", "KSKM", "PCCC", "COPKM"]
