"""``kempe verify``: check a certificate."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kempe.cli.console import check_outputs, note
from kempe.cli.data import (
    PairOptions,
    TableOptions,
    constraints_of,
    pairs_of,
    read,
    refuse_soft,
)
from kempe.cli.options import (
    CannotLink,
    ConstraintsFile,
    DataFile,
    Encode,
    Header,
    IdColumn,
    Ignore,
    ImputeBy,
    Json,
    LabelsColumn,
    MustLink,
    Quiet,
    Standardise,
    WeightsColumn,
)

if TYPE_CHECKING:
    from kempe.proof import OptimalityCertificate, Verification


def verify(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="What `kempe certify -o` wrote.")
    ],
    data: DataFile,
    must_link: MustLink = None,
    cannot_link: CannotLink = None,
    constraints: ConstraintsFile = None,
    id_column: IdColumn = None,
    labels_column: LabelsColumn = None,
    weights_column: WeightsColumn = None,
    ignore: Ignore = None,
    encode: Encode = None,
    impute: ImputeBy = None,
    standardise: Standardise = False,
    header: Header = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a certificate against the data.

    Nothing in the certificate is trusted. Ends with 0 if the proof holds, with 1 if it does not (it
    says where), with 2 if a file cannot be read.
    """
    from kempe.proof import OptimalityCertificate

    files = PairOptions(must_link, cannot_link, constraints)
    check_outputs([], [certificate, data, *files.files])
    claimed = OptimalityCertificate.load(certificate)
    columns = (id_column, labels_column, weights_column, ignore, encode)
    given = read(TableOptions(data, *columns, impute, standardise, header))
    pairs = pairs_of(files, len(given.rows), given.ids)
    refuse_soft(pairs)
    proven = claimed.verify(
        given.rows, constraints=constraints_of(given, pairs), sample_weight=given.weights
    )
    if json:
        print_json(proven, optimal=proven.gap <= claimed.gap_wanted)
    if not quiet:
        note(
            f"verified: inertia {proven.inertia:,.9g}, no clustering below "
            f"{proven.lower_bound:,.9g}, gap {100 * proven.gap:.3g} %"
        )


def print_json(figures: OptimalityCertificate | Verification, **more: Any) -> None:
    """Print what was proven to standard output."""
    names = ("lower_bound", "inertia", "gap", "n_nodes")
    json_format.dump({name: getattr(figures, name) for name in names} | more, sys.stdout)
    sys.stdout.write("\n")
