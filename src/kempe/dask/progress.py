"""A progress bar for descents that pass over all rows again and again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kempe.engine.batched import SMALLEST_STEP
from kempe.search.callbacks import Callbacks
from kempe.words import counted

if TYPE_CHECKING:
    from rich.console import Console

    from kempe.problem import Problem
    from kempe.search.bar import LiveBar, NotebookBar
    from kempe.search.result import Result
    from kempe.search.stop import SearchState


class ConvergenceBar(Callbacks):
    """Progress bar with the passes, the inertia and the gap to convergence.

    The gap is the share by which the last pass lowered the inertia; the descent ends where it is
    nothing but rounding. The bar shows how many of its digits are gone.

    Parameters
    ----------
    n_rows
        Rows of the data.
    seconds
        What is left of the time limit.
    console
        Where to draw; standard error by default.
    """

    def __init__(
        self, n_rows: int, seconds: float = math.inf, console: Console | None = None
    ) -> None:
        self._n_rows = n_rows
        self._seconds = seconds
        self._console = console
        self._progress: LiveBar | NotebookBar | None = None
        self._last = math.inf

    def on_start(self, problem: Problem) -> None:
        """Show the bar."""
        from kempe.search.bar import live_bar

        self._progress = live_bar(self._console, self._seconds)
        self._task = self._progress.add_task(
            f"{counted(self._n_rows, 'row')}, {counted(problem.n_clusters, 'cluster')}",
            total=None,
            state="first pass",
        )
        self._progress.start()

    def on_iteration(self, state: SearchState) -> None:
        """Move the bar."""
        if self._progress is None:
            return
        gap = gap_between(self._last, state.inertia)
        self._last = state.inertia
        text = f"pass {state.iteration + 1:,}  inertia {state.inertia:.6g}  gap {gap:.1e}"
        share = share_of_digits(gap)
        self._progress.update(self._task, total=1.0 if share else None, completed=share, state=text)

    def on_end(self, result: Result) -> None:
        """Leave the final state on the screen."""
        if self._progress is None:
            return
        passes = len(result.statistics.inertia)
        text = f"pass {passes:,}  inertia {result.inertia:.6g}  {result.ending}"
        self._progress.update(self._task, total=1.0, completed=1.0, state=text)

    def on_close(self) -> None:
        """Give the terminal its cursor back."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def gap_between(last: float, inertia: float) -> float:
    """Share by which a pass lowered the inertia; 1 for the first of all."""
    if not math.isfinite(last):
        return 1.0
    return max(0.0, last - inertia) / inertia if inertia > 0 else 0.0


def share_of_digits(gap: float) -> float:
    """How far a gap has come from 1 down to what is nothing but rounding."""
    if gap <= SMALLEST_STEP:
        return 1.0
    return max(0.0, math.log(gap) / math.log(SMALLEST_STEP))
