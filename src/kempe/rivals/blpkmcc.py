"""BLPKM-CC: k-means with a binary linear program as its assignment step."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.alternation import AlternatingClusterer, Assignment, Objective, Step, not_improved
from kempe.rivals.program import ProgramAssignment, plain_costs
from kempe.search.callbacks import Callbacks


class BLPKMCC(AlternatingClusterer):
    """BLPKM-CC (Baumann 2020): every assignment step is solved to optimality.

    The program gives every supernode one cluster and every cluster at least one supernode, and
    keeps cannot-linked supernodes apart. The descent ends at the first iteration without
    improvement and returns the best.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    init
        Starting centroids: ``"random"`` rows, ``"k-means++"`` or an array (n_clusters,
        n_features). ``"sdp"``: those of a semidefinite relaxation, from which IPC-K-Means
        (Piccialli et al. 2022) makes the same descent with squared distances.
    metric
        ``"sqeuclidean"`` minimises the inertia, as comparisons with other methods need.
        ``"euclidean"`` minimises the sum of plain distances to the means, as the program that its
        author published does.
    kempe_swaps
        Whether Kempe swaps give the solver better colourings to start from; the publication has
        none. The assignment is optimal in either case.
    max_iter
        Most iterations.
    assignment_time_limit
        Seconds for one assignment, which only strikes once there is one to return; the publication
        has no such limit.
    time_limit
        Seconds of wall time, ``None`` for no limit.
    random_state
        Seed of the starting centroids.
    verbose
        0 is silent, 1 shows a progress bar, 2 logs every new best.
    callbacks
        One ``Callbacks`` or a list of them.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    inertia_ : float
        Within-cluster sum of squares, whatever the metric.
    n_iter_ : int
    result_ : Result

    References
    ----------
    P. Baumann: A binary linear programming-based k-means algorithm for clustering with must-link
    and cannot-link constraints. IEEM 2020.
    V. Piccialli, A. Russo Russo, A. M. Sudoso: An exact algorithm for semi-supervised minimum
    sum-of-squares clustering. Computers and Operations Research 147, 2022.

    Examples
    --------
    >>> from kempe.rivals import BLPKMCC
    >>> model = BLPKMCC(n_clusters=2, random_state=0)
    >>> labels = model.fit([[0.0], [1.0], [8.0], [9.0]], cannot_link=[(0, 1)]).labels_
    >>> bool(labels[0] != labels[1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AlternatingClusterer._parameter_constraints,
        "init": [StrOptions({"k-means++", "random", "sdp"}), "array-like", callable],
        "metric": [StrOptions({"sqeuclidean", "euclidean"})],
        "kempe_swaps": ["boolean"],
        "assignment_time_limit": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "random",
        metric: Literal["sqeuclidean", "euclidean"] = "sqeuclidean",
        kempe_swaps: bool = True,
        max_iter: int = 100,
        assignment_time_limit: float | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Callbacks | Sequence[Callbacks] | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            init=init,
            max_iter=max_iter,
            time_limit=time_limit,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
        )
        self.metric = metric
        self.kempe_swaps = kempe_swaps
        self.assignment_time_limit = assignment_time_limit

    def _assignment(
        self, problem: Problem, rng: np.random.Generator, stopper: _core.Stopper
    ) -> Assignment:
        costs = plain_costs if self.metric == "euclidean" else Problem.costs
        return ProgramAssignment(
            problem,
            nonempty=True,
            costs=costs,
            seconds=self.assignment_time_limit,
            kempe_swaps=bool(self.kempe_swaps),
        )

    def _settled(self, last: Step, new: Step) -> bool:
        return not_improved(last, new)

    def _objective(self, problem: Problem) -> Objective | None:
        if self.metric == "sqeuclidean":
            return None

        def total_distance(colours: Colours, _: Centroids, means: Centroids) -> float:
            costs = plain_costs(problem, means)
            return float(costs[np.arange(colours.size), colours].sum())

        return total_distance
