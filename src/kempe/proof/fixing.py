"""Pairs that a bound settles: together they would cost more than the best clustering known."""

from __future__ import annotations

import numpy as np

from kempe.proof.dual import Dual, cut_matrix
from kempe.proof.facts import Pair
from kempe.proof.relaxation import Relaxation
from kempe.proof.terms import HEAVIER

# A fixing must survive the rounding errors of whoever checks it, relative to the matrix.
MARGIN = 1e-8


def fixed_apart(relaxation: Relaxation, dual: Dual, inertia: float) -> tuple[Pair, ...]:
    """Rows of pairs that no clustering better than ``inertia`` has together.

    The bound has dropped <S, Y>. With groups i and j together it is at least 2 S_ij Y_ij, and Y_ij
    is at least sqrt(w_i w_j) over the weight of all groups that are apart from neither.
    """
    weight = relaxation.weight
    if relaxation.terms is not None and weight.max() > HEAVIER * weight.min():
        return ()  # multipliers of light groups are so large that rounding hides the gain
    free = (~relaxation.cannot).astype(np.float64)
    heaviest = (free * weight) @ free.T
    gain = 2 * dual.slack * np.sqrt(np.outer(weight, weight)) / np.maximum(heaviest, weight.min())
    correction = dual.slack - cut_matrix(dual.cuts, weight)
    diagonal = dual.slack.diagonal().astype(np.float64)
    value = relaxation.value(correction, 1.0, diagonal, exactly=True)
    # The checker takes a share of all prices off, also of those that are decided here.
    margin = MARGIN * (relaxation.magnitude + relaxation.prices)
    settled = gain >= max(inertia - value, 0.0) + margin
    pairs = np.argwhere(np.triu(settled & ~relaxation.cannot, 1))
    rows = relaxation.first_row
    return tuple((int(rows[i]), int(rows[j])) for i, j in pairs)
