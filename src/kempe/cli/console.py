"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import typer
from rich.console import Console
from rich.table import Table


def notes() -> Console:
    """Console for what is not a result."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def complain(message: str) -> None:
    """Show an error."""
    typer.secho("error: ", fg="red", bold=True, nl=False, err=True)
    typer.echo(message, err=True)


def facts(rows: Iterable[tuple[str, str]], title: str | None = None) -> Table:
    """Table of names and values."""
    table = Table(
        show_header=False, box=None, title=title, title_justify="left", padding=(0, 2, 0, 0)
    )
    table.add_column(style="bold")
    table.add_column()
    for name, value in rows:
        table.add_row(name, value)
    return table


def on_terminal() -> bool:
    """Whether a person watches standard error."""
    return sys.stderr.isatty()
