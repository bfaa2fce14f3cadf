"""What a person reads after a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.words import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kempe.constraints import Constraints

MOST_SIZES = 10
"""So many sizes of clusters are told one by one."""

LONG = 1.0
"""Of searches that take longer, it is told when they found the best."""


def lines(
    estimator: Any,
    constraints: Constraints,
    names: Sequence[str] | None,
    sizes: NDArray[np.integer] | None = None,
) -> dict[str, str]:
    """Give the summary of a fitted estimator: what each line is about, and what it says."""
    result = estimator.result_
    if sizes is None:
        sizes = np.bincount(estimator.labels_, minlength=len(estimator.cluster_centers_))
    hard = constraints.without_soft()
    pairs = len(constraints.must_link) + len(constraints.cannot_link)
    said = {
        "inertia": f"{estimator.inertia_:,.6g}",
        "clusters": sizes_in_words(sizes, names),
        "constraints": f"{hard.summary()}, all satisfied" if pairs else "none",
        "search": f"{counted(result.n_mutations, 'mutation')}, {result.ending}",
        "time": _time(result),
    }
    broken = getattr(result, "broken", None)
    if broken is not None:
        said["soft pairs"] = _soft(estimator, constraints, len(broken.price))
    if getattr(estimator, "soft_violation_", 0):
        said["soft pairs"] = f"violated with a confidence of {estimator.soft_violation_:g} in all"
    return said


def _soft(estimator: Any, constraints: Constraints, broken: int) -> str:
    """Say how many soft pairs were broken, how many were not free, how many seem to be wrong."""
    count = constraints.soft.count
    kept, lost = constraints.decided()
    decided = f"; hard pairs decide {kept + lost:,} of them" if kept + lost else ""
    noise = getattr(estimator, "noise_", None)
    wrong = "" if noise is None else f"; about {100 * noise:.1f} % seem to be wrong"
    return f"{broken:,} of {count:,} broken{decided}{wrong}"


def _time(result: Any) -> str:
    """Say how long it took, and when the best was found if that was long before the end."""
    if result.runtime < LONG or result.best_after > 0.9 * result.runtime:
        return f"{result.runtime:.2f} s"
    return f"best found after {result.best_after:.1f} s of {result.runtime:.1f}"


def sizes_in_words(sizes: NDArray[np.integer], names: Sequence[str] | None = None) -> str:
    """Say how many rows the clusters have; one by one if they are few."""
    if len(sizes) > MOST_SIZES:
        low, middle, high = (f"{np.quantile(sizes, q):,.0f}" for q in (0, 0.5, 1))
        return f"{len(sizes)} of {low} to {high} rows, half of them up to {middle}"
    counts = [f"{size:,}" for size in sizes]
    if names is None:
        return " + ".join(counts) + " rows"
    return ", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True)) + " rows"
