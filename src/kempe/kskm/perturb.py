"""KSPerturb, Algorithm 3 of the paper: move centroids by as much as the data leaves uncertain.

Only centroids are returned: an assignment method then follows them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.problem import Centroids, Colours, Problem


def perturb(problem: Problem, colours: Colours, rng: np.random.Generator) -> Centroids:
    """Draw each centroid from a multivariate t about its cluster mean (Algorithm 3).

    A cluster of size ``s`` has ``s - 1`` degrees of freedom and the scale ``covariance / s``. No
    covariance matrix is formed: a random combination of the centred rows has exactly the wanted
    distribution, in any dimension. Clusters of one row stay put.

    Sizes count rows. With sample weights the size is the effective one, ``sum(w)^2 / sum(w^2)``,
    which equals the number of rows for equal weights and does not change when all weights are
    scaled; degrees of freedom are then at least 1.
    """
    centroids, _ = problem.means(colours)
    labels = problem.labels(colours)
    total, size = weights_and_sizes(problem, labels)
    moving = size > 1 + 1e-9
    steps = random_combination(problem, labels, centroids, rng)
    freedom = np.where(moving, np.maximum(size - 1, 1), 1)
    # The combination has covariance total * (s - 1) / s * covariance.
    with np.errstate(divide="ignore", invalid="ignore"):
        normal = np.sqrt(1 / (total * (size - 1)))
        factor = normal * np.sqrt(freedom / rng.chisquare(freedom))
    return centroids + np.where(moving, factor, 0)[:, None] * steps


def perturb_independently(
    problem: Problem, colours: Colours, rng: np.random.Generator
) -> Centroids:
    """Draw every coordinate from a normal distribution of its own, as the authors' program does.

    The variances are those of ``perturb``, without the covariances and the tails of a t.
    """
    centroids, _ = problem.means(colours)
    labels = problem.labels(colours)
    total, size = weights_and_sizes(problem, labels)
    moving = size > 1 + 1e-9
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = _scatter(problem, labels, centroids) / (total * (size - 1))[:, None]
    steps = rng.standard_normal(centroids.shape) * np.sqrt(np.where(moving[:, None], variance, 0))
    return np.asarray(centroids + steps)


def _scatter(
    problem: Problem, labels: NDArray[np.int32], centroids: Centroids
) -> NDArray[np.float64]:
    """Weighted sum of squared differences to the centroid, per cluster and feature."""
    weight = np.ones(problem.n_rows) if problem.row_weight is None else problem.row_weight
    squares = _core.sum_squares(problem.rows, labels, weight, problem.n_clusters)
    total = np.bincount(labels, weight, minlength=problem.n_clusters)
    return np.maximum(squares - total[:, None] * centroids**2, 0)


def weights_and_sizes(
    problem: Problem, labels: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Total weight and (effective) number of rows of each cluster."""
    k, weight = problem.n_clusters, problem.row_weight
    if weight is None:
        size = np.bincount(labels, minlength=k).astype(np.float64)
        return size, size
    total = np.bincount(labels, weight, minlength=k)
    squares = np.bincount(labels, weight**2, minlength=k)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(squares > 0, total**2 / squares, 0)
    return total.astype(np.float64), size.astype(np.float64)


def random_combination(
    problem: Problem,
    labels: NDArray[np.int32],
    centroids: Centroids,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """For each cluster a normal vector whose covariance is the weighted scatter matrix."""
    coefficients = rng.standard_normal(problem.n_rows)
    if problem.row_weight is not None:
        coefficients *= np.sqrt(problem.row_weight)
    return _core.combine_rows(problem.rows, labels, coefficients, centroids)
