"""The clustering beside k-means, which knows no constraints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from kempe.constraints import Constraints
from kempe.problem import Problem

# Ten starts as long as they are quick, at least one.
STARTS = 10
MOST_WORK = 2 * 10**9


@dataclass(frozen=True, eq=False)
class Beside:
    """What plain k-means makes of the same data.

    Attributes
    ----------
    labels
        Its clusters, each with the number of ours that it shares most rows with.
    inertia
        The sum of squared distances, weighted like ours.
    broken
        The pairs that it does not respect.
    shared
        Rows by our cluster and its cluster.
    starts
        How often it was started.
    """

    labels: NDArray[np.int32]
    inertia: float
    broken: Constraints
    shared: NDArray[np.int64]
    starts: int

    @classmethod
    def of(cls, problem: Problem, labels: NDArray[np.int32]) -> Beside:
        """Run k-means on the rows of a problem.

        Parameters
        ----------
        problem
            Rows, their weights and constraints.
        labels
            Cluster of each row, which those of k-means are named after.
        """
        k = problem.n_clusters
        starts = int(np.clip(MOST_WORK // (problem.rows.size * k), 1, STARTS))
        # More threads than this one would wait for each other where the machine is busy.
        with threadpool_limits(1):
            model = KMeans(k, n_init=starts, random_state=0)
            model.fit(problem.rows, sample_weight=problem.row_weight)
        found = matched(model.labels_, labels, k)
        return cls(
            found,
            float(model.inertia_),
            problem.constraints.violations(found),
            _shared(labels, found, k),
            starts,
        )

    @property
    def n_moved(self) -> int:
        """Rows that are in another cluster than k-means puts them into."""
        return int(self.shared.sum() - np.trace(self.shared))


def matched(
    labels: NDArray[np.int32], reference: NDArray[np.int32], n_clusters: int
) -> NDArray[np.int32]:
    """Rename clusters after those of the reference that they share most rows with."""
    _, name = linear_sum_assignment(-_shared(labels, reference, n_clusters))
    return np.asarray(name[labels], dtype=np.int32)


def _shared(one: NDArray[np.int32], other: NDArray[np.int32], k: int) -> NDArray[np.int64]:
    """Count the rows by their clusters in two clusterings."""
    both = one.astype(np.int64) * k + other
    return np.bincount(both, minlength=k * k).reshape(k, k)
