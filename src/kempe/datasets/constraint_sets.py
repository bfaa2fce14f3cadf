"""The constraint generator of the benchmark, reproduced pair for pair."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe.constraints import Constraints

SEED = 24
"""Seed of all published constraint sets."""

# Collection 2 was made with these floats, of which the third and the seventh lie a little above
# the decimal numbers they stand for; with 300 rows that is one object more.
_COLLECTION_2_LEVELS = np.arange(0.05, 0.55, 0.05)


def make_constraints(y: ArrayLike, level: float, seed: int = SEED) -> Constraints:
    """Draw pairs of rows and let the labels decide whether they must or cannot be linked.

    As many pairs are drawn as a clique on the share ``level`` of the objects has. They are not a
    uniform sample: the first draw nearly always repeats a pair, a second one of the same size
    fills up, and the lexicographically first pairs are kept, so the smaller row of a pair comes
    from the first third of the data. The published sets were made in this way.

    Parameters
    ----------
    y
        One label per row.
    level
        Share of the objects, between 0 and 1.
    seed
        Seed of NumPy's legacy generator, started anew for every set.

    Examples
    --------
    >>> make_constraints([0, 0, 1, 1], level=0.5)
    Constraints(1 must-link, 0 cannot-link, 4 rows)
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one-dimensional, got shape {labels.shape}")
    if not 0 <= level <= 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    pairs = _draw_pairs(labels.size, level, seed)
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return Constraints(pairs[same], pairs[~same], n_rows=labels.size)


def published_level(collection: str, level: float) -> float:
    """Give the float that a published level was computed with, or the level itself."""
    if collection == "COL2":
        nearest = float(_COLLECTION_2_LEVELS[np.abs(_COLLECTION_2_LEVELS - level).argmin()])
        if math.isclose(nearest, level, rel_tol=1e-9):
            return nearest
    return level


def _draw_pairs(n_rows: int, level: float, seed: int) -> NDArray[np.int32]:
    objects = math.ceil(n_rows * level)
    wanted = objects * (objects - 1) // 2
    legacy = np.random.RandomState(seed)
    # A pair is one number, smaller row first, so sorting numbers sorts pairs.
    codes = np.empty(0, dtype=np.int64)
    while codes.size < wanted:
        first = legacy.randint(0, n_rows, wanted, dtype=np.int64)
        second = legacy.randint(0, n_rows, wanted, dtype=np.int64)
        drawn = np.minimum(first, second) * n_rows + np.maximum(first, second)
        codes = _distinct(np.concatenate([codes, drawn[first != second]]))
    kept = codes[:wanted]
    return np.column_stack([kept // n_rows, kept % n_rows]).astype(np.int32)


def _distinct(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort and drop repetitions; ``np.unique`` hashes first, which takes eighty times as long."""
    codes.sort()
    new = np.ones(codes.size, dtype=np.bool_)
    np.not_equal(codes[1:], codes[:-1], out=new[1:])
    return np.asarray(codes[new])
