"""Prices of groups that make the bound of the set-partition program large.

A clustering is a choice of k sets that cover every group once. Its dual gives every group a price:
if no set is worth more than sigma, its prices less its cost, then no clustering costs less than
the sum of all prices less k sigma. Sets are found where their centre is: at a position y a group
pays what its price exceeds its cost there by, and the sum of that, phi, is climbed by mean shift.

What is found here is a promise; ``cover`` proves that no position was missed, by boxes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.proof.bundle import LEAST_SHARE, Bundle
from kempe.proof.price_rules import Rules

Floats = NDArray[np.float64]

# Steps of a climb; it ends before that where the members no longer change.
CLIMB = 40
# Positions from which each step of the ascent climbs, besides the centres of sets with a share.
DEAR_TRIED, ROWS_TRIED, BETWEEN_TRIED, CENTRES_TRIED = 24, 12, 8, 60
# Of the increase that the model predicts, what a step must keep, and what makes steps longer.
SERIOUS, GOOD = 0.1, 0.5
LONGER, SHORTER = 2.0, 0.6
# The first step: prices of groups that are not covered change by this share.
FIRST_STEP = 0.1
# Null steps in a row after which steps become shorter.
PATIENCE = 4
# Steps between two choices of pairs.
RULES_EVERY = 12
# Scales of the first prices, of which the best is taken.
POWERS = range(-5, 3)
# Relative: so many predictions of less, each for a longer step, end the ascent.
LEAST_RISE, STALLS = 1e-7, 4


@dataclass(frozen=True, eq=False)
class PricedProblem:
    """Groups as points in principal axes, with pairs that are apart.

    Attributes
    ----------
    points, weight
        Means and weights of the groups.
    edges
        Pairs of groups that are apart.
    n_clusters
        Number of clusters, k.
    colours
        Cluster of each group in the labels.
    """

    points: Floats
    weight: Floats
    edges: NDArray[np.int32]
    n_clusters: int
    colours: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        means: Floats,
        weight: Floats,
        edges: NDArray[np.int32],
        n_clusters: int,
        colours: NDArray[np.int32],
    ) -> PricedProblem:
        """Turn the groups into their principal axes."""
        centred = means - weight @ means / weight.sum()
        _, axes = np.linalg.eigh(centred.T @ (weight[:, None] * centred))
        return cls(
            np.ascontiguousarray(centred @ axes[:, ::-1]), weight, edges, n_clusters, colours
        )

    def centres(self) -> Floats:
        """Means of the clusters of the labels."""
        used, of = np.unique(self.colours, return_inverse=True)
        sums = np.zeros((used.size, self.points.shape[1]))
        np.add.at(sums, of, self.weight[:, None] * self.points)
        return np.asarray(sums / np.bincount(of, self.weight)[:, None])


class PriceAscent:
    """Raises the bound step by step.

    Parameters
    ----------
    problem
        The groups.
    threads
        Threads of the kernels.
    rng
        Randomness of the positions that are tried.
    stopper
        Ends climbs early.
    """

    def __init__(
        self,
        problem: PricedProblem,
        threads: int,
        rng: np.random.Generator,
        stopper: _core.Stopper,
    ) -> None:
        self.problem = problem
        self.pricing = _core.Pricing(problem.points, problem.weight, threads)
        self.rules = Rules.none(problem.weight.size)
        self._rng = rng
        self._stopper = stopper
        self._labelled = problem.centres()
        self._bundle = Bundle(problem.weight, problem.n_clusters, problem.points.shape[1])
        self.prices = self._started()
        self._t = FIRST_STEP
        self._measure()
        self._failures = 0
        self._steps = 0
        self._stalls = 0

    @property
    def sigma(self) -> float:
        """The most that any known set is worth."""
        return max(float(self._bundle.values(self.prices).max(initial=0.0)), 0.0)

    @property
    def bound(self) -> float:
        """The bound, if no set is missing."""
        return float(self.prices.sum()) - self.problem.n_clusters * self.sigma

    def _started(self) -> Floats:
        """Prices that the labels suggest.

        A group costs its own cluster ``own`` and the second-best ``own + more``. With a price of
        own + more / 2 it pays to its own and, if it were alone, to no other; what it pays above its
        cost is cut off at some multiple of its weight, so that every cluster gets the same.
        """
        points, weight = self.problem.points, self.problem.weight
        squares = _squared_distances(points, self._labelled)
        of = np.unique(self.problem.colours, return_inverse=True)[1]
        own = squares[np.arange(of.size), of]
        squares[np.arange(of.size), of] = np.inf
        more = np.maximum(squares.min(axis=1) - own, 0.0) / 2
        more = np.where(np.isfinite(more), more, own)
        whole = np.bincount(of, weight * more)
        best, value = weight * own, -math.inf
        for power in POWERS:
            wanted = min(whole.min(), whole.mean()) * 2.0**power
            prices = weight * (own + _cut(more, weight, of, wanted))
            self._climb(prices, self._starts(prices))
            bound = self._bound_at(prices)
            if bound > value:
                best, value = prices, bound
            if self._stopper.look():
                break
        return best

    def _bound_at(self, prices: Floats) -> float:
        most = max(float(self._bundle.values(prices).max(initial=0.0)), 0.0)
        return float(prices.sum()) - self.problem.n_clusters * most

    def _measure(self) -> None:
        """Let prices move by shares of what they are: a far group's by far more than others'."""
        weight, found = self.problem.weight, self._bundle.centres
        metric = self.prices + weight * (self.prices.sum() / weight.sum())
        self._bundle = Bundle(metric, self.problem.n_clusters, self.problem.points.shape[1])
        self._climb(self.prices, np.concatenate([found, self._starts(self.prices)]))

    def _climb(self, prices: Floats, starts: Floats) -> float:
        """Find sets from some positions; the most that one of them is worth."""
        values, costs, centres, offsets, members = self.pricing.climb(
            prices, np.ascontiguousarray(starts), CLIMB, self._stopper
        )
        self._bundle.add(costs, centres, offsets, members)
        return float(values.max(initial=0.0))

    def meet(self, position: Floats) -> None:
        """Take in the sets about a position at which sigma is exceeded, if there is one."""
        if position.size:
            self._climb(self.prices, position[None])
            self._stalls = 0

    def step(self) -> None:
        """Solve the model, look for sets at its prices, and move there if that pays."""
        if self._steps % RULES_EVERY == 0 and len(self.problem.edges):
            self._choose_rules()
        self._steps += 1
        if not len(self._bundle):  # nobody pays anything anywhere
            self._stalls = STALLS
            return
        now = self.bound
        prices = self._bundle.step(self.prices, self._t)
        predicted = self._bound_at(prices) - now
        if predicted <= LEAST_RISE * abs(now):
            self._stalls += 1
            self._t *= LONGER
            return
        self._stalls = 0
        self._climb(prices, self._starts(prices))
        gained = self._bound_at(prices) - now
        self._bundle.shrink(prices)
        if gained >= SERIOUS * predicted:
            self.prices, self._failures = prices, 0
            self._t *= LONGER if gained >= GOOD * predicted else 1.0
        else:
            self._failures += 1
            if self._failures % PATIENCE == 0:
                self._t *= SHORTER

    def _starts(self, prices: Floats) -> Floats:
        """Where the bound may be attained: centres, groups that pay, points between centres."""
        shared = np.flatnonzero(self._bundle.shares > LEAST_SHARE)
        largest = shared[np.argsort(-self._bundle.shares[shared], kind="stable")][:CENTRES_TRIED]
        centres = np.concatenate([self._bundle.centres[largest], self._labelled])
        a, b = self._rng.integers(len(centres), size=(2, BETWEEN_TRIED))
        between = (centres[a] + centres[b]) / 2
        return np.concatenate([centres, self.problem.points[self._rows(prices)], between])

    def _rows(self, prices: Floats) -> NDArray[np.intp]:
        """Choose groups to climb from: the dearest, far from others, are sets of their own."""
        n_dear = min(DEAR_TRIED, prices.size)
        dear = np.argpartition(-prices, n_dear - 1)[:n_dear]
        return np.concatenate([dear, self._rng.integers(prices.size, size=ROWS_TRIED)])

    def _choose_rules(self) -> None:
        """Choose the pairs that save most where sets with a share have their centres."""
        bundle, edges = self._bundle, self.problem.edges
        if not (bundle.shares > LEAST_SHARE).any():
            centres, shares = self._labelled, np.ones(len(self._labelled))
        else:
            chosen = bundle.shares > LEAST_SHARE
            centres, shares = bundle.centres[chosen], bundle.shares[chosen]
        ends, inverse = np.unique(edges, return_inverse=True)
        squares = _squared_distances(self.problem.points[ends], centres)
        pays = self.prices[ends, None] - self.problem.weight[ends, None] * squares
        pair = inverse.reshape(edges.shape)
        savings = np.zeros(len(edges))
        for number, share in enumerate(shares):
            least = np.minimum(pays[pair[:, 0], number], pays[pair[:, 1], number])
            savings += share * np.maximum(least, 0.0)
        rules = Rules.of(self.problem.weight.size, edges, savings)
        same = np.array_equal(rules.unit, self.rules.unit)
        if same and np.array_equal(rules.hubs, self.rules.hubs):
            return
        self.rules = rules
        self.pricing.arrange(rules.unit, rules.hubs, rules.offsets, rules.neighbours)
        positions = np.concatenate([bundle.centres, self._labelled])
        bundle.clear()
        self._climb(self.prices, positions)

    def has_stalled(self) -> bool:
        """Whether the model predicts next to nothing, however far the steps."""
        return self._stalls >= STALLS


def _squared_distances(points: Floats, centres: Floats) -> Floats:
    squares = np.zeros((len(points), len(centres)))
    for number, centre in enumerate(centres):
        difference = points - centre
        squares[:, number] = np.einsum("ij,ij->i", difference, difference)
    return squares


def _cut(more: Floats, weight: Floats, of: NDArray[np.intp], wanted: float) -> Floats:
    """Cut off what groups give, so that the weighted sum of every cluster is at most so much."""
    low, high = np.zeros(of.max() + 1), np.full(of.max() + 1, more.max())
    for _ in range(40):  # halves the interval
        middle = (low + high) / 2
        given = np.bincount(of, weight * np.minimum(more, middle[of]))
        low, high = np.where(given < wanted, middle, low), np.where(given < wanted, high, middle)
    return np.minimum(more, high[of])
