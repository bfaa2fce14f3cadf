"""``kempe fit --dask``: cluster files that no single memory holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kempe.cli.console import check_outputs, note
from kempe.cli.data import PairFiles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kempe.cli.fit import Targets
    from kempe.cli.options import PairOptions, TableOptions
    from kempe.constraints import Constraints
    from kempe.preparation import Preparation
    from kempe.tables import Ids

LOCAL = "local"


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a model was fitted to: features, weights, pairs, and how features were prepared."""

    features: Any
    weights: Any
    constraints: Constraints
    preparation: Preparation | None


def fit_on_cluster(
    address: str,
    estimator: Any,
    table: TableOptions,
    pair_files: PairOptions,
    targets: Targets,
    *,
    quiet: bool,
) -> None:
    """Cluster the rows of files where they are.

    Parameters
    ----------
    address
        Of a scheduler, or ``local`` for workers on this machine.
    estimator
        A ``KempeKMeans``, whose settings are taken.
    table, pair_files
        What is clustered, and which pairs hold.
    targets
        What is written.
    quiet
        Whether to leave out the summary.
    """
    _refuse(estimator, table, targets)
    _check(targets, [table.data, *pair_files.files])
    with _client(address):
        from kempe.dask import KempeKMeans

        model = KempeKMeans(**_parameters(estimator, KempeKMeans()))
        rows = read_collection(table)
        fitted = _fit(model, rows, table, pair_files)
        if not quiet and fitted.preparation is not None:
            note(f"preparation: {fitted.preparation.summary()}")
        _write(targets, model, rows, table.id_column, fitted.preparation)
        if targets.report is not None:
            _report(model, fitted, table).to_html(targets.report)
        if not quiet:
            _summarise(model, fitted.constraints, targets)


def _parameters(estimator: Any, model: Any) -> dict[str, Any]:
    """Give what the model of a cluster has too; nothing else may differ from its default."""
    values, known = estimator.get_params(), model.get_params()
    defaults = type(estimator)().get_params()
    for name in values.keys() - known.keys():
        if values[name] is not defaults[name]:
            raise ValueError(f"--{name.replace('_', '-')} does not go with --dask yet")
    return {name: value for name, value in values.items() if name in known}


def _refuse(estimator: Any, table: TableOptions, targets: Targets) -> None:
    """Complain of options that need all rows at once."""
    given = {
        "--method": type(estimator).__name__ != "KempeKMeans",
        "--groups-column": table.groups_column is not None,
        "--labels-column": table.labels_column is not None,
        "--unknown": bool(table.unknown),
        "--impute median": table.impute == "median",
        "--header": table.header is not None,
        "--join": targets.join,
        "--prices": targets.prices is not None,
        "--json": targets.json,
    }
    refused = [name for name, is_given in given.items() if is_given]
    if refused:
        raise ValueError(
            f"not with --dask: {', '.join(refused)}; Dask can do much of it before "
            "kempe.dask.KempeKMeans clusters the rows"
        )


def _check(targets: Targets, inputs: list[Path]) -> None:
    """Complain about files that cannot be written before the work rather than after it."""
    from kempe.tables.writing import check_writable

    tables = [targets.centers, targets.violated]
    check_outputs([targets.output, *tables, targets.model, targets.report], inputs)
    if targets.output is not None and targets.output.suffix not in (".csv", ".parquet"):
        raise ValueError(f"{targets.output}: with --dask, labels are written as .csv or .parquet")
    for path in tables:
        if path is not None:
            check_writable(path)


@contextmanager
def _client(address: str) -> Iterator[None]:
    from kempe.dask.tasks import library

    library()  # says what to install
    from distributed import Client, LocalCluster

    if address != LOCAL:
        with Client(address):
            yield
        return
    with (
        LocalCluster(threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        yield


def read_collection(table: TableOptions) -> Any:
    """Read files, which a pattern may name, as a data frame of Dask."""
    import re

    import dask.dataframe as dd

    data = table.data
    # A path has one slash where an address such as s3://bucket/rows has two.
    address = re.sub(r"^(\w{2,}):/(?=[^/])", r"\1://", str(data))
    suffix = data.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return dd.read_csv(
            address,
            sep="\t" if suffix == ".tsv" else ";" if table.decimal == "," else ",",
            decimal=str(table.decimal or "."),
            encoding=table.encoding or "utf-8",
        )
    if suffix in (".parquet", ".pq", ""):
        return dd.read_parquet(address)
    raise ValueError(f"{data}: --dask reads Parquet, CSV and TSV")


def _fit(estimator: Any, rows: Any, table: TableOptions, pair_files: PairOptions) -> Fitted:
    """Fit the estimator, and give what it was fitted to, the pairs in row numbers."""
    from kempe.cli.cluster_preparation import prepared
    from kempe.constraints import Constraints
    from kempe.dask.parts import Parts

    encode = _listed(rows, table.encode)
    features, weights = _columns(rows, table, encode)
    preparation = None
    if encode or table.impute is not None or table.standardise:
        features, preparation = prepared(features, table, encode)
    numbers, ids = None, None
    files = PairFiles.of(pair_files, table.encoding)
    if table.id_column is not None:
        numbers, ids = _ids(Parts.of(features), rows[table.id_column], table, files)
    pairs = files.pairs(ids=ids)
    names = None if numbers is None or ids is None else dict(zip(numbers, ids.names, strict=True))

    def number(pairs: NDArray[Any]) -> NDArray[Any]:
        return pairs if numbers is None else numbers[pairs]

    hard = Constraints(number(pairs.must_link), number(pairs.cannot_link), row_names=names)
    constraints = hard.with_soft(pairs.soft.renumbered(number))
    estimator.fit(features, constraints=constraints, sample_weight=weights)
    return Fitted(features, weights, constraints, preparation)


def _report(estimator: Any, fitted: Fitted, table: TableOptions) -> Any:
    """Make a page of a sample of the rows, in the units of the table."""
    from kempe.cli.fit import command_as_typed

    in_units = None
    if fitted.preparation is not None:
        in_units = fitted.preparation.in_units_of_the_table
    return estimator.report(
        fitted.features,
        constraints=fitted.constraints,
        sample_weight=fitted.weights,
        in_units=in_units,
        source=f"{table.data}, by: {command_as_typed()}",
    )


def _listed(rows: Any, given: Sequence[str] | None) -> list[str]:
    """Part lists of names at their commas; a column may have a comma in its name."""
    parts = [[name] if name in rows.columns else name.split(",") for name in given or ()]
    return [part.strip() for names in parts for part in names if part.strip()]


def _columns(rows: Any, table: TableOptions, encode: Sequence[str]) -> tuple[Any, Any]:
    """Part the features from the column of weights; what is no number must be encoded."""
    special = [table.id_column, table.weights_column, *_listed(rows, table.ignore)]
    wanted = _listed(rows, table.columns)
    for name in [*special, *encode, *wanted]:
        if name is not None and name not in rows.columns:
            listed = ", ".join(map(str, rows.columns))
            raise ValueError(f"there is no column {name!r}; the columns are {listed}")
    kept = [name for name in rows.columns if name not in special]
    if wanted:
        kept = [name for name in kept if name in wanted or name in encode]
    words = [str(n) for n in kept if n not in encode and rows.dtypes[n].kind not in "buif"]
    if words:
        raise ValueError(
            f"columns without numbers: {', '.join(words)}; use --encode, or leave them out by "
            "--ignore"
        )
    weights = None if table.weights_column is None else rows[table.weights_column]
    return rows[kept], weights


def _ids(
    parts: Any, column: Any, table: TableOptions, files: PairFiles
) -> tuple[NDArray[np.int64], Ids]:
    """Row numbers and ids of the rows that pairs may name."""
    from kempe.dask.pairs import find_ids
    from kempe.tables import Ids
    from kempe.tables.table import MemoryTable

    numbers, names = find_ids(parts, column, files.names(), as_text=True)
    place = MemoryTable(str(table.data), [str(table.id_column)], [names])
    return numbers, Ids(place, 0)


def _summarise(estimator: Any, constraints: Constraints, targets: Targets) -> None:
    from kempe.cli.summary import lines

    for name, value in lines(estimator, constraints, None, _sizes(estimator)).items():
        note(f"{name:<12} {value}")
    if targets.output is None and targets.model is None:
        note("Labels were not written: use -o labels.csv or -o labels.parquet.")


def _sizes(estimator: Any) -> NDArray[np.int64]:
    """Rows of each cluster, counted where they are."""
    import numpy as np

    from kempe.dask.parts import delayed_parts
    from kempe.dask.tasks import compute, task

    k = len(estimator.cluster_centers_)
    counts = compute([task(_counted, part, k) for part in delayed_parts(estimator.labels_)])
    return np.asarray(np.sum(counts, axis=0))


def _counted(labels: Any, k: int) -> NDArray[np.int64]:
    import numpy as np

    return np.bincount(labels, minlength=k)


def _write(
    targets: Targets,
    estimator: Any,
    rows: Any,
    id_column: str | None,
    preparation: Preparation | None,
) -> None:
    """Write all that was asked for; labels never come together in one memory."""
    from kempe.cli.labels import violated_table
    from kempe.model_file import write_model
    from kempe.tables import write_table

    if targets.output is not None:
        labels = _labelled(rows, estimator.labels_, id_column)
        if targets.output.suffix == ".csv":
            labels.to_csv(str(targets.output), single_file=True, index=False)
        else:
            labels.to_parquet(str(targets.output), write_index=False)
    if targets.centers is not None:
        names = [str(name) for name in estimator.feature_names_in_]
        centers = estimator.cluster_centers_
        if preparation is not None:
            centers = preparation.in_units_of_the_table(centers)
        write_table(targets.centers, names, centers.tolist())
    if targets.violated is not None:
        write_table(targets.violated, *violated_table(estimator.result_.broken))
    if targets.model is not None:
        write_model(targets.model, _alone(estimator, preparation), preparation)


def _alone(estimator: Any, preparation: Preparation | None) -> Any:
    """Give the model for one machine; the names of its columns are those of the preparation."""
    alone = estimator.on_one_machine()
    if preparation is not None:
        vars(alone).pop("feature_names_in_", None)
    return alone


def _labelled(rows: Any, labels: Any, id_column: str | None) -> Any:
    """Make a frame of the labels, behind the ids if there are any."""
    from dask.dataframe import from_delayed

    from kempe.dask.parts import delayed_parts
    from kempe.dask.tasks import task

    if id_column is None:
        return labels.to_frame()
    both = zip(delayed_parts(rows[[id_column]]), delayed_parts(labels), strict=True)
    meta = rows._meta[[id_column]].assign(label=labels._meta)
    return from_delayed([task(_beside, *part) for part in both], meta=meta, verify_meta=False)


def _beside(ids: Any, labels: Any) -> Any:
    return ids.assign(label=labels.to_numpy())
