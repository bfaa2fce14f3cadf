"""Where a search starts: k centroids, drawn or given."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.problem import Centroids, Problem

Init: TypeAlias = Literal["k-means++", "random"] | NDArray[np.floating]

# k-means++ looks at every candidate for every centroid; beyond this many multiplications it
# draws its candidates from a random part of the supernodes.
SEEDING_BUDGET = 2_000_000_000


def starting_centroids(problem: Problem, init: Init, rng: np.random.Generator) -> Centroids:
    """Give k centroids in the problem's coordinates.

    Parameters
    ----------
    init
        ``"k-means++"``, ``"random"`` (supernodes at random) or an array of shape
        (n_clusters, n_features) in the coordinates of the user's data.
    """
    if isinstance(init, str):
        choose = _plus_plus if init == "k-means++" else _random_supernodes
        return problem.points(choose(problem, rng))
    centroids = np.asarray(init, dtype=np.float64)
    wanted = (problem.n_clusters, problem.n_features)
    if centroids.shape != wanted:
        raise ValueError(f"init must have shape {wanted}, got {centroids.shape}")
    if not np.isfinite(centroids).all():
        raise ValueError("init contains NaN or infinity")
    return np.ascontiguousarray(centroids - problem.shift)


def _plus_plus(problem: Problem, rng: np.random.Generator) -> NDArray[np.int32]:
    k = problem.n_clusters
    trials = 2 + int(np.log(k))
    affordable = SEEDING_BUDGET // (k * trials * max(1, problem.n_features))
    candidates = problem.everyone
    size = max(affordable, 4 * k)
    if size < candidates.size:
        candidates = np.sort(rng.choice(candidates, size=size, replace=False))
    return _core.kmeans_plus_plus(problem.core, candidates, k, int(rng.integers(2**63)))


def _random_supernodes(problem: Problem, rng: np.random.Generator) -> NDArray[np.int32]:
    return rng.choice(problem.n_supernodes, size=problem.n_clusters, replace=False).astype(np.int32)
