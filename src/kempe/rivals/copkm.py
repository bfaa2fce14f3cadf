"""COP-K-Means: the first k-means under must-link and cannot-link pairs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kempe import _core
from kempe.problem import Problem
from kempe.rivals.alternating import AlternatingClusterer
from kempe.rivals.alternation import Assignment
from kempe.rivals.greedy import OrderedAssignment


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

    def _assignment(
        self, problem: Problem, rng: np.random.Generator, stopper: _core.Stopper
    ) -> Assignment:
        return OrderedAssignment(problem.everyone)
