"""Labels that come from elsewhere than a descent, made to obey all pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.constraints import Constraints
from kempe.engine.warm import checked_labels, colours_of_labels
from kempe.graph.certificates import raise_interrupt
from kempe.problem import Problem
from kempe.search.descent import Context
from kempe.search.empty import full_solution


def hard_pairs(constraints: Constraints) -> Constraints:
    """Give the pairs that must hold alone."""
    return constraints.with_pairs(constraints.must_link, constraints.cannot_link)


def mended_labels(
    X: NDArray[np.float64],
    constraints: Constraints,
    labels: NDArray[np.int32],
    n_clusters: int,
    seed: int = 0,
) -> NDArray[np.int32]:
    """Give labels in which all pairs hold and few rows have another cluster, without a descent.

    Parameters
    ----------
    X
        All rows.
    constraints
        Pairs; soft ones do not count.
    labels
        Cluster of each row, whatever the constraints.
    n_clusters
        Number of clusters.
    seed
        Of the heuristics, where mending is hard.
    """
    problem = Problem.build(X, hard_pairs(constraints), n_clusters=n_clusters)
    context = Context(problem, np.random.default_rng(seed), _core.Stopper())
    colours = colours_of_labels(context, checked_labels(labels, problem.n_rows, n_clusters))
    raise_interrupt(context.stopper)
    found = full_solution(problem, colours).colours
    if not problem.is_proper(found):
        raise AssertionError("internal error: a clustering violates a cannot-link pair")
    return problem.labels(found)
