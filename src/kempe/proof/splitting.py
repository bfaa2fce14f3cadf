"""Which two groups to decide about next: together or apart."""

from __future__ import annotations

import numpy as np

from kempe.proof.facts import Pair
from kempe.proof.relaxation import Floats, Relaxation, Singles

# Soft pairs come first where one pays less than it should by this share of what is missing.
UNPAID = 0.01


def undecided_pair(relaxation: Relaxation, Y: Singles, missing: float = 0.0) -> Pair:
    """Rows of the pair about which the relaxation is most undecided, heavy groups first.

    In a clustering two groups are together or not; in the relaxation something between. A soft
    pair that it breaks and does not pay for comes first: once decided, it costs its price.
    """
    if relaxation.terms is not None and relaxation.terms.net.size:
        unpaid = _unpaid(relaxation, Y)
        i, j = np.unravel_index(np.argmax(unpaid), unpaid.shape)
        if unpaid[i, j] > UNPAID * missing:
            return _rows(relaxation, int(i), int(j))
    weight = relaxation.weight
    share = relaxation.togetherness(Y)
    score = np.minimum(share, 1 - share)
    score *= np.sqrt(np.outer(weight, weight) / np.add.outer(weight, weight))
    score[relaxation.cannot] = -np.inf
    np.fill_diagonal(score, -np.inf)
    i, j = np.unravel_index(np.argmax(score), score.shape)
    return _rows(relaxation, int(i), int(j))


def dearest_pair(relaxation: Relaxation) -> Pair | None:
    """Rows of the pair of groups of the highest price, if there are any."""
    if relaxation.terms is None or not relaxation.terms.net.any():
        return None
    price = np.abs(relaxation.terms.net)
    i, j = np.unravel_index(np.argmax(price), price.shape)
    return _rows(relaxation, int(i), int(j))


def _unpaid(relaxation: Relaxation, Y: Singles) -> Floats:
    """Price of each soft pair, as far as it is broken, less what the relaxation pays for it."""
    assert relaxation.terms is not None
    net, cost = relaxation.terms.net, relaxation.terms.cost.toarray()
    share = relaxation.togetherness(Y)
    broken = np.where(net > 0, 1 - share, share)
    own = Y.diagonal() / relaxation.weight
    Z = Y / np.sqrt(np.outer(relaxation.weight, relaxation.weight))
    # Entries of the cost off the diagonal, twice: the weight by which a pair is paid.
    paid = 2 * np.abs(cost) * np.sqrt(np.outer(relaxation.weight, relaxation.weight))
    paid *= np.where(net > 0, np.maximum.outer(own, own) - Z, Z)
    return np.asarray(np.where(net == 0, -np.inf, np.abs(net) * broken - paid))


def _rows(relaxation: Relaxation, i: int, j: int) -> Pair:
    rows = relaxation.first_row
    a, b = sorted((int(rows[i]), int(rows[j])))
    return a, b
