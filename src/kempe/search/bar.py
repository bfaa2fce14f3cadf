"""The look of progress bars: they move from the start, and say how much time is left."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from html import escape
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.table import Column
from rich.text import Text

# A bar is full only when the work has ended.
ALMOST = 0.99

REDRAWN_AFTER = 0.2
"""Seconds between two pictures of a bar in a notebook."""


class LiveBar(Progress):
    """A progress bar with a description, how much time is left, and a line of state.

    Between reports it follows the time limit, if there is one. Where nothing tells how far the work
    has come, the bar pulses (a task whose ``total`` is ``None``).

    Parameters
    ----------
    console
        Where to draw; standard error by default.
    seconds
        The time limit.
    """

    def __init__(self, console: Console | None, seconds: float = math.inf) -> None:
        self._seconds = seconds
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(bar_width=12),  # so that all of it fits into 80 columns
            _TimeColumn(seconds),
            TextColumn("{task.fields[state]}", table_column=Column(no_wrap=True, ratio=1)),
            console=console or Console(stderr=True),
            refresh_per_second=5,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        """Let time that has passed move the bar before it is drawn."""
        for task in self.tasks:
            if not task.finished and task.elapsed is not None:
                by_time = min(ALMOST, task.elapsed / self._seconds)
                task.completed = max(task.completed, by_time)
        yield from super().get_renderables()


class _TimeColumn(ProgressColumn):
    """How much time is left; if nobody can tell, or in the end, how much has passed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        super().__init__(Column(no_wrap=True))

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0.0
        left = math.inf if task.finished else seconds_left(task.completed, elapsed, self._seconds)
        text = _clock(elapsed) if math.isinf(left) else f"{_clock(left)} left"
        return Text(text, style="progress.elapsed")


def seconds_left(share: float, elapsed: float, limit: float) -> float:
    """Estimate when work ends of which a share is done; infinity if nothing is known."""
    at_this_pace = elapsed * (1 - share) / share if share > 0 else math.inf
    return max(0.0, min(at_this_pace, limit - elapsed))


def _clock(seconds: float) -> str:
    """Write a time as 0:07 or 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class NotebookBar:
    """The same below the cell of a notebook, which needs nothing installed for it.

    Parameters
    ----------
    seconds
        The time limit.
    """

    def __init__(self, seconds: float = math.inf) -> None:
        self._seconds = seconds
        self._started = self._shown = 0.0
        self._place: Any = None
        self._task: dict[str, Any] = {}

    def add_task(self, description: str, **known: Any) -> TaskID:
        """Say what the bar is about."""
        self._task = {"description": description, "total": None, "completed": 0.0, **known}
        return TaskID(0)

    def start(self) -> None:
        """Show the bar."""
        from IPython.display import HTML, display

        self._started = time.perf_counter()
        self._place = display(HTML(self.html()), display_id=True)

    def update(self, task: TaskID, **known: Any) -> None:
        """Move the bar, not oftener than an eye can follow."""
        self._task |= known
        if time.perf_counter() - self._shown >= REDRAWN_AFTER:
            self._show()

    def stop(self) -> None:
        """Leave the final state below the cell."""
        self._show()

    def _show(self) -> None:
        from IPython.display import HTML

        self._shown = time.perf_counter()
        if self._place is not None:
            self._place.update(HTML(self.html()))

    def html(self) -> str:
        """Give the bar as it is now."""
        task = self._task
        share = task["completed"] / task["total"] if task["total"] else 0.0
        elapsed = time.perf_counter() - self._started
        left = math.inf if share >= 1 else seconds_left(share, elapsed, self._seconds)
        clock = _clock(elapsed) if math.isinf(left) else f"{_clock(left)} left"
        value = f'value="{share:.3f}"' if share else ""
        return (
            f"<div>{escape(task['description'])} <progress {value}></progress> {clock} "
            f"{escape(task.get('state', ''))}</div>"
        )


def live_bar(console: Console | None, seconds: float = math.inf) -> LiveBar | NotebookBar:
    """Make the bar that can be seen from where the program runs.

    Parameters
    ----------
    console
        Where to draw; by default below the cell of a notebook, or on standard error.
    seconds
        The time limit.
    """
    if console is None and Console(stderr=True).is_jupyter:
        return NotebookBar(seconds)
    return LiveBar(console, seconds)
