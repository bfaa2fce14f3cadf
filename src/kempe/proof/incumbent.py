"""The best clustering known while a proof grows, and how the relaxation helps to find better."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.constraints import Constraints
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.proof.facts import Facts
from kempe.proof.relaxation import Data, Floats, Relaxation, Singles

# What a clustering must be better by to count: less is rounding.
LEAST_GAIN = 1e-9


class Incumbent:
    """The best labels so far.

    Parameters
    ----------
    X
        The user's data.
    data
        The same, centred, with weights.
    constraints, n_clusters
        What the labels obey.
    labels
        The first ones.
    rng
        Randomness of searches.
    """

    def __init__(
        self,
        data: Data,
        constraints: Constraints,
        n_clusters: int,
        labels: NDArray[np.int32],
        rng: np.random.Generator,
    ) -> None:
        self.data = data
        self.n_clusters = n_clusters
        self.labels = labels
        self.inertia = data.inertia(labels)
        self._constraints = constraints
        self._rng = rng

    def round(self, relaxation: Relaxation, Y: Singles) -> None:
        """Descend from the centroids that a matrix of the relaxation suggests."""
        from sklearn.cluster import KMeans

        weight = relaxation.weight
        points = (Y @ relaxation.factor) / np.sqrt(weight)[:, None]
        if np.unique(points, axis=0).shape[0] < self.n_clusters:
            return
        model = KMeans(self.n_clusters, n_init=1, random_state=self._seed())
        centroids = model.fit(points, sample_weight=weight).cluster_centers_
        self._descend(self._constraints, init=centroids, max_mutations=0)

    def search(self, facts: Facts) -> None:
        """Search among the clusterings that agree with what is known."""
        rows = facts.first_row
        together = np.column_stack([rows[facts.group], np.arange(facts.group.size)])
        apart = rows[np.argwhere(np.triu(facts.cannot))]
        self._descend(Constraints(together[together[:, 0] != together[:, 1]], apart))

    def _descend(self, constraints: Constraints, **settings: Any) -> None:
        from kempe.memetic import KempeKMeans

        model = KempeKMeans(self.n_clusters, random_state=self._seed(), **settings)
        try:
            model.fit(self.data.rows, constraints=constraints, sample_weight=self.data.weight)
        except (NoSolutionFoundError, InfeasibleConstraintsError):
            return
        self.offer(model.labels_)

    def offer(self, labels: NDArray[np.int32]) -> bool:
        """Take labels if they are better; whether they were."""
        inertia = self.data.inertia(labels)
        if inertia >= self.inertia * (1 - LEAST_GAIN):
            return False
        self.labels, self.inertia = labels, inertia
        return True

    def _seed(self) -> int:
        return int(self._rng.integers(2**31 - 1))
