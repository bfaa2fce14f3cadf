"""Soft pairs that a clustering keeps, but only just.

A pair is nearly broken if nothing but the pair itself holds it: without it, moving one of its two
supernodes so that it breaks would lower the objective. The margin is by how much the same move
raises the objective as things are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe.problem import Colours, Problem
from kempe.soft_pairs import PairPrice, supernode_ends

# Changes of the objective that are computed at most, one for each supernode and cluster.
MOST_CHANGES = 5_000_000


@dataclass(frozen=True)
class Doubt:
    """A soft pair that was nearly broken.

    Attributes
    ----------
    together
        Whether the pair was said to belong together.
    first, second
        The rows.
    confidence
        How sure it was; NaN where nobody said.
    price
        What breaking it would cost.
    margin
        By how much the objective would rise, all pairs counted, if it were broken by one move.
    """

    together: bool
    first: int
    second: int
    confidence: float
    price: float
    margin: float


def nearly_broken(problem: Problem, colours: Colours, pair_price: PairPrice) -> list[Doubt]:
    """Soft pairs that only they themselves hold, those with the smallest margin first.

    Of pairs that say the same about the same two supernodes the dearest is given. Pairs that hard
    ones decide are not among them. Of very many pairs some are looked at, chosen at random.

    Parameters
    ----------
    problem
        Rows, weights and constraints, with prices for soft pairs.
    colours
        Cluster of each supernode.
    pair_price
        What a pair of rows costs.
    """
    pairs, together, confidence = problem.constraints.soft.stacked()
    price = pair_price.of_rows(confidence)
    dearest = np.argsort(-price, kind="stable")
    ends = supernode_ends(problem.supernode, pairs[dearest])
    open_ = dearest[_open(problem, colours, ends, together[dearest])]
    pairs, together, confidence = pairs[open_], together[open_], confidence[open_]
    ends, price = supernode_ends(problem.supernode, pairs), price[open_]
    margin = _margins(problem, colours, ends, together)
    near = np.flatnonzero(margin < price)
    return [
        Doubt(
            bool(together[i]),
            int(pairs[i, 0]),
            int(pairs[i, 1]),
            float(confidence[i]),
            float(price[i]),
            max(float(margin[i]), 0.0),
        )
        for i in near[np.argsort(margin[near], kind="stable")].tolist()
    ]


def _open(
    problem: Problem, colours: Colours, ends: NDArray[np.int64], together: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Give the pairs that are kept though they need not be, the first of each two supernodes."""
    kept = (colours[ends[:, 0]] == colours[ends[:, 1]]) == together
    soft, size = problem.soft, problem.n_supernodes
    assert soft is not None
    undecided = np.isin(ends @ [size, 1], soft.first.astype(np.int64) * size + soft.second)
    candidates = np.flatnonzero(kept & undecided)
    said = np.column_stack([ends, together])[candidates]
    candidates = candidates[np.sort(np.unique(said, axis=0, return_index=True)[1])]
    most = max(1, MOST_CHANGES // (2 * problem.n_clusters))
    if candidates.size > most:
        candidates = np.sort(np.random.default_rng(0).permutation(candidates)[:most])
    return candidates


def _margins(
    problem: Problem, colours: Colours, ends: NDArray[np.int64], together: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Least rise of the objective by a move of one end that breaks each of these kept pairs."""
    vertices, where = np.unique(ends, return_inverse=True)
    changes = changes_of_moves(problem, colours, vertices.astype(np.int32))
    where = where.reshape(ends.shape)
    anywhere = changes.min(axis=1)[where].min(axis=1, initial=np.inf)
    clusters = colours[ends]
    to_the_other = np.minimum(
        changes[where[:, 0], clusters[:, 1]], changes[where[:, 1], clusters[:, 0]]
    )
    return np.asarray(np.where(together, anywhere, to_the_other))


def changes_of_moves(
    problem: Problem, colours: Colours, vertices: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Exact change of the objective if one supernode alone moves, for each cluster.

    Infinite where hard pairs forbid the move, where it leads nowhere, and where it would leave a
    cluster empty. Limits on sizes are not looked at.

    Parameters
    ----------
    problem
        Supernodes, with prices for soft pairs.
    colours
        Cluster of each supernode.
    vertices
        The supernodes to move.
    """
    centroids, total = problem.means(colours)
    own, weight = colours[vertices], problem.weight[vertices].astype(np.float64)
    every = np.arange(vertices.size)
    distance = problem.squared_distances(centroids, vertices).astype(np.float64)
    rest = total[own] - weight
    with np.errstate(divide="ignore", invalid="ignore"):
        left = distance[every, own] * weight * total[own] / rest
    change = distance * (weight[:, None] * total / (total + weight[:, None])) - left[:, None]
    pull = problem.pulls(colours)[vertices]
    change += pull[every, own][:, None] - pull
    change[np.bincount(colours)[own] == 1] = np.inf
    change[every, own] = np.inf
    change[_by_cluster(problem.graph.matrix, problem, colours, vertices) > 0] = np.inf
    return change


def _by_cluster(
    matrix: sparse.csr_array, problem: Problem, colours: Colours, vertices: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Add up what a matrix says of supernodes and those of each cluster."""
    ones = np.ones(problem.n_supernodes)
    members = sparse.csr_array(
        (ones, (problem.everyone, colours)), shape=(ones.size, problem.n_clusters)
    )
    return np.asarray((matrix[vertices] @ members).toarray())
