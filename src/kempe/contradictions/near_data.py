"""Clusterings near the data that break few pairs: beginnings, and the choice among equals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.contradictions.candidates import Candidates
from kempe.engine.sequential import SequentialDescent
from kempe.problem import Colours, Problem
from kempe.search.descent import Budget, Context
from kempe.search.first_colouring import first_colouring
from kempe.search.seeding import starting_centroids
from kempe.soft_pairs import SoftPairs

# Prices of a pair of mean weight on the way, in units of the mean inertia of a row.
PRICES = (0.5, 2.0, 8.0, 32.0)
RELOCATIONS = Budget(tries=100, most_failures=20)


@dataclass(frozen=True, eq=False)
class NearData:
    """The data, with candidates as pairs that may be broken at a price.

    Attributes
    ----------
    context
        The problem, randomness, and when to stop.
    strength
        What pairs of supernodes are worth, negative for those that belong apart.
    """

    context: Context
    strength: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        rows: NDArray[Any],
        sample_weight: NDArray[np.float64] | None,
        candidates: Candidates,
        n_clusters: int,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> NearData:
        """Make the problem."""
        problem = Problem.build(
            rows, candidates.certain, n_clusters=n_clusters, sample_weight=sample_weight
        )
        soft = SoftPairs.build(
            problem.supernode,
            problem.graph.core,
            candidates.pairs,
            candidates.together,
            candidates.weight,
        )
        context = Context(replace(problem, soft=soft), rng, stopper)
        return cls(context, soft.strength(0.0))

    def beginnings(self) -> list[Colours]:
        """Go from cheap pairs to dear ones, and give the clusterings on the way."""
        problem = self.context.problem
        centroids = starting_centroids(problem, "k-means++", self.context.rng, self.context.stopper)
        colours = self._improved(problem, first_colouring(self.context, centroids))
        worth = self._worth
        if not worth.size:
            return [colours]
        unit = problem.inertia(colours) / float(problem.weight.sum()) / float(worth.mean())
        found = [colours]
        for price in PRICES:
            if self.context.stopper.look():
                break
            found.append(self._at(price * unit, found[-1]))
        return found

    def nearest(self, colours: Colours) -> tuple[float, Colours]:
        """Lower the inertia without breaking dearer pairs, and give both."""
        problem = self.context.problem
        if self._worth.size:
            whole = problem.inertia(np.zeros_like(colours))
            colours = self._at(2 * whole / float(self._worth.min()), colours)
        return problem.inertia(colours), colours

    @property
    def _worth(self) -> NDArray[np.float64]:
        """What pairs of supernodes are worth of which more is said for than against."""
        return np.asarray(np.abs(self.strength[self.strength != 0]))

    def _at(self, price: float, colours: Colours) -> Colours:
        if price == 0:  # all rows are the same
            return colours
        return self._improved(self.context.problem.priced(price * self.strength), colours)

    def _improved(self, problem: Problem, colours: Colours) -> Colours:
        """Go down, and relocate centroids as long as that helps."""
        descent, context = SequentialDescent(), replace(self.context, problem=problem)
        colours = descent.descend(context, colours)
        for improved, _ in descent.improve(context, colours, RELOCATIONS):
            colours = improved
        return colours
