"""The first clustering of a search (Algorithm 5 of the paper as a whole)."""

from __future__ import annotations

import numpy as np

from kempe import _core
from kempe.assign import Descent
from kempe.feasibility import find_colouring
from kempe.init import Init, initial_colouring, starting_centroids
from kempe.mutate import match
from kempe.problem import Colours, Problem

# Another round of saturation-ordered assignment must have lowered the inertia by this share.
WORTHWHILE = 1e-3


def starting_solution(
    problem: Problem,
    init: Init,
    descent: Descent,
    rng: np.random.Generator,
    stopper: _core.Stopper,
    *,
    exhaustive: bool = False,
    known: Colours | None = None,
    rounds: int = 0,
) -> Colours:
    """Find a proper colouring and settle it on the starting centroids.

    The centroids are matched to the clusters first: where the assignment had to fall back to a
    colouring that ignores them, cluster numbers mean nothing.

    Parameters
    ----------
    exhaustive
        Whether to go on by tabu search and exact methods if saturation order finds no colouring.
    known
        A colouring to take then, instead of a search for another.
    rounds
        If positive, the saturation-ordered assignment is repeated about the means up to so many
        times, as long as it lowers the inertia, instead of settling on the first centroids. Each
        round colours anew, so it is not bound to the Kempe class of the first colouring; where
        constraints are dense this starts far lower.

    Raises
    ------
    InfeasibleConstraintsError
        If there is none.
    NoSolutionFoundError
        If none was found, in time or without ``exhaustive``.
    """
    centroids = starting_centroids(problem, init, rng)
    if exhaustive:
        colours = find_colouring(problem, rng, stopper, centroids, known)
    else:
        colours = initial_colouring(problem, centroids)
    if rounds:
        return _alternated(problem, colours, rounds, stopper)
    matched = match(*problem.means(colours), centroids)
    return descent.settle(problem, colours, matched, rng, stopper)


def _alternated(problem: Problem, colours: Colours, rounds: int, stopper: _core.Stopper) -> Colours:
    centroids, _ = problem.means(colours)
    inertia = problem.inertia(colours, centroids)
    for _ in range(rounds):
        if stopper.look():
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
