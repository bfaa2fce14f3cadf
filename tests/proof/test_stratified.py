"""Parts that look alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kempe import Constraints
from kempe.problem import Problem
from kempe.proof.stratified import Strata


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


def test_parts_by_blocks_lose_less_than_parts_at_random():
    X, labels = planted(0, n=600)
    rng = np.random.default_rng(0)

    def left(part: Any) -> float:
        """Inertia of the labels on the parts, each with centroids of its own."""
        return sum(
            float(((own - own.mean(axis=0)) ** 2).sum())
            for number in range(6)
            for colour in range(3)
            if len(own := X[(part == number) & (labels == colour)])
        )

    blocks = left(Strata.of(X, labels, 6, rng).part)
    assert blocks > max(left(rng.permutation(np.arange(600) % 6)) for _ in range(20))


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
