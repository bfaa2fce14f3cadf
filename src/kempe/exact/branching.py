"""Branch and bound over the choices that the relaxation has left, component by component."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kempe.exact.cpsat import solve_by_cpsat
from kempe.exact.gurobi import solve_by_gurobi
from kempe.exact.highs import solve_integer
from kempe.exact.knowledge import AssignmentKnowledge
from kempe.exact.part import AssignmentPart, PartOutcome
from kempe.exact.relaxation import LARGEST_MODEL, LinearRelaxation
from kempe.graph import CannotLinkGraph
from kempe.graph.cpsat import has_ortools

# Choices whose reduced cost is below these shares of the gap are looked at first, each time for at
# most this share of the time that is left.
LIKED = (0.01, 0.1)
POLISHING = 0.2


class Piece(NamedTuple):
    """One component: its vertices and their graph."""

    vertices: NDArray[np.intp]
    graph: CannotLinkGraph


@dataclass(frozen=True)
class AssignmentBranching:
    """Solves the components that are left.

    Attributes
    ----------
    pieces
        Gives one component by itself.
    """

    known: AssignmentKnowledge
    relaxation: LinearRelaxation
    pieces: Callable[[int], Piece]

    def polish(self) -> None:
        """Look for a better colouring among the choices that the relaxation likes most."""
        known, relaxation = self.known, self.relaxation
        for share in LIKED:
            if relaxation.is_useless or known.finished or not known.has_colouring:
                return
            gap = (known.upper - known.lower)[known.component]
            liked = relaxation.choices() & (relaxation.reduced <= share * gap[:, None])
            liked[np.arange(known.best.size), known.best] = True
            self._solve(liked, POLISHING * known.task.stopper.remaining, proof=False)
            relaxation.rule_out()

    def finish(self) -> None:
        """Solve what is left to the end."""
        self._solve(self.relaxation.choices(), self.known.task.stopper.remaining, proof=True)

    def _solve(self, choices: NDArray[np.bool_], seconds: float, *, proof: bool) -> None:
        """Solve each component, the smallest first.

        Parameters
        ----------
        choices
            Choices to look at.
        proof
            Whether these are all the choices that can lead below the best.
        """
        known, stopper = self.known, self.known.task.stopper
        size = np.bincount(known.component, minlength=known.count)
        deadline = stopper.remaining - seconds
        for component in sorted(np.flatnonzero(known.unsolved), key=size.__getitem__):
            left = stopper.remaining - deadline if np.isfinite(seconds) else seconds
            if known.finished or known.infeasible or left <= 0 or stopper.look():
                return
            outcome = self._solve_component(int(component), choices, left, proof=proof)
            if proof:
                known.conclude(int(component), outcome)

    def _solve_component(
        self, component: int, choices: NDArray[np.bool_], seconds: float, *, proof: bool
    ) -> PartOutcome:
        vertices, graph = self.pieces(component)
        if choices[vertices].sum() > LARGEST_MODEL:
            return PartOutcome(None, -np.inf, complete=False)
        known, rows = self.known, self.relaxation.rows
        cliques, which = known.part.cliques.among(vertices)
        part = replace(
            known.part,
            graph=graph,
            cliques=cliques,
            costs=np.where(choices[vertices], known.part.costs[vertices], np.inf),
            incumbent=known.best[vertices] if np.isfinite(known.upper[component]) else None,
            rows=rows[which],
        )
        outcome = self._ask(part, seconds, proof=proof)
        if outcome.colours is not None:
            colours = known.best.copy()
            colours[vertices] = outcome.colours
            known.offer(colours)
        return outcome

    def _ask(self, part: AssignmentPart, seconds: float, *, proof: bool) -> PartOutcome:
        task = self.known.task
        if not proof:
            return solve_integer(part, seconds, task.effort)
        seed = int(task.rng.integers(2**31))
        if task.solver == "gurobi":
            return solve_by_gurobi(part, seconds, task.effort, first=task.first, seed=seed)
        improving = task.first and task.solver == "auto" and has_ortools()
        if task.solver == "cpsat" or improving or self.relaxation.is_useless:
            return solve_by_cpsat(
                part, task.stopper, seconds, task.effort, first=task.first, seed=seed
            )
        return solve_integer(part, seconds, task.effort)
