"""``kempe methods``: what ``--method`` understands."""

from __future__ import annotations

import typer


def methods() -> None:
    """List the methods that --method understands."""
    from kempe.methods import names, summary

    width = max(map(len, names()))
    for name in names():
        typer.echo(f"{name:<{width}}  {summary(name)}")
