"""Estimators that the experiment runner can start besides the registered methods."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import NDArray
from sklearn.cluster import KMeans

from kempe import Constraints, KempeKMeans


class UnconstrainedKMeans(KMeans):
    """scikit-learn's k-means, once, from the given centroids; ignores every constraint."""

    def __init__(
        self, n_clusters: int, init: NDArray[Any], time_limit: float, random_state: int
    ) -> None:
        super().__init__(n_clusters, init=init, n_init=1, random_state=random_state)
        self.time_limit = time_limit  # the runner gives one to everybody; k-means has no use for it

    def fit(self, X: NDArray[Any], *, constraints: Constraints) -> Self:
        """Cluster the rows as if there were no constraints."""
        return super().fit(X)


def kempe_from_scratch(n_clusters: int, init: NDArray[Any], **options: Any) -> KempeKMeans:
    """Make the default estimator with its own start, so that seeding counts into its time."""
    return KempeKMeans(n_clusters, n_jobs=1, **options)
