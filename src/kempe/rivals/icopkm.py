"""COP-K-Means in order of certainty."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.alternation import Assignment, alternate, descend, not_improved, rows_or_given
from kempe.rivals.copkm import COPKM, OrderedAssignment
from kempe.search.callbacks import Callbacks

# Unconstrained runs only estimate certainty, so they need not be followed to the end.
_ENSEMBLE_ITERATIONS = 20


class ICOPKM(COPKM):
    """ICOP-K-Means (Tan et al. 2010): the supernodes whose cluster is clearest come first.

    Certainty is how much nearer the nearest centroid is than the second nearest, averaged over
    several unconstrained k-means runs.

    Parameters
    ----------
    n_clusters, init, max_iter, until, time_limit, random_state, verbose, callbacks
        As in ``COPKM``.
    n_runs
        Unconstrained runs from which certainty is estimated.

    References
    ----------
    W. Tan, Y. Yang, T. Li: An improved COP-KMeans algorithm for solving constraint violation.
    FLINS 2010.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **COPKM._parameter_constraints,
        "n_runs": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "random",
        max_iter: int = 300,
        until: Literal["clusters", "inertia"] = "clusters",
        n_runs: int = 10,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Callbacks | Sequence[Callbacks] | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            init=init,
            max_iter=max_iter,
            until=until,
            time_limit=time_limit,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
        )
        self.n_runs = n_runs

    def _assignment(
        self, problem: Problem, rng: np.random.Generator, stopper: _core.Stopper
    ) -> Assignment:
        total = np.zeros(problem.n_supernodes)
        for _ in range(self.n_runs):
            if stopper.look():
                break
            centroids = _unconstrained_centroids(problem, rng, stopper)
            if not stopper.look():
                total += certainty(problem, centroids)
        return OrderedAssignment(np.argsort(-total, kind="stable").astype(np.int32))


def certainty(problem: Problem, centroids: Centroids) -> NDArray[np.float64]:
    """Margin between the nearest and the second nearest centroid, from 0 (a tie) to 1."""
    if centroids.shape[0] == 1:
        return np.ones(problem.n_supernodes)
    # The table is large where clusters are many, so it is worked on in place.
    distances = problem.squared_distances(centroids)
    distances.partition(1, axis=1)
    nearest, second = np.sqrt(distances[:, :2]).T
    margin = np.zeros(problem.n_supernodes)
    np.divide(second - nearest, second, out=margin, where=second > 0)
    return margin


def _unconstrained_centroids(
    problem: Problem, rng: np.random.Generator, stopper: _core.Stopper
) -> Centroids:
    start = rows_or_given(problem, "random", rng, stopper)
    steps = alternate(problem, nearest_assignment, start, stopper)
    best, _ = descend(steps, not_improved, _ENSEMBLE_ITERATIONS, watch=lambda step: stopper.look())
    return best.centroids


def nearest_assignment(
    problem: Problem, centroids: Centroids, previous: Colours | None, stopper: _core.Stopper
) -> Colours:
    """Give every supernode its nearest centroid, whatever the cannot-link pairs say."""
    return np.asarray(problem.costs(centroids).argmin(axis=1), dtype=np.int32)
