"""PCCC: pairwise-confidence-constraints clustering by integer programs and repositioning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from kempe import _core
from kempe.exceptions import NoSolutionFoundError
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.alternation import Assignment, Step, alternate, descend, not_improved
from kempe.rivals.program import ProgramAssignment
from kempe.rivals.soft import SoftProgram, WeightedPairs, violation_price
from kempe.rivals.soft_rival import SoftRival
from kempe.search.callbacks import Callbacks
from kempe.search.recorder import Recorder
from kempe.search.result import Result
from kempe.search.seeding import starting_centroids

Repositioning = Literal["inertia", "violations"]
Quality = Literal["sqeuclidean", "euclidean"]


class PCCC(SoftRival):
    """PCCC (Baumann and Hochbaum): integer programs over the nearest centroids.

    Each assignment step is an integer program in which a supernode may only take one of its
    ``n_nearest`` nearest centroids. When the descent ends, the centroid of the cluster of lowest
    inertia moves onto that of highest inertia and a new descent starts, as long as that improves
    the best. What then is equally far from both goes to either at random. As in the public
    program, a descent that its first assignment ends is taken as it is, and a last one starts from
    the best.

    Besides hard pairs it takes soft ones, which have a confidence and may be violated at a price:
    confidence times the mean squared distance between supernodes and their nearest centroids.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    init
        Starting centroids: ``"k-means++"``, ``"random"`` or an array (n_clusters, n_features).
    n_nearest
        How many of its nearest centroids a supernode may take; all if ``None``. Raised to the
        largest number of cannot-link neighbours plus one, which always leaves an assignment.
    repositioning
        How the clusters whose centroids are moved, and moved onto, are chosen: by ``"inertia"``, by
        soft ``"violations"`` and then inertia, or ``None`` for no repositioning.
    quality
        What must fall for a descent to go on, and decides between descents: the sum of squared
        distances of supernodes to their centroids (``"sqeuclidean"``), or that of plain ones
        (``"euclidean"``), as in the public program unless it is told otherwise. The assignment
        minimises squared distances in either case.
    kempe_swaps
        Whether Kempe swaps give the solver better colourings to start from; the publication has
        none. Without soft pairs only.
    soft_price
        A plain price for violating a soft pair of confidence 1, in units of the inertia; ``None``
        for that of the publication.
    assignment_time_limit
        Seconds for one assignment, which only strikes once there is one to return.
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
    soft_violation_ : float
        Total confidence of the violated soft pairs.
    n_iter_ : int
    result_ : Result

    References
    ----------
    P. Baumann, D. S. Hochbaum: An algorithm for clustering with confidence-based must-link and
    cannot-link constraints. INFORMS Journal on Computing, 2025.

    Examples
    --------
    >>> from kempe.rivals import PCCC
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> model = PCCC(n_clusters=2, random_state=0).fit(
    ...     X, soft_cannot_link=[(0, 1)], soft_cannot_link_confidence=[0.1]
    ... )
    >>> bool(model.labels_[0] == model.labels_[1]), model.soft_violation_
    (True, 0.1)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SoftRival._parameter_constraints,
        "n_nearest": [Interval(Integral, 1, None, closed="left"), None],
        "repositioning": [StrOptions({"inertia", "violations"}), None],
        "quality": [StrOptions({"sqeuclidean", "euclidean"})],
        "kempe_swaps": ["boolean"],
        "soft_price": [Interval(Real, 0, None, closed="neither"), None],
        "assignment_time_limit": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_nearest: int | None = 10,
        repositioning: Repositioning | None = "inertia",
        quality: Quality = "sqeuclidean",
        kempe_swaps: bool = True,
        soft_price: float | None = None,
        assignment_time_limit: float | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Callbacks | Sequence[Callbacks] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_nearest = n_nearest
        self.repositioning = repositioning
        self.quality = quality
        self.kempe_swaps = kempe_swaps
        self.soft_price = soft_price
        self.assignment_time_limit = assignment_time_limit
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _search(self, problem: Problem, soft: WeightedPairs) -> Result:
        rng = self._generator()
        nearest = enough_centroids(problem, self.n_nearest)
        assign = FillEmpty(
            self._assignment(problem, soft, nearest, rng),
            lambda colours: soft.violation_by_cluster(colours, problem.n_clusters),
            rng,
        )
        with self._recorder(problem) as recorder:
            price = partial(self._price, problem)
            rounds = _Rounds(problem, recorder, soft, price, assign, self.quality)

            def search() -> None:
                start = starting_centroids(problem, self.init, rng, recorder.stopper)
                rounds.run(start, self.repositioning)

            return recorder.follow(search)

    def _assignment(
        self, problem: Problem, soft: WeightedPairs, nearest: int, rng: np.random.Generator
    ) -> Assignment:
        seconds = self.assignment_time_limit
        if soft.count:
            return SoftProgram(problem, soft, nearest, partial(self._price, problem), seconds)
        swaps = bool(self.kempe_swaps)
        program = ProgramAssignment(problem, nearest=nearest, seconds=seconds, kempe_swaps=swaps)
        return SplitTies(program, rng)

    def _price(self, problem: Problem, centroids: Centroids) -> float:
        if self.soft_price is not None:
            return float(self.soft_price)
        return violation_price(problem, centroids, enough_centroids(problem, self.n_nearest))


def enough_centroids(problem: Problem, wanted: int | None) -> int:
    """Choose among this many nearest centroids; one more than cannot-link neighbours suffices."""
    least = int(problem.graph.degree.max(initial=0)) + 1
    return min(problem.n_clusters, max(least, wanted or problem.n_clusters))


@dataclass(frozen=True)
class _Rounds:
    """Descents, each from the best so far with one centroid moved."""

    problem: Problem
    recorder: Recorder
    soft: WeightedPairs
    price: Callable[[Centroids], float]
    assign: Assignment
    quality: Quality

    def run(self, start: Centroids, rule: Repositioning | None) -> None:
        """Descend, and move a centroid as long as that pays; the recorder keeps the best."""
        first, best = self._descend(start, "assign")
        if rule is None or self.problem.n_supernodes == self.problem.n_clusters:
            return
        try:
            # The public program compares the first descent with its own first step.
            self._reposition(first, best, rule)
        except NoSolutionFoundError:  # the time is up, and there is a best already
            return

    def _reposition(self, known: Step, new: Step, rule: Repositioning) -> None:
        """Descend again and again, which comes to an end: each time is better by a share.

        Each descent starts from the best step with one centroid moved. The first that does not
        improve it is followed by one from the best step as it is, the second ends the search.
        """
        final = False
        while not self.recorder.should_stop():
            if not not_improved(known, new):
                known = new
                new = self._descend(self._moved(known, rule), "reposition")[1]
            elif final:
                return
            else:
                final = True
                new = self._descend(known.centroids, "assign", known.colours)[1]

    def _descend(
        self, start: Centroids, kind: str, previous: Colours | None = None
    ) -> tuple[Step, Step]:
        """Descend, and give the first and the best step."""
        objective = None
        if self.soft.count or self.quality == "euclidean":
            objective = self._objective
        steps = alternate(
            self.problem,
            self.assign,
            start,
            self.recorder.stopper,
            previous=previous,
            objective=objective,
        )
        seen: list[Step] = []

        def watch(step: Step) -> bool:
            seen.append(step)
            self.recorder.record(step.solution, kind)
            return self.recorder.should_stop()

        best, _ = descend(steps, not_improved, watch=watch)
        return seen[0], best

    def _objective(self, colours: Colours, before: Centroids, means: Centroids) -> float:
        price = self.price(before) if self.soft.count else 0.0
        return self._distance(colours, means) + price * self.soft.violation(colours)

    def _distance(self, colours: Colours, means: Centroids) -> float:
        if self.quality == "sqeuclidean":
            return self.problem.inertia(colours, means)
        everyone = self.problem.everyone
        squared = self.problem.squared_distances(means)[everyone, colours]
        return float(self.problem.weight @ np.sqrt(np.maximum(squared, 0.0)))

    def _moved(self, best: Step, rule: Repositioning) -> Centroids:
        """Move the centroid of the least troubled cluster onto that of the most troubled one."""
        inertia = cluster_inertia(self.problem, best.colours, best.centroids)
        violations = np.zeros_like(inertia)
        if rule == "violations":
            violations = self.soft.violation_by_cluster(best.colours, inertia.size)
        rank = np.lexsort((inertia, violations))
        centroids = best.centroids.copy()
        centroids[rank[0]] = centroids[rank[-1]]
        return centroids


def cluster_inertia(
    problem: Problem, colours: Colours, centroids: Centroids
) -> NDArray[np.float64]:
    """Inertia of each cluster about its centroid, without that inside the supernodes."""
    costs = problem.own_costs(colours, centroids)
    return np.asarray(np.bincount(colours, costs, minlength=problem.n_clusters), dtype=np.float64)


@dataclass(frozen=True)
class FillEmpty:
    """An assignment after which no cluster is empty, as PCCC has it.

    An empty cluster takes a random supernode of the worst cluster that can spare one. That never
    breaks a cannot-link pair and never raises the inertia.

    Attributes
    ----------
    assign
        The assignment that may leave clusters empty.
    violations
        Weighted soft violations of each cluster; the worst cluster has most, then the largest
        inertia.
    rng
        Draws the supernodes.
    """

    assign: Assignment
    violations: Callable[[Colours], NDArray[np.float64]]
    rng: np.random.Generator

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes, then fill the empty clusters."""
        colours = self.assign(problem, centroids, previous, stopper)
        size = np.bincount(colours, minlength=problem.n_clusters)
        if size.all():
            return colours
        inertia = cluster_inertia(problem, colours, centroids)
        worst_last = np.lexsort((inertia, self.violations(colours)))
        return self._filled(colours, size, worst_last)

    def _filled(
        self, colours: Colours, size: NDArray[np.intp], worst_last: NDArray[np.intp]
    ) -> Colours:
        filled = colours.copy()
        donors = [int(c) for c in worst_last if size[c] > 1]
        for empty in np.flatnonzero(size == 0):
            # As far as possible every empty cluster takes from another donor.
            donor = donors.pop()
            filled[self.rng.choice(np.flatnonzero(filled == donor))] = empty
            size[donor] -= 1
            if size[donor] > 1:
                donors.insert(0, donor)
        return filled


@dataclass(frozen=True)
class SplitTies:
    """An assignment in which chance decides between centroids that coincide.

    Both cost a supernode the same, so it is up to the solver which one it gets. Integer-programming
    solvers give some supernodes to either. The exact assignment gives nearly all to the first,
    which leaves a cluster empty and the centroid that was moved without effect. So the Kempe chains
    between the two clusters are exchanged at random: that changes no cost and breaks no pair.

    Attributes
    ----------
    assign
        The assignment that decides everything else.
    rng
        Draws which chains are exchanged.
    """

    assign: Assignment
    rng: np.random.Generator

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes, then split what is shared by coinciding centroids."""
        colours = self.assign(problem, centroids, previous, stopper)
        for first, second in coinciding(centroids):
            colours = self._split(problem, colours, first, second)
        return colours

    def _split(self, problem: Problem, colours: Colours, first: int, second: int) -> Colours:
        shared = np.flatnonzero((colours == first) | (colours == second))
        if not shared.size:
            return colours
        graph = problem.graph.induced(shared)
        exchanged = self.rng.random(graph.components.max() + 1) < 0.5
        moved = shared[exchanged[graph.components]]
        split = colours.copy()
        split[moved] = first + second - colours[moved]
        return split


def coinciding(centroids: Centroids) -> Iterator[tuple[int, int]]:
    """Give the pairs of centroids that lie in one place; of more than two, a row of pairs."""
    _, place = np.unique(centroids, axis=0, return_inverse=True)
    order = np.argsort(place, axis=None, kind="stable")
    same = np.flatnonzero(np.diff(place.ravel()[order]) == 0)
    return ((int(order[i]), int(order[i + 1])) for i in same)
