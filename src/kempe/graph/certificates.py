"""Proofs that no clustering satisfies the constraints, in the user's row numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kempe import _core
from kempe.constraints import Constraints, RowNames
from kempe.exceptions import Interrupted
from kempe.graph.cannot_link import CannotLinkGraph
from kempe.pairs import Pairs
from kempe.words import counted

# How many rows or pairs a message shows before it says "and so on".
SHOWN = 12

# Exact branching of CriticalPairs.verify stops here; small proofs need far less.
VERIFICATION_SECONDS = 60.0


@dataclass(frozen=True)
class MustLinkPath:
    """Must-link pairs that join the two rows of a cannot-link pair.

    Attributes
    ----------
    rows
        From one row of the cannot-link pair to the other, each joined to the next by a must-link
        pair; no shorter path exists.
    names
        What messages call the rows, if not by their numbers.
    """

    rows: tuple[int, ...]
    names: RowNames | None = field(default=None, repr=False, compare=False)

    def verify(self, constraints: Constraints, n_clusters: int | None = None) -> bool:
        """Check the proof against the constraints alone."""
        path = self.rows
        return (
            len(path) > 1
            and are_among(list(pairwise(path)), constraints.must_link)
            and are_among([(path[0], path[-1])], constraints.cannot_link)
        )

    def __str__(self) -> str:
        rows = names_of_rows(self.rows, self.names)
        return (
            f"rows {rows[0]} and {rows[-1]} cannot be linked, "
            f"but must-link pairs join them: {listed(' = ', rows)}"
        )


@dataclass(frozen=True, eq=False)
class Clique:
    """More groups of rows than clusters, each cannot-linked to every other.

    Attributes
    ----------
    pairs
        One cannot-link pair for every two groups; the rows of a group are must-linked.
    size
        Number of groups.
    names
        What messages call the rows, if not by their numbers.
    """

    pairs: Pairs
    size: int
    names: RowNames | None = field(default=None, repr=False, compare=False)

    def verify(self, constraints: Constraints, n_clusters: int) -> bool:
        """Check the proof against the constraints alone."""
        if not are_among(self.pairs, constraints.cannot_link):
            return False
        ends = np.sort(supernodes_of(constraints)[self.pairs], axis=1)
        different = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
        vertices = np.unique(different).size
        complete = len(different) == vertices * (vertices - 1) // 2
        return complete and vertices == self.size > max(n_clusters, 0)

    def __str__(self) -> str:
        rows = names_of_rows(np.unique(self.pairs).tolist(), self.names)
        kind = "rows" if len(rows) == self.size else "groups of must-linked rows, around rows"
        return (
            f"{self.size} {kind} {listed(', ', rows)} are cannot-linked to each other, "
            f"so at least {self.size} clusters are needed"
        )


@dataclass(frozen=True, eq=False)
class CriticalPairs:
    """Cannot-link pairs that no clustering into k clusters satisfies all at once.

    Attributes
    ----------
    pairs
        The pairs.
    n_clusters
        The number of clusters, k.
    proven_minimal
        Whether every pair is needed: without any one of them the others can be satisfied.
    names
        What messages call the rows, if not by their numbers.
    """

    pairs: Pairs
    n_clusters: int
    proven_minimal: bool
    names: RowNames | None = field(default=None, repr=False, compare=False)

    def verify(
        self, constraints: Constraints, n_clusters: int, *, seconds: float = VERIFICATION_SECONDS
    ) -> bool:
        """Check the proof by exact branching, without a solver.

        False if the pairs can be satisfied, if one is not among the constraints, or if
        ``seconds`` do not suffice to tell.

        Parameters
        ----------
        seconds
            Most time to spend.
        """
        if not are_among(self.pairs, constraints.cannot_link):
            return False
        graph = pairs_graph(supernodes_of(constraints), self.pairs)
        stopper = _core.Stopper(seconds)
        status, _, _ = _core.colour_exactly(graph.core, n_clusters, 2**62, stopper)
        raise_interrupt(stopper)
        return status == 0

    def __str__(self) -> str:
        ends = (names_of_rows(pair, self.names) for pair in self.pairs.tolist())
        pairs = [f"({a}, {b})" for a, b in ends]
        needed = ", and every one of them is needed" if self.proven_minimal else ""
        return (
            f"{counted(len(pairs), 'cannot-link pair')} cannot be satisfied together with "
            f"{counted(self.n_clusters, 'cluster')}{needed}: {listed(', ', pairs)}"
        )


Certificate = MustLinkPath | Clique | CriticalPairs


def raise_interrupt(stopper: _core.Stopper) -> None:
    """Raise what came while kernels ran, Ctrl-C or what a signal handler has raised."""
    stopper.raise_pending()
    if stopper.interrupted:
        raise Interrupted


def must_link_path(constraints: Constraints, pair: int) -> MustLinkPath:
    """Find the shortest must-link path between the rows of a cannot-link pair that has one."""
    first, second = (int(row) for row in constraints.cannot_link[pair])
    ml = constraints.must_link
    size = _n_rows(constraints)
    ones = np.ones(len(ml), dtype=np.int8)
    graph = sparse.csr_array((ones, (ml[:, 0], ml[:, 1])), shape=(size, size))
    _, before = sparse.csgraph.breadth_first_order(graph, first, directed=False)
    rows = [second]
    while rows[-1] != first:
        rows.append(int(before[rows[-1]]))
    return MustLinkPath(tuple(rows[::-1]), constraints.row_names)


def pairs_of_edges(constraints: Constraints, edges: NDArray[np.integer[Any]]) -> Pairs:
    """Give for each edge between supernodes the first cannot-link pair that makes it."""
    supernode = supernodes_of(constraints)
    made = _keys(supernode[constraints.cannot_link])
    distinct, first = np.unique(made, return_index=True)
    return constraints.cannot_link[first[np.searchsorted(distinct, _keys(edges))]]


def pairs_graph(supernode: NDArray[np.int32], pairs: Pairs) -> CannotLinkGraph:
    """Build the graph that some cannot-link pairs make, on the supernodes that they touch."""
    vertices, ends = np.unique(supernode[pairs], return_inverse=True)
    return CannotLinkGraph.from_edges(vertices.size, ends.reshape(-1, 2))


def _n_rows(constraints: Constraints) -> int:
    pairs = (constraints.must_link, constraints.cannot_link)
    return max([constraints.n_rows or 0, *(int(p.max()) + 1 for p in pairs if p.size)])


def supernodes_of(constraints: Constraints, n_rows: int = 0) -> NDArray[np.int32]:
    """Give the supernode of each row, of at least so many rows."""
    return _core.supernodes(max(n_rows, _n_rows(constraints)), constraints.must_link)[0]


def _keys(pairs: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """One number per unordered pair."""
    ends = pairs.astype(np.int64)
    return np.asarray(ends.min(axis=1) * (1 << 31) + ends.max(axis=1))


def are_among(pairs: ArrayLike, among: Pairs) -> bool:
    """Whether pairs, of which nothing is known, are some of the given ones, one at least."""
    try:
        given = np.asarray(pairs)
    except ValueError:  # of different lengths
        return False
    if given.dtype.kind not in "iu" or given.ndim != 2 or given.shape[1] != 2 or not given.size:
        return False
    # Beyond the rows that there are, keys of different pairs may be the same.
    if not among.size or given.min() < 0 or given.max() > among.max():
        return False
    return bool(np.isin(_keys(given), _keys(among)).all())


def names_of_rows(rows: Iterable[int], names: RowNames | None) -> list[str]:
    """Give what messages call some rows, as text."""
    return [str(row if names is None else names[row]) for row in rows]


def listed(separator: str, items: Any) -> str:
    """Join the first few of some items."""
    shown = [str(item) for item in items[:SHOWN]]
    return separator.join(shown) + (" ..." if len(items) > SHOWN else "")
