"""Where the clusterings of the first generations come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kempe import _core
from kempe.kskm.dsatur import any_colouring, first_colouring, is_tight, starting_solution
from kempe.memetic.params import MemeticParams
from kempe.problem import Colours, Problem
from kempe.search.descent import Descent
from kempe.search.seeding import Init, starting_centroids

# Another round of saturation-ordered assignment must have lowered the inertia by this share.
WORTHWHILE = 1e-3


@dataclass(frozen=True)
class Starts:
    """Makes proper colourings, each from centroids of its own.

    Attributes
    ----------
    known
        A colouring to fall back on, where finding one may take long.
    """

    problem: Problem
    descent: Descent
    params: MemeticParams
    init: Init
    stopper: _core.Stopper
    known: Colours | None = None

    @classmethod
    def prepared(
        cls,
        problem: Problem,
        descent: Descent,
        params: MemeticParams,
        init: Init,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> Starts:
        """Look for a colouring once, for all starts, where the graph is tight."""
        known = None
        if params.exhaustive_start and is_tight(problem):
            known = any_colouring(problem, rng, stopper)
        return cls(problem, descent, params, init, stopper, known)

    def make(self, number: int, rng: np.random.Generator) -> Colours:
        """Make the start of this number; centroids that were given serve the first alone."""
        given = isinstance(self.init, str) or number == 0
        centroids = starting_centroids(self.problem, self.init if given else "k-means++", rng)
        exhaustive = self.params.exhaustive_start
        rounds = self.params.rounds(self.problem)
        if rounds and self.known is None:
            colours = first_colouring(
                self.problem, centroids, rng, self.stopper, exhaustive=exhaustive
            )
            return self._repeated(colours, rounds)
        return starting_solution(
            self.problem,
            centroids,
            self.descent,
            rng,
            self.stopper,
            exhaustive=exhaustive,
            known=self.known,
        )

    def _repeated(self, colours: Colours, rounds: int) -> Colours:
        """Repeat the saturation-ordered assignment about the means as long as that pays.

        Each round colours anew, so it is not bound to the Kempe class of the first colouring; where
        constraints are dense this starts far lower than settling on the first centroids.
        """
        problem = self.problem
        centroids, _ = problem.means(colours)
        inertia = problem.inertia(colours, centroids)
        for _ in range(rounds):
            if self.stopper.look():
                break
            again, stuck = _core.saturation_assignment(problem.core, centroids)
            if stuck >= 0:
                break
            centroids, _ = problem.means(again)
            lower = problem.inertia(again, centroids)
            if lower > inertia * (1 - WORTHWHILE):
                break
            colours, inertia = again, lower
        return colours
