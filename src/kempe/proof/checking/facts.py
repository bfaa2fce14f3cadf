"""What is known about a clustering: whole numbers, no rounding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe.proof.checking.rounding import require
from kempe.proof.nodes import Deduction

Rows = NDArray[np.int64]


class GivenPairs:
    """Which groups the user's pairs keep apart; sets are made of them where they are asked for.

    So many sets would take longer than all else, and a part of the data needs few of them.
    """

    def __init__(self, n_rows: int, ends: Rows) -> None:
        self._n_rows = n_rows
        self._ends = ends
        self._sets: dict[int, set[int]] = {}

    @cached_property
    def _table(self) -> sparse.csr_array:
        both = np.concatenate([self._ends, self._ends[:, ::-1]])
        pairs = np.ones(len(both), dtype=bool), tuple(both.T)
        return sparse.coo_array(pairs, shape=(self._n_rows, self._n_rows)).tocsr()

    def others(self, a: int) -> set[int]:
        """Give those apart from a group, not to be changed."""
        if a not in self._sets:
            start, end = self._table.indptr[a : a + 2]
            self._sets[a] = set(self._table.indices[start:end].tolist())
        return self._sets[a]


class Facts:
    """What is known: groups of rows that are together, and pairs of groups that are apart.

    ``group`` names the group of each row by its smallest row. ``_learnt`` has what is apart from a
    group where that is not what was ``_given``. Copies share it until one of them changes it:
    ``_own`` names those groups of which nobody else has the set.
    """

    def __init__(self, group: Rows, given: GivenPairs, learnt: dict[int, set[int]]) -> None:
        self.group = group
        self._given = given
        self._learnt = learnt
        self._own: set[int] = set()

    @classmethod
    def given(cls, n_rows: int, must_link: NDArray[Any], cannot_link: NDArray[Any]) -> Facts:
        """Start with the user's pairs."""
        links = sparse.coo_array((np.ones(len(must_link)), must_link.T), shape=(n_rows, n_rows))
        _, component = sparse.csgraph.connected_components(links, directed=False)
        smallest = np.unique(component, return_index=True)[1]
        group = smallest[component].astype(np.int64)
        return cls(group, GivenPairs(n_rows, group[cannot_link].reshape(-1, 2)), {})

    def copy(self) -> Facts:
        """Facts that can grow without changing these."""
        self._own.clear()
        return Facts(self.group.copy(), self._given, dict(self._learnt))

    def apart_from(self, a: int) -> set[int]:
        """Give the groups that are apart from a group, not to be changed."""
        learnt = self._learnt.get(a)
        return self._given.others(a) if learnt is None else learnt

    def _others(self, a: int) -> set[int]:
        """Those apart from a group, to be changed here and nowhere else."""
        if a not in self._own:
            self._learnt[a] = set(self.apart_from(a))
            self._own.add(a)
        return self._learnt[a]

    def of(self, row: int) -> int:
        """Group of a row."""
        require(0 <= row < self.group.size, f"there is no row {row}")
        return int(self.group[row])

    def are_apart(self, a: int, b: int) -> bool:
        """Whether two rows are known to be in different clusters."""
        return self.of(b) in self.apart_from(self.of(a))

    def are_clique(self, rows: Iterable[int]) -> bool:
        """Whether rows are pairwise apart."""
        return all(self.are_apart(a, b) for a, b in combinations(rows, 2))

    def separate(self, a: int, b: int) -> None:
        """Learn that two rows are in different clusters."""
        a, b = self.of(a), self.of(b)
        self._others(a).add(b)
        self._others(b).add(a)

    def join(self, a: int, b: int) -> None:
        """Learn that two rows are in one cluster."""
        a, b = sorted((self.of(a), self.of(b)))
        if a == b:
            return
        self.group[self.group == b] = a
        others, self._learnt[b] = self.apart_from(b), set()
        for other in others:
            self._others(other).discard(b)
            self.separate(a, other)

    def deduce(self, deduction: Deduction, k: int) -> None:
        """Learn what a clique forces; ``Deduction`` says why it does."""
        (a, b), clique = deduction.pair, deduction.clique
        together = deduction.kind == "together"
        size, rule = (k - 1, all) if together else (k, any)
        require(
            len(clique) == size
            and self.are_clique(clique)
            and all(rule(self.are_apart(row, c) for row in (a, b)) for c in clique),
            f"rows {a} and {b} need not be {deduction.kind} because of {clique}",
        )
        (self.join if together else self.separate)(a, b)

    def is_contradiction(self, witness: Sequence[int], k: int) -> bool:
        """Whether rows show that no clustering agrees with the facts."""
        if len(witness) == 2 and self.of(witness[0]) == self.of(witness[1]):
            return self.are_apart(*witness)
        return len(witness) == k + 1 and self.are_clique(witness)
