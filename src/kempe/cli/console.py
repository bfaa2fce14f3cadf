"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import sys
from pathlib import Path

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


def check_output(path: Path | None) -> None:
    """Complain about an output that cannot be written before the work rather than after it."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent} to write to")
