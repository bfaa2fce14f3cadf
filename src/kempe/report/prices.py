"""The price of a pair: by how much the inertia, or the objective, would fall without it.

Finding the best clustering without a pair would be a search for each. What is computed is the
objective after another descent from the present clustering with the pair removed, so a price is
what is gained at least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.constraints import Constraints
from kempe.engine.sequential import SequentialDescent
from kempe.pairs import Pairs
from kempe.problem import Colours, Problem
from kempe.search.descent import Context
from kempe.search.result import Solution
from kempe.soft_pairs import PairPrice

Kind = Literal["must-link", "cannot-link"]

# Descents cost about supernodes x clusters x features each; these bound all of them together.
MOST_WORK = 10**9
MOST_DESCENTS = 60
# Pairs that are looked at before the promising ones are chosen.
MOST_CANDIDATES = 100_000


@dataclass(frozen=True)
class Price:
    """What one pair costs.

    Attributes
    ----------
    kind
        ``"must-link"`` or ``"cannot-link"``.
    first, second
        The rows.
    price
        By how much the inertia, or the objective if there are soft pairs, falls if the pair is
        dropped, at least.
    moved
        Rows that change their cluster then.
    """

    kind: Kind
    first: int
    second: int
    price: float
    moved: int


def pair_prices(
    problem: Problem, colours: Colours, pair_price: PairPrice | None = None
) -> list[Price]:
    """Prices of the most promising pairs, the most expensive first, those without left out.

    Which pairs are tried is decided by what their rows alone would gain, so that the work stays
    bounded however many pairs there are; on data so large that one descent is too much it is none.

    Parameters
    ----------
    problem
        Rows, their weights and constraints.
    colours
        Cluster of each supernode.
    pair_price
        What soft pairs cost, if there are any.
    """
    count = min(
        MOST_DESCENTS, MOST_WORK // (problem.n_supernodes * problem.n_clusters * problem.n_features)
    )
    promising = _promising(problem, colours, count) if count else []
    if not promising:
        return []
    base = _descended(problem, problem.labels(colours))
    scale = base[1] or 1.0
    prices = [_price(problem, base, kind, pair, pair_price) for kind, pair in promising]
    # A descent of its own order of swaps may differ by rounding; that is no price.
    found = [price for price in prices if price.price > 1e-9 * scale]
    return sorted(found, key=lambda price: -price.price)


def _price(
    problem: Problem,
    base: tuple[NDArray[np.int32], float],
    kind: Kind,
    pair: tuple[int, int],
    pair_price: PairPrice | None,
) -> Price:
    labels, objective = base
    freed = Problem.build(
        problem.rows,
        _without(problem.constraints, kind, pair),
        n_clusters=problem.n_clusters,
        sample_weight=problem.row_weight,
    )
    if pair_price is not None and freed.soft is not None:
        freed = freed.priced(pair_price.of_supernodes(freed.soft)).counting_all(pair_price, labels)
    after, lower = _descended(freed, labels)
    return Price(kind, *pair, objective - lower, int((after != labels).sum()))


def _descended(problem: Problem, labels: NDArray[np.int32]) -> tuple[NDArray[np.int32], float]:
    """Labels and objective after a descent that begins with a clustering of the rows."""
    _, first = np.unique(problem.supernode, return_index=True)
    context = Context(problem, np.random.default_rng(0), _core.Stopper())
    colours = SequentialDescent().descend(context, labels[first])
    return problem.labels(colours), Solution.of(problem, colours).objective


def _without(constraints: Constraints, kind: Kind, pair: tuple[int, int]) -> Constraints:
    """Drop a pair, however often and in whatever order it was given."""

    def others(pairs: Pairs) -> Pairs:
        same = (np.sort(pairs, axis=1) == sorted(pair)).all(axis=1)
        return pairs[np.flatnonzero(~same)]

    must, cannot = constraints.must_link, constraints.cannot_link
    if kind == "must-link":
        must = others(must)
    else:
        cannot = others(cannot)
    return constraints.with_pairs(must, cannot).with_soft(constraints.soft)


def _promising(
    problem: Problem, colours: Colours, count: int
) -> list[tuple[Kind, tuple[int, int]]]:
    """Pairs whose ends would gain most if each of them were alone and free of other pairs."""
    centroids, _ = problem.means(colours)
    labels = problem.labels(colours)
    must = _some(problem.constraints.must_link)
    cannot = _some(problem.constraints.cannot_link)
    nearest = _gain_at_nearest(problem, must, labels, centroids)
    others = _gain_at_other_end(problem, cannot, labels, centroids)
    pairs: list[tuple[Kind, tuple[int, int]]] = [("must-link", (a, b)) for a, b in must.tolist()]
    pairs += [("cannot-link", (a, b)) for a, b in cannot.tolist()]
    gains = np.concatenate([nearest, others])
    order = np.argsort(-gains, kind="stable")[:count]
    return [pairs[i] for i in order if gains[i] > 0]


def _some(pairs: Pairs) -> NDArray[np.int64]:
    """Distinct pairs, in a sample if there are too many."""
    distinct = np.unique(np.sort(pairs, axis=1), axis=0).astype(np.int64)
    if len(distinct) <= MOST_CANDIDATES:
        return distinct
    return np.random.default_rng(0).permutation(distinct)[:MOST_CANDIDATES]


def _gain_at_nearest(
    problem: Problem,
    pairs: NDArray[np.int64],
    labels: NDArray[np.int32],
    centroids: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Say what the better of both rows of each pair would gain at its nearest centroid."""
    rows, where = np.unique(pairs, return_inverse=True)
    points = problem.rows[rows].astype(np.float64)
    own = _squared(points, centroids[labels[rows]])
    nearest = np.min([_squared(points, centroid) for centroid in centroids], axis=0)
    gain = (own - nearest) * _weights(problem, rows)
    return np.asarray(gain[where.reshape(pairs.shape)].max(axis=1, initial=0.0))


def _gain_at_other_end(
    problem: Problem,
    pairs: NDArray[np.int64],
    labels: NDArray[np.int32],
    centroids: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Say what the better of both rows would gain in the cluster of the other."""
    ends = problem.supernode[pairs]
    clusters = labels[pairs]
    gains = []
    for here, there in ((0, 1), (1, 0)):
        points = problem.points(ends[:, here])
        change = _squared(points, centroids[clusters[:, here]]) - _squared(
            points, centroids[clusters[:, there]]
        )
        gains.append(change * problem.weight[ends[:, here]])
    return np.asarray(np.max(gains, axis=0))


def _squared(points: NDArray[np.float64], centroids: NDArray[np.float64]) -> NDArray[np.float64]:
    apart = points - centroids
    return np.asarray(np.einsum("ij,ij->i", apart, apart))


def _weights(problem: Problem, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.ones(rows.size) if problem.row_weight is None else problem.row_weight[rows]
