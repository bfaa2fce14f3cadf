"""Lines about a long search where there is no terminal to draw a bar on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kempe.cli.console import note
from kempe.search.callbacks import Callbacks
from kempe.words import counted

if TYPE_CHECKING:
    from kempe.search.stop import SearchState

FIRST = 5.0
"""Seconds until the first line; each further one takes twice as long as that before."""


class Heartbeat(Callbacks):
    """Say after 5, 10, 20, 40 ... seconds what a search has reached."""

    def __init__(self) -> None:
        self._next = FIRST

    def on_iteration(self, state: SearchState) -> None:
        """Say it if it is time to."""
        if state.elapsed < self._next:
            return
        while self._next <= state.elapsed:
            self._next *= 2
        note(
            f"after {state.elapsed:.0f} s: inertia {state.best_inertia:,.6g}, "
            f"{counted(state.iteration, 'mutation')}, {state.since_best:,} of them since the best"
        )
