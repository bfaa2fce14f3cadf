"""Multipliers from a clustering alone: dual certificates for k-means.

If the clusters were separated well, the matrix of the clustering would be the optimum of the
relaxation, and its multipliers could be written down (Iguchi, Mixon, Peterson and Villar, 2017),
but for one number. We take its best value by a search; what would be negative is set to zero,
which keeps the multipliers valid.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from kempe.proof.dual import Dual
from kempe.proof.nodes import Cuts
from kempe.proof.relaxation import Floats, Relaxation

# The penalty of the iterations, as a share of the largest scatter within clusters in a direction.
PENALTY = 0.3
# As a share of what the matrix is made of: less would overflow in single precision.
LEAST_PENALTY = 1e-7


def dual_start(relaxation: Relaxation, colours: NDArray[np.intp], penalty: float = PENALTY) -> Dual:
    """Make the multipliers that a clustering suggests.

    ``penalty`` is that of the iterations, as a share of the largest scatter within clusters in a
    direction.
    """
    candidate = _Candidate(relaxation, colours)
    nearest = (candidate.indicator @ candidate.indicator.T).astype(np.float32)
    least = LEAST_PENALTY * relaxation.magnitude
    if penalty * candidate.scale <= least:  # every cluster is next to a point
        return Dual(np.zeros_like(nearest), Cuts.none(), nearest, least or 1.0)
    # The best value lies about the largest eigenvalue of the scatter within the clusters.
    found = minimize_scalar(
        lambda power: -candidate.value(candidate.scale * 2.0**power),
        bounds=(-4.0, 2.0),
        method="bounded",
        options={"maxiter": 8},
    )
    slack = candidate.slack(candidate.scale * 2.0**found.x).astype(np.float32)
    return Dual(slack, Cuts.none(), nearest, penalty * candidate.scale)


class _Candidate:
    """The multipliers for each value of the free number, the eigenvalue of the clusters."""

    def __init__(self, relaxation: Relaxation, colours: NDArray[np.intp]) -> None:
        self.relaxation = relaxation
        k = int(colours.max()) + 1
        weight = np.bincount(colours, relaxation.weight, minlength=k)
        self.colours = colours
        self.indicator = np.zeros((relaxation.size, k))
        self.indicator[np.arange(colours.size), colours] = np.sqrt(
            relaxation.weight / weight[colours]
        )
        self.share = np.sqrt(weight / weight.sum())
        sums = self.indicator.T @ relaxation.factor
        self.image = relaxation.factor @ sums.T
        if relaxation.terms is not None:
            self.image -= relaxation.terms.cost @ self.indicator
        rest = relaxation.factor - self.indicator @ sums
        self.scale = float(np.linalg.norm(rest, 2)) ** 2

    def slack(self, t: float) -> Floats:
        colours, v, u = self.colours, self.indicator, self.relaxation.unit
        own = self.image[np.arange(colours.size), colours]
        level = (t - np.einsum("ia,ia->a", v, self.image)) / (2 * self.share)
        y = (t * v.max(axis=1) - own - u * level[colours]) / self.share[colours]
        needed = -self.image - np.outer(u, level) - np.outer(y, self.share)
        # needed[i, b]: what row i of the block (cluster of i, b) applied to v_b must be.
        needed[np.arange(colours.size), colours] = 0.0
        needed = np.maximum(needed, 0.0)
        mass = v.T @ needed
        mass = np.sqrt(mass * mass.T)
        left = needed[:, colours]  # left[i, j] = needed[i, colour of j]
        block = mass[np.ix_(colours, colours)]
        return np.divide(left * left.T, block, out=np.zeros_like(left), where=block > 0)

    def value(self, t: float) -> float:
        return self.relaxation.value(self.slack(t), 1.0)
