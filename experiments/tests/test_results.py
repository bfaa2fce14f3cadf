"""What the repository keeps of the paper's experiments is what its runs give."""

import re
from pathlib import Path

import pytest

from experiments.plans import names, plan_file
from experiments.report import write_report
from experiments.tables import SPECS
from kempe.bench import load_plan

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
# How curves are written down is matplotlib's affair.
PICTURE = re.compile(r"<svg.*?</svg>", re.DOTALL)


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    if not RESULTS.is_dir():
        pytest.skip("the source distribution has no results")
    folder = tmp_path_factory.mktemp("again")
    write_report([RESULTS / "runs"], folder)
    return folder


@pytest.mark.slow
def test_tables_tests_and_page_come_out_as_they_are_kept(again):
    tables = list(RESULTS.glob("tables/*"))
    kept = [*tables, *(RESULTS / name for name in ("comparisons.csv", "summary.md", "claims.md"))]
    assert {path.name for path in again.glob("tables/*")} == {path.name for path in tables}
    for path in kept:
        assert (again / path.relative_to(RESULTS)).read_bytes() == path.read_bytes(), path.name
    pages = [(folder / "report.html").read_text(encoding="utf-8") for folder in (again, RESULTS)]
    assert len(PICTURE.findall(pages[0])) == len(PICTURE.findall(pages[1])) == 5
    assert PICTURE.sub("", pages[0]) == PICTURE.sub("", pages[1])


def rows_of_the_readme():
    text = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    table = text.split("## Which plan makes which table")[1].split("\n\n")[2]
    return [
        [cell.strip() for cell in line.strip("| ").split("|")] for line in table.split("\n")[2:]
    ]


def test_the_page_names_a_plan_for_every_table():
    rows = rows_of_the_readme()
    assert [row[3].strip("`") for row in rows] == [spec.name for spec in SPECS]
    for row, spec in zip(rows, SPECS, strict=True):
        plans = re.findall(r"`([\w-]+)`", row[2])
        assert plans
        assert set(plans) <= set(names())
        tasks = [task for name in plans for task in load_plan(plan_file(name)).tasks()]
        assert spec.variant in {task.variant for task in tasks}
