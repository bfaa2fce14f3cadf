"""Prices of soft pairs where most rows lie elsewhere: found on summaries, and on a sample of rows.

A summary stands for many rows and hides how much they vary, on which prices depend. So the variance
is that of a sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.dask.pairs import NamedRows
from kempe.dask.parts import Parts
from kempe.engine.batched import means_for_all
from kempe.engine.crowd import Floats
from kempe.engine.pricing import MOST_ROWS_OF_COVARIANCE, variance_of_one_dimension
from kempe.problem import Colours, Problem


@dataclass(frozen=True, eq=False)
class SampledVariance:
    """Variance within clusters along one effective dimension, of rows drawn from all parts.

    Attributes
    ----------
    points, weight
        The rows, less the mean of all, and what they weigh.
    supernode
        Supernode of each that constraints name; -1 for the others, which go to the nearest mean.
    """

    points: Floats
    weight: Floats
    supernode: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        parts: Parts,
        named: NamedRows,
        origin: Floats,
        supernode: NDArray[np.int32],
        rng: np.random.Generator,
    ) -> SampledVariance:
        """Draw rows, and fetch them once.

        Parameters
        ----------
        parts, named
            All rows, and those that constraints name.
        origin
            What is subtracted from all of them.
        supernode
            Of the named ones.
        rng
            Source of randomness.
        """
        most = min(parts.n_rows, MOST_ROWS_OF_COVARIANCE)
        drawn = np.sort(rng.choice(parts.n_rows, most, replace=False)).astype(np.int64)
        rows, weight = parts.gathered(drawn)
        place = np.minimum(np.searchsorted(named.numbers, drawn), named.numbers.size - 1)
        own = np.where(named.numbers[place] == drawn, supernode[place], -1)
        weight = weight if weight.size else np.ones(most)
        return cls(np.ascontiguousarray(rows - origin, dtype=np.float64), weight, own)

    def __call__(
        self, problem: Problem, colours: Colours, rng: np.random.Generator, most_rows: int
    ) -> float:
        """Give the variance about the means of a clustering of supernodes and summaries."""
        some = slice(None, None, -(-len(self.points) // most_rows))
        points, supernode = self.points[some], self.supernode[some]
        centroids = means_for_all(*problem.means(colours))
        nearest, _ = _core.nearest_centroids(np.ascontiguousarray(points), centroids)
        cluster = np.where(supernode >= 0, colours[supernode], nearest)
        return variance_of_one_dimension(points - centroids[cluster], self.weight[some])
