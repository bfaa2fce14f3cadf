"""The lines of Python in the pages of the documentation work, page by page from top to bottom."""

from __future__ import annotations

import importlib
import re

import numpy as np
import pytest
from scipy import sparse

from kempe import Constraints, KempeKMeans
from kempe.search import Result
from pages import INCLUDE, PAGES, ROOT, blocks

WITH_LINES = [page for page in PAGES if any(blocks(page, "python"))]


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """Run all blocks of a page, in a folder of its own, among names that a reader has."""
    monkeypatch.chdir(tmp_path)
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    must_link = np.array([(0, 1), (4, 7)])
    cannot_link = np.array([(1, 4), (2, 9), (5, 6)])
    conflicts = sparse.coo_array((np.ones(3), cannot_link.T), shape=(60, 60))
    given = {
        "__name__": "__main__",
        "X": rng.normal(size=(60, 2)) + np.repeat([[0, 0], [6, 0], [0, 6]], 20, axis=0),
        "ml": must_link,
        "cl": cannot_link,
        "must_link": must_link,
        "cannot_link": cannot_link,
        "conflicts": conflicts,
        "matrix": -conflicts.tocsr(),
        "frame": pandas.DataFrame(must_link, columns=["first", "second"]),
        "groups": [[0, 1], [2, 3]],
        "model": KempeKMeans(n_clusters=3, random_state=0),
        "Constraints": Constraints,
        "KempeKMeans": KempeKMeans,
    }

    def run(page: str) -> dict[str, object]:
        namespace = dict(given)
        for block in blocks(page, "python"):
            exec(block.text, namespace)
        return namespace

    return run


@pytest.mark.parametrize("page", WITH_LINES)
def test_the_lines_of_a_page_work(page, lines):
    lines(page)


def test_the_tutorial_about_wrong_labels_prints_what_it_says(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks("docs/tutorials/wrong_labels.md", "python"):
        exec(block.text, names)
        assert block.output is not None
        assert capsys.readouterr().out == block.output
    assert "Pairs that may be wrong" in (tmp_path / "wine.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", ["README.md", "docs/index.md", "docs/user_guide.md", "docs/asking.md"]
)
def test_a_page_for_beginners_needs_nothing_but_its_own_lines(page, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        exec(block.text, names)


def test_the_figures_of_the_landing_page_are_those_that_were_measured(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    figures = importlib.import_module("promises").figures()
    named = set(re.findall(r"\{\{ (\w+) \}\}", (ROOT / "docs/index.md").read_text()))
    assert named == set(figures)
    assert figures["broken_by_kempe"] == "none"
    assert int(figures["broken_by_kmeans"]) > 0
    assert f"| {figures['speed_up']} |" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_includes_exists(page):
    path = ROOT / page
    included = INCLUDE.findall(path.read_text(encoding="utf-8"))
    assert not [name for name in included if not (path.parent / name).is_file()]


def test_the_rule_of_the_user_guide_ends_its_search(lines):
    assert lines("docs/user_guide.md")["model"].result_.stop_reason == "user_rule"


def test_the_mixture_of_parts_obeys_the_constraints(lines, violations):
    named = lines("docs/methods.md")
    constraints = Constraints(named["ml"], named["cl"])
    assert isinstance(named["result"], Result)
    assert not violations(named["labels"], constraints)
    second = named["problem"].labels(named["result"].solution.colours)
    assert not violations(second, constraints)
