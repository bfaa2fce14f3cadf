"""Our strategy: find the class of one row after the other, of those that say most about others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe.ask.spread import Votes
from kempe.ask.strategy import Proposal, Strategy, View, asked_about_row, farthest, first_question

# Until so many rows per cluster are known, clusters without one come first.
EXPLORED = 3
# What a row is worth of which the class is certain, beside one of which it is not.
CERTAIN = 0.1
# So many of the best rows are tried, where pairs were refused.
TRIED = 50


class Spreading(Strategy):
    """Ask which class a row belongs to, by comparing it with the likeliest class first.

    A row that is begun is finished: at most one question per class, mostly one. The next row is in
    a dense place, far from rows that are known, and its class is in doubt.
    """

    def propose(self, view: View) -> Proposal | None:
        """Give the pair to ask about next."""
        known = view.known
        if not known.classes or (len(known.classes) < 2 and not known.open_groups()):
            return first_question(view)
        votes = view.spread.votes(known, view.plain)
        for row in known.open_groups():
            found = asked_about_row(view, row, _order(view, votes, row), self._again(view, row))
            if found is not None:
                return found
        for row, why in self._next_rows(view, votes):
            found = asked_about_row(view, row, _order(view, votes, row), why)
            if found is not None:
                return found
        return None

    @staticmethod
    def _again(view: View, row: int) -> str:
        apart = len(view.known.classes) - len(view.known.candidates(row))
        return f"one of the two was kept apart from {apart} other kind{'s' * (apart != 1)} already"

    def _next_rows(self, view: View, votes: Votes | None) -> list[tuple[int, str]]:
        known, free = view.known, view.untouched()
        if not free.size:
            return []
        rows, _ = known.labelled()
        if len(known.classes) < view.n_clusters and len(rows) < EXPLORED * view.n_clusters:
            return self._exploring(view, rows, free)
        if votes is None:
            return [(row, "far from all rows that are known") for row in farthest(view, rows, free)]
        return self._telling(view, votes, rows, free)

    @staticmethod
    def _exploring(
        view: View, rows: NDArray[np.int64], free: NDArray[np.int64]
    ) -> list[tuple[int, str]]:
        """Begin with clusters in which nothing is known, then with what is far away."""
        size = np.bincount(view.plain, minlength=view.n_clusters)
        size[view.plain[rows]] = 0
        found = []
        for cluster in np.argsort(-size, kind="stable")[: np.count_nonzero(size)].tolist():
            members = free[view.plain[free] == cluster]
            if members.size:
                away = ((view.X[members] - view.X[members].mean(axis=0)) ** 2).sum(axis=1)
                typical = int(members[away.argmin()])
                found.append((typical, "typical of a cluster in which nothing is known yet"))
        far = farthest(view, rows, free)[:TRIED]
        return found + [(row, "far from all rows that are known") for row in far]

    @staticmethod
    def _telling(
        view: View, votes: Votes, rows: NDArray[np.int64], free: NDArray[np.int64]
    ) -> list[tuple[int, str]]:
        """Take rows in dense places, far from known ones, whose class is in doubt."""
        spread, sites = view.spread, view.spread.sites
        lead = np.sort(votes.share, axis=1)
        doubt = 1.0 - (lead[:, -1] - lead[:, -2])
        reached = spread.similarities[votes.similarity][:, sites.of_row[rows]].sum(axis=1)
        worth = (doubt + CERTAIN) / (1.0 + reached) * spread.density[votes.similarity]
        left = np.zeros(len(worth), dtype=np.bool_)
        left[sites.of_row[free]] = True
        best = np.flatnonzero(left)[np.argsort(-worth[left], kind="stable")][:TRIED].tolist()
        is_free = np.zeros(len(view.X), dtype=np.bool_)
        is_free[free] = True
        found = []
        for site in best:
            members = sites.members(site)
            why = f"stands for others like it, and its kind is {_told(float(doubt[site]))}"
            found.append((int(members[is_free[members]][0]), why))
        return found


def _told(doubt: float) -> str:
    return "open" if doubt > 0.6 else "in doubt" if doubt > 0.2 else "not confirmed yet"


def _order(view: View, votes: Votes | None, row: int) -> list[int]:
    """Give the classes, the likeliest of a row first."""
    count = len(view.known.classes)
    if votes is None:
        return list(range(count))
    share = votes.share[view.spread.sites.of_row[row], :count]
    return [int(number) for number in np.argsort(-share, kind="stable")]
