"""The lines for a shell in README and documentation work, page by page from top to bottom."""

from __future__ import annotations

import csv
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```shell\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = (
    "README.md",
    "docs/install.md",
    "docs/user_guide.md",
    "docs/command_line.md",
    "docs/report.md",
    "docs/choosing_k.md",
    "docs/comparing.md",
    "docs/certificates.md",
)
# It downloads the data of the paper and takes minutes; tests/cli/test_bench.py runs a small plan.
LEFT_OUT = {"docs/benchmarks.md"}


def commands(page: str) -> list[str]:
    """Lines that run kempe, those that go on in the next joined with it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [block.replace("\\\n", " ") for block in BLOCK.findall(text)]
    return [
        line for block in blocks for line in block.splitlines() if re.match(r"(.*\| )?kempe ", line)
    ]


def write(name: str, header: str, rows: object) -> None:
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([header.split(","), *rows])  # type: ignore[misc]


def make_files(by_id: bool) -> None:
    """Write what a reader has."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 10, axis=0)
    write("data.csv", "a,b", X.tolist())
    write("new.csv", "a,b", X[:5].tolist())
    X, species = load_iris(return_X_y=True)
    kinds = [f"kind {kind}" if row % 2 else "?" for row, kind in enumerate(species)]
    write("flowers.csv", "a,b,c,d,species", [[*x, kind] for x, kind in zip(X, kinds, strict=True)])
    people = [
        [f"c{n}", "" if n == 7 else n % 3 * 9 + n / 10, ["Rome", "Oslo", "Bonn"][n % 3]]
        for n in range(30)
    ]
    write("customers.csv", "customer,age,city", people)
    write("new_customers.csv", "customer,age,city", people[:9])
    Path("customers.csv.gz").write_bytes(gzip.compress(Path("customers.csv").read_bytes()))
    names = ("c{}" if by_id else "{}").format
    write("together.csv", "one,other", [[names(0), names(4)]])
    write("apart.csv", "one,other", [[names(0), names(3)], [names(1), names(2)]])
    write("ml.csv", "one,other", [[0, 1]])
    write("cl.csv", "one,other", [[0, 10], [3, 4]])
    Path("pairs.json").write_text('{"ml": [[0, 1]], "cl": [[0, 2]], "sml": [[3, 9]], "scl": []}')


@pytest.mark.skipif(os.name == "nt" or shutil.which("gzip") is None, reason="lines for a shell")
@pytest.mark.parametrize("page", PAGES)
def test_the_lines_of_a_page_work(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_files(by_id=page in ("README.md", "docs/command_line.md"))
    kempe = f"kempe() {{ '{sys.executable}' -m kempe \"$@\"; }}\n"
    assert commands(page)
    for line in commands(page):
        done = subprocess.run(
            ["bash", "-c", kempe + line], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_no_page_with_lines_is_left_out():
    pages = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
        if commands(str(path.relative_to(ROOT)))
    }
    assert pages - LEFT_OUT == set(PAGES)
