"""What a search asks of a descent: to settle, to descend, to improve within a budget.

A descent is a way of assigning supernodes together with its alternation of assignment and centroid
update. It takes a proper colouring and returns one that is no worse, so whatever a search makes of
it satisfies all constraints.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.search.relocation import relocated_centroids
from kempe.search.result import Solution


@dataclass(frozen=True, eq=False)
class Context:
    """What everything in a search needs: the problem, the randomness, and when to stop.

    Attributes
    ----------
    problem
        Supernodes and the graph between them.
    rng
        Source of all randomness.
    stopper
        Tells kernels when to end.
    """

    problem: Problem
    rng: np.random.Generator
    stopper: _core.Stopper


@dataclass(frozen=True)
class Budget:
    """How much a descent may try in order to improve one clustering.

    Attributes
    ----------
    tries
        Most relocations.
    most_failures
        The clustering counts as improved after so many failures in a row.
    target
        Objective that is low enough.
    """

    tries: int
    most_failures: int
    target: float = -math.inf


class Improvement(NamedTuple):
    """A clustering on the way of ``Descent.improve``, and the tries since the one before.

    Attributes
    ----------
    colours
        Cluster of each supernode.
    tries
        Relocations since the last one.
    """

    colours: Colours
    tries: int


class Descent(ABC):
    """A way down from a proper colouring to a local optimum."""

    @abstractmethod
    def settle(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Improve the assignment to fixed centroids until nothing improves it any more."""

    @abstractmethod
    def descend(self, context: Context, colours: Colours) -> Colours:
        """Alternate assignment and centroid update down to a local optimum of the inertia."""

    def step(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Improve the assignment to fixed centroids once; a method without steps settles."""
        return self.settle(context, colours, centroids)

    def improve(self, context: Context, colours: Colours, budget: Budget) -> Iterator[Improvement]:
        """Relocate single centroids of a local optimum, descend again, go on from what is better.

        Every clustering that was looked at is handed out, better or not.

        Parameters
        ----------
        budget
            How many relocations, and how many in vain.
        """
        problem = context.problem
        best = Solution.of(problem, colours)
        failures = 0
        for _ in range(budget.tries):
            enough = failures >= budget.most_failures or best.objective <= budget.target
            if enough or context.stopper.stopped:
                return
            centroids = relocated_centroids(problem, best.colours, context.rng)
            settled = self.settle(context, best.colours, centroids)
            tried = Solution.of(problem, self.descend(context, settled))
            failures = 0 if tried.objective < best.objective else failures + 1
            best = tried if tried.objective < best.objective else best
            yield Improvement(tried.colours, 1)

    def for_thread(self) -> Self:
        """Give a descent for one thread; the same one, unless it remembers what it tried.

        Results must not depend on which thread came first.
        """
        return self
