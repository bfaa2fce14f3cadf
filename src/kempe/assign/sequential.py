"""Sequential Kempe assignment: one chain after the other, each swapped at once if it improves.

Descending judges a swap by the exact change of the inertia, with the centroids following (as
Hartigan and Wong do for k-means), which leaves optima in which fixed centroids get stuck.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np

from kempe import _core
from kempe.problem import Centroids, Colours, Problem


class Relocated(NamedTuple):
    """Outcome of a series of relocations."""

    colours: Colours
    tries: int
    failures: int
    """How many tries in a row failed to improve, up to the last."""


class SequentialDescent:
    """Descent by sequential Kempe swaps.

    Each thread that uses it gets working memory of its own, which it keeps for one problem.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def settle(
        self,
        problem: Problem,
        colours: Colours,
        centroids: Centroids,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> Colours:
        """Improve the assignment to fixed centroids until nothing improves it any more."""
        return self._search(problem).settle(colours, centroids, stopper)

    def descend(
        self,
        problem: Problem,
        colours: Colours,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> Colours:
        """Go down to a local optimum of the inertia."""
        return self._search(problem).descend(colours, stopper)

    def relocate(
        self,
        problem: Problem,
        colours: Colours,
        *,
        tries: int,
        patience: int,
        failures: int,
        target: float,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> Relocated:
        """Move single centroids onto costly supernodes, descend, keep what improves.

        The tries run in compiled code, which repeats only work that a relocation touches. See
        ``kempe.mutate.Relocation`` for how the centroid and the supernode are drawn.

        Parameters
        ----------
        tries
            Most relocations.
        patience, failures
            End after ``patience`` failures in a row, of which ``failures`` lie behind already.
        target
            End at this inertia.
        """
        outcome = self._search(problem).relocate(
            colours,
            tries,
            patience,
            failures,
            target - problem.within,
            int(rng.integers(2**63)),
            stopper,
        )
        return Relocated(*outcome)

    def _search(self, problem: Problem) -> _core.SequentialSearch:
        if getattr(self._local, "problem", None) is not problem:
            self._local.search = _core.SequentialSearch(problem.core, problem.n_clusters)
            self._local.problem = problem
        search: _core.SequentialSearch = self._local.search
        return search
