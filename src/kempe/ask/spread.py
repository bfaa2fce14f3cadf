"""What answers say about rows that nobody was asked about.

Rows of a known class vote for it, each with its similarity to the row in question. Which similarity
counts is decided by the answers themselves: that which would have predicted each known row best
from the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe.ask.knowledge import Knowledge
from kempe.ask.similarity import Floats, Sites, similarities

# A row that was predicted wrongly with certainty counts as if it had this probability.
LEAST = 0.02


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes of known rows about all sites.

    Attributes
    ----------
    score
        Votes for each site and class; classes without a known row come last.
    similarity
        The name of what was chosen.
    accuracy
        Share of the known rows that the others predict.
    """

    score: Floats
    similarity: str
    accuracy: float

    @property
    def share(self) -> Floats:
        """Share of the votes that each class has."""
        shares: Floats = self.score / self.score.sum(axis=1, keepdims=True)
        return shares


class AnswerSpread:
    """Spreads what is known of some rows to all.

    Parameters
    ----------
    X
        All rows.
    n_clusters
        Number of clusters.
    rng
        Source of randomness.
    """

    def __init__(self, X: Floats, n_clusters: int, rng: np.random.Generator) -> None:
        self.sites = Sites.of(X, rng)
        self.n_clusters = n_clusters
        self.similarities = similarities(self.sites, n_clusters, rng)
        self.density = {
            name: np.asarray(matrix @ self.sites.size / (matrix @ self.sites.size).mean())
            for name, matrix in self.similarities.items()
        }

    def votes(self, known: Knowledge, plain: NDArray[np.int32]) -> Votes | None:
        """Let the known rows vote; nothing if there are fewer than two classes.

        Parameters
        ----------
        known
            What follows from the answers.
        plain
            Clusters of all rows, which stand for classes that nobody has met yet.
        """
        rows, classes = known.labelled()
        if len(known.classes) < 2:
            return None
        sites = self.sites.of_row[rows]
        name, accuracy = self._best(sites, classes, len(known.classes))
        strangers = self._strangers(rows, plain, self.n_clusters - len(known.classes))
        voters = np.concatenate([sites, self.sites.of_row[strangers]])
        own = np.concatenate([classes, len(known.classes) + np.arange(len(strangers))])
        return Votes(self._score(name, voters, own), name, accuracy)

    def _score(self, name: str, voters: NDArray[np.int64], classes: NDArray[np.int64]) -> Floats:
        member = np.zeros((len(self.sites.points), int(classes.max()) + 1))
        np.add.at(member, (voters, classes), 1.0)
        used = np.flatnonzero(member.any(axis=1))
        score: Floats = self.similarities[name][:, used] @ member[used]
        return np.maximum(score, 1e-300)

    def _best(
        self, sites: NDArray[np.int64], classes: NDArray[np.int64], count: int
    ) -> tuple[str, float]:
        """Choose the similarity by which the known rows predict each other best."""
        member = np.zeros((len(sites), count))
        member[np.arange(len(sites)), classes] = 1.0
        found = {}
        for name, matrix in self.similarities.items():
            others = matrix[np.ix_(sites, sites)]
            np.fill_diagonal(others, 0.0)
            score = others @ member + 1e-12
            own = score[np.arange(len(sites)), classes] / score.sum(axis=1)
            likely = float(np.log(np.maximum(own, LEAST)).mean())
            found[name] = (likely, float((score.argmax(axis=1) == classes).mean()))
        name = max(found, key=lambda one: found[one][0])
        return name, found[name][1]

    def _strangers(
        self, rows: NDArray[np.int64], plain: NDArray[np.int32], missing: int
    ) -> NDArray[np.int64]:
        """Give a row of each cluster without a known row, the largest first.

        It votes for a class of its own as long as there are fewer classes than clusters.
        """
        if missing <= 0:
            return np.empty(0, dtype=np.int64)
        size = np.bincount(plain, minlength=self.n_clusters)
        size[plain[rows]] = 0
        chosen = [c for c in np.argsort(-size, kind="stable").tolist() if size[c]][:missing]
        return np.array([self._middle(np.flatnonzero(plain == c)) for c in chosen], dtype=np.int64)

    def _middle(self, rows: NDArray[np.int64]) -> int:
        points = self.sites.points[self.sites.of_row[rows]]
        return int(rows[((points - points.mean(axis=0)) ** 2).sum(axis=1).argmin()])

    def labels(
        self, votes: Votes, known: Knowledge, unsure: Mapping[int, float] | None = None
    ) -> NDArray[np.int32]:
        """Give every row the class with most votes, known ones their own.

        Parameters
        ----------
        known
            What follows from the answers.
        unsure
            Rows whose class may be wrong, and the probability that it is right: they have the class
            that is most probable after the votes of the others.
        """
        labels: NDArray[np.int32] = votes.score.argmax(axis=1).astype(np.int32)[self.sites.of_row]
        rows, classes = known.labelled()
        labels[rows] = classes
        for row, right in (unsure or {}).items():
            own = known.class_of(row)
            if own is not None:
                labels[row] = self._likeliest(votes, row, own, right)
        return labels

    def _likeliest(self, votes: Votes, row: int, own: int, right: float) -> int:
        """Give the class of a row by what was said of it, and by the votes of the others."""
        share = votes.score[self.sites.of_row[row]].copy()
        share[own] = max(share[own] - 1.0, 0.0)  # its own vote
        share = np.maximum(share / (share.sum() or 1.0), LEAST)
        said = np.full(len(share), (1 - right) / max(1, len(share) - 1))
        said[own] = right
        return int((share * said).argmax())
