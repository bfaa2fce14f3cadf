"""One table in every format, read the same, from files, packed files and pipes."""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kempe.cli import app
from kempe.tables import TableError, TextColumnsError, Unsaid, open_table, write_table

NAMES = ["id", "height", "weight", "kind"]
ROWS = [
    ["a7", 1.5, 10.0, "oak"],
    ["b8", 2.5, None, "fir"],
    ["c9", -0.25, 1e20, None],
    ["007", 4.0, 3.0, "oak"],
]


def write_text(path: Path, delimiter: str = ",") -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(NAMES)
        writer.writerows([["" if cell is None else cell for cell in row] for row in ROWS])


def write_packed(path: Path) -> None:
    write_text(path)
    path.write_bytes(gzip.compress(path.read_bytes()))


def arrow():
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({name: list(column) for name, column in zip(NAMES, zip(*ROWS))})  # noqa: B905


def write_parquet(path: Path) -> None:
    pytest.importorskip("pyarrow.parquet").write_table(arrow(), path)


def write_feather(path: Path) -> None:
    pytest.importorskip("pyarrow.feather").write_feather(arrow(), str(path))


def write_excel(path: Path) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [NAMES, *ROWS]:
        book.active.append(row)
    book.save(path)


def write_structured(path: Path) -> None:
    kinds = [("id", "U4"), ("height", float), ("weight", float), ("kind", "U4")]
    cells = [
        tuple(v if v is not None else (np.nan if i == 2 else "") for i, v in enumerate(row))
        for row in ROWS
    ]
    with path.open("wb") as file:
        np.save(file, np.array(cells, dtype=kinds))


WRITERS = {
    "table.csv": write_text,
    "table.tsv": lambda path: write_text(path, "\t"),
    "table.txt": lambda path: write_text(path, ";"),
    "table.csv.gz": write_packed,
    "packed-under-another-name.csv": write_packed,
    "table.parquet": write_parquet,
    "table.feather": write_feather,
    "table.arrow": write_feather,
    "table.xlsx": write_excel,
    "table.npy": write_structured,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(tmp_path, name):
    WRITERS[name](tmp_path / name)
    table = open_table(tmp_path / name)
    assert list(table.names) == NAMES
    assert (table.n_rows, table.has_header) == (4, True)
    assert table.texts(0) == ["a7", "b8", "c9", "007"]
    assert table.texts_of([3, 0, 0]) == [table.texts(3), table.texts(0), table.texts(0)]
    assert table.texts_of([]) == []
    assert [text or "" for text in table.texts(3)] == ["oak", "fir", "", "oak"]
    np.testing.assert_array_equal(
        table.numbers([2, 1]), [[10, 1.5], [np.nan, 2.5], [1e20, -0.25], [3, 4]]
    )
    with pytest.raises(TextColumnsError) as refused:
        table.numbers([0, 1, 3])
    assert refused.value.found == {0: (0, "a7"), 3: (0, "oak")}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_comes_through_a_pipe(tmp_path, name):
    if os.name == "nt":
        pytest.skip("needs named pipes")
    WRITERS[name](tmp_path / name)
    content = (tmp_path / name).read_bytes()
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()
    table = open_table(tmp_path / "pipe")
    writer.join()
    assert list(table.names) == NAMES
    assert table.numbers([1])[:, 0].tolist() == [1.5, 2.5, -0.25, 4.0]
    assert table.texts(0)[3] == "007"


def test_standard_input_is_read_and_written(tmp_path):
    rows = "a,b\n1,2\n1.1,2\n5,6\n"
    done = subprocess.run(
        [sys.executable, "-m", "kempe", "fit", "-", "-k", "2", "-o", "-", "-q"],
        input=gzip.compress(rows.encode()),
        capture_output=True,
        check=True,
    )
    first, second, third = done.stdout.split()
    assert first == second != third


@pytest.mark.parametrize("key", ["X", "alone"])
def test_plain_arrays_have_columns_with_numbers(tmp_path, key):
    values = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "table.npz", **{key: values})
    table = open_table(tmp_path / "table.npz")
    assert table.names == ("1", "2")
    assert not table.has_header
    np.testing.assert_array_equal(table.numbers([0, 1]), values)
    assert table.texts(1) == ["1", "3", "5"]
    assert table.place(2).endswith("table.npz, row 2")


def test_an_array_that_is_chosen_among_several_is_named(tmp_path):
    np.savez(tmp_path / "table.npz", X=np.ones((2, 2)), y=np.ones(2))
    with pytest.warns(UserWarning, match="took the array X, not y"):
        open_table(tmp_path / "table.npz")


def test_the_sheet_that_is_read_is_named_and_rows_have_its_numbers(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.title = "People"
    for row in [[], ["a", "b"], [1, 2], [3, "x"]]:
        book.active.append(row)
    book.create_sheet("Notes")
    book.save(tmp_path / "book.xlsx")
    with pytest.warns(UserWarning, match="'People', the first of 2 sheets"):
        table = open_table(tmp_path / "book.xlsx")
    with pytest.raises(TextColumnsError, match=r"book.xlsx, row 4, column 'b': 'x'"):
        table.numbers([0, 1])


def test_long_whole_numbers_stay_as_they_are(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"id": [2**60 + 1, 2**60]}), tmp_path / "ids.parquet")
    assert open_table(tmp_path / "ids.parquet").texts(0) == [str(2**60 + 1), str(2**60)]


@pytest.mark.parametrize(("module", "name"), [("pyarrow", "t.parquet"), ("openpyxl", "t.xlsx")])
def test_a_reader_that_is_missing_is_named(tmp_path, monkeypatch, module, name):
    WRITERS[name.replace("t.", "table.")](tmp_path / name)
    for loaded in [m for m in sys.modules if m.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, loaded, None)
    monkeypatch.setitem(sys.modules, module, None)
    done = CliRunner().invoke(app, ["fit", str(tmp_path / name), "-k", "2"])
    assert done.exit_code == 2
    assert f'need {module}: pip install "kempe[tables]"' in done.stderr


def test_text_of_excel_in_utf_16_is_read(tmp_path):
    (tmp_path / "u.txt").write_text("größe\tb\n1\t2\n", encoding="utf-16")
    table = open_table(tmp_path / "u.txt")
    assert table.names == ("größe", "b")
    assert table.numbers([0, 1]).tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("lines", "header"),
    [
        (["a,b", "1,2"], True),
        (["1,2", "3,4"], False),
        (["1,2", "3.5,4"], False),
        (["ann,2019", "bob,35"], False),
        (["name,2019", "ann,3.5"], None),
        (["5", "1.5"], False),
        (["score,2019", "1.5,3.5"], True),
        (["?,2", "3,4"], False),
        (["0.5,1.5,2.5", "1,2,3"], False),
        (["3,1,2", "1.5,2.5,3.5"], False),
        (["0,1", "1.5,2.5"], None),
        (["0,1,2", "4,5,6"], None),
        ([",0,1", "0,1.5,2.5"], None),
        (["2019,2020", "0.1,0.2"], None),
    ],
)
def test_names_are_told_from_values_or_asked_about(tmp_path, lines, header):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    if header is not None:
        assert open_table(path).has_header == header
        return
    with pytest.raises(TableError, match="may hold names or values") as caught:
        open_table(path)
    assert caught.value.unsaid is Unsaid.NAMES_OR_VALUES
    assert open_table(path, header=True).n_rows == 1
    assert open_table(path, header=False).n_rows == 2


def test_a_table_in_many_chunks_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("kempe.tables.delimited.CHUNK", 7)
    values = np.arange(60.0).reshape(20, 3)
    values[13, 1] = np.nan
    text = "a,b,c\n" + "".join(",".join(map(str, row)) + "\n" for row in values)
    (tmp_path / "t.csv").write_text(text.replace("nan", "NA"))
    np.testing.assert_array_equal(open_table(tmp_path / "t.csv").numbers([0, 1, 2]), values)
    (tmp_path / "t.csv").write_text(text.replace("nan", "oops").replace("58.0", "too"))
    with pytest.raises(TextColumnsError) as refused:
        open_table(tmp_path / "t.csv").numbers([0, 1, 2])
    assert refused.value.found == {1: (13, "oops")}


def test_cells_may_hold_delimiters_and_line_ends(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('id,a\n"x, y",1\n"two\nlines",2\nz,no\n')
    table = open_table(path)
    assert table.texts(0) == ["x, y", "two\nlines", "z"]
    with pytest.raises(TextColumnsError, match=r"line 5, column 'a': 'no'"):
        table.numbers([1])
    path.write_text('id,a\n"x, y",1\nz,2\n')
    assert open_table(path).numbers([1])[:, 0].tolist() == [1, 2]


def test_what_is_written_is_read_again(tmp_path, capsys):
    rows = [["a", "1"], ["b,c", "2"]]
    for name in ("t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz", "t"):
        write_table(tmp_path / name, ["id", "label"], rows)
        table = open_table(tmp_path / name, header=True)
        assert table.names == ("id", "label")
        assert [list(row) for row in zip(table.texts(0), table.texts(1), strict=True)] == rows
    unpacked = gzip.decompress((tmp_path / "t.tsv.gz").read_bytes())
    assert unpacked == b"id\tlabel\na\t1\nb,c\t2\n"
    write_table(Path("-"), ["id", "label"], rows)
    assert capsys.readouterr().out == 'a,1\n"b,c",2\n'
