"""What a small fit costs beyond the kernels.

Every function of the compiled core is timed where it is called; the rest of a fit is overhead. The
least of many fits is given, because a busy machine only ever adds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import typer
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from kempe import KempeKMeans, _core
from kempe.datasets import make_constraints
from kempe.engine import sequential
from tables import Section, show, write_markdown

LEVEL = 0.1


class Clock:
    """Adds up the time that is spent inside functions."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give the function, timed."""

        def call(*arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.perf_counter() - began

        return call

    @contextmanager
    def on_kernels(self) -> Iterator[None]:
        """Time the functions of the core, and the methods of its search."""
        clock = self

        class Search:
            def __init__(self, *arguments: Any) -> None:
                self.inner = clock.timed(_core.SequentialSearch)(*arguments)

            def __getattr__(self, name: str) -> Any:
                return clock.timed(getattr(self.inner, name))

        kernels = [name for name in dir(_core) if name.islower() and not name.startswith("_")]
        timed = {name: self.timed(getattr(_core, name)) for name in kernels}
        core = type("Core", (), {"SequentialSearch": Search})
        with patch.multiple(_core, **timed), patch.object(sequential, "_core", core):
            yield


def least(fit: Callable[[], object], clock: Clock, repetitions: int) -> tuple[float, float]:
    """Shortest time of a fit, and the shortest rest of one that is not spent in kernels."""
    shortest = rest = float("inf")
    for _ in range(repetitions):
        clock.seconds, began = 0.0, time.perf_counter()
        fit()
        taken = time.perf_counter() - began
        shortest, rest = min(shortest, taken), min(rest, taken - clock.seconds)
    return shortest, rest


def main(
    repetitions: Annotated[int, typer.Option(min=1, help="Fits of each kind.")] = 300,
    out: Annotated[Path | None, typer.Option(help="Write the table as Markdown.")] = None,
) -> None:
    """Measure fits of 150 rows."""
    X, y = load_iris(return_X_y=True)
    constraints = make_constraints(y, LEVEL)
    rows = []
    for name, options in (("one descent", {"max_mutations": 0}), ("default", {})):
        model, clock = KempeKMeans(3, random_state=0, **options), Clock()
        with clock.on_kernels():
            times = least(lambda m=model: m.fit(X, constraints=constraints), clock, repetitions)
        rows.append([f"kempe, {name}", *(f"{1000 * seconds:.2f}" for seconds in times)])
    plain = least(lambda: KMeans(3, n_init=1, random_state=0).fit(X), Clock(), repetitions)[0]
    rows.append(["KMeans(n_init=1)", f"{1000 * plain:.2f}", "–"])
    title = "150 rows (iris), milliseconds"
    section = Section(title, ["fit", "all", "beyond the kernels"], rows)
    show([section])
    if out is not None:
        write_markdown(out, [section])


if __name__ == "__main__":
    typer.run(main)
