"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import typer

SCREEN = Path("-")
"""In place of a file: standard output, or standard input."""


def note(message: str) -> None:
    """Show what is not a result."""
    typer.echo(message, err=True)


def on_terminal() -> bool:
    """Whether a person watches standard error."""
    return sys.stderr.isatty()


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Complain about outputs that cannot be written before the work rather than after it.

    An output may be neither an input nor another output, and standard input has only one content.
    """
    taken = [path for path in inputs if path is not None]
    if taken.count(SCREEN) > 1:
        raise ValueError("standard input (-) can be read only once; put the other into a file")
    for path in outputs:
        if path is None or path == SCREEN:
            continue
        if path.is_dir():
            raise ValueError(f"{path} is a folder; name a file in it")
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.parent} to write to")
        if any(_same_file(path, other) for other in taken):
            raise ValueError(f"{path} would be overwritten: it is named twice; name another file")
        taken.append(path)


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, or would if it existed; a device is no file."""
    if one.exists() and other.exists():
        return one.is_file() and one.samefile(other)
    return one.resolve() == other.resolve()
