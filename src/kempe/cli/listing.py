"""``kempe methods``: what ``--method`` understands."""

from __future__ import annotations

from typing import Any

import typer


def methods() -> None:
    """List the methods that `--method` understands."""
    from kempe.methods import create, names

    width = max(map(len, names()))
    for name in names():
        typer.echo(f"{name:<{width}}  {_described(create(name, n_clusters=2))}")


def _described(estimator: Any) -> str:
    """First line of the documentation, and the parameters that differ from their defaults."""
    summary = (type(estimator).__doc__ or "").strip().splitlines()[0]
    usual = type(estimator)().get_params()
    given = {
        name: value
        for name, value in estimator.get_params().items()
        if name != "n_clusters" and value != usual[name]
    }
    options = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f"{summary} [{options}]" if options else summary
