"""Pairs from files: by row numbers and by ids, none lost, each wrong one named by its line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kempe.tables import Ids, open_table, read_constraint_file, read_pairs


@pytest.fixture
def ids(tmp_path):
    (tmp_path / "people.csv").write_text("name,a\nann,1\nbob,2\n7,3\n007,4\n")
    table = open_table(tmp_path / "people.csv")
    return Ids(table, 0)


@pytest.fixture
def write(tmp_path):
    def make(text, name="pairs.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return make


@pytest.mark.parametrize(
    "text", ["0,1\n2,3\n", "first,second\n0,1\n2,3\n", "a;b\n0;1\n2;3", "0\t1\n\n2\t3\n"]
)
@pytest.mark.filterwarnings("ignore:.*was taken for a pair")
def test_row_numbers(write, text):
    assert read_pairs(write(text), "must-link", n_rows=4).tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("text", ["ann,bob\n7,007\n", "from,to\nann,bob\n7,007\n"])
def test_ids_need_no_header_and_are_compared_as_text(write, ids, text):
    assert read_pairs(write(text), "must-link", ids=ids).tolist() == [[0, 1], [2, 3]]


def test_a_single_pair_of_ids_is_no_header(write, ids):
    assert read_pairs(write("ann,bob\n"), "cannot-link", ids=ids).tolist() == [[0, 1]]


def test_a_first_line_with_one_unknown_id_is_no_header(write, ids):
    with pytest.raises(ValueError, match=r"line 1: no row of .*people.csv has the id 'bobb'"):
        read_pairs(write("ann,bobb\n7,007\n"), "must-link", ids=ids)


def test_a_line_that_may_be_names_of_a_data_frame_is_told(write):
    with pytest.warns(UserWarning, match="the first line, 0,1, was taken for a pair"):
        read_pairs(write("0,1\n2,3\n"), "must-link", n_rows=4)


def test_a_file_without_pairs_shows_its_line(write, ids):
    for known in ({}, {"ids": ids}):
        with pytest.raises(ValueError, match="holds no pair: its only line, 'x,y'"):
            read_pairs(write("x,y\n"), "must-link", **known)
        with pytest.raises(ValueError, match="is empty: it holds no pair"):
            read_pairs(write("\n"), "must-link", **known)


def test_lines_are_counted_as_an_editor_does(write):
    with pytest.raises(ValueError, match=r"pairs.csv, line 7: row 9 is out of range for 5 rows"):
        read_pairs(write("first,second\n\n0,1\n\n\n1,2\n0,9\n"), "must-link", n_rows=5)
    with pytest.raises(ValueError, match=r"line 3: \(nothing, 2\) is not a pair"):
        read_pairs(write("first,second\n0,1\n,2\n"), "must-link", n_rows=5)


def test_a_row_may_be_together_with_itself_but_not_apart(write):
    path = write("first,second\n1,1\n")
    assert read_pairs(path, "must-link").tolist() == [[1, 1]]
    with pytest.raises(ValueError, match="line 2: a row cannot be apart from itself"):
        read_pairs(path, "cannot-link")


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_pairs_come_in_other_formats(tmp_path, suffix):
    pairs = np.array([[0, 1], [2, 3]])
    path = tmp_path / f"pairs.{suffix}"
    if suffix == "npy":
        np.save(path, pairs)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table({"first": pairs[:, 0], "second": pairs[:, 1]})
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    np.testing.assert_array_equal(read_pairs(path, "must-link", n_rows=4), pairs)
    with pytest.raises(ValueError, match="row 1: row 3 is out of range"):
        read_pairs(path, "must-link", n_rows=3)


CONTENT = {
    "ml": [[0, 1]],
    "cl": [[1, 2], [0, 3]],
    "sml": [[0, 2]],
    "scl": [],
    "sml_proba": [0.8],
    "scl_proba": [],
}


def test_a_file_of_constraints_has_pairs_of_all_kinds(write):
    found = read_constraint_file(write(json.dumps(CONTENT)), n_rows=4)
    assert found.must_link.tolist() == [[0, 1]]
    assert found.cannot_link.tolist() == [[1, 2], [0, 3]]
    assert found.soft_must_link.tolist() == [[0, 2]]
    assert found.soft_must_link_confidence == [0.8]
    assert found.n_soft == 1


def test_a_file_of_constraints_may_name_ids(write, ids):
    found = read_constraint_file(write('{"ml": [["ann", 7]], "scl": [["bob", "007"]]}'), ids=ids)
    assert found.must_link.tolist() == [[0, 2]]
    assert found.soft_cannot_link.tolist() == [[1, 3]]
    assert found.soft_cannot_link_confidence == [1.0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1]", "should hold an object with ml, cl, sml, scl"),
        ("{}", "there is none of them"),
        ('{"ml": [], "cl": []}', "holds no pair"),
        ('{"ml": [[0, 1]], "mll": []}', "unknown: mll"),
        ('{"ml": [[0, 1, 2]]}', "'ml' is not a list of pairs"),
        ('{"ml": {"a": 1}}', "'ml' is not a list of pairs"),
        ('{"cl": [[0, 1], [2, 2]]}', "'cl', pair 2: a row cannot be apart from itself"),
        ('{"ml": [[0, 1.5]]}', r"'ml', pair 1: \(0, 1.5\) is not a pair"),
        ('{"sml": [[0, 1]], "sml_proba": [0.5, 0.5]}', "'sml_proba' is not a list of 1 conf"),
        ('{"sml": [[0, 1]], "sml_proba": ["high"]}', "'sml_proba' is not a list of 1 conf"),
    ],
)
def test_what_is_wrong_with_a_file_of_constraints_is_said(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_constraint_file(write(content, "pairs.json"), n_rows=4)
