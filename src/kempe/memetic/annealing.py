"""Descent for tight graphs: Kempe swaps, and annealing where those are exhausted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kempe import _core
from kempe.exact import anneal
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Descent
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

    def settle(
        self,
        problem: Problem,
        colours: Colours,
        centroids: Centroids,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> Colours:
        """Improve the assignment to fixed centroids by swaps, then by annealing."""
        colours = self.inner.settle(problem, colours, centroids, rng, stopper)
        return anneal(problem.graph, problem.costs(centroids), colours, rng, stopper)

    def descend(
        self,
        problem: Problem,
        colours: Colours,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> Colours:
        """Alternate the inner descent and annealing until neither improves."""
        colours = self.inner.descend(problem, colours, rng, stopper)
        while not stopper.look():
            costs = costs_at_means(problem, colours)
            annealed = anneal(problem.graph, costs, colours, rng, stopper)
            refined = self.inner.descend(problem, annealed, rng, stopper)
            if not problem.inertia(refined) < problem.inertia(colours) * (1 - 1e-12):
                break
            colours = refined
        return colours
