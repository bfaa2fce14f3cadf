"""Which two groups to decide about next: together or apart."""

from __future__ import annotations

import numpy as np

from kempe.proof.facts import Pair
from kempe.proof.relaxation import Relaxation, Singles


def undecided_pair(relaxation: Relaxation, Y: Singles) -> Pair:
    """Rows of the pair about which the relaxation is most undecided, heavy groups first.

    In a clustering Z_ij = Y_ij / sqrt(w_i w_j) is either Z_ii = Z_jj or 0; here it is something
    between.
    """
    weight = relaxation.weight
    Z = Y / np.sqrt(np.outer(weight, weight))
    own = Z.diagonal()
    share = 2 * Z / (own[:, None] + own[None, :])
    score = np.minimum(share, 1 - share)
    score *= np.sqrt(np.outer(weight, weight) / np.add.outer(weight, weight))
    score[relaxation.cannot] = -np.inf
    np.fill_diagonal(score, -np.inf)
    i, j = np.unravel_index(np.argmax(score), score.shape)
    rows = relaxation.first_row
    a, b = sorted((int(rows[i]), int(rows[j])))
    return a, b
