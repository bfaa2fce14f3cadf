"""COP-K-Means: the first k-means under must-link and cannot-link pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from kempe import _core
from kempe.exceptions import NoSolutionFoundError
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.alternation import AlternatingClusterer, Assignment, Step, not_improved
from kempe.search.callbacks import Callbacks


class COPKM(AlternatingClusterer):
    """COP-K-Means (Wagstaff et al. 2001): supernodes in the order of the data.

    Each iteration gives one supernode after another, in order of first rows, to the nearest
    centroid that breaks no cannot-link pair with those already placed. A supernode that finds
    none ends the run with ``NoSolutionFoundError``, in whichever iteration: nothing is taken back.
    An empty cluster gets the supernode that lies farthest from its centroid.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    init
        Starting centroids: ``"random"`` rows, ``"k-means++"`` or an array (n_clusters,
        n_features).
    max_iter
        Iterations after which a descent that has not settled ends. Greedy assignment does not
        always lower the inertia, so a run may go round in circles; the best iteration is returned.
    until
        What ends the run: ``"clusters"`` that stand still, as the publication has it, or an
        ``"inertia"`` that no longer falls, as the tables of Kempe Swap K-Means have it.
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
    n_iter_ : int
    result_ : Result

    References
    ----------
    K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl: Constrained k-means clustering with background
    knowledge. ICML 2001.

    Examples
    --------
    >>> from kempe.rivals import COPKM
    >>> model = COPKM(n_clusters=2, random_state=0)
    >>> labels = model.fit([[0.0], [1.0], [8.0], [9.0]], cannot_link=[(0, 1)]).labels_
    >>> bool(labels[0] != labels[1])
    True
    """

    _keeps_best: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AlternatingClusterer._parameter_constraints,
        "until": [StrOptions({"clusters", "inertia"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "random",
        max_iter: int = 300,
        until: Literal["clusters", "inertia"] = "clusters",
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
        self.until = until

    def _settled(self, last: Step, new: Step) -> bool:
        return (not_improved if self.until == "inertia" else super()._settled)(last, new)

    def _assignment(
        self, problem: Problem, rng: np.random.Generator, stopper: _core.Stopper
    ) -> Assignment:
        return OrderedAssignment(problem.everyone)


@dataclass(frozen=True)
class OrderedAssignment:
    """Give supernodes, in a fixed order, the nearest centroid free of cannot-link conflicts.

    Attributes
    ----------
    order
        All supernodes, the first to be placed first.
    """

    order: NDArray[np.int32]

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes, or raise ``NoSolutionFoundError`` at the first that cannot be."""
        colours, stuck = _core.ordered_assignment(problem.core, centroids, self.order)
        return completed(problem, centroids, colours, stuck)


def completed(problem: Problem, centroids: Centroids, colours: Colours, stuck: int) -> Colours:
    """Fill the empty clusters, or raise if a supernode found no cluster."""
    if stuck < 0:
        return fill_by_farthest(problem, centroids, colours)
    row = int(np.argmax(problem.supernode == stuck))
    placed = int(np.count_nonzero(colours[problem.supernode] >= 0))
    raise NoSolutionFoundError(
        f"row {row} found no cluster free of cannot-link conflicts after {placed} of "
        f"{problem.n_rows} rows were assigned"
    )


def fill_by_farthest(problem: Problem, centroids: Centroids, colours: Colours) -> Colours:
    """Give every empty cluster the costliest supernode of a cluster that can spare one.

    The COP-K-Means family does so, as k-means implementations commonly do; no cannot-link pair can
    stand in the way.
    """
    size = np.bincount(colours, minlength=problem.n_clusters)
    if size.all():
        return colours
    filled = colours.copy()
    cost = problem.own_costs(colours, centroids)
    for vertex in np.argsort(-cost, kind="stable"):
        empty = np.flatnonzero(size == 0)
        if not empty.size:
            break
        if size[filled[vertex]] > 1:
            size[filled[vertex]] -= 1
            size[empty[0]] = 1
            filled[vertex] = empty[0]
    return filled
