"""The part of an assignment that is neither free nor a clique: guess, relax, anneal, branch."""

from __future__ import annotations

import numpy as np

from kempe import _core
from kempe.exact.branching import AssignmentBranching, Piece
from kempe.exact.heuristics import Heuristics
from kempe.exact.knowledge import AssignmentKnowledge, AssignmentTask
from kempe.exact.part import AssignmentPart, CliqueRows, PartOutcome
from kempe.exact.relaxation import LinearRelaxation, Memory
from kempe.graph import CannotLinkGraph


class HardPart:
    """Vertices whose assignment needs a solver; remembers what one call teaches for the next.

    Parameters
    ----------
    graph
        Their cannot-link graph.
    cover
        Whether every cluster must get a vertex, which ties all components together.
    """

    def __init__(self, graph: CannotLinkGraph, *, cover: bool = False) -> None:
        self.graph = graph
        self.cover = cover
        self._cliques: CliqueRows | None = None
        self.component = np.zeros(graph.size, np.int32) if cover else graph.components
        self._memory: Memory | None = None
        self._pieces: dict[int, Piece] = {}

    def solve(self, task: AssignmentTask) -> PartOutcome:
        """Solve the part; the outcome is complete if it is optimal or there is no colouring."""
        cliques = self._covering(task.stopper)
        part = AssignmentPart(self.graph, cliques, task.costs, task.incumbent, self.cover)
        known = AssignmentKnowledge(part, self.component, task)
        if task.solver not in ("cpsat", "gurobi"):
            Heuristics(known).descend()
        if not _is_over(known):
            self._solve_exactly(known)
        return known.outcome()

    def _covering(self, stopper: _core.Stopper) -> CliqueRows:
        """Cover the edges by cliques, once unless it is cut short."""
        if self._cliques is not None:
            return self._cliques
        found = CliqueRows.of(self.graph, stopper)
        if not stopper.stopped:
            self._cliques = found
        return found

    def _solve_exactly(self, known: AssignmentKnowledge) -> None:
        """Relax, anneal, branch; a relaxation takes a while to set up, so only if there is time."""
        task, heuristics = known.task, Heuristics(known)
        relaxation = LinearRelaxation(known, heuristics, self._memory)
        branching = AssignmentBranching(known, relaxation, self._piece)

        def anneal() -> None:
            # Only where the relaxation says little and any better colouring will do.
            wanted = task.aids.annealing and task.first and not self.cover
            if wanted and relaxation.weak and known.has_colouring:
                heuristics.anneal()

        steps = [relaxation.solve, anneal, branching.polish, branching.finish]
        if task.solver in ("cpsat", "gurobi"):
            steps = [branching.finish]
        for step in steps:
            step()
            if _is_over(known):
                break
        self._memory, self._cliques = relaxation.memory, known.part.cliques

    def _piece(self, component: int) -> Piece:
        if component not in self._pieces:
            vertices = np.flatnonzero(self.component == component)
            self._pieces[component] = Piece(vertices, self.graph.induced(vertices))
        return self._pieces[component]


def _is_over(known: AssignmentKnowledge) -> bool:
    """Whether there is nothing left to do, or no time for it."""
    return known.infeasible or known.finished or known.task.stopper.look()
