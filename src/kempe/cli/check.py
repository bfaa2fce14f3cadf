"""``kempe check``: say whether the constraints can be satisfied at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kempe.cli.data import PairFiles, opened
from kempe.cli.options import (
    Encoding,
    FileOptions,
    GroupsColumn,
    Header,
    IdColumn,
    NClusters,
    PairOptions,
    SizeOptions,
    positive,
)
from kempe.exceptions import RELAX, InfeasibleConstraintsError, NoSolutionFoundError

if TYPE_CHECKING:
    from kempe.constraints import Constraints


def check(
    n_clusters: NClusters,
    pairs: PairOptions,
    sizes: SizeOptions,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="Table with the ids that the pairs name, or with groups.",
            show_default=False,
        ),
    ] = None,
    id_column: IdColumn = None,
    groups_column: GroupsColumn = None,
    header: Header = None,
    encoding: Encoding = None,
    rows: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Number of rows that the pairs refer to."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(callback=positive, metavar="SECONDS", help="Give up after this long.")
    ] = 60.0,
) -> None:
    """Say whether the constraints can be satisfied with k clusters.

    Ends with 0 if they can, with 3 if they cannot (it says why), with 4 if this could not be
    decided in time, with 2 if something is wrong with the input.
    """
    from kempe.cli.console import check_outputs
    from kempe.constraints import Constraints
    from kempe.tables import Ids, PairSet, groups_in_column

    limited = any(value is not None for value in sizes.given.values())
    if not any(pairs.files) and not limited and groups_column is None:
        raise ValueError(
            "nothing to check: give --must-link, --cannot-link, --groups, --groups-column, "
            "--constraints or --soft"
        )
    if limited and data is None and rows is None:
        raise ValueError("sizes are of all rows: name the data, or give --rows")
    for option, name in (("--id-column", id_column), ("--groups-column", groups_column)):
        if name is not None and data is None:
            raise ValueError(f"{option} is a column of the data: name its file, too")
    check_outputs([], [data, *pairs.files])
    table = None if data is None else opened(FileOptions(data, header, encoding=encoding))
    ids, grouped = None, PairSet()
    if table is not None:
        rows = table.n_rows
        ids = None if id_column is None else Ids(table, table.position(id_column))
        if groups_column is not None:
            grouped = PairSet(must_link=groups_in_column(table, table.position(groups_column)))
    found = PairFiles.of(pairs, encoding).pairs(rows, ids) | grouped
    names = None if ids is None else ids.names
    constraints = Constraints(found.must_link, found.cannot_link, n_rows=rows, row_names=names)
    _check(constraints.with_soft(found.soft), n_clusters, time_limit, sizes)


def _check(
    constraints: Constraints, n_clusters: int, time_limit: float, sizes: SizeOptions
) -> None:
    typer.echo(constraints.summary())
    report = constraints.check(n_clusters, time_limit=time_limit, **sizes.given)
    if report.feasible is None:
        raise NoSolutionFoundError(f"{report}; a longer --time-limit may help")
    if not report.feasible:
        # With limits it is the sizes that cannot be had: pairs alone were looked at before.
        advice = RELAX if report.limits is None else ""
        raise InfeasibleConstraintsError(str(report), report.certificate, advice)
    typer.echo(str(report))
    if constraints.soft.count:
        kept, broken = constraints.decided()
        rest = constraints.soft.count - kept - broken
        typer.echo(
            f"soft pairs: hard ones keep {kept:,} and break {broken:,} whatever the clusters; "
            f"{rest:,} are open"
        )
