"""Strategies of the literature that look at rows one by one: by chance, explore, uncertainty."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from kempe.ask.strategy import Proposal, Strategy, View, asked_about_row, farthest, first_question

# Draws before all pairs of a row are looked at.
DRAWS = 200


class RandomPairs(Strategy):
    """Ask about any two rows, which is what everything else is compared with."""

    def propose(self, view: View) -> Proposal | None:
        """Give the pair to ask about next."""
        n = len(view.X)
        why = "drawn by chance"
        for _ in range(DRAWS):
            first, second = (int(row) for row in view.rng.integers(n, size=2))
            if first != second and view.is_open(first, second):
                return Proposal(first, second, why)
        for first in view.rng.permutation(n).tolist():
            for second in range(n):
                if first != second and view.is_open(first, second):
                    return Proposal(first, second, why)
        return None


class ExploreConsolidate(Strategy):
    """Find all classes by farthest-first traversal, then ask about rows at random.

    Basu, Banerjee and Mooney (2004): a row is compared with one class after the other until it
    belongs to one; if it belongs to none it begins a class of its own.
    """

    def propose(self, view: View) -> Proposal | None:
        """Give the pair to ask about next."""
        known = view.known
        if not known.classes:
            return first_question(view)
        for row in known.open_groups():
            found = asked_about_row(view, row, _by_distance(view, row), "not placed yet")
            if found is not None:
                return found
        free = view.untouched()
        if len(known.classes) < view.n_clusters:
            rows, why = farthest(view, known.rows(), free), "far from all that is known"
        else:
            rows, why = view.rng.permutation(free).tolist(), "drawn by chance, to find its class"
        for row in rows[:DRAWS]:
            found = asked_about_row(view, int(row), _by_distance(view, int(row)), why)
            if found is not None:
                return found
        return None


def _by_distance(view: View, row: int) -> list[int]:
    """Order classes by the distance of their means."""
    means = [view.X[view.known.members(one)].mean(axis=0) for one in view.known.classes]
    away = ((np.array(means) - view.X[row]) ** 2).sum(axis=1)
    return [int(number) for number in np.argsort(away, kind="stable")]


class Uncertainty(Strategy):
    """Ask about rows that lie between their two nearest clusters.

    Each is compared with the row in the middle of the nearest cluster, then of the next.
    """

    def propose(self, view: View) -> Proposal | None:
        """Give the pair to ask about next."""
        centres = view.centres()
        squares = cdist(view.X, centres, "sqeuclidean")
        order = np.argsort(squares, axis=1, kind="stable")[:, :2]
        two = np.take_along_axis(squares, order, 1)
        between = np.argsort(two[:, 1] - two[:, 0], kind="stable")
        middle = squares.argmin(axis=0)
        why = "lies between two clusters"
        for row in between.tolist():
            for cluster in order[row].tolist():
                other = int(middle[cluster])
                if other != row and view.is_open(row, other):
                    return Proposal(int(row), other, why)
        return None
