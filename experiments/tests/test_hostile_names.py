"""Whatever names hold, they stay text in the report on the paper's tables."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import experiments
from experiments.report import write_report
from hostile_names import HOSTILE, fill, skeleton
from kempe import datasets
from kempe.bench import Record, Store, Task


def report(folder: Path, name: str) -> str:
    """Make a report on runs with the name wherever a text is, and enough others to be told of."""
    store = fill(folder / "store", name)
    with Store(store.folder).writing() as append:
        for data in datasets.names("COL2")[:12]:
            for method in ("kempe", "KSKM", name):
                run = Record.of(Task("main", data, 0.05, method, 0), "ok", inertia=1.0, cpu_s=1.0)
                append(replace(run, wall_s=1.0))
                failed = replace(run, seed=1, status="failed", reason=name)
                append(replace(failed, inertia=None, cpu_s=None))
    return write_report([store.folder], folder / "report").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plain_page(tmp_path_factory):
    return report(tmp_path_factory.mktemp("plain"), "plain")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_adds_nothing_to_the_page(name, plain_page, tmp_path):
    page = report(tmp_path, name)
    assert "<ol class=found>" in page  # where the methods that fail are named
    assert skeleton(page) == skeleton(plain_page)


def test_markup_is_put_together_in_one_way_only():
    for path in Path(experiments.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        strings = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
        parts = [part for node in strings for part in node.values if isinstance(part, ast.Constant)]
        assert not [part.value for part in parts if "</" in part.value], path.name
