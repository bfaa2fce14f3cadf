"""Clusterings that keep limits on the sizes of clusters: where searches begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.engine.sequential import SequentialDescent, is_transport, transported
from kempe.exceptions import InfeasibleConstraintsError
from kempe.graph.certificates import raise_interrupt
from kempe.graph.sizes import colour_within_or_explain
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Context
from kempe.search.first_colouring import first_colouring
from kempe.search.matching import match
from kempe.search.seeding import starting_centroids
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
