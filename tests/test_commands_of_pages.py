"""The commands in the pages work, page by page from top to bottom, and print what the pages say.

A block of commands that cannot run here (it would take an hour, or install something) is preceded
by a comment ``<!-- not run by the tests: REASON -->``. What it names must exist all the same.
"""

from __future__ import annotations

import doctest
import gzip
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from string import Template

import pytest
from sklearn.datasets import load_iris
from typer.main import get_command

from kempe.cli.app import app
from pages import PAGES, ROOT, Block, blocks

BLOCKS = {page: list(blocks(page, "shell")) for page in PAGES}
RUN = [page for page, found in BLOCKS.items() if any(block.reason is None for block in found)]
LEFT_OUT = [block for found in BLOCKS.values() for block in found if block.reason is not None]
SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def write(path: Path, header: str, rows: Iterable[Iterable[object]]) -> None:
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    """Give a folder with the files that a reader has."""
    X, species = load_iris(return_X_y=True)
    columns = "sepal_length,sepal_width,petal_length,petal_width"
    write(tmp_path / "data.csv", columns, X)
    write(tmp_path / "new.csv", columns, X[::7])
    write(tmp_path / "ml.csv", "one,other", [(0, 1), (4, 7)])
    write(tmp_path / "cl.csv", "one,other", [(1, 50), (2, 100), (60, 120)])
    pairs = {"ml": [(0, 1)], "cl": [(0, 2)], "sml": [(3, 9)], "scl": []}
    (tmp_path / "pairs.json").write_text(json.dumps(pairs))
    known = [f"kind {kind}" if row % 2 else "?" for row, kind in enumerate(species)]
    flowers = [[*row, name] for row, name in zip(X, known, strict=True)]
    write(tmp_path / "flowers.csv", f"{columns},species", flowers)
    cities = ("Rome", "Oslo", "Bonn")
    people = [(f"c{n}", "" if n == 7 else 20 + n, cities[n % 3]) for n in range(30)]
    write(tmp_path / "customers.csv", "customer,age,city", people)
    write(tmp_path / "new_customers.csv", "customer,age,city", people[:9])
    packed = gzip.compress((tmp_path / "customers.csv").read_bytes())
    (tmp_path / "customers.csv.gz").write_bytes(packed)
    members = [(f"m{i}", "" if i % 5 == 0 else f"h{i // 3}", 20 + i * 7 % 50) for i in range(30)]
    write(tmp_path / "members.csv", "member,household,age", members)
    write(tmp_path / "houses.csv", "household,member", [row[1::-1] for row in members if row[1]])
    sure = [("m1", "m28", "cannot-link", 0.9), ("m2", "m7", "must-link", 0.7)]
    write(tmp_path / "unsure.csv", "first,second,kind,confidence", sure)
    write(tmp_path / "together.csv", "one,other", [("c0", "c4")])
    write(tmp_path / "apart.csv", "one,other", [("c0", "c3"), ("c1", "c2")])
    return tmp_path


def run(block: Block, folder: Path) -> str:
    """Run the commands of a block as a reader would; give what appears on the screen."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        cwd=folder,
        env={**os.environ, "PATH": programs, "COLUMNS": "100", "MPLBACKEND": "Agg"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{block.text}\n{done.stdout}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="lines for a shell")
@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_a_page_work(page, reader):
    for block in BLOCKS[page]:
        if block.reason is None:
            printed = run(block, reader)
            if block.output is not None:
                assert doctest.OutputChecker().check_output(block.output, printed, SAME), printed


def commands(block: Block) -> list[list[str]]:
    """Words of each command of a block, without comments, variables filled in."""
    found, variables = [], {}
    for line in block.text.splitlines():
        words = shlex.split(Template(line).safe_substitute(variables), comments=True)
        if words and (assignment := re.fullmatch(r"(\w+)=(.*)", words[0])):
            variables[assignment[1]] = assignment[2]
        elif words:
            found.append(words)
    return found


def check_make(words: list[str]) -> None:
    """Check that the Makefile has the target."""
    assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def check_script(words: list[str]) -> None:
    """Check that the script exists and knows the options."""
    start = 3 if words[1] == "-m" else 1
    plain = itertools.takewhile(lambda word: not word.startswith("-"), words[start:])
    called = [*words[1:start], *plain]
    options = [word for word in words if word.startswith("--")]
    shown = subprocess.run(
        [sys.executable, *called, "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not [option for option in options if option not in shown.stdout]


def check_kempe(words: list[str]) -> None:
    """Check that the command parses; nothing is run."""
    command, arguments = get_command(app), words[1:]
    context = command.make_context("kempe", list(arguments))
    while hasattr(command, "resolve_command"):
        name, command, arguments = command.resolve_command(context, arguments)
        context = command.make_context(name, list(arguments), parent=context)


def check_nothing(words: list[str]) -> None:
    """Trust that a program of somebody else exists."""


CHECKS = {
    "kempe": check_kempe,
    "make": check_make,
    "pip": check_nothing,
    "python": check_script,
}


@pytest.mark.slow
@pytest.mark.parametrize("block", LEFT_OUT, ids=lambda block: block.page)
def test_what_is_left_out_names_what_exists(block):
    for words in commands(block):
        CHECKS[words[0]](words)
    first = block.text.splitlines()[0]
    pytest.skip(f"not run, but what it names exists: {block.page}: {first}: {block.reason}")


def test_a_reason_stands_before_commands_only():
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        comments = re.findall("^<!-- not run by the tests", text, re.MULTILINE)
        assert len(comments) == sum(block.reason is not None for block in BLOCKS[page])
