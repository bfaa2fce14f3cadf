"""Assignment by simulated annealing, for graphs on which Kempe swaps get stuck.

When the number of clusters is close to the least possible, most proper colourings cannot be reached
from each other by Kempe swaps. Annealing passes through colourings that violate a few cannot-link
pairs, at a price, and returns only proper ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.assign.sequential import SequentialDescent
from kempe.graph import CannotLinkGraph
from kempe.problem import Centroids, Colours, Problem

# Temperatures and prices of a violated pair, in units of the mean cost above the nearest cluster.
HOT, COLD = 2.0, 0.3
CHEAP, EXPENSIVE = 4.0, 6.0
# Sweeps over all vertices, as long as that is not more than so many trials.
SWEEPS = 3_000
TRIALS = 1_000_000


def anneal(
    graph: Problem | CannotLinkGraph,
    costs: NDArray[np.float64],
    colours: Colours,
    rng: np.random.Generator,
    stopper: _core.Stopper,
    *,
    patience: int = 1,
) -> Colours:
    """Look for a cheaper proper colouring, whether or not Kempe swaps lead there.

    Parameters
    ----------
    costs
        Cost per vertex and cluster.
    colours
        A proper colouring, returned if none cheaper is found.
    patience
        Cool so many times as slowly, which finds cheaper colourings on larger graphs.
    """
    above = costs - costs.min(axis=1, keepdims=True)
    above /= float(above[np.isfinite(above)].mean()) or 1.0
    return _core.anneal(
        graph.offsets,
        graph.targets,
        above,
        colours,
        patience * min(SWEEPS, max(1, TRIALS // max(1, colours.size))),
        HOT,
        COLD,
        CHEAP,
        EXPENSIVE,
        int(rng.integers(2**63)),
        stopper,
    )


@dataclass
class AnnealingDescent:
    """Descent by sequential Kempe swaps that goes on by annealing where those are exhausted.

    Attributes
    ----------
    inner
        The descent by Kempe swaps.
    """

    inner: SequentialDescent

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
        return anneal(problem, problem.costs(centroids), colours, rng, stopper)

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
            annealed = self._annealed_at_means(problem, colours, rng, stopper)
            refined = self.inner.descend(problem, annealed, rng, stopper)
            if not problem.inertia(refined) < problem.inertia(colours) * (1 - 1e-12):
                break
            colours = refined
        return colours

    def _annealed_at_means(
        self,
        problem: Problem,
        colours: Colours,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> Colours:
        centroids, weight = problem.means(colours)
        costs = problem.costs(centroids)
        # The mean of an empty cluster means nothing; leave such clusters to the inner method.
        costs[:, weight == 0] = costs.max()
        return anneal(problem, costs, colours, rng, stopper)
