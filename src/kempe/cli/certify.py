"""``kempe certify``: prove how good a clustering is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kempe.cli.console import check_outputs, note, on_terminal
from kempe.cli.data import read_with_constraints
from kempe.cli.options import (
    Json,
    PairOptions,
    Quiet,
    Seed,
    SizeOptions,
    TableOptions,
    positive,
)
from kempe.cli.verify import print_json

if TYPE_CHECKING:
    from kempe.proof import OptimalityCertificate


def certify(
    *,
    n_clusters: Annotated[
        int | None,
        typer.Option(
            "--n-clusters",
            "-k",
            min=1,
            metavar="NUMBER",
            help="Number of clusters; by default that of the labels.",
        ),
    ] = None,
    pairs: PairOptions,
    sizes: SizeOptions,
    table: TableOptions,
    labels: Annotated[
        Path | None,
        typer.Argument(
            metavar="LABELS",
            help="One label a line, as `kempe fit -o` writes them; if none, a search comes first.",
            show_default=False,
        ),
    ] = None,
    soft_price: Annotated[
        float | None,
        typer.Option(
            metavar="PRICE",
            callback=positive,
            help="What breaking a soft pair costs that says nothing of its confidence; by default "
            "what the labels suggest.",
        ),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(callback=positive, metavar="SECONDS", help="Return the best after this long."),
    ] = 60.0,
    gap: Annotated[
        float,
        typer.Option(
            min=0.0, metavar="SHARE", help="Stop when the relative gap is as small as this."
        ),
    ] = 1e-4,
    n_jobs: Annotated[
        int,
        typer.Option("--n-jobs", "--jobs", "-j", metavar="NUMBER", help="Threads; -1: all."),
    ] = 1,
    seed: Seed = 0,
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
    """Prove how far a clustering is from the best one at most.

    Ends with 0 if a bound was proven, whatever the gap, with 2 if something is wrong with the
    input, with 3 if the constraints cannot be satisfied, with 4 if no clustering was found.
    """
    from kempe.cli.labels import read_labels, write_labels
    from kempe.proof.certify import certify as prove_bound

    check_outputs([output, labels_output], [table.data, labels, *pairs.files])
    if labels is None and n_clusters is None:
        raise ValueError("give a file of labels, or --n-clusters for a search to start with")
    given, constraints = read_with_constraints(table, pairs, soft=True)
    if given.known is not None and n_clusters is not None:
        given.known.check(n_clusters)
    certificate = prove_bound(
        given.rows,
        None if labels is None else read_labels(labels, len(given.rows), given.ids),
        constraints=constraints,
        n_clusters=n_clusters,
        sample_weight=given.weights,
        **sizes.given,
        soft_price=soft_price,
        time_limit=time_limit,
        gap=gap,
        n_jobs=n_jobs,
        random_state=seed,
        verbose=int(not quiet and on_terminal()),
    )
    if output is not None:
        certificate.save(output)
    if labels_output is not None:
        write_labels(labels_output, certificate.labels.tolist(), given.ids)
    if json:
        print_json(certificate, optimal=certificate.is_optimal, seconds=certificate.seconds)
    if not quiet:
        _summarise(certificate, output)


def _summarise(certificate: OptimalityCertificate, output: Path | None) -> None:
    note(certificate.summary())
    if output is None:
        note("The certificate was not written: use -o proof.kempe.")
