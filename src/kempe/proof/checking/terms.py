"""What limits on sizes and soft pairs add to the bound by a matrix.

Theorem
-------
As in ``spectrum.py``; Z_ij = Y_ij / sqrt(w_i w_j), which is 1 / W for groups i and j in one cluster
of weight W, else 0. Of the clusters of a clustering let no one have fewer or more rows than some
numbers: so W lies between numbers l and h that follow from the weights of the lightest and of the
heaviest rows, and from what is known to be in the cluster.

- Y_ii = w_i / W lies between w_i / h and w_i / l. For any number s, positive or negative, s Y_ii is
  at least the lesser of the two products: so multipliers of the diagonal may have any sign. Groups
  that have too many rows together are apart.
- A soft pair (i, j) of price p >= 0 that should be together costs p W (Z_ii - Z_ij), where W is the
  weight of the cluster of i: p if it is broken, else 0. That is at least p l (Z_ii - Z_ij), and
  the same with j. If it should be apart, it costs p W Z_ij, at least p l Z_ij. These are products
  of a matrix with Y. What is together or apart for certain costs its price or nothing; where two
  groups should be both, the lesser of the prices is paid whatever happens.

Y has rank k at most: a cluster may have no weight, and prices may favour fewer clusters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.proof.checking.facts import Facts
from kempe.proof.checking.groups import Groups
from kempe.proof.checking.rounding import TINY, Floats, gamma
from kempe.proof.nodes import SoftPairs

Limits = tuple[NDArray[Any], NDArray[Any]]
Numbers = NDArray[np.integer[Any]]

# How many times heavier than a group its cluster may be for soft pairs to count.
HEAVIER = 2.0**24
# Undecided pairs count no more than that, where lengths and weights are 1 at most.
DEAREST = 2.0**30
# Weights that differ by a smaller share are equal but for rounding.
EQUAL = 1e-9


class Sizes:
    """Fewest and most rows of any cluster, and what the lightest and the heaviest rows weigh."""

    def __init__(self, limits: Limits | None, weights: Floats) -> None:
        n, ascending = weights.size, np.sort(weights)
        self.rounding = 2 * gamma(n + 16)
        self.least, self.most = 1, n
        self.each: list[tuple[int, int]] = []
        if limits is not None:
            least, most = ([int(rows) for rows in side] for side in limits)
            # What the other clusters need or have room for limits a cluster as well.
            both = list(zip(least, most, strict=True))
            self.each = [(max(a, n - sum(most) + b), min(b, n - sum(least) + a)) for a, b in both]
            self.least, self.most = min(a for a, _ in self.each), max(b for _, b in self.each)
        self._lightest = np.concatenate([[0.0], np.cumsum(ascending)])
        self._heaviest = np.concatenate([[0.0], np.cumsum(ascending[::-1])])

    def exclude(self, sizes: Sequence[int]) -> bool:
        """Whether no clusters within the limits can be made of groups of so many rows.

        One may have too many. And if no cluster is empty, there are as many groups as clusters at
        least; if there are no more, each is a cluster, and the smallest group is one of those that
        need fewest rows, and so on.
        """
        if not self.each or (len(sizes) > len(self.each) and max(sizes) <= self.most):
            return False
        if max(sizes) > self.most or self.least < 1:
            return max(sizes) > self.most
        least, most = (sorted(end) for end in zip(*self.each, strict=True))
        ranks = zip(least, sorted(sizes), most, strict=False)
        return len(sizes) < len(least) or any(not a <= size <= b for a, size, b in ranks)

    def at_least(self, weights: Floats, rows: Numbers) -> Floats:
        """Weight of a cluster with some rows in it, which weigh so much, rounded down."""
        missing = np.maximum(self.least - rows, 0)
        return np.asarray((weights + self._lightest[missing]) * (1 - self.rounding))

    def at_most(self, weights: Floats, rows: Numbers) -> Floats:
        """Give the same from above, rounded up."""
        room = np.maximum(self.most - rows, 0)
        return np.asarray((weights + self._heaviest[room]) * (1 + self.rounding))


class Terms:
    """Limits and soft pairs of a problem; prices are in its unit."""

    def __init__(self, limits: Limits | None, soft: SoftPairs | None, weights: Floats) -> None:
        self.sizes, self.are_limited, self.soft = Sizes(limits, weights), limits is not None, soft

    def exclude(self, facts: Facts) -> bool:
        """Whether the limits leave no clustering that agrees with the facts."""
        return self.sizes.exclude(np.unique(facts.group, return_counts=True)[1].tolist())

    def at(self, facts: Facts, groups: Groups) -> NodeTerms:
        """Give what they add at a node."""
        names = np.fromiter(groups.index, dtype=np.int64, count=groups.n)
        rows = np.bincount(facts.group, minlength=facts.group.size)[names]
        apart, weights = groups.apart(facts), groups.about.weights
        least, most = np.zeros(groups.n), np.full(groups.n, np.inf)
        if self.are_limited:
            apart |= (rows[:, None] + rows > self.sizes.most) & ~np.eye(groups.n, dtype=bool)
            few = gamma(16)
            least = weights / self.sizes.at_most(weights, rows) * (1 - few)
            most = weights / self.sizes.at_least(weights, rows) * (1 + few)
        terms = NodeTerms(apart, least, most, np.zeros((groups.n, groups.n)), 0.0)
        if self.soft is None:
            return terms
        net, paid = _nets(self.soft, facts, groups, apart)
        terms.cost = self._costs(net, weights, rows)
        # An error of a price, in the matrix or beside it, costs no more than itself.
        rounded = 4 * gamma(len(self.soft.prices) + 64) * math.fsum(self.soft.prices)
        terms.paid = paid - rounded - TINY
        return terms

    def _costs(self, net: Floats, weights: Floats, rows: Numbers) -> Floats:
        """Matrix of what pairs of groups cost at least."""
        own = self.sizes.at_least(weights, rows)
        both = self.sizes.at_least(weights[:, None] + weights, rows[:, None] + rows)
        net = np.clip(net, -DEAREST, DEAREST)
        # Next to a cluster that heavy, a group is lost in rounding: such pairs cost nothing here.
        net = np.where(both > HEAVIER * np.minimum(weights[:, None], weights), 0.0, net)
        # Together: by the cluster of that group which says more, or half by each.
        more = own[:, None] > own * (1 + EQUAL)
        share = np.where(more, 1.0, np.where(more.T, 0.0, 0.5))
        by_row = np.maximum(net, 0.0) * share * own[:, None]
        cost = -0.5 * (by_row + by_row.T) + 0.5 * np.maximum(-net, 0.0) * both
        cost[np.diag_indices_from(cost)] += by_row.sum(axis=1)
        roots = np.sqrt(weights)
        return cost / roots / roots[:, None]


@dataclass
class NodeTerms:
    """What limits and soft pairs add at a node.

    ``apart`` has also groups that have too many rows for one cluster; the diagonal of Y lies
    between ``least`` and ``most``; ``cost`` times Y and ``paid`` are at most what pairs cost.
    """

    apart: NDArray[np.bool_]
    least: Floats
    most: Floats
    cost: Floats
    paid: float

    def product_at_least(self, diagonal: Floats) -> float:
        """Multipliers of the diagonal times that of Y, rounded down."""
        limits = np.where(diagonal < 0, self.most, self.least)
        products = np.where(diagonal == 0, 0.0, diagonal * np.where(diagonal == 0, 0.0, limits))
        return math.fsum(products) - gamma(16) * math.fsum(abs(products)) - TINY


def _nets(
    soft: SoftPairs, facts: Facts, groups: Groups, apart: NDArray[np.bool_]
) -> tuple[Floats, float]:
    """Give what speaks for two groups together less what speaks against it, and what is paid."""
    for_it, against = np.zeros((groups.n, groups.n)), np.zeros((groups.n, groups.n))
    paid = []
    for (a, b), together, price in zip(
        soft.pairs.tolist(), soft.together.tolist(), soft.prices.tolist(), strict=True
    ):
        first, second = facts.of(a), facts.of(b)
        if first == second or facts.are_apart(a, b):
            paid.append(0.0 if (first == second) == together else price)
            continue
        i, j = groups.index.get(first, -1), groups.index.get(second, -1)
        if i >= 0 and j >= 0:  # a group without weight is in no matrix
            table = for_it if together else against
            table[i, j] += price
            table[j, i] += price
    paid.append(float(np.triu(for_it * apart).sum()))
    for_it[apart] = against[apart] = 0.0
    paid.append(float(np.triu(np.minimum(for_it, against)).sum()))
    return for_it - against, math.fsum(paid)
