"""``kempe fit``: cluster a CSV file."""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kempe.cli.check import PairsFile
from kempe.cli.console import SCREEN, check_outputs
from kempe.cli.data import (
    DataFile,
    Given,
    Header,
    Ignore,
    LabelsColumn,
    Quiet,
    Standardise,
    constraints_of,
    read,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kempe.constraints import Constraints


def fit(
    data: DataFile,
    n_clusters: Annotated[
        int, typer.Option("--n-clusters", "-k", min=1, help="Number of clusters.")
    ],
    must_link: PairsFile = None,
    cannot_link: PairsFile = None,
    labels_column: LabelsColumn = None,
    ignore: Ignore = None,
    header: Header = None,
    method: Annotated[str, typer.Option(help="One of those that `kempe methods` lists.")] = "kempe",
    standardise: Standardise = False,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="SECONDS", help="Return the best after this long."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the run.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="CSV", help="Write the labels here; - for the screen."
        ),
    ] = None,
    centers: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Write the cluster centres here.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the model here, for `kempe predict`.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print labels and figures as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Cluster the rows of a CSV file so that every constraint holds.

    Ends with 0 if clusters were found, with 1 if the constraints cannot be satisfied or no solution
    was found, with 2 if something is wrong with the input.
    """
    check_outputs([output, centers, model], [data, must_link, cannot_link])
    if model is not None and standardise:
        raise ValueError("--model knows no scaling: write scaled columns to DATA.csv first")
    given = read(data, labels_column, ignore or [], header)
    constraints = constraints_of(given, must_link, cannot_link)
    options = {"n_clusters": n_clusters, "random_state": seed, "time_limit": time_limit}
    found = _cluster(given, constraints, method, standardise, options, show=not quiet)
    _write(given, found, output, centers, json)
    if model is not None:
        found.estimator.save(model)
    if not quiet:
        _summarise(found, constraints, output is None and model is None and not json)


@dataclass(frozen=True)
class _Clustered:
    """A fitted estimator, its centres in the units of the file."""

    estimator: Any
    centers: NDArray[np.float64]


def _cluster(
    given: Given,
    constraints: Constraints,
    method: str,
    standardise: bool,
    options: dict[str, Any],
    *,
    show: bool,
) -> _Clustered:
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    from kempe.cli.console import on_terminal
    from kempe.methods import create

    estimator = create(method, verbose=int(show and on_terminal()), **options)
    scaler = StandardScaler(with_mean=standardise, with_std=standardise)
    estimator.fit(scaler.fit_transform(given.rows), constraints=constraints)
    if given.has_header:  # as if the columns came in a data frame
        estimator.feature_names_in_ = np.array(given.names, dtype=object)
    return _Clustered(estimator, scaler.inverse_transform(estimator.cluster_centers_))


def _write(
    given: Given, model: _Clustered, output: Path | None, centers: Path | None, json: bool
) -> None:
    from kempe.cli.tables import write_columns, write_labels

    labels = model.estimator.labels_.tolist()
    if centers is not None:
        write_columns(centers, given.names, model.centers.tolist())
    if output is not None and output != SCREEN:
        write_labels(output, labels)
    if json:
        json_format.dump(_as_json(given, model), sys.stdout)
        sys.stdout.write("\n")
    elif output == SCREEN:
        write_labels(output, labels)


def _as_json(given: Given, model: _Clustered) -> dict[str, Any]:
    result = model.estimator.result_
    return {
        "labels": model.estimator.labels_.tolist(),
        "columns": list(given.names),
        "centers": model.centers.tolist(),
        "inertia": float(model.estimator.inertia_),
        "mutations": result.n_mutations,
        "stop_reason": result.stop_reason,
        "seconds": result.runtime,
    }


def _summarise(model: _Clustered, constraints: Constraints, unwritten: bool) -> None:
    import numpy as np

    from kempe.cli.console import notes

    result = model.estimator.result_
    sizes = np.bincount(model.estimator.labels_, minlength=model.centers.shape[0])
    kept = f"{constraints.summary()}, all satisfied" if _any_pairs(constraints) else "none"
    lines = {
        "inertia": f"{model.estimator.inertia_:,.6g}",
        "clusters": " + ".join(f"{size:,}" for size in sizes) + " rows",
        "constraints": kept,
        "search": f"{result.n_mutations:,} mutations, stopped by {result.stop_reason}",
        "time": f"{result.runtime:.2f} s",
    }
    console = notes()
    for name, value in lines.items():
        console.print(f"{name:<12} {value}")
    if unwritten:
        console.print("Labels were not written: use -o labels.csv, -o - or --json.")


def _any_pairs(constraints: Constraints) -> bool:
    return bool(constraints.must_link.size or constraints.cannot_link.size)
