"""Several files with the same columns as one table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from kempe.tables.numerals import Numbers
from kempe.tables.table import Table, listed


class JoinedTable(Table):
    """The rows of several tables, one after the other.

    Parameters
    ----------
    source
        What messages call all of them.
    tables
        The tables, at least one.

    Raises
    ------
    ValueError
        If they have not all the same columns.
    """

    def __init__(self, source: str, tables: Sequence[Table]) -> None:
        first = tables[0]
        for table in tables[1:]:
            if table.names != first.names:
                raise ValueError(
                    f"{table.source} has the columns {listed(table.names)}, but {first.source} "
                    f"has {listed(first.names)}"
                )
        super().__init__(source, first.names, first.has_header)
        self._tables = tables
        self.decimal = first.decimal
        self.is_text = all(table.is_text for table in tables)

    @cached_property
    def _sizes(self) -> list[int]:
        return [table.n_rows for table in self._tables]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self._sizes)

    def _floats(self, columns: Sequence[int]) -> Numbers:
        return np.concatenate([table._floats(columns) for table in self._tables])

    def texts(self, column: int) -> list[str]:
        """Give one column as text without blanks around it."""
        return [cell for table in self._tables for cell in table.texts(column)]

    def place(self, row: int) -> str:
        """Say where a row is, for messages."""
        for table, size in zip(self._tables, self._sizes, strict=True):
            if row < size:
                return table.place(row)
            row -= size
        raise IndexError(row)
