"""What a user can hook into a running search."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kempe.problem import Problem
    from kempe.search.result import Result
    from kempe.search.stop import SearchState


class Callbacks:
    """Base class of callbacks; override what you need.

    Examples
    --------
    >>> class PrintBest(Callbacks):
    ...     def on_best(self, state):
    ...         print(f"{state.elapsed:.2f} s: {state.best_inertia:.3f}")

    A stopping rule of your own:

    >>> class StopWhenSlow(Callbacks):
    ...     def on_iteration(self, state):
    ...         return state.since_best > 50 and state.elapsed > 10
    """

    def on_start(self, problem: Problem) -> None:
        """Before anything is searched.

        Parameters
        ----------
        problem
            Supernodes and the graph between them.
        """

    def on_iteration(self, state: SearchState) -> bool | None:
        """After every solution that the search has looked at; ``True`` ends the search.

        Parameters
        ----------
        state
            How far the search has come.
        """

    def on_best(self, state: SearchState) -> None:
        """After every new best solution.

        Parameters
        ----------
        state
            How far the search has come.
        """

    def on_end(self, result: Result) -> None:
        """Once for each search, with its result; not if it ends in an exception.

        Parameters
        ----------
        result
            The best solution of the search, and its history.
        """

    def on_close(self) -> None:
        """Last of all, also after an exception: give back what ``on_start`` took."""


class CallbackList(Callbacks):
    """Several callbacks as one, called in order."""

    def __init__(self, callbacks: Iterable[Callbacks] = ()) -> None:
        self._callbacks = tuple(callbacks)

    def on_start(self, problem: Problem) -> None:
        """Before anything is searched."""
        for callback in self._callbacks:
            callback.on_start(problem)

    def on_iteration(self, state: SearchState) -> bool:
        """After every solution that the search has looked at; whether any wants to end."""
        wishes = [callback.on_iteration(state) for callback in self._callbacks]
        return any(wishes)

    def on_best(self, state: SearchState) -> None:
        """After every new best solution."""
        for callback in self._callbacks:
            callback.on_best(state)

    def on_end(self, result: Result) -> None:
        """Once, with the result."""
        for callback in self._callbacks:
            callback.on_end(result)

    def on_close(self) -> None:
        """Last of all, also after an exception; what one raises keeps no other from closing."""
        with ExitStack() as stack:
            for callback in reversed(self._callbacks):
                stack.callback(callback.on_close)
