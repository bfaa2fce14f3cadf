"""Where the clusterings of the first generations come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kempe import _core
from kempe.engine.climb import Climb
from kempe.engine.limits import SizedStarts
from kempe.engine.params import SearchPlan
from kempe.engine.sequential import SequentialDescent, is_transport, transported
from kempe.engine.warm import checked_labels, colours_of_labels, is_labels
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Context
from kempe.search.first_colouring import any_colouring, first_colouring, starting_solution
from kempe.search.seeding import Init, is_drawn, refined_centroids, starting_centroids

# Another round of saturation-ordered assignment must have lowered the inertia by this share.
WORTHWHILE = 1e-3


@dataclass(frozen=True)
class Starts:
    """Makes proper colourings, each from centroids of its own.

    Attributes
    ----------
    known
        A colouring to fall back on, where finding one may take long.
    draws
        Centroids are drawn so many times, and the best colouring is taken.
    sized
        Keeps limits on the sizes of clusters, if there are any.
    climb
        The way up to the prices of soft pairs, if there are any.
    """

    plan: SearchPlan
    init: Init
    known: Colours | None = None
    draws: int = 1
    sized: SizedStarts | None = None
    climb: Climb | None = None

    @classmethod
    def prepared(cls, context: Context, plan: SearchPlan, init: Init, draws: int = 1) -> Starts:
        """Look for a colouring once, for all starts, where the graph is tight."""
        problem = context.problem
        tight = plan.exhaustive_start and problem.graph.is_tight(problem.n_clusters)
        known = any_colouring(context) if tight else None
        sized = None
        if problem.limits is not None:
            assert isinstance(plan.descent, SequentialDescent)
            sized = SizedStarts.prepared(context, plan.descent, known)
        return cls(plan, init, known, draws, sized)

    def is_given(self, number: int) -> bool:
        """Whether centroids or labels were given for this start; they serve the first alone."""
        return number == 0 and not is_drawn(self.init)

    def needs_rows(self, number: int) -> bool:
        """Whether this start can be made in the coordinates of the user's data only."""
        return self.is_given(number) or callable(self.init)

    def has_rival(self, number: int) -> bool:
        """Whether the best of several draws may be better than this start.

        That holds for given centroids, which are a single draw; labels come from a search.
        """
        return self.draws > 1 and self.is_given(number) and not is_labels(self.init)

    def make(self, context: Context, number: int) -> Colours:
        """Make the start of this number."""
        if self.is_given(number) and is_labels(self.init):
            return self._warm(context)
        if self.climb is not None and self.climb.leads_to(context.problem):
            return self.climb(context, self._draw(self.climb.free_of(context), number))
        best = self._draw(context, number)
        if self.draws == 1 or self.is_given(number):
            return best
        for _ in range(1, self.draws):
            if context.stopper.look():
                break
            best = min(best, self._draw(context, number), key=context.problem.inertia)
        return best

    def rival(self, context: Context) -> Colours:
        """Draw a start, whatever was given."""
        return replace(self, init="k-means++").make(context, 0)

    def _warm(self, context: Context) -> Colours:
        """Go on from labels of the rows."""
        problem = context.problem
        labels = checked_labels(self.init, problem.n_rows, problem.n_clusters)
        exhaustive = self.plan.exhaustive_start
        colours = colours_of_labels(context, labels, exhaustive=exhaustive, known=self.known)
        if self.sized is None or problem.keeps_limits(colours):
            return colours
        return self.sized.make(context, colours, problem.means(colours)[0])

    def _draw(self, context: Context, number: int) -> Colours:
        use_own = is_drawn(self.init) or self.is_given(number)
        init = self.init if use_own else "k-means++"
        centroids = starting_centroids(context.problem, init, context.rng, context.stopper)
        exhaustive = self.plan.exhaustive_start
        sampled = self._is_sampled(context.problem)
        if sampled:
            centroids = refined_centroids(context.problem, centroids, context.rng, context.stopper)
        if is_transport(context.problem):
            return transported(context, centroids)
        if self.sized is not None:
            colours = first_colouring(context, centroids, exhaustive=exhaustive, known=self.known)
            return self.sized.make(context, colours, centroids)
        if self.plan.saturation_rounds and self.known is None:
            colours = first_colouring(context, centroids, exhaustive=exhaustive)
            return repeated(context, colours, self.plan.saturation_rounds)[1]
        if sampled:
            return first_colouring(context, centroids, exhaustive=exhaustive, known=self.known)
        return starting_solution(
            context, centroids, self.plan.descent, exhaustive=exhaustive, known=self.known
        )

    def _is_sampled(self, problem: Problem) -> bool:
        """Whether to refine centroids that were drawn, which pays for large data alone.

        Where constraints are dense, rounds of colouring take their place, but for one of several
        draws they have a better beginning.
        """
        drawn = is_drawn(self.init)
        return (
            problem.core.is_large and drawn and (self.draws > 1 or not self.plan.saturation_rounds)
        )


def repeated(
    context: Context,
    colours: Colours,
    rounds: int,
    at: Callable[[Centroids], Context] | None = None,
) -> tuple[Context, Colours]:
    """Repeat the saturation-ordered assignment about the means as long as that pays.

    Each round colours anew, so it is not bound to the Kempe class of the first colouring; where
    constraints are dense this starts far lower than settling on the first centroids.

    Parameters
    ----------
    rounds
        The most.
    at
        Gives the problem at some centroids, where it depends on them.

    Returns
    -------
    context, colours
        The last problem, and its colouring.
    """
    centroids, _ = context.problem.means(colours)
    inertia = context.problem.inertia(colours, centroids)
    for _ in range(rounds):
        if context.stopper.look():
            break
        next_context = context if at is None else at(centroids)
        problem = next_context.problem
        again, stuck = _core.saturation_assignment(problem.core, centroids, context.stopper)
        if stuck >= 0:
            break
        centroids, _ = problem.means(again)
        lower = problem.inertia(again, centroids)
        if lower > inertia * (1 - WORTHWHILE):
            break
        context, colours, inertia = next_context, again, lower
    return context, colours
