"""A semidefinite relaxation of constrained k-means, solved in low-rank form.

Peng and Wei's relaxation replaces a clustering by the matrix ``Z`` that averages over clusters:
symmetric, positive semidefinite, non-negative, with ``Z e = e`` and trace ``k``. Supernodes enter
with their weights, ``e = sqrt(weight)``, and cannot-link pairs as ``Z[u, v] = 0``, as in Piccialli
et al. (2022).

What is solved here is the non-negative low-rank form ``Z = V V'`` with ``V >= 0``, by projected
gradient steps on an augmented Lagrangian. That is a non-convex restriction of the relaxation and
gives no bound on the inertia; it is meant for target centroids. Beyond a few hundred supernodes a
random sample of them is used.

References
----------
Peng and Wei, Approximating k-means-type clustering via semidefinite programming, 2007.
Piccialli, Russo Russo and Sudoso, An exact algorithm for semi-supervised minimum sum-of-squares
clustering, 2022.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe.problem import Problem

LANDMARKS = 400

_Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Relaxation:
    """The relaxation over some supernodes.

    Attributes
    ----------
    points
        One scaled point per supernode, ``sqrt(weight) * point``.
    root_weight
        The vector ``e``.
    cannot_link
        Symmetric 0/1 matrix of the pairs whose entry in ``Z`` is to vanish.
    k
        The trace of ``Z``.
    """

    points: _Matrix
    root_weight: NDArray[np.float64]
    cannot_link: sparse.csr_array
    k: int

    def solve(self, rng: np.random.Generator, *, rounds: int = 12, steps: int = 25) -> _Matrix:
        """Find a factor ``V`` of an approximately feasible ``Z`` of low objective."""
        e = self.root_weight
        factor = self._project(rng.random((e.size, self.k + 2)) * e[:, None])
        multiplier = np.zeros(e.size)
        strength = 1.0 / max(float(e @ e), 1e-300)
        scale = max(float((self.points**2).sum()), 1e-300)
        for _ in range(rounds):
            for _ in range(steps):
                gradient = self._gradient(factor, multiplier, strength, scale)
                length = 0.5 * np.sqrt(self.k) / max(float(np.linalg.norm(gradient)), 1e-300)
                factor = self._descend(factor, gradient, length, multiplier, strength, scale)
            residual = factor @ (factor.T @ e) - e
            multiplier += strength * residual
            strength *= 1.5
        return factor

    def _value(
        self, factor: _Matrix, multiplier: NDArray[np.float64], strength: float, scale: float
    ) -> float:
        """Augmented Lagrangian: distortion, row sums, cannot-link entries."""
        e = self.root_weight
        residual = factor @ (factor.T @ e) - e
        explained = float(((self.points.T @ factor) ** 2).sum()) / scale
        apart = float((factor * (self.cannot_link @ factor)).sum())
        return (
            apart
            - explained
            + float(multiplier @ residual)
            + 0.5 * strength * float(residual @ residual)
        )

    def _gradient(
        self, factor: _Matrix, multiplier: NDArray[np.float64], strength: float, scale: float
    ) -> _Matrix:
        e = self.root_weight
        residual = factor @ (factor.T @ e) - e
        dual = multiplier + strength * residual
        rows = np.outer(dual, factor.T @ e) + np.outer(e, factor.T @ dual)
        explained = 2 * (self.points @ (self.points.T @ factor)) / scale
        return np.asarray(2 * (self.cannot_link @ factor) - explained + rows)

    def _descend(
        self,
        factor: _Matrix,
        gradient: _Matrix,
        length: float,
        multiplier: NDArray[np.float64],
        strength: float,
        scale: float,
    ) -> _Matrix:
        """One projected step, halved until the Lagrangian falls."""
        value = self._value(factor, multiplier, strength, scale)
        for _ in range(20):
            trial = self._project(factor - length * gradient)
            if self._value(trial, multiplier, strength, scale) < value:
                return trial
            length /= 2
        return factor

    def _project(self, factor: _Matrix) -> _Matrix:
        """Non-negative entries and the right trace."""
        positive = np.maximum(factor, 0)
        norm = float(np.linalg.norm(positive))
        return positive * (np.sqrt(self.k) / norm) if norm > 0 else positive


def relax(problem: Problem, vertices: NDArray[np.int64]) -> Relaxation:
    """Set up the relaxation over the given supernodes, all of which must have weight."""
    root = np.sqrt(problem.weight[vertices])
    return Relaxation(
        points=problem.points(vertices) * root[:, None],
        root_weight=root,
        cannot_link=problem.graph[vertices][:, vertices].astype(np.float64),
        k=problem.n_clusters,
    )


def denoised_points(
    problem: Problem, rng: np.random.Generator
) -> tuple[_Matrix, NDArray[np.float64]]:
    """Points averaged by the relaxed clustering, and their weights.

    Each point is replaced by the mean of its (fractional) cluster, so a k-means run over
    these points rounds the relaxation to centroids.
    """
    vertices = np.flatnonzero(problem.weight > 0)
    limit = max(LANDMARKS, 2 * problem.n_clusters)
    if vertices.size > limit:
        vertices = np.sort(rng.choice(vertices, limit, replace=False))
    relaxation = relax(problem, vertices)
    factor = relaxation.solve(rng)
    averages = factor @ (factor.T @ relaxation.points)
    row_sums = factor @ (factor.T @ relaxation.root_weight)
    # Dividing by the row sums, which are nearly e, makes these exact averages.
    safe = np.where(row_sums > 0, row_sums, 1.0)
    return averages / safe[:, None], problem.weight[vertices]
