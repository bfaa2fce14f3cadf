"""One part of an assignment problem, as the solvers see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe import _core
from kempe.graph import CannotLinkGraph
from kempe.problem import Colours

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CliqueRows:
    """Cliques that cover all edges; at most one vertex of each may be in a cluster."""

    offsets: NDArray[np.int64]
    members: NDArray[np.int32]

    @classmethod
    def of(cls, graph: CannotLinkGraph, stopper: _core.Stopper | None = None) -> CliqueRows:
        """Cover the edges of a graph; where time is up, the rest of them one by one."""
        return cls(*_core.clique_cover(graph.core, stopper))

    @property
    def count(self) -> int:
        """Number of cliques."""
        return int(self.offsets.size - 1)

    @cached_property
    def incidence(self) -> sparse.csr_array:
        """Matrix of ones, cliques by vertices."""
        width = int(self.members.max(initial=-1)) + 1
        ones = np.ones(self.members.size)
        return sparse.csr_array((ones, self.members, self.offsets), shape=(self.count, width))

    def extended(self, cliques: list[list[int]]) -> CliqueRows:
        """Append more cliques."""
        ends = self.offsets[-1] + np.cumsum([len(clique) for clique in cliques])
        members = np.concatenate(cliques).astype(np.int32)
        return CliqueRows(
            np.concatenate([self.offsets, ends]), np.concatenate([self.members, members])
        )

    def among(self, vertices: NDArray[np.intp]) -> tuple[CliqueRows, NDArray[np.intp]]:
        """Give the cliques of a component, renumbered in the order of its vertices, and which."""
        place = np.full(int(self.members.max(initial=-1)) + 1, -1, dtype=np.int32)
        inside = vertices[vertices < place.size]
        place[inside] = np.arange(inside.size, dtype=np.int32)
        which = np.flatnonzero(place[self.members[self.offsets[:-1]]] >= 0)
        members = place[self.members]
        lengths = np.diff(self.offsets)[which]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return CliqueRows(offsets, members[members >= 0]), which

    def loads(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of the vertices' shares in each cluster, for every clique: (n_cliques, k)."""
        return np.asarray(self.incidence @ shares[: self.incidence.shape[1]])

    def overloaded(self, shares: NDArray[np.float64], limit: float) -> NDArray[np.bool_]:
        """Where a load exceeds a limit, if most shares are zero: (n_cliques, k)."""
        loads = sparse.coo_array(
            self.incidence @ sparse.csr_array(shares[: self.incidence.shape[1]])
        )
        heavy = loads.data > limit
        overloaded = np.zeros(loads.shape, dtype=bool)
        overloaded[loads.row[heavy], loads.col[heavy]] = True
        return overloaded

    def matrix(
        self, wanted: NDArray[np.bool_], columns: Columns
    ) -> tuple[sparse.csr_array, tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Rows of the linear program, and the clique and the cluster of each.

        Those of the wanted (clique, cluster) that have several variables.
        """
        clique, cluster = np.nonzero(wanted)
        length = np.diff(self.offsets)[clique]
        ends = np.cumsum(length)
        within = np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - length, length)
        member = self.members[np.repeat(self.offsets[clique], length) + within]
        column = columns.number[member, np.repeat(cluster, length)]
        row = np.repeat(np.arange(clique.size), length)[column >= 0]
        column = column[column >= 0]
        size = np.bincount(row, minlength=clique.size)
        entries = sparse.csr_array(
            (np.ones(column.size), column, np.concatenate([[0], np.cumsum(size)])),
            shape=(clique.size, columns.count),
        )
        several = size > 1
        return sparse.csr_array(entries[several]), (clique[several], cluster[several])


class Columns:
    """Which (vertex, cluster) pairs are variables, and in which column each stands."""

    def __init__(self, open_: NDArray[np.bool_]) -> None:
        self.vertex, self.cluster = np.nonzero(open_)
        self.n_clusters = int(open_.shape[1])
        self.number: NDArray[np.int32] = np.full(open_.shape, -1, dtype=np.int32)
        self.number[self.vertex, self.cluster] = np.arange(self.vertex.size, dtype=np.int32)

    @property
    def count(self) -> int:
        """Number of variables."""
        return int(self.vertex.size)

    def one_cluster_each(self) -> sparse.csr_array:
        """Rows that sum the variables of each vertex that has any."""
        starts = np.flatnonzero(np.diff(self.vertex, prepend=-1))
        offsets = np.append(starts, self.count)
        numbers = np.arange(self.count)
        return sparse.csr_array(
            (np.ones(self.count), numbers, offsets), shape=(starts.size, self.count)
        )

    def one_vertex_each(self) -> sparse.csr_array:
        """Rows that sum the variables of each cluster."""
        shape = (self.n_clusters, self.count)
        return sparse.csr_array(
            (np.ones(self.count), (self.cluster, np.arange(self.count))), shape=shape
        )

    def spread(self, values: NDArray[Any], otherwise: float) -> NDArray[np.float64]:
        """Put one value per variable back into a table of vertices and clusters."""
        table = np.full(self.number.shape, otherwise)
        table[self.vertex, self.cluster] = values
        return table


@dataclass(frozen=True)
class AssignmentPart:
    """Vertices to assign, the costs that are left to choose from, and the best colouring known.

    Attributes
    ----------
    graph
        Cannot-link graph of the vertices.
    cliques
        Cover of its edges.
    costs
        Cost per vertex and cluster, infinite where a cluster is ruled out.
    incumbent
        A proper colouring, or ``None``.
    cover
        Whether every cluster must get a vertex.
    rows
        Which (clique, cluster) rows to begin with; a solver that cannot take all adds others when
        a solution violates them.
    """

    graph: CannotLinkGraph
    cliques: CliqueRows
    costs: NDArray[np.float64]
    incumbent: Colours | None
    cover: bool = False
    rows: NDArray[np.bool_] | None = None

    @property
    def cutoff(self) -> float:
        """Cost of the incumbent; infinite without one."""
        return np.inf if self.incumbent is None else self.cost(self.incumbent)

    def cost(self, colours: Colours) -> float:
        """Total cost of a colouring."""
        return float(self.costs[np.arange(colours.size), colours].sum())

    def with_costs(self, costs: Floats) -> AssignmentPart:
        """Give the same part with other costs."""
        return replace(self, costs=costs)

    def accepts(self, colours: Colours) -> bool:
        """Whether a colouring satisfies everything."""
        if not self.graph.is_proper(colours) or not np.isfinite(self.cost(colours)):
            return False
        return not self.cover or np.unique(colours).size == self.costs.shape[1]


@dataclass(frozen=True)
class PartOutcome:
    """What a solver says about a part.

    Attributes
    ----------
    colours
        The best colouring it found, or ``None``.
    bound
        No colouring of the part that the solver looked at costs less.
    complete
        Whether the search ended by itself: then the colouring is optimal, or there is none (better
        than the incumbent, if the solver was given one).
    """

    colours: Colours | None
    bound: float
    complete: bool


def cover_clusters(costs: Floats, colours: Colours) -> Colours:
    """Move the vertices that lose least into empty clusters.

    An empty cluster has no neighbours, so any vertex that another one can spare may move there.
    """
    size = np.bincount(colours, minlength=costs.shape[1])
    for cluster in np.flatnonzero(size == 0):
        loss = costs[:, cluster] - costs[np.arange(colours.size), colours]
        loss[size[colours] < 2] = np.inf
        vertex = int(np.argmin(loss))
        if not np.isfinite(loss[vertex]):
            break
        size[colours[vertex]] -= 1
        size[cluster] = 1
        colours = colours.copy()
        colours[vertex] = cluster
    return colours
