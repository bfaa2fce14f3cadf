"""Can the constraints be met with k clusters? A colouring, or a proof that there is none."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.constraints import Constraints
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.fit_arguments import seconds_of
from kempe.graph.cannot_link import CannotLinkGraph
from kempe.graph.certificates import (
    Certificate,
    Clique,
    CriticalPairs,
    must_link_path,
    pairs_of_edges,
    raise_interrupt,
)
from kempe.graph.colouring import Colourability, colour_graph
from kempe.graph.critical import critical_edges
from kempe.graph.sizes import SizeConflict, colour_within, find_conflict
from kempe.sizes import SizeLimits
from kempe.words import counted

# Shares of the time for a check that go into bounds which are only nice to have.
CLIQUE_SECONDS = 1.0
# Where the time is up already, a proof gets so many seconds all the same.
OVERTIME = 0.2
UPPER_BOUND_TURNS = 2
# Time for making a proof small, once there is one.
SHRINKING_SECONDS = 10.0


@dataclass(frozen=True)
class FeasibilityReport:
    """Whether a number of clusters suffices, and what is known about the smallest that does.

    Attributes
    ----------
    n_clusters
        The number that was asked about.
    feasible
        Whether it suffices; ``None`` if neither a clustering nor a proof was found in time.
    certificate
        The proof that it does not; with limits on sizes ``None`` if only a solver says so.
    lower_bound, upper_bound
        The smallest number that suffices lies between these; ``upper_bound`` is ``None`` if no
        number does. Limits on sizes are left aside.
    limits
        Fewest and most rows of each cluster, if they were asked for.
    """

    n_clusters: int
    feasible: bool | None
    certificate: Certificate | SizeConflict | None
    lower_bound: int
    upper_bound: int | None
    limits: SizeLimits | None = None

    def __bool__(self) -> bool:
        return self.feasible is True

    def __str__(self) -> str:
        if self.limits is not None:
            return self._with_sizes()
        if self.feasible:
            return f"feasible with {counted(self.n_clusters, 'cluster')}; {self.smallest()}"
        if self.certificate is None:
            suffice = counted(self.n_clusters, "cluster suffices", "clusters suffice")
            return f"not known whether {suffice}; {self.smallest()}"
        return f"infeasible: {self.certificate}; {self.smallest()}"

    def _with_sizes(self) -> str:
        assert self.limits is not None
        asked = f"{counted(self.n_clusters, 'cluster')} of {self.limits.in_words}"
        if self.feasible:
            return f"feasible with {asked}"
        if self.feasible is None:
            return f"not known whether that can be had: {asked}"
        why = self.certificate or f"a solver has looked at all possibilities to have {asked}"
        return f"infeasible: {why}"

    def smallest(self) -> str:
        """Say what is known about the smallest number of clusters that suffices."""
        if self.upper_bound is None:
            return "no number of clusters is enough"
        if self.lower_bound == self.upper_bound:
            return f"the smallest number that works is {self.upper_bound}"
        return (
            f"the smallest number known to work is {self.upper_bound}, "
            f"and at least {self.lower_bound} are needed"
        )


def check(
    constraints: Constraints,
    n_clusters: int,
    *,
    time_limit: float = 60.0,
    seed: int = 0,
    limits: SizeLimits | None = None,
) -> FeasibilityReport:
    """Say whether the constraints can be met with ``n_clusters`` clusters, and why not.

    Parameters
    ----------
    limits
        Fewest and most rows of each cluster.
    time_limit
        Seconds of wall time.
    seed
        For the heuristics.
    """
    n_rows = max(
        [constraints.n_rows or 0]
        + [int(p.max()) + 1 for p in (constraints.must_link, constraints.cannot_link) if p.size]
    )
    supernode, size = _core.supernodes(n_rows, constraints.must_link)
    core, pair = _core.cannot_link_graph(supernode, size, constraints.cannot_link)
    if pair >= 0:
        return FeasibilityReport(n_clusters, False, must_link_path(constraints, pair), 1, None)
    graph = CannotLinkGraph(core)
    stopper = _core.Stopper(seconds_of(time_limit))
    report = _check_graph(graph, constraints, n_clusters, np.random.default_rng(seed), stopper)
    if limits is not None and report.feasible is not False:
        report = _check_sizes(report, graph, constraints, supernode, limits, stopper)
    raise_interrupt(stopper)
    return report


def _check_sizes(
    report: FeasibilityReport,
    graph: CannotLinkGraph,
    constraints: Constraints,
    supernode: NDArray[np.int32],
    limits: SizeLimits,
    stopper: _core.Stopper,
) -> FeasibilityReport:
    """Ask whether clusters can also have the sizes, once the pairs alone are no obstacle."""
    conflict = find_conflict(supernode, graph, constraints, limits)
    if conflict is not None:
        return replace(report, feasible=False, certificate=conflict, limits=limits)
    rows = np.bincount(supernode, minlength=graph.size)
    answer = colour_within(graph, rows, limits, stopper)
    found = False if answer.infeasible else True if answer.colours is not None else None
    return replace(report, feasible=found, limits=limits)


def colour_or_explain(
    graph: CannotLinkGraph,
    constraints: Constraints,
    n_clusters: int,
    rng: np.random.Generator,
    stopper: _core.Stopper,
) -> NDArray[np.int32]:
    """Colour the graph that the constraints make.

    Raises
    ------
    InfeasibleConstraintsError
        If that is impossible, with a certificate in the user's row numbers.
    NoSolutionFoundError
        If no colouring was found before the stopper struck.
    """
    started = time.perf_counter()
    answer, clique = _answer(graph, n_clusters, rng, stopper)
    if answer.colours is not None:
        return answer.colours
    if answer.core is None:
        raise_interrupt(stopper)
        raise NoSolutionFoundError(
            f"no clustering into {counted(n_clusters, 'cluster')} that satisfies all constraints "
            f"was found in {time.perf_counter() - started:.1f} seconds; it may nevertheless exist"
        )
    report = _infeasible(graph, constraints, n_clusters, answer.core, clique, rng, stopper)
    raise InfeasibleConstraintsError.proven(
        f"the constraints cannot be met with {counted(n_clusters, 'cluster')}: ",
        report.certificate,
        f"; {report.smallest()}",
    )


def _answer(
    graph: CannotLinkGraph, k: int, rng: np.random.Generator, stopper: _core.Stopper
) -> tuple[Colourability, NDArray[np.int32]]:
    """Whether k colours suffice, and the largest clique found."""
    # A clique is the best of proofs, where there was no time for anything else.
    clique = _largest_complete_part(graph)
    if clique.size <= k:
        seconds = min(CLIQUE_SECONDS, max(OVERTIME, stopper.remaining))
        limit = stopper.child(seconds, overtime=True)
        found, _ = _core.largest_clique(graph.core, graph.size + 1, limit)
        clique = max(clique, found, key=len)
    raise_interrupt(stopper)
    if clique.size > k:
        return Colourability(core=clique[: k + 1].astype(np.intp)), clique
    return colour_graph(graph, k, rng, stopper), clique


def _largest_complete_part(graph: CannotLinkGraph) -> NDArray[np.int32]:
    """Largest component that is a clique, which is seen at once however large it is."""
    complete = np.where(graph.complete_components, np.bincount(graph.components), 0)
    if not complete.any():
        return np.empty(0, dtype=np.int32)
    return np.flatnonzero(graph.components == complete.argmax()).astype(np.int32)


def _check_graph(
    graph: CannotLinkGraph,
    constraints: Constraints,
    k: int,
    rng: np.random.Generator,
    stopper: _core.Stopper,
) -> FeasibilityReport:
    answer, clique = _answer(graph, k, rng, stopper)
    if answer.core is not None:
        return _infeasible(graph, constraints, k, answer.core, clique, rng, stopper)
    lower = max(1, clique.size)
    if answer.colours is None:
        _, upper = _bounds(graph, k + 1, rng, stopper)
        return FeasibilityReport(k, None, None, lower, upper)
    bounds = _bounds(graph, lower, rng, stopper, known=_n_colours(answer.colours))
    return FeasibilityReport(k, True, None, *bounds)


def _infeasible(
    graph: CannotLinkGraph,
    constraints: Constraints,
    k: int,
    core: NDArray[np.intp],
    clique: NDArray[np.int32],
    rng: np.random.Generator,
    stopper: _core.Stopper,
) -> FeasibilityReport:
    bounds = _bounds(graph, max(clique.size, k + 1), rng, stopper)
    proof: Certificate
    if clique.size > k:
        proof = Clique(pairs_of_edges(constraints, _all_pairs(core)), k + 1, constraints.row_names)
    else:
        seconds = min(SHRINKING_SECONDS, max(OVERTIME, stopper.remaining))
        limit = stopper.child(seconds, overtime=True)
        edges, minimal = critical_edges(graph, core, k, rng, limit)
        pairs = pairs_of_edges(constraints, edges)
        proof = CriticalPairs(pairs, k, minimal, constraints.row_names)
    return FeasibilityReport(k, False, proof, *bounds)


def _all_pairs(vertices: NDArray[np.intp]) -> NDArray[np.intp]:
    first, second = np.triu_indices(vertices.size, k=1)
    return np.column_stack([vertices[first], vertices[second]])


def _bounds(
    graph: CannotLinkGraph,
    lower: int,
    rng: np.random.Generator,
    stopper: _core.Stopper,
    known: int | None = None,
) -> tuple[int, int]:
    """Bounds on the fewest colours, by searching with one less as long as that succeeds."""
    best = min(_degeneracy(graph) + 1, known or max(1, graph.size))
    while best > lower and not stopper.look():
        answer = colour_graph(graph, best - 1, rng, stopper, turns=UPPER_BOUND_TURNS)
        if answer.core is not None:
            return best, best
        if answer.colours is None:
            break
        best = _n_colours(answer.colours)
    return lower, best


def _degeneracy(graph: CannotLinkGraph) -> int:
    """Smallest d such that every subgraph has a vertex of degree d or less; d + 1 colours do."""
    low, high = 0, int(graph.degree.max(initial=0))
    while low < high:
        middle = (low + high) // 2
        if _core.peel(graph.core, middle + 1).size == graph.size:
            high = middle
        else:
            low = middle + 1
    return low


def _n_colours(colours: NDArray[np.int32]) -> int:
    return int(np.unique(colours).size)
