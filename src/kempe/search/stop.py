"""When a search ends.

A stopping rule is anything callable that takes a ``SearchState`` and says whether to stop, so a
user can pass a function of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Protocol

# As many mutations as kernels can count.
UNLIMITED = 2**31 - 1


@dataclass(frozen=True)
class SearchState:
    """How far a search has come.

    Attributes
    ----------
    iteration
        Solutions looked at so far; 0 is the start, so this counts the mutations.
    inertia
        Inertia of the solution looked at last.
    best_inertia
        Inertia of the best solution so far.
    since_best
        Mutations since the last new best.
    elapsed
        Seconds of wall time.
    kind
        Where the last solution came from, for example ``"start"`` or ``"perturb"``.
    objective
        What the search minimises, of the solution looked at last: nearly always the inertia.
    best_objective
        Lowest objective so far.
    """

    iteration: int
    inertia: float
    best_inertia: float
    since_best: int
    elapsed: float
    kind: str
    objective: float
    best_objective: float


class StoppingRule(Protocol):
    """Says whether a search shall stop."""

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now.

        Parameters
        ----------
        state
            How far the search has come.
        """


@dataclass(frozen=True)
class MaxMutations:
    """Stop after this many mutations; 0 leaves one descent.

    Attributes
    ----------
    mutations
        The most.
    """

    mutations: int

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        return state.iteration >= self.mutations


@dataclass(frozen=True)
class Patience:
    """Stop after this many mutations in a row without a new best.

    Attributes
    ----------
    mutations
        The most in a row without a new best.
    """

    mutations: int

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        return state.since_best >= self.mutations


@dataclass
class DiminishingReturns:
    """Stop when the later half of all mutations has lowered the objective by less than a share.

    A search then takes about twice the time that it took to the last gain that was worth while,
    whatever a mutation takes.

    Attributes
    ----------
    share
        Of the objective: what gains less is not worth while.
    least
        Mutations before which it does not stop.
    """

    share: float
    least: int = 1

    def __post_init__(self) -> None:
        # Mutations at which the lowest objective fell, from half of them on, and what it fell to.
        self._lows: deque[tuple[int, float]] = deque()

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        lows, now = self._lows, state.iteration
        if lows and lows[-1][0] > now:  # another search has begun
            lows.clear()
        if not lows or state.best_objective < lows[-1][1]:
            lows.append((now, state.best_objective))
        while len(lows) > 1 and 2 * lows[1][0] <= now:
            lows.popleft()
        halfway = lows[0][1]
        return now >= self.least and halfway - state.best_objective <= self.share * abs(halfway)


@dataclass(frozen=True)
class TimeLimit:
    """Stop after this many seconds of wall time.

    Attributes
    ----------
    seconds
        Since the start of the search.
    """

    seconds: float

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        return state.elapsed >= self.seconds


@dataclass(frozen=True)
class TargetInertia:
    """Stop as soon as the inertia, or what else is minimised, is this low, up to rounding.

    Attributes
    ----------
    inertia
        What is low enough.
    """

    inertia: float

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        return state.best_objective <= self.inertia + 1e-12 * abs(self.inertia)


class AnyOf:
    """Stop when any of several rules says so.

    Rules that are themselves ``AnyOf`` are taken apart, so that limits are seen wherever they are.

    Parameters
    ----------
    rules
        The rules, each a callable.

    Attributes
    ----------
    rules
        The rules.
    triggered
        The one that said stop.
    seconds, mutations
        The shortest time limit and the smallest number of mutations among the rules.
    target
        The highest objective that is low enough for one of them.
    """

    def __init__(self, rules: Iterable[StoppingRule]) -> None:
        self.rules: tuple[StoppingRule, ...] = ()
        for rule in rules:
            self.rules += rule.rules if isinstance(rule, AnyOf) else (rule,)
        self.triggered: StoppingRule | None = None
        self.seconds = min((r.seconds for r in self.rules if isinstance(r, TimeLimit)), default=inf)
        self.mutations = min(
            (r.mutations for r in self.rules if isinstance(r, MaxMutations)), default=UNLIMITED
        )
        self.target = max(
            (r.inertia for r in self.rules if isinstance(r, TargetInertia)), default=-inf
        )

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        self.triggered = next((rule for rule in self.rules if rule(state)), None)
        return self.triggered is not None
