"""Whether rounding has spoilt what a search calls an optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.search.result import Result, Solution

# Share of the inertia by which that of an optimum may differ from the one of the data as given.
MOST_ROUNDING = 1e-4


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
    # Equal rows may have an inertia after centring, but none that differ may have lost theirs.
    digits = (4 * np.finfo(np.float64).eps) ** 2
    noise = digits * float(weight @ (data.astype(np.float64) ** 2).sum(axis=1))
    lost = true - found.inertia > MOST_ROUNDING * true
    made = found.inertia - true > MOST_ROUNDING * found.inertia + noise
    if not (lost or made):
        return result
    objective = found.objective + true - found.inertia
    return replace(
        result, solution=Solution(found.colours, true, objective), stop_reason="converged"
    )


def _inertia_in_double(
    data: NDArray[Any], labels: NDArray[np.int32], weight: NDArray[np.float64]
) -> float:
    """Inertia about the means of the clusters, each of them centred for itself."""
    total = 0.0
    for cluster in np.unique(labels):
        own = labels == cluster
        rows, mass = data[own].astype(np.float64), weight[own]
        origin = rows[0]
        shifted = rows - origin
        mean = mass @ shifted / mass.sum() if mass.any() else np.zeros_like(origin)
        total += float(mass @ ((shifted - mean) ** 2).sum(axis=1))
    return total
