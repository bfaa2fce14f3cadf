"""Clusterings that keep limits on the sizes of clusters: where searches begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from kempe import _core
from kempe.engine.sequential import SequentialDescent, is_transport, transported
from kempe.engine.warm import is_labels
from kempe.exceptions import InfeasibleConstraintsError
from kempe.graph.certificates import raise_interrupt
from kempe.graph.sizes import colour_within_or_explain
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Context
from kempe.search.first_colouring import first_colouring
from kempe.search.matching import match
from kempe.search.seeding import checked_centroids, is_drawn, starting_centroids
from kempe.sizes import SizeLimits
from kempe.words import counted


@dataclass(frozen=True)
class SizedStarts:
    """Makes colourings within limits, each from centroids of its own.

    Attributes
    ----------
    descent
        Sends rows from full clusters to others.
    known
        A colouring within the limits, for where that gets stuck. Single rows in no pair never get
        stuck.
    """

    descent: SequentialDescent
    known: Colours | None

    @classmethod
    def prepared(
        cls, context: Context, descent: SequentialDescent, proper: Colours | None = None
    ) -> SizedStarts:
        """Look for a colouring once, for all starts.

        Parameters
        ----------
        proper
            One that breaks limits, if it was hard to find.
        """
        problem = context.problem
        if is_transport(problem):
            return cls(descent, None)
        centroids = starting_centroids(problem, "k-means++", context.rng, context.stopper)
        colours = first_colouring(context, centroids, known=proper)
        found, excess = descent.repair(context, colours, centroids)
        if excess:
            assert problem.limits is not None
            seed = int(context.rng.integers(2**31))
            found = colour_within_or_explain(
                problem.graph, problem.size, problem.limits, context.stopper, seed=seed
            )
        return cls(descent, found)

    def make(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Mend a colouring near the centroids, or let the one that is known go there."""
        problem = context.problem
        if is_transport(problem):
            return transported(context, centroids)
        mended, excess = self.descent.repair(context, colours, centroids)
        if excess:
            assert problem.limits is not None
            assert self.known is not None
            mended = self.known
            if problem.limits.same_for_all:
                centroids = match(*problem.means(mended), centroids)
        return self.descent.settle(context, mended, centroids)


def nearest_within(
    rows: NDArray[Any],
    centres: NDArray[Any],
    limits: SizeLimits,
    taken: NDArray[np.int64],
    n_threads: int = 1,
) -> NDArray[np.int32]:
    """Assign rows to the nearest centres at which clusters keep their limits.

    A transport problem, solved exactly up to 400 clusters; with more, rows go, nearest first, to
    the nearest centre that has room.

    Parameters
    ----------
    rows
        Data of shape (n_rows, n_features).
    centres
        Of shape (n_clusters, n_features).
    limits
        Fewest and most rows of each cluster.
    taken
        Rows that each cluster has already.
    n_threads
        Threads, if there are many rows.

    Raises
    ------
    InfeasibleConstraintsError
        If the rows do not fit.
    """
    n, k = len(rows), limits.n_clusters
    left = SizeLimits(
        np.maximum(limits.least - taken, 0).astype(np.int32), (limits.most - taken).astype(np.int32)
    )
    if left.most.min() < 0 or left.most.sum() < n or left.least.sum() > n:
        room = int(np.maximum(left.most, 0).sum())
        raise InfeasibleConstraintsError(
            f"the sizes cannot be had: {counted(n, 'new row')}, room for {room}, "
            f"at least {int(left.least.sum())} needed by {counted(k, 'cluster')} of "
            f"{limits.in_words}"
        )
    problem = Problem.build(rows, n_clusters=k, limits=left, n_threads=n_threads)
    centroids = np.ascontiguousarray(centres - problem.shift, dtype=np.float64)
    stopper = _core.Stopper()
    labels = _core.transport(problem.core, centroids, stopper)
    raise_interrupt(stopper)
    return labels


def in_given_positions(problem: Problem, colours: Colours, init: Any) -> Colours:
    """Give clusters the numbers of those that were given, as far as their limits permit.

    Where each cluster has limits of its own, its position has a meaning. A search draws further
    starts and moves clusters to other places, so what was found may lie nearest to a position that
    has the same room.

    Parameters
    ----------
    problem
        Supernodes and the graph between them.
    colours
        Clusters within the limits.
    init
        Centroids in the coordinates of the user's data, or the cluster of each row; where starts
        are drawn, nothing is changed.
    """
    limits = problem.limits
    if limits is None or limits.same_for_all or is_drawn(init):
        return colours
    means, weight = problem.means(colours)
    sizes = limits.sizes_of(problem.labels(colours))[:, None]
    away = weight[:, None] * cdist(means, _given_centroids(problem, init), "sqeuclidean")
    # The positions that they have are permitted, so there is an answer.
    away[(sizes < limits.least) | (sizes > limits.most)] = np.inf
    position = linear_sum_assignment(away)[1].astype(np.int32)
    return np.asarray(position[colours])


def _given_centroids(problem: Problem, init: Any) -> Centroids:
    """Give what a start says in the problem's coordinates; clusters without rows are anywhere."""
    k = problem.n_clusters
    if not is_labels(init):
        return checked_centroids(init, (k, problem.n_features)) - problem.shift
    weight = np.ones(problem.n_rows) if problem.row_weight is None else problem.row_weight
    total = np.bincount(init, weight, minlength=k)
    sums = np.zeros((k, problem.n_features))
    np.add.at(sums, init, weight[:, None] * problem.rows)
    return sums / np.where(total > 0, total, 1.0)[:, None]
