"""A semidefinite relaxation of constrained k-means.

Peng and Wei's relaxation replaces a clustering by the matrix ``Z`` that averages over clusters:
symmetric, positive semidefinite, non-negative, with ``Z e = e`` and trace ``k``. Supernodes enter
with their weights, ``e = sqrt(weight)``, and cannot-link pairs as ``Z[u, v] = 0``, as in Piccialli
et al. (2022). Their further inequalities and their branching are left out, and the program is
solved only roughly, by alternating projections (ADMM): it is meant for target centroids, not for
bounds. Every iteration decomposes a dense matrix, so beyond a few hundred supernodes a sample of
them stands for all.

References
----------
Peng and Wei, Approximating k-means-type clustering via semidefinite programming, 2007.
Piccialli, Russo Russo and Sudoso, An exact algorithm for semi-supervised minimum sum-of-squares
clustering, 2022.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kempe import _core
from kempe.problem import Problem

LANDMARKS = 200
ITERATIONS = 150
# Weight of agreement between the two sets at the start, relative to a distortion of norm 1.
FIRST_STIFFNESS = 0.1
# To decompose a matrix of more rows takes so long that a time limit may not wait for it.
LARGE = 400

_Vector = NDArray[np.float64]
_Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class SemidefiniteRelaxation:
    """The relaxation over some supernodes.

    Attributes
    ----------
    points
        One scaled point per supernode, ``sqrt(weight) * point``.
    root_weight
        The vector ``e``, positive.
    apart
        Symmetric matrix of the pairs whose entry in ``Z`` must vanish.
    k
        The trace of ``Z``.
    """

    points: _Matrix
    root_weight: _Vector
    apart: NDArray[np.bool_]
    k: int

    def solve(self, iterations: int = ITERATIONS, stopper: _core.Stopper | None = None) -> _Matrix:
        """Find ``Z``, non-negative and zero on ``apart``; the other conditions hold nearly."""
        # The matrices are small: more threads would mostly wait for each other.
        with threadpool_limits(limits=1, user_api="blas"):
            return self._alternate(iterations, stopper)

    def _alternate(self, iterations: int, stopper: _core.Stopper | None) -> _Matrix:
        unit = self.root_weight / np.linalg.norm(self.root_weight)
        fixed = np.outer(unit, unit)
        cost = self._scaled_distortion(unit)
        allowed, dual, stiffness = fixed.copy(), np.zeros_like(fixed), FIRST_STIFFNESS
        needed = 0.0 if stopper is None else _seconds_of_a_decomposition(cost, stopper)
        for iteration in range(iterations):
            if stopper is not None and (stopper.look() or stopper.remaining < needed):
                stopper.stop()
                break
            free = _without(unit, allowed - dual - cost / stiffness)
            spectral = fixed + nearest_spectral(free, self.k - 1)
            before, allowed = allowed, np.where(self.apart, 0.0, np.maximum(spectral + dual, 0))
            dual += spectral - allowed
            if iteration % 10 == 9:
                disagreement = float(np.linalg.norm(spectral - allowed))
                movement = stiffness * float(np.linalg.norm(allowed - before))
                factor = _balance(disagreement, movement)
                stiffness *= factor
                dual /= factor
        return allowed

    def _scaled_distortion(self, unit: _Vector) -> _Matrix:
        """Linear objective, up to a constant: minus the Gram matrix, of spectral norm 1."""
        gram = _without(unit, self.points @ self.points.T)
        # That of the points, squared, which are fewer numbers than their products.
        norm = float(np.linalg.norm(self.points - np.outer(unit, unit @ self.points), 2)) ** 2
        return -gram / norm if norm > 0 else gram


def _seconds_of_a_decomposition(matrix: _Matrix, stopper: _core.Stopper) -> float:
    """Estimate how long one takes, where that matters: a quarter of the rows take 1/64 of that."""
    if len(matrix) <= LARGE or stopper.look():
        return 0.0
    part = len(matrix) // 4
    started = time.perf_counter()
    np.linalg.eigh(matrix[:part, :part])
    return 64 * (time.perf_counter() - started)


def nearest_spectral(matrix: _Matrix, trace: float) -> _Matrix:
    """Nearest symmetric matrix with eigenvalues in [0, 1] that add up to ``trace``."""
    values, vectors = np.linalg.eigh(matrix)
    clipped = nearest_in_capped_simplex(values, trace)
    kept = clipped > 0
    return np.asarray((vectors[:, kept] * clipped[kept]) @ vectors[:, kept].T)


def nearest_in_capped_simplex(values: _Vector, total: float) -> _Vector:
    """Nearest vector with entries in [0, 1] that add up to ``total``, by bisection of the shift."""
    low, high = float(values.min()) - 1, float(values.max())
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(values - middle, 0, 1).sum() > total:
            low = middle
        else:
            high = middle
    return np.clip(values - high, 0, 1)


def _without(unit: _Vector, matrix: _Matrix) -> _Matrix:
    """Remove the direction ``unit``, on which ``Z`` is known, and make the rest symmetric."""
    matrix = matrix - np.outer(matrix @ unit, unit)
    matrix = matrix - np.outer(unit, unit @ matrix)
    return np.asarray((matrix + matrix.T) / 2)


def _balance(disagreement: float, movement: float) -> float:
    """Factor on the stiffness that keeps primal and dual residual of one size."""
    if disagreement > 5 * movement:
        return 2.0
    return 0.5 if movement > 5 * disagreement else 1.0


def relax(problem: Problem, vertices: NDArray[np.int64]) -> SemidefiniteRelaxation:
    """Set up the relaxation over the given supernodes, all of which must have weight."""
    root = np.sqrt(problem.weight[vertices])
    return SemidefiniteRelaxation(
        points=problem.points(vertices) * root[:, None],
        root_weight=root,
        apart=problem.graph.matrix[vertices][:, vertices].toarray() > 0,
        k=problem.n_clusters,
    )


def denoised_points(
    problem: Problem, stopper: _core.Stopper | None = None
) -> tuple[_Matrix, _Vector]:
    """Points averaged by the relaxed clustering, and their weights.

    Each point is replaced by the mean of its (fractional) cluster, so a k-means run over these
    points rounds the relaxation to centroids. The sample of a large problem is always the same:
    the result is a function of the problem alone.
    """
    vertices = np.flatnonzero(problem.weight > 0)
    limit = max(LANDMARKS, 3 * problem.n_clusters)
    if vertices.size > limit:
        vertices = np.sort(np.random.default_rng(0).choice(vertices, limit, replace=False))
    relaxation = relax(problem, vertices)
    matrix = relaxation.solve(stopper=stopper)
    # Rows of a perfect solution sum to e; dividing by the sums found makes exact averages.
    sums = matrix @ relaxation.root_weight
    safe = np.where(sums > 0, sums, 1.0)
    return matrix @ relaxation.points / safe[:, None], problem.weight[vertices]
