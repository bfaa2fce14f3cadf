"""``python -m experiments``: run the paper's experiments and set the results beside its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from experiments.plans import names, plan_file
from experiments.report import write_report
from kempe.bench import load_plan
from kempe.cli import bench

app = typer.Typer(
    help="Run the paper's experiments and set the results beside its tables.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command()
def run(
    plan: Annotated[str, typer.Argument(help="Name of a plan, or a TOML file.")] = "smoke",
    store: bench.StoreOption = None,
    workers: bench.WorkersOption = None,
    seeds: bench.SeedsOption = None,
) -> None:
    """Execute a plan and write the report; what the store already has is not repeated.

    ``kempe bench run`` has more options; ``report`` takes what it leaves.
    """
    try:
        file = plan_file(plan)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    target = store or Path("results") / load_plan(file).name
    bench.run(file, target, workers, seeds=seeds)
    report([target])


@app.command()
def report(
    stores: bench.StoresArgument,
    out: bench.OutOption = None,
) -> None:
    """Write tables and figures beside those of the paper: HTML, LaTeX, CSV and Markdown."""
    bench.write_page(write_report, stores, out)


@app.command()
def plans() -> None:
    """List the plans."""
    table = Table("plan", "runs", "what")
    for name in names():
        plan = load_plan(plan_file(name))
        table.add_row(name, f"{len(plan.tasks()):,}", plan.description)
    Console().print(table)


if __name__ == "__main__":
    app(prog_name="python -m experiments")
