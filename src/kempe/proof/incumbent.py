"""The best clustering known while a proof grows, and how the relaxation helps to find better."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from kempe import _core
from kempe.constraints import Constraints
from kempe.engine import KempeKMeans, SequentialDescent
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.problem import Problem
from kempe.proof.facts import Facts
from kempe.proof.relaxation import Data, Relaxation, Singles
from kempe.proof.terms import PricedPairs
from kempe.search.descent import Context
from kempe.search.empty import full_solution

# What a clustering must be better by to count: less is rounding.
LEAST_GAIN = 1e-9
# Of the time there is, the part that a search may take; the proof needs the rest.
SEARCH_SHARE = 0.5


class Incumbent:
    """The best labels so far. Threads may offer better ones.

    Parameters
    ----------
    problem
        What the labels obey.
    data
        Its rows and weights.
    labels
        The first ones.
    rng
        Randomness of searches.
    stopper
        Ends searches early.
    prices
        Soft pairs, in the unit of the scaled data.

    Attributes
    ----------
    labels
        The best so far.
    objective
        Their inertia and the prices of soft pairs that they break, in the unit of the scaled data.
    """

    is_whole = True

    def __init__(
        self,
        problem: Problem,
        data: Data,
        labels: NDArray[np.int32],
        rng: np.random.Generator,
        stopper: _core.Stopper,
        prices: PricedPairs | None = None,
    ) -> None:
        self.labels = labels
        self._prices = prices
        self._problem = problem
        self._data = data
        self.objective = self._objective(labels)
        self._rng = rng
        self._stopper = stopper
        self._descent = SequentialDescent()
        self._lock = threading.Lock()

    def round(self, relaxation: Relaxation, Y: Singles) -> None:
        """Descend from the clustering that a matrix of the relaxation is near."""
        of_groups = _merged(relaxation, Y)
        position = relaxation.position[relaxation.facts.group]
        if (position < 0).any():  # rows without weight may need some other cluster
            return
        colours = np.empty(self._problem.n_supernodes, dtype=np.int32)
        colours[self._problem.supernode] = of_groups[position]
        if self._problem.is_proper(colours) and self._problem.keeps_limits(colours):
            self._descend(colours)
        else:
            self._search(
                self._problem.constraints,
                self._problem.n_supernodes,
                init=_centroids(relaxation, of_groups),
                max_mutations=0,
            )

    def take_groups(self, relaxation: Relaxation) -> None:
        """Make each group a cluster, where there are so few that this is best."""
        position = relaxation.position[relaxation.facts.group]
        if (position < 0).any():  # rows without weight need a cluster too
            self.search(relaxation.facts)
        else:
            self.offer(position)

    def search(self, facts: Facts) -> None:
        """Search among the clusterings that agree with what is known."""
        rows = facts.first_row
        together = np.column_stack([rows[facts.group], np.arange(facts.group.size)])
        apart = rows[np.argwhere(np.triu(facts.cannot))]
        known = Constraints(together[together[:, 0] != together[:, 1]], apart)
        self._search(known, facts.n_groups)

    def offer(self, labels: NDArray[np.int32]) -> None:
        """Take labels if they are better, and clusters have the sizes that they may have."""
        limits = self._problem.limits
        if limits is not None and limits.excess(limits.sizes_of(labels)).any():
            return
        objective = self._objective(labels)
        with self._lock:
            if objective < self.objective * (1 - LEAST_GAIN):
                self.labels, self.objective = labels, objective

    def _objective(self, labels: NDArray[np.int32]) -> float:
        inertia = self._data.inertia(labels)
        return inertia if self._prices is None else inertia + self._prices.broken(labels)

    def _descend(self, colours: NDArray[np.int32]) -> None:
        context = Context(self._problem, self._rng, self._stopper)
        lower = self._descent.descend(context, colours)
        self.offer(self._problem.labels(full_solution(self._problem, lower).colours))

    def _search(self, constraints: Constraints, n_groups: int, **settings: Any) -> None:
        if self._prices is not None:  # it would choose prices of its own
            return
        k, limits = min(self._problem.n_clusters, n_groups), self._problem.limits
        if limits is not None:
            if k < limits.n_clusters:
                return
            settings |= {"size_min": limits.least, "size_max": limits.most}
        left = SEARCH_SHARE * self._stopper.remaining
        limit = None if np.isinf(left) else max(left, 1e-3)
        model = KempeKMeans(k, random_state=self._seed(), time_limit=limit, **settings)
        try:
            data = self._data.heavy
            model.fit(data.rows, constraints=constraints, sample_weight=data.weight)
        except (NoSolutionFoundError, InfeasibleConstraintsError):
            return  # none that agrees with the facts, so none better than the labels, or none found
        if model.result_.stop_reason == "interrupted":
            self._stopper.stop()  # the search has kept Ctrl-C to itself
        self.offer(model.labels_)

    def _seed(self) -> int:
        with self._lock:
            return int(self._rng.integers(2**31 - 1))


class PartIncumbent:
    """The labels of a part of the rows.

    What the part alone says excludes no clustering of the whole, so nothing is fixed by it, and
    better labels for the part are of no use.
    """

    is_whole = False

    def __init__(self, data: Data, labels: NDArray[np.int32]) -> None:
        self.labels = labels
        self.objective = data.inertia(labels)

    def round(self, relaxation: Relaxation, Y: Singles) -> None:
        """Do nothing."""

    def take_groups(self, relaxation: Relaxation) -> None:
        """Do nothing."""

    def search(self, facts: Facts) -> None:
        """Do nothing."""


def _merged(relaxation: Relaxation, Y: Singles) -> NDArray[np.int32]:
    """Merge groups into k clusters, those first that Y has together most."""
    apart = 1 - relaxation.togetherness(Y)
    # Far enough that no average makes up for it, unless nothing else is left to merge.
    apart[relaxation.cannot] = relaxation.size
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(np.maximum(apart, 0), checks=False), "average")
    clusters = fcluster(tree, relaxation.n_clusters, "maxclust")
    return np.asarray(clusters - 1, dtype=np.int32)


def _centroids(relaxation: Relaxation, clusters: NDArray[np.int32]) -> NDArray[np.float64]:
    """Means of clusters; where there are fewer than k, groups stand in for the others."""
    k = relaxation.n_clusters
    root = np.sqrt(relaxation.weight)
    weight = np.bincount(clusters, relaxation.weight, minlength=k)
    sums = np.zeros((k, relaxation.factor.shape[1]))
    np.add.at(sums, clusters, relaxation.factor * root[:, None])
    empty = np.flatnonzero(weight == 0)
    sums[empty], weight[empty] = (relaxation.factor / root[:, None])[: empty.size], 1.0
    return sums / weight[:, None]
