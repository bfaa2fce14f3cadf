"""What is known at a node of the proof: which rows are together, which groups are apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kempe.graph import CannotLinkGraph
from kempe.problem import Problem

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Facts:
    """A partition of the rows into groups, and which groups are apart.

    Attributes
    ----------
    group
        Group of each row, numbered by first row.
    cannot
        Whether two groups are apart, a symmetric matrix.
    """

    group: NDArray[np.int32]
    cannot: NDArray[np.bool_]

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.cannot.shape[0])

    @cached_property
    def first_row(self) -> NDArray[np.intp]:
        """Smallest row of each group, by which certificates name it."""
        return np.unique(self.group, return_index=True)[1]

    @classmethod
    def of(cls, problem: Problem) -> Facts:
        """Start with the user's pairs."""
        return cls.of_edges(problem.supernode, problem.n_supernodes, problem.graph.edges)

    @classmethod
    def of_rows(cls, problem: Problem, rows: NDArray[np.int64]) -> Self:
        """Start with the user's pairs among some rows, which are numbered from 0.

        Each supernode is among them with all of its rows or with none.
        """
        vertices, first, inside = np.unique(
            problem.supernode[rows], return_index=True, return_inverse=True
        )
        number = np.empty(first.size, dtype=np.int32)
        number[np.argsort(first)] = np.arange(first.size, dtype=np.int32)
        edges = number[problem.graph.induced(vertices).edges]
        return cls.of_edges(number[inside], first.size, edges)

    @classmethod
    def of_edges(
        cls, group: NDArray[np.int32], n_groups: int, edges: NDArray[np.integer[Any]]
    ) -> Self:
        """Make them of groups of rows, and of pairs of groups that are apart."""
        cannot = np.zeros((n_groups, n_groups), dtype=bool)
        a, b = edges.T
        cannot[a, b] = cannot[b, a] = True
        return cls(group, cannot)

    @cached_property
    def graph(self) -> CannotLinkGraph:
        """The same as a graph."""
        return CannotLinkGraph.from_edges(self.n_groups, np.argwhere(np.triu(self.cannot)))

    def torn_group(self) -> Pair | None:
        """Two rows of a group that are also kept apart, if there is such a group.

        They are the same row, if it is the one that stands for the group.
        """
        torn = np.flatnonzero(self.cannot.diagonal())
        return None if not torn.size else (int(self.first_row[torn[0]]),) * 2

    def with_together(self, pairs: Iterable[Pair]) -> Self:
        """Merge the groups of pairs of rows."""
        return self._merged(self.group[as_pairs(pairs)])

    def with_apart(self, pairs: Iterable[Pair]) -> Self:
        """Keep the groups of pairs of rows apart."""
        a, b = self.group[as_pairs(pairs)].T
        cannot = self.cannot.copy()
        cannot[a, b] = cannot[b, a] = True
        return type(self)(self.group, cannot)

    def _merged(self, pairs: NDArray[np.int32]) -> Self:
        into = merged_groups(pairs, self.n_groups)
        edges = into[np.argwhere(self.cannot)]
        return self.of_edges(into[self.group], int(into.max()) + 1, edges)


def merged_groups(pairs: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Where each of so many groups goes when pairs of them are merged.

    Groups are numbered by first row, so those that are merged are numbered by first group.
    """
    joined = sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(size, size))
    _, component = connected_components(joined, directed=False)
    _, first, renumbered = np.unique(component, return_index=True, return_inverse=True)
    position = np.empty(first.size, dtype=np.int32)
    position[np.argsort(first)] = np.arange(first.size, dtype=np.int32)
    return position[renumbered]


def as_pairs(pairs: Iterable[Pair]) -> NDArray[Any]:
    """Pairs of rows as an array."""
    return np.array(list(pairs), dtype=np.intp).reshape(-1, 2)
