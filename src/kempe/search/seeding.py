"""Where a search starts: k centroids, drawn or given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe import _core
from kempe.problem import Centroids, Problem

Draw: TypeAlias = Callable[[NDArray[Any], int, np.random.RandomState], ArrayLike]
Way: TypeAlias = Literal["k-means++", "random"] | Draw
Init: TypeAlias = Way | NDArray[np.floating] | NDArray[np.integer]

# k-means++ looks at every candidate for every centroid; beyond this many multiplications it
# draws its candidates from a random part of the supernodes, with so many for each cluster at least.
SEEDED_PER_CLUSTER = 64
SEEDING_BUDGET = 30_000_000

# Centroids are refined on samples of these shares of the supernodes, one after the other, each
# with at least so many supernodes per cluster, until a step lowers the cost by less than a share.
SAMPLES = (1 / 64, 1 / 16, 1 / 4)
SAMPLED_PER_CLUSTER = 128
REFINED = 1e-6


def starting_centroids(
    problem: Problem, init: Init, rng: np.random.Generator, stopper: _core.Stopper | None = None
) -> Centroids:
    """Give k centroids in the problem's coordinates.

    Parameters
    ----------
    init
        ``"k-means++"``, ``"random"`` (supernodes at random), an array of shape
        (n_clusters, n_features) in the coordinates of the user's data, or a function that gives
        such an array for these data, the number of clusters and a source of randomness.
    stopper
        Ends k-means++, which may take long where clusters are many; supernodes that it had no time
        to choose are any.
    """
    if isinstance(init, str):
        if init == "k-means++":
            return problem.points(_plus_plus(problem, rng, stopper))
        return problem.points(_random_supernodes(problem, rng))
    if callable(init):
        chance = np.random.RandomState(int(rng.integers(2**32)))
        rows = (problem.rows + problem.shift).astype(problem.rows.dtype, copy=False)
        init = np.asarray(init(rows, problem.n_clusters, chance))
    wanted = (problem.n_clusters, problem.n_features)
    return np.ascontiguousarray(checked_centroids(init, wanted) - problem.shift)


def is_drawn(init: Init) -> TypeGuard[Way]:
    """Whether a start is drawn, in a way that is named or a function, and not given once."""
    return isinstance(init, str) or callable(init)


def checked_centroids(init: ArrayLike, wanted: tuple[int, int]) -> Centroids:
    """Refuse centroids of another shape than wanted, or that are no numbers."""
    centroids = np.asarray(init, dtype=np.float64)
    if centroids.shape != wanted:
        raise ValueError(f"init must have shape {wanted}, got {centroids.shape}")
    if not np.isfinite(centroids).all():
        raise ValueError("init contains NaN or infinity")
    return centroids


def refined_centroids(
    problem: Problem, centroids: Centroids, rng: np.random.Generator, stopper: _core.Stopper
) -> Centroids:
    """Let centroids follow samples of the supernodes, whatever the constraints.

    On large data most of the way to a local optimum is cheaper on a small part of it.
    """
    size = problem.n_supernodes
    for share in SAMPLES:
        wanted = max(int(share * size), SAMPLED_PER_CLUSTER * problem.n_clusters)
        if 3 * wanted > size:
            break
        sample = _drawn(size, wanted, rng)
        centroids = _core.refine_centroids(problem.core, sample, centroids, REFINED, stopper)
    return centroids


def _plus_plus(
    problem: Problem, rng: np.random.Generator, stopper: _core.Stopper | None
) -> NDArray[np.int32]:
    k = problem.n_clusters
    trials = 2 + int(math.log(k))
    affordable = SEEDING_BUDGET // (k * trials * max(1, problem.n_features))
    size = max(affordable, SEEDED_PER_CLUSTER * k)
    too_many = size < problem.n_supernodes
    candidates = _drawn(problem.n_supernodes, size, rng) if too_many else problem.everyone
    return _core.kmeans_plus_plus(problem.core, candidates, k, int(rng.integers(2**63)), stopper)


def _drawn(size: int, wanted: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw different supernodes, in ascending order: marking them is quicker than sorting them."""
    chosen = np.zeros(size, dtype=np.bool_)
    chosen[rng.choice(size, size=wanted, replace=False)] = True
    return np.flatnonzero(chosen).astype(np.int32)


def _random_supernodes(problem: Problem, rng: np.random.Generator) -> NDArray[np.int32]:
    return rng.choice(problem.n_supernodes, size=problem.n_clusters, replace=False).astype(np.int32)
