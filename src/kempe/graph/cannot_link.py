"""The cannot-link graph by itself, for questions that need no data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe import _core

Edges = NDArray[np.int32]
"""Pairs of vertices, shape (m, 2), the smaller first."""


@dataclass(frozen=True, eq=False)
class CannotLinkGraph:
    """An undirected graph in compressed sparse rows; neighbours ascend and are unique.

    Attributes
    ----------
    core
        What kernels work on.
    """

    core: _core.Graph

    @classmethod
    def from_edges(cls, size: int, edges: NDArray[np.integer[Any]]) -> CannotLinkGraph:
        """Build the graph of ``size`` vertices from pairs of different vertices.

        Parameters
        ----------
        size
            Number of vertices.
        edges
            Pairs of vertices, of shape (m, 2).
        """
        ends = np.concatenate([edges, edges[:, ::-1]]) if len(edges) else np.empty((0, 2), int)
        ones = np.ones(len(ends), dtype=np.int32)
        return cls._of(sparse.csr_array((ones, (ends[:, 0], ends[:, 1])), shape=(size, size)))

    @classmethod
    def _of(cls, matrix: sparse.csr_array) -> CannotLinkGraph:
        matrix.sum_duplicates()
        offsets, targets = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        return cls(_core.Graph(offsets, targets))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the neighbours of each vertex begin in ``targets``, and the end of the last."""
        return self.core.offsets

    @cached_property
    def targets(self) -> NDArray[np.int32]:
        """Neighbours: those of vertex ``v`` are ``targets[offsets[v]:offsets[v + 1]]``."""
        return self.core.targets

    @property
    def size(self) -> int:
        """Number of vertices."""
        return self.core.size

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return int(self.targets.size // 2)

    @cached_property
    def degree(self) -> NDArray[np.int64]:
        """Number of neighbours of each vertex."""
        return self.offsets[1:] - self.offsets[:-1]

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """Symmetric sparse matrix of ones."""
        ones = np.ones(self.targets.size, dtype=np.int8)
        return sparse.csr_array((ones, self.targets, self.offsets), shape=(self.size, self.size))

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Connected component of each vertex, numbered in the order of their first vertices."""
        component, _ = _core.supernodes(self.size, self.edges.astype(np.int64))
        return component

    @cached_property
    def complete_components(self) -> NDArray[np.bool_]:
        """Whether each component is a clique; a single vertex is one."""
        size = np.bincount(self.components)
        ends = np.bincount(self.components, self.degree)
        return np.asarray(ends == size * (size - 1))

    @cached_property
    def clique_components(self) -> list[NDArray[np.intp]]:
        """Vertices of each component that is a clique of two or more."""
        chosen = np.flatnonzero(self.complete_components[self.components] & (self.degree > 0))
        if not chosen.size:
            return []
        order = chosen[np.argsort(self.components[chosen], kind="stable")]
        return np.split(order, np.flatnonzero(np.diff(self.components[order])) + 1)

    @cached_property
    def edges(self) -> Edges:
        """All edges, the smaller end first, in lexicographic order."""
        source = np.repeat(np.arange(self.size, dtype=np.int32), self.degree)
        upper = source < self.targets
        return np.column_stack([source[upper], self.targets[upper]])

    def induced(self, vertices: NDArray[np.integer[Any]]) -> CannotLinkGraph:
        """Give the subgraph on ``vertices``, renumbered in their order."""
        return self._of(sparse.csr_array(self.matrix[vertices][:, vertices]))

    def parts(self) -> list[NDArray[np.intp]]:
        """Vertices of each connected component."""
        order = np.argsort(self.components, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.components[order])) + 1)

    def is_proper(self, colours: NDArray[np.int32]) -> bool:
        """Whether the ends of every edge have different colours."""
        return _core.is_proper(self.core, colours)

    def is_tight(self, n_clusters: int) -> bool:
        """Whether there are so few clusters that classic DSATUR finds no colouring.

        Then Kempe swaps connect few of the proper colourings. Costs next to nothing.
        """
        if not self.n_edges or self.degree.max(initial=0) < n_clusters:
            return False
        return bool(_core.dsatur(self.core, n_clusters)[1] >= 0)
