"""Ways to assign supernodes to clusters, and to improve an assignment.

An ``Assignment`` gives every supernode a cluster for fixed centroids. A ``Descent`` is what a
search needs from an assignment method: it takes a proper colouring and returns one that is no
worse.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from kempe import _core
from kempe.problem import Centroids, Colours, Problem


class Assignment(Protocol):
    """A way to give every supernode a cluster for fixed centroids."""

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes.

        Parameters
        ----------
        previous
            The colouring of the iteration before, if any: a warm start.
        stopper
            When it says stop, a slow assignment returns what it has, at worst ``previous``.

        Raises
        ------
        NoSolutionFoundError
            If there is nothing to return.
        """


class Descent(Protocol):
    """An assignment method together with its alternation of assignment and centroid update."""

    def settle(
        self,
        problem: Problem,
        colours: Colours,
        centroids: Centroids,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> Colours:
        """Improve the assignment to fixed centroids until nothing improves it any more."""

    def descend(
        self,
        problem: Problem,
        colours: Colours,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> Colours:
        """Alternate assignment and centroid update down to a local optimum of the inertia."""


@runtime_checkable
class SteppingDescent(Descent, Protocol):
    """A descent that can also be asked for a single assignment (Algorithm 2 of the paper)."""

    def step(
        self, problem: Problem, colours: Colours, centroids: Centroids, rng: np.random.Generator
    ) -> Colours:
        """Improve the assignment to fixed centroids once."""
