"""Parts that look alike."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from kempe import Constraints
from kempe.problem import Problem
from kempe.proof.stratified import Strata, _Dealt


def planted(seed: int, n: int = 200, k: int = 3, spread: float = 4.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % k)
    return spread * rng.normal(size=(k, 3))[labels] + rng.normal(size=(n, 3)), labels


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_parts", [1, 2, 7])
def test_every_block_gives_a_group_at_most_to_each_part_and_is_of_one_cluster(seed, n_parts):
    X, labels = planted(seed)
    strata = Strata.of(X, labels, n_parts, np.random.default_rng(seed))
    for block in np.unique(strata.block):
        members = np.flatnonzero(strata.block == block)
        assert np.unique(strata.part[members]).size == members.size
        assert np.unique(labels[members]).size == 1
    sizes = np.bincount(strata.part, minlength=n_parts)
    assert sizes.max() - sizes.min() <= 1


def left(X: Any, weight: Any, labels: Any, part: Any) -> float:
    """Inertia of the labels on the parts, each with centroids of its own."""
    total = 0.0
    for number, colour in product(np.unique(part), np.unique(labels)):
        own = (part == number) & (labels == colour)
        if weight[own].sum() > 0:
            centroid = np.average(X[own], axis=0, weights=weight[own])
            total += float(weight[own] @ ((X[own] - centroid) ** 2).sum(axis=1))
    return total


def test_parts_by_blocks_lose_less_than_parts_at_random():
    X, labels = planted(0, n=600)
    rng = np.random.default_rng(0)
    ones = np.ones(600)
    blocks = left(X, ones, labels, Strata.of(X, labels, 6, rng).part)
    at_random = (rng.permutation(np.arange(600) % 6) for _ in range(20))
    assert blocks > max(left(X, ones, labels, part) for part in at_random)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_parts", [1, 2, 7, 30])
def test_parts_that_are_evened_lose_less_and_have_one_group_of_a_block(seed, n_parts):
    X, labels = planted(seed)
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 1.0, 1.0, 5.0], size=len(X))
    strata = Strata.of(X, labels, n_parts, rng)
    evened = strata.evened(X, weight, labels, lambda: False)
    whole, before = (left(X, weight, labels, part) for part in (0 * labels, strata.part))
    lost = whole - left(X, weight, labels, evened.part)
    assert lost <= (0.0 if n_parts == 1 else 0.5 * (whole - before)) + 1e-9 * whole
    np.testing.assert_array_equal(np.bincount(evened.part), np.bincount(strata.part))
    for block in np.unique(strata.block):
        members = np.flatnonzero(strata.block == block)
        assert set(evened.part[members]) == set(strata.part[members])


def test_a_block_is_dealt_as_all_ways_to_deal_it_say():
    X, labels = planted(0, n=9, k=1)
    weight = np.arange(1.0, 10.0)
    strata = Strata.of(X, labels, 3, np.random.default_rng(0))
    last = np.flatnonzero(strata.block == strata.block.max())
    dealt = _Dealt(X, weight, labels, strata.part)
    dealt.deal_again(last)
    ways = []
    for parts in permutations(range(3)):
        part = strata.part.copy()
        part[last] = parts
        ways.append(left(X, weight, labels, part))
    assert left(X, weight, labels, dealt.part) == pytest.approx(max(ways), rel=1e-12)


def test_exchanges_end_when_time_is_up_and_leave_out_blocks_that_are_too_large(monkeypatch):
    X, labels = planted(0)
    strata = Strata.of(X, labels, 7, np.random.default_rng(0))
    ones = np.ones(len(X))
    np.testing.assert_array_equal(strata.evened(X, ones, labels, lambda: True).part, strata.part)
    monkeypatch.setattr("kempe.proof.stratified.LARGEST_BLOCK", 6)
    assert strata.evened(X, ones, labels, lambda: False) is strata


def test_rows_of_parts_are_all_rows_and_must_linked_ones_stay_together():
    X, labels = planted(1)
    together = np.array([(a, a + 60) for a in range(60) if labels[a] == labels[a + 60]])
    problem = Problem.build(X, Constraints(together, n_rows=200), n_clusters=3)
    row = np.unique(problem.supernode, return_index=True)[1]
    strata = Strata.of(X[row], labels[row], 4, np.random.default_rng(0))
    rows = strata.rows(problem)
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(200))
    for own in rows:
        assert (np.diff(own) > 0).all()
        inside = np.isin(together, own)
        np.testing.assert_array_equal(inside[:, 0], inside[:, 1])
