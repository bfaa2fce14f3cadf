"""Whatever is wrong is said in words, without a traceback, and ends with the right code."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_inputs import CASES, BadInput, make_files, run

PAGE = Path(__file__).parents[2] / "docs" / "_generated" / "bad_inputs.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        path = tmp_path_factory.mktemp("bad")
        patch.chdir(path)
        make_files()
        yield path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.command)
def test_what_is_wrong_is_said_with_an_exit_code(folder, monkeypatch, case: BadInput):
    monkeypatch.setenv("COLUMNS", "200")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, said, ended_by = run(case)
    assert code == case.code, said
    assert case.message in said
    assert said.lower().count("error: ") == 1
    assert isinstance(ended_by, SystemExit)  # anything else would have been a traceback
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_table_of_the_documentation_is_up_to_date():
    """It has the same cases; of messages, other packages word some, and not always alike."""
    _, _, *rows = PAGE.read_text(encoding="utf-8").splitlines()
    told = [row.strip("| ").split(" | ") for row in rows]
    assert len(told) == len(CASES), "run python tests/cli/bad_inputs.py, which says where to"
    for case, (command, said, code) in zip(CASES, told, strict=True):
        assert command == f"`kempe {case.command}`"
        assert case.message in said
        assert int(code) == case.code


def test_there_are_enough_of_them():
    assert len(CASES) >= 40
    assert len({case.command + str(case.stdin) for case in CASES}) == len(CASES)
