"""``kempe methods``: what ``--method`` understands."""

from __future__ import annotations

import typer


def methods() -> None:
    """List the methods that `--method` understands."""
    from kempe.methods import create, names

    width = max(map(len, names()))
    for name in names():
        typer.echo(f"{name:<{width}}  {_first_line(create(name, n_clusters=2))}")


def _first_line(estimator: object) -> str:
    return (type(estimator).__doc__ or "").strip().splitlines()[0]
