"""What is asked about the hard part of an assignment, and what is known about it so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.exact.part import AssignmentPart, Floats, PartOutcome, cover_clusters
from kempe.problem import Colours

Solver: TypeAlias = Literal["auto", "highs", "cpsat", "gurobi"]
SOLVERS: tuple[str, ...] = get_args(Solver)

# Two costs closer than this, relative to the total, count as equal.
TOLERANCE = 1e-7


@dataclass(frozen=True)
class Aids:
    """What helps the solvers to colourings, besides the linear relaxation.

    Attributes
    ----------
    swaps
        Whether every colouring that comes up is improved by Kempe chains.
    annealing
        Whether simulated annealing looks for a first improvement where the relaxation says little.
    colouring
        Whether DSATUR, tabu search and exact branching, which ignore the costs, make a colouring
        where none is known.
    """

    swaps: bool = True
    annealing: bool = True
    colouring: bool = True


@dataclass(frozen=True)
class AssignmentTask:
    """What is asked of the solvers in one call.

    ``effort`` limits the solvers by the work they do, not by the clock, in units of about a second.
    """

    costs: Floats
    incumbent: Colours | None
    first: bool
    solver: Solver
    rng: np.random.Generator
    stopper: _core.Stopper
    effort: float = math.inf
    aids: Aids = Aids()


class AssignmentKnowledge:
    """The best colouring and the bounds of every component, while one task is being solved.

    Parameters
    ----------
    part
        The vertices with costs as the user has them, and the incumbent if there is one.
    component
        Component of each vertex; components are solved independently of each other.
    task
        What is asked.

    Attributes
    ----------
    part
        The same with costs above the nearest cluster, scaled to the order of one.
    scale
        Unit of these costs, in the user's.
    best
        Colours; only those of components with a finite ``upper`` mean anything.
    upper, lower
        Cost of the best colouring of each component, and a lower bound on it.
    infeasible
        Whether it is proven that there is no colouring.
    """

    def __init__(
        self, part: AssignmentPart, component: NDArray[np.int32], task: AssignmentTask
    ) -> None:
        nearest = part.costs.min(axis=1)
        relative = part.costs - nearest[:, None]
        # Solvers have absolute tolerances, so costs are scaled to the order of one.
        self.scale = float(relative[np.isfinite(relative)].mean()) or 1.0
        self._base = float(nearest.sum())
        self.part = part.with_costs(relative / self.scale)
        self.component = component
        self.task = task
        self.count = int(component.max(initial=-1)) + 1
        self.best: Colours = np.zeros(part.graph.size, dtype=np.int32)
        self.upper = np.full(self.count, np.inf)
        self.lower = np.zeros(self.count)
        self.infeasible = False
        if part.incumbent is not None:
            self.offer(part.incumbent)
        self._start = float(self.upper.sum())

    @property
    def tolerance(self) -> float:
        """Differences below this, in one component, do not matter."""
        known = self.upper[np.isfinite(self.upper)].sum()
        return TOLERANCE * (1.0 + float(known)) / max(1, self.count)

    @property
    def unsolved(self) -> NDArray[np.bool_]:
        """Components whose best colouring is not known to be optimal."""
        with np.errstate(invalid="ignore"):  # both are infinite where there is none
            return np.asarray(self.upper - self.lower > self.tolerance)

    @property
    def has_colouring(self) -> bool:
        """Whether a colouring of all components is known."""
        return bool(np.isfinite(self.upper).all())

    @property
    def finished(self) -> bool:
        """Whether the task is done."""
        if self.task.first and self.upper.sum() < self._start - self.tolerance:
            return self.has_colouring
        return not self.unsolved.any()

    def outcome(self) -> PartOutcome:
        """Say what is known, in the user's costs."""
        if self.infeasible:
            return PartOutcome(None, np.inf, complete=True)
        bound = self._base + self.scale * float(np.minimum(self.lower, self.upper).sum())
        if not self.has_colouring:
            return PartOutcome(None, bound, complete=False)
        return PartOutcome(self.best, bound, complete=not self.unsolved.any())

    def offer(self, colours: Colours) -> None:
        """Keep those components of a colouring that are better than the best known."""
        part = self.part
        if part.cover:
            colours = cover_clusters(part.costs, colours)
            if not part.accepts(colours):
                return
        costs = part.costs[np.arange(colours.size), colours]
        source = np.repeat(np.arange(part.graph.size), part.graph.degree)
        wrong = (colours[source] == colours[part.graph.targets]) | (colours[source] < 0)
        total = np.bincount(self.component, costs, self.count)
        total[self.component[source[wrong]]] = np.inf
        better = total < self.upper
        self.upper[better] = total[better]
        chosen = better[self.component]
        self.best[chosen] = colours[chosen]

    def conclude(self, component: int, outcome: PartOutcome) -> None:
        """Draw bounds from the outcome of a complete model of one component."""
        if outcome.complete and not np.isfinite(self.upper[component]):
            self.infeasible = True
        elif outcome.complete and not (self.task.first and outcome.colours is not None):
            self.lower[component] = self.upper[component]
        proven = min(outcome.bound, self.upper[component])
        self.lower[component] = max(self.lower[component], proven)
