"""Descent for tight graphs: Kempe swaps, and annealing where those are exhausted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe.exact import anneal
from kempe.problem import Centroids, Colours
from kempe.search.descent import Context, Descent
from kempe.search.empty import costs_at_means


@dataclass(frozen=True)
class AnnealingDescent(Descent):
    """Descent by Kempe swaps that goes on by annealing, see ``kempe.exact.annealing``.

    Attributes
    ----------
    inner
        The descent by Kempe swaps.
    """

    inner: Descent

    def settle(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Improve the assignment to fixed centroids by swaps, then by annealing."""
        colours = self.inner.settle(context, colours, centroids)
        return _annealed(context, colours, context.problem.costs(centroids))

    def descend(self, context: Context, colours: Colours) -> Colours:
        """Alternate the inner descent and annealing until neither improves."""
        problem = context.problem
        colours = self.inner.descend(context, colours)
        while not context.stopper.look():
            annealed = _annealed(context, colours, costs_at_means(problem, colours))
            refined = self.inner.descend(context, annealed)
            # The inertia falls by a share of itself in every turn, so this ends.
            if not problem.inertia(refined) < problem.inertia(colours) * (1 - 1e-12):
                break
            colours = refined
        return colours


def _annealed(context: Context, colours: Colours, costs: NDArray[np.float64]) -> Colours:
    return anneal(context.problem.graph, costs, colours, context.rng, context.stopper)
