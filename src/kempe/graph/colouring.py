"""Colour the cannot-link graph with k colours, or prove that it has no such colouring.

Cheap means first: vertices of low degree are set aside, then tabu search and exact branching take
turns with growing budgets, and CP-SAT joins them if OR-Tools is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kempe import _core
from kempe.graph.cannot_link import CannotLinkGraph
from kempe.graph.cpsat import has_ortools, load_cp_model, solve_model

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

# First budgets of one turn on one component; each turn triples them. Counted in steps, not in
# seconds, so that a seed gives the same answer on a slow machine.
TABU_ITERATIONS = 20_000
BRANCHING_NODES = 20_000
# CP-SAT is called from this turn on; its budget is in its own deterministic seconds.
FIRST_SOLVER_TURN = 1
SOLVER_SECONDS = 1.0
# It gets no model of more variables and rows, which would take longer to write than to search.
LARGEST_SOLVER_MODEL = 3_000_000


@dataclass(frozen=True)
class Colourability:
    """Whether a graph can be coloured.

    Attributes
    ----------
    colours
        A proper colouring, if one was found.
    core
        Vertices that alone cannot be coloured, if that was proven.
    """

    colours: NDArray[np.int32] | None = None
    core: NDArray[np.intp] | None = None

    @property
    def open(self) -> bool:
        """Whether neither was found."""
        return self.colours is None and self.core is None


def colour_graph(
    graph: CannotLinkGraph,
    n_clusters: int,
    rng: np.random.Generator,
    stopper: _core.Stopper,
    *,
    turns: int = 64,
) -> Colourability:
    """Find a proper colouring with ``n_clusters`` colours, or a part of the graph that has none.

    Parameters
    ----------
    turns
        How often the methods take turns on one component before giving up; the budget of a turn
        is three times that of the one before.
    """
    order = _core.peel(graph.core, n_clusters)
    rest = np.delete(np.arange(graph.size), order)
    colours = np.full(graph.size, -1, dtype=np.int32)
    hard = graph.induced(rest)
    for part in sorted(hard.parts(), key=len) if rest.size else []:
        answer = _colour_component(hard.induced(part), n_clusters, rng, stopper, turns)
        if answer.colours is None:
            return Colourability(core=None if answer.core is None else rest[part[answer.core]])
        colours[rest[part]] = answer.colours
    return Colourability(_core.unpeel(graph.core, order, colours, n_clusters))


def cheapest_names(
    graph: CannotLinkGraph, colours: NDArray[np.int32], costs: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Rename the colours of each component so that they cost least.

    Parameters
    ----------
    costs
        Cost per vertex and colour. Vertices without neighbours take the cheapest colour.
    """
    k = costs.shape[1]
    renamed: NDArray[np.int32] = costs.argmin(axis=1).astype(np.int32)
    for part in graph.parts():
        if part.size > 1:
            table = np.zeros((k, k))
            np.add.at(table, colours[part], costs[part])
            renamed[part] = linear_sum_assignment(table)[1][colours[part]]
    return renamed


def _colour_component(
    graph: CannotLinkGraph, k: int, rng: np.random.Generator, stopper: _core.Stopper, turns: int
) -> Colourability:
    start, complete = _core.cheapest_colouring(graph.core, rng.random((graph.size, k)))
    if complete:
        return Colourability(start)
    for turn in range(turns):
        if stopper.look():
            break
        for method in (_by_tabu, _by_branching, _by_solver):
            answer = method(graph, k, rng, stopper, turn)
            if not answer.open:
                return answer
    return Colourability()


def _by_tabu(
    graph: CannotLinkGraph, k: int, rng: np.random.Generator, stopper: _core.Stopper, turn: int
) -> Colourability:
    start = rng.integers(k, size=graph.size, dtype=np.int32)
    colours, conflicts = _core.tabu_colouring(
        graph.core,
        k,
        start,
        None,
        int(rng.integers(2**63)),
        TABU_ITERATIONS * 3**turn,
        stopper,
    )
    return Colourability(colours if conflicts == 0 else None)


def _by_branching(
    graph: CannotLinkGraph, k: int, rng: np.random.Generator, stopper: _core.Stopper, turn: int
) -> Colourability:
    status, colours, touched = _core.colour_exactly(
        graph.core, k, BRANCHING_NODES * 3**turn, stopper
    )
    if status < 0:
        return Colourability()
    return Colourability(colours) if status else Colourability(core=np.flatnonzero(touched))


def _by_solver(
    graph: CannotLinkGraph, k: int, rng: np.random.Generator, stopper: _core.Stopper, turn: int
) -> Colourability:
    too_large = (graph.size + graph.n_edges) * k > LARGEST_SOLVER_MODEL
    if turn < FIRST_SOLVER_TURN or too_large or not has_ortools():
        return Colourability()
    budget = SOLVER_SECONDS * 3 ** (turn - FIRST_SOLVER_TURN)
    return solve_by_cpsat(graph, k, int(rng.integers(2**31)), budget, stopper)


def solve_by_cpsat(
    graph: CannotLinkGraph, n_clusters: int, seed: int, budget: float, stopper: _core.Stopper
) -> Colourability:
    """Ask CP-SAT for a colouring; ``budget`` is in its deterministic seconds."""
    cp_model = load_cp_model()
    model, choice = _cpsat_model(graph, n_clusters, stopper)
    solver, status = solve_model(model, stopper, seed=seed, effort=budget)
    if status == cp_model.INFEASIBLE:
        return Colourability(core=np.arange(graph.size))
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Colourability()
    taken = np.array(solver.boolean_values(choice), dtype=bool)
    return Colourability(taken.reshape(graph.size, n_clusters).argmax(axis=1).astype(np.int32))


def _cpsat_model(
    graph: CannotLinkGraph, k: int, stopper: _core.Stopper
) -> tuple[cp_model.CpModel, Any]:
    model = load_cp_model().CpModel()
    choice = [model.new_bool_var("") for _ in range(graph.size * k)]
    for v in range(graph.size):
        model.add_exactly_one(choice[v * k : (v + 1) * k])
    for u, v in graph.edges.tolist():
        for c in range(k):
            model.add_at_most_one((choice[u * k + c], choice[v * k + c]))
    # Colours are interchangeable: those of one clique can be given beforehand.
    clique, _ = _core.largest_clique(graph.core, k + 1, stopper.child(0.1))
    for c, v in enumerate(clique[:k].tolist()):
        model.add(choice[v * k + c] == 1)
    return model, choice
