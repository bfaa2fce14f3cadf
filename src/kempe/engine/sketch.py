"""A sketch of a large problem: the same rows and pairs in few dimensions.

The means of k clusters span fewer than k dimensions, and the axes along which the data varies most
hold nearly all of what tells clusters apart. What is found there is close to a local optimum in all
dimensions, at a fraction of the work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.problem import ROWS_AT_A_TIME, Colours, Problem

# Axes of a sketch: these, and one more for each cluster.
AXES = 50
# A sketch is worth its making if it has at most this share of the dimensions.
WORTHWHILE = 1 / 4
# It goes on being used if it holds this share of what clusters explain.
FAITHFUL = 0.9

# Axes are found by so many rounds of subspace iteration, which has a few to spare,
ROUNDS = 4
SPARE_AXES = 10
# on a sample of the supernodes, with so many products of numbers in a round.
PRODUCTS = 500_000_000


def is_worth_sketching(problem: Problem) -> bool:
    """Whether a problem is large, and a few of its dimensions are enough.

    No more supernodes than axes are themselves as few: finding axes for them takes longer than a
    whole search.
    """
    wanted = n_axes(problem)
    few = wanted <= WORTHWHILE * problem.n_features and wanted < problem.n_supernodes
    return problem.core.is_large and few


def n_axes(problem: Problem) -> int:
    """Give the dimensions of a sketch."""
    return AXES + problem.n_clusters


@dataclass(frozen=True, eq=False)
class Sketch:
    """A problem, and what it looks like along few axes.

    Attributes
    ----------
    whole
        The problem.
    rough
        The same in few dimensions.
    """

    whole: Problem
    rough: Problem

    @classmethod
    def draw(cls, problem: Problem, rng: np.random.Generator, stopper: _core.Stopper) -> Sketch:
        """Project a problem onto axes along which it varies much."""
        wanted = n_axes(problem)
        sample = _sample(problem, wanted + SPARE_AXES, rng)
        origin = problem.means(_one_cluster(problem))[0][0]
        axes = np.linalg.qr(rng.standard_normal((problem.n_features, wanted + SPARE_AXES)))[0]
        for _ in range(ROUNDS):
            if stopper.look():
                break
            # Ordered by length, so that those to spare are the last.
            axes = np.linalg.svd(_spread(problem, sample, origin, axes), full_matrices=False)[0]
        return cls(problem, problem.projected(origin, axes[:, :wanted]))

    def is_faithful(self, colours: Colours) -> bool:
        """Whether most of what tells the clusters of a local optimum apart is seen in the sketch.

        Where noise drowns the clusters it is not, and the way down in all dimensions is long.
        """
        rough, whole = (_explained(problem, colours) for problem in (self.rough, self.whole))
        return rough >= FAITHFUL * whole


def _explained(problem: Problem, colours: Colours) -> float:
    """Give what a clustering takes off the inertia of a single cluster."""
    return problem.inertia(_one_cluster(problem)) - problem.inertia(colours)


def _one_cluster(problem: Problem) -> Colours:
    return np.zeros(problem.n_supernodes, dtype=np.int32)


def _spread(
    problem: Problem,
    sample: NDArray[np.int32],
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Multiply axes by the covariance of a sample, up to a factor."""
    spread = np.zeros(axes.shape)
    for start in range(0, sample.size, ROWS_AT_A_TIME):
        points = problem.points(sample[start : start + ROWS_AT_A_TIME]) - origin
        spread += points.T @ (points @ axes)
    return spread


def _sample(problem: Problem, n_columns: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw supernodes, each with the chance of its weight."""
    affordable = PRODUCTS // (problem.n_features * n_columns)
    size = max(n_columns, min(affordable, problem.n_supernodes))
    chance = problem.weight / problem.weight.sum()
    return np.sort(rng.choice(problem.everyone, size=size, p=chance))
