"""Clusterers that are one descent: assign, update the centroids, repeat until settled."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from kempe import _core
from kempe.clusterer import ConstrainedClusterer
from kempe.exceptions import NoSolutionFoundError
from kempe.problem import Centroids, Problem
from kempe.rivals.alternation import Assignment, Objective, Step, alternate, descend, standing_still
from kempe.search.callbacks import Callbacks
from kempe.search.result import Result
from kempe.search.seeding import starting_centroids


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
        return standing_still(last, new)

    def _objective(self, problem: Problem) -> Objective | None:
        """Give what is minimised; ``None`` for the inertia."""
        return None

    def _solve(self, problem: Problem) -> Result:
        rng = self._generator()
        with self._recorder(problem) as recorder:
            centroids = rows_or_given(problem, self.init, rng)
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

            try:
                best, reason = descend(steps, self._settled, self.max_iter, watch)
            except NoSolutionFoundError:
                if not self._keeps_best or recorder.best is None:
                    raise
                return recorder.result("stuck")
            # The recorder keeps the lowest inertia, which need not be the lowest objective.
            return recorder.result(reason, best.solution)


def rows_or_given(problem: Problem, init: Any, rng: np.random.Generator) -> Centroids:
    """Give starting centroids, where ``"random"`` means rows as the publications have it.

    Rows, not supernodes: two of them may belong together, and none is the mean of its supernode.
    """
    if not isinstance(init, str) or init != "random":
        return starting_centroids(problem, init, rng)
    chosen = rng.choice(problem.n_rows, size=problem.n_clusters, replace=False)
    return np.ascontiguousarray(problem.rows[chosen], dtype=np.float64)
