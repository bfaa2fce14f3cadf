"""New clusterings reach the prices of soft pairs over lower ones.

At full price whoever is tied to others cannot leave them, so a start at random freezes early. Where
pairs cost little at first, clusters find their places, and pairs are given up, or not, one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    lower
        The same with pairs at lower prices, which rise.
    """

    priced: Problem
    free: Problem
    lower: tuple[Problem, ...]
    _descents: tuple[SequentialDescent, ...]

    @classmethod
    def to(cls, priced: Problem, free: Problem) -> Climb:
        """Prepare the way to the prices of a problem.

        Large data goes down without pairs alone: its first passes cost more than all others, and
        are several times as quick where nobody pulls.
        """
        assert priced.prices is not None
        shares = () if priced.core.is_large else SHARES
        lower = tuple(free.priced(share * priced.prices) for share in shares)
        return cls(priced, free, lower, tuple(SequentialDescent() for _ in (free, *lower)))

    def __call__(self, context: Context, colours: Colours) -> Colours:
        """Go down at all prices below the last."""
        for problem, descent in zip((self.free, *self.lower), self._descents, strict=True):
            if context.stopper.look():
                break
            colours = descent.descend(replace(context, problem=problem), colours)
        return colours

    def leads_to(self, problem: Problem) -> bool:
        """Whether this is the way to the prices of a problem, and not of a sketch of it."""
        return problem is self.priced

    def free_of(self, context: Context) -> Context:
        """Give the same context without pairs to pay for."""
        return replace(context, problem=self.free)
