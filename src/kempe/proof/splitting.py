"""Which two groups to decide about next: together or apart."""

from __future__ import annotations

import numpy as np

from kempe.proof.facts import Pair
from kempe.proof.relaxation import Relaxation, Singles


def undecided_pair(relaxation: Relaxation, Y: Singles) -> Pair:
    """Rows of the pair about which the relaxation is most undecided, heavy groups first.

    In a clustering two groups are together or not; in the relaxation something between.
    """
    weight = relaxation.weight
    share = relaxation.togetherness(Y)
    score = np.minimum(share, 1 - share)
    score *= np.sqrt(np.outer(weight, weight) / np.add.outer(weight, weight))
    score[relaxation.cannot] = -np.inf
    np.fill_diagonal(score, -np.inf)
    i, j = np.unravel_index(np.argmax(score), score.shape)
    rows = relaxation.first_row
    a, b = sorted((int(rows[i]), int(rows[j])))
    return a, b
