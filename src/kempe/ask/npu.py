"""Normalised point-based uncertainty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe.ask.strategy import Proposal, Strategy, View, asked_about_row, first_question

TREES = 50
TRIED = 50


class NormalisedUncertainty(Strategy):
    """Ask about the row that teaches most for each question that it takes.

    Xiong, Azimi and Fern (2014): a forest that learns the present clusters says how alike rows are;
    a row belongs to a known class in proportion to how alike it is to its rows. The entropy of that
    is divided by the questions that finding the class takes, likeliest class first.
    """

    def propose(self, view: View) -> Proposal | None:
        """Give the pair to ask about next."""
        if not view.known.classes:
            return first_question(view)
        share = self._shares(view)
        for row in view.known.open_groups():
            found = asked_about_row(view, row, _likeliest(share[row]), "not placed yet")
            if found is not None:
                return found
        free = view.untouched()
        sorted_share = -np.sort(-share[free], axis=1)
        entropy = -(sorted_share * np.log(np.maximum(sorted_share, 1e-12))).sum(axis=1)
        questions = (sorted_share * np.arange(1, share.shape[1] + 1)).sum(axis=1)
        why = "its class is uncertain, and few questions would settle it"
        for row in free[np.argsort(-entropy / questions, kind="stable")][:TRIED].tolist():
            found = asked_about_row(view, row, _likeliest(share[row]), why)
            if found is not None:
                return found
        return None

    def _shares(self, view: View) -> NDArray[np.float64]:
        """How much each row belongs to each class, by the leaves that it shares with its rows."""
        from sklearn.ensemble import RandomForestClassifier

        seed = int(view.rng.integers(2**31))
        forest = RandomForestClassifier(TREES, random_state=seed, max_depth=20)
        leaves = forest.fit(view.X, view.labels).apply(view.X)
        score = np.zeros((len(view.X), len(view.known.classes)))
        for number, one in enumerate(view.known.classes):
            members = view.known.members(one)
            for row in members:
                score[:, number] += (leaves == leaves[row]).mean(axis=1)
            score[:, number] /= len(members)
        score += 1e-9
        shares: NDArray[np.float64] = score / score.sum(axis=1, keepdims=True)
        return shares


def _likeliest(share: NDArray[np.float64]) -> list[int]:
    return [int(number) for number in np.argsort(-share, kind="stable")]
