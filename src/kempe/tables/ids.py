"""Ids of rows, which pairs may name instead of row numbers."""

from __future__ import annotations

from kempe.tables.missing import is_missing
from kempe.tables.table import Table


class Ids:
    """The id of each row, each only once.

    Parameters
    ----------
    table, column
        Where they are.

    Attributes
    ----------
    column
        Name of the column.
    names
        The ids, in the order of the rows.
    """

    def __init__(self, table: Table, column: int) -> None:
        self.column = table.names[column]
        self.source = table.source
        self.names = table.texts(column)
        self._rows = {name: row for row, name in enumerate(self.names)}
        for row, name in enumerate(self.names):
            if is_missing(name):
                raise ValueError(f"{table.place(row)}: the id in column {self.column!r} is missing")
        if len(self._rows) < len(self.names):
            self._complain_of_repetition(table)

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    def row(self, name: str) -> int | None:
        """Give the row with an id, or nothing."""
        return self._rows.get(name)

    def _complain_of_repetition(self, table: Table) -> None:
        first: dict[str, int] = {}
        for row, name in enumerate(self.names):
            if name in first:
                earlier, later = table.place(first[name]), table.place(row)
                raise ValueError(
                    f"the id {name!r} stands for two rows ({earlier}; {later}); an id must name one"
                )
            first[name] = row
