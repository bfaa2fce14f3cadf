"""``kempe bench``: run plans, which are methods on many data sets, and report on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from kempe.cli.errors import BAD_INPUT, INTERRUPTED, NOTHING_FOUND
from kempe.cli.own import with_own_data
from kempe.words import counted

app = typer.Typer(
    help="Run methods on many data sets by a plan, and report on them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

# Reasons that are no doing of the method.
NOT_OF_THE_METHOD = ("no data", "error", "crash")

PlanArgument = Annotated[Path, typer.Argument(metavar="PLAN", help="A TOML file.")]
StoreOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder of the results. [default: results/<plan>]"),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="NUMBER", help="Worker processes. [default: one per core]"),
]
SeedsOption = Annotated[
    int | None, typer.Option(min=1, metavar="NUMBER", help="Run the first seeds only.")
]
StoresArgument = Annotated[
    list[Path],
    typer.Argument(metavar="STORE...", help="Folders of results; several are read as one."),
]
OutOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder to write to. [default: <first store>/report]"),
]


@app.command()
def run(
    plan: PlanArgument,
    store: StoreOption = None,
    workers: WorkersOption = None,
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Run this method only; may be repeated."),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Run data sets like this only; may be repeated."),
    ] = None,
    seeds: SeedsOption = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Seconds per run, instead of the plan's."),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Repeat runs that failed.")
    ] = False,
) -> None:
    """Execute a plan; what the store already has is not repeated.

    Ends with 0 if a run succeeded, with 2 if the plan or its data cannot be read, with 4 if every
    run failed.
    """
    from kempe.bench import Store, load_plan
    from kempe.bench import run as run_plan
    from kempe.bench.progress import PlanProgress
    from kempe.bench.store import StoreError

    console = Console()
    try:
        chosen = load_plan(plan).restricted(method or (), dataset or (), seeds, time_limit)
        target = Store(store or Path("results") / chosen.name)
        chosen = with_own_data(chosen, plan.parent, target.folder)
        with PlanProgress(chosen.name, console) as progress:
            records = run_plan(
                chosen,
                target,
                workers=workers,
                retry_failed=retry_failed,
                on_start=progress.start,
                on_record=progress.record,
            )
    except (ValueError, StoreError) as error:
        raise typer.BadParameter(str(error)) from error
    except KeyboardInterrupt:
        console.print("Stopped; the same command goes on from here.")
        raise typer.Exit(INTERRUPTED) from None
    failed = [record for record in records if not record.ok]
    console.print(f"{counted(len(records), 'run')} in {target.path}, {len(failed)} of them failed.")
    reasons = [record.reason for record in failed]
    _print_failures(console, reasons)
    if len(failed) == len(records):
        raise typer.Exit(_code(reasons))


def _code(reasons: list[str]) -> int:
    """Exit code of a plan of which every run failed."""
    kinds = {reason.split(":")[0] for reason in reasons}
    return BAD_INPUT if kinds & set(NOT_OF_THE_METHOD) else NOTHING_FOUND


def _print_failures(console: Console, reasons: list[str]) -> None:
    """Count the kinds of failures, with the full text of what is not the method's own doing."""
    kinds = [reason.split(":")[0] for reason in reasons]
    for kind in sorted(set(kinds)):
        console.print(f"  {kinds.count(kind):6d}  {kind}")
        if kind in NOT_OF_THE_METHOD:
            console.print(
                f"          first: {reasons[kinds.index(kind)]}", style="dim", markup=False
            )
    if set(NOT_OF_THE_METHOD) & set(kinds):
        console.print("Once the cause is removed, --retry-failed repeats these runs.")


@app.command()
def report(
    stores: StoresArgument,
    out: OutOption = None,
) -> None:
    """Write tables, figures and paired tests: HTML, LaTeX, CSV and Markdown."""
    from kempe.bench.report import write_report

    write_page(write_report, stores, out)


def write_page(
    write_report: Callable[[list[Path], Path], Path], stores: list[Path], out: Path | None
) -> None:
    """Write a report on stores, and say where."""
    from kempe.bench.store import StoreError

    try:
        page = write_report(stores, out or stores[0] / "report")
    except (ValueError, StoreError) as error:
        raise typer.BadParameter(str(error)) from error
    Console().print(f"Wrote {page}")


@app.command()
def pack(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="Folder of results.")],
) -> None:
    """Compress the runs of a store, to keep or to pass on; all commands read them as before."""
    from kempe.bench import Store
    from kempe.bench.store import StoreError

    try:
        written = Store(store).pack() if store.is_dir() else []
    except StoreError as error:
        raise typer.BadParameter(str(error)) from error
    if not written:
        raise typer.BadParameter(f"no runs in {store}")
    for path in written:
        typer.echo(f"Wrote {path} ({path.stat().st_size:,} bytes)")


@app.command()
def show(plan: PlanArgument) -> None:
    """Show what a plan would run."""
    from kempe.bench import load_plan

    try:
        chosen = load_plan(plan)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    console = Console()
    console.print(f"[bold]{chosen.name}[/]: {chosen.description}")
    table = Table("variant", "methods", "data sets", "levels", "seeds", "limit", "runs")
    for item in chosen.experiments:
        tasks = list(item.tasks())
        levels = ", ".join(f"{level:g}" for level in item.levels) or "all"
        table.add_row(
            item.variant,
            ", ".join(item.methods),
            ", ".join(item.datasets),
            levels,
            str(len(item.seeds)),
            f"{item.time_limit:g} s",
            f"{len(tasks):,}",
        )
    console.print(table)
    console.print(f"{counted(len(chosen.tasks()), 'run')} in all")
