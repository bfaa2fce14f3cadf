"""Boxes over the positions of a centre: what is updated is what a slow look finds."""

from __future__ import annotations

import numpy as np
import pytest

from kempe.exceptions import CertificateError
from kempe.proof.checking.boxes import Cover, _Box, _Size, _Sum


def drawn(seed: int, n: int = 60, d: int = 3) -> tuple[Cover, np.random.Generator]:
    """Groups of which every third pair is a unit."""
    rng = np.random.default_rng(seed)
    units = np.arange(n)
    units[1::3] = units[::3][: units[1::3].size]
    points, weights = rng.normal(size=(n, d)), rng.uniform(0.5, 2, size=n)
    return Cover(points, weights, rng.uniform(0, 4, size=n), units, [], 0.0), rng


def started(cover: Cover) -> _Box:
    order = np.argsort(cover.units, kind="stable")
    empty = _Sum(0.0, np.zeros(cover.x.shape[1]), 0.0)
    return cover._box(cover.x.min(axis=0), cover.x.max(axis=0), order, empty, _Size(), 0)


def phi(cover: Cover, y: np.ndarray) -> float:
    """What all units pay at a position, one after the other."""
    f = cover.p - cover.w * ((cover.x - y) ** 2).sum(axis=1)
    return sum(max(0.0, *f[cover.units == unit]) for unit in np.unique(cover.units))


@pytest.mark.parametrize("seed", range(10))
def test_halves_know_their_distances(seed):
    cover, rng = drawn(seed)
    box = started(cover)
    for _ in range(20):
        box = box.halves(int(rng.integers(3)))[int(rng.integers(2))]
        box.complete()
    x = box.reach.x.T
    near = (np.clip(x, box.low, box.high) - x) ** 2
    far = np.maximum(abs(x - box.low), abs(x - box.high)) ** 2
    np.testing.assert_allclose(box.near, near.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(box.far, far.sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_no_box_is_done_in_which_a_position_takes_more(seed):
    cover, rng = drawn(seed)
    waiting = [started(cover)]
    cover.most = 0.9 * max(phi(cover, y) for y in cover.x)
    kept = 0
    for _ in range(300):
        if not waiting:
            break
        box = waiting.pop(int(rng.integers(len(waiting))))
        inside = rng.uniform(box.low, box.high, size=(4, box.low.size))
        highest = max(phi(cover, y) for y in inside)
        parts = cover._looked_at(box)
        waiting += parts
        kept += bool(parts)
        assert parts or highest <= cover.most
    assert kept


@pytest.mark.parametrize("seed", range(4))
def test_a_claim_is_refused_just_below_what_a_position_takes(seed):
    cover, _ = drawn(seed, n=15, d=2)
    grid = np.stack(np.meshgrid(*[np.linspace(-3, 3, 61)] * 2), axis=-1).reshape(-1, 2)
    highest = max(phi(cover, y) for y in grid)
    cover.most = 1.05 * highest
    shares: list[float] = []
    cover.prove(shares.append)
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    cover.most = 0.999 * highest
    with pytest.raises(CertificateError, match="more than is claimed"):
        cover.prove()
