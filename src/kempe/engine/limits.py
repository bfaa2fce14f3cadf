"""Clusterings that keep limits on the sizes of clusters: where searches begin."""

from __future__ import annotations

from dataclasses import dataclass

from kempe.engine.sequential import SequentialDescent
from kempe.graph.sizes import colour_within_or_explain
from kempe.problem import Centroids, Colours
from kempe.search.descent import Context
from kempe.search.first_colouring import first_colouring
from kempe.search.matching import match
from kempe.search.seeding import starting_centroids


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
        centroids = starting_centroids(problem, "k-means++", context.rng)
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
