"""S-MDEClust: memetic differential evolution over centroids, with the descent of BLPKM-CC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval, StrOptions

from kempe import _core
from kempe.clusterer import ConstrainedClusterer
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.alternation import Step, alternate, descend, not_improved, rows_or_given
from kempe.rivals.program import ProgramAssignment
from kempe.search.callbacks import Callbacks
from kempe.search.recorder import Recorder
from kempe.search.result import Result

# Share of the mutation that goes by distance; the rest is uniform over the rows.
_BY_DISTANCE = 0.5


class S_MDEClust(ConstrainedClusterer):
    """S-MDEClust (Mansueto and Schoen 2025): a population of centroids, recombined by differences.

    In every generation each member meets an offspring made of three others: centroids of two are
    matched to those of the third and combined as first + scale * (second - third). The offspring is
    improved by the descent of BLPKM-CC with squared distances, and takes the member's place if it
    is better. Defaults are those of the public program.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    init
        Starting centroids of the members: ``"random"`` rows or ``"k-means++"``; an array of shape
        (n_clusters, n_features) starts the first member, the others are random.
    population_size
        Number of members, at least 4.
    assignment
        How a mutation finds out which rows are far from their centroids: by ``"exact"`` assignment
        to the others, or ``"greedy"`` in the order of the data, breaking cannot-link pairs where
        there is no other way. The local search that follows is exact in either case.
    scale
        Weight of the difference: a number, or a pair between which it is drawn for each offspring.
    mutation
        Whether offspring are mutated, with probability 1 / (generation + 1): a random centroid
        is taken away, all rows are assigned to the others, and it is put on one of them, half at
        random and half in proportion to the distance from its centroid.
    patience
        Offspring in a row without a new best after which the search ends, with the generation.
    max_generations
        Most generations, ``None`` for no limit.
    tol
        Offspring must be better by this much.
    population_tol
        The search ends when the inertias of all pairs of members differ by less than this in total.
    kempe_swaps
        Whether Kempe swaps give the solver better colourings to start from; the publication has
        none.
    time_limit
        Seconds of wall time, ``None`` for no limit.
    random_state
        Seed of the run.
    verbose
        0 is silent, 1 shows a progress bar, 2 logs every new best.
    callbacks
        One ``Callbacks`` or a list of them.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    inertia_ : float
    n_iter_ : int
    result_ : Result

    References
    ----------
    P. Mansueto, F. Schoen: Efficiently solving semi-supervised clustering problems by a memetic
    differential evolution algorithm. 2025.

    Examples
    --------
    >>> from kempe.rivals import S_MDEClust
    >>> model = S_MDEClust(n_clusters=2, population_size=4, random_state=0)
    >>> labels = model.fit([[0.0], [1.0], [8.0], [9.0]], cannot_link=[(0, 1)]).labels_
    >>> bool(labels[0] != labels[1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConstrainedClusterer._parameter_constraints,
        "population_size": [Interval(Integral, 4, None, closed="left")],
        "assignment": [StrOptions({"exact", "greedy"})],
        "scale": [Interval(Real, 0, None, closed="neither"), tuple, list],
        "mutation": ["boolean"],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "max_generations": [Interval(Integral, 0, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "population_tol": [Interval(Real, 0, None, closed="left")],
        "kempe_swaps": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "random",
        population_size: int = 20,
        assignment: Literal["exact", "greedy"] = "exact",
        scale: float | tuple[float, float] = (0.5, 0.8),
        mutation: bool = False,
        patience: int = 5000,
        max_generations: int | None = None,
        tol: float = 1e-6,
        population_tol: float = 1e-4,
        kempe_swaps: bool = True,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Callbacks | Sequence[Callbacks] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.population_size = population_size
        self.assignment = assignment
        self.scale = scale
        self.mutation = mutation
        self.patience = patience
        self.max_generations = max_generations
        self.tol = tol
        self.population_tol = population_tol
        self.kempe_swaps = kempe_swaps
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _solve(self, problem: Problem) -> Result:
        lowest, highest = np.broadcast_to(self.scale, 2)
        with self._recorder(problem) as recorder:
            evolution = _Evolution(
                problem,
                recorder,
                self._generator(),
                ProgramAssignment(problem, nonempty=True, kempe_swaps=bool(self.kempe_swaps)),
                greedy=self.assignment == "greedy",
                scale=(float(lowest), float(highest)),
                mutation=self.mutation,
                tol=self.tol,
                population_tol=self.population_tol,
            )
            return recorder.follow(
                lambda: evolution.run(
                    self.init, self.population_size, self.patience, self.max_generations
                )
            )


@dataclass(frozen=True)
class _Evolution:
    problem: Problem
    recorder: Recorder
    rng: np.random.Generator
    assign: ProgramAssignment
    greedy: bool
    scale: tuple[float, float]
    mutation: bool
    tol: float
    population_tol: float

    def run(self, init: Any, size: int, patience: int, max_generations: int | None) -> str:
        """Start a population and evolve it; say what ended it."""
        return self._evolve(self._population(init, size), patience, max_generations)

    def _population(self, init: Any, size: int) -> list[Step]:
        """Start every member from its own centroids and improve it."""
        members: list[Step] = []
        for member in range(size):
            given: Any = init if member == 0 or isinstance(init, str) else "random"
            start = rows_or_given(self.problem, given, self.rng, self.recorder.stopper)
            members.append(self._local_search(start, "member"))
            if self.recorder.should_stop():
                break
        return members

    def _evolve(self, members: list[Step], patience: int, max_generations: int | None) -> str:
        fruitless = 0
        for generation in count():
            if generation == max_generations:
                return "max_generations"
            if fruitless >= patience:
                return "patience"
            if spread([member.inertia for member in members]) < self.population_tol:
                return "converged"
            for position in range(len(members)):
                if self.recorder.should_stop():
                    return "stopped"
                better = self._challenge(members, position, generation)
                fruitless = 0 if better else fruitless + 1
        raise AssertionError("count() has no end")

    def _challenge(self, members: list[Step], position: int, generation: int) -> bool:
        """Let an offspring meet a member; give whether the best of all became better."""
        best = min(member.inertia for member in members)
        centroids = self._offspring(members, position)
        if self.mutation and self.rng.random() < 1 / (generation + 1):
            centroids = self._mutated(centroids)
        offspring = self._local_search(centroids, "offspring")
        if members[position].inertia - offspring.inertia < self.tol:
            return False
        members[position] = offspring
        return best - offspring.inertia >= self.tol

    def _offspring(self, members: list[Step], position: int) -> Centroids:
        others = [i for i in range(len(members)) if i != position]
        first, second, third = (
            members[i].centroids for i in self.rng.choice(others, 3, replace=False)
        )
        difference = matched(second, third) - third
        return np.asarray(matched(first, third) + self.rng.uniform(*self.scale) * difference)

    def _mutated(self, centroids: Centroids) -> Centroids:
        """Take one centroid away and put it on a row far from where it is then assigned."""
        removed = int(self.rng.integers(centroids.shape[0]))
        colours = self._without(centroids, removed)
        moved = centroids.copy()
        moved[removed] = self.problem.rows[
            self.rng.choice(self.problem.n_rows, p=self._chances(colours, centroids))
        ]
        return moved

    def _without(self, centroids: Centroids, removed: int) -> Colours | None:
        """Assign all supernodes to the other centroids; ``None`` if that cannot be."""
        kept = np.delete(np.arange(centroids.shape[0]), removed).astype(np.int32)
        if not kept.size:
            return None
        if self.greedy:
            return kept[self._greedily(centroids[kept])]
        return self.assign.among(self.problem, centroids, kept, self.recorder.stopper)

    def _greedily(self, centroids: Centroids) -> Colours:
        core, order = self.problem.core, self.problem.everyone
        return _core.ordered_assignment(core, centroids, order, relaxed=True)[0]

    def _chances(self, colours: Colours | None, centroids: Centroids) -> NDArray[np.float64]:
        """Probability of each row: half uniform, half by the distance from its centroid."""
        weight = self.problem.row_weight
        weight = np.ones(self.problem.n_rows) if weight is None else weight
        uniform = weight / weight.sum()
        if colours is None:
            return np.asarray(uniform)
        own = centroids[colours[self.problem.supernode]]
        distance = weight * np.linalg.norm(self.problem.rows - own, axis=1)
        if distance.sum() == 0:
            return np.asarray(uniform)
        return np.asarray((1 - _BY_DISTANCE) * uniform + _BY_DISTANCE * distance / distance.sum())

    def _local_search(self, start: Centroids, kind: str) -> Step:
        steps = alternate(self.problem, self.assign, start, self.recorder.stopper)
        best, _ = descend(steps, not_improved, watch=lambda step: self.recorder.stopper.look())
        self.recorder.record(best.solution, kind)
        return best


def matched(centroids: Centroids, reference: Centroids) -> Centroids:
    """Reorder centroids so that each is near the reference centroid at its position."""
    _, order = linear_sum_assignment(cdist(reference, centroids, "sqeuclidean"))
    return centroids[order]


def spread(values: Sequence[float]) -> float:
    """Sum of the differences between all pairs of values."""
    return float(np.abs(np.subtract.outer(values, values)).sum() / 2)
