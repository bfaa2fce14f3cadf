"""KSAssignment, Algorithm 2 of the paper: all improving chains, the best compatible set of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.kskm import mwis as independent_set
from kempe.kskm.three_colour import three_colour_step
from kempe.problem import Centroids, Colours
from kempe.search.descent import Context, Descent
from kempe.search.empty import means_or_points


@dataclass(frozen=True)
class SimultaneousDescent(Descent):
    """Descent by simultaneous Kempe swaps (Algorithm 2 of the paper and the inner loop of 1).

    Parameters
    ----------
    mwis
        How compatible swaps are chosen, see ``kempe.kskm.mwis.solve``. ``"greedy"`` is compiled
        like the loop around it; the others take more effort in every step.
    three_colour
        Whether ``descend`` goes on with three-colour chains once two-colour swaps are exhausted.
        That takes several times as long, and lowers the inertia only where constraints are loose.
    fill
        Where ``descend`` puts the centroid of a cluster that is empty: on the ``"costliest"``
        supernode, which lowers the inertia most, or on any, ``"random"``, as the authors' program.
    """

    mwis: independent_set.Method = "greedy"
    three_colour: bool = False
    fill: Literal["costliest", "random"] = "costliest"

    def __post_init__(self) -> None:
        if self.mwis not in independent_set.METHODS:
            raise ValueError(f"mwis must be one of {independent_set.METHODS}, got {self.mwis!r}")

    def step(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """One assignment (Algorithm 2): find chains, choose compatible ones, swap."""
        core, choose = context.problem.core, self._choose(context.rng)
        return _core.simultaneous_step(core, colours, centroids, choose)

    def settle(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Repeat the step at fixed centroids until no chain improves (the loop of Algorithm 4)."""
        core, choose = context.problem.core, self._choose(context.rng)
        return _core.simultaneous_settle(core, colours, centroids, context.stopper, choose)

    def descend(self, context: Context, colours: Colours) -> Colours:
        """Alternate centroid update and step until nothing improves (inner loop of Algorithm 1)."""
        problem, rng, stopper = context.problem, context.rng, context.stopper
        colours = self._two_colour_descent(context, colours)
        seen: Colours | None = None
        while self.three_colour and not stopper.look():
            rotated = three_colour_step(problem, colours, rng, stopper, self.mwis, seen)
            if rotated is None:
                break
            lower = self._two_colour_descent(context, rotated)
            # The inertia falls with every turn, so no colouring comes twice and this ends.
            if not problem.inertia(lower) < problem.inertia(colours):
                break
            seen, colours = colours, lower
        return colours

    def _two_colour_descent(self, context: Context, colours: Colours) -> Colours:
        problem, choose = context.problem, self._choose(context.rng)
        seed = int(context.rng.integers(2**63)) if self.fill == "random" else None
        return _core.simultaneous_descend(
            problem.core, colours, problem.n_clusters, context.stopper, choose, seed
        )

    def _choose(self, rng: np.random.Generator) -> Callable[..., NDArray[np.bool_]] | None:
        """Give the kernels a way to choose swaps; the greedy one is their own."""
        if self.mwis == "greedy":
            return None
        return partial(independent_set.solve, method=self.mwis, rng=rng)


def descend_by(
    follow: Callable[[Context, Colours, Centroids], Colours], context: Context, colours: Colours
) -> Colours:
    """Let a clustering follow its means until that no longer lowers the inertia.

    Parameters
    ----------
    follow
        ``step`` or ``settle`` of a descent.
    """
    problem = context.problem
    inertia = problem.inertia(colours)
    while not context.stopper.look():
        moved = follow(context, colours, means_or_points(problem, colours, context.rng))
        lower = problem.inertia(moved)
        if not lower < inertia:
            break
        colours, inertia = moved, lower
    return colours
