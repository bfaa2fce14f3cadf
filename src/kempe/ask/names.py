"""Names of rows: what a person calls them, and their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np


class RowNames:
    """Ids of rows, or their numbers if there are no ids.

    Parameters
    ----------
    ids
        Id of each row, or None.
    n_rows
        Number of rows.

    Attributes
    ----------
    ids
        Id of each row, if there are ids.
    """

    def __init__(self, ids: Any, n_rows: int) -> None:
        self.ids = _ids(ids, n_rows)
        self._n_rows = n_rows
        self._row_of = None if self.ids is None else {n: row for row, n in enumerate(self.ids)}

    def name(self, row: int) -> Any:
        """Give the name of a row."""
        return row if self.ids is None else self.ids[row]

    def names(self, rows: tuple[int, int]) -> tuple[Any, Any]:
        """Give the names of two rows."""
        return self.name(rows[0]), self.name(rows[1])

    def row(self, name: Any) -> int:
        """Give the row of a name."""
        if self._row_of is not None:
            if name not in self._row_of:
                raise ValueError(f"there is no row {name!r}")
            return self._row_of[name]
        if not isinstance(name, Integral) or not 0 <= int(name) < self._n_rows:
            raise ValueError(f"there is no row {name!r}")
        return int(name)

    def rows(self, pair: Sequence[Any]) -> tuple[int, int]:
        """Give the two different rows of a pair."""
        if len(pair) != 2:
            raise ValueError(f"a pair has two rows, got {pair!r}")
        first, second = (self.row(one) for one in pair)
        if first == second:
            raise ValueError(f"a pair has two different rows, got {pair[0]!r} twice")
        return first, second


def _ids(ids: Any, n_rows: int) -> list[Any] | None:
    if ids is None:
        return None
    names = np.asarray(ids).tolist() if not isinstance(ids, list | tuple) else list(ids)
    if len(names) != n_rows:
        raise ValueError(f"there are {len(names)} ids for {n_rows} rows")
    if len(set(names)) < len(names):
        raise ValueError("an id must name one row, but some stand for several")
    return names
