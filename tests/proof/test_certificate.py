"""Certificates come back from a file as they were, and damaged files do not."""

from __future__ import annotations

import numpy as np
import pytest

from kempe.exceptions import FileFormatError
from kempe.proof import OptimalityCertificate
from kempe.proof.certificate import (
    Cuts,
    Deduction,
    Multipliers,
    Node,
    Part,
    _unordered,
    data_hash,
)
from kempe.storage import read_archive, write_archive


@pytest.fixture
def certificate():
    """One of every kind of node; it proves nothing."""
    slack = np.array([[1, -2, 3], [-2, 5, 6], [3, 6, 7]], dtype=np.float32)
    cuts = Cuts.of([0, 2], [[1, 2], [0, 1]], [0.5, 0.25])
    nodes = (
        Node(None, "fixing", multipliers=Multipliers(slack, cuts, 0.25), fixed=((0, 1), (3, 2))),
        Node(0, "split", apart=((0, 1), (3, 2)), pair=(4, 2)),
        Node(1, "few", together=((4, 2),), deductions=(Deduction("together", (1, 3), (0, 4)),)),
        Node(1, "split", apart=((4, 2),), pair=(0, 2)),
        Node(3, "contradiction", together=((0, 2),), witness=(4, 2)),
        Node(
            3,
            "bound",
            apart=((0, 2),),
            deductions=(Deduction("apart", (1, 3), (0, 4, 2)), Deduction("together", (0, 1), ())),
            multipliers=Multipliers(slack[:2, :2]),
        ),
    )
    parts = (Part(np.array([0, 2]), nodes), Part(np.array([1, 3, 4]), (Node(None, "few"),)))
    return OptimalityCertificate(
        labels=np.array([0, 1, 0, 1, 2], dtype=np.int32),
        n_clusters=3,
        parts=parts,
        lower_bound=1.5,
        inertia=2.0,
        data_hash="0" * 64,
        gap_wanted=1e-3,
        history=np.array([[0.1, 1.0, 2.5], [0.2, 1.5, 2.0]]),
        seconds=0.25,
        method="parts",
    )


def contents(value: object) -> object:
    """Nested dataclasses, tuples and arrays as something that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tolist()
    if isinstance(value, tuple):
        return tuple(map(contents, value))
    if hasattr(value, "__dataclass_fields__"):
        return {name: contents(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def test_a_certificate_comes_back_from_its_file(certificate, tmp_path):
    certificate.save(tmp_path / "proof.kempe")
    again = OptimalityCertificate.load(tmp_path / "proof.kempe")
    assert contents(again) == contents(certificate)


def test_the_summary_has_both_bounds_and_the_gap(certificate):
    summary = certificate.summary()
    assert all(text in summary for text in ("2\n", "1.5", "25 %", "not proven", "2 parts, 7 nodes"))


@pytest.mark.parametrize(("bound", "optimal"), [(2.0, True), (1.9981, True), (1.9979, False)])
def test_a_gap_counts_as_closed_at_what_was_wanted(certificate, bound, optimal):
    object.__setattr__(certificate, "lower_bound", bound)
    assert certificate.is_optimal == optimal


def test_a_truncated_file_is_refused(certificate, tmp_path):
    path = tmp_path / "proof.kempe"
    certificate.save(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileFormatError, match="damaged"):
        OptimalityCertificate.load(path)


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("1,2,3\n")
    with pytest.raises(FileFormatError, match="not a kempe certificate"):
        OptimalityCertificate.load(path)


@pytest.mark.parametrize("name", ["labels", "parents", "slack", "members", "tree_offsets"])
def test_a_file_without_an_array_is_refused(certificate, tmp_path, name):
    path = tmp_path / "proof.kempe"
    certificate.save(path)
    header, arrays, version = read_archive(path, "certificate", 1)
    del arrays[name]
    write_archive(path, "certificate", version, header, arrays)
    with pytest.raises(FileFormatError, match=name):
        OptimalityCertificate.load(path)


def test_a_file_whose_lists_do_not_fit_is_refused(certificate, tmp_path):
    path = tmp_path / "proof.kempe"
    certificate.save(path)
    header, arrays, version = read_archive(path, "certificate", 1)
    arrays["slack"] = arrays["slack"][:-1]
    write_archive(path, "certificate", version, header, arrays)
    with pytest.raises(FileFormatError, match="does not end where"):
        OptimalityCertificate.load(path)


def problem():
    rng = np.random.default_rng(0)
    return {
        "X": rng.normal(size=(5, 2)),
        "weights": np.ones(5),
        "must_link": np.array([[0, 1]]),
        "cannot_link": np.array([[2, 3], [1, 4]]),
        "n_clusters": 3,
    }


@pytest.mark.parametrize(
    "change",
    [
        {"X": problem()["X"] + 1e-15},
        {"weights": np.array([1, 1, 1, 1, 2.0])},
        {"must_link": np.array([[0, 2]])},
        {"must_link": np.array([[2, 3], [1, 4]]), "cannot_link": np.array([[0, 1]])},
        {"n_clusters": 2},
    ],
)
def test_the_hash_sees_every_change_of_the_problem(change):
    assert data_hash(**{**problem(), **change}) != data_hash(**problem())


def test_the_hash_does_not_see_the_order_of_pairs():
    turned = {"cannot_link": np.array([[4, 1], [3, 2], [2, 3]]), "X": problem()["X"] * 1}
    assert data_hash(**{**problem(), **turned}) == data_hash(**problem())


@pytest.mark.parametrize("count", [0, 1, 40])
def test_pairs_are_hashed_each_once_and_in_order(count):
    pairs = np.random.default_rng(count).choice([0, 1, 2, 7, 2**31 - 1], size=(count, 2))
    expected = np.unique(np.sort(pairs, axis=1), axis=0)
    np.testing.assert_array_equal(_unordered(pairs), expected)
