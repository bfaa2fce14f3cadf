"""What follows from answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe.ask.answers import is_feasible
from kempe.ask.knowledge import Knowledge


def all_clusterings(n, k, together, apart):
    """Every clustering that agrees with the answers, found by looking at all."""
    for labels in itertools.product(range(k), repeat=n):
        if all(labels[a] == labels[b] for a, b in together) and all(
            labels[a] != labels[b] for a, b in apart
        ):
            yield labels


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(40))
def test_what_follows_holds_in_every_clustering_that_agrees(seed, k):
    rng = np.random.default_rng(seed)
    n = 6
    hidden = rng.integers(k, size=n)
    known, together, apart = Knowledge(k), [], []
    for _ in range(7):
        a, b = rng.choice(n, 2, replace=False).tolist()
        (together if hidden[a] == hidden[b] else apart).append((a, b))
        known.add(a, b, bool(hidden[a] == hidden[b]))
    every = list(all_clusterings(n, k, together, apart))
    for a, b in itertools.combinations(range(n), 2):
        said = {labels[a] == labels[b] for labels in every}
        if known.relation(a, b) is not None:
            assert said == {known.relation(a, b)}
        elif k == 2:
            # Of two classes everything follows, unless nothing joins the rows to a class.
            assert len(said) == 2 or known.class_of(a) is None or known.class_of(b) is None
    rows, classes = known.labelled()
    for (a, one), (b, other) in itertools.combinations(zip(rows, classes, strict=True), 2):
        assert {labels[a] == labels[b] for labels in every} == {one == other}


@pytest.mark.parametrize("seed", range(40))
def test_groups_fit_into_clusters_exactly_if_some_clustering_agrees(seed):
    rng = np.random.default_rng(seed)
    known, apart = Knowledge(3), []
    for _ in range(9):
        a, b = rng.choice(6, 2, replace=False).tolist()
        known.add(a, b, together=False)
        apart.append((a, b))
    assert is_feasible(known) == any(True for _ in all_clusterings(6, 3, [], apart))


def test_a_copy_learns_alone():
    known = Knowledge(2)
    known.add(0, 1, together=True)
    other = known.copy()
    other.add(1, 2, together=True)
    assert other.relation(0, 2) is True
    assert known.relation(0, 2) is None
