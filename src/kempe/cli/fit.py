"""``kempe fit``: cluster a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kempe.cli.console import SCREEN, check_outputs, note, on_terminal
from kempe.cli.data import Given, PairFiles, constraints_of, read
from kempe.cli.options import (
    Confidence,
    NClusters,
    NJobs,
    PairOptions,
    Quiet,
    Seed,
    SizeOptions,
    TableOptions,
    TimeLimit,
    Violated,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kempe.constraints import Constraints
    from kempe.report import Report
    from kempe.tables import PairSet


def fit(
    n_clusters: NClusters,
    pairs: PairOptions,
    sizes: SizeOptions,
    table: TableOptions,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="One of those that `kempe methods` lists.")
    ] = "kempe",
    time_limit: TimeLimit = None,
    confidence: Confidence = None,
    max_mutations: Annotated[
        int | None,
        typer.Option(min=0, metavar="NUMBER", help="Length of the search; 0 is one descent."),
    ] = None,
    init_labels: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Go on from labels, a file as --output writes them; they may break pairs.",
        ),
    ] = None,
    n_init: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Independent searches; the best one counts."),
    ] = None,
    n_jobs: NJobs = None,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the labels here: CSV, TSV, Parquet or Excel by its name; - for the screen.",
        ),
    ] = None,
    join: Annotated[
        bool, typer.Option("--join", help="Write all of the table, with a column of labels.")
    ] = False,
    centers: Annotated[
        Path | None,
        typer.Option(
            "--centers", "--centres", metavar="CSV", help="Write the cluster centres here."
        ),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the model here, for `kempe predict`.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="HTML", help="Write a page about the clusters and the pairs here."),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a table of what the most expensive pairs cost."),
    ] = None,
    violated: Violated = None,
    json: Annotated[bool, typer.Option("--json", help="Print labels and figures as JSON.")] = False,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Leave the rows to the workers of a Dask scheduler, such as tcp://host:8786, or "
            "of this machine: local. DATA may be a pattern of Parquet or CSV files.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Cluster the rows of a table so that every constraint holds.

    Ends with 0 if clusters were found, with 2 if something is wrong with the input, with 3 if the
    constraints cannot be satisfied, with 4 if nothing was found in time, and with 130 after Ctrl-C
    if there was nothing to show.
    """
    search = {
        "time_limit": time_limit,
        "max_mutations": max_mutations,
        "n_init": n_init,
        "n_jobs": n_jobs,
        "confidence": confidence,
        **sizes.given,
    }
    estimator = _estimator(method, n_clusters, seed, search, show=not quiet and on_terminal())
    targets = Targets(output, centers, model, report, json, join, prices, violated)
    if dask is not None:
        from kempe.cli.cluster import fit_on_cluster

        if init_labels is not None:
            raise ValueError("not with --dask: --init-labels")
        fit_on_cluster(dask, estimator, table, pairs, targets, quiet=quiet)
        return
    targets.check([table.data, *pairs.files, *([] if init_labels is None else [init_labels])])
    given = read(table)
    if not quiet:
        for remark in given.remarks:
            note(remark)
    start = _start(estimator, given, init_labels, method)
    pair_set = PairFiles.of(pairs, table.encoding).pairs(len(given.rows), given.ids)
    with _heartbeat(estimator, show=not quiet and not on_terminal()):
        found = _cluster(estimator, given, pair_set, method, start)
    targets.write(found)
    if not quiet:
        _summarise(found, targets)


@contextmanager
def _heartbeat(estimator: Any, *, show: bool) -> Iterator[None]:
    """Say how far a long search is where no bar is drawn; the model shall not know of it."""
    if show:
        from kempe.cli.heartbeat import Heartbeat

        estimator.callbacks = Heartbeat()
    yield
    estimator.callbacks = None


@dataclass(frozen=True)
class Clustered:
    """A fitted estimator, with what a person calls its rows and clusters.

    Attributes
    ----------
    given, constraints
        What it was fitted to.
    estimator
        The fitted estimator.
    centers
        Its centres in the units of the table.
    cluster_names
        Names of the clusters, if labels were known; otherwise they have numbers.
    """

    given: Given
    constraints: Constraints
    estimator: Any
    centers: NDArray[np.float64]
    cluster_names: list[str] | None

    @property
    def labels(self) -> list[Any]:
        """The cluster of each row, by its name if it has one."""
        numbers: list[int] = self.estimator.labels_.tolist()
        names = self.cluster_names
        return numbers if names is None else [names[number] for number in numbers]


@dataclass(frozen=True)
class Targets:
    """Where the results go."""

    output: Path | None
    centers: Path | None
    model: Path | None
    report: Path | None
    json: bool
    join: bool = False
    prices: Path | None = None
    violated: Path | None = None

    def check(self, inputs: list[Path]) -> None:
        """Complain about files that cannot be written before the work rather than after it."""
        from kempe.tables.writing import check_writable

        tables = [self.output, self.centers, self.prices, self.violated]
        check_outputs([*tables, self.model, self.report], inputs)
        if self.join and self.output is None:
            raise ValueError("--join writes the table with its labels: say where, by -o FILE")
        for path in tables:
            if path is not None:
                check_writable(path)

    @property
    def any(self) -> bool:
        """Whether something shows or keeps the labels."""
        return self.output is not None or self.model is not None or self.json

    def write(self, found: Clustered) -> None:
        """Write all that was asked for."""
        from kempe.cli.labels import violated_table, write_joined, write_labels
        from kempe.model_file import write_model
        from kempe.tables import write_table

        if self.centers is not None:
            write_table(self.centers, *_centers(found))
        if self.output is not None and not (self.json and self.output == SCREEN):
            if self.join:
                write_joined(self.output, found.given.table, found.labels)
            else:
                write_labels(self.output, found.labels, found.given.ids)
        if self.model is not None:
            write_model(self.model, found.estimator, found.given.preparation)
        if self.violated is not None:
            write_table(self.violated, *violated_table(found.estimator.result_.broken))
        if self.report is not None or self.prices is not None:
            report = _report(found)
            if self.report is not None:
                report.to_html(self.report)
            if self.prices is not None:
                write_table(self.prices, *report.price_table())
        if self.json:
            _print_json(found)


def _estimator(
    method: str, n_clusters: int, seed: int, search: dict[str, Any], *, show: bool
) -> Any:
    """Make the estimator of a method, and complain of options that it does not know."""
    from kempe import methods

    method = methods.canonical(method)
    chosen = {name: value for name, value in search.items() if value is not None}
    known = methods.create(method, n_clusters=n_clusters).get_params()
    for name in chosen:
        if name not in known:
            able = [other for other in methods.names() if _knows(other, name)]
            raise ValueError(
                f"the method {method} has no --{name.replace('_', '-')}; "
                f"these have: {', '.join(able)}"
            )
    return methods.create(
        method, n_clusters=n_clusters, random_state=seed, verbose=int(show), **chosen
    )


def _knows(method: str, parameter: str) -> bool:
    from kempe import methods

    return parameter in methods.create(method, n_clusters=2).get_params()


def _start(
    estimator: Any, given: Given, labels: Path | None, method: str
) -> dict[str, NDArray[np.int32]]:
    """Read the labels to go on from, if there are any."""
    if labels is None:
        return {}
    if "init" not in signature(estimator.fit).parameters:
        raise ValueError(f"the method {method} has no --init-labels; kempe has")
    from kempe.cli.labels import read_labels

    return {"init": read_labels(labels, len(given.rows), given.ids)}


def _cluster(
    estimator: Any, given: Given, pairs: PairSet, method: str, start: dict[str, Any]
) -> Clustered:
    import numpy as np

    from kempe.cli.data import refuse_soft

    if not estimator._takes_soft_pairs:
        refuse_soft(pairs, f"the method {method}")
    if given.known is not None:
        given.known.check(estimator.n_clusters)
    constraints = constraints_of(given, pairs)
    estimator.fit(given.rows, sample_weight=given.weights, constraints=constraints, **start)
    if given.has_header and given.preparation is None:  # as if the columns came in a data frame
        estimator.feature_names_in_ = np.array(given.names, dtype=object)
    centers, names = estimator.cluster_centers_, None
    if given.preparation is not None:
        centers = given.preparation.in_units_of_the_table(centers)
    if given.known is not None:
        names = given.known.cluster_names(estimator.labels_, len(centers))
        estimator.cluster_names_ = np.array(names, dtype=object)
    return Clustered(given, constraints, estimator, centers, names)


def _centers(found: Clustered) -> tuple[list[str], list[list[object]]]:
    """Table of the centres; with a column of names if the clusters have names."""
    columns, rows = list(found.given.names), found.centers.tolist()
    if found.cluster_names is None:
        return columns, rows
    named = zip(found.cluster_names, rows, strict=True)
    return ["cluster", *columns], [[name, *row] for name, row in named]


def _report(found: Clustered) -> Report:
    from kempe.report import Report

    given = found.given
    rows = given.rows
    if given.preparation is not None:
        rows = given.preparation.in_units_of_the_table(rows)
    return Report.of(
        found.estimator.result_,
        original=rows,
        ids=None if given.ids is None else given.ids.names,
        feature_names=given.names,
        cluster_names=found.cluster_names,
        source=f"{given.table.source}, by: {command_as_typed()}",
    )


def command_as_typed() -> str:
    """Give the command as it was typed."""
    import shlex
    import sys

    return shlex.join(["kempe", *sys.argv[1:]])


def _print_json(found: Clustered) -> None:
    import json
    import sys

    result, given = found.estimator.result_, found.given
    content = {
        "labels": found.labels,
        "columns": list(given.names),
        "centers": found.centers.tolist(),
        "inertia": float(found.estimator.inertia_),
        "mutations": result.n_mutations,
        "stop_reason": result.stop_reason,
        "seconds": result.runtime,
    }
    if given.ids is not None:
        content["ids"] = given.ids.names
    if found.cluster_names is not None:
        content["clusters"] = found.cluster_names
    json.dump(content, sys.stdout)
    sys.stdout.write("\n")


def _summarise(found: Clustered, targets: Targets) -> None:
    from kempe.cli.summary import lines

    for name, value in lines(found.estimator, found.constraints, found.cluster_names).items():
        note(f"{name:<12} {value}")
    if not targets.any:
        note("Labels were not written: use -o labels.csv, -o - or --json.")
