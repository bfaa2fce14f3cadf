"""Clusterings that keep limits on the sizes of clusters: where searches begin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from kempe.engine.sequential import SequentialDescent
from kempe.exceptions import InfeasibleConstraintsError
from kempe.graph.sizes import colour_within_or_explain
from kempe.problem import Centroids, Colours
from kempe.search.descent import Context
from kempe.search.first_colouring import first_colouring
from kempe.search.matching import match
from kempe.search.seeding import starting_centroids
from kempe.sizes import SizeLimits


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
        if problem.n_supernodes == problem.n_rows and not problem.graph.n_edges:
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
        mended, excess = self.descent.repair(context, colours, centroids)
        if excess:
            assert problem.limits is not None
            assert self.known is not None
            mended = self.known
            if problem.limits.same_for_all:
                centroids = match(*problem.means(mended), centroids)
        return self.descent.settle(context, mended, centroids)


def nearest_within(
    squares: NDArray[np.float64], limits: SizeLimits, taken: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Assign rows to the nearest centres at which clusters keep their limits.

    A transport problem, solved exactly: corners of its polytope are whole numbers.

    Parameters
    ----------
    squares
        Squared distance of each row to each centre.
    limits
        Fewest and most rows of each cluster.
    taken
        Rows that each cluster has already.

    Raises
    ------
    InfeasibleConstraintsError
        If the rows do not fit.
    """
    n, k = squares.shape
    least, most = np.maximum(limits.least - taken, 0), limits.most - taken
    if most.min() < 0 or most.sum() < n or least.sum() > n:
        raise InfeasibleConstraintsError(
            f"the sizes cannot be had: {n} new rows, room for {int(np.maximum(most, 0).sum())}, "
            f"at least {int(least.sum())} needed by {k} clusters of {limits} rows"
        )
    each = sparse.kron(sparse.eye_array(n), np.ones((1, k)))
    sizes = sparse.kron(np.ones((1, n)), sparse.eye_array(k))
    found = milp(
        squares.ravel(),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(each, 1, 1), LinearConstraint(sizes, least, most)],
    )
    assert found.x is not None
    labels: NDArray[np.int32] = found.x.reshape(n, k).argmax(axis=1).astype(np.int32)
    assert not SizeLimits(least, most).excess(np.bincount(labels, minlength=k)).any()
    return labels
