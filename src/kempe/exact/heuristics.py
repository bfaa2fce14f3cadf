"""Colourings without a solver: cheapest first, Kempe chains, tabu search, annealing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kempe import _core
from kempe.exact.annealing import anneal
from kempe.exact.knowledge import AssignmentKnowledge
from kempe.exact.part import Floats
from kempe.graph.colouring import TABU_ITERATIONS, cheapest_names, colour_graph
from kempe.problem import Colours

# Turns of the colouring heuristics when no colouring is known.
COLOURING_TURNS = 4
# How slowly annealing cools before a solver is asked, which would take far longer.
ANNEALING_PATIENCE = 5


@dataclass(frozen=True)
class Heuristics:
    """Offers colourings to what is known."""

    known: AssignmentKnowledge

    def descend(self) -> None:
        """Improve the incumbent by Kempe chains, or find a first colouring."""
        if self.known.task.incumbent is not None:
            self.offer_descended(self.known.best)
            if self.known.finished:
                return
        self.guess(self.known.part.costs)
        if self.known.task.aids.colouring and not self.known.has_colouring:
            self._colour()

    def guess(self, guide: Floats) -> None:
        """Give each vertex the cluster that the guide likes best among those left."""
        graph = self.known.part.graph
        colours, complete = _core.cheapest_colouring(graph.core, guide)
        if complete:
            self.offer_descended(colours)

    def offer_descended(self, colours: Colours) -> None:
        """Offer a colouring improved by Kempe chains, unless these are to stay out."""
        part, task = self.known.part, self.known.task
        if task.aids.swaps:
            colours = _core.chain_descent(part.graph.core, part.costs, colours, task.stopper)
        self.known.offer(colours)

    def anneal(self) -> None:
        """Look for a better colouring that swaps cannot reach."""
        part, task = self.known.part, self.known.task
        annealed = anneal(
            part.graph,
            part.costs,
            self.known.best,
            task.rng,
            task.stopper,
            patience=ANNEALING_PATIENCE,
        )
        self.offer_descended(annealed)

    def _colour(self) -> None:
        """Any colouring, from the methods that ignore the costs."""
        part, task = self.known.part, self.known.task
        if not np.isfinite(part.costs).all():
            self._colour_from_lists()
            return
        k = part.costs.shape[1]
        answer = colour_graph(part.graph, k, task.rng, task.stopper, turns=COLOURING_TURNS)
        self.known.infeasible = answer.core is not None
        if answer.colours is not None:
            self.offer_descended(cheapest_names(part.graph, answer.colours, part.costs))

    def _colour_from_lists(self) -> None:
        """Any colouring in which each vertex has one of its allowed clusters."""
        graph, costs = self.known.part.graph, self.known.part.costs
        task = self.known.task
        for turn in range(COLOURING_TURNS):
            colours, conflicts = _core.tabu_colouring(
                graph.core,
                costs.shape[1],
                costs.argmin(axis=1).astype(np.int32),
                np.isfinite(costs).astype(np.uint8),
                int(task.rng.integers(2**63)),
                TABU_ITERATIONS * 3**turn,
                task.stopper,
            )
            if conflicts == 0:
                self.offer_descended(colours)
                return
