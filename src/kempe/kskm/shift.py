"""KSShift, Algorithm 4 of the paper: move centroids far, towards targets.

The targets come in several kinds. They are matched to the clusters, centroids step towards them,
and the assignment settles there.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from kempe.kskm.perturb import random_combination, weights_and_sizes
from kempe.kskm.sdp import denoised_points
from kempe.problem import Centroids, Colours, Problem
from kempe.search.empty import means_or_points
from kempe.search.matching import match
from kempe.search.relocation import relocated_centroids

RelocationKind: TypeAlias = Literal["kmeans", "sdp", "reposition", "coincide", "replace"]
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
        the likelier it is taken, see ``kempe.search.relocation``.
        ``"reposition"``: the cluster of lowest inertia gives its centroid to the one of highest
        inertia, which is split. ``"coincide"``: the same as in PCCC and in the authors' program,
        where both centroids are then in one place; if the cluster of lowest inertia dissolves, its
        centroid goes on to a random supernode. ``"kmeans"``: a fresh unconstrained k-means
        solution. ``"sdp"``: a semidefinite relaxation, see ``kempe.kskm.sdp``.
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


@dataclass(frozen=True, eq=False)
class Relocator:
    """Relocates centroids of one problem (first half of Algorithm 4).

    An object because the semidefinite relaxation is solved once and rounded anew every time.

    Attributes
    ----------
    params
        How to relocate.
    """

    problem: Problem
    params: Relocation

    def __call__(self, colours: Colours, rng: np.random.Generator) -> Centroids:
        """Move centroids towards targets, by the step ``alpha``."""
        centroids, weight = self.problem.means(colours)
        targets = self._targets(colours, centroids, weight, rng)
        return (1 - self.params.alpha) * centroids + self.params.alpha * targets

    def revived(self, colours: Colours, rng: np.random.Generator) -> Centroids | None:
        """Means of what settled, with random supernodes for the clusters that dissolved.

        Only where centroids coincide, and only if a cluster is empty; ``None`` otherwise.
        """
        if self.params.kind != "coincide":
            return None
        _, weight = self.problem.means(colours)
        return None if weight.all() else means_or_points(self.problem, colours, rng)

    def _targets(
        self,
        colours: Colours,
        centroids: Centroids,
        weight: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> Centroids:
        problem, kind = self.problem, self.params.kind
        if kind == "replace":
            return relocated_centroids(problem, colours, rng)
        if kind == "coincide":
            return _coinciding_targets(problem, colours, centroids)
        if kind == "reposition":
            return _reposition_targets(problem, colours, centroids, rng)
        # All centroids are new here; the other kinds change one or two of the present ones.
        points = self._denoised if kind == "sdp" else _sampled_points(problem, rng)
        fresh = kmeans(*points, problem.n_clusters, rng, fallback=centroids)
        return match(centroids, weight, fresh)

    @cached_property
    def _denoised(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return denoised_points(self.problem)


def _reposition_targets(
    problem: Problem, colours: Colours, centroids: Centroids, rng: np.random.Generator
) -> Centroids:
    """Split the cluster of highest inertia, at the expense of the one of lowest.

    Putting one centroid exactly onto the other (as PCCC does before it solves the assignment anew)
    is a tie that improving swaps never break. The two stand apart instead, one standard deviation
    of the cluster to either side of its mean, in a random direction of its scatter.
    """
    labels = problem.labels(colours)
    low, high = _lowest_and_highest(problem, colours, centroids)
    total, _ = weights_and_sizes(problem, labels)
    step = random_combination(problem, labels, centroids, rng)[high]
    step /= np.sqrt(max(total[high], np.finfo(float).tiny))
    targets = centroids.copy()
    targets[low] = centroids[high] + step
    targets[high] = centroids[high] - step
    return targets


def _coinciding_targets(problem: Problem, colours: Colours, centroids: Centroids) -> Centroids:
    """Put the centroid of the cluster of lowest inertia onto that of highest.

    Improving swaps never break the tie, but the cluster that lost its centroid may dissolve into
    its neighbours.
    """
    low, high = _lowest_and_highest(problem, colours, centroids)
    targets = centroids.copy()
    targets[low] = centroids[high]
    return targets


def _lowest_and_highest(
    problem: Problem, colours: Colours, centroids: Centroids
) -> tuple[int, int]:
    """Find the clusters of lowest and of highest inertia, that inside supernodes included."""
    own = problem.own_costs(colours, centroids) + problem.within_each
    inertia = np.bincount(colours, own, minlength=problem.n_clusters)
    return int(np.argmin(inertia)), int(np.argmax(inertia))


def _sampled_points(
    problem: Problem, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and weights of the supernodes, or of a sample of them."""
    vertices = problem.everyone
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
