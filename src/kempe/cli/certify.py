"""``kempe certify``: prove how good a clustering is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kempe.cli.check import PairsFile
from kempe.cli.console import check_outputs
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
from kempe.cli.verify import Json, print_json

if TYPE_CHECKING:
    from kempe.proof import OptimalityCertificate


def certify(
    data: DataFile,
    labels: Annotated[
        Path | None,
        typer.Argument(
            metavar="[LABELS.csv]",
            help="One label a line, as `kempe fit -o` writes them; if none, a search comes first.",
            show_default=False,
        ),
    ] = None,
    n_clusters: Annotated[
        int | None,
        typer.Option(
            "--n-clusters", "-k", min=1, help="Number of clusters; by default that of the labels."
        ),
    ] = None,
    must_link: PairsFile = None,
    cannot_link: PairsFile = None,
    labels_column: LabelsColumn = None,
    ignore: Ignore = None,
    header: Header = None,
    standardise: Standardise = False,
    time_limit: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="Return the best after this long.")
    ] = 60.0,
    gap: Annotated[
        float, typer.Option(min=0.0, help="Stop when the relative gap is as small as this.")
    ] = 1e-4,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Number of threads; -1: all.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the run.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the certificate here."),
    ] = None,
    labels_output: Annotated[
        Path | None,
        typer.Option(
            "--labels-output",
            metavar="CSV",
            help="Write the labels here; they are better than those given if better ones were met.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Prove how far a clustering can be from the best one that obeys the constraints.

    Ends with 0 if a bound was proven, whatever the gap, with 1 if the constraints cannot be
    satisfied, with 2 if something is wrong with the input.
    """
    from kempe.cli.console import on_terminal
    from kempe.cli.tables import read_labels, write_labels
    from kempe.proof.certify import certify as prove_bound

    check_outputs([output, labels_output], [data, labels, must_link, cannot_link])
    if labels is None and n_clusters is None:
        raise ValueError("give a file of labels, or --n-clusters for a search to start with")
    given = read(data, labels_column, ignore or [], header)
    certificate = prove_bound(
        scaled(given.rows, standardise),
        None if labels is None else read_labels(labels, given.rows.shape[0]),
        constraints=constraints_of(given, must_link, cannot_link),
        n_clusters=n_clusters,
        time_limit=time_limit,
        gap=gap,
        n_jobs=jobs,
        random_state=seed,
        verbose=int(not quiet and on_terminal()),
    )
    if output is not None:
        certificate.save(output)
    if labels_output is not None:
        write_labels(labels_output, certificate.labels.tolist())
    if json:
        print_json(certificate, optimal=certificate.is_optimal, seconds=certificate.seconds)
    if not quiet:
        _summarise(certificate, output)


def _summarise(certificate: OptimalityCertificate, output: Path | None) -> None:
    from kempe.cli.console import notes

    console = notes()
    console.print(certificate.summary())
    if output is None:
        console.print("The certificate was not written: use -o proof.kempe.")
