"""The semidefinite relaxation at a node: its matrices, and the bound that multipliers prove.

A partition of groups with weights w and means x is the matrix Y with sqrt(w_i w_j) / W_C where i
and j are both in cluster C, and 0 elsewhere. With F_i = sqrt(w_i) x_i, G = F F' and
u = sqrt(w / sum w), its inertia is the sum of squares of all rows less <G, Y>. For every
symmetric S that is non-negative where groups may be together, and cuts <A_t, Y> <= 0 with
multipliers mu, let M = G + S - sum mu_t A_t. By the theorem of Ky Fan no partition into k clusters
has <G, Y> above u'Mu plus the k - 1 largest eigenvalues of P M P, P = I - u u'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh, norm

from kempe.proof.facts import Facts
from kempe.proof.terms import DiagonalLimits, Terms

# Above this size, and so many times the number of clusters, the largest eigenvalues are computed by
# Lanczos iterations; of many that lie close together all of them come sooner.
DENSE_UP_TO, DENSE_PER_CLUSTER = 1200, 150
# Seconds that all eigenvalues take on one thread, over the cube of the number of groups.
DENSE_SECONDS = 1e-10
# Relative residual of eigenvectors; the error of eigenvalues is of its square.
LANCZOS_TOLERANCE = 1e-4
# Next to a weight of 1, smaller ones are lost in single precision.
LIGHT = 2.0**-80

Floats = NDArray[np.float64]
# Of single precision; the stubs of numpy widen whatever is multiplied by a number.
Singles = NDArray[Any]


@dataclass(frozen=True)
class Data:
    """Rows, centred, and their weights, both near 1, so that single precision can be used.

    Attributes
    ----------
    rows, weight
        The user's, divided by powers of two.
    length, mass
        Exponents of these powers.
    """

    rows: Floats
    weight: Floats
    length: int = 0
    mass: int = 0

    @classmethod
    def centred(cls, rows: Floats, weight: Floats) -> Data:
        """Move rows to their weighted mean and scale them."""
        mass = _exponent(weight)
        scaled = np.ldexp(weight, -mass)
        moved = rows - scaled @ rows / scaled.sum()
        length = _exponent(moved)
        return cls(np.ldexp(moved, -length), scaled, length, mass)

    @property
    def unit(self) -> float:
        """Inertia of the user's rows where that of these is 1."""
        return math.ldexp(1.0, 2 * self.length + self.mass)

    @cached_property
    def heavy(self) -> Data:
        """The same without the weights that are too small to compute with.

        The inertia grows with every weight, so whatever bounds it here bounds it there.
        """
        light = self.weight < LIGHT * self.weight.max()
        if not self.weight[light].any():
            return self
        return replace(self, weight=np.where(light, 0.0, self.weight))

    def part(self, rows: NDArray[np.int64]) -> Data:
        """Take some of the rows, in the same unit."""
        return replace(self, rows=self.rows[rows], weight=self.weight[rows])

    @cached_property
    def total(self) -> float:
        """Weighted sum of squares of all rows."""
        return float(self.weight @ np.einsum("ij,ij->i", self.rows, self.rows))

    def sums(self, labels: NDArray[np.integer], size: int) -> tuple[Floats, Floats]:
        """Weight of each part of a partition, and the weighted sum of its rows."""
        member = sparse.csr_array(
            (self.weight, (labels, np.arange(labels.size))), shape=(size, labels.size)
        )
        weight = np.bincount(labels, self.weight, minlength=size).astype(np.float64)
        return weight, np.asarray(member @ self.rows)

    def inertia(self, labels: NDArray[np.integer]) -> float:
        """Sum of weighted squared distances to the means of a partition."""
        weight, total = self.sums(labels, int(labels.max()) + 1)
        mean = np.divide(
            total, weight[:, None], out=np.zeros_like(total), where=weight[:, None] > 0
        )
        return float(self.weight @ ((self.rows - mean[labels]) ** 2).sum(axis=1))


def _exponent(values: Floats) -> int:
    """Exponent of a power of two just above all values."""
    return int(np.frexp(max(values.max(initial=0.0), -values.min(initial=0.0)))[1])


class Relaxation:
    """The matrices of a node. Only groups of positive weight take part.

    Attributes
    ----------
    active
        The groups that take part, by their number in the facts.
    weight
        Their weights.
    factor
        F, of which F F' is the Gram matrix.
    unit
        u, which every feasible Y maps to itself.
    cannot
        Which of them are apart.
    total
        Weighted sum of squares of all rows.
    terms
        What limits on sizes and soft pairs add; ``None`` where there are neither.
    """

    def __init__(
        self, data: Data, facts: Facts, n_clusters: int, terms: Terms | None = None
    ) -> None:
        weight, total = data.sums(facts.group, facts.n_groups)
        self.facts = facts
        self.n_clusters = n_clusters
        self.active = np.flatnonzero(weight > 0)
        self.weight = weight[self.active]
        self.factor = total[self.active] / np.sqrt(self.weight)[:, None]
        self.unit = np.sqrt(self.weight / self.weight.sum())
        self.terms = terms.at(facts, self.active, self.weight) if terms else None
        cannot = self.terms.cannot if self.terms else facts.cannot[np.ix_(self.active, self.active)]
        self.cannot = np.ascontiguousarray(cannot)
        self.total = data.total

    @property
    def size(self) -> int:
        """Number of groups that take part."""
        return int(self.active.size)

    @property
    def within(self) -> float:
        """Inertia of the groups as clusters, and what every clustering pays for soft pairs."""
        return self.total - float((self.factor**2).sum()) + self.fixed

    @property
    def limits(self) -> DiagonalLimits | None:
        """Limits of the diagonal of Y, if there are any."""
        return self.terms.limits if self.terms else None

    @property
    def fixed(self) -> float:
        """What every clustering pays for soft pairs."""
        return self.terms.fixed if self.terms else 0.0

    @property
    def prices(self) -> float:
        """Sum of the prices of all soft pairs."""
        return self.terms.prices if self.terms else 0.0

    @cached_property
    def magnitude(self) -> float:
        """Sum of squares of all rows, and how large the matrix of costs is."""
        return self.total + (float(norm(self.terms.cost)) if self.terms else 0.0)

    @property
    def first_row(self) -> NDArray[np.intp]:
        """Smallest row of each group that takes part."""
        return self.facts.first_row[self.active]

    @cached_property
    def position(self) -> NDArray[np.int32]:
        """Where a group of the facts is among those that take part; -1 if it is not."""
        position = np.full(self.facts.n_groups, -1, dtype=np.int32)
        position[self.active] = np.arange(self.size, dtype=np.int32)
        return position

    @cached_property
    def gram(self) -> Floats:
        """The matrix G, less what undecided soft pairs cost."""
        gram = self.factor @ self.factor.T
        return gram - self.terms.cost.toarray() if self.terms else gram

    def apply(self, vectors: Floats) -> Floats:
        """Multiply vectors by that matrix."""
        image = self.factor @ (self.factor.T @ vectors)
        return image - self.terms.cost @ vectors if self.terms else image

    def colours(self, labels: NDArray[np.integer]) -> NDArray[np.intp]:
        """Clusters of the groups, from those of the rows, without gaps."""
        of_groups = labels[self.first_row]
        return np.asarray(np.unique(of_groups, return_inverse=True)[1])

    def togetherness(self, Y: Singles) -> Floats:
        """How much two groups are together in Y: 0 or 1 if Y is a clustering."""
        Z = Y / np.sqrt(np.outer(self.weight, self.weight))
        own = np.maximum(Z.diagonal(), np.finfo(np.float32).tiny)
        return 2 * Z / np.add.outer(own, own)

    @property
    def is_dense(self) -> bool:
        """Whether all eigenvalues are computed, so that none can be missed."""
        return self.size <= max(DENSE_UP_TO, DENSE_PER_CLUSTER * self.n_clusters)

    @property
    def exact_seconds(self) -> float:
        """Estimate how long all eigenvalues take."""
        return DENSE_SECONDS * self.size**3

    def value(
        self,
        correction: Singles | Floats,
        scale: float,
        diagonal: Floats | None = None,
        *,
        exactly: bool = False,
    ) -> float:
        """Lower bound on the inertia that M = G + scale * correction proves.

        With limits on sizes, the diagonal of S proves more. Lanczos iterations may miss an
        eigenvalue among others close to it, and then the bound is too high: ``exactly`` never is.
        """
        if self.n_clusters == 1:
            largest = 0.0
        elif self.is_dense or exactly:
            largest = self._largest_dense(correction, scale)
        else:
            largest = self._largest_sparse(correction, scale)
        u = self.unit
        level = float(((u @ self.factor) ** 2).sum() + scale * float(u @ (correction @ u)))
        if self.terms is not None:
            level -= float(u @ (self.terms.cost @ u))
            if self.limits is not None and diagonal is not None:
                level -= self.limits.gain(diagonal)
        return self.total + self.fixed - level - largest

    def _largest_dense(self, correction: Singles | Floats, scale: float) -> float:
        """Sum of the k - 1 largest eigenvalues of P M P."""
        matrix = self.gram + scale * correction
        u = self.unit
        image = matrix @ u
        # u itself must not count, so it is sent to the lower end of the spectrum.
        low = float(u @ image) - float(np.abs(matrix).sum(axis=1).max()) - 1.0
        matrix -= np.outer(u, image) + np.outer(image, u) - low * np.outer(u, u)
        last = self.size - 1
        values = linalg.eigh(
            matrix,
            eigvals_only=True,
            subset_by_index=(last - self.n_clusters + 2, last),
            overwrite_a=True,
            check_finite=False,
        )
        return self._summed(values)

    def _largest_sparse(self, correction: Singles | Floats, scale: float) -> float:
        """Compute the same by Lanczos iterations, which need no copy of the matrix."""
        u = self.unit

        def apply(vector: Floats) -> Floats:
            vector = vector.ravel() - u * (u @ vector.ravel())
            single = vector.astype(correction.dtype)
            image = self.apply(vector) + scale * (correction @ single)
            return np.asarray(image - u * (u @ image))

        operator = LinearOperator((self.size, self.size), matvec=apply, dtype=np.float64)
        values = eigsh(
            operator,
            k=self.n_clusters - 1,
            v0=self._start,
            ncv=min(self.size, 3 * self.n_clusters + 20),
            which="LA",
            tol=LANCZOS_TOLERANCE,
            return_eigenvectors=False,
        )
        return self._summed(values)

    def _summed(self, values: Floats) -> float:
        """Add up eigenvalues; where fewer than k clusters may be best, negative ones count none."""
        return float(np.maximum(values, 0.0).sum() if self.terms else values.sum())

    @cached_property
    def _start(self) -> Floats:
        """A vector to start Lanczos iterations with, always the same."""
        return np.random.default_rng(0).normal(size=self.size)
