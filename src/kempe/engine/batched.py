"""Descent in batches: rows in no constraint move all at once, the others by Kempe swaps.

The rows in no constraint, a crowd, go to their nearest centroids; of them only sums are needed, so
they may lie anywhere. Everything else is gathered in one place, where the crowd of each cluster
stands beside it as one heavy supernode, its anchor, and a sequential descent goes down to a local
optimum. Both meet in the means: neither step raises the inertia. In the end rows of the crowd that
another cluster would take for less, as Hartigan and Wong judge, are gathered as well, so the end is
an optimum of the same kind as that of the sequential descent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.constraints import Constraints
from kempe.engine.crowd import (
    NOTHING,
    Floats,
    FreeRows,
    FreeRowSums,
    Numbers,
    Rows,
    farthest_of_part,
    look_at_part,
)
from kempe.engine.sequential import SequentialDescent
from kempe.graph import CannotLinkGraph
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Context, Descent
from kempe.search.empty import full_solution
from kempe.soft_pairs import SoftPairs

# A step that lowers the objective by less than this share of it is none: it might be rounding.
SMALLEST_STEP = 1e-12


@dataclass(frozen=True, eq=False)
class Gathered:
    """The supernodes that a crowd is not: constrained ones, and single rows withdrawn from it.

    Attributes
    ----------
    n_clusters
        Number of clusters.
    points, weight
        Of the supernodes.
    edges
        Cannot-link pairs among them.
    within
        Inertia inside the supernodes.
    shift
        What was subtracted from the user's data.
    constraints
        What the supernodes were made of, for messages.
    withdrawn
        Row numbers of the last supernodes, which came out of the crowd.
    soft, prices
        Pairs of supernodes that may be broken, if there are any, and what that costs, if it is
        known.
    unavoidable
        What every clustering pays for soft pairs.
    """

    n_clusters: int
    points: Floats
    weight: Floats
    edges: NDArray[np.integer]
    within: float
    shift: Floats
    constraints: Constraints = field(default_factory=Constraints)
    withdrawn: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    soft: SoftPairs | None = None
    prices: Floats | None = None
    unavoidable: float = 0.0

    @classmethod
    def empty(cls, n_clusters: int, n_features: int) -> Gathered:
        """Gather nothing."""
        return cls(
            n_clusters=n_clusters,
            points=np.empty((0, n_features)),
            weight=NOTHING,
            edges=np.empty((0, 2), dtype=np.int32),
            within=0.0,
            shift=np.zeros(n_features),
        )

    def __len__(self) -> int:
        return len(self.weight)

    def joined_by(self, rows: Rows) -> Gathered:
        """Add rows of the crowd."""
        return replace(
            self,
            points=np.concatenate([self.points, rows.points]),
            weight=np.concatenate([self.weight, rows.weight]),
            withdrawn=np.concatenate([self.withdrawn, rows.number]),
        )

    def with_anchors(self, crowd: FreeRowSums, centroids: Centroids) -> Problem:
        """Make a problem of the supernodes and, behind them, an anchor for each crowd."""
        some = crowd.weight > 0
        return self.beside(crowd.means(centroids)[some], crowd.weight[some], crowd.within)

    def beside(self, points: Floats, weight: Floats, within: float) -> Problem:
        """Make a problem of the supernodes and, behind them, points that stand for many rows.

        Parameters
        ----------
        points, weight
            The points.
        within
            Inertia inside what they stand for.
        """
        rows = np.concatenate([self.points, points])
        weight = np.concatenate([self.weight, weight])
        everyone = np.arange(len(rows), dtype=np.int32)
        graph = self._graph(len(rows))
        merged = np.empty((0, rows.shape[1]))
        soft = None if self.soft is None else replace(self.soft, n_supernodes=len(rows))
        problem = Problem(
            n_clusters=self.n_clusters,
            rows=rows,
            supernode=everyone,
            row_weight=weight,
            weight=weight,
            within=self.within + within,
            graph=graph,
            shift=self.shift,
            core=_core.Instance(rows, merged, everyone, weight, graph.core, 1),
            constraints=self.constraints,
            soft=soft,
        )
        return problem if self.prices is None else problem.priced(self.prices, self.unavoidable)

    def _graph(self, size: int) -> CannotLinkGraph:
        """Build the graph, which depends on the number of anchors alone, once."""
        if size not in self._graphs:
            self._graphs.clear()
            self._graphs[size] = CannotLinkGraph.from_edges(size, self.edges)
        return self._graphs[size]

    @cached_property
    def _graphs(self) -> dict[int, CannotLinkGraph]:
        return {}


@dataclass(frozen=True, eq=False)
class BatchedStep:
    """A clustering: of the crowd by its nearest centroids, of the gathered supernodes by colours.

    Attributes
    ----------
    seen
        Centroids to which the crowd went.
    anchors
        Colour of the crowd that went to each of them.
    gathered, colours
        The other supernodes, and their colours.
    means, weight
        Mean and weight of each cluster.
    inertia, objective
        Inertia of the clustering, and the same with the prices of broken soft pairs.
    """

    seen: Centroids
    anchors: Colours
    gathered: Gathered
    colours: Colours
    means: Centroids
    weight: Floats
    inertia: float
    objective: float


def means_for_all(means: Centroids, weight: Floats) -> Centroids:
    """Let empty clusters, which have no mean, stand where the heaviest does.

    Parameters
    ----------
    means, weight
        Of all clusters.
    """
    return np.where(weight[:, None] > 0, means, means[weight.argmax()])


class BatchedSearch:
    """Goes down from centroids and colours of the gathered supernodes.

    Parameters
    ----------
    free
        The crowd.
    rng, stopper
        Randomness, and when to stop.
    """

    def __init__(self, free: FreeRows, rng: np.random.Generator, stopper: _core.Stopper) -> None:
        self._free = free
        self._rng = rng
        self._stopper = stopper
        self._descent = SequentialDescent()

    def descend(
        self, gathered: Gathered, centroids: Centroids, colours: Colours
    ) -> Iterator[BatchedStep]:
        """Hand out every clustering on the way down; the last one is a local optimum.

        Each but the last lowers the objective by a share of it, which none does for ever.
        """
        last, asked = np.inf, NOTHING
        while True:
            step = self._step(gathered, centroids, colours, asked)
            yield step
            lower = step.objective < last * (1 - SMALLEST_STEP)
            if not lower and asked.size:
                return
            # Only where nothing else moves any more, rows are asked for that are better off
            # elsewhere.
            asked = NOTHING if lower else step.weight
            gathered, colours, centroids = step.gathered, step.colours, step.means
            last = min(last, step.objective)

    def _step(
        self, gathered: Gathered, centroids: Centroids, colours: Colours, asked: Floats
    ) -> BatchedStep:
        crowd = self._free.look(centroids, asked)
        if len(crowd.better_elsewhere):
            gathered, crowd, colours = self._withdrawn(
                gathered, crowd, colours, crowd.better_elsewhere, centroids
            )
        step = self._settled(gathered, crowd, centroids, colours)
        if step.weight.all():
            return step
        # Whoever costs most may have a cluster to itself.
        far = self._free.farthest(centroids, int(np.count_nonzero(step.weight == 0)))
        gathered, crowd, colours = self._withdrawn(gathered, crowd, step.colours, far, centroids)
        return self._settled(gathered, crowd, centroids, colours, fill=True)

    def _withdrawn(
        self,
        gathered: Gathered,
        crowd: FreeRowSums,
        colours: Colours,
        rows: Rows,
        centroids: Centroids,
    ) -> tuple[Gathered, FreeRowSums, Colours]:
        self._free.withdraw(rows.number)
        joined = np.concatenate([colours, rows.nearest])
        return gathered.joined_by(rows), crowd.without(rows, centroids), joined

    def _settled(
        self,
        gathered: Gathered,
        crowd: FreeRowSums,
        centroids: Centroids,
        colours: Colours,
        *,
        fill: bool = False,
    ) -> BatchedStep:
        problem = gathered.with_anchors(crowd, centroids)
        context = Context(problem, self._rng, self._stopper)
        some = np.flatnonzero(crowd.weight > 0).astype(np.int32)
        found = self._descent.descend(context, np.concatenate([colours, some]))
        if fill:
            found = full_solution(problem, found).colours
        means, weight = problem.means(found)
        inertia = problem.inertia(found, means)
        anchors = np.arange(gathered.n_clusters, dtype=np.int32)
        anchors[some] = found[len(gathered) :]
        return BatchedStep(
            seen=centroids,
            anchors=anchors,
            gathered=gathered,
            colours=found[: len(gathered)],
            means=means_for_all(means, weight),
            weight=weight,
            inertia=inertia,
            objective=inertia + problem.price(found),
        )


class BatchedDescent(Descent):
    """The same descent of data in one memory: what a cluster of machines does, by one of them."""

    def __init__(self) -> None:
        self._sequential = SequentialDescent()

    def settle(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Improve the assignment to fixed centroids until nothing improves it any more."""
        return self._sequential.settle(context, colours, centroids)

    def descend(self, context: Context, colours: Colours) -> Colours:
        """Go down to a local optimum of the inertia."""
        problem = context.problem
        free = _RowsInMemory(problem)
        gathered, vertices = _gathered(problem)
        search = BatchedSearch(free, context.rng, context.stopper)
        centroids = means_for_all(*problem.means(colours))
        for step in search.descend(gathered, centroids, colours[vertices]):  # noqa: B007
            if context.stopper.look():
                break
        return free.colours(step, vertices)


class _RowsInMemory:
    """The supernodes of a problem that are single rows without a cannot-link pair."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._weight = NOTHING if problem.row_weight is None else problem.row_weight
        self._held = np.flatnonzero(_is_gathered(problem)[problem.supernode])

    def look(self, centroids: Centroids, cluster_weight: Floats = NOTHING) -> FreeRowSums:
        """Add up all rows at their nearest centroids."""
        rows = self._problem.rows
        return look_at_part(rows, self._weight, self._held, 0, centroids, cluster_weight)

    def farthest(self, centroids: Centroids, most: int) -> Rows:
        """Give the rows that cost most."""
        rows = self._problem.rows
        return farthest_of_part(rows, self._weight, self._held, 0, centroids, most)

    def withdraw(self, numbers: Numbers) -> None:
        """Leave out rows from now on."""
        self._held = np.union1d(self._held, numbers)

    def colours(self, step: BatchedStep, vertices: NDArray[np.intp]) -> Colours:
        """Colour of every supernode, in order."""
        problem = self._problem
        nearest, _ = _core.nearest_centroids(problem.rows, step.seen)
        colours = np.empty(problem.n_supernodes, dtype=np.int32)
        colours[problem.supernode] = step.anchors[nearest]
        colours[vertices] = step.colours[: vertices.size]
        withdrawn = problem.supernode[step.gathered.withdrawn]
        colours[withdrawn] = step.colours[vertices.size :]
        return colours


def _is_gathered(problem: Problem) -> NDArray[np.bool_]:
    rows = np.bincount(problem.supernode, minlength=problem.n_supernodes)
    return (rows > 1) | (problem.graph.degree > 0)


def _gathered(problem: Problem) -> tuple[Gathered, NDArray[np.intp]]:
    """Give the supernodes that are no single row without a pair, and their numbers."""
    vertices = np.flatnonzero(_is_gathered(problem))
    found = Gathered(
        n_clusters=problem.n_clusters,
        points=problem.points(vertices),
        weight=problem.weight[vertices],
        edges=np.searchsorted(vertices, problem.graph.edges),
        within=problem.within,
        shift=problem.shift,
    )
    return found, vertices
