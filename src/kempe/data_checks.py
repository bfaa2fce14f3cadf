"""What the data of a fit must be: a table of numbers whose squares are numbers, too."""

from __future__ import annotations

import warnings
from math import isfinite, isqrt, log2
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

# The inertia may have so many, before or after the point, which leaves room for intermediate
# results.
MOST_BINARY_DIGITS = 1000

# Rows that are looked at once in order to count distinct ones.
_DISTINCT_AT_ONCE = 4096

# Entries that are compared with as many others at once in order to find the largest.
_COMPARED_AT_ONCE = 1024


def is_ready(X: object) -> TypeGuard[NDArray[Any]]:
    """Whether data is a finite table of floats in C order, of which nothing needs to be made.

    Nearly all is, and scikit-learn looks at everything else that it could be before it says so.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or not X.size or not X.flags.c_contiguous:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return X.dtype in (np.float64, np.float32) and isfinite(X.sum())


def check_kind(X: object) -> None:
    """Refuse what other libraries have instead of a table, and say how to make one of it."""
    if sparse.issparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Reduce its columns first, "
            "for example by sklearn.decomposition.TruncatedSVD(100).fit_transform(X), or use "
            "X.toarray() if that fits into memory"
        )
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a polars LazyFrame, which has no rows yet; pass X.collect()")


def warn_if_repeated(data: NDArray[Any], n_clusters: int) -> None:
    """Warn, as scikit-learn does, if there are fewer distinct rows than clusters."""
    distinct = count_distinct(data, n_clusters)
    if distinct < n_clusters:
        # A context of its own makes Python show it for every fit, not once for a line of fits.
        with warnings.catch_warnings():
            warnings.warn(
                f"Number of distinct rows ({distinct}) is smaller than n_clusters ({n_clusters}): "
                "some clusters have the same centre",
                ConvergenceWarning,
                stacklevel=5,
            )


def count_distinct(data: NDArray[Any], enough: int) -> int:
    """Count distinct rows until there are enough; nearly always a few here and there show it."""
    found = _distinct(data[:: max(1, len(data) // (4 * enough))])
    for start in range(0, len(data), _DISTINCT_AT_ONCE):
        if len(found) >= enough:
            break
        found |= _distinct(data[start : start + _DISTINCT_AT_ONCE])
    return len(found)


def _distinct(data: NDArray[Any]) -> set[bytes]:
    """Give every row once, as its bytes; adding 0 makes one zero of the two that there are."""
    plain = data + 0.0
    return set(plain.view(f"V{plain.strides[0]}").ravel().tolist())


def check_groups(groups: int, n_clusters: int) -> None:
    """Refuse must-link pairs that leave too few groups of rows for the clusters."""
    if groups < n_clusters:
        raise ValueError(
            f"must-link pairs leave {groups} groups of rows, fewer than n_clusters={n_clusters}; "
            "ask for fewer clusters or drop some pairs"
        )


def feature_ranges(data: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the smallest and the largest entry of each feature.

    NumPy compares long rows several times faster than short ones, so rows are taken together, but
    few enough that what is left of them, short rows again, is little.

    Parameters
    ----------
    data
        At least one row, in C order.
    """
    n_rows, n_features = data.shape
    together = min(isqrt(n_rows), max(1, _COMPARED_AT_ONCE // n_features))
    whole = n_rows - n_rows % together
    long_rows, rest = data[:whole].reshape(-1, together * n_features), data[whole:]

    def extreme(of: np.ufunc) -> NDArray[Any]:
        several: NDArray[Any] = of.reduce(long_rows).reshape(together, n_features)
        return np.asarray(of.reduce(np.concatenate([several, rest])))

    return extreme(np.minimum), extreme(np.maximum)


def check_squares(
    lowest: NDArray[Any], highest: NDArray[Any], total: float, lightest: float
) -> None:
    """Refuse numbers so large that squared distances overflow, or so small that they underflow.

    Kernels square weighted coordinates, so the binary digits of both count twice.

    Parameters
    ----------
    lowest, highest
        Smallest and largest entry of each feature.
    total
        Weight of all rows.
    lightest
        Smallest weight of a row above 0.
    """
    low, high = lowest.tolist(), highest.tolist()
    largest = max(-min(low), max(high), 1.0)
    size, mass = log2(2 * largest) + log2(len(low)) / 2, log2(max(total, 1.0))
    if 2 * (size + mass) > MOST_BINARY_DIGITS:
        raise ValueError(
            f"the inertia would overflow: X has entries as large as {largest:.3g} and a total "
            f"weight of {total:.3g}; scale them, for example by StandardScaler"
        )
    # Constant data has an inertia of 0, which is right.
    spread = max(most - least for least, most in zip(low, high, strict=True)) or 1.0
    if 2 * (min(log2(spread), 0.0) + min(log2(lightest), 0.0)) < -MOST_BINARY_DIGITS:
        raise ValueError(
            f"the inertia would underflow: the entries of X differ by at most {spread:.3g} and "
            f"sample_weight is as small as {lightest:.3g}; scale them, for example by "
            "StandardScaler"
        )
