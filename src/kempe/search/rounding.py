"""Whether rounding has spoilt what a search calls an optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.search.result import Result, Solution

# Share of the inertia by which that of an optimum may differ from the one of the data as given.
MOST_ROUNDING = 1e-4

VALUES_AT_ONCE = 2**16


def doubted(
    result: Result,
    data: NDArray[Any],
    labels: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
) -> Result:
    """Claim no optimum where centring has rounded differences of the data away.

    Rounding concerns small inertias most, so the best clustering of all shows whether it matters.
    The inertia is that of the data as it was given, then.
    """
    weight = np.ones(len(data)) if weight is None else weight
    true = _inertia_in_double(data, labels, weight)
    found = result.solution
    lost = true - found.inertia > MOST_ROUNDING * true
    made = found.inertia - true > MOST_ROUNDING * found.inertia + _noise(data, weight, found, true)
    if not (lost or made):
        return result
    objective = found.objective + true - found.inertia
    return replace(
        result, solution=Solution(found.colours, true, objective), stop_reason="converged"
    )


def _noise(data: NDArray[Any], weight: NDArray[np.float64], found: Solution, true: float) -> float:
    """Inertia that equal rows may have after centring; none that differ may have lost theirs."""
    if found.inertia <= true:
        return 0.0
    digits = (4 * np.finfo(np.float64).eps) ** 2
    rows = (data[part].astype(np.float64) for part in _parts(data))
    square = np.concatenate([np.einsum("ij,ij->i", block, block) for block in rows])
    return digits * float(weight @ square)


def _inertia_in_double(
    data: NDArray[Any], labels: NDArray[np.int32], weight: NDArray[np.float64]
) -> float:
    """Inertia about the means of the clusters, each of them centred for itself."""
    total = 0.0
    for cluster in np.unique(labels):
        own = np.flatnonzero(labels == cluster)
        mass, origin = weight[own], data[own[0]].astype(np.float64)
        parts = _parts(data, own.size)
        mean = np.zeros_like(origin)
        if mass.any():
            sums = (mass[part] @ (data[own[part]] - origin) for part in parts)
            mean = sum(sums, mean) / mass.sum()
        for part in parts:
            shifted = data[own[part]] - origin
            shifted -= mean
            total += float(mass[part] @ np.einsum("ij,ij->i", shifted, shifted))
    return total


def _parts(data: NDArray[Any], n_rows: int | None = None) -> list[slice]:
    """So many rows in parts that stay in the cache, since large data is not to be copied."""
    n_rows = len(data) if n_rows is None else n_rows
    step = max(1, VALUES_AT_ONCE // max(1, data.shape[1]))
    return [slice(begin, begin + step) for begin in range(0, n_rows, step)]
