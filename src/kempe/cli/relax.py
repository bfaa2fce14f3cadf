"""``kempe relax``: which pairs to give up where constraints contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kempe.cli.console import check_outputs, note, on_terminal
from kempe.cli.data import PairFiles, constraints_of, read
from kempe.cli.options import (
    Json,
    NClusters,
    NJobs,
    PairOptions,
    Quiet,
    Seed,
    TableOptions,
    TimeLimit,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kempe.cli.data import Given
    from kempe.constraints import Constraints
    from kempe.contradictions import Relaxation

MOST_SHOWN = 20
"""So many pairs and contradictions are told one by one."""


@dataclass(frozen=True)
class MaybeTable(TableOptions):
    """A table, if there is one."""

    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]",
            help="Rows to cluster; of sets of pairs that cost the same, they decide. Without them "
            "pairs alone are looked at, by row numbers.",
            show_default=False,
        ),
    ] = None  # type: ignore[assignment]


def relax(
    n_clusters: NClusters,
    pairs: PairOptions,
    table: MaybeTable,
    time_limit: TimeLimit = None,
    n_jobs: NJobs = None,
    seed: Seed = 0,
    given_up: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a table of the pairs to give up."),
    ] = None,
    kept: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the pairs that are left, for --constraints; soft ones among them are hard "
            "there, since they hold.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the labels here."),
    ] = None,
    proof: Annotated[
        bool, typer.Option("--proof", help="Show the contradictions that share no pair.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the fewest pairs to give up so that the others can hold.

    Pairs of --soft and those with a confidence or weight cost as much as they are sure; if there
    are any, only these are given up, and the others hold. Ends with 0, with 2 if something is wrong
    with the input, and with 3 if pairs that may not be given up contradict each other.
    """
    from kempe.contradictions import relax as relaxed

    if not any(pairs.files) and table.labels_column is None and table.groups_column is None:
        raise ValueError("there are no pairs: give --must-link, --cannot-link or --constraints")
    of_rows = {
        "--id-column": table.id_column,
        "--groups-column": table.groups_column,
        "--labels-column": table.labels_column,
        "--output": output,
    }
    for option, value in of_rows.items():
        if table.data is None and value is not None:
            raise ValueError(f"{option} is about the rows of the data: name its file, too")
    check_outputs([given_up, kept, output], [table.data, *pairs.files])
    given, constraints = _read(table, pairs)
    found = relaxed(
        None if given is None else given.rows,
        constraints,
        n_clusters,
        sample_weight=None if given is None else given.weights,
        time_limit=time_limit,
        n_jobs=n_jobs,
        random_state=seed,
        verbose=int(not quiet and on_terminal()),
    )
    _write(found, given, given_up, kept, output)
    if json:
        _print_json(found)
        return
    _show(found, proof)
    if not quiet:
        for line in found.summary().splitlines():
            note(line)


def _read(table: MaybeTable, pairs: PairOptions) -> tuple[Given | None, Constraints]:
    from kempe.constraints import Constraints

    files = PairFiles.of(pairs, table.encoding)
    if table.data is None:
        found = files.pairs()
        constraints = Constraints(found.must_link, found.cannot_link).with_soft(found.soft)
        given = None
    else:
        given = read(table)
        constraints = constraints_of(given, files.pairs(len(given.rows), given.ids))
    constraints.soft.check_confidences()
    return given, constraints


def _rows(constraints: Constraints, pairs: NDArray[Any]) -> list[list[Any]]:
    return [constraints.names_of(pair) for pair in pairs.tolist()]


def _given_up(found: Relaxation) -> list[list[Any]]:
    kinds = ["must-link" if together else "cannot-link" for together in found.together]
    ends = _rows(found.constraints, found.pairs)
    together = zip(ends, kinds, found.weight.tolist(), strict=True)
    return [[*pair, kind, weight] for pair, kind, weight in together]


def _write(
    found: Relaxation,
    given: Given | None,
    given_up: Path | None,
    kept: Path | None,
    output: Path | None,
) -> None:
    from kempe.cli.labels import write_labels
    from kempe.tables import write_table

    if given_up is not None:
        write_table(given_up, ["first", "second", "kind", "weight"], _given_up(found))
    if kept is not None:
        left = [
            [*pair, kind]
            for kind, pairs in (
                ("must-link", found.kept.must_link),
                ("cannot-link", found.kept.cannot_link),
            )
            for pair in _rows(found.constraints, pairs)
        ]
        write_table(kept, ["first", "second", "kind"], left)
    if output is not None:
        assert given is not None
        write_labels(output, found.labels.tolist(), given.ids)


def _show(found: Relaxation, proof: bool) -> None:
    for first, second, kind, weight in _given_up(found)[:MOST_SHOWN]:
        typer.echo(f"{kind:<12} {first} {second}" + (f"  {weight:g}" if weight != 1 else ""))
    if found.n_given_up > MOST_SHOWN:
        typer.echo(f"... and {found.n_given_up - MOST_SHOWN:,} more: --given-up FILE has all")
    if proof:
        for one in found.contradictions:
            typer.echo(str(one))


def _print_json(found: Relaxation) -> None:
    import json
    import sys

    columns = ("first", "second", "kind", "weight")
    content = {
        "given_up": [dict(zip(columns, row, strict=True)) for row in _given_up(found)],
        "cost": found.cost,
        "lower_bound": found.lower_bound,
        "optimal": found.is_optimal,
        "labels": found.labels.tolist(),
        "stop_reason": found.stop_reason,
        "seconds": found.runtime,
    }
    json.dump(content, sys.stdout, default=str)
    sys.stdout.write("\n")
