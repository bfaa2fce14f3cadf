"""KSAssignment, Algorithm 2 of the paper: all improving chains, the best compatible set of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kempe import _core
from kempe.kskm import mwis as independent_set
from kempe.kskm.chains import conflicts, improving_chains
from kempe.kskm.three_colour import three_colour_step
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Context, Descent


@dataclass(frozen=True)
class SimultaneousDescent(Descent):
    """Descent by simultaneous Kempe swaps (Algorithm 2 of the paper and the inner loop of 1).

    Parameters
    ----------
    mwis
        How compatible swaps are chosen, see ``kempe.kskm.mwis.solve``. ``"greedy"`` runs as one
        compiled loop; the others solve the same steps with more effort per step.
    three_colour
        Whether ``descend`` goes on with three-colour chains once two-colour swaps are exhausted.
        Lower inertia where constraints are tight, at the cost of looking at all triples of
        clusters.
    """

    mwis: independent_set.Method = "greedy"
    three_colour: bool = False

    def __post_init__(self) -> None:
        if self.mwis not in independent_set.METHODS:
            raise ValueError(f"mwis must be one of {independent_set.METHODS}, got {self.mwis!r}")

    def step(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """One assignment (Algorithm 2): find chains, choose compatible ones, swap."""
        problem, rng = context.problem, context.rng
        if self.mwis == "greedy":
            return _core.simultaneous_step(problem.core, colours, centroids)
        return self._chosen_step(problem, colours, centroids, rng)

    def settle(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Repeat the step at fixed centroids until no chain improves (the loop of Algorithm 4)."""
        problem, rng, stopper = context.problem, context.rng, context.stopper
        if self.mwis == "greedy":
            return _core.simultaneous_settle(problem.core, colours, centroids, stopper)
        while not stopper.look():
            after = self._chosen_step(problem, colours, centroids, rng)
            if np.array_equal(after, colours):
                break
            colours = after
        return colours

    def descend(self, context: Context, colours: Colours) -> Colours:
        """Alternate centroid update and step until nothing improves (inner loop of Algorithm 1)."""
        problem, rng, stopper = context.problem, context.rng, context.stopper
        colours = self._two_colour_descent(problem, colours, rng, stopper)
        while self.three_colour and not stopper.look():
            rotated = three_colour_step(problem, colours, rng, stopper, self.mwis)
            if rotated is None:
                break
            colours = self._two_colour_descent(problem, rotated, rng, stopper)
        return colours

    def _two_colour_descent(
        self, problem: Problem, colours: Colours, rng: np.random.Generator, stopper: _core.Stopper
    ) -> Colours:
        if self.mwis == "greedy":
            return _core.simultaneous_descend(problem.core, colours, problem.n_clusters, stopper)
        while not stopper.look():
            after = self._chosen_step(problem, colours, _centroids(problem, colours), rng)
            if np.array_equal(after, colours):
                break
            colours = after
        return colours

    def _chosen_step(
        self, problem: Problem, colours: Colours, centroids: Centroids, rng: np.random.Generator
    ) -> Colours:
        """Make the step in its parts, with any way of choosing the swaps."""
        chains = improving_chains(problem, colours, centroids, free=False)
        if chains.n_moves:
            chosen = independent_set.solve(chains.gain, *conflicts(problem, chains), self.mwis, rng)
            colours = chains.apply(colours, chosen)
        return _core.assign_free(problem.core, colours, centroids)


def _centroids(problem: Problem, colours: Colours) -> Centroids:
    """Means of the clusters; each empty one is put on another of the supernodes that cost most.

    The paper does not say where the centroid of an empty cluster is. There, the next step fills
    it with a gain.
    """
    centroids, _ = problem.means(colours)
    empty = np.flatnonzero(np.bincount(colours, minlength=problem.n_clusters) == 0)
    if empty.size:
        own = _core.own_costs(problem.core, colours, centroids)
        costly = np.argsort(-own, kind="stable")[: empty.size]
        centroids[empty[: costly.size]] = problem.points(costly)
    return centroids
