"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import sys

import typer
from rich.console import Console


def notes() -> Console:
    """Console for what is not a result."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def complain(message: str) -> None:
    """Show an error."""
    typer.secho("error: ", fg="red", bold=True, nl=False, err=True)
    typer.echo(message, err=True)


def on_terminal() -> bool:
    """Whether a person watches standard error."""
    return sys.stderr.isatty()
