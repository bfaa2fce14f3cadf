"""The kernels of the cuts, beside slow and obvious twins."""

from __future__ import annotations

import time
from itertools import combinations, pairwise

import numpy as np
import pytest

from kempe import _core
from kempe.proof.certificate import Cuts
from kempe.proof.dual import chosen, cut_matrix
from random_certificates import partitions


def groups(seed: int, n: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Weights, and which groups are apart."""
    rng = np.random.default_rng(seed)
    cannot = np.triu(rng.random((n, n)) < 0.3, 1)
    return rng.uniform(0.5, 3, size=n), cannot | cannot.T


def symmetric(seed: int, n: int = 9) -> np.ndarray:
    matrix = np.random.default_rng(seed).normal(size=(n, n)).astype(np.float32)
    return matrix + matrix.T


def random_cuts(seed: int, n: int = 9, count: int = 12) -> tuple[list[int], list[list[int]]]:
    rng = np.random.default_rng(seed)
    chosen = {tuple(rng.permutation(n)[: rng.integers(2, 6)].tolist()) for _ in range(count)}
    distinct = {(rows[0], tuple(sorted(rows[1:]))) for rows in chosen}
    return [centre for centre, _ in distinct], [list(members) for _, members in distinct]


def dense(centre: int, members: list[int], weight: np.ndarray) -> np.ndarray:
    """Left less right of a cut as a symmetric matrix."""
    A = np.zeros((weight.size, weight.size))
    A[centre, centre] = -1
    for j in members:
        A[centre, j] = A[j, centre] = 0.5
    for a, b in combinations(members, 2):
        A[a, b] = A[b, a] = -0.5
    return A / np.sqrt(np.outer(weight, weight))


def as_arrays(centres, members, multipliers):
    cuts = Cuts.of(centres, members, multipliers)
    return cuts.centres, cuts.offsets, cuts.members, cuts.multipliers


def pool_of(weight, cannot, k, cuts) -> _core.CutPool:
    pool = _core.CutPool(weight, cannot.view(np.uint8), k)
    pool.add(*cuts)
    return pool


def clipped(work, limits):
    """What is not negative, with the diagonal between its limits."""
    nearest = np.maximum(work, 0)
    if limits is not None:
        np.fill_diagonal(nearest, np.clip(work.diagonal(), *limits))
    return nearest


def swept(matrix, weight, cannot, k, cuts, sweeps, limits=None):
    """Coordinate ascent in the multipliers, cut by cut, on dense matrices."""
    centres, _, _, mu = cuts
    matrices = [dense(i, J, weight) for i, J in zip(centres, members_of(cuts), strict=True)]
    free = [
        len(J) == k and all(cannot[a, b] for a, b in combinations(J, 2)) for J in members_of(cuts)
    ]
    mu = mu.copy()
    visible = [np.where(cannot, 0, A) for A in matrices]
    work = matrix - sum(m * A for m, A in zip(mu, visible, strict=True))
    for _ in range(sweeps):
        for t, A in enumerate(visible):
            change = (A * clipped(work, limits)).sum() / (A**2).sum()
            change = change if free[t] else max(change, -mu[t])
            mu[t] += change
            work = work - change * A
    return work, mu


def members_of(cuts) -> list[list[int]]:
    _, offsets, members, _ = cuts
    return [members[a:b].tolist() for a, b in pairwise(offsets)]


@pytest.mark.parametrize("seed", range(20))
def test_sweeps_are_coordinate_ascent(seed):
    weight, cannot = groups(seed)
    centres, members = random_cuts(seed)
    start = np.random.default_rng(seed).uniform(0, 1, size=len(centres))
    cuts = as_arrays(centres, members, start)
    matrix = symmetric(seed)
    pool = pool_of(weight, cannot, 2, cuts)
    work, nearest = np.empty_like(matrix), np.empty_like(matrix)
    pool.project(matrix, work, nearest, 3)
    expected, mu = swept(matrix, weight, cannot, 2, cuts, 3)
    np.testing.assert_allclose(work, expected, atol=1e-4)
    np.testing.assert_allclose(pool.arrays()[3], mu, atol=1e-4)
    np.testing.assert_allclose(nearest, np.where(cannot, 0, np.maximum(expected, 0)), atol=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_sweeps_keep_the_diagonal_within_its_limits(seed):
    weight, cannot = groups(seed)
    rng = np.random.default_rng(seed)
    limits = np.sort(rng.uniform(0, 1, size=(2, weight.size)).astype(np.float32), axis=0)
    centres, members = random_cuts(seed)
    cuts = as_arrays(centres, members, rng.uniform(0, 1, size=len(centres)))
    matrix = symmetric(seed)
    pool = pool_of(weight, cannot, 2, cuts)
    pool.limit_diagonal(*limits)
    work, nearest = np.empty_like(matrix), np.empty_like(matrix)
    pool.project(matrix, work, nearest, 3)
    expected, mu = swept(matrix, weight, cannot, 2, cuts, 3, limits)
    np.testing.assert_allclose(work, expected, atol=1e-4)
    np.testing.assert_allclose(pool.arrays()[3], mu, atol=1e-4)
    np.testing.assert_allclose(nearest, np.where(cannot, 0, clipped(expected, limits)), atol=1e-4)


def test_limits_of_the_diagonal_are_checked():
    pool = _core.CutPool(np.ones(2), np.zeros((2, 2), dtype=np.uint8), 1)
    ones = np.ones(2, dtype=np.float32)
    for least, most in ((ones[:1], ones), (2 * ones, ones), (-ones, ones), (np.nan * ones, ones)):
        with pytest.raises(ValueError, match="limits"):
            pool.limit_diagonal(least, most)


def test_multipliers_of_inequalities_are_not_negative_and_those_of_equalities_may_be():
    weight, cannot = np.ones(3), np.zeros((3, 3), dtype=bool)
    cannot[1, 2] = cannot[2, 1] = True
    matrix = np.diag(np.array([5, 0, 0], dtype=np.float32))
    for k, negative in ((2, True), (3, False)):
        pool = pool_of(weight, cannot, k, as_arrays([0], [[1, 2]], [0.0]))
        pool.project(matrix, np.empty_like(matrix), np.empty_like(matrix), 5)
        assert (pool.arrays()[3][0] < 0) is np.bool_(negative)


@pytest.mark.parametrize("seed", range(10))
def test_many_sweeps_project_onto_the_polyhedron(seed):
    weight, cannot = groups(seed)
    cuts = as_arrays(*random_cuts(seed), np.zeros(len(random_cuts(seed)[0])))
    matrix = symmetric(seed)
    pool = pool_of(weight, cannot, 5, cuts)
    work, nearest = np.empty_like(matrix), np.empty_like(matrix)
    assert pool.project(matrix, work, nearest, 3000) < 1e-3
    for centre, members in zip(cuts[0], members_of(cuts), strict=True):
        assert (dense(centre, members, weight) * nearest).sum() < 1e-3
    # The optimality condition of a projection onto a cone.
    assert abs(((matrix - nearest) * nearest).sum()) < 1e-2


@pytest.mark.parametrize("seed", range(10))
def test_multiplied_cuts_add_up(seed):
    weight, _ = groups(seed)
    centres, members = random_cuts(seed)
    mu = np.random.default_rng(seed).normal(size=len(centres))
    total = sum(m * dense(i, J, weight) for m, i, J in zip(mu, centres, members, strict=True))
    np.testing.assert_allclose(cut_matrix(Cuts.of(centres, members, mu), weight), total, atol=1e-12)


def test_a_cut_is_added_once_and_dropped_when_it_has_long_been_idle():
    weight, cannot = np.ones(4), np.zeros((4, 4), dtype=bool)
    pool = pool_of(weight, cannot, 2, as_arrays([0, 1], [[1, 2], [2, 3]], [0.0, 1.0]))
    assert pool.add(*as_arrays([0, 0], [[2, 1], [1, 2, 3]], [5.0, 0.5])) == 1
    assert len(pool) == 3
    assert pool.drop(2) == 0
    pool.scale_multipliers(2.0)
    assert pool.drop(2) == 1
    centres, offsets, members, mu = pool.arrays()
    assert (centres.tolist(), mu.tolist()) == ([1, 0], [2.0, 1.0])
    assert members_of((centres, offsets, members, mu)) == [[2, 3], [1, 2, 3]]
    assert pool.add(*as_arrays([0], [[1, 2]], [0.0])) == 1


def excess(Z: np.ndarray, centre: int, members) -> float:
    between = sum(Z[a, b] for a, b in combinations(members, 2))
    return (Z[centre, list(members)].sum() - Z[centre, centre] - between) / Z[centre, centre]


@pytest.mark.parametrize("seed", range(20))
def test_separation_finds_all_triangles_and_only_what_is_violated(seed):
    weight, _ = groups(seed)
    rng = np.random.default_rng(seed)
    Y = np.abs(symmetric(seed)) + np.diag(rng.uniform(1, 2, size=9)).astype(np.float32)
    Z = Y / np.sqrt(np.outer(weight, weight))
    expected = {
        (i, *pair)
        for i in range(9)
        for pair in combinations([j for j in range(9) if j != i], 2)
        if excess(Z, i, pair) > 0.1 and min(Z[i, list(pair)]) > 0.1 * Z[i, i]
    }
    centres, offsets, members, excesses = _core.violated_cuts(
        Y, weight, 0.1, 1000, True, _core.Stopper()
    )
    found = list(zip(centres.tolist(), members_of((0, offsets, members, 0)), strict=True))
    assert {(i, *sorted(J)) for i, J in found if len(J) == 2} == expected
    assert any(len(J) > 2 for _, J in found)
    for (centre, of), value in zip(found, excesses, strict=True):
        assert value == pytest.approx(excess(Z, centre, of), abs=1e-4)
        assert value > 0.1


def test_separation_keeps_the_most_violated_of_each_centre():
    weight = np.ones(30)
    Y = np.abs(symmetric(3, 30)) + np.eye(30, dtype=np.float32)
    every = _core.violated_cuts(Y, weight, 0.01, 10_000, False, _core.Stopper())
    few = _core.violated_cuts(Y, weight, 0.01, 2, False, _core.Stopper())
    for centre in range(30):
        best = np.sort(every[3][every[0] == centre])[::-1][:2]
        np.testing.assert_array_equal(np.sort(few[3][few[0] == centre])[::-1], best)


def test_separation_ends_at_the_centre_at_which_time_is_up():
    """Noise of many groups violates so many cuts that all centres take seconds."""
    rng = np.random.default_rng(0)
    n = 900
    Y = rng.random((n, n)).astype(np.float32)
    Y = np.maximum(Y, Y.T)
    np.fill_diagonal(Y, 1.0)
    stopper = _core.Stopper(0.05)
    started = time.process_time()
    centres = _core.violated_cuts(Y, np.ones(n), 0.01, 5, True, stopper)[0]
    assert time.process_time() - started < 1.0
    assert 0 < np.unique(centres).size < n
    stopper.stop()
    assert _core.violated_cuts(Y, np.ones(n), 0.01, 5, True, stopper)[0].size == 0


def test_no_clustering_violates_a_cut():
    weight = np.random.default_rng(0).uniform(0.5, 2, size=6)
    for labels in partitions(6):
        same = labels[:, None] == labels
        total = np.bincount(labels, weight)[labels]
        Y = np.where(same, np.sqrt(np.outer(weight, weight)) / total, 0).astype(np.float32)
        assert _core.violated_cuts(Y, weight, 1e-4, 100, True, _core.Stopper())[0].size == 0


def test_some_cuts_can_be_chosen():
    cuts = Cuts.of([4, 5, 6], [[1, 2], [0, 1, 2], [3, 7]], [1.0, 2.0, 3.0])
    some = chosen(cuts, np.array([1, 2]))
    assert some.centres.tolist() == [5, 6]
    assert members_of((0, some.offsets, some.members, 0)) == [[0, 1, 2], [3, 7]]
    assert some.multipliers.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        (([0], [[0, 1]], [0.0]), "different groups"),
        (([0], [[1, 1]], [0.0]), "different groups"),
        (([0], [[1, 9]], [0.0]), "different groups"),
        (([-1], [[1, 2]], [0.0]), "different groups"),
        (([0], [[]], [0.0]), "must have members"),
        (([0], [[1, 2]], []), "a multiplier for each"),
        (([0, 1], [[1, 2]], [0.0]), "one more entry"),
    ],
)
def test_malformed_cuts_are_refused(cuts, message):
    pool = _core.CutPool(np.ones(4), np.zeros((4, 4), dtype=np.uint8), 2)
    with pytest.raises(ValueError, match=message):
        pool.add(*as_arrays(*cuts))


def test_matrices_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match="a row and a column"):
        _core.CutPool(np.ones(3), np.zeros((4, 4), dtype=np.uint8), 2)
    with pytest.raises(ValueError, match="must be positive"):
        _core.CutPool(np.zeros(3), np.zeros((3, 3), dtype=np.uint8), 2)
    pool = _core.CutPool(np.ones(4), np.zeros((4, 4), dtype=np.uint8), 2)
    right, wrong = np.zeros((4, 4), dtype=np.float32), np.zeros((3, 3), dtype=np.float32)
    for matrices in ((wrong, right, right), (right, wrong, right), (right, right, wrong)):
        with pytest.raises(ValueError, match="a row and a column"):
            pool.project(*matrices, 1)
    with pytest.raises(ValueError, match="a row and a column"):
        _core.violated_cuts(wrong, np.ones(4), 0.1, 1, True, _core.Stopper())
    with pytest.raises(ValueError, match="must not be negative"):
        _core.violated_cuts(right, np.ones(4), 0.1, -1, True, _core.Stopper())
