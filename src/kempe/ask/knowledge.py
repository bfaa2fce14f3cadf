"""What follows from answers: which rows are together, which apart, and which class is whose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Knowledge:
    """Groups of rows that belong together, and which groups are apart.

    Must-link is transitive, and what is apart from one row of a group is apart from all of it. If
    there are as many groups as clusters that are all apart from each other, the classes, then a
    group that is apart from all but one of them belongs to that one.

    Parameters
    ----------
    n_clusters
        Number of clusters.

    Examples
    --------
    >>> known = Knowledge(2)
    >>> known.add(0, 1, together=True)
    >>> known.add(1, 2, together=False)
    >>> known.add(2, 3, together=False)
    >>> known.relation(0, 2), known.relation(0, 3), known.relation(0, 4)
    (False, True, None)
    """

    def __init__(self, n_clusters: int) -> None:
        self.n_clusters = n_clusters
        self._parent: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._apart: dict[int, set[int]] = {}
        self._classes: list[int] | None = None

    def copy(self) -> Knowledge:
        """Give one that can learn more without this one."""
        other = Knowledge(self.n_clusters)
        other._parent = dict(self._parent)
        other._members = {root: list(rows) for root, rows in self._members.items()}
        other._apart = {root: set(roots) for root, roots in self._apart.items()}
        return other

    def add_pairs(self, pairs: NDArray[Any] | Iterable[tuple[int, int]], together: bool) -> None:
        """Take in many pairs.

        Parameters
        ----------
        pairs
            Row numbers.
        together
            Whether they belong together.
        """
        for first, second in np.asarray(pairs).reshape(-1, 2).tolist():
            self.add(first, second, together)

    def add(self, first: int, second: int, together: bool) -> None:
        """Take in one pair; one that contradicts what is known must not come here."""
        a, b = self._root(first), self._root(second)
        self._classes = None
        if not together:
            self._apart[a].add(b)
            self._apart[b].add(a)
        elif a != b:
            self._join(a, b)

    def _join(self, a: int, b: int) -> None:
        if len(self._members[a]) < len(self._members[b]):
            a, b = b, a
        self._parent[b] = a
        self._members[a] += self._members.pop(b)
        for other in self._apart.pop(b):
            self._apart[other].discard(b)
            self._apart[other].add(a)
            self._apart[a].add(other)

    def _root(self, row: int) -> int:
        if row not in self._parent:
            self._parent[row], self._members[row], self._apart[row] = row, [row], set()
        return self._find(row)

    def _find(self, row: int) -> int:
        while self._parent[row] != row:
            self._parent[row] = self._parent[self._parent[row]]
            row = self._parent[row]
        return row

    def is_touched(self, row: int) -> bool:
        """Whether anything is known about a row."""
        return row in self._parent

    def relation(self, first: int, second: int) -> bool | None:
        """Whether two rows are together, or apart, or it does not follow."""
        if first == second:
            return True
        if first not in self._parent or second not in self._parent:
            return None
        a, b = self._find(first), self._find(second)
        if a == b:
            return True
        if b in self._apart[a]:
            return False
        one, other = self._class_of_root(a), self._class_of_root(b)
        if one is None and other is None:
            return None
        if one is not None and other is not None:
            return one == other
        if one is None:
            return False if self.classes[other] in self._apart[a] else None  # type: ignore[index]
        return False if self.classes[one] in self._apart[b] else None

    @property
    def classes(self) -> list[int]:
        """One row of each class: groups that are all apart, the best connected ones first."""
        if self._classes is None:
            order = sorted(
                self._members, key=lambda r: (-len(self._apart[r]), -len(self._members[r]), r)
            )
            found: list[int] = []
            for root in order:
                if len(found) < self.n_clusters and self._apart[root].issuperset(found):
                    found.append(root)
            self._classes = found
        return self._classes

    def members(self, row: int) -> list[int]:
        """Give the rows of the group of a row that something is known about."""
        return self._members[self._find(row)]

    def groups(self) -> Iterator[tuple[int, list[int]]]:
        """Give a row of each group and all of its rows."""
        yield from self._members.items()

    def candidates(self, row: int) -> list[int]:
        """Give the classes, by their numbers, that a row may belong to as far as is known."""
        if row not in self._parent:
            return list(range(len(self.classes)))
        root = self._find(row)
        if root in self.classes:
            return [self.classes.index(root)]
        return [c for c, other in enumerate(self.classes) if other not in self._apart[root]]

    def class_of(self, row: int) -> int | None:
        """Give the class that a row is known to belong to, by its number."""
        return None if row not in self._parent else self._class_of_root(self._find(row))

    def _class_of_root(self, root: int) -> int | None:
        classes = self.classes
        if root in classes:
            return classes.index(root)
        if len(classes) < self.n_clusters:
            return None
        left = [c for c, other in enumerate(classes) if other not in self._apart[root]]
        return left[0] if len(left) == 1 else None

    def labelled(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give all rows whose class is known, and their classes."""
        rows: list[int] = []
        classes: list[int] = []
        for root, members in self._members.items():
            own = self._class_of_root(root)
            if own is not None:
                rows += members
                classes += [own] * len(members)
        return np.array(rows, dtype=np.int64), np.array(classes, dtype=np.int64)

    def open_groups(self) -> list[int]:
        """Give a row of each group of which something is known, but not its class."""
        return [root for root in self._members if self._class_of_root(root) is None]

    def rows(self) -> NDArray[np.int64]:
        """Give all rows about which something is known."""
        return np.fromiter(self._parent, dtype=np.int64, count=len(self._parent))

    def edges(self) -> NDArray[np.int64]:
        """Give the pairs of groups that are apart, each by one of its rows."""
        found = [(a, b) for a, others in self._apart.items() for b in others if a < b]
        return np.array(found, dtype=np.int64).reshape(-1, 2)
