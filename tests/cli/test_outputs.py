"""What the command line writes: whole files or none, never over its own input."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kempe.cli import app

ROWS = "1,2\n1.1,2\n5,6\n5.2,6.1\n9,9\n" * 20
posix = pytest.mark.skipif(os.name == "nt", reason="limits and devices of POSIX systems")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text(ROWS)
    (tmp_path / "pairs.csv").write_text("0,2\n")
    (tmp_path / "link.csv").symlink_to("data.csv")
    (tmp_path / "copy.csv").hardlink_to(tmp_path / "data.csv")
    return tmp_path


def kempe(folder: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    # Where files stay small, Python would leave half a file of bytecode, and no later start work.
    return subprocess.run(
        [sys.executable, "-B", "-m", "kempe", *arguments],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        **{"stdout": subprocess.PIPE, **options},  # type: ignore[call-overload]
    )


def uncounted() -> dict[str, str]:
    """Environment in which nothing counts the lines that are reached, which takes files too.

    gcov is to write nowhere, and says so at the end.
    """
    variables = {name: value for name, value in os.environ.items() if "COVERAGE" not in name}
    return {**variables, "GCOV_PREFIX": os.devnull}


def small_files() -> None:
    """Let every write beyond some bytes fail, as it does where the disk is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.parametrize(
    "outputs",
    [
        ["-o", "data.csv"],
        ["-o", "./pairs.csv"],
        ["-o", "link.csv"],
        ["-o", "copy.csv"],
        ["--centers", "data.csv"],
        ["--model", "data.csv"],
        ["-o", "new.csv", "--centers", "./new.csv"],
        ["-o", "new.csv", "--model", "new.csv"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_named_twice_is_refused(
    folder: Path, outputs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    arguments = ["fit", "data.csv", "-k", "2", "--cannot-link", "pairs.csv", *outputs]
    run = CliRunner().invoke(app, arguments)
    assert run.exit_code == 2
    assert "named twice" in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert (folder / "data.csv").read_text() == ROWS
    assert not (folder / "new.csv").exists()


@posix
@pytest.mark.parametrize("option", ["-o", "--centers", "--model"])
def test_a_full_disk_keeps_the_old_file_and_is_one_line(folder: Path, option: str) -> None:
    old = folder / "out"
    old.write_text("old")
    before = set(folder.iterdir())
    arguments = ["fit", "data.csv", "-k", "5", "-q", option, "out"]
    run = kempe(folder, *arguments, preexec_fn=small_files, env=uncounted())
    assert run.returncode == 2
    said = [line for line in run.stderr.splitlines() if not line.startswith("profiling:")]
    assert said == ["error: out: File too large"]
    assert old.read_text() == "old"
    assert set(folder.iterdir()) == before


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("how", [["-o", "-"], ["--json"], ["-o", "/dev/full"]], ids=" ".join)
def test_a_full_device_is_one_line_too(folder: Path, how: list[str]) -> None:
    with open("/dev/full", "w") as full:
        run = kempe(folder, "fit", "data.csv", "-k", "2", "-q", *how, stdout=full)
    assert run.returncode == 2
    assert "No space left on device" in run.stderr
    assert len(run.stderr.splitlines()) == 1


@posix
def test_a_pipe_is_written_to_and_not_replaced(folder: Path) -> None:
    run = kempe(folder, "fit", "data.csv", "-k", "2", "-q", "-o", "/dev/stdout")
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0] == "label"
    assert len(run.stdout.splitlines()) == 101
