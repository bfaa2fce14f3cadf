"""The clusters of a session: searched once, then mended or spread by what answers say."""

from __future__ import annotations

import threading
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from kempe.ask.answers import AnswerBook
from kempe.ask.knowledge import Knowledge
from kempe.ask.mending import mended_labels
from kempe.ask.spread import AnswerSpread
from kempe.constraints import Constraints
from kempe.engine import KempeKMeans

Model = Literal["auto", "plain", "spread"]

# The first search is short where every mutation takes long: rows x features x clusters.
LONG_SEARCH = 5_000_000
SHORT_SEARCH = 20

# Spread labels are taken unless plain ones predict known rows better by more than this.
SLACK = 0.05


class SessionClusters:
    """Clusters that follow from a search at the beginning and from the answers since.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features).
    n_clusters
        Number of clusters.
    seed
        Seed of all randomness.
    model
        Where clusters come from, as in ``Session``.
    """

    def __init__(self, X: NDArray[np.float64], n_clusters: int, seed: int, model: Model) -> None:
        self._X, self._n_clusters, self._seed, self._model = X, n_clusters, seed, model
        self._base: NDArray[np.int32] | None = None
        self._labels: NDArray[np.int32] | None = None
        self._plain: NDArray[np.int32] | None = None
        self._spread: AnswerSpread | None = None
        self._preparing: threading.Thread | None = None
        self._chosen = "plain"

    def searched(
        self, labels: NDArray[np.int32] | None, constraints: Constraints
    ) -> NDArray[np.int32]:
        """Search for a clustering to go on from."""
        long = self._X.size * self._n_clusters > LONG_SEARCH
        model = KempeKMeans(
            self._n_clusters, max_mutations=SHORT_SEARCH if long else None, random_state=self._seed
        )
        found: NDArray[np.int32] = _whole(
            model.fit(self._X, constraints=constraints, init=labels)
        ).labels_
        return found

    def go_on_from(self, base: NDArray[np.int32]) -> None:
        """Mend all later clusters from these."""
        self._base = base
        self.forget()

    def forget(self) -> None:
        """Answers have changed, so that the clusters do not follow from them any more."""
        self._labels = self._plain = None

    def labels(self, book: AnswerBook) -> NDArray[np.int32]:
        """Cluster of each row."""
        if self._labels is None:
            self._labels = self._choose(book)
        return self._labels

    def chosen(self, book: AnswerBook) -> str:
        """Where the clusters come from at present."""
        _ = self.labels(book)
        return self._chosen

    def _choose(self, book: AnswerBook) -> NDArray[np.int32]:
        constraints = book.constraints()
        plain = self.plain(constraints)
        self._chosen = "plain"
        known = book.believed
        if self._model == "plain" or len(known.classes) < 2:
            return plain
        votes = self.spread().votes(known, plain)
        if votes is None:
            return plain
        if self._model == "auto" and votes.accuracy < self._plain_accuracy(plain, known) - SLACK:
            return plain
        self._chosen = "spread"
        labels = self.spread().labels(votes, known, book.confidences())
        found = mended_labels(self._X, constraints, labels, self._n_clusters, self._seed)
        assert self._base is not None
        return _numbered_like(found, self._base, self._n_clusters)

    def plain(self, constraints: Constraints) -> NDArray[np.int32]:
        """Clusters by constrained k-means alone."""
        if self._plain is None:
            model = KempeKMeans(self._n_clusters, max_mutations=0, random_state=self._seed)
            _whole(model.fit(self._X, constraints=constraints, init=self._base))
            self._plain, self._centres = model.labels_, model.cluster_centers_
        return self._plain

    def _plain_accuracy(self, plain: NDArray[np.int32], known: Knowledge) -> float:
        """Share of known rows that are nearest to the centre of the cluster of their class."""
        rows, classes = known.labelled()
        shared = np.zeros((len(known.classes), self._n_clusters), dtype=np.int64)
        np.add.at(shared, (classes, plain[rows]), 1)
        away = cdist(self._X[rows], self._centres, "sqeuclidean")
        return float((away.argmin(axis=1) == shared.argmax(axis=1)[classes]).mean())

    def prepare(self) -> None:
        """Make ready in a thread what spreads answers."""
        if self._model == "plain" or self._spread is not None or self._preparing is not None:
            return
        self._preparing = threading.Thread(target=self._make_spread, daemon=True)
        self._preparing.start()

    def _make_spread(self) -> None:
        rng = np.random.default_rng([self._seed, 1])
        self._spread = AnswerSpread(self._X, self._n_clusters, rng)

    def spread(self) -> AnswerSpread:
        """Give what spreads answers to rows that nobody was asked about."""
        if self._preparing is not None:
            self._preparing.join()
            self._preparing = None
        if self._spread is None:
            self._make_spread()
        assert self._spread is not None
        return self._spread


def _whole(model: KempeKMeans) -> KempeKMeans:
    """Refuse a fit that Ctrl-C has cut short: a log that is opened again would find another one."""
    if model.result_.stop_reason == "interrupted":
        raise KeyboardInterrupt
    return model


def _numbered_like(
    labels: NDArray[np.int32], others: NDArray[np.int32], k: int
) -> NDArray[np.int32]:
    """Give clusters the numbers of those that they share most rows with."""
    shared = np.bincount(labels * np.int64(k) + others, minlength=k * k).reshape(k, k)
    _, number = linear_sum_assignment(-shared)
    return np.asarray(number[labels], dtype=np.int32)
