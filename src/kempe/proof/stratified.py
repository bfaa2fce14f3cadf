"""Parts of the rows that look alike.

Inside each cluster of the labels groups are halved along their first principal axis, again and
again, down to blocks of as many groups as there are parts. Each block gives one group to each
part: so outliers are spread, every part has its share of every region, and the part's own best
clusters are hardly cheaper than the labels are there.

What the labels lose by being parts is that each part has centroids of its own. So block after block
is dealt again, given all others: who goes where is an assignment problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kempe.problem import Problem
from kempe.proof.relaxation import Floats

Numbers = NDArray[np.intp]

# Steps of the power method, which is enough for an axis along which a block is long.
AXIS_STEPS = 8
# Times that every block is dealt again; more change next to nothing.
ROUNDS = 3
# Blocks of more groups are left as they are: the time of an assignment grows with their cube.
LARGEST_BLOCK = 400


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

    def evened(
        self,
        points: Floats,
        weight: Floats,
        colours: NDArray[np.integer],
        stop: Callable[[], bool],
    ) -> Strata:
        """Deal blocks again, so that centroids of parts are near those of the labels."""
        order = np.argsort(self.block, kind="stable")
        ends = np.cumsum(np.bincount(self.block))
        blocks = np.split(order, ends[:-1])
        if stop() or max(map(len, blocks)) > LARGEST_BLOCK:
            return self
        dealt = _Dealt(points, weight, colours, self.part)
        for _ in range(ROUNDS):
            for members in blocks:
                if stop():
                    return replace(self, part=dealt.part)
                dealt.deal_again(members)
        return replace(self, part=dealt.part)

    def rows(self, problem: Problem) -> list[NDArray[np.int64]]:
        """Rows of each part, ascending; must-linked rows stay together."""
        of_rows = self.part[problem.supernode]
        ends = np.cumsum(np.bincount(of_rows, minlength=int(self.part.max()) + 1))
        return np.split(np.argsort(of_rows, kind="stable").astype(np.int64), ends[:-1])


class _Dealt:
    """Parts of the groups, and what their clusters weigh and where they pull their centroids.

    A cluster of a part that weighs W and has S as the weighted sum of its groups, each less the
    centroid of the labels, is cheaper by |S|^2 / W than it is with that centroid.
    """

    def __init__(
        self, points: Floats, weight: Floats, colours: NDArray[np.integer], part: Numbers
    ) -> None:
        self.part = part.copy()
        self._weight = weight
        self._colours = colours
        size = int(colours.max()) + 1, int(part.max()) + 1
        total = np.bincount(colours, weight, minlength=size[0])
        sums = np.zeros((size[0], points.shape[1]))
        np.add.at(sums, colours, weight[:, None] * points)
        centroids = sums / np.where(total > 0, total, 1.0)[:, None]
        self._pull = weight[:, None] * (points - centroids[colours])
        self._mass = np.zeros(size)
        self._sums = np.zeros((*size, points.shape[1]))
        np.add.at(self._mass, (colours, part), weight)
        np.add.at(self._sums, (colours, part), self._pull)

    def deal_again(self, members: Numbers) -> None:
        """Let the groups of a block change parts, so that centroids move least."""
        colour, parts = self._colours[members[0]], self.part[members]
        mass, sums = self._mass[colour], self._sums[colour]
        pull, weight = self._pull[members], self._weight[members]
        mass[parts] -= weight
        sums[parts] -= pull
        rest = sums[parts]
        squares = np.add.outer((pull**2).sum(axis=1), (rest**2).sum(axis=1)) + 2 * pull @ rest.T
        whole = np.add.outer(weight, mass[parts])
        cheaper = np.divide(squares, whole, out=np.zeros_like(squares), where=whole > 0)
        # What the parts would gain without the block is a column's own, and changes nothing.
        _, chosen = linear_sum_assignment(cheaper)
        self.part[members] = parts[chosen]
        mass[parts[chosen]] += weight
        sums[parts[chosen]] += pull


def _blocks(points: Floats, members: Numbers, size: int) -> Iterator[Numbers]:
    """Halve groups along their longest axis. Ends: halves are smaller."""
    if members.size <= size:
        yield members
        return
    centred = points[members] - points[members].mean(axis=0)
    axis = centred[np.argmax(np.einsum("ij,ij->i", centred, centred))]
    for _ in range(AXIS_STEPS):
        axis = (centred @ (axis / (np.linalg.norm(axis) or 1.0))) @ centred
    half = -(-members.size // (2 * size)) * size
    order = members[np.argpartition(centred @ axis, half)]
    yield from _blocks(points, order[:half], size)
    yield from _blocks(points, order[half:], size)
