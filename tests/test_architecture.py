"""The page about the architecture names what exists, and walks the way that a fit goes."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest
from sklearn.base import clone

import kempe
from kempe import KSKM, KempeKMeans, _core

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "kempe"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

PAPER = [*(f"Algorithm {number}" for number in range(1, 8)), "A.1", "A.2", "A.3", "A.4"]
NAME = re.compile(r"`([\w.]+)`")
CALL = re.compile(r"`([\w.]+)`\s\(`([\w./]+)`\)")
PATH = re.compile(r"`([\w.]+(?:/[\w.]+)*(?:/|\.(?:py|md|toml|cpp|h)))`")


def section(title: str) -> str:
    """Text below a heading, up to the next."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table(title: str) -> list[list[str]]:
    """Cells of the table in a section, without its header."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def things(cell: str) -> list[tuple[str, str]]:
    """Files and names of a cell such as "`a.py`: `f`, `g`; `b.py`: `h`"."""
    parts = [NAME.findall(part.split(":")[1]) for part in cell.split(";")]
    files = [PATH.findall(part)[0] for part in cell.split(";")]
    return [(file, name) for file, names in zip(files, parts, strict=True) for name in names]


def calls(title: str) -> list[tuple[str, str]]:
    """Files and names of a walk, in its order."""
    return [(file, name) for name, file in CALL.findall(section(title))]


# KempeKMeans gets more clusters than there are to find, so that parents differ and are matched.
WALKS = {
    "The walk of KempeKMeans.fit": KempeKMeans(12, max_mutations=800, random_state=0),
    "The walk of KSKM.fit": KSKM(4, max_mutations=10, random_state=0),
}
ALGORITHMS = {row[0].split(",")[0]: row for row in table("The paper's algorithms")}
PYTHON = sorted(
    {
        *(thing for row in ALGORITHMS.values() for thing in things(row[1])),
        *(call for title in WALKS for call in calls(title) if call[0].endswith(".py")),
    }
)
KERNELS = sorted({call for title in WALKS for call in calls(title) if "_core." in call[1]})


def test_the_table_has_every_algorithm_of_the_paper_once():
    assert [row[0].split(",")[0] for row in table("The paper's algorithms")] == PAPER


@pytest.mark.parametrize("algorithm", PAPER)
def test_the_file_of_an_algorithm_says_which_it_is(algorithm):
    file, _ = things(ALGORITHMS[algorithm][1])[0]
    assert re.search(rf"\b{re.escape(algorithm)}\b", (PACKAGE / file).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("file", "name"), PYTHON)
def test_every_function_and_class_is_in_the_file_that_is_named(file, name):
    module = importlib.import_module("kempe." + file.removesuffix(".py").replace("/", "."))
    found = module
    for part in name.split("."):
        found = getattr(found, part)
    assert found.__module__ == module.__name__


@pytest.mark.parametrize(("file", "name"), KERNELS)
def test_every_kernel_is_in_the_file_that_is_named(file, name):
    found = _core
    text = (ROOT / file).read_text(encoding="utf-8")
    for part in name.split(".")[1:]:
        found = getattr(found, part)
        assert f'"{part}"' in text


@pytest.mark.parametrize("path", sorted(set(PATH.findall(PAGE))))
def test_every_path_exists(path):
    assert (ROOT / path).exists() or (PACKAGE / path).exists()


def test_every_room_is_described_once():
    rooms = [PATH.findall(row[0])[0] for row in table("Rooms")]
    assert all(row[1] for row in table("Rooms"))
    modules = {p.name for p in PACKAGE.glob("*.py") if not p.name.startswith("__")}
    folders = {f"{p.parent.name}/" for p in PACKAGE.glob("*/__init__.py")}
    assert sorted(rooms) == sorted(modules | folders)


def test_every_room_has_its_layer():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    rooms = {Path(PATH.findall(row[0])[0]).stem for row in table("Rooms")}
    assert {name for layer in layers for name in re.findall(r"\w+", layer)} == rooms


def test_the_folders_of_the_core_and_of_the_tests_are_rooms():
    rooms = {Path(PATH.findall(row[0])[0]).stem for row in table("Rooms")}
    for folder, others in (("cpp", {"basics"}), ("tests", {"faults", "hostile", "regressions"})):
        names = {p.name for p in (ROOT / folder).iterdir() if p.is_dir()}
        assert {name for name in names if not name.startswith(("_", "."))} <= rooms | others


def called(model, planted) -> list[tuple[str, str]]:
    """Functions of the package in the order in which a fit first calls them."""
    folder = Path(kempe.__file__).parent
    seen: dict[tuple[str, str], None] = {}

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(folder):
            seen.setdefault((path.relative_to(folder).as_posix(), frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        model.fit(planted.X, constraints=planted.constraints)
    finally:
        sys.setprofile(before)
    return list(seen)


@pytest.mark.parametrize("title", WALKS)
def test_a_fit_goes_the_way_of_the_walk(planted, title):
    data = planted(n_rows=120, n_clusters=4, n_pairs=100)
    way = called(clone(WALKS[title]), data)
    walk = [call for call in calls(title) if call[0].endswith(".py")]
    assert [call for call in way if call in walk] == walk
