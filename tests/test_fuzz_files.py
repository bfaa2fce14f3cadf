"""The fuzzer of files: it damages, it tells, and what it keeps fails again."""

from __future__ import annotations

import random
import signal
from collections import Counter

import pytest

import fuzz_files


@pytest.fixture(autouse=True)
def signals():
    """A worker has signals of its own."""
    numbers = (signal.SIGINT, signal.SIGPROF)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def heard():
    """What a worker reports."""

    class Reports(list):
        put = list.append

    return Reports()


def test_a_batch_is_read_or_refused(heard, monkeypatch):
    monkeypatch.setattr(fuzz_files, "BATCH", 40)
    # Damaged stores are the business of tests/bench/test_store.py.
    others = {kind: how for kind, how in fuzz_files.FILES.items() if kind != "store"}
    monkeypatch.setattr(fuzz_files, "FILES", others)
    fuzz_files.work(1, heard)
    assert not [report for report in heard if report[0] == "failed"]
    outcomes = Counter(report[2] for report in heard if report[0] == "done")
    assert outcomes["refused"] > outcomes["read"] > 0


@pytest.mark.parametrize("kind", fuzz_files.FILES)
def test_what_is_not_damaged_is_read(kind, tmp_path):
    content = fuzz_files.original(kind, tmp_path)
    assert fuzz_files.attempt(kind, content, tmp_path) == "read"
    rng = random.Random(0)
    assert any(fuzz_files.damaged(content, rng) != content for _ in range(5))


def test_what_was_damaged_is_damaged_again(tmp_path):
    rng = random.Random(0)
    content = fuzz_files.original("npz", tmp_path)
    for _ in range(300):
        fuzz_files.damaged(content, rng)


def test_another_error_than_the_promised_one_is_told_and_the_file_is_kept(
    heard, monkeypatch, tmp_path
):
    def breaks(_):
        raise KeyError("this")

    name, write, _, promised = fuzz_files.FILES["csv"]
    monkeypatch.setattr(fuzz_files, "FILES", {"csv": (name, write, breaks, promised)})
    monkeypatch.setattr(fuzz_files, "try_names", lambda *_: None)
    monkeypatch.setattr(fuzz_files, "HOSTILE", tmp_path / "hostile")
    fuzz_files.work(3, heard)
    kind, content, why = heard[-1][1:]
    assert "KeyError" in why
    counts = Counter()
    fuzz_files.fail(kind, content, why, counts)
    assert counts["failures"] == 1
    assert [path.read_bytes() for path in (tmp_path / "hostile").iterdir()] == [content]


def test_a_name_that_becomes_a_tag_is_seen():
    assert fuzz_files.tags("<p>&lt;b&gt;</p>") == Counter(p=1)
    assert fuzz_files.tags('<p><b onclick="x">') == {"p": 1, "b": 1, "b@onclick": 1}
