"""Ids of rows, which pairs may name instead of row numbers."""

from __future__ import annotations

from kempe.storage import unguarded
from kempe.tables.missing import is_missing
from kempe.tables.table import Table

# So many repeated ids, and so many rows of each, are told.
MOST_TOLD = 10


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
        return self.row(name) is not None

    def row(self, name: str) -> int | None:
        """Give the row with an id, or nothing; our own tables have apostrophes before formulas."""
        row = self._rows.get(name)
        return self._rows.get(unguarded(name)) if row is None else row

    def _complain_of_repetition(self, table: Table) -> None:
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.names):
            rows.setdefault(name, []).append(row)
        repeated = {name: where for name, where in rows.items() if len(where) > 1}
        told = [
            f"{name!r} ({'; '.join(table.place(row) for row in where[:MOST_TOLD])}"
            + (f" and {len(where) - MOST_TOLD} more)" if len(where) > MOST_TOLD else ")")
            for name, where in [*repeated.items()][:MOST_TOLD]
        ]
        more = f" and {len(repeated) - MOST_TOLD} more" if len(repeated) > MOST_TOLD else ""
        count = "an id stands" if len(repeated) == 1 else f"{len(repeated)} ids stand"
        raise ValueError(
            f"column {self.column!r}: {count} for several rows, but an id must name one: "
            f"{', '.join(told)}{more}"
        )
