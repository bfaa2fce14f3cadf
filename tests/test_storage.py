"""Files that are replaced whole or not at all, and archives that say what is wrong with them."""

from __future__ import annotations

import io
import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kempe.exceptions import FileFormatError
from kempe.storage import read_archive, replacing, write_archive

HEADER = {"name": "ü", "numbers": [1, 2.5]}
ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "empty": np.empty((0, 3), dtype=np.int32),
    "node/1": np.array(True),
}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "file.kempe"
    write_archive(path, "model", 2, HEADER, ARRAYS)
    return path


def rewritten(path: Path, **entries: bytes) -> Path:
    """The archive with entries added or replaced."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (content | entries).items():
            archive.writestr(name, data)
    return path


def with_header(path: Path, **changes: object) -> Path:
    with zipfile.ZipFile(path) as archive:
        top = json.loads(archive.read("header.json"))
    return rewritten(path, **{"header.json": json.dumps(top | changes).encode()})


def test_what_is_written_is_read(archive: Path) -> None:
    header, arrays, version = read_archive(archive, "model", 3)
    assert header == HEADER
    assert version == 2
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_a_missing_file_is_not_a_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        read_archive(tmp_path / "missing", "model", 3)


def test_every_truncation_is_refused(archive: Path) -> None:
    whole = archive.read_bytes()
    for size in range(0, len(whole), 7):
        archive.write_bytes(whole[:size])
        with pytest.raises(FileFormatError, match="damaged or not a kempe model"):
            read_archive(archive, "model", 3)


def test_a_changed_byte_is_refused_or_changes_nothing_read(archive: Path) -> None:
    """Checksums cover the content; a few bytes of a zip file, such as dates, have no meaning."""
    whole = archive.read_bytes()
    for position, flip in itertools.product(range(len(whole)), (0x01, 0x40, 0xFF)):
        damaged = bytearray(whole)
        damaged[position] ^= flip
        archive.write_bytes(damaged)
        try:
            header, arrays, version = read_archive(archive, "model", 3)
        except FileFormatError:
            continue
        assert (header, version) == (HEADER, 2)
        for name in arrays.keys() & ARRAYS.keys():
            np.testing.assert_array_equal(arrays[name], ARRAYS[name])


def test_another_kind_or_a_newer_version_is_named(archive: Path) -> None:
    with pytest.raises(FileFormatError, match="is a kempe model, not a certificate"):
        read_archive(archive, "certificate", 3)
    with pytest.raises(FileFormatError, match=r"version 2 .* up to 1: install a newer kempe"):
        read_archive(archive, "model", 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "not written by kempe"),
        ({"version": "2"}, "damaged header"),
        ({"header": [1]}, "damaged header"),
    ],
)
def test_foreign_headers_are_refused(
    archive: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_archive(with_header(archive, **changes), "model", 3)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", b"[1, 2]"])
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="foreign is damaged or not a kempe model"):
        read_archive(path, "model", 3)


class Bomb:
    """Pickled, it would create a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_reading_executes_nothing(archive: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    array = io.BytesIO()
    np.save(array, np.array([Bomb(trace)], dtype=object), allow_pickle=True)
    for content in (array.getvalue(), pickle.dumps(Bomb(trace))):
        with pytest.raises(FileFormatError, match="damaged"):
            read_archive(rewritten(archive, **{"a.npy": content}), "model", 3)
    assert not trace.exists()


def test_an_array_that_claims_to_be_huge_allocates_nothing(archive: Path) -> None:
    claim = io.BytesIO()
    description = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**6)}
    np.lib.format.write_array_header_1_0(claim, description)
    with pytest.raises(FileFormatError, match="damaged"):
        read_archive(rewritten(archive, **{"a.npy": claim.getvalue()}), "model", 3)


def test_objects_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(ValueError, match="Object arrays"):
        write_archive(path, "model", 1, {}, {"a": np.array([object()])})
    assert not list(tmp_path.iterdir())


def test_an_error_while_writing_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def write_and_fail() -> None:
        with replacing(path) as file:
            file.write("new")
            raise RuntimeError("out of ideas")

    with pytest.raises(RuntimeError, match="out of ideas"):
        write_and_fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"), replacing(tmp_path / "nowhere" / "f"):
        pass


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX systems")
def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with replacing(link) as file:
        file.write("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    other = tmp_path / "other"
    with replacing(other) as file:
        file.write("new")
    plain = tmp_path / "plain"
    plain.write_text("")
    assert other.stat().st_mode == plain.stat().st_mode


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: the write fails in the same place."""
    path = tmp_path / "file"
    path.write_text("old")
    code = """
import resource, signal, sys
from kempe.storage import replacing
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
with replacing(sys.argv[1]) as file:
    file.write("x" * 5000)
"""
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert run.returncode == 1
    assert "File too large" in run.stderr
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


WRITER = """
import sys
import threading
from kempe.storage import replacing
for round in range(10**9):
    with replacing(sys.argv[1]) as file:
        for line in range(2000):
            file.write(f"{round}\\n")
    print("written", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("kill", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path, kill: signal.Signals) -> None:
    path = tmp_path / "file"
    for attempt in range(6):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.002 * attempt)
        writer.send_signal(kill)
        writer.communicate()
        lines = path.read_text().splitlines()
        assert len(lines) == 2000
        assert len(set(lines)) == 1


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX systems")
def test_the_mask_of_the_process_is_never_changed(tmp_path: Path) -> None:
    """Files that other threads make meanwhile would be open to everybody."""
    made, done = tmp_path / "made", threading.Event()
    made.mkdir()
    wrong: list[int] = []

    def others() -> None:
        for number in itertools.count():
            path = made / str(number % 50)
            with open(path, "w"):
                pass
            wrong.extend([1] if path.stat().st_mode & 0o022 else [])
            path.unlink()
            if done.is_set():
                return

    before = os.umask(0o022)
    try:
        thread = threading.Thread(target=others)
        thread.start()
        for number in range(300):
            with replacing(tmp_path / f"file{number}") as file:
                file.write("new")
        done.set()
        thread.join()
    finally:
        os.umask(before)
    assert not wrong
    assert (tmp_path / "file0").stat().st_mode & 0o777 == 0o644


def test_storage_asks_for_no_mask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(_: int) -> int:
        raise AssertionError

    monkeypatch.setattr(os, "umask", asked)
    with replacing(tmp_path / "file") as file:
        file.write("new")
