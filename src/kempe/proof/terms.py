"""What limits on sizes and soft pairs add to the relaxation: linear terms, at every node.

With Z_ij = 1 / (weight of the cluster) for groups i and j of one cluster, else 0, and bounds on the
weight W of the cluster of a group:

- limits on rows bound W, hence Z_ii = 1 / W, from both sides;
- a soft pair is broken or not, which is no linear function of Z. But if i and j should be together,
  "broken" is W (Z_ii - Z_ij), and at least that with a lower bound in place of W; if they should be
  apart, it is W Z_ij. So the price of the pair enters the matrix of costs.

What a node decides about a pair costs its price or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe.proof.facts import Facts
from kempe.proof.nodes import SoftPairs
from kempe.sizes import SizeLimits

Floats = NDArray[np.float64]
Numbers = NDArray[np.integer[Any]]


# Next to a cluster so many times heavier, a group is lost in rounding: its soft pairs cost nothing.
HEAVIER = 2.0**24
# Undecided pairs count no more than that, which single precision can bear.
DEAREST = 2.0**30
# Weights that differ by a smaller share are equal but for rounding.
EQUAL = 1e-9
# A price that double precision cannot bear, where lengths and weights are 1 at most.
TOO_DEAR = 2.0**400


@dataclass(frozen=True, eq=False)
class Sizes:
    """Fewest and most rows of any cluster, and what so many rows weigh.

    Attributes
    ----------
    least, most
        Numbers of rows.
    each
        The same of each cluster, if there are limits.
    lightest, heaviest
        Entry m is the weight of the m lightest, and of the m heaviest rows.
    """

    least: int
    most: int
    each: tuple[NDArray[np.int64], NDArray[np.int64]] | None
    lightest: Floats
    heaviest: Floats

    @classmethod
    def of(cls, weight: Floats, limits: SizeLimits | None) -> Sizes:
        """Take the limits of all clusters together, each as narrow as the others make it."""
        n, ascending = weight.size, np.sort(weight)
        least, most, each = 1, n, None
        if limits is not None:
            fewest, largest = limits.least.astype(np.int64), limits.most.astype(np.int64)
            each = (
                np.maximum(fewest, n - (largest.sum() - largest)),
                np.minimum(largest, n - (fewest.sum() - fewest)),
            )
            least, most = int(each[0].min()), int(each[1].max())
        lightest, heaviest = (
            np.concatenate([[0.0], np.cumsum(rows)]) for rows in (ascending, ascending[::-1])
        )
        return cls(least, most, each, lightest, heaviest)

    def exclude(self, sizes: Numbers) -> bool:
        """Whether no clusters within the limits can be made of groups of so many rows."""
        if self.each is None:
            return False
        least, most = (np.sort(end) for end in self.each)
        # With no more groups than clusters, none of which is empty, every group is one of them.
        if sizes.size <= least.size and least[0] > 0:
            ordered = np.sort(sizes)
            if sizes.size < least.size:
                return True
            return bool(((ordered < least) | (ordered > most)).any())
        return bool(sizes.max() > self.most)

    def at_least(self, weight: Floats, rows: Numbers) -> Floats:
        """Weight of a cluster in which some rows are, which weigh so much."""
        return weight + self.lightest[np.maximum(self.least - rows, 0)]

    def at_most(self, weight: Floats, rows: Numbers) -> Floats:
        """Give the same from above."""
        return weight + self.heaviest[np.maximum(self.most - rows, 0)]


@dataclass(frozen=True, eq=False)
class PricedPairs:
    """Soft pairs of rows, and what breaking them costs.

    Attributes
    ----------
    pairs
        Row numbers, of shape (m, 2).
    together
        Whether each should be together.
    prices
        What each costs if it is not as it should be; not negative.
    """

    pairs: NDArray[np.int64]
    together: NDArray[np.bool_]
    prices: Floats

    @classmethod
    def scaled(cls, soft: SoftPairs, unit: float) -> PricedPairs:
        """Take the pairs of a certificate, with prices in another unit."""
        dearest = float(soft.prices.max(initial=0.0))
        if dearest > TOO_DEAR * unit:
            raise ValueError(
                f"a price of {dearest:.3g} for a soft pair is too large beside the distances of "
                "rows for a proof in double precision"
            )
        return cls(soft.pairs, soft.together, soft.prices / unit)

    def broken(self, labels: Numbers) -> float:
        """Price of the pairs that labels break."""
        same = labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]]
        return float(self.prices[same != self.together].sum())

    def nets(
        self, group: Numbers, position: Numbers, cannot: NDArray[np.bool_]
    ) -> tuple[Floats, float]:
        """Give the price of each two groups, and what every clustering pays.

        The price is what speaks for together less what speaks against it; the lesser of the two
        is paid in any case.
        """
        ends = group[self.pairs]
        same = ends[:, 0] == ends[:, 1]
        i, j = np.sort(position[ends], axis=1).T
        said = [
            _table(i[own], j[own], self.prices[own], len(cannot))
            for own in (~same & (i >= 0) & kind for kind in (self.together, ~self.together))
        ]
        paid = self.prices[same & ~self.together].sum() + np.triu(said[0])[cannot].sum()
        for table in said:
            table[cannot] = 0.0
        return said[0] - said[1], float(paid + np.triu(np.minimum(*said)).sum())


def _table(i: Numbers, j: Numbers, prices: Floats, size: int) -> Floats:
    both = (np.concatenate([i, j]), np.concatenate([j, i]))
    return np.asarray(sparse.coo_array((np.tile(prices, 2), both), shape=(size, size)).toarray())


@dataclass(frozen=True, eq=False)
class Terms:
    """What holds at all nodes of a tree.

    Attributes
    ----------
    sizes
        What is known about the weights of clusters.
    are_limited
        Whether that is more than what holds for all clusterings.
    soft
        Soft pairs with prices in the unit of the scaled data, if there are any.
    """

    sizes: Sizes
    are_limited: bool
    soft: PricedPairs | None

    @classmethod
    def of(
        cls, weight: Floats, limits: SizeLimits | None, soft: PricedPairs | None
    ) -> Terms | None:
        """Give the terms of rows of these weights; ``None`` where there are none."""
        if limits is None and soft is None:
            return None
        return cls(Sizes.of(weight, limits), limits is not None, soft)

    def exclude(self, facts: Facts) -> bool:
        """Whether limits leave no clustering that agrees with the facts."""
        return self.sizes.exclude(np.bincount(facts.group))

    def at(self, facts: Facts, active: Numbers, weight: Floats) -> NodeTerms:
        """Give the terms of a node, of which some groups take part, with these weights."""
        rows = np.bincount(facts.group)[active]
        cannot = facts.cannot[np.ix_(active, active)]
        limits = None
        if self.are_limited:
            cannot = cannot | (np.add.outer(rows, rows) > self.sizes.most)
            np.fill_diagonal(cannot, False)
            limits = DiagonalLimits(
                weight / self.sizes.at_most(weight, rows),
                weight / self.sizes.at_least(weight, rows),
            )
        terms = NodeTerms(cannot, limits, sparse.csr_array(cannot.shape))
        if self.soft is None:
            return terms
        position = np.full(facts.n_groups, -1)
        position[active] = np.arange(active.size)
        net, paid = self.soft.nets(facts.group, position, cannot)
        prices = float(self.soft.prices.sum())
        return replace(
            terms, cost=self._costs(net, weight, rows), fixed=paid, prices=prices, net=net
        )

    def _costs(self, net: Floats, weight: Floats, rows: Numbers) -> Any:
        """Matrix of what pairs of groups cost at least, in the scale of Y."""
        i, j = np.nonzero(np.triu(net))
        price = np.clip(net[i, j], -DEAREST, DEAREST)
        own = self.sizes.at_least(weight, rows)
        both = self.sizes.at_least(weight[i] + weight[j], rows[i] + rows[j])
        price = np.where(both > HEAVIER * np.minimum(weight[i], weight[j]), 0.0, price)
        # A pair that should be together: by the cluster of that end which says more.
        first_more, second_more = (own[a] > own[b] * (1 + EQUAL) for a, b in ((i, j), (j, i)))
        share = np.where(first_more, 1.0, np.where(second_more, 0.0, 0.5))
        first = np.maximum(price, 0.0) * share * own[i]
        second = np.maximum(price, 0.0) * (1 - share) * own[j]
        across = (np.maximum(-price, 0.0) * both - first - second) / 2
        entries = np.concatenate([first, second, across, across])
        places = (np.concatenate([i, j, i, j]), np.concatenate([i, j, j, i]))
        root = sparse.diags_array(1 / np.sqrt(weight))
        return (root @ sparse.coo_array((entries, places), shape=net.shape).tocsr() @ root).tocsr()


@dataclass(frozen=True, eq=False)
class DiagonalLimits:
    """Between what the diagonal of Y lies where sizes are limited.

    Attributes
    ----------
    least, most
        One number for each group.
    """

    least: Floats
    most: Floats

    def gain(self, diagonal: Floats) -> float:
        """Say what multipliers of the diagonal prove: the least product with that of Y."""
        return float(np.minimum(diagonal * self.least, diagonal * self.most).sum())


@dataclass(frozen=True, eq=False)
class NodeTerms:
    """What a node adds to the relaxation.

    Attributes
    ----------
    cannot
        Which groups are apart, those included that have too many rows for one cluster.
    limits
        Limits of the diagonal of Y, if there are any.
    cost
        A matrix, of which the product with Y is at most what undecided pairs cost.
    fixed
        What all clusterings of the node pay.
    prices
        What all soft pairs cost together, decided or not.
    net
        Price of each two groups, positive if they should be together; empty without soft pairs.
    """

    cannot: NDArray[np.bool_]
    limits: DiagonalLimits | None
    cost: Any
    fixed: float = 0.0
    prices: float = 0.0
    net: Floats = field(default_factory=lambda: np.empty((0, 0)))
