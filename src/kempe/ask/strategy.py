"""What a strategy is asked, and what it sees."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kempe.ask.knowledge import Knowledge
from kempe.ask.spread import AnswerSpread


@dataclass(frozen=True)
class Proposal:
    """A pair of rows to ask about, and why.

    Attributes
    ----------
    first, second
        Row numbers.
    why
        The reason, in words for a person.
    """

    first: int
    second: int
    why: str


class SessionParts(Protocol):
    """What a session computes when it is asked for."""

    @property
    def labels_(self) -> NDArray[np.int32]:
        """Clusters of all rows at present."""
        ...

    @property
    def plain_labels(self) -> NDArray[np.int32]:
        """Clusters by constrained k-means alone."""
        ...

    @property
    def spread(self) -> AnswerSpread:
        """What spreads answers to rows that nobody was asked about."""
        ...


@dataclass(frozen=True, eq=False)
class View:
    """What a strategy sees of a session.

    Attributes
    ----------
    X
        All rows.
    n_clusters
        Number of clusters.
    known
        What follows from the answers.
    parts
        What takes a while to compute, and is computed when a strategy asks for it.
    rng
        Randomness for one question; the same question gets the same.
    skipped
        Pairs that shall not be asked, the smaller row first.
    """

    X: NDArray[np.float64]
    n_clusters: int
    known: Knowledge
    parts: SessionParts
    rng: np.random.Generator
    skipped: AbstractSet[tuple[int, int]] = field(default_factory=frozenset)

    @property
    def labels(self) -> NDArray[np.int32]:
        """Clusters of all rows at present."""
        return self.parts.labels_

    @property
    def plain(self) -> NDArray[np.int32]:
        """Clusters by constrained k-means alone."""
        return self.parts.plain_labels

    @property
    def spread(self) -> AnswerSpread:
        """What spreads answers to rows that nobody was asked about."""
        return self.parts.spread

    def is_open(self, first: int, second: int) -> bool:
        """Whether a pair may be asked: nobody knows, and nobody has refused to say.

        Parameters
        ----------
        first, second
            Row numbers.
        """
        pair = (min(first, second), max(first, second))
        return pair not in self.skipped and self.known.relation(first, second) is None

    def untouched(self) -> NDArray[np.int64]:
        """Give the rows about which nothing is known."""
        free = np.ones(len(self.X), dtype=np.bool_)
        free[self.known.rows()] = False
        return np.flatnonzero(free)

    def squares(self, row: int, among: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Squared distance of a row to some rows, or to all.

        Parameters
        ----------
        row
            Row number.
        among
            Row numbers; all by default.
        """
        others = self.X if among is None else self.X[among]
        return np.asarray(((others - self.X[row]) ** 2).sum(axis=1))

    def nearest_of_class(self, row: int, number: int) -> int | None:
        """Give the row of a class nearest to a row, with which it may be asked about.

        Parameters
        ----------
        row
            Row number.
        number
            Number of the class.
        """
        members = np.array(self.known.members(self.known.classes[number]))
        for other in members[np.argsort(self.squares(row, members), kind="stable")].tolist():
            if self.is_open(row, other):
                return int(other)
        return None

    def centres(self) -> NDArray[np.float64]:
        """Give the mean of each cluster; that of an empty one is far away."""
        count = np.bincount(self.labels, minlength=self.n_clusters)
        total = np.zeros((self.n_clusters, self.X.shape[1]))
        np.add.at(total, self.labels, self.X)
        means: NDArray[np.float64] = total / np.maximum(count, 1)[:, None]
        means[count == 0] = np.inf
        return means


class Strategy(Protocol):
    """Proposes pairs. Whatever it remembers must follow from what it is shown.

    A strategy of your own needs this one method; pass an instance of it to ``Session``.
    """

    def propose(self, view: View) -> Proposal | None:
        """Give the pair to ask about next, or nothing if there is none left.

        Parameters
        ----------
        view
            What it sees of the session.
        """
        ...


def asked_about_row(view: View, row: int, order: list[int], why: str) -> Proposal | None:
    """Ask about a row and one class after the other, unless that is known or was refused."""
    possible = set(view.known.candidates(row))
    for number in order:
        if number in possible:
            other = view.nearest_of_class(row, number)
            if other is not None:
                return Proposal(row, other, why)
    return None


def farthest(view: View, rows: NDArray[np.int64], free: NDArray[np.int64]) -> list[int]:
    """Give free rows, those farthest from some rows first."""
    away = np.full(len(free), np.inf)
    for row in rows.tolist():
        away = np.minimum(away, view.squares(row, free))
    return [int(row) for row in free[np.argsort(-away, kind="stable")]]


def first_question(view: View) -> Proposal | None:
    """Ask about a typical row and one far away, as long as there is no class to compare with."""
    rows = view.known.rows()
    if not rows.size:
        largest = int(np.bincount(view.plain).argmax())
        members = np.flatnonzero(view.plain == largest)
        away = ((view.X[members] - view.X[members].mean(axis=0)) ** 2).sum(axis=1)
        rows = members[away.argmin()][None]
    start = int(rows[0])
    for other in farthest(view, rows, np.setdiff1d(view.untouched(), rows)):
        if view.is_open(start, other):
            return Proposal(start, other, "nothing is known yet: these two differ much")
    return None
