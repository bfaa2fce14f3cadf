"""Callbacks that show a running search: a progress bar, or lines in the log."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kempe.search.callbacks import Callbacks
from kempe.search.stop import UNLIMITED, AnyOf, StoppingRule
from kempe.words import counted

if TYPE_CHECKING:
    from rich.console import Console

    from kempe.problem import Problem
    from kempe.search.bar import LiveBar, NotebookBar
    from kempe.search.result import Result
    from kempe.search.stop import SearchState

logger = logging.getLogger("kempe")


class ProgressBar(Callbacks):
    """Progress bar with the mutations, the lowest objective and the time.

    It goes to standard error, or below the cell of a notebook. Where nobody watches (standard error
    is a file or a pipe), only the final state is written.

    Parameters
    ----------
    rules
        Stopping rules of the search, from which the bar knows how far it has come.
    console
        Where to draw; standard error by default.
    """

    def __init__(self, rules: Iterable[StoppingRule] = (), console: Console | None = None) -> None:
        self._limits = AnyOf(rules)
        self._console = console
        self._progress: LiveBar | NotebookBar | None = None

    def on_start(self, problem: Problem) -> None:
        """Show the bar."""
        from kempe.search.bar import live_bar

        self._progress = live_bar(self._console, self._limits.seconds)
        self._task = self._progress.add_task(
            f"{counted(problem.n_rows, 'row')}, {counted(problem.n_clusters, 'cluster')}",
            # Mutations tell nothing before the first of them.
            total=1.0 if self._limits.seconds < math.inf else None,
            state="first descent",
        )
        self._progress.start()

    def on_iteration(self, state: SearchState) -> None:
        """Move the bar."""
        if self._progress is None:
            return
        text = f"mutation {state.iteration:,}  best {state.best_objective:.6g}"
        share = self._share(state)
        self._progress.update(self._task, total=1.0 if share else None, completed=share, state=text)

    def on_end(self, result: Result) -> None:
        """Leave the final state on the screen."""
        if self._progress is None:
            return
        text = f"mutation {result.n_mutations:,}  best {result.objective:.6g}  {result.ending}"
        self._progress.update(self._task, total=1.0, completed=1.0, state=text)

    def on_close(self) -> None:
        """Give the terminal its cursor back."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _share(self, state: SearchState) -> float:
        """How far the nearest limit has been used up."""
        mutations = self._limits.mutations
        limited = 0 < mutations < UNLIMITED
        by_mutations = state.iteration / mutations if limited else 0.0
        return min(1.0, max(by_mutations, state.elapsed / self._limits.seconds))


class LogBest(Callbacks):
    """Log the start, every new best and the end to the logger ``kempe``, at level INFO.

    If logging is not set up to show them, they go to standard error while the search runs.
    """

    def __init__(self) -> None:
        self._handler: logging.Handler | None = None
        self._level = logging.NOTSET

    def on_start(self, problem: Problem) -> None:
        """Log the size of the problem."""
        if not (logger.hasHandlers() and logger.isEnabledFor(logging.INFO)):
            self._show()
        logger.info(
            "%d rows in %d supernodes, %d cannot-link edges, %d clusters",
            problem.n_rows,
            problem.n_supernodes,
            problem.graph.n_edges,
            problem.n_clusters,
        )

    def on_best(self, state: SearchState) -> None:
        """Log a new best."""
        logger.info(
            "%8.2f s  %6d  %-10s  best %.8g",
            state.elapsed,
            state.iteration,
            state.kind,
            state.best_objective,
        )

    def on_end(self, result: Result) -> None:
        """Log the summary."""
        for line in result.summary().splitlines():
            logger.info("%s", line)

    def on_close(self) -> None:
        """Leave the logger as it was."""
        if self._handler is not None:
            logger.removeHandler(self._handler)
            logger.setLevel(self._level)
            self._handler = None

    def _show(self) -> None:
        self._handler, self._level = logging.StreamHandler(), logger.level
        self._handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(self._handler)
        logger.setLevel(logging.INFO)


def display(verbose: int, rules: Iterable[StoppingRule] = ()) -> list[Callbacks]:
    """Give the callbacks for a level of verbosity.

    Parameters
    ----------
    verbose
        0 shows nothing, 1 a progress bar, 2 and more a line in the log for every new best.
    rules
        Stopping rules of the search, for the progress bar.
    """
    if not verbose:
        return []
    return [ProgressBar(rules)] if int(verbose) == 1 else [LogBest()]
