"""How cannot-link pairs lower what a cluster can take: units of groups, and hubs.

Of a unit, groups that are pairwise apart, at most one pays. Each group is in one unit, so those
pairs are chosen that save most where the bound is attained. A hub, apart from more groups than a
unit can hold, is a case distinction: either it pays, or those that it is apart from do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_HUBS = 8
LARGEST_UNIT = 8
# A hub saves more than so many of its pairs could, and this share of what all pairs could save.
HUB_PAIRS, HUB_SHARE = 3.0, 0.01


@dataclass(frozen=True, eq=False)
class Rules:
    """Units and hubs.

    Attributes
    ----------
    unit
        Unit of each group, named by one of its members.
    hubs
        Groups that are cases.
    offsets, neighbours
        Those that each hub is apart from.
    """

    unit: NDArray[np.int32]
    hubs: NDArray[np.int32]
    offsets: NDArray[np.int64]
    neighbours: NDArray[np.int32]

    @classmethod
    def none(cls, size: int) -> Rules:
        """Nobody shares anything."""
        no = np.empty(0, dtype=np.int32)
        return cls(np.arange(size, dtype=np.int32), no, np.zeros(1, dtype=np.int64), no)

    @classmethod
    def of(cls, size: int, edges: NDArray[np.int32], savings: Floats) -> Rules:
        """Choose by what each pair saves, most valuable first."""
        adjacent = _adjacency(size, edges)
        hubs = _hubs(size, edges, savings)
        is_hub = np.zeros(size, dtype=bool)
        is_hub[hubs] = True
        free = (savings > 0) & ~is_hub[edges].any(axis=1)
        order = np.flatnonzero(free)[np.argsort(-savings[free], kind="stable")]
        unit = _units(size, edges[order], adjacent)
        lists = [np.array(sorted(adjacent.get(hub, ())), dtype=np.int32) for hub in hubs]
        return cls(
            unit,
            np.array(hubs, dtype=np.int32),
            np.cumsum([0, *(one.size for one in lists)], dtype=np.int64),
            np.concatenate([np.empty(0, dtype=np.int32), *lists]),
        )


def _adjacency(size: int, edges: NDArray[np.int32]) -> dict[int, set[int]]:
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    names, first = np.unique(both[:, 0], return_index=True)
    others = np.split(both[:, 1], first[1:])
    return {int(a): set(o.tolist()) for a, o in zip(names, others, strict=False)}


def _hubs(size: int, edges: NDArray[np.int32], savings: Floats) -> list[int]:
    """Find groups whose pairs save much more together than any few of them."""
    left = savings.copy()
    hubs: list[int] = []
    least = HUB_SHARE * savings.sum()
    while len(hubs) < MOST_HUBS:  # each round has a hub more
        total = np.bincount(edges.ravel(), np.repeat(left, 2), minlength=size)
        largest = np.zeros(size)
        np.maximum.at(largest, edges.ravel(), np.repeat(left, 2))
        worth = np.where(total > HUB_PAIRS * largest, total, 0.0)
        hub = int(worth.argmax()) if size else 0
        if worth[hub] <= least:
            break
        hubs.append(hub)
        left[(edges == hub).any(axis=1)] = 0.0
    return hubs


def _units(size: int, edges: NDArray[np.int32], adjacent: dict[int, set[int]]) -> NDArray[np.int32]:
    """Grow units from pairs in their order; a group joins one if it is apart from all of it."""
    unit = np.arange(size, dtype=np.int32)
    members: dict[int, list[int]] = {}
    for a, b in edges.tolist():
        own, other = members.get(a), members.get(b)
        if own is None and other is None:
            members[a] = members[b] = [a, b]
        elif own is None or other is None:
            group, joined = (a, other) if own is None else (b, own)
            assert joined is not None
            if len(joined) < LARGEST_UNIT and adjacent[group].issuperset(joined):
                joined.append(group)
                members[group] = joined
    for group, joined in members.items():
        unit[group] = joined[0]
    return unit
