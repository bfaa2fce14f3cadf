"""The descent that every rival shares: assign, move the centroids to the means, repeat.

An ``Assignment`` decides how supernodes find their clusters, a ``Settled`` rule when to stop.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.utils._param_validation import Interval

from kempe import _core
from kempe.clusterer import ConstrainedClusterer
from kempe.exceptions import NoSolutionFoundError
from kempe.kskm.sdp import denoised_points
from kempe.kskm.shift import kmeans
from kempe.problem import Centroids, Colours, Problem
from kempe.search.callbacks import Callbacks
from kempe.search.recorder import Recorder
from kempe.search.result import Result, Solution
from kempe.search.seeding import starting_centroids


class Assignment(Protocol):
    """A way to give every supernode a cluster for fixed centroids."""

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes.

        Parameters
        ----------
        previous
            The colouring of the iteration before, if any: a warm start.
        stopper
            When it says stop, a slow assignment returns what it has, at worst ``previous``.

        Raises
        ------
        NoSolutionFoundError
            If there is nothing to return.
        """


@dataclass(frozen=True)
class Step:
    """One iteration: a colouring, the means of its clusters, its inertia and what is minimised.

    An empty cluster keeps the centroid it had.
    """

    colours: Colours
    centroids: Centroids
    inertia: float
    objective: float

    @property
    def solution(self) -> Solution:
        """The colouring in the form that a recorder takes."""
        return Solution(self.colours, self.inertia, self.objective)


Objective = Callable[[Colours, Centroids, Centroids], float]
"""What a method minimises, of a colouring, the centroids it was made for, and its means."""

Settled = Callable[[Step, Step], bool]
"""Whether a descent ends, given the last step and the new one."""


def same_clusters(last: Step, new: Step) -> bool:
    """Whether the centroids, that is the clusters, did not change."""
    return np.array_equal(last.colours, new.colours)


def not_improved(last: Step, new: Step) -> bool:
    """Whether the objective did not fall; differences in the last digits are no fall."""
    return new.objective >= last.objective * (1 - 1e-12)


def alternate(
    problem: Problem,
    assign: Assignment,
    centroids: Centroids,
    stopper: _core.Stopper,
    *,
    previous: Colours | None = None,
    objective: Objective | None = None,
) -> Iterator[Step]:
    """Assign and update for ever.

    Parameters
    ----------
    centroids
        Where to start.
    previous
        Warm start of the first assignment.
    objective
        What the method minimises, by default the inertia.
    """
    while True:
        previous = assign(problem, centroids, previous, stopper)
        means, weight = problem.means(previous)
        means = np.where(weight[:, None] > 0, means, centroids)
        inertia = problem.inertia(previous, means)
        value = inertia if objective is None else objective(previous, centroids, means)
        yield Step(previous, means, inertia, value)
        centroids = means


def descend(
    steps: Iterator[Step],
    settled: Settled,
    max_iter: int = sys.maxsize,
    watch: Callable[[Step], bool] = lambda step: False,
) -> tuple[Step, str]:
    """Follow an alternation until it settles; give its best step and what ended it.

    It ends after ``max_iter`` steps, or before: a rule like ``not_improved`` lets the objective
    fall by a share of itself in every step, and no number does so for ever.

    Parameters
    ----------
    steps
        From ``alternate``.
    watch
        Sees every step and says whether to stop there.

    Raises
    ------
    NoSolutionFoundError
        From the assignment, with the iteration in which it failed.
    """
    best: Step | None = None
    last: Step | None = None
    for iteration in range(1, max_iter + 1):
        new = _next(steps, iteration)
        best = new if best is None or new.objective < best.objective else best
        stop = watch(new)
        if last is not None and settled(last, new):
            return best, "converged"
        if stop:
            return best, "stopped"
        last = new
    assert best is not None
    return best, "max_iter"


def _next(steps: Iterator[Step], iteration: int) -> Step:
    try:
        return next(steps)
    except NoSolutionFoundError as failure:
        raise NoSolutionFoundError(f"in iteration {iteration}, {failure}") from None


class AlternatingClusterer(ConstrainedClusterer):
    """Base class: subclasses say how to assign, what to minimise and when to end."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConstrainedClusterer._parameter_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    # Whether a run whose assignment fails after a feasible iteration returns that, or fails.
    _keeps_best: ClassVar[bool] = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "random",
        max_iter: int = 300,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Callbacks | Sequence[Callbacks] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    @abstractmethod
    def _assignment(
        self, problem: Problem, rng: np.random.Generator, stopper: _core.Stopper
    ) -> Assignment:
        """Give the way in which supernodes find their clusters."""

    def _settled(self, last: Step, new: Step) -> bool:
        """Whether the descent ends."""
        return same_clusters(last, new)

    def _objective(self, problem: Problem) -> Objective | None:
        """Give what is minimised; ``None`` for the inertia."""
        return None

    def _solve(self, problem: Problem) -> Result:
        rng = self._generator()
        with self._recorder(problem) as recorder:
            return recorder.follow(
                lambda: self._descend(problem, recorder, rng), keeps_best=self._keeps_best
            )

    def _descend(self, problem: Problem, recorder: Recorder, rng: np.random.Generator) -> str:
        centroids = rows_or_given(problem, self.init, rng, recorder.stopper)
        steps = alternate(
            problem,
            self._assignment(problem, rng, recorder.stopper),
            centroids,
            recorder.stopper,
            objective=self._objective(problem),
        )

        def watch(step: Step) -> bool:
            recorder.record(step.solution, "assign")
            return recorder.should_stop()

        _, reason = descend(steps, self._settled, self.max_iter, watch)
        return reason


def rows_or_given(
    problem: Problem, init: Any, rng: np.random.Generator, stopper: _core.Stopper
) -> Centroids:
    """Give starting centroids, where ``"random"`` means rows as the publications have it.

    Rows, not supernodes: two of them may belong together, and none is the mean of its supernode.
    ``"sdp"`` means the centroids of a semidefinite relaxation.
    """
    if isinstance(init, str) and init == "sdp":
        fallback = starting_centroids(problem, "k-means++", rng, stopper)
        own = stopper.child()  # the relaxation may take longer than there is time for it alone
        denoised = denoised_points(problem, own)
        late = own.look()
        return fallback if late else kmeans(*denoised, problem.n_clusters, rng, fallback)
    if not isinstance(init, str) or init != "random":
        return starting_centroids(problem, init, rng, stopper)
    chosen = rng.choice(problem.n_rows, size=problem.n_clusters, replace=False)
    return np.ascontiguousarray(problem.rows[chosen], dtype=np.float64)
