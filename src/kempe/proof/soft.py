"""Soft pairs of a proof: what they cost, and a problem in which they do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kempe import soft_pairs
from kempe.engine.pricing import price_by
from kempe.problem import Problem
from kempe.proof.nodes import SoftPairs
from kempe.soft_pairs import PairPrice


def priced_pairs(
    problem: Problem,
    labels: NDArray[np.int32],
    price: PairPrice | None,
    plain: float | None,
    rng: np.random.Generator,
) -> SoftPairs:
    """Give the soft pairs of a problem their prices, once and for all.

    Parameters
    ----------
    problem
        The problem.
    labels
        A clustering, which suggests prices where nobody says any.
    price
        What a model paid.
    plain
        One price for all pairs, which comes first.
    rng
        Randomness of the suggestion.
    """
    pairs, together, confidence = problem.constraints.soft.stacked()
    if plain is not None:
        if not np.isfinite(plain) or plain < 0 or not np.isnan(confidence).all():
            raise ValueError(
                f"soft_price={plain} must be a number from 0 on, and is the price of all soft "
                "pairs: none of them may have a confidence"
            )
        price = PairPrice(float(plain), 1.0)
    if price is None:
        colours = np.empty(problem.n_supernodes, dtype=np.int32)
        colours[problem.supernode] = labels
        price = price_by(problem, colours, rng)
    return SoftPairs(pairs.astype(np.int64), together, price.of_rows(confidence))


def with_prices(problem: Problem, soft: SoftPairs) -> Problem:
    """Give the problem in which breaking these pairs costs their prices."""
    of_supernodes = soft_pairs.SoftPairs.build(
        problem.supernode, problem.graph.core, soft.pairs, soft.together, soft.prices
    )
    return replace(problem, soft=of_supernodes).priced(of_supernodes.log_odds)
