"""``kempe predict``: the clusters of new rows, by a model that ``kempe fit`` wrote."""

from __future__ import annotations

import warnings
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kempe.cli.console import SCREEN, check_outputs, note
from kempe.cli.options import (
    Confidence,
    FileOptions,
    IdColumn,
    Ignore,
    PairOptions,
    SizeOptions,
    Violated,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from kempe.constraints import Constraints
    from kempe.preparation import Preparation
    from kempe.tables import Table


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="File that `kempe fit` wrote.")],
    file: FileOptions,
    pairs: PairOptions,
    sizes: SizeOptions,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="CSV", help="Write the labels here; - for the screen."
        ),
    ] = SCREEN,
    id_column: IdColumn = None,
    ignore: Ignore = None,
    with_fit: Annotated[
        bool, typer.Option("--with-fit", help="Sizes count the rows of the fit as well.")
    ] = False,
    confidence: Confidence = None,
    soft_price: Annotated[
        float | None,
        typer.Option(
            metavar="PRICE",
            help="What breaking a soft pair costs, in squared distance; by default what it cost in "
            "the fit, if that had soft pairs.",
        ),
    ] = None,
    violated: Violated = None,
) -> None:
    """Give the nearest cluster of each row, by a saved model.

    Pairs may be of new rows, by numbers from 0 or by ids, and of new rows and rows of the fit,
    whose numbers follow those of the new ones. New rows get the nearest clusters under which all
    pairs hold; soft ones are broken at the price that they had in the fit. Rows of the fit keep
    their clusters. Columns are found by their names if the model and the table have names; other
    columns do not matter then. The model imputes, encodes and scales as it did when it was fitted.
    """
    from kempe.cli.data import PairFiles, opened
    from kempe.cli.labels import write_labels
    from kempe.constraints import Constraints
    from kempe.methods import load_parts
    from kempe.tables import Ids
    from kempe.tables.writing import check_writable

    written = [output, *([] if violated is None else [violated])]
    check_outputs(written, [model, file.data, *pairs.files])
    for path in written:
        check_writable(path)
    preparation, estimator = load_parts(model)
    table = opened(file)
    ids = None if id_column is None else Ids(table, table.position(id_column))
    left_out = [*(ignore or []), *([] if id_column is None else [id_column])]
    rows = _rows(table, left_out, preparation, estimator)
    n_known = len(estimator.labels_)
    found = PairFiles.of(pairs, file.encoding).pairs(len(rows) + n_known, ids)
    names = None if ids is None else [*ids.names, *(f"row {i} of the fit" for i in range(n_known))]
    held = Constraints(found.must_link, found.cannot_link, row_names=names).with_soft(found.soft)
    with warnings.catch_warnings():
        # scikit-learn misses the names, which have been looked at.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        limits = _limits(sizes, estimator, with_fit)
        prices = _prices(held, estimator, confidence, soft_price)
        clusters = estimator.predict(rows, constraints=held, **limits, **prices).tolist()
    if not pairs.files and not limits:
        _tell_of_pairs(estimator, clusters)
    if held.soft.count or violated is not None:
        _tell_of_broken(estimator, held, clusters, prices, violated)
    called = getattr(estimator, "cluster_names_", None)
    write_labels(output, clusters if called is None else [called[c] for c in clusters], ids)


def _tell_of_pairs(estimator: Any, clusters: Sequence[int]) -> None:
    """Say that pairs of the fit do not hold here, and what this means if these are its rows."""
    labels, result = estimator.labels_.tolist(), estimator.result_
    if result.n_supernodes == len(labels) and not result.n_edges:
        return
    moved = sum(a != b for a, b in zip(labels, clusters, strict=False))
    same = f" If these are the rows of the fit, {moved:,} of them were in other clusters there."
    note(
        "No pairs were given: rows are in their nearest clusters, where pairs of the fit may break."
        + (same if len(labels) == len(clusters) and moved else "")
    )


def _prices(
    held: Constraints, estimator: Any, confidence: float | None, soft_price: float | None
) -> dict[str, Any]:
    """Give what was said about prices of soft pairs to a model that knows of them."""
    if not held.soft.count:
        return {}
    if "soft_price" not in signature(estimator.predict).parameters:
        raise ValueError(
            f"a model of {type(estimator).__name__} takes no soft pairs of new rows, of which "
            f"there are {held.soft.count}; one of KempeKMeans does"
        )
    return {"confidence": "auto" if confidence is None else confidence, "soft_price": soft_price}


def _tell_of_broken(
    estimator: Any,
    held: Constraints,
    clusters: Sequence[int],
    prices: Mapping[str, Any],
    path: Path | None,
) -> None:
    """Say how many soft pairs are broken, and write which."""
    import numpy as np

    from kempe.cli.labels import violated_table
    from kempe.search.result import BrokenPairs
    from kempe.tables import write_table

    every = np.concatenate([np.asarray(clusters, dtype=np.int32), estimator.labels_])
    cost = estimator.price_of_new(held.soft, **prices) if prices else None
    broken = BrokenPairs.of(held, every, cost)
    if held.soft.count:
        note(f"soft pairs   {len(broken.pairs)} of {held.soft.count} broken")
    if path is not None:
        write_table(path, *violated_table(broken))


def _limits(sizes: SizeOptions, estimator: Any, with_fit: bool) -> dict[str, Any]:
    """Give what was said about sizes, if anything, to a model that knows of them."""
    given = {name: value for name, value in sizes.given.items() if value is not None}
    if with_fit and not given:
        raise ValueError("--with-fit says which rows sizes count: give --size-min or --size-max")
    if given and "size_min" not in estimator.get_params():
        raise ValueError(f"a model of {type(estimator).__name__} has no --size-min or --size-max")
    return {**given, "with_fit": with_fit} if given else {}


def _rows(
    table: Table, left_out: Sequence[str], preparation: Preparation | None, estimator: Any
) -> NDArray[Any]:
    """Read what the model was fitted to, and prepare it in the same way."""
    from kempe.cli.columns import Roles, numbers_and_words

    if preparation is None:
        names = getattr(estimator, "feature_names_in_", [None] * estimator.n_features_in_)
        named = hasattr(estimator, "feature_names_in_")
        columns = _columns(table, left_out, names, named)
        return numbers_and_words(table, Roles(columns), imputed=False, advise=False)
    columns = _columns(table, left_out, preparation.names, preparation.named)
    words = zip(columns, preparation.names, strict=True)
    roles = Roles(columns, frozenset(c for c, name in words if name in preparation.encode))
    imputed = preparation.impute is not None
    full = preparation.full_categories() if not imputed else ()
    whole = frozenset(c for c, name in zip(columns, preparation.names, strict=True) if name in full)
    cells = numbers_and_words(table, roles, imputed, whole=whole, advise=False)
    return preparation.transform(cells)


def _columns(
    table: Table, left_out: Sequence[str], names: Sequence[Any], named: bool
) -> tuple[int, ...]:
    """Find the columns of the model: by their names, or all that are left, in their order."""
    if table.has_header and named:
        return tuple(table.position(name) for name in names)
    ignored = {table.position(name) for name in left_out}
    columns = tuple(column for column in range(len(table.names)) if column not in ignored)
    if len(columns) != len(names):
        raise ValueError(f"{table.source} has {len(columns)} columns, the model {len(names)}")
    return columns
