"""Ways to improve an assignment of supernodes to clusters.

A ``Descent`` is what a search needs from an assignment method: it takes a proper colouring and
returns a proper colouring that is no worse.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from kempe import _core
from kempe.problem import Centroids, Colours, Problem


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
