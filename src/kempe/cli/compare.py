"""``kempe compare``: run several methods on a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kempe.cli.console import note
from kempe.cli.errors import INTERRUPTED
from kempe.cli.groups import Without
from kempe.cli.options import NClusters, PairOptions, Quiet, SizeOptions, TableOptions, positive
from kempe.cli.own import Compared, read_compared

if TYPE_CHECKING:
    from kempe.bench.comparison import MethodComparison


DEFAULT_METHODS = "kempe,KSKM,PCCC"
METHODS_WITH_SOFT_PAIRS = "kempe,PCCC,PCKMeans"


def compare(
    n_clusters: NClusters,
    pairs: PairOptions,
    sizes: SizeOptions,
    table: Annotated[TableOptions, Without("weights_column")],
    truth_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Column of true labels, which no method sees, for the Rand index."
        ),
    ] = None,
    methods: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Methods with commas between them, own ones as module:Class, also from the "
            "current folder; the others are tested against the first. With soft pairs: "
            f"{METHODS_WITH_SOFT_PAIRS}. With sizes: kempe, and k-means-constrained if it is "
            "installed.",
        ),
    ] = DEFAULT_METHODS,
    seeds: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Runs of each method.")] = 10,
    time_limit: Annotated[
        float, typer.Option(callback=positive, metavar="SECONDS", help="Time of each run.")
    ] = 60.0,
    workers: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Worker processes; by default one per core."),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Folder of runs, tables and figures; a comparison that was stopped goes on there.",
        ),
    ] = Path("comparison"),
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Repeat the runs in the folder that failed.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run several methods on a table and test the differences.

    All methods have the same starting centroids at each seed. Ends with 0 if every method found a
    clustering, with 4 if one did not in any run, with 2 if one could not be run at all.
    """
    from kempe.bench.comparison import called_in_full, can_draw, sized_methods

    limited = any(value is not None for value in sizes.given.values())
    if limited and methods == DEFAULT_METHODS:
        methods = ",".join(sized_methods())
    if not can_draw() and not quiet:
        note('There will be tables and no figures, which need: pip install "kempe[plot]"')
    compared = read_compared(table, pairs, truth_column, soft=True)
    if compared.constraints.soft.count and methods == DEFAULT_METHODS:
        methods = METHODS_WITH_SOFT_PAIRS
    if compared.constraints.soft.count and truth_column is None and not quiet:
        note("The inertia tells nothing of broken soft pairs; --truth-column judges by labels.")
    settings = {
        "n_clusters": n_clusters,
        "methods": [called_in_full(name.strip()) for name in methods.split(",") if name.strip()],
        "seeds": seeds,
        "time_limit": time_limit,
        "name": _name(table.data),
        "folder": output,
        "workers": workers,
        "retry_failed": retry_failed,
        **sizes.given,
    }
    found = _run(compared, settings, show=not quiet)
    _show(found)
    written = found.save(output)
    if not quiet:
        note(f"Wrote {', '.join(path.name for path in written)} to {output}.")
    _complain_of_failures(found)


def _complain_of_failures(found: MethodComparison) -> None:
    """End with an error if a method failed in every run."""
    from kempe.cli.bench import NOT_OF_THE_METHOD
    from kempe.exceptions import NoSolutionFoundError

    if not found.failed:
        return
    told = [
        f"no run of {item.method} found a clustering: {'; '.join(item.reasons)}"
        for item in found.failed
    ]
    kinds = {reason.split(":")[0] for item in found.failed for reason in item.reasons}
    if kinds & set(NOT_OF_THE_METHOD):
        raise ValueError("; ".join([*told, "once that is mended, --retry-failed repeats the runs"]))
    raise NoSolutionFoundError("; ".join(told))


def _run(compared: Compared, settings: dict[str, Any], *, show: bool) -> MethodComparison:
    from rich.console import Console

    from kempe.bench.comparison import compare as run_methods
    from kempe.bench.progress import PlanProgress
    from kempe.bench.store import StoreError

    try:
        with PlanProgress("compare", Console(stderr=True, quiet=not show)) as progress:
            return run_methods(
                compared.given.rows,
                constraints=compared.constraints,
                y=compared.truth,
                on_start=progress.start,
                on_record=progress.record,
                **settings,
            )
    except StoreError as error:
        raise ValueError(str(error)) from error
    except KeyboardInterrupt:
        note("Stopped; the same command goes on from here.")
        raise typer.Exit(INTERRUPTED) from None


def _name(path: Path) -> str:
    """Name of a data set, from that of its file."""
    import re

    return re.sub(r"[^\w.+-]", "-", path.name.split(".")[0]).strip("-") or "data"


def _show(found: MethodComparison) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 200  # whoever reads a file can scroll
    for lines in (found.table(), found.test_table()):
        head, *rows = lines
        if rows:
            table = Table(*head, box=box.SIMPLE_HEAD)
            for row in rows:
                table.add_row(*row)
            console.print(table)
    for text in found.notes():
        note(text)
