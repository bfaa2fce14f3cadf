"""The descent that every rival shares: assign, move the centroids to the means, repeat.

An ``Assignment`` decides how supernodes find their clusters, a ``Settled`` rule when to stop.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kempe import _core
from kempe.exceptions import NoSolutionFoundError
from kempe.problem import Centroids, Colours, Problem
from kempe.search.result import Solution


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


@dataclass(frozen=True)
class Step:
    """One iteration: a colouring, the means of its clusters, its inertia and what is minimised.

    An empty cluster keeps the centroid it had.
    """

    colours: Colours
    centroids: Centroids
    inertia: float
    objective: float

    @property
    def solution(self) -> Solution:
        """The colouring in the form that a recorder takes."""
        return Solution(self.colours, self.inertia)


Objective = Callable[[Colours, Centroids, Centroids], float]
"""What a method minimises, of a colouring, the centroids it was made for, and its means."""

Settled = Callable[[Step, Step], bool]
"""Whether a descent ends, given the last step and the new one."""


def standing_still(last: Step, new: Step) -> bool:
    """Whether the centroids, that is the clusters, did not change."""
    return np.array_equal(last.colours, new.colours)


def not_improved(last: Step, new: Step) -> bool:
    """Whether the objective did not fall; differences in the last digits are no fall."""
    return new.objective >= last.objective * (1 - 1e-12)


def alternate(
    problem: Problem,
    assign: Assignment,
    centroids: Centroids,
    stopper: _core.Stopper,
    *,
    previous: Colours | None = None,
    objective: Objective | None = None,
) -> Iterator[Step]:
    """Assign and update for ever.

    Parameters
    ----------
    centroids
        Where to start.
    previous
        Warm start of the first assignment.
    objective
        What the method minimises, by default the inertia.
    """
    while True:
        previous = assign(problem, centroids, previous, stopper)
        means, weight = problem.means(previous)
        means = np.where(weight[:, None] > 0, means, centroids)
        inertia = problem.inertia(previous, means)
        value = inertia if objective is None else objective(previous, centroids, means)
        yield Step(previous, means, inertia, value)
        centroids = means


def descend(
    steps: Iterator[Step],
    settled: Settled,
    max_iter: int = sys.maxsize,
    watch: Callable[[Step], bool] = lambda step: False,
) -> tuple[Step, str]:
    """Follow an alternation until it settles; give its best step and what ended it.

    Parameters
    ----------
    steps
        From ``alternate``.
    watch
        Sees every step and says whether to stop there.

    Raises
    ------
    NoSolutionFoundError
        From the assignment, with the iteration in which it failed.
    """
    best: Step | None = None
    last: Step | None = None
    for iteration in range(1, max_iter + 1):
        new = _next(steps, iteration)
        best = new if best is None or new.objective < best.objective else best
        stop = watch(new)
        if last is not None and settled(last, new):
            return best, "converged"
        if stop:
            return best, "stopped"
        last = new
    assert best is not None
    return best, "max_iter"


def _next(steps: Iterator[Step], iteration: int) -> Step:
    try:
        return next(steps)
    except NoSolutionFoundError as failure:
        raise NoSolutionFoundError(f"in iteration {iteration}, {failure}") from None
