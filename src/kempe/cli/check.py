"""``kempe check``: say whether the constraints can be satisfied at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError

if TYPE_CHECKING:
    from kempe.constraints import Constraints

PairsFile = Annotated[
    Path | None,
    typer.Option(metavar="CSV", help="Pairs of row numbers, counted from 0, one pair a line."),
]


def check(
    n_clusters: Annotated[
        int, typer.Option("--n-clusters", "-k", min=1, help="Number of clusters.")
    ],
    must_link: PairsFile = None,
    cannot_link: PairsFile = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="Number of rows that the pairs refer to.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="Give up after this long.")
    ] = 60.0,
) -> None:
    """Say whether the constraints can be satisfied with k clusters.

    Ends with 0 if they can, with 1 if they cannot (it says why) or if this could not be decided.
    """
    constraints = read_constraints(must_link, cannot_link, rows)
    typer.echo(constraints.summary())
    report = constraints.check(n_clusters, time_limit=time_limit)
    if report.feasible is None:
        raise NoSolutionFoundError(f"{report}; a longer --time-limit may help")
    if not report.feasible:
        raise InfeasibleConstraintsError(str(report), report.certificate)
    typer.echo(str(report))


def read_constraints(
    must_link: Path | None, cannot_link: Path | None, n_rows: int | None = None
) -> Constraints:
    """Read pairs from files and check them against the number of rows, if it is known."""
    from kempe.cli.tables import read_pairs
    from kempe.constraints import Constraints

    if must_link is None and cannot_link is None and n_rows is None:
        raise ValueError("nothing to check: give --must-link or --cannot-link")
    pairs = [None if path is None else read_pairs(path) for path in (must_link, cannot_link)]
    return Constraints(*pairs, n_rows=n_rows)
