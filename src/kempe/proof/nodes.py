"""The tree of a proof: what a node says, and what bounds it.

Facts
    All facts are about rows. A *group* is a set of rows known to be in one cluster; any of its
    rows stands for it. Groups of weight zero take part in deductions and in no matrix.
Tree
    The nodes of a tree come in preorder, the root first. A node has the facts of its parent, those
    it is given (``together``, ``apart``), and those that it deduces, in order. Its ``kind`` says
    how the clusterings that agree with these facts are bounded.
Parts
    A certificate has one tree for all rows, or several, each for the problem in which the rows
    outside of its ``rows`` have weight zero; the facts are about all rows everywhere. The inertia
    of a clustering is at least the sum of its inertias in these problems, so the bounds add up.
    (A clustering that a "fixing" node leaves out is no better than the labels on its part alone.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

RowPair = tuple[int, int]
Relation = Literal["together", "apart"]
NodeKind = Literal["bound", "fixing", "split", "few", "contradiction", "prices"]


@dataclass(frozen=True)
class Deduction:
    """Two rows that a clique of cannot-linked rows forces together or apart.

    Attributes
    ----------
    kind
        ``"together"``: the clique has k - 1 rows, each apart from both rows of the pair, which
        leaves one cluster to both. ``"apart"``: it has k rows, each apart from one row of the pair
        at least, so that with the pair in one cluster there would be k + 1 rows pairwise apart.
    pair
        The two rows.
    clique
        Rows that are pairwise apart.
    """

    kind: Relation
    pair: RowPair
    clique: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Inequalities sum_{j in J} Z_ij <= Z_ii + sum_{j<l in J} Z_jl and their multipliers.

    Numbers are those of groups in a node: groups of positive weight in the order of their first
    rows. Z_ij is 1 / (weight of the cluster) if groups i and j are in one cluster, else 0.

    Attributes
    ----------
    centres : int32 array of shape (m,)
        Group i of each cut.
    offsets : int64 array of shape (m + 1,)
        The members J of cut t are ``members[offsets[t]:offsets[t + 1]]``.
    members : int32 array
        Groups, distinct in each cut and different from its centre.
    multipliers : float64 array of shape (m,)
        Not negative, unless J are k groups that are pairwise apart: then the cut is an equality.
    """

    centres: NDArray[np.int32]
    offsets: NDArray[np.int64]
    members: NDArray[np.int32]
    multipliers: NDArray[np.float64]

    @classmethod
    def none(cls) -> Cuts:
        """No cuts."""
        return cls.of([], [], [])

    @classmethod
    def of(
        cls, centres: Sequence[int], members: Sequence[Sequence[int]], multipliers: Sequence[float]
    ) -> Cuts:
        """Cuts from lists of members.

        Parameters
        ----------
        centres
            The group in the middle of each cut.
        members
            The other groups of each cut.
        multipliers
            One number for each cut.
        """
        flat, offsets = joined(members)
        return cls(
            np.asarray(centres, dtype=np.int32),
            offsets,
            flat.astype(np.int32),
            np.asarray(multipliers, dtype=np.float64),
        )


@dataclass(frozen=True, eq=False)
class Multipliers:
    """What bounds a node: a matrix over its groups of positive weight, and cuts.

    Attributes
    ----------
    slack : float32 array of shape (N, N)
        Symmetric; not negative, unless the two groups are apart. Where sizes are limited, the
        diagonal may be anything.
    cuts
        The cuts.
    scale
        A power of two, the unit of ``slack`` and of the multipliers of the cuts: the matrix in the
        theorem is G + scale * (slack - sum of multiplier * cut). It keeps single precision usable
        whatever the unit of the data is.
    """

    slack: NDArray[np.float32]
    cuts: Cuts = field(default_factory=Cuts.none)
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class SoftPairs:
    """Pairs that may be broken, and what that costs.

    Attributes
    ----------
    pairs : int64 array of shape (m, 2)
        Row numbers.
    together : bool array of shape (m,)
        Whether each should be together; else apart.
    prices : float64 array of shape (m,)
        What each costs where it is not as it should be, in the unit of the inertia.
    """

    pairs: NDArray[np.int64]
    together: NDArray[np.bool_]
    prices: NDArray[np.float64]

    @classmethod
    def none(cls) -> SoftPairs:
        """No pairs."""
        return cls(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool), np.empty(0))


@dataclass(frozen=True, eq=False)
class Prices:
    """What bounds a node by how much any cluster can take from its groups of positive weight.

    Attributes
    ----------
    prices : float64 array of shape (N,)
        Price of each group; groups are in the order of their first rows.
    most
        No cluster takes more than that: the prices of its groups less what it costs.
    units : int32 array of shape (N,)
        Groups with the same number are pairwise apart, so that one of them pays at most.
    hubs : int32 array
        Groups that make two cases: such a group pays, and none that is apart from it, or it does
        not.
    scale
        A power of two, the unit of ``prices`` and ``most``.
    """

    prices: NDArray[np.float64]
    most: float
    units: NDArray[np.int32]
    hubs: NDArray[np.int32]
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the tree.

    Attributes
    ----------
    parent
        Position of the parent, ``None`` for the root.
    kind
        How the clusterings that agree with the facts are bounded:

        - ``"bound"``: by ``multipliers``.
        - ``"fixing"``: by ``multipliers``, which also show that a clustering with any of the pairs
          ``fixed`` together is no better than the labels. The one child is given these apart.
        - ``"split"``: the two children are given ``pair`` together and apart.
        - ``"few"``: there are at most k groups of positive weight, each a cluster of its own.
        - ``"contradiction"``: there are none. The ``witness`` is k + 1 rows pairwise apart, or two
          rows that are both together and apart, or empty where limits on sizes leave none.
        - ``"prices"``: by ``prices``.
    together, apart
        Pairs of rows given by the parent.
    deductions
        What follows from the facts, in order.
    multipliers, fixed, pair, witness, prices
        See ``kind``.
    """

    parent: int | None
    kind: NodeKind
    together: tuple[RowPair, ...] = ()
    apart: tuple[RowPair, ...] = ()
    deductions: tuple[Deduction, ...] = ()
    multipliers: Multipliers | None = None
    fixed: tuple[RowPair, ...] = ()
    pair: RowPair | None = None
    witness: tuple[int, ...] = ()
    prices: Prices | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """A tree, and the rows whose inertia it bounds.

    Attributes
    ----------
    rows : int64 array
        Rows, disjoint from those of other parts. The others have weight zero in this tree.
    nodes
        The tree in preorder.
    """

    rows: NDArray[np.int64]
    nodes: tuple[Node, ...]


def joined(lists: Iterable[Iterable[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Write a list of lists as one array of all items and one of where each list starts."""
    items = [np.fromiter(values, dtype=np.int64) for values in lists]
    flat = np.concatenate([np.empty(0, dtype=np.int64), *items])
    return flat, offsets(values.size for values in items)


def offsets(counts: Iterable[int]) -> NDArray[np.int64]:
    """Say where each of several lists starts in one array of all their items, and its end."""
    return np.cumsum([0, *counts], dtype=np.int64)
