"""Can clusters have the sizes that are asked for? A clustering, or a proof that there is none.

Cheap proofs come first: they name rows. What they leave open is bin packing and colouring together,
which a solver decides: CP-SAT if OR-Tools is installed, otherwise HiGHS, which comes with SciPy.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from kempe import _core
from kempe.constraints import Constraints, RowNames
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.graph.cannot_link import CannotLinkGraph
from kempe.graph.certificates import listed, raise_interrupt, supernodes_of
from kempe.graph.cpsat import has_ortools, load_cp_model, solve_model
from kempe.sizes import SizeLimits
from kempe.words import counted

Colours = NDArray[np.int32]

# Limits of a solver, in deterministic seconds of CP-SAT and in seconds.
SOLVER_EFFORT = 30.0
SOLVER_SECONDS = 60.0
# Larger models are not made: choices of vertices, and of the two ends of an edge. They would fill
# the memory, and no solver would be done with them in its time.
MOST_CHOICES = 5_000_000
# Seconds for a clique.
CLIQUE_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class SizeConflict:
    """Why clusters cannot have the sizes that are asked for.

    Attributes
    ----------
    kind
        ``"few"``: there are not enough rows for the least sizes; ``"many"``: there are too many for
        the most; ``"group"``: a must-linked group is larger than any cluster may be; ``"halves"``:
        of more groups than clusters no two fit into one; ``"clique"``: groups that are
        cannot-linked to each other do not fit into as many clusters.
    rows
        A row of each group that matters.
    sizes
        Rows of each of those groups.
    limits
        What was asked for.
    n_rows
        Number of all rows.
    has_pairs
        Whether there are pairs, so that not only numbers decide which limits can be had.
    names
        What messages call the rows, if not by their numbers.
    """

    kind: Literal["few", "many", "group", "halves", "clique"]
    rows: tuple[int, ...]
    sizes: tuple[int, ...]
    limits: SizeLimits
    n_rows: int
    has_pairs: bool = False
    names: RowNames | None = field(default=None, repr=False, compare=False)

    def verify(self, constraints: Constraints, n_clusters: int | None = None) -> bool:
        """Check the proof against the constraints and limits alone."""
        limits, largest = self.limits, int(self.limits.most.max())
        if self.kind == "few":
            return int(limits.least.sum()) > self.n_rows
        if self.kind == "many":
            return int(limits.most.sum()) < self.n_rows
        supernode = supernodes_of(constraints, self.n_rows)
        groups = supernode[list(self.rows)]
        sizes = np.bincount(supernode)[groups]
        if np.unique(groups).size < groups.size or sizes.tolist() != list(self.sizes):
            return False
        if self.kind == "group":
            return bool(sizes.max() > largest)
        if self.kind == "halves":
            return bool(groups.size > limits.n_clusters and np.sort(sizes)[:2].sum() > largest)
        ends = np.sort(supernode[constraints.cannot_link], axis=1)
        inside = np.unique(ends[np.isin(ends, groups).all(axis=1)], axis=0)
        complete = len(inside) == groups.size * (groups.size - 1) // 2
        return complete and not _fits(sizes, limits)

    def __str__(self) -> str:
        limits, k = self.limits, self.limits.n_clusters
        asked = f"{counted(k, 'cluster')} of {limits.in_words}"
        if self.kind == "few":
            needed = counted(int(limits.least.sum()), "row")
            return (
                f"{asked} {'needs' if k == 1 else 'need'} {needed}, but there are "
                f"{self.n_rows}{self._nearest('size_min', self.n_rows // k)}"
            )
        if self.kind == "many":
            room = counted(int(limits.most.sum()), "row")
            return (
                f"{asked} {'has' if k == 1 else 'have'} room for {room}, but "
                f"there are {self.n_rows}{self._nearest('size_max', -(-self.n_rows // k))}"
            )
        called = listed(", ", self._called())
        largest = counted(int(limits.most.max()), "row")
        if self.kind == "group":
            return (
                f"{self.sizes[0]} rows are must-linked to row {called}, but no cluster may have "
                f"more than {largest}; size_max must be at least {self.sizes[0]}"
            )
        if self.kind == "halves":
            return (
                f"of {len(self.rows)} must-linked groups, around rows {called}, no two fit into a "
                f"cluster of at most {largest}, but there {'is' if k == 1 else 'are'} only "
                f"{counted(k, 'cluster')}"
            )
        return (
            f"{len(self.rows)} must-linked groups of {', '.join(map(str, self.sizes[:12]))} rows, "
            f"around rows {called}, are cannot-linked to each other and do not fit into clusters "
            f"of {limits.in_words}"
        )

    def _nearest(self, name: str, rows: int) -> str:
        """Say which limit numbers alone would permit; where there are pairs, they may need more."""
        if not self.limits.same_for_all:
            return ""
        if not self.has_pairs:
            return f"; {name} of {rows} would do"
        return f"; {name} must be at {'most' if name == 'size_min' else 'least'} {rows}"

    def _called(self) -> list[str]:
        return [str(row if self.names is None else self.names[row]) for row in self.rows]


def find_conflict(
    supernode: NDArray[np.int32],
    graph: CannotLinkGraph,
    constraints: Constraints,
    limits: SizeLimits,
) -> SizeConflict | None:
    """Look for the cheap reasons why there is no clustering.

    Parameters
    ----------
    supernode
        Supernode of each row.
    graph
        The cannot-link graph between supernodes.
    constraints
        What it was made of.
    limits
        Sizes that are asked for.
    """
    free = graph.size == supernode.size and not graph.n_edges

    def conflict(kind: Any, groups: NDArray[np.integer[Any]]) -> SizeConflict:
        first, sizes = np.unique(supernode, return_index=True, return_counts=True)[1:]
        return SizeConflict(
            kind,
            tuple(first[groups].tolist()),
            tuple(sizes[groups].tolist()),
            limits,
            supernode.size,
            not free,
            constraints.row_names,
        )

    nobody = np.empty(0, dtype=np.intp)
    if int(limits.least.sum()) > supernode.size:
        return conflict("few", nobody)
    if int(limits.most.sum()) < supernode.size:
        return conflict("many", nobody)
    if free:
        return None  # single rows in no pair go anywhere
    largest, k = int(limits.most.max()), limits.n_clusters
    sizes = np.bincount(supernode, minlength=graph.size)
    order = np.argsort(-sizes, kind="stable")
    if sizes[order[0]] > largest:
        return conflict("group", order[:1])
    if order.size > k and sizes[order[k - 1 : k + 1]].sum() > largest:
        return conflict("halves", order[: k + 1])
    clique, _ = _core.largest_clique(graph.core, k + 1, _core.Stopper(CLIQUE_SECONDS))
    if clique.size > 1 and not _fits(sizes[clique], limits):
        return conflict("clique", clique)
    return None


def _fits(sizes: NDArray[np.integer[Any]], limits: SizeLimits) -> bool:
    """Whether groups that must be apart fit into as many clusters."""
    if sizes.size > limits.n_clusters:
        return False
    return bool((np.sort(sizes)[::-1] <= np.sort(limits.most)[::-1][: sizes.size]).all())


def refuse_conflict(
    supernode: NDArray[np.int32],
    graph: CannotLinkGraph,
    constraints: Constraints,
    limits: SizeLimits,
) -> None:
    """Raise an error if there is a cheap reason why there is no clustering."""
    found = find_conflict(supernode, graph, constraints, limits)
    if found is not None:
        raise InfeasibleConstraintsError(f"the sizes cannot be had: {found}", found)


@dataclass(frozen=True)
class SizedAnswer:
    """What a solver says.

    Attributes
    ----------
    colours
        A proper colouring within the limits, if one was found.
    infeasible
        Whether it is proven that there is none.
    """

    colours: Colours | None = None
    infeasible: bool = False


def colour_within(
    graph: CannotLinkGraph,
    rows: NDArray[np.integer[Any]],
    limits: SizeLimits,
    stopper: _core.Stopper,
    *,
    seed: int = 0,
) -> SizedAnswer:
    """Ask a solver for a colouring within limits.

    Single rows in no pair are alike, so only their number in each cluster is asked for.

    Parameters
    ----------
    rows
        Rows of each vertex.
    limits
        Fewest and most rows of each colour.
    """
    alike = (graph.degree == 0) & (rows == 1)
    model = _Model(graph, rows, limits, np.flatnonzero(~alike), int(alike.sum()))
    if stopper.look() or model.n_choices > MOST_CHOICES:
        return SizedAnswer()
    solve = model.by_cpsat if has_ortools() else model.by_highs
    found = solve(stopper, seed)
    if isinstance(found, bool):
        return SizedAnswer(infeasible=found)
    chosen, counts = found
    colours = np.empty(graph.size, dtype=np.int32)
    colours[model.vertices] = chosen
    colours[alike] = np.repeat(np.arange(limits.n_clusters, dtype=np.int32), counts)
    return SizedAnswer(colours)


def colour_within_or_explain(
    graph: CannotLinkGraph,
    rows: NDArray[np.integer[Any]],
    limits: SizeLimits,
    stopper: _core.Stopper,
    *,
    seed: int = 0,
) -> Colours:
    """Give a colouring within limits, or raise what is known instead; see ``colour_within``."""
    started = time.perf_counter()
    answer = colour_within(graph, rows, limits, stopper, seed=seed)
    raise_interrupt(stopper)
    if answer.colours is not None:
        return answer.colours
    asked = f"{counted(limits.n_clusters, 'cluster')} of {limits.in_words}"
    if answer.infeasible:
        raise InfeasibleConstraintsError(
            f"the pairs cannot be satisfied by {asked}: a solver has looked at all possibilities"
        )
    raise NoSolutionFoundError(
        f"no clustering into {asked} that satisfies all pairs was found in "
        f"{time.perf_counter() - started:.1f} seconds; it may nevertheless exist"
    )


@dataclass(frozen=True, eq=False)
class _Model:
    """Which cluster each vertex goes to, and how many of those that are alike go to each."""

    graph: CannotLinkGraph
    rows: NDArray[np.integer[Any]]
    limits: SizeLimits
    vertices: NDArray[np.intp]
    n_alike: int

    @property
    def n_choices(self) -> int:
        """How large a model is."""
        return (self.vertices.size + self.graph.n_edges) * self.limits.n_clusters

    def by_cpsat(
        self, stopper: _core.Stopper, seed: int
    ) -> tuple[Colours, NDArray[np.int64]] | bool:
        """Ask CP-SAT; the time that the model takes counts as well."""
        cp_model = load_cp_model()
        model, k = cp_model.CpModel(), self.limits.n_clusters
        choice = []
        for _ in self.vertices:
            if stopper.look():
                return False
            choice.append([model.new_bool_var("") for _ in range(k)])
            model.add_exactly_one(choice[-1])
        alike = [model.new_int_var(0, self.n_alike, "") for _ in range(k)]
        for u, v in self._edges().tolist():
            if stopper.look():
                return False
            for c in range(k):
                model.add_at_most_one((choice[u][c], choice[v][c]))
        model.add(sum(alike) == self.n_alike)
        own = self.rows[self.vertices].tolist()
        for c in range(k):
            if stopper.look():
                return False
            size = sum(n * one[c] for n, one in zip(own, choice, strict=True)) + alike[c]
            model.add_linear_constraint(size, int(self.limits.least[c]), int(self.limits.most[c]))
        for c, v in enumerate(self._named()):
            model.add(choice[v][c] == 1)
        solver, status = solve_model(
            model, stopper, seed=seed, effort=SOLVER_EFFORT, seconds=SOLVER_SECONDS
        )
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return bool(status == cp_model.INFEASIBLE)
        taken = [[solver.boolean_value(x) for x in one].index(True) for one in choice]
        counts = [solver.value(x) for x in alike]
        return np.array(taken, dtype=np.int32), np.array(counts, dtype=np.int64)

    def by_highs(
        self, stopper: _core.Stopper, seed: int
    ) -> tuple[Colours, NDArray[np.int64]] | bool:
        k, size, edges = self.limits.n_clusters, self.vertices.size, self._edges()
        n = (size + 1) * k  # the last k are the numbers of those that are alike
        each = sparse.kron(sparse.eye_array(size + 1), np.ones((1, k)))
        ends = (np.repeat(np.arange(len(edges)), 2), edges.ravel())
        both = sparse.coo_array((np.ones(edges.size), ends), shape=(len(edges), size + 1))
        weights = np.append(self.rows[self.vertices], 1)[None, :]
        once = np.append(np.ones(size), self.n_alike)
        rules = [
            LinearConstraint(each, once, once),
            LinearConstraint(
                sparse.kron(weights, sparse.eye_array(k)), self.limits.least, self.limits.most
            ),
        ]
        if len(edges):
            rules.append(LinearConstraint(sparse.kron(both, sparse.eye_array(k)), -np.inf, 1))
        lower = np.zeros(n)
        for c, v in enumerate(self._named()):
            lower[v * k + c] = 1
        found = milp(
            np.zeros(n),
            integrality=np.ones(n, dtype=np.int8),
            bounds=Bounds(lower, np.repeat(once, k)),
            constraints=rules,
            options={"time_limit": max(0.01, min(SOLVER_SECONDS, stopper.remaining))},
        )
        if found.x is None:
            return bool(found.status == 2)
        values = np.rint(found.x).reshape(size + 1, k)
        return values[:-1].argmax(axis=1).astype(np.int32), values[-1].astype(np.int64)

    def _edges(self) -> NDArray[np.integer[Any]]:
        position = np.full(self.graph.size, -1)
        position[self.vertices] = np.arange(self.vertices.size)
        return np.asarray(position[self.graph.edges])

    def _named(self) -> list[int]:
        """Give members of a clique, which may have the first names where names mean nothing."""
        if not self.limits.same_for_all:
            return []
        k = self.limits.n_clusters
        clique, _ = _core.largest_clique(self.graph.core, k, _core.Stopper(CLIQUE_SECONDS))
        return np.searchsorted(self.vertices, clique[:k]).tolist() if clique.size > 1 else []
