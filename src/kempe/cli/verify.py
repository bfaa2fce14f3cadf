"""``kempe verify``: check a certificate."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kempe.cli.check import PairsFile
from kempe.cli.data import (
    DataFile,
    Header,
    Ignore,
    LabelsColumn,
    Quiet,
    Standardise,
    constraints_of,
    read,
    scaled,
)

if TYPE_CHECKING:
    from kempe.proof import OptimalityCertificate, Verification

Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]


def verify(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="What `kempe certify -o` wrote.")
    ],
    data: DataFile,
    must_link: PairsFile = None,
    cannot_link: PairsFile = None,
    labels_column: LabelsColumn = None,
    ignore: Ignore = None,
    header: Header = None,
    standardise: Standardise = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a certificate against the data; nothing in it is trusted.

    Ends with 0 if the proof holds, with 1 if it does not (it says where), with 2 if a file cannot
    be read.
    """
    from kempe.cli.console import notes
    from kempe.proof import OptimalityCertificate

    claimed = OptimalityCertificate.load(certificate)
    given = read(data, labels_column, ignore or [], header)
    constraints = constraints_of(given, must_link, cannot_link)
    proven = claimed.verify(scaled(given.rows, standardise), constraints=constraints)
    if json:
        print_json(proven, optimal=proven.gap <= claimed.gap_wanted)
    if not quiet:
        notes().print(
            f"verified: inertia {proven.inertia:,.9g}, no clustering below "
            f"{proven.lower_bound:,.9g}, gap {100 * proven.gap:.3g} %"
        )


def print_json(figures: OptimalityCertificate | Verification, **more: Any) -> None:
    """Print what was proven to standard output."""
    names = ("lower_bound", "inertia", "gap", "n_nodes")
    json_format.dump({name: getattr(figures, name) for name in names} | more, sys.stdout)
    sys.stdout.write("\n")
