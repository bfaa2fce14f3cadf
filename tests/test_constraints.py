"""Constraints from every form in which a user may have them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from kempe import Constraints, InfeasibleConstraintsError, KempeKMeans
from kempe.fit_arguments import as_constraints

PAIRS = [(0, 1), (2, 3), (4, 2)]


def as_sets(pairs):
    """Pairs without order and repetition."""
    return {frozenset(pair) for pair in np.asarray(pairs).tolist()}


def closure(n_rows, must_link):
    """Slow twin of the closure: group of each row, by relabelling a dictionary."""
    group = {row: row for row in range(n_rows)}
    for first, second in np.asarray(must_link).reshape(-1, 2).tolist():
        old, new = group[first], group[second]
        group = {row: new if value == old else value for row, value in group.items()}
    return group


def relations(constraints, n_rows):
    """All pairs of rows that the constraints put together or apart, transitively."""
    group = closure(n_rows, constraints.must_link)
    together = {frozenset((a, b)) for a in range(n_rows) for b in range(a) if group[a] == group[b]}
    edges = {frozenset((group[a], group[b])) for a, b in constraints.cannot_link.tolist()}
    apart = {
        frozenset((a, b))
        for a in range(n_rows)
        for b in range(a)
        if frozenset((group[a], group[b])) in edges
    }
    return together, apart


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        np.array,
        lambda pairs: np.array(pairs, dtype=np.int32),
        lambda pairs: np.array(pairs, dtype=np.uint8),
        lambda pairs: np.array(pairs, dtype=np.float64),
        lambda pairs: np.array(pairs, dtype=object),
        lambda pairs: np.asfortranarray(pairs),
        lambda pairs: np.array(pairs)[::-1][::-1],
        lambda pairs: pd.DataFrame(pairs, columns=["first", "second"]),
        lambda pairs: pl.DataFrame(pairs, schema=["first", "second"], orient="row"),
        lambda pairs: [list(pair) for pair in pairs],
    ],
    ids=[
        "list",
        "tuple",
        "array",
        "int32",
        "uint8",
        "whole floats",
        "objects",
        "Fortran order",
        "strided",
        "pandas",
        "polars",
        "lists",
    ],
)
def test_pairs_in_any_form_are_the_same_pairs(form):
    constraints = Constraints(form(PAIRS), form(PAIRS))
    for pairs in (constraints.must_link, constraints.cannot_link):
        assert pairs.tolist() == [list(pair) for pair in PAIRS]
        assert pairs.dtype in (np.int32, np.int64)
        assert pairs.flags.c_contiguous


@pytest.mark.parametrize("nothing", [None, [], (), np.empty((0, 2)), pd.DataFrame()])
def test_no_pairs_are_fine(nothing):
    assert Constraints(nothing, nothing).must_link.shape == (0, 2)


@pytest.mark.parametrize("form", [sparse.coo_array, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("symmetric", [True, False])
def test_sparse_matrices_give_each_pair_once(form, symmetric):
    dense = np.zeros((5, 5), dtype=int)
    for first, second in PAIRS:
        dense[first, second] = 1
        if symmetric:
            dense[second, first] = 1
    np.fill_diagonal(dense, 1)
    constraints = Constraints(form(dense), form(dense))
    assert as_sets(constraints.must_link) == as_sets(PAIRS)
    assert constraints.must_link.shape == (3, 2)
    assert as_sets(constraints.cannot_link) == as_sets(PAIRS)
    assert constraints.n_rows == 5


def test_soft_pairs_are_read_by_ids_with_their_confidences():
    frame = pd.DataFrame({"a": ["ann"], "b": ["bob"], "confidence": [0.8]})
    read = Constraints.from_ids(
        [("bob", "cid")],
        ids=["bob", "cid", "ann"],
        soft_must_link=frame,
        soft_cannot_link=[("ann", "cid")],
    )
    assert read.soft.must_link.tolist() == [[2, 0]]
    assert read.soft.must_link_confidence.tolist() == [0.8]
    assert read.soft.cannot_link.tolist() == [[2, 1]]
    assert np.isnan(read.soft.cannot_link_confidence).all()
    assert read.must_link.tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="nobody"):
        Constraints.from_ids(soft_cannot_link=[("ann", "nobody")], ids=["ann"])


def test_frames_of_soft_pairs_may_say_how_sure_they_are():
    frame = pd.DataFrame({"confidence": [0.7, 0.9], "a": [0, 1], "b": [1, 2]})
    read = Constraints(soft_cannot_link=frame)
    assert read.soft.cannot_link.tolist() == [[0, 1], [1, 2]]
    assert read.soft.cannot_link_confidence.tolist() == [0.7, 0.9]
    with pytest.raises(ValueError, match="soft_cannot_link_confidence is given, too"):
        Constraints(soft_cannot_link=frame, soft_cannot_link_confidence=0.9)
    with pytest.raises(ValueError, match="say it the other way round"):
        Constraints(soft_must_link=frame.assign(confidence=0.3))


def test_stored_zeros_of_a_sparse_matrix_are_no_pairs():
    matrix = sparse.coo_array(([0, 1], ([0, 1], [1, 2])), shape=(3, 3))
    assert Constraints(matrix).must_link.tolist() == [[1, 2]]


def test_a_signed_matrix_holds_both_kinds():
    dense = np.array([[1, 1, 0, -1], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, -1, 1]])
    for matrix in (dense, sparse.csr_array(dense)):
        constraints = Constraints.from_matrix(matrix)
        assert as_sets(constraints.must_link) == {frozenset((0, 1))}
        assert as_sets(constraints.cannot_link) == {frozenset((0, 3)), frozenset((2, 3))}
        assert constraints.n_rows == 4


def test_groups_become_chains():
    constraints = Constraints.from_groups([[3, 1, 4], [5], [], np.array([9, 2])], n_rows=10)
    assert constraints.must_link.tolist() == [[3, 1], [1, 4], [9, 2]]
    assert constraints.cannot_link.size == 0


def test_exclusive_groups_are_apart_from_each_other():
    constraints = Constraints.from_groups([[3, 1], [5], [9, 2]], exclusive=True)
    _, apart = relations(constraints, 10)
    wanted = {(a, b) for a, b in ((3, 5), (1, 5), (3, 9), (1, 2), (3, 2), (1, 9), (5, 9), (5, 2))}
    assert apart == {frozenset(pair) for pair in wanted}


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 0, -1, 1, -1, 2],
        np.array([0, 1, 0, -1, 1, -1, 2], dtype=np.int8),
        pd.Series([0, 1, 0, -1, 1, -1, 2], index=list("gfedcba")),
        np.array([0, 1, 0, np.nan, 1, np.nan, 2]),
        np.array(["a", "b", "a", None, "b", None, "c"], dtype=object),
        pd.Series(["a", "b", "a", None, "b", None, "c"]),
        pl.Series([0, 1, 0, -1, 1, -1, 2]),
        ["a", "b", "a", float("nan"), "b", float("nan"), "c"],
        ["a", "b", "a", -1, "b", -1, "c"],
        ["a", "b", "a", "NA", "b", " ?", "c"],
        ["a", "b", "a", "", "b", "NaN", "c"],
        np.array(["a", "b", "a", "n/a", "b", "<NA>", "c"], dtype=object),
    ],
    ids=[
        *("list", "int8", "pandas", "NaN", "None", "pandas text", "polars"),
        *("NaN among words", "-1 among words", "NA and ?", "blank and NaN", "n/a and <NA>"),
    ],
)
def test_partial_labels_say_everything_about_labelled_rows_and_nothing_about_others(labels):
    constraints = Constraints.from_labels(labels)
    together, apart = relations(constraints, 7)
    known = {0: 0, 1: 1, 2: 0, 4: 1, 6: 2}
    pairs = [(a, b) for a in known for b in known if a < b]
    assert together == {frozenset(p) for p in pairs if known[p[0]] == known[p[1]]}
    assert apart == {frozenset(p) for p in pairs if known[p[0]] != known[p[1]]}
    assert constraints.n_rows == 7


def test_another_mark_for_unlabelled_rows():
    constraints = Constraints.from_labels(["", "x", "x", "y"], unlabelled="")
    assert constraints.must_link.tolist() == [[1, 2]]
    assert as_sets(constraints.cannot_link) == {frozenset((1, 3))}


def test_labels_of_no_row_constrain_nothing():
    constraints = Constraints.from_labels([-1, -1, -1])
    assert constraints.must_link.size == constraints.cannot_link.size == 0
    assert constraints.n_rows == 3


def test_million_labels_make_few_pairs():
    labels = np.arange(1_000_000) % 10
    constraints = Constraints.from_labels(labels)
    assert constraints.must_link.shape == (999_990, 2)
    assert constraints.cannot_link.shape == (45, 2)


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([1, 2, 3], ValueError, r"shape \(m, 2\), got shape \(3,\)"),
        ([(1, 2, 3)], ValueError, r"got shape \(1, 3\)"),
        (np.zeros((2, 2, 2), dtype=int), ValueError, "got shape"),
        (5, ValueError, "got 5"),
        ("pairs.csv", ValueError, "got 'pairs.csv'"),
        ((0, 1), ValueError, r"write a single pair as \[\(0, 1\)\]"),
        ([(0, 1), (2,)], ValueError, "different lengths"),
        (np.zeros((3, 3), dtype=int), ValueError, "use Constraints.from_matrix"),
        ([(0, -1)], ValueError, r"pair 0, \(0, -1\): row -1 is negative"),
        ([(0, 1), (0, 2**40)], ValueError, "pair 1.*row 1099511627776 is too large"),
        (np.array([[0, 2**64 - 1]], dtype=np.uint64), ValueError, "is too large"),
        ([(0.0, 1e300)], ValueError, "is too large"),
        ([(0, 1), (2, 3.5)], TypeError, r"pair 1 is \[2.0, 3.5\]"),
        ([(0, 1), (2, np.nan)], TypeError, "pair 1"),
        ([(0, 1), (2, np.inf)], TypeError, "pair 1"),
        ([("a", "b")], TypeError, "must hold row numbers"),
        ([(True, False)], TypeError, "bool"),
        ([(1j, 2)], TypeError, "must hold row numbers"),
        (sparse.csr_array((2, 3), dtype=int), ValueError, "square"),
    ],
)
@pytest.mark.parametrize("name", ["must_link", "cannot_link"])
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_what_is_no_list_of_pairs_is_refused_by_name(pairs, error, message, name):
    with pytest.raises(error, match=message) as raised:
        Constraints(**{name: pairs})
    assert name in str(raised.value)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (2, 5)], r"pair 1, \(2, 5\): row 5 is out of range for 5 rows"),
        ([(0, 1), (-1, 2)], r"pair 1, \(-1, 2\): row -1 is negative"),
        ([(0, 1), (-1, 9)], r"pair 1, \(-1, 9\): row -1 is negative"),
    ],
)
@pytest.mark.parametrize("name", ["must_link", "cannot_link"])
def test_rows_out_of_range_are_named(pairs, message, name):
    with pytest.raises(ValueError, match=f"{name} {message}"):
        Constraints(**{name: pairs}, n_rows=5)
    with pytest.raises(ValueError, match=f"{name} {message}"):
        Constraints(**{name: pairs}).check_rows(5)


@pytest.mark.parametrize(
    "pairs", [{(0, 1), (2, 3)}, iter([(0, 1), (2, 3)]), zip([0, 2], [1, 3], strict=True)]
)
def test_pairs_may_come_from_a_set_or_an_iterator(pairs):
    assert sorted(Constraints(pairs).must_link.tolist()) == [[0, 1], [2, 3]]


@pytest.mark.parametrize("n_rows", [-1, 2.5, "7"])
def test_a_number_of_rows_that_is_none_is_refused(n_rows):
    with pytest.raises(ValueError, match="n_rows must be a whole number"):
        Constraints([(0, 1)], n_rows=n_rows)


def test_matrices_over_different_rows_are_refused():
    with pytest.raises(ValueError, match=r"disagree on the number of rows: 5 and 6"):
        Constraints(sparse.eye_array(5), sparse.eye_array(6))
    with pytest.raises(ValueError, match=r"disagree on the number of rows: 5 and 7"):
        Constraints(sparse.eye_array(5), n_rows=7)


@pytest.mark.parametrize("n_clusters", [0, -1, 2.5, "two"])
def test_only_a_number_of_clusters_can_be_checked(n_clusters):
    with pytest.raises(ValueError, match="n_clusters must be a positive whole number"):
        Constraints(cannot_link=[(0, 1)]).check(n_clusters)


def test_without_rows_one_cluster_is_enough():
    report = Constraints().check(2)
    assert report.feasible
    assert (report.lower_bound, report.upper_bound) == (1, 1)


def test_groups_may_be_sets():
    assert Constraints.from_groups([{1, 0}]) == Constraints.from_groups([[0, 1]])


def test_a_row_in_two_groups_that_exclude_each_other_is_named():
    with pytest.raises(ValueError, match="row 4 is in groups 0 and 2"):
        Constraints.from_groups([[3, 4], [7], [4, 8]], exclusive=True)


def test_labels_of_any_kind_may_be_mixed_and_missing():
    labels = ["a", 1, None, "a", float("nan"), pd.NA, 1]
    constraints = Constraints.from_labels(labels)
    assert constraints == Constraints([(0, 3), (1, 6)], [(0, 1)], n_rows=7)
    strings = pd.Series(["a", None, "a"], dtype="string")
    assert Constraints.from_labels(strings) == Constraints([(0, 2)], n_rows=3)


def test_only_one_value_marks_unlabelled_rows():
    with pytest.raises(TypeError, match="a single value"):
        Constraints.from_labels([0, 1, -1], unlabelled=[0, -1])


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([0, 5], ValueError, "row 5 is out of range for 3 rows"),
        ([0, -1], ValueError, "row -1 is out of range"),
        ([0.0, 1.0], TypeError, "row numbers or a mask"),
        ([[0, 1]], TypeError, "row numbers or a mask"),
        ([True, False], ValueError, "2 entries for 3 rows"),
    ],
)
def test_a_subset_of_what_are_no_rows_is_refused(rows, error, message):
    with pytest.raises(error, match=message):
        Constraints([(0, 1)], n_rows=3).subset(rows)


def test_a_subset_of_contradicting_constraints_names_the_rows():
    constraints = Constraints([(5, 6), (6, 7)], [(0, 1), (7, 5)])
    with pytest.raises(InfeasibleConstraintsError, match="rows 7 and 5 cannot be linked"):
        constraints.subset([0, 5])


def test_a_row_cannot_be_apart_from_itself_but_may_be_with_itself():
    with pytest.raises(ValueError, match=r"cannot_link pair 1 is \(3, 3\)"):
        Constraints(cannot_link=[(0, 1), (3, 3)])
    assert Constraints(must_link=[(3, 3)]).must_link.tolist() == [[3, 3]]


def test_constraints_for_other_rows_are_refused_with_advice():
    constraints = Constraints([(0, 1)], n_rows=10)
    with pytest.raises(ValueError, match=r"refer to 10 rows but the data has 7.*subset"):
        constraints.check_rows(7)


@pytest.mark.parametrize("groups", [[[[0, 1]]], [[0.5, 1.0]], [["a"]]])
def test_groups_must_be_lists_of_row_numbers(groups):
    with pytest.raises((TypeError, ValueError), match="group 0"):
        Constraints.from_groups(groups)


def test_labels_must_be_one_dimensional():
    with pytest.raises(ValueError, match="one-dimensional"):
        Constraints.from_labels([[0, 1]])


@pytest.mark.parametrize("seed", range(20))
def test_a_subset_keeps_exactly_the_relations_among_its_rows(seed, planted):
    rng = np.random.default_rng(seed)
    constraints = planted(seed, n_rows=14, n_pairs=12).constraints
    rows = rng.permutation(14)[: rng.integers(1, 14)]
    together, apart = relations(constraints, 14)
    kept_together, kept_apart = relations(constraints.subset(rows), rows.size)
    for whole, part in ((together, kept_together), (apart, kept_apart)):
        assert {frozenset(rows[list(pair)].tolist()) for pair in part} == {
            pair for pair in whole if pair <= set(rows.tolist())
        }


def test_a_subset_by_mask_is_the_subset_by_row_numbers():
    constraints = Constraints([(0, 1), (1, 2)], [(2, 3)], n_rows=4)
    mask = np.array([True, False, True, True])
    assert constraints.subset(mask) == constraints.subset([0, 2, 3])


def test_constraints_look_like_nothing_that_model_selection_would_slice():
    constraints = Constraints([(0, 1)])
    assert not hasattr(constraints, "__len__")
    assert not hasattr(constraints, "shape")
    assert not hasattr(constraints, "__getitem__")
    assert not hasattr(constraints, "__array__")


def test_pairs_cannot_be_changed_and_input_stays_writeable():
    given = np.array(PAIRS)
    constraints = Constraints(given)
    with pytest.raises(ValueError, match="read-only"):
        constraints.must_link[0, 0] = 7
    assert given.flags.writeable


def test_large_input_is_not_copied():
    given = np.zeros((1000, 2), dtype=np.int32)
    assert np.shares_memory(Constraints(given).must_link, given)


def test_equality_pickling_and_text():
    constraints = Constraints([(0, 1)], [(1, 2), (0, 3)], n_rows=1234)
    assert pickle.loads(pickle.dumps(constraints)) == constraints
    assert constraints != Constraints([(0, 1)], n_rows=1234)
    assert constraints != "constraints"
    assert repr(constraints) == "Constraints(1 must-link, 2 cannot-link, 1234 rows)"
    assert constraints.summary() == ("1 must-link and 2 cannot-link pairs on 4 of 1,234 rows")


def test_cannot_link_pairs_alone():
    constraints = Constraints([(0, 1)], [(1, 2)], n_rows=5)
    assert constraints.without_must_link() == Constraints(None, [(1, 2)], n_rows=5)


def test_the_arguments_of_fit_are_combined():
    both = Constraints([(0, 1)], [(1, 2)])
    assert as_constraints([(0, 1)], [(1, 2)]) == both
    assert as_constraints(constraints=both) is both
    assert as_constraints(must_link=both) is both
    assert as_constraints(cannot_link=both) is both
    assert as_constraints(must_link=both, cannot_link=both) is both
    with pytest.raises(ValueError, match="not both"):
        as_constraints([(0, 1)], constraints=both)
    with pytest.raises(ValueError, match="not both"):
        as_constraints(must_link=both, cannot_link=[(0, 1)])
    assert as_constraints(must_link=both, constraints=both) is both
    with pytest.raises(ValueError, match="twice"):
        as_constraints(must_link=both, constraints=Constraints([(0, 1)]))
    with pytest.raises(TypeError, match=r"kempe\.Constraints, got list"):
        as_constraints(constraints=[(0, 1)])


class TestFromIds:
    def test_ids_stand_for_rows(self):
        constraints = Constraints.from_ids(
            [("ann", "bob")], [("bob", "cid")], ids=["bob", "cid", "ann"]
        )
        assert constraints == Constraints([(2, 0)], [(0, 1)], n_rows=3)

    def test_frames_and_their_index_serve(self):
        frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=[70, 7, 77])
        pairs = pd.DataFrame({"a": [7], "b": [77]})
        constraints = Constraints.from_ids(cannot_link=pairs, ids=frame.index)
        assert constraints == Constraints(None, [(1, 2)], n_rows=3)

    def test_a_number_is_not_its_digits(self):
        with pytest.raises(ValueError, match=r"must_link pair 1: no row has the id '7'"):
            Constraints.from_ids([(7, 8), (8, "7")], ids=[7, 8])

    def test_an_id_names_one_row(self):
        with pytest.raises(ValueError, match="the id 'a' stands for 2 rows"):
            Constraints.from_ids(ids=["a", "b", "a"])

    def test_shapes_are_checked(self):
        with pytest.raises(ValueError, match=r"pairs of ids, that is of shape \(m, 2\)"):
            Constraints.from_ids([("a", "b", "a")], ids=["a", "b"])
        with pytest.raises(ValueError, match="one per row"):
            Constraints.from_ids(ids=[["a", "b"]])

    def test_no_pairs_are_no_constraints(self):
        assert Constraints.from_ids([], ids=["a"]) == Constraints(n_rows=1)

    def test_errors_speak_of_ids(self):
        ids = ["ann", "bob", "cid", "dot", "eve"]
        joined = Constraints.from_ids([("ann", "bob"), ("bob", "cid")], [("ann", "cid")], ids=ids)
        X = np.arange(10.0).reshape(5, 2)
        with pytest.raises(
            InfeasibleConstraintsError, match=r"rows ann and cid .* ann = bob = cid"
        ):
            KempeKMeans(2).fit(X, constraints=joined)
        with pytest.raises(InfeasibleConstraintsError, match="rows ann and cid cannot be linked"):
            joined.subset([0, 1, 2])
        triangle = Constraints.from_ids(
            None, [("eve", "bob"), ("bob", "cid"), ("cid", "eve")], ids=ids
        )
        assert "rows bob, cid, eve are cannot-linked" in str(triangle.check(2))
        assert "rows bob, cid, eve are" in str(triangle.subset([1, 2, 4]).check(2))
        assert "rows bob, cid, eve are" in str((Constraints(n_rows=5) | triangle).check(2))
        wheel = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
        pairs = [(ids[a], ids[b]) for a, b in wheel]
        odd = Constraints.from_ids(None, pairs, ids=ids).check(2)
        assert "(ann, bob)" in str(odd.certificate)
        assert odd.certificate.verify(Constraints(None, wheel), 2)

    def test_other_pairs_of_the_same_rows_keep_their_names(self):
        pairs = Constraints.from_ids([("a", "b")], [("b", "c")], ids=["a", "b", "c"])
        others = [
            pairs.without_must_link(),
            pairs.violations([0, 0, 0]),
            *pairs.split(0.5, random_state=0),
        ]
        assert all(other.names_of([0, 2]) == ["a", "c"] for other in others)
        assert Constraints([(0, 1)]).names_of(np.array([0, 1])) == [0, 1]

    def test_pairs_of_strings_are_pointed_here(self):
        with pytest.raises(TypeError, match=r"got \['ann', 'bob'\].*use Constraints.from_ids"):
            Constraints([("ann", "bob")])


def test_groups_of_a_data_frame_are_not_taken_for_positions():
    frame = pd.DataFrame({"g": list("aab")}, index=[5, 6, 7])
    by_group = frame.groupby("g")
    with pytest.raises(TypeError, match=r"group 0 is a pandas index.*\.indices"):
        Constraints.from_groups(by_group.groups.values())
    assert Constraints.from_groups(by_group.indices.values()) == Constraints([(0, 1)])


class TestUnion:
    def test_has_the_pairs_of_both(self):
        union = Constraints([(0, 1)], n_rows=5) | Constraints([(1, 2)], [(3, 4)])
        assert union == Constraints([(0, 1), (1, 2)], [(3, 4)], n_rows=5)

    def test_numbers_of_rows_must_agree(self):
        with pytest.raises(ValueError, match="refer to 5 and 6 rows"):
            Constraints(n_rows=5) | Constraints(n_rows=6)

    def test_other_things_have_no_union(self):
        with pytest.raises(TypeError, match="unsupported operand"):
            Constraints() | [(0, 1)]  # type: ignore[operator]


class TestViolations:
    def test_are_the_pairs_that_labels_break(self):
        constraints = Constraints([(0, 1), (1, 2)], [(0, 3), (1, 3)], n_rows=4)
        broken = constraints.violations(["a", "b", "b", "b"])
        assert broken == Constraints([(0, 1)], [(1, 3)], n_rows=4)

    def test_a_fit_has_none(self, planted):
        instance = planted(3)
        assert instance.constraints.violations(instance.labels) == Constraints(
            n_rows=instance.labels.size
        )

    def test_labels_must_fit_the_pairs(self):
        with pytest.raises(ValueError, match="out of range for 2 rows"):
            Constraints([(0, 2)]).violations([0, 1])
        with pytest.raises(ValueError, match="one-dimensional"):
            Constraints().violations([[0, 1]])


class TestSplit:
    def test_parts_are_disjoint_and_of_the_wanted_size(self):
        pairs = np.arange(200).reshape(-1, 2)
        whole = Constraints(pairs[:60], pairs[60:], n_rows=200)
        fitting, scoring = whole.split(0.25, random_state=1)
        assert (len(fitting.must_link), len(fitting.cannot_link)) == (45, 30)
        assert (len(scoring.must_link), len(scoring.cannot_link)) == (15, 10)
        both = fitting | scoring
        np.testing.assert_array_equal(np.sort(both.must_link, axis=0), whole.must_link)
        np.testing.assert_array_equal(np.sort(both.cannot_link, axis=0), whole.cannot_link)

    def test_a_seed_repeats_it(self):
        whole = Constraints(np.arange(40).reshape(-1, 2))
        assert whole.split(random_state=3) == whole.split(random_state=3)
        assert whole.split(random_state=3) != whole.split(random_state=4)

    def test_what_follows_is_left_out(self):
        """Of a must-linked triangle any pair follows from the two others, and so for (0, 3)."""
        whole = Constraints([(0, 1), (1, 2), (0, 2)], [(0, 3), (1, 3), (2, 3)])
        for seed in range(20):
            fitting, scoring = whole.split(1 / 3, random_state=seed)
            assert (len(fitting.must_link), len(fitting.cannot_link)) == (2, 2)
            assert scoring == Constraints()

    def test_a_contradiction_is_kept_to_score(self):
        """A cannot-link pair that the first part joins follows from nothing."""
        whole = Constraints([(0, 1)], [(0, 1)])
        _, scoring = whole.split(1.0, random_state=0)
        assert len(scoring.cannot_link) == 1

    def test_the_share_is_checked(self):
        with pytest.raises(ValueError, match="between 0 and 1"):
            Constraints().split(1.5)


def test_a_series_of_tuples_holds_pairs():
    series = pd.Series([(0, 1), (2, 3)], index=[5, 6])
    assert Constraints(series).must_link.tolist() == [[0, 1], [2, 3]]


def test_stored_zeros_of_a_signed_matrix_say_nothing():
    matrix = sparse.coo_array(([0, 0, 1, -1], ([0, 1, 0, 2], [1, 2, 3, 3])), shape=(4, 4))
    assert Constraints.from_matrix(matrix) == Constraints([(0, 3)], [(2, 3)], n_rows=4)


@pytest.mark.parametrize(("shape", "advised"), [((3, 3), True), ((3, 4), False), ((4, 3), False)])
def test_only_square_matrices_are_taken_for_matrices(shape, advised):
    with pytest.raises(ValueError, match="shape") as caught:
        Constraints(np.zeros(shape, dtype=int))
    assert ("from_matrix" in str(caught.value)) is advised


def test_a_row_in_three_groups_is_named_with_two_of_them():
    with pytest.raises(ValueError, match="row 1 is in groups 0 and 2"):
        Constraints.from_groups([[1], [2], [0, 1], [1, 3]], exclusive=True)


def test_nothing_held_out_is_everything_to_fit():
    whole = Constraints([(0, 1)], [(1, 2)])
    assert whole.split(0) == (whole, Constraints())


def test_joined_pairs_need_one_cluster_at_least():
    report = Constraints([(0, 1)], [(0, 1)]).check(2)
    assert not report.feasible
    assert report.lower_bound == 1


@pytest.mark.parametrize("kind", ["text", "numbers", "mixed", "zeros"])
def test_ids_are_found_as_a_dictionary_finds_them(kind):
    rng = np.random.default_rng(0)
    names = {
        "text": [f"{'x' * (i % 5)}{i}" for i in range(300)],
        "numbers": list(range(-50, 250)),
        "mixed": [i if i % 2 else str(i) for i in range(300)],
        "zeros": [f"{i}\0" if i % 2 else str(i) for i in range(300)],
    }[kind]
    order = rng.permutation(300)
    ids = [names[i] for i in order]
    rows = {name: row for row, name in enumerate(ids)}
    pairs = [(ids[a], ids[b]) for a, b in rng.integers(300, size=(500, 2)) if a != b]
    found = Constraints.from_ids(pairs[:250], pairs[250:], ids=ids)
    assert found.must_link.tolist() == [[rows[a], rows[b]] for a, b in pairs[:250]]
    assert found.cannot_link.tolist() == [[rows[a], rows[b]] for a, b in pairs[250:]]
    with pytest.raises(ValueError, match=r"must_link pair 1: no row has the id 'nobody'"):
        Constraints.from_ids([pairs[0], (ids[0], "nobody")], ids=ids)


def test_what_follows_from_other_pairs_is_left_out_as_the_slow_way_does():
    rng = np.random.default_rng(1)
    for _ in range(30):
        ml, cl = rng.integers(12, size=(6, 2)), rng.integers(12, size=(20, 2))
        pairs = Constraints(ml, cl[cl[:, 0] != cl[:, 1]])
        fitting, scoring = pairs.split(0.4, random_state=int(rng.integers(99)))
        group = list(range(12))
        for a, b in fitting.must_link.tolist():
            group = [group[a] if g == group[b] else g for g in group]
        known = {frozenset((group[a], group[b])) for a, b in fitting.cannot_link.tolist()}
        for a, b in scoring.cannot_link.tolist():
            assert frozenset((group[a], group[b])) not in known or group[a] == group[b]
        held = len(pairs.cannot_link) - len(fitting.cannot_link)
        assert len(scoring.cannot_link) <= held
