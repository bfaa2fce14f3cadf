"""Proofs of infeasibility that nobody has found: forged, malformed, out of range."""

from __future__ import annotations

import numpy as np
import pytest

from kempe import Constraints
from kempe.graph.certificates import Clique, CriticalPairs, MustLinkPath

PAIRS = Constraints([(0, 2)], [(0, 1)], n_rows=60)
TRIANGLE = Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)])
HUGE = 4611686016279904257


@pytest.mark.parametrize(
    "rows",
    [
        (HUGE, HUGE + 1, HUGE),  # whose keys are, in 64 bits, those of (0, 2) and (0, 1)
        (),
        (0,),
        (0, 2),
        (-1, 0),
        (0, -60),
        (0, 2, 10**30),
        (2**63, 2**63 + 1),
        (0.0, 2.0, 1.0),
        (0, (1, 2), 3),
        ("0", "1"),
        (None, 0),
    ],
)
def test_no_forged_path_is_believed(rows):
    assert not MustLinkPath(rows).verify(PAIRS)
    assert not MustLinkPath(rows).verify(Constraints())


@pytest.mark.parametrize(
    "pairs",
    [
        np.empty((0, 2), np.int64),
        np.empty(0),
        np.array([0, 1]),
        np.array([[0, 1, 2]]),
        np.array([[0, 3]]),
        np.array([[-1, 0]]),
        np.array([[HUGE, HUGE + 1], [HUGE, HUGE + 1]]),
        np.array([[2**63, 2**63 + 1]], dtype=np.uint64),
        np.array([[0.0, 1.0]]),
        np.array([["0", "1"]]),
        [[0, 1], [2]],
    ],
)
def test_no_forged_pairs_are_believed(pairs):
    for constraints in (TRIANGLE, Constraints()):
        assert not Clique(pairs, 3).verify(constraints, 2)
        assert not CriticalPairs(pairs, 2, False).verify(constraints, 2)


def test_a_clique_proves_what_it_says_and_no_more():
    pairs = TRIANGLE.cannot_link
    assert Clique(pairs, 3).verify(TRIANGLE, 2)
    assert not Clique(pairs, 3).verify(TRIANGLE, 3)
    assert not Clique(pairs, 4).verify(TRIANGLE, 2)
    assert not Clique(pairs[:2], 3).verify(TRIANGLE, 2)
    assert not Clique(np.empty((0, 2), np.int64), 0).verify(TRIANGLE, -1)
