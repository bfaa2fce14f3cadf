"""Callbacks that show a running search: a progress bar, or lines in the log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kempe.search.callbacks import Callbacks

if TYPE_CHECKING:
    from kempe.problem import Problem
    from kempe.search.result import Result
    from kempe.search.stop import SearchState

logger = logging.getLogger("kempe")


class LogBest(Callbacks):
    """Log the start, every new best and the end, at level INFO."""

    def on_start(self, problem: Problem) -> None:
        """Log the size of the problem."""
        logger.info(
            "%d rows in %d supernodes, %d cannot-link edges, %d clusters",
            problem.n_rows,
            problem.n_supernodes,
            problem.n_edges,
            problem.n_clusters,
        )

    def on_best(self, state: SearchState) -> None:
        """Log a new best."""
        logger.info(
            "%8.2f s  %6d  %-10s  best %.8g",
            state.elapsed,
            state.iteration,
            state.kind,
            state.best_inertia,
        )

    def on_end(self, result: Result) -> None:
        """Log the summary."""
        for line in result.summary().splitlines():
            logger.info("%s", line)


def display(verbose: int) -> list[Callbacks]:
    """Callbacks for a level of verbosity: 0 none, 1 and more log every new best."""
    return [LogBest()] if verbose else []
