"""Bounds for more groups than fit into one matrix: the rows in parts.

The inertia of a clustering is at least the sum of its inertias on disjoint parts of the rows, so
bounds of parts add up. Parts that look like the whole lose least: with k clusters of its own, each
is cheaper than its share of the whole by about k groups. So the parts are not neighbourhoods but
samples, in which every region has its share: see ``stratified.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.problem import Problem
from kempe.proof.ascent import SWIFT
from kempe.proof.facts import Facts
from kempe.proof.incumbent import PartIncumbent
from kempe.proof.presolve import presolve
from kempe.proof.relaxation import Data
from kempe.proof.tree import Tree

# Groups in a part: enough for it to look like the whole, few enough for a bound within seconds.
LARGEST_PART = 2500
SMALLEST_PART = 100
GROUPS_PER_CLUSTER = 4
# The best part sizes that were measured follow this factor times the root of k seconds per group:
# 400 at 6 ms and k = 3, 1,400 to 2,000 at 15 ms and k = 26. Smaller parts differ more from the
# whole; with larger ones time is up before their bound is tight.
BEST_FACTOR = 2950.0
# Seconds for each pair of groups: of a good bound, and of a first one of a part.
SECONDS_PER_PAIR, LEAST_PER_PAIR = 1e-5, 4e-6


def groups_bounded_in(seconds: float) -> float:
    """Estimate for how many groups a good bound takes so long."""
    return math.sqrt(seconds / SECONDS_PER_PAIR)


def part_size(n_groups: int, n_clusters: int, seconds: float) -> int:
    """Choose how many groups a part has: as many as leave time for all parts."""
    least = max(SMALLEST_PART, GROUPS_PER_CLUSTER * n_clusters)
    each = seconds / n_groups
    affordable, best = each / LEAST_PER_PAIR, BEST_FACTOR * math.sqrt(n_clusters * each)
    return math.ceil(max(least, min(affordable, best, LARGEST_PART)))


def part_tree(
    problem: Problem,
    data: Data,
    labels: NDArray[np.int32],
    rows: NDArray[np.int64],
    gap: float,
    stop: Callable[[float], bool],
    report: Callable[[Tree], None],
    stopper: _core.Stopper,
) -> Tree:
    """Give the tree of a part, whose rows it numbers from 0."""
    own = data.part(rows)
    known = presolve(Facts.of_rows(problem, rows), problem.n_clusters, stopper)
    incumbent = PartIncumbent(own, labels[rows])
    return Tree(own, known, problem.n_clusters, incumbent, gap, stop, report, stopper, SWIFT)
