"""Mutations of centroids, by which a search leaves a local optimum.

``perturb`` moves centroids a little, by as much as the data leaves them uncertain; ``Relocator``
moves one or all of them far. Both return centroids only: an assignment method then settles on them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.relaxation import denoised_points

RelocationKind: TypeAlias = Literal["kmeans", "sdp", "reposition", "replace"]
RELOCATIONS: tuple[str, ...] = get_args(RelocationKind)

# Unconstrained solutions serve as rough targets, so a sample of the supernodes is enough.
KMEANS_SAMPLE = 20_000


@dataclass(frozen=True)
class Relocation:
    """How centroids are relocated.

    Parameters
    ----------
    kind
        Where the target centroids come from. ``"replace"``: a random centroid is taken away and
        put on a supernode drawn with probability proportional to its present cost. The paper says
        random and no more; few clusters are superfluous, so the cheaper the removal of a centroid,
        the likelier it is taken, see ``removal_chances``.
        ``"reposition"``: the cluster of lowest inertia gives its centroid to the one of highest
        inertia, which is split. ``"kmeans"``: a fresh unconstrained k-means solution. ``"sdp"``: a
        semidefinite relaxation, see ``kempe.relaxation``.
    alpha
        Step from the present centroids (0) to the targets (1).
    """

    kind: RelocationKind = "replace"
    alpha: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in RELOCATIONS:
            raise ValueError(f"kind must be one of {RELOCATIONS}, got {self.kind!r}")
        if not 0 < self.alpha <= 1:
            raise ValueError(f"alpha must lie in (0, 1], got {self.alpha}")


def perturb(problem: Problem, colours: Colours, rng: np.random.Generator) -> Centroids:
    """Draw each centroid from a multivariate t about its cluster mean (Algorithm 3 of the paper).

    A cluster of size ``s`` has ``s - 1`` degrees of freedom and the scale ``covariance / s``. No
    covariance matrix is formed: a random combination of the centred rows has exactly the wanted
    distribution, in any dimension. Clusters of one row stay put.

    Sizes count rows. With sample weights the size is the effective one, ``sum(w)^2 / sum(w^2)``,
    which equals the number of rows for equal weights and does not change when all weights are
    scaled; degrees of freedom are then at least 1.
    """
    centroids, _ = problem.means(colours)
    labels = problem.labels(colours)
    total, size = _weights_and_sizes(problem, labels)
    moving = size > 1 + 1e-9
    steps = _random_combination(problem, labels, centroids, rng)
    freedom = np.where(moving, np.maximum(size - 1, 1), 1)
    # The combination has covariance total * (s - 1) / s * covariance.
    with np.errstate(divide="ignore", invalid="ignore"):
        normal = np.sqrt(1 / (total * (size - 1)))
        factor = normal * np.sqrt(freedom / rng.chisquare(freedom))
    return centroids + np.where(moving, factor, 0)[:, None] * steps


@dataclass(frozen=True, eq=False)
class Relocator:
    """Relocates centroids of one problem (first half of Algorithm 4 of the paper).

    An object because the semidefinite relaxation is solved once and rounded anew every time.
    """

    problem: Problem
    params: Relocation

    def __call__(self, colours: Colours, rng: np.random.Generator) -> Centroids:
        """Move centroids towards targets, by the step ``alpha``."""
        centroids, weight = self.problem.means(colours)
        targets = self._targets(colours, centroids, weight, rng)
        return (1 - self.params.alpha) * centroids + self.params.alpha * targets

    def _targets(
        self,
        colours: Colours,
        centroids: Centroids,
        weight: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> Centroids:
        problem, kind = self.problem, self.params.kind
        if kind == "replace":
            return _replace_targets(problem, colours, centroids, weight, rng)
        if kind == "reposition":
            return _reposition_targets(problem, colours, centroids, rng)
        # All centroids are new here; the other kinds change one or two of the present ones.
        points = self._denoised if kind == "sdp" else _sampled_points(problem, rng)
        fresh = kmeans(*points, problem.n_clusters, rng, fallback=centroids)
        return match(centroids, weight, fresh)

    @cached_property
    def _denoised(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return denoised_points(self.problem)


def match(centroids: Centroids, weight: NDArray[np.float64], targets: Centroids) -> Centroids:
    """Order the targets so that moving every cluster to its target costs least.

    Up to a constant for each cluster, the cost of all its supernodes about a target is the
    cluster's weight times the squared distance of its mean to the target.
    """
    cost = weight[:, None] * cdist(centroids, targets, "sqeuclidean")
    _, column = linear_sum_assignment(cost)
    return targets[column]


def _weights_and_sizes(
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


def _random_combination(
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


def _reposition_targets(
    problem: Problem, colours: Colours, centroids: Centroids, rng: np.random.Generator
) -> Centroids:
    """Split the cluster of highest inertia, at the expense of the one of lowest.

    Putting one centroid exactly onto the other (as PCCC does before it solves the assignment anew)
    is a tie that improving swaps never break. The two stand apart instead, one standard deviation
    of the cluster to either side of its mean, in a random direction of its scatter.
    """
    labels = problem.labels(colours)
    inertia = np.bincount(
        colours, _core.own_costs(problem.core, colours, centroids), minlength=problem.n_clusters
    )
    low, high = int(np.argmin(inertia)), int(np.argmax(inertia))
    total, _ = _weights_and_sizes(problem, labels)
    step = _random_combination(problem, labels, centroids, rng)[high]
    step /= np.sqrt(max(total[high], np.finfo(float).tiny))
    targets = centroids.copy()
    targets[low] = centroids[high] + step
    targets[high] = centroids[high] - step
    return targets


def removal_chances(centroids: Centroids, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of each centroid to be taken away: the cheaper its removal, the likelier.

    It is inversely proportional to what merging its cluster with the most suitable other one adds
    to the inertia, which for weights ``a`` and ``b`` is ``a b / (a + b)`` times the squared
    distance of the means. Where that is nothing (empty clusters, coinciding centroids), those
    clusters share all the probability.
    """
    if (weight > 0).all() and weight.size > 1:
        distance = cdist(centroids, centroids, "sqeuclidean")
        np.fill_diagonal(distance, np.inf)
        mass = np.outer(weight, weight) / np.add.outer(weight, weight)
        cost = (mass * distance).min(axis=1)
    else:
        cost = weight
    free = cost <= 0
    chance = free.astype(np.float64) if free.any() else 1 / cost
    return np.asarray(chance / chance.sum())


def _replace_targets(
    problem: Problem,
    colours: Colours,
    centroids: Centroids,
    weight: NDArray[np.float64],
    rng: np.random.Generator,
) -> Centroids:
    """Put a random centroid on a supernode drawn in proportion to its present cost."""
    cost = _core.own_costs(problem.core, colours, centroids)
    cumulative = np.cumsum(cost)
    if not cumulative[-1] > 0:  # every supernode is its own centroid
        return centroids
    removed = int(rng.choice(problem.n_clusters, p=removal_chances(centroids, weight)))
    drawn = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    targets = centroids.copy()
    targets[removed] = problem.points(np.array([min(drawn, cost.size - 1)]))
    return targets


def _sampled_points(
    problem: Problem, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and weights of the supernodes, or of a sample of them."""
    vertices = np.arange(problem.n_supernodes)
    if vertices.size > KMEANS_SAMPLE:
        vertices = np.sort(rng.choice(vertices, KMEANS_SAMPLE, replace=False))
    return problem.points(vertices), problem.weight[vertices]


def kmeans(
    points: NDArray[np.float64],
    weight: NDArray[np.float64],
    k: int,
    rng: np.random.Generator,
    fallback: Centroids,
) -> Centroids:
    """Centroids of one weighted k-means run, or ``fallback`` if there are fewer points than k."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    if np.count_nonzero(weight > 0) < k:
        return fallback
    model = KMeans(k, n_init=1, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        # Fewer distinct points than clusters: some targets coincide, which does no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(points, sample_weight=weight)
    return np.asarray(model.cluster_centers_, dtype=np.float64)
