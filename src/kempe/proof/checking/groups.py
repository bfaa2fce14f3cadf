"""Groups of rows as weighted points. Lengths and weights are scaled by powers of two: exactly.

Rounding
--------
The checker's floating-point numbers are the exact data of a nearby problem: with g(m) =
:func:`gamma`, and m rows in the largest group,

- group weights, rounded, are those of rows whose weights are off by a factor of 1 + g(m) at most;
  the inertia grows with each weight, so the optimum is off by no more than that factor;
- the root of an inertia is the distance of the data (as a vector) to a space, so moving the data
  by e moves the root of the optimum by e at most; means and differences, rounded, are moved by
  g(m + 8) times their norms at most (Cauchy and Schwarz);
- lengths are scaled by powers of two to be near 1, so that nothing underflows that matters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe.proof.checking.facts import Facts, Rows
from kempe.proof.checking.rounding import (
    LIGHTEST,
    TINY,
    Floats,
    exponent_of,
    gamma,
    require,
    rescaled,
    sum_of_squares,
)


class Problem:
    """The rows of positive weight, k, and what the labels cost in the user's unit."""

    def __init__(self, X: Floats, weights: Floats, k: int, upper: float) -> None:
        self.k, self.upper = k, upper
        self.all_weights = weights
        self.rows = np.flatnonzero(weights)
        X, weights = X[self.rows], weights[self.rows]
        self.mass = exponent_of(weights)
        self.weights = np.ldexp(weights, -self.mass)
        shift = self.weights @ X / max(self.weights.sum(), 0.5)
        length = exponent_of(X - shift)
        self.points, self.shift = np.ldexp(X, -length), np.ldexp(shift, -length)
        self.unit = 2 * length + self.mass
        exact = (np.ldexp(self.points, length) == X).all() and (self.weights >= LIGHTEST).all()
        finite = np.isfinite(self.points - self.shift).all()
        require(bool(exact and finite), "data or weights span more than doubles can")

    def groups(self, facts: Facts) -> Groups:
        """Sum up the groups of positive weight, in the order of their smallest rows."""
        numbers, of = np.unique(facts.group[self.rows], return_inverse=True)
        about = Spread.of(self.points, self.weights, of)
        anchors = self.points[about.anchors] - self.shift
        roots = np.sqrt(about.weights)[:, None]
        moved = about.error + about.rounding * math.sqrt(sum_of_squares(roots * anchors))
        index = {int(number): position for position, number in enumerate(numbers)}
        return Groups(self, index, roots * (anchors + about.means), about, moved)


@dataclass(frozen=True)
class Spread:
    """Rows about the means of their groups, and what rounding does to them.

    Means are relative to one row of the group, its anchor: equal rows differ by exactly zero.
    ``rounding`` is relative; ``error`` bounds how far the rows less their means are moved.
    """

    weights: Floats
    anchors: Rows
    means: Floats
    squares: float
    rounding: float
    error: float

    @classmethod
    def of(cls, points: Floats, weights: Floats, groups: Rows) -> Spread:
        """Sum up the rows of each group; groups are numbered from 0."""
        anchors = np.unique(groups, return_index=True)[1]
        total = np.bincount(groups, weights).astype(np.float64)
        spread = points - points[anchors[groups]]
        shape = (total.size, groups.size)
        sums = sparse.csr_array((weights, (groups, np.arange(groups.size))), shape=shape) @ spread
        means = np.asarray(sums) / total[:, None]
        rounding = gamma(int(np.bincount(groups).max(initial=0)) + points.shape[1] + 16)
        error = rounding * math.sqrt(sum_of_squares(spread, weights)) + TINY * spread.any()
        return cls(
            total, anchors, means, sum_of_squares(spread - means[groups], weights), rounding, error
        )


@dataclass(frozen=True)
class Groups:
    """Groups of positive weight by their smallest rows, their points F and what is inside them.

    ``moved`` bounds how far rounding moves F.
    """

    problem: Problem
    index: dict[int, int]
    F: Floats
    about: Spread
    moved: float

    @property
    def n(self) -> int:
        """Number of groups."""
        return len(self.index)

    def inertia_at_least(self, between: float | None = None, further: float = 0.0) -> float:
        """Inertia of partitions that add at least so much, or of the groups as clusters.

        ``further`` bounds how far rounding has moved the points since.
        """
        added, moved = (0.0, 0.0) if between is None else (max(between, 0.0), self.moved + further)
        squares = (self.about.squares + added) * (1 - self.about.rounding)
        root = max(math.sqrt(squares) - self.about.error - moved, 0.0)
        return rescaled(root**2 * (1 - self.about.rounding), self.problem.unit, 0.0)

    def apart(self, facts: Facts) -> NDArray[np.bool_]:
        """Which groups are apart."""
        apart = np.zeros((self.n, self.n), dtype=bool)
        for number, position in self.index.items():
            others = facts.apart_from(number)
            apart[position, [self.index[other] for other in others if other in self.index]] = True
        return apart


def inertia_at_most(X: Floats, weights: Floats, labels: NDArray[Any]) -> float:
    """Inertia of the labels, rounded up."""
    problem = Problem(X, weights, 0, math.inf)
    used = np.unique(labels[problem.rows], return_inverse=True)[1]
    about = Spread.of(problem.points, problem.weights, used)
    root = math.sqrt(about.squares * (1 + about.rounding)) + about.error
    value = rescaled(root**2 * (1 + about.rounding), problem.unit, math.inf) if root else 0.0
    require(math.isfinite(value), "the inertia of the labels is too large for a double")
    return value
