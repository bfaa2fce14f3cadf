"""The first clustering of a search (Algorithm 5 of the paper as a whole)."""

from __future__ import annotations

import numpy as np

from kempe import _core
from kempe.assign import Descent
from kempe.feasibility import find_colouring
from kempe.init import Init, initial_colouring, starting_centroids
from kempe.mutate import match
from kempe.problem import Colours, Problem


def starting_solution(
    problem: Problem,
    init: Init,
    descent: Descent,
    rng: np.random.Generator,
    stopper: _core.Stopper,
    *,
    exhaustive: bool = False,
) -> Colours:
    """Find a proper colouring and settle it on the starting centroids.

    The centroids are matched to the clusters first: where the assignment had to fall back to a
    colouring that ignores them, cluster numbers mean nothing.

    Parameters
    ----------
    exhaustive
        Whether to go on by tabu search and exact methods if saturation order finds no colouring.

    Raises
    ------
    InfeasibleConstraintsError
        If there is none, or if none was found and ``exhaustive`` is off.
    NoSolutionFoundError
        If none was found in time.
    """
    centroids = starting_centroids(problem, init, rng)
    if exhaustive:
        colours = find_colouring(problem, rng, stopper, centroids)
    else:
        colours = initial_colouring(problem, centroids)
    matched = match(*problem.means(colours), centroids)
    return descent.settle(problem, colours, matched, rng, stopper)
