"""The store: lines, torn lines, locks."""

import csv
import lzma
import os
import subprocess
import sys

import pytest

from kempe.bench import Record, Store, Task
from kempe.bench.store import COLUMNS, StoreError, _line


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


def test_a_method_may_fail_with_a_page_of_words(tmp_path):
    store = fill(tmp_path, record(0, "failed", reason="error: " + 200_000 * "x"))
    (found,) = store.records()
    assert found.reason.startswith("error: xxx")
    assert len(found.reason) == 2000


WRONG = {
    "seed": ["", '"one"', "1.5", "true", "[1]", "9" * 400],
    "level": ["NaN", "Infinity", '"0.05"', "{}", "1e999"],
    "inertia": ["nan", "[", "1 2", '"low"'],
    "must_link": ["1", "", '"yes"'],
    "options": ["[]", "3", "", "[" * 100_000],
    "history": ["[[1]]", "[1, 2]", '[[1, "a"]]', "{}", "[" * 100_000 + "]" * 100_000],
    "reason": ["x" * 200_000],
}


@pytest.mark.parametrize("column", WRONG)
def test_a_cell_that_holds_something_else_is_an_error_in_words(tmp_path, column):
    store = fill(tmp_path, record(0), record(1))
    head, first, _ = csv.reader(store.path.read_text().splitlines())
    for cell in WRONG[column]:
        cells = [cell if name == column else old for name, old in zip(head, first, strict=True)]
        with open(store.path, "w", newline="") as file:
            csv.writer(file).writerows([head, cells])
        with pytest.raises(StoreError, match=r"line 2 of .*runs\.csv is damaged"):
            store.records()


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"a" * 3_000_000 + b"\n", b"a,b\n1\n", b"\n\n1\n"]
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_is_no_table_of_runs_is_an_error_in_words(tmp_path, content, packed):
    name = "runs-COL3.csv.xz" if packed else "runs.csv"
    whole = _line(COLUMNS) + content + b"\n"
    (tmp_path / name).write_bytes(lzma.compress(whole) if packed else whole)
    with pytest.raises(StoreError, match="damaged"):
        Store(tmp_path).records()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory")
def test_a_small_file_that_unpacks_to_a_large_one_needs_little_memory(tmp_path):
    packer = lzma.LZMACompressor()
    with open(tmp_path / "runs-COL3.csv.xz", "wb") as file:
        for _ in range(400):
            file.write(packer.compress(bytes(2**20)))
        file.write(packer.flush())
    script = f"""
import resource
from kempe.bench import Store
from kempe.bench.store import StoreError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    Store({str(tmp_path)!r}).records()
except StoreError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 50_000  # kilobytes


@pytest.mark.parametrize("content", ["[]", '{"a": 1}', "{", "[" * 100_000, '{"a": NaN}'])
def test_damaged_environments_are_an_error_in_words(tmp_path, content):
    (tmp_path / "environments.json").write_text(content)
    with pytest.raises(StoreError, match=r"environments\.json is damaged"):
        Store(tmp_path).environments()


def test_environments_that_say_other_things_can_be_reported(tmp_path):
    from kempe.bench.report import write_report

    store = fill(tmp_path / "store", record(0, inertia=1.0, cpu_s=1.0, wall_s=1.0))
    store.add_environment("a", {"packages": 3})
    write_report([store.folder], tmp_path / "report")
