"""Descent for tight graphs: Kempe swaps, and annealing where those are exhausted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe.exact import anneal
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Context, Descent
from kempe.search.empty import costs_at_means
from kempe.search.result import Solution


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
            # The objective falls by a share of itself in every turn, so this ends.
            if not _objective(problem, refined) < _objective(problem, colours) * (1 - 1e-12):
                break
            colours = refined
        return colours


def _objective(problem: Problem, colours: Colours) -> float:
    return Solution.of(problem, colours).objective


def _annealed(context: Context, colours: Colours, costs: NDArray[np.float64]) -> Colours:
    problem = context.problem
    return anneal(
        problem.graph, costs, colours, context.rng, context.stopper, soft=problem.soft_in_units
    )
