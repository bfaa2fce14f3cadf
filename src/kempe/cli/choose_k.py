"""``kempe choose-k``: try several numbers of clusters."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kempe.cli.console import check_outputs, note
from kempe.cli.data import read_with_constraints
from kempe.cli.groups import Without
from kempe.cli.options import (
    Confidence,
    PairOptions,
    Seed,
    SizeOptions,
    TableOptions,
    positive,
)

if TYPE_CHECKING:
    from kempe.selection import Choice


def choose_k(
    smallest: Annotated[
        int, typer.Option("--from", min=1, metavar="NUMBER", help="Smallest number of clusters.")
    ] = 2,
    largest: Annotated[
        int, typer.Option("--to", min=1, metavar="NUMBER", help="Largest number of clusters.")
    ] = 10,
    *,
    pairs: PairOptions,
    sizes: SizeOptions,
    table: Annotated[TableOptions, Without("weights_column")],
    splits: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="How often pairs are held out.")
    ] = 5,
    held_out: Annotated[
        float, typer.Option(min=0.0, max=1.0, metavar="SHARE", help="Share of pairs held out.")
    ] = 0.2,
    time_limit: Annotated[
        float | None,
        typer.Option(callback=positive, metavar="SECONDS", help="Time of each search."),
    ] = None,
    confidence: Confidence = None,
    seed: Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="CSV", help="Write the table here.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="PICTURE", help="Draw the table here: PNG, PDF or SVG by its name."),
    ] = None,
) -> None:
    """Try several numbers of clusters.

    Shows inertia, silhouette, and how well pairs hold that were held out.
    """
    from kempe.engine import KempeKMeans
    from kempe.selection import choose_k as try_numbers

    check_outputs([output, plot], [table.data, *pairs.files])
    if plot is not None:
        _prepare_drawing()
    if smallest > largest:
        raise ValueError(f"--from {smallest} is more than --to {largest}")
    given, constraints = read_with_constraints(table, pairs, soft=True)
    choice = try_numbers(
        given.rows,
        range(smallest, min(largest, len(given.rows)) + 1),
        constraints=constraints,
        estimator=KempeKMeans(
            random_state=seed,
            time_limit=time_limit,
            confidence="auto" if confidence is None else confidence,
            **sizes.given,
        ),
        n_splits=splits,
        held_out=held_out,
        random_state=seed,
    )
    _show(choice)
    if output is not None:
        choice.to_csv(output)
    if plot is not None:
        _draw(choice, plot)


def _show(choice: Choice) -> None:
    typer.echo(f"{'k':>4}  {'inertia':>12}  {'silhouette':>10}  {'held-out pairs':>16}")
    for item in choice.candidates:
        if item.status != "ok":
            typer.echo(f"{item.n_clusters:>4}  {item.status}")
            continue
        held_out = _number(item.held_out, ".3f")
        if not math.isnan(item.held_out_error):
            held_out += f" ± {item.held_out_error:.3f}"
        marked = "  <" if item.n_clusters == choice.suggested else ""
        typer.echo(
            f"{item.n_clusters:>4}  {item.inertia:>12,.6g}  {_number(item.silhouette, '.3f'):>10}  "
            f"{held_out:>16}{marked}"
        )
    note(choice.summary())


def _number(value: float, form: str) -> str:
    return "–" if math.isnan(value) else f"{value:{form}}"


def _prepare_drawing() -> None:
    """Say what is missing before the work rather than after it."""
    from kempe.plotting._style import pyplot

    pyplot().switch_backend("Agg")


def _draw(choice: Choice, path: Path) -> None:
    from kempe.storage import replacing

    figure = choice.plot()
    with replacing(path, "wb") as file:
        figure.savefig(file, format=path.suffix.lstrip(".") or "png", dpi=120)
