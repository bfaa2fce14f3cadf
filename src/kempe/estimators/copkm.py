"""COP-K-Means: the first k-means under must-link and cannot-link pairs."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from kempe.assign.greedy import OrderedAssignment
from kempe.estimators._base import ConstrainedClusterer
from kempe.exceptions import NoSolutionFoundError
from kempe.init import starting_centroids
from kempe.problem import Problem
from kempe.search.alternation import (
    Assignment,
    Step,
    alternate,
    descend,
    standing_still,
)
from kempe.search.callbacks import Callbacks
from kempe.search.result import Result


class COPKM(ConstrainedClusterer):
    """COP-K-Means (Wagstaff et al. 2001): supernodes in the order of the data.

    Each iteration gives one supernode after another, in order of first rows, to the nearest
    centroid that breaks no cannot-link pair with those already placed. A supernode that finds
    none ends the run with ``NoSolutionFoundError``, in whichever iteration: nothing is taken back.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    init
        Starting centroids: ``"random"``, ``"k-means++"`` or an array (n_clusters, n_features).
    max_iter
        Iterations after which a descent that has not settled ends. Greedy assignment does not
        always lower the inertia, so a run may go round in circles; the best iteration is returned.
    time_limit
        Seconds of wall time, ``None`` for no limit.
    random_state
        Seed of the starting centroids.
    verbose
        0 is silent, 1 logs every new best.
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
    K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl: Constrained k-means clustering with background
    knowledge. ICML 2001.

    Examples
    --------
    >>> from kempe.estimators import COPKM
    >>> model = COPKM(n_clusters=2, random_state=0)
    >>> labels = model.fit([[0.0], [1.0], [8.0], [9.0]], cannot_link=[(0, 1)]).labels_
    >>> bool(labels[0] != labels[1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConstrainedClusterer._parameter_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    # Whether a run that gets stuck after a feasible iteration returns that, or fails.
    _keeps_best: ClassVar[bool] = False

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

    def _assignment(self, problem: Problem, rng: np.random.Generator) -> Assignment:
        """How supernodes find their clusters; the relatives of this method differ in it."""
        return OrderedAssignment(np.arange(problem.n_supernodes, dtype=np.int32))

    def _solve(self, problem: Problem) -> Result:
        rng = self._generator()
        recorder = self._recorder(problem)
        centroids = starting_centroids(problem, self.init, rng)
        assign = self._assignment(problem, rng)

        def watch(step: Step) -> bool:
            recorder.record(step.solution, "assign")
            return recorder.should_stop()

        steps = alternate(problem, assign, centroids, recorder.stopper)
        try:
            _, reason = descend(steps, standing_still, self.max_iter, watch)
        except NoSolutionFoundError:
            if not self._keeps_best or recorder.best is None:
                raise
            reason = "stuck"
        return recorder.result(reason)
