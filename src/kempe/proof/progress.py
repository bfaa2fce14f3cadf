"""What a user can hook into a proof that is being sought, and the progress bar that does so."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kempe.proof.certificate import relative_gap

if TYPE_CHECKING:
    from rich.console import Console

    from kempe.proof.certificate import OptimalityCertificate
    from kempe.search.bar import LiveBar, NotebookBar

# Seconds after which a check shows how far it is: most take less.
SHOWN_AFTER = 2.0


@dataclass(frozen=True)
class ProofState:
    """How far a proof has come.

    Attributes
    ----------
    elapsed
        Seconds since the start.
    lower_bound
        The best bound so far, as the solver sees it.
    inertia
        That of the best labels so far; with soft pairs, and the prices of those that they break.
    n_nodes, n_open
        Nodes of the tree, and those that still need a better bound.
    """

    elapsed: float
    lower_bound: float
    inertia: float
    n_nodes: int = 1
    n_open: int = 1

    @property
    def gap(self) -> float:
        """How far the labels can be from the best clustering, relative to their inertia."""
        return relative_gap(self.lower_bound, self.inertia)


class ProofCallbacks:
    """Base class of callbacks of :func:`kempe.certify`; override what you need.

    Examples
    --------
    >>> class StopAtOnePercent(ProofCallbacks):
    ...     def on_bound(self, state):
    ...         return state.gap < 0.01
    """

    def on_start(self, n_rows: int, n_groups: int, n_clusters: int) -> None:
        """Before the first bound; groups are what remains of the rows after the presolve.

        Parameters
        ----------
        n_rows
            Number of rows.
        n_groups
            Number of groups.
        n_clusters
            Number of clusters.
        """

    def on_bound(self, state: ProofState) -> bool | None:
        """After every step of the solver; ``True`` ends it.

        Parameters
        ----------
        state
            How far the proof has come.
        """

    def on_end(self, certificate: OptimalityCertificate) -> None:
        """Once, with what was proven; not if it ends in an exception.

        Parameters
        ----------
        certificate
            What was proven.
        """

    def on_close(self) -> None:
        """Last of all, also after an exception: give back what ``on_start`` took."""


class ProofCallbackList(ProofCallbacks):
    """Several callbacks as one, called in order."""

    def __init__(self, callbacks: Iterable[ProofCallbacks] = ()) -> None:
        self._callbacks = tuple(callbacks)

    def on_start(self, n_rows: int, n_groups: int, n_clusters: int) -> None:
        """Before the first bound."""
        for callback in self._callbacks:
            callback.on_start(n_rows, n_groups, n_clusters)

    def on_bound(self, state: ProofState) -> bool:
        """After every step of the solver; whether any wants to end."""
        wishes = [callback.on_bound(state) for callback in self._callbacks]
        return any(wishes)

    def on_end(self, certificate: OptimalityCertificate) -> None:
        """Once, with what was proven."""
        for callback in self._callbacks:
            callback.on_end(certificate)

    def on_close(self) -> None:
        """Last of all; what one raises keeps no other from closing."""
        with ExitStack() as stack:
            for callback in reversed(self._callbacks):
                stack.callback(callback.on_close)


class ProofBar(ProofCallbacks):
    """Progress bar with the gap, both bounds, the open nodes and the time.

    Parameters
    ----------
    time_limit
        Seconds that the proof may take, ``None`` for no limit.
    gap
        The gap at which it ends.
    console
        Where to draw; standard error by default.
    """

    def __init__(
        self, time_limit: float | None = None, gap: float = 0.0, console: Console | None = None
    ) -> None:
        self._limit = math.inf if time_limit is None else time_limit
        self._gap = gap
        self._console = console
        self._first = math.nan
        self._progress: LiveBar | NotebookBar | None = None

    def on_start(self, n_rows: int, n_groups: int, n_clusters: int) -> None:
        """Show the bar."""
        from kempe.search.bar import live_bar

        self._progress = live_bar(self._console, self._limit)
        self._task = self._progress.add_task(
            f"{n_rows:,} rows, {n_groups:,} groups, {n_clusters} clusters",
            total=1.0,
            state="first bound",
        )
        self._progress.start()

    def on_bound(self, state: ProofState) -> None:
        """Move the bar."""
        if self._progress is not None:
            text = f"{_percent(state.gap)}  {state.lower_bound:.6g} to {state.inertia:.6g}"
            nodes = f"  {state.n_open:,} of {state.n_nodes:,} nodes open"
            text += nodes if state.n_nodes > 1 else ""
            self._progress.update(self._task, completed=self._share(state), state=text)

    def on_end(self, certificate: OptimalityCertificate) -> None:
        """Leave the final state on the screen."""
        if self._progress is not None:
            done = "proven optimal" if certificate.is_optimal else "not proven optimal"
            text = f"{_percent(certificate.gap)}  {done}"
            self._progress.update(self._task, completed=1.0, state=text)

    def on_close(self) -> None:
        """Give the terminal its cursor back."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _share(self, state: ProofState) -> float:
        """How far the time is used up, or the gap closed, on the scale of its logarithm."""
        if math.isnan(self._first) and 0 < state.gap < math.inf:
            self._first = state.gap
        closed = 0.0
        if 0 < self._gap < self._first and state.gap > 0:
            closed = math.log(self._first / state.gap) / math.log(self._first / self._gap)
        return min(1.0, max(closed, state.elapsed / self._limit))


def _percent(gap: float) -> str:
    return f"gap {100 * gap:.3g} %"


def display(verbose: int, time_limit: float | None, gap: float) -> list[ProofCallbacks]:
    """Give the callbacks for a level of verbosity: 0 shows nothing, more a progress bar."""
    return [ProofBar(time_limit, gap)] if verbose else []


class _CheckingBar:
    """Progress bar of a check, shown from the first report on that comes late enough."""

    def __init__(self, certificate: OptimalityCertificate) -> None:
        self._about = f"checking {certificate.labels.size:,} rows"
        self._started = time.perf_counter()
        self.progress: LiveBar | NotebookBar | None = None

    def report(self, share: float) -> None:
        """Move the bar."""
        if self.progress is None:
            if time.perf_counter() - self._started < SHOWN_AFTER:
                return
            from kempe.search.bar import live_bar

            self.progress = live_bar(None, math.inf)
            self._task = self.progress.add_task(self._about, total=1.0, state="")
            self.progress.start()
        self.progress.update(self._task, completed=share, state=f"{100 * share:.0f} %")


@contextmanager
def checking_bar(
    certificate: OptimalityCertificate, verbose: int
) -> Iterator[Callable[[float], None]]:
    """Give what a check reports to: a progress bar that goes away with it, or nothing."""
    bar = _CheckingBar(certificate)
    try:
        yield bar.report if verbose else lambda share: None
    finally:
        if bar.progress is not None:
            bar.progress.stop()
