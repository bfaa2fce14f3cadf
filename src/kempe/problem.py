"""The reduced problem: must-linked rows merged into supernodes, cannot-link pairs as a graph.

Searches work on supernodes; only what a publication defines on rows looks at rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.constraints import Constraints
from kempe.exceptions import InfeasibleConstraintsError
from kempe.graph import CannotLinkGraph
from kempe.graph.certificates import must_link_path
from kempe.sizes import SizeLimits
from kempe.soft_pairs import PairPrice, SoftPairs, log_odds

Colours = NDArray[np.int32]
"""One cluster number per supernode."""

Centroids = NDArray[np.float64]
"""One row per cluster, in the shifted coordinates of a ``Problem``."""

# Data up to this size is copied and centred, which keeps digits when the data has a large
# offset; larger data is read in place.
CENTRE_UP_TO_BYTES = 64 * 2**20

# Rows that are copied at a time where all of the data would be too much.
ROWS_AT_A_TIME = 1024


@dataclass(frozen=True, eq=False)
class Problem:
    """A constrained clustering problem over supernodes.

    Attributes
    ----------
    n_clusters
        Number of clusters, k.
    rows
        The data, (n_rows, n_features), less ``shift``. Searches work on supernodes; perturbation
        and some rivals look at rows as well. Kernels reach them through ``core``.
    supernode
        Supernode of each row, numbered by first row.
    row_weight
        Weight of each row, or ``None`` if all are 1.
    weight
        Total weight of each supernode.
    within
        Inertia inside the supernodes, which no clustering can change.
    graph
        The cannot-link graph between supernodes.
    shift
        What was subtracted from the user's data, one number per feature.
    core
        The same for the compiled kernels.
    constraints
        What the user gave, for messages in the user's row numbers.
    limits
        Fewest and most rows of each cluster, or ``None`` if they may have any size.
    soft
        Pairs that may be broken, if there are any.
    prices
        What breaking each of them costs, positive for those that belong together, negative for
        those that belong apart; none yet if ``None``.
    unavoidable
        What the soft pairs of rows cost that every clustering breaks: hard pairs decide them, or
        others say the opposite.
    n_threads
        Threads of the kernels, if the data is large, and of searches.
    """

    n_clusters: int
    rows: NDArray[Any]
    supernode: NDArray[np.int32]
    row_weight: NDArray[np.float64] | None
    weight: NDArray[np.float64]
    within: float
    graph: CannotLinkGraph
    shift: NDArray[np.float64]
    core: _core.Instance = field(repr=False)
    constraints: Constraints = field(default_factory=Constraints, repr=False)
    limits: SizeLimits | None = None
    soft: SoftPairs | None = None
    prices: NDArray[np.float64] | None = None
    unavoidable: float = 0.0
    n_threads: int = 1

    @classmethod
    def build(
        cls,
        X: NDArray[Any],
        constraints: Constraints | None = None,
        *,
        n_clusters: int,
        sample_weight: NDArray[np.float64] | None = None,
        n_threads: int = 1,
        limits: SizeLimits | None = None,
    ) -> Problem:
        """Merge must-linked rows and turn cannot-link pairs into edges.

        Parameters
        ----------
        X
            Data of shape (n_rows, n_features), float32 or float64, finite.
        constraints
            Pairs; none by default.
        n_clusters
            Number of clusters.
        sample_weight
            Weight of each row; all 1 by default.
        n_threads
            Threads of the kernels, if the data is large. Results do not depend on it.
        limits
            Fewest and most rows of each cluster.

        Raises
        ------
        InfeasibleConstraintsError
            If a cannot-link pair is joined by must-link pairs.
        """
        constraints = constraints or Constraints()
        constraints.check_rows(X.shape[0])
        supernode, size = _core.supernodes(X.shape[0], constraints.must_link)
        graph, pair = _core.cannot_link_graph(supernode, size, constraints.cannot_link)
        if pair >= 0:
            raise contradiction(constraints, pair)
        rows, shift = _centred(np.ascontiguousarray(X))
        weight = np.bincount(supernode, sample_weight, minlength=size).astype(np.float64)
        source, merged, within = _merge(rows, supernode, size, sample_weight)
        core = _core.Instance(rows, merged, source, weight, graph, n_threads)
        if limits is not None:
            core.limit_sizes(_sizes(supernode, size), limits.least, limits.most)
        soft = None
        if constraints.soft.count:
            pairs, together, confidence = constraints.soft.stacked()
            soft = SoftPairs.build(supernode, graph, pairs, together, log_odds(confidence))
        return cls(
            n_clusters=n_clusters,
            rows=rows,
            supernode=supernode,
            row_weight=sample_weight,
            weight=weight,
            within=within,
            graph=CannotLinkGraph(graph),
            shift=shift,
            core=core,
            constraints=constraints,
            limits=limits,
            soft=soft,
            n_threads=n_threads,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features of the data."""
        return int(self.rows.shape[1])

    @property
    def n_supernodes(self) -> int:
        """Number of supernodes."""
        return int(self.weight.size)

    @cached_property
    def size(self) -> NDArray[np.int32]:
        """Rows of each supernode."""
        return _sizes(self.supernode, self.n_supernodes)

    def keeps_limits(self, colours: Colours) -> bool:
        """Whether no cluster has too few or too many rows."""
        if self.limits is None:
            return True
        return self.limits.hold(self.limits.sizes_of(colours[self.supernode]))

    @property
    def everyone(self) -> NDArray[np.int32]:
        """All supernodes."""
        return np.arange(self.n_supernodes, dtype=np.int32)

    def means(self, colours: Colours) -> tuple[Centroids, NDArray[np.float64]]:
        """Mean and total weight of each cluster; an empty cluster has mean 0 and weight 0."""
        return _core.cluster_means(self.core, colours, self.n_clusters)

    def inertia(self, colours: Colours, centroids: Centroids | None = None) -> float:
        """Inertia of a clustering about its means, or about given centroids."""
        if centroids is None:
            centroids, _ = self.means(colours)
        return self.within + _core.between_inertia(self.core, colours, centroids)

    def priced(self, prices: NDArray[np.float64], unavoidable: float = 0.0) -> Problem:
        """Give the same problem with soft pairs at these prices.

        Parameters
        ----------
        prices
            What breaking each pair costs, negative for pairs that belong apart.
        unavoidable
            What every clustering pays.
        """
        assert self.soft is not None
        core = self.core.with_soft(self.soft.core(prices))
        return replace(self, prices=prices, core=core, unavoidable=unavoidable)

    def counting_all(self, pair_price: PairPrice, labels: NDArray[np.int32]) -> Problem:
        """Let the objective have the price of all pairs of rows that a clustering breaks.

        Prices are those of pairs of supernodes: what speaks for each less what speaks against it,
        and none where hard pairs decide. What is missing is the same for all clusterings.

        Parameters
        ----------
        pair_price
            What a pair of rows costs.
        labels
            Cluster of each row, in any clustering.
        """
        colours = np.empty(self.n_supernodes, dtype=np.int32)
        colours[self.supernode] = labels
        seen = replace(self, unavoidable=0.0).price(colours)
        missing = pair_price.of_broken(self.constraints.soft, labels) - seen
        return replace(self, unavoidable=max(missing, 0.0))

    def price(self, colours: Colours) -> float:
        """Give what the soft pairs cost that a clustering breaks."""
        if self.soft is None or self.prices is None:
            return 0.0
        broken = self.prices[self.soft.violated(self.prices, colours)]
        return self.unavoidable + float(np.abs(broken).sum())

    def pulls(self, colours: Colours) -> NDArray[np.float64]:
        """Give what the prices of soft pairs pull each supernode by into each cluster."""
        if self.soft is None or self.prices is None:
            return np.zeros((self.n_supernodes, self.n_clusters))
        return self.soft.pulls(self.prices, colours, self.n_clusters)

    def soft_in_units(self, unit: float) -> _core.SoftPairs | None:
        """Give the soft pairs that have prices to the kernels.

        Parameters
        ----------
        unit
            What is 1 of the prices there.
        """
        if self.soft is None or self.prices is None:
            return None
        return self.soft.core(self.prices / unit)

    @cached_property
    def within_each(self) -> NDArray[np.float64]:
        """Inertia inside each supernode; ``within`` is the sum."""
        merged = np.flatnonzero((np.bincount(self.supernode) > 1)[self.supernode])
        members = self.supernode[merged]
        squares = np.empty(merged.size)
        for start in range(0, merged.size, ROWS_AT_A_TIME):
            block = slice(start, start + ROWS_AT_A_TIME)
            apart = self.rows[merged[block]] - self.points(members[block])
            squares[block] = (apart**2).sum(axis=1)
        if self.row_weight is not None:
            squares *= self.row_weight[merged]
        inside = np.bincount(members, squares, minlength=self.n_supernodes)
        return inside.astype(np.float64)

    def costs(
        self, centroids: Centroids, vertices: NDArray[np.int32] | None = None
    ) -> NDArray[np.float64]:
        """Weighted squared distance of supernodes (all, or some) to every centroid."""
        vertices = self.everyone if vertices is None else vertices
        costs = self.squared_distances(centroids, vertices)
        costs *= self.weight[vertices, None]
        return costs

    def squared_distances(
        self, centroids: Centroids, vertices: NDArray[np.int32] | None = None
    ) -> NDArray[np.float64]:
        """Squared distance of supernodes (all, or some) to every centroid, whatever they weigh."""
        vertices = self.everyone if vertices is None else vertices
        return _core.squared_distances(self.core, vertices, centroids)

    def own_costs(self, colours: Colours, centroids: Centroids) -> NDArray[np.float64]:
        """Weighted squared distance of every supernode to the centroid of its cluster."""
        return _core.own_costs(self.core, colours, centroids)

    def is_proper(self, colours: Colours) -> bool:
        """Whether no cannot-link edge has both ends in one cluster."""
        return self.graph.is_proper(colours)

    def labels(self, colours: Colours) -> NDArray[np.int32]:
        """Cluster of every row."""
        return colours[self.supernode]

    def points(self, vertices: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Mean points of some supernodes."""
        return _core.points(self.core, np.asarray(vertices, dtype=np.int32))

    def projected(self, origin: NDArray[np.float64], axes: NDArray[np.float64]) -> Problem:
        """Give the same rows and pairs in other coordinates, those along some axes.

        Clusterings of one are clusterings of the other. Where axes are orthogonal and of length 1,
        no inertia is higher there.

        Parameters
        ----------
        origin
            What becomes 0.
        axes
            One per column.
        """
        dtype = self.rows.dtype
        rows = np.empty((self.n_rows, axes.shape[1]), dtype=dtype)
        offset, directions = origin.astype(dtype), axes.astype(dtype)
        for start in range(0, self.n_rows, ROWS_AT_A_TIME):
            block = slice(start, start + ROWS_AT_A_TIME)
            rows[block] = (self.rows[block] - offset) @ directions
        source, merged, within = _merge(rows, self.supernode, self.n_supernodes, self.row_weight)
        core = _core.Instance(rows, merged, source, self.weight, self.graph.core, beside=self.core)
        if self.limits is not None:
            core.limit_sizes(self.size, self.limits.least, self.limits.most)
        projected = replace(
            self,
            rows=rows,
            within=within,
            shift=(self.shift + origin) @ axes,
            core=core,
        )
        return projected if self.prices is None else projected.priced(self.prices, self.unavoidable)


def _sizes(supernode: NDArray[np.int32], n_supernodes: int) -> NDArray[np.int32]:
    return np.bincount(supernode, minlength=n_supernodes).astype(np.int32)


def _centred(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    if X.nbytes > CENTRE_UP_TO_BYTES:
        return X, np.zeros(X.shape[1])
    # The shift is rounded to the data's own type, so adding it back to float32 loses nothing.
    shift = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    return X - shift, shift.astype(np.float64)


def _merge(
    rows: NDArray[Any],
    supernode: NDArray[np.int32],
    size: int,
    sample_weight: NDArray[np.float64] | None,
) -> tuple[NDArray[np.int32], NDArray[Any], float]:
    """Where each supernode's point lies, the means of the merged ones, the inertia inside them."""
    if size == supernode.size:  # every row is a supernode of its own
        return np.arange(size, dtype=np.int32), np.empty((0, rows.shape[1]), dtype=rows.dtype), 0.0
    source = np.empty(size, dtype=np.int32)
    source[supernode] = np.arange(supernode.size, dtype=np.int32)
    several = np.flatnonzero(np.bincount(supernode, minlength=size) > 1)
    source[several] = ~np.arange(several.size, dtype=np.int32)
    row_source = source[supernode]
    joined = np.flatnonzero(row_source < 0)
    members = joined[np.argsort(~row_source[joined], kind="stable")]
    weights = np.ones(members.size) if sample_weight is None else sample_weight[members]
    merged, within = _core.merge_rows(
        rows, members.astype(np.int32), ~row_source[members], weights, several.size
    )
    return source, merged, within


def contradiction(constraints: Constraints, pair: int) -> InfeasibleConstraintsError:
    """Say why a cannot-link pair cannot hold: must-link pairs join its rows."""
    path = must_link_path(constraints, pair)
    return InfeasibleConstraintsError.proven("the constraints contradict each other: ", path)
