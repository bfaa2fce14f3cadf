"""The store: lines, torn lines, locks."""

import csv
import os
import subprocess
import sys

import pytest

from kempe.bench import Record, Store, Task
from kempe.bench.store import COLUMNS, StoreError


def record(seed=0, status="ok", **outcome):
    task = Task("main", "COL3/n500-k2", 0.05, "KSKM", seed, {"a": 1}, 5.0)
    return Record.of(task, status, **outcome)


def fill(folder, *records):
    store = Store(folder)
    with store.writing() as append:
        for item in records:
            append(item)
    return store


def test_what_is_written_is_read_back(tmp_path):
    runs = [record(0, inertia=1 / 3, history=[[0.1, 2.0]]), record(1, "failed", reason="crash")]
    store = fill(tmp_path, *runs)
    assert store.records() == runs
    assert store.records()[0].key == "main|COL3/n500-k2|0.05|KSKM|0"
    assert Store(tmp_path / "nothing").records() == []


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_torn_last_line_is_dropped_and_the_next_one_is_whole(tmp_path, cut):
    store = fill(tmp_path, record(0), record(1))
    os.truncate(store.path, store.path.stat().st_size - cut)
    assert store.records() == [record(0)]
    fill(tmp_path, record(2))
    assert store.records() == [record(0), record(2)]


def test_a_damaged_line_in_the_middle_is_an_error(tmp_path):
    store = fill(tmp_path, record(0), record(1))
    content = store.path.read_bytes()
    first = content.index(b"\n") + 1
    store.path.write_bytes(content[: first + 20] + b"\n" + content[first + 30 :])
    with pytest.raises(StoreError, match=r"line 2 of .* is damaged"):
        store.records()


def test_a_run_never_appears_twice(tmp_path):
    store = fill(tmp_path, record(0, inertia=1.0), record(0, inertia=2.0))
    assert [item.inertia for item in store.records()] == [2.0]


def test_entries_of_later_versions_are_ignored():
    cells = dict(zip(COLUMNS, record(0).to_cells(), strict=True))
    assert Record.from_cells(cells | {"novelty": "1"}) == record(0)


def test_a_file_of_an_earlier_version_gets_the_new_columns(tmp_path):
    store = fill(tmp_path, record(0), record(1))
    rows = list(csv.reader(store.path.read_text().splitlines()))
    assert rows[0][-1] == "environment"
    with open(store.path, "w", newline="") as file:
        csv.writer(file).writerows(row[:-1] for row in rows)
    fill(tmp_path, record(2))
    assert store.records() == [record(0), record(1), record(2)]


def test_the_file_is_a_plain_table(tmp_path):
    store = fill(tmp_path, record(0, inertia=0.5, reason='one, "two"\nthree'))
    with open(store.path, newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["reason"] == 'one, "two" three'
    assert (row["inertia"], row["ari"], row["must_link"]) == ("0.5", "", "true")


def test_only_one_process_may_write(tmp_path):
    script = f"from kempe.bench import Store\nwith Store({str(tmp_path)!r}).writing(): pass"
    with Store(tmp_path).writing():
        other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "another process is writing" in other.stderr
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_runs_can_be_dropped(tmp_path):
    store = fill(tmp_path, record(0), record(1, "failed"), record(2))
    assert store.drop(lambda item: not item.ok) == 1
    assert store.records() == [record(0), record(2)]
    assert Store(tmp_path / "nothing").drop(lambda item: True) == 0


def other_collection(seed):
    return Record.of(Task("main", "COL1/iris", 0.05, "KSKM", seed, {}, 5.0), "ok")


def test_packed_runs_are_read_with_newer_ones(tmp_path):
    store = fill(tmp_path, record(0, inertia=1.0), record(1), other_collection(0))
    files = store.pack()
    assert [path.name for path in files] == ["runs-COL1.csv.xz", "runs-COL3.csv.xz"]
    assert not store.path.exists()
    fill(tmp_path, record(0, inertia=2.0), record(2))
    assert [item.seed for item in store.records()] == [0, 0, 1, 2]
    assert {item.inertia for item in store.records()} == {None, 2.0}
    before = store.records()
    store.pack()
    assert store.records() == before
    assert sorted(store.folder.glob("runs*")) == files


def test_runs_can_be_dropped_from_packed_files(tmp_path):
    store = fill(tmp_path, record(0), other_collection(0), other_collection(1))
    store.pack()
    assert store.drop(lambda item: item.collection == "COL1") == 2
    assert store.records() == [record(0)]
    assert store.packed == []
    store.pack()
    assert store.drop(lambda item: False) == 0
    assert len(store.packed) == 1


def test_a_damaged_packed_file_is_an_error(tmp_path):
    store = fill(tmp_path, record(0))
    (path,) = store.pack()
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StoreError, match=r"runs-COL3\.csv\.xz is damaged"):
        store.records()


def test_environments_are_kept(tmp_path):
    store = Store(tmp_path)
    store.add_environment("a", {"python": "3"})
    store.add_environment("b", {"python": "4"})
    assert store.environments() == {"a": {"python": "3"}, "b": {"python": "4"}}
