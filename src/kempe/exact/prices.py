"""Prices of the rows of a relaxation: what they prove, whoever has found them.

A vertex pays its cost and the price of every row that it stands in, so each can be served by
itself: the sum of what the vertices pay at least, less what all rows take, is a lower bound. That
holds for any prices that are not negative. So those of one task serve the next, whose costs are
similar, and those of a model with few variables speak about the others too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe.exact.part import AssignmentPart, Floats


@dataclass(frozen=True)
class CliquePrices:
    """Prices of a clique's vertices in each cluster, and rewards for using a cluster at all.

    Attributes
    ----------
    cliques
        Price per clique and cluster, (n_cliques, k). Sparse, because few rows matter.
    rewards
        Reward per cluster, which only a part with ``cover`` pays, (k,).
    """

    cliques: sparse.csr_array
    rewards: Floats

    @classmethod
    def none(cls, part: AssignmentPart) -> Self:
        """Everything is free."""
        k = part.costs.shape[1]
        return cls(sparse.csr_array((part.cliques.count, k), dtype=np.float64), np.zeros(k))

    def times(self, factor: float) -> CliquePrices:
        """Give the same prices for costs in another unit."""
        return CliquePrices(factor * self.cliques, factor * self.rewards)

    def lengthened(self, count: int) -> CliquePrices:
        """Give the same prices with room for so many cliques, where those that are new are free."""
        old = self.cliques
        offsets = np.pad(old.indptr, (0, count - old.shape[0]), mode="edge")
        shape = (count, old.shape[1])
        return CliquePrices(
            sparse.csr_array((old.data, old.indices, offsets), shape=shape), self.rewards
        )

    def paid(self, part: AssignmentPart) -> Floats:
        """Give what each vertex pays in each cluster."""
        incidence = part.cliques.incidence
        extra = sparse.coo_array(incidence.T @ self.cliques)
        paid = part.costs - self.rewards
        paid[extra.row, extra.col] += extra.data
        return np.asarray(paid)

    def bounds(self, least: Floats, part: AssignmentPart, component: NDArray[np.int32]) -> Floats:
        """Lower bound of each component, given what each vertex pays at least."""
        count = int(component.max(initial=-1)) + 1
        first = part.cliques.members[part.cliques.offsets[:-1]]
        taken = np.bincount(component[first], self.cliques.sum(axis=1), count)
        # Rewards tie all components together, so there is only one.
        paid = np.bincount(component, least, count)
        return np.asarray(paid - taken + self.rewards.sum(), dtype=np.float64)
