"""``kempe predict``: the clusters of new rows, by a model that ``kempe fit`` wrote."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kempe.cli.console import SCREEN, check_outputs
from kempe.cli.data import Header

if TYPE_CHECKING:
    from kempe.cli.tables import Table
    from kempe.clusterer import ConstrainedClusterer


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="File that `kempe fit` wrote.")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA.csv", help="Rows with the columns of the model.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="CSV", help="Write the labels here; - for the screen."
        ),
    ] = SCREEN,
    header: Header = None,
) -> None:
    """Give the nearest cluster of each row of a CSV file; no constraints apply to new rows.

    Columns are found by their names if the model and the file have names; other columns do not
    matter then.
    """
    from kempe.cli.tables import Table, write_labels
    from kempe.methods import load

    check_outputs([output], [model, data])
    estimator = load(model)
    table = Table.open(data, header)
    rows = table.numbers(_columns(table, estimator))
    with warnings.catch_warnings():
        # scikit-learn misses the names, which have been looked at.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        labels = estimator.predict(rows)
    write_labels(output, labels.tolist())


def _columns(table: Table, estimator: ConstrainedClusterer) -> list[int]:
    """Positions of the columns that the model was fitted to."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and table.has_header:
        return [table.position(name) for name in names]
    if len(table.names) != estimator.n_features_in_:
        raise ValueError(
            f"{table.path} has {len(table.names)} columns, the model {estimator.n_features_in_}"
        )
    return list(range(len(table.names)))
