"""A progress bar for a running plan."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from kempe.bench.store import Record


class PlanProgress:
    """Shows how many runs are done, how many failed and how long the rest will take."""

    def __init__(self, name: str, console: Console | None = None) -> None:
        self.failed = 0
        self._bar = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=False),
            TextColumn("{task.fields[last]}"),
            console=console,
            # The speed is taken over the last half hour: runs differ by orders of magnitude.
            speed_estimate_period=1800,
        )
        self._task = self._bar.add_task(name, total=None, last="")

    def start(self, done: int, total: int) -> None:
        """Set the number of runs."""
        self._bar.update(self._task, completed=done, total=total)

    def record(self, record: Record) -> None:
        """Count one run."""
        self.failed += not record.ok
        failures = f"[red]{self.failed} failed[/] " if self.failed else ""
        last = f"{failures}[dim]{record.method} {record.dataset} {record.level}"
        self._bar.update(self._task, advance=1, last=last)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()
