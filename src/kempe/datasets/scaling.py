"""Standardisation of the features, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

# Rows are converted in blocks of about this many numbers, so that a large integer matrix is
# never copied as a whole to float64.
_BLOCK = 2**22


def standardise(X: NDArray[Any], dtype: DTypeLike = np.float64) -> NDArray[np.floating[Any]]:
    """Scale every column to mean 0 and population standard deviation 1.

    Constant columns become zeros. Means and deviations are computed in double precision whatever
    the type of the result; the result is the only full copy.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features), integers or floats.
    dtype
        ``float64`` or ``float32``.
    """
    mean, deviation = _column_statistics(X)
    out = np.empty(X.shape, dtype=dtype)
    for rows in _blocks(X):
        out[rows] = (X[rows] - mean) / deviation
    return out


def partition_inertia(X: NDArray[Any], y: NDArray[Any]) -> float:
    """Inertia of a partition on standardised features, without standardising a copy."""
    mean, deviation = _column_statistics(X)
    codes = np.unique(y, return_inverse=True)[1]
    sizes = np.bincount(codes)
    member = sparse.csc_array((np.ones(y.size), (codes, np.arange(y.size))))
    sums = np.zeros((sizes.size, X.shape[1]))
    squares = 0.0
    for rows in _blocks(X):
        block = (X[rows] - mean) / deviation
        sums += np.asarray(member[:, rows] @ block)
        squares += float(np.einsum("ij,ij->", block, block))
    return squares - float((sums**2 / sizes[:, None]).sum())


def _column_statistics(X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    mean = np.zeros(X.shape[1])
    for rows in _blocks(X):
        mean += X[rows].sum(axis=0, dtype=np.float64)
    mean /= X.shape[0]
    variance = np.zeros(X.shape[1])
    for rows in _blocks(X):
        variance += ((X[rows] - mean) ** 2).sum(axis=0)
    # Rounding may leave a constant column a tiny variance, so constancy is asked of the data.
    constant = X.min(axis=0) == X.max(axis=0)
    mean[constant] = X[0, constant]
    return mean, np.where(constant, 1.0, np.sqrt(variance / X.shape[0]))


def _blocks(X: NDArray[Any]) -> Iterator[slice]:
    step = max(1, _BLOCK // max(1, X.shape[1]))
    return (slice(start, start + step) for start in range(0, X.shape[0], step))
