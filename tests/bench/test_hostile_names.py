"""Whatever names hold, they stay text in every page and table that is written."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest

import kempe.bench
from hostile_names import HOSTILE, fill, runs, skeleton
from kempe.bench.comparison import MethodComparison
from kempe.bench.report import write_report


@pytest.fixture(scope="module")
def plain_page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    store = fill(folder / "store", "plain")
    return write_report([store.folder], folder / "report").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_adds_nothing_to_the_page_of_a_report(name, plain_page, tmp_path):
    store = fill(tmp_path / "store", name)
    page = write_report([store.folder], tmp_path / "report").read_text(encoding="utf-8")
    assert skeleton(page) == skeleton(plain_page)
    for path in (tmp_path / "report" / "tables").glob("*.tex"):
        assert r"\input" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_adds_nothing_to_the_tables_of_a_comparison(name, tmp_path):
    records = [r for r in runs(name) if (r.variant, r.collection) == ("main", "own")]
    found = MethodComparison(name, [name, "KSKM"], records)
    found.save(tmp_path)
    with open(tmp_path / "methods.csv", newline="", encoding="utf-8") as file:
        assert {len(row) for row in csv.reader(file)} == {7}
    text = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in tables} == {8, 9}
    assert "<" not in text
    picture = (tmp_path / "comparison.svg").read_text(encoding="utf-8")
    assert "<script" not in picture
    assert "<img" not in picture
    latex = (tmp_path / "methods.tex").read_text(encoding="utf-8")
    assert r"\input" not in latex
    assert latex.count("&") - latex.count(r"\&") == 6 * 3


def test_markup_is_put_together_in_one_way_only():
    """An f-string with a tag in it would escape nothing; ``html`` does."""
    for path in Path(kempe.bench.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        strings = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
        parts = [part for node in strings for part in node.values if isinstance(part, ast.Constant)]
        assert not [part.value for part in parts if "</" in part.value], path.name
