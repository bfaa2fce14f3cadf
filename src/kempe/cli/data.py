"""The data and the pairs that a command is given: their options, and how they are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kempe.cli.check import read_constraints

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kempe.constraints import Constraints

UNLABELLED = ""

DataFile = Annotated[
    Path, typer.Argument(metavar="DATA.csv", help="Rows to cluster; a header is found by itself.")
]
LabelsColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Column with labels known for some rows; empty cells are unknown."
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Column to leave out; may be given several times."),
]
Header = Annotated[
    bool | None, typer.Option(help="Whether the first line holds names.", show_default=False)
]
Standardise = Annotated[
    bool, typer.Option("--standardise", help="Scale columns to mean 0 and deviation 1 first.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress, no summary.")]


@dataclass(frozen=True)
class Given:
    """What was read: numbers, their columns' names and the labels known for some rows.

    Without a header, columns are named by their numbers.
    """

    rows: NDArray[np.float64]
    names: tuple[str, ...]
    has_header: bool
    known: list[str] | None


def read(path: Path, labels_column: str | None, ignore: list[str], header: bool | None) -> Given:
    """Read the rows, and the labels known for some of them."""
    from kempe.cli.tables import CellError, Table

    table = Table.open(path, header)
    label = None if labels_column is None else table.position(labels_column)
    left_out = {label, *map(table.position, ignore), *_unnamed(table.names)}
    columns = [column for column in range(len(table.names)) if column not in left_out]
    if not columns:
        raise ValueError(f"{path} has no columns left to cluster by")
    try:
        rows = table.numbers(columns)
    except CellError as error:
        raise ValueError(f"{error}; --ignore NAME leaves a column out") from None
    known = None if label is None else table.strings(label)
    names = tuple(table.names[column] for column in columns)
    return Given(rows, names, table.has_header, known)


def scaled(rows: NDArray[np.float64], standardise: bool) -> NDArray[np.float64]:
    """Give the rows as they are to be clustered."""
    if not standardise:
        return rows
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    return scaler.fit_transform(rows)  # type: ignore[no-any-return]


def _unnamed(names: tuple[str, ...]) -> list[int]:
    """Columns without a name, in which data frames write their row numbers."""
    from kempe.cli.console import notes

    columns = [column for column, name in enumerate(names) if not name]
    if columns:
        notes().print(f"Left out, because it has no name: column {columns[0] + 1}.")
    return columns


def constraints_of(given: Given, must_link: Path | None, cannot_link: Path | None) -> Constraints:
    """Join the pairs of the files and those that follow from known labels."""
    import numpy as np

    from kempe.constraints import Constraints

    pairs = read_constraints(must_link, cannot_link, given.rows.shape[0])
    if given.known is None:
        return pairs
    labelled = Constraints.from_labels(np.array(given.known, dtype=str), unlabelled=UNLABELLED)
    return labelled | pairs
