"""When a search ends.

A stopping rule is anything callable that takes a ``SearchState`` and says whether to stop, so a
user can pass a function of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
        Lowest inertia so far.
    since_best
        Mutations since the last new best.
    elapsed
        Seconds of wall time.
    kind
        Where the last solution came from, for example ``"start"`` or ``"perturb"``.
    """

    iteration: int
    inertia: float
    best_inertia: float
    since_best: int
    elapsed: float
    kind: str


class StoppingRule(Protocol):
    """Says whether a search shall stop."""

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""


@dataclass(frozen=True)
class MaxMutations:
    """Stop after this many mutations; 0 leaves one descent."""

    mutations: int

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        return state.iteration >= self.mutations


@dataclass(frozen=True)
class Patience:
    """Stop after this many mutations in a row without a new best."""

    mutations: int

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        return state.since_best >= self.mutations


@dataclass(frozen=True)
class TimeLimit:
    """Stop after this many seconds of wall time."""

    seconds: float

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        return state.elapsed >= self.seconds


@dataclass(frozen=True)
class TargetInertia:
    """Stop as soon as the inertia is this low, up to rounding."""

    inertia: float

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        return state.best_inertia <= self.inertia + 1e-12 * abs(self.inertia)


class AnyOf:
    """Stop when any of several rules says so; ``triggered`` remembers which.

    Rules that are themselves ``AnyOf`` are taken apart, so that limits are seen wherever they are.
    """

    def __init__(self, rules: Iterable[StoppingRule]) -> None:
        self.rules = tuple(_apart(rules))
        self.triggered: StoppingRule | None = None

    @property
    def seconds(self) -> float:
        """The shortest time limit among the rules."""
        limits = (rule.seconds for rule in self.rules if isinstance(rule, TimeLimit))
        return min(limits, default=math.inf)

    @property
    def mutations(self) -> int:
        """The smallest limit on mutations among the rules."""
        limits = (rule.mutations for rule in self.rules if isinstance(rule, MaxMutations))
        return min(limits, default=UNLIMITED)

    @property
    def target(self) -> float:
        """The highest inertia that is low enough for one of the rules."""
        targets = (rule.inertia for rule in self.rules if isinstance(rule, TargetInertia))
        return max(targets, default=-math.inf)

    def __call__(self, state: SearchState) -> bool:
        """Return whether to stop now."""
        self.triggered = next((rule for rule in self.rules if rule(state)), None)
        return self.triggered is not None


def _apart(rules: Iterable[StoppingRule]) -> Iterator[StoppingRule]:
    for rule in rules:
        yield from rule.rules if isinstance(rule, AnyOf) else (rule,)
