"""``kempe verify``: check a certificate."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kempe.cli.console import check_outputs, note, on_terminal
from kempe.cli.data import read_with_constraints
from kempe.cli.options import Json, PairOptions, Quiet, SizeOptions, TableOptions
from kempe.words import counted

if TYPE_CHECKING:
    from kempe.proof import OptimalityCertificate, Verification


def verify(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="What `kempe certify -o` wrote.")
    ],
    pairs: PairOptions,
    sizes: SizeOptions,
    table: TableOptions,
    gap: Annotated[
        float,
        typer.Option(
            min=0.0, metavar="SHARE", help="Call the labels optimal if the gap is no larger."
        ),
    ] = 1e-4,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a certificate against the data.

    Nothing in the certificate is trusted. Ends with 0 if the proof holds, with 1 if it does not (it
    says where), with 2 if a file cannot be read.
    """
    from kempe.proof import OptimalityCertificate

    check_outputs([], [certificate, table.data, *pairs.files])
    claimed = OptimalityCertificate.load(certificate)
    given, constraints = read_with_constraints(table, pairs, soft=True)
    proven = claimed.verify(
        given.rows,
        constraints=constraints,
        sample_weight=given.weights,
        verbose=int(not quiet and on_terminal()),
        **sizes.given,
    )
    if json:
        print_json(proven, optimal=proven.gap <= gap)  # whatever gap the file was content with
    if not quiet:
        what, value, prices = "inertia", proven.inertia, ""
        if claimed.soft is not None:
            what, value = "inertia and prices", proven.objective
            cheapest, dearest = claimed.soft.prices.min(), claimed.soft.prices.max()
            prices = f"; soft pairs cost {cheapest:.3g} to {dearest:.3g}"
        clusters = counted(proven.n_clusters, "cluster")
        note(
            f"verified: {what} {value:,.9g}, no clustering into {clusters} "
            f"below {proven.lower_bound:,.9g}, gap {100 * proven.gap:.3g} %{prices}"
        )


def print_json(figures: OptimalityCertificate | Verification, **more: Any) -> None:
    """Print what was proven to standard output."""
    names = ("n_clusters", "lower_bound", "inertia", "objective", "gap", "n_nodes")
    json_format.dump({name: getattr(figures, name) for name in names} | more, sys.stdout)
    sys.stdout.write("\n")
