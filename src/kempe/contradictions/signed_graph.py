"""What pairs say about vertices: together or apart, and how much that is worth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe import _core
from kempe.problem import Colours
from kempe.soft_pairs import each_once


@dataclass(frozen=True, eq=False)
class SignedGraph:
    """Vertices and what is said about each two of them, summed up.

    Attributes
    ----------
    size
        Number of vertices.
    first, second
        The two vertices of each pair, every pair once.
    price
        What breaking it costs: positive if they belong together, negative if apart.
    """

    size: int
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    price: NDArray[np.float64]

    @classmethod
    def of(
        cls, size: int, pairs: NDArray[np.integer[Any]], price: NDArray[np.float64]
    ) -> SignedGraph:
        """Add up what is said about the same two vertices; pairs inside a vertex say nothing."""
        ends = np.sort(pairs.reshape(-1, 2), axis=1).astype(np.int64)
        between = ends[:, 0] != ends[:, 1]
        first, second, which = each_once(ends[between], size)
        total = np.bincount(which, price[between], minlength=first.size).astype(np.float64)
        said = total != 0
        ends_said = first[said].astype(np.int32), second[said].astype(np.int32)
        return cls(size, *ends_said, total[said])

    @cached_property
    def core(self) -> _core.SoftPairs:
        """The same for the kernels."""
        return _core.SoftPairs(self.size, self.first, self.second, self.price)

    def kept(self, colours: Colours) -> NDArray[np.bool_]:
        """Which pairs a clustering keeps."""
        same = colours[self.first] == colours[self.second]
        return np.asarray(same == (self.price > 0))

    def cost(self, colours: Colours) -> float:
        """Give what the pairs cost that a clustering breaks."""
        return float(np.abs(self.price[~self.kept(colours)]).sum())

    def joined_by(self, pairs: NDArray[np.bool_]) -> tuple[int, NDArray[np.int32]]:
        """Give the number of parts that some pairs make of the vertices, and the part of each."""
        ones = np.ones(np.count_nonzero(pairs), dtype=np.int8)
        ends = (self.first[pairs], self.second[pairs])
        joined = sparse.coo_array((ones, ends), (self.size, self.size))
        count, part = sparse.csgraph.connected_components(joined, directed=False)
        return int(count), part

    def contracted(self, count: int, part: NDArray[np.int32]) -> SignedGraph:
        """Make one vertex of each part."""
        return SignedGraph.of(
            count, np.column_stack([part[self.first], part[self.second]]), self.price
        )
