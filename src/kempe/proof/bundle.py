"""Sets of groups that may be clusters, and the step of a proximal bundle method that they suggest.

The bound f(prices) = sum of prices - k max_S (prices of S - cost of S) is concave. Sets that are
known make it a model, of which the next prices maximise the model less |change|^2 / (2 t), in a
norm that divides by m, about as large as the prices: so they change by shares of what they are. The
dual of this problem chooses shares x >= 0 of the sets, k in all, and the prices rise where they
cover a group less than once:

    prices = centre + t m (1 - sum x_S [i in S]).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.optimize import nnls

Floats = NDArray[np.float64]

# Sets that are kept; the quadratic problem is that large.
MOST_SETS = 250
# Shares that count as none.
LEAST_SHARE = 1e-9
# Relative: keeps the factor of the quadratic problem regular, and its shares at a sum of k.
RIDGE, PENALTY = 1e-10, 1e3


class Bundle:
    """The sets, what they cost, where their centres are, and how much they overlap.

    Parameters
    ----------
    metric
        How far the price of each group moves if it is not covered and t is 1.
    n_clusters
        Number of clusters, k.
    dimension
        Number of features.
    """

    def __init__(self, metric: Floats, n_clusters: int, dimension: int) -> None:
        self._metric = metric
        self._k = n_clusters
        self.members: Any = sparse.csr_array((0, metric.size))
        self.costs = np.empty(0)
        self.centres = np.empty((0, dimension))
        self._overlap = np.empty((0, 0))
        self._age = np.empty(0, dtype=np.int64)
        self.shares = np.empty(0)

    def __len__(self) -> int:
        return int(self.costs.size)

    def add(
        self, costs: Floats, centres: Floats, offsets: NDArray[np.int64], members: NDArray[np.int32]
    ) -> int:
        """Add sets that are not there yet; returns how many were not."""
        new = sparse.csr_array(
            (np.ones(members.size), members, offsets), shape=(costs.size, self._metric.size)
        )
        # Sets of the same cost at the same centre are the same.
        key = np.column_stack([costs, centres])
        known = {row.tobytes() for row in np.column_stack([self.costs, self.centres])}
        chosen = []
        for number, row in enumerate(key):
            if row.tobytes() not in known:
                known.add(row.tobytes())
                chosen.append(number)
        if not chosen:
            return 0
        new = new[chosen]
        measured = new.toarray().T * self._metric[:, None]
        across, within = self.members @ measured, new @ measured
        self._overlap = np.block([[self._overlap, across], [across.T, within]])
        self.members = sparse.vstack([self.members, new], format="csr")
        self.costs = np.concatenate([self.costs, costs[chosen]])
        self.centres = np.concatenate([self.centres, centres[chosen]])
        self._age = np.concatenate([self._age, np.zeros(len(chosen), dtype=np.int64)])
        self.shares = np.concatenate([self.shares, np.zeros(len(chosen))])
        return len(chosen)

    def values(self, prices: Floats) -> Floats:
        """Prices of each set less its cost."""
        return np.asarray(self.members @ prices) - self.costs

    def step(self, prices: Floats, t: float) -> Floats:
        """Give the next prices, and remember the shares of the sets."""
        with np.errstate(all="ignore"):  # a step that overflows is none
            self.shares = self._solved(self.values(prices), t)
            uncovered = 1.0 - np.asarray(self.members.T @ self.shares)
            moved = np.maximum(prices + t * self._metric * uncovered, 0.0)
        self._age = np.where(self.shares > LEAST_SHARE, 0, self._age + 1)
        return moved if np.isfinite(moved).all() else prices

    def _solved(self, values: Floats, t: float) -> Floats:
        """Minimise t/2 |1 - sum x_S S|^2 - x'values over x >= 0 with sum k."""
        size = len(self)
        scale = float(np.trace(self._overlap)) / size
        matrix = self._overlap / scale
        wanted = np.asarray(self.members @ self._metric) / scale
        wanted = wanted + (values - values.max()) / (t * scale)
        matrix = matrix + RIDGE * size * np.eye(size) + PENALTY
        wanted = wanted + PENALTY * self._k
        try:
            factor = linalg.cholesky(matrix)
            right = linalg.solve_triangular(factor, wanted, trans="T")
            shares, _ = nnls(factor, right, maxiter=10 * size)
        except (RuntimeError, ValueError, linalg.LinAlgError):
            # It went in circles or out of range: the best set alone is a valid choice too.
            shares = (values == values.max()).astype(np.float64)
        return np.asarray(shares * (self._k / max(shares.sum(), LEAST_SHARE)))

    def shrink(self, prices: Floats) -> None:
        """Forget sets, those first that had no share for longest and have least value."""
        if len(self) > MOST_SETS:
            order = np.lexsort((-self.values(prices), self._age))
            self._keep(np.sort(order[: MOST_SETS * 4 // 5]))

    def clear(self) -> None:
        """Forget all sets."""
        self._keep(np.empty(0, dtype=np.intp))

    def _keep(self, chosen: NDArray[np.intp]) -> None:
        self.members = self.members[chosen]
        self.costs, self.centres = self.costs[chosen], self.centres[chosen]
        self._overlap = self._overlap[np.ix_(chosen, chosen)]
        self._age, self.shares = self._age[chosen], self.shares[chosen]
