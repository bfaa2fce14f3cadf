"""Parts of the rows that look alike.

Inside each cluster of the labels groups are halved along their first principal axis, again and
again, down to blocks of as many groups as there are parts. Each block gives one group to each
part: so outliers are spread, every part has its share of every region, and the part's own best
clusters are hardly cheaper than the labels are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe.problem import Problem
from kempe.proof.relaxation import Floats

Numbers = NDArray[np.intp]

# Steps of the power method, which is enough for an axis along which a block is long.
AXIS_STEPS = 8


@dataclass(frozen=True, eq=False)
class Strata:
    """Part and block of each group.

    Attributes
    ----------
    part
        Part of each group.
    block
        Block of each group; a part has one group of a block at most.
    """

    part: Numbers
    block: Numbers

    @classmethod
    def of(
        cls,
        points: Floats,
        colours: NDArray[np.integer],
        n_parts: int,
        rng: np.random.Generator,
    ) -> Strata:
        """Deal the groups of each cluster, block by block."""
        part, block = np.zeros_like(colours, dtype=np.intp), np.zeros_like(colours, dtype=np.intp)
        sizes, number = np.zeros(n_parts), 0
        for colour in np.unique(colours):
            for members in _blocks(points, np.flatnonzero(colours == colour), n_parts):
                # Where a block has too few groups, those parts get one that have fewest.
                order = np.lexsort((rng.random(n_parts), sizes))[: members.size]
                part[members], block[members] = rng.permutation(order), number
                sizes[order] += 1
                number += 1
        return cls(part, block)

    def rows(self, problem: Problem) -> list[NDArray[np.int64]]:
        """Rows of each part, ascending; must-linked rows stay together."""
        of_rows = self.part[problem.supernode]
        ends = np.cumsum(np.bincount(of_rows, minlength=int(self.part.max()) + 1))
        return np.split(np.argsort(of_rows, kind="stable").astype(np.int64), ends[:-1])


def _blocks(points: Floats, members: Numbers, size: int) -> Iterator[Numbers]:
    """Halve groups along their longest axis. Ends: halves are smaller."""
    if members.size <= size:
        yield members
        return
    centred = points[members] - points[members].mean(axis=0)
    axis = centred[np.argmax(np.einsum("ij,ij->i", centred, centred))]
    for _ in range(AXIS_STEPS):
        axis = (centred @ (axis / (np.linalg.norm(axis) or 1.0))) @ centred
    order = members[np.argsort(centred @ axis, kind="stable")]
    half = -(-members.size // (2 * size)) * size
    yield from _blocks(points, order[:half], size)
    yield from _blocks(points, order[half:], size)
