"""Pairs from files: by row numbers and by ids, none lost, each wrong one named by its line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kempe.tables import (
    Ids,
    TableError,
    Unsaid,
    open_table,
    read_constraint_file,
    read_groups,
    read_pairs,
)


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
    with pytest.raises(ValueError, match=r"line 3: nothing is no row number"):
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
    assert np.isnan(found.soft_cannot_link_confidence).tolist() == [True]


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
        ('{"ml": [[0, 1.5]]}', r"'ml', pair 1: 1.5 is no row number"),
        ('{"sml": [[0, 1]], "sml_proba": [0.5, 0.5]}', "'sml_proba' is not a list of 1 conf"),
        ('{"sml": [[0, 1]], "sml_proba": ["high"]}', "'sml_proba' is not a list of 1 conf"),
    ],
)
def test_what_is_wrong_with_a_file_of_constraints_is_said(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_constraint_file(write(content, "pairs.json"), n_rows=4)


@pytest.mark.parametrize("text", ["0 1\n2 3\n", "first second\n\n0   1\n 2\t3 \n"])
def test_blanks_may_part_row_numbers(write, text):
    assert read_pairs(write(text), "must-link", n_rows=4).tolist() == [[0, 1], [2, 3]]


def test_blanks_may_part_ids(write, ids):
    path = write("from  to\nann bob\n\n7 007\n")
    assert read_pairs(path, "must-link", ids=ids).tolist() == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match=r"line 3: no row of .* has the id 'zoe'"):
        read_pairs(write("from to\nann bob\nann zoe\n"), "must-link", ids=ids)


@pytest.mark.parametrize(
    "text",
    [
        "0,1,must-link\n2,3,cannot-link\n1,2,must-link\n",
        "a,b,type\n0,1,ML\n2,3,CL\n1,2,ml\n",
        "0;1;Must Link\n2;3;Cannot_Link\n1;2;must\n",
        "0 1 1\n2 3 -1\n1 2 +1\n",
        "first\tsecond\tsign\n0\t1\t1.0\n2\t3\t-1.0\n1\t2\t1.0\n",
    ],
)
def test_a_third_column_says_of_which_kind_a_pair_is(write, text):
    found = read_constraint_file(write(text), n_rows=4)
    assert found.must_link.tolist() == [[0, 1], [1, 2]]
    assert found.cannot_link.tolist() == [[2, 3]]


def test_kinds_go_with_ids(write, ids):
    found = read_constraint_file(write("ann,bob,together\nbob,007,apart\n"), ids=ids)
    assert found.must_link.tolist() == [[0, 1]]
    assert found.cannot_link.tolist() == [[1, 3]]


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_constraint_file, "0,1\n2,3\n", "need three columns, .* found 2"),
        (read_constraint_file, "0,1,ml\n2,3,maybe\n", "line 2: 'maybe' says neither"),
        (read_constraint_file, "a,b,sure\n0,1,0.8\n", "line 2: '0.8' says neither"),
        (read_constraint_file, "a,b,kind\n", "holds no pair"),
        (read_constraint_file, '{"pairs": []}', "should hold ml, cl, sml, scl"),
        (lambda path: read_pairs(path, "must-link"), "0,1,0.8\n", "need two columns, found 3"),
        (read_groups, "a,b,c\n1,2,3\n", "groups need two columns"),
    ],
)
def test_a_wrong_form_is_told_as_such(write, read, text, message):
    with pytest.raises(TableError, match=message) as caught:
        read(write(text))
    assert caught.value.unsaid is Unsaid.FORM


def test_the_line_of_a_pair_that_cannot_be_is_told_whatever_its_kind(write):
    with pytest.raises(ValueError, match="line 3: a row cannot be apart from itself"):
        read_constraint_file(write("0,0,ml\n0,1,cl\n2,2,cl\n"))
    with pytest.raises(ValueError, match="line 2: row 9 is out of range for 4 rows"):
        read_constraint_file(write("0,1,ml\n0,9,cl\n"), n_rows=4)


@pytest.mark.parametrize(
    "text",
    [
        "house,who\nA,ann\nA,bob\nB,7\nA,007\n",
        "who;house\nann;A\nbob;A\n7;B\n007;A\n",
        "A ann\nA bob\nB 7\nA 007\n",
    ],
)
def test_groups_become_chains_of_pairs(write, ids, text):
    assert read_groups(write(text), ids=ids).tolist() == [[0, 1], [1, 3]]


def test_groups_may_have_row_numbers_and_blanks(write):
    path = write("household,row\n7,0\n,1\n7,2\nNA,3\n8,1\n7,4\n")
    assert read_groups(path, n_rows=5).tolist() == [[0, 2], [2, 4]]
    with pytest.raises(ValueError, match="line 7: row 4 is out of range for 4 rows"):
        read_groups(path, n_rows=4)


def test_a_member_without_a_row_is_told(write, ids):
    with pytest.raises(ValueError, match=r"line 3: no row of .* has the id 'zoe'"):
        read_groups(write("house,who\nA,ann\nA,zoe\nB,bob\n"), ids=ids)
