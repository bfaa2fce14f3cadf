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
        cannot = np.zeros((problem.n_supernodes, problem.n_supernodes), dtype=bool)
        a, b = problem.graph.edges.T
        cannot[a, b] = cannot[b, a] = True
        return cls(problem.supernode, cannot)

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
        return self._merged(self.group[_as_pairs(pairs)])

    def with_apart(self, pairs: Iterable[Pair]) -> Self:
        """Keep the groups of pairs of rows apart."""
        a, b = self.group[_as_pairs(pairs)].T
        cannot = self.cannot.copy()
        cannot[a, b] = cannot[b, a] = True
        return type(self)(self.group, cannot)

    def _merged(self, pairs: NDArray[np.int32]) -> Self:
        size = self.n_groups
        joined = sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(size, size))
        _, component = connected_components(joined, directed=False)
        _, first, renumbered = np.unique(component, return_index=True, return_inverse=True)
        # Groups are numbered by first row, so components are to be numbered by first group.
        position = np.empty(first.size, dtype=np.int32)
        position[np.argsort(first)] = np.arange(first.size, dtype=np.int32)
        into = position[renumbered]
        cannot = np.zeros((first.size, first.size), dtype=bool)
        a, b = np.nonzero(self.cannot)
        cannot[into[a], into[b]] = True
        return type(self)(into[self.group], cannot)


def _as_pairs(pairs: Iterable[Pair]) -> NDArray[Any]:
    return np.array(list(pairs), dtype=np.intp).reshape(-1, 2)
