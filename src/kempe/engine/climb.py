"""New clusterings reach the prices of soft pairs over lower ones.

At full price whoever is tied to others cannot leave them, so a start at random freezes early. Where
pairs cost little at first, clusters find their places, and pairs are given up, or not, one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from kempe.engine.sequential import SequentialDescent
from kempe.problem import Colours, Problem
from kempe.search.descent import Context

# A clustering goes down at these shares of the prices, one after the other, before the whole price.
SHARES = (0.125, 0.25, 0.5)


@dataclass(frozen=True, eq=False)
class Climb:
    """The way of a start up to the prices of a problem.

    Attributes
    ----------
    priced
        The problem.
    free
        The same without soft pairs.
    shares
        The shares of the prices on the way, which rise.
    """

    priced: Problem
    free: Problem
    shares: tuple[float, ...]
    _descents: tuple[SequentialDescent, ...]

    @classmethod
    def to(cls, priced: Problem, free: Problem) -> Climb:
        """Prepare the way to the prices of a problem.

        Large data goes down without pairs alone: its first passes cost more than all others, and
        are several times as quick where nobody pulls.
        """
        shares = () if priced.core.is_large else SHARES
        return cls(priced, free, shares, tuple(SequentialDescent() for _ in (free, *shares)))

    @cached_property
    def lower(self) -> tuple[Problem, ...]:
        """The problem with pairs at lower prices, which rise."""
        prices = self.priced.prices
        assert prices is not None
        return tuple(self.free.priced(share * prices) for share in self.shares)

    def __call__(self, context: Context, colours: Colours) -> Colours:
        """Go down at all prices below the last."""
        for step, descent in enumerate(self._descents):
            if context.stopper.look():
                break
            problem = self.lower[step - 1] if step else self.free
            colours = descent.descend(replace(context, problem=problem), colours)
        return colours

    def leads_to(self, problem: Problem) -> bool:
        """Whether this is the way to the prices of a problem, and not of a sketch of it."""
        return problem is self.priced

    def free_of(self, context: Context) -> Context:
        """Give the same context without pairs to pay for."""
        return replace(context, problem=self.free)
