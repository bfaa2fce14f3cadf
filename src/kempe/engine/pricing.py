"""What breaking a soft pair costs: Gaussian log-odds in the effective dimension of the clusters.

If clusters are Gaussian with covariance S and a pair is right with probability p, the most probable
clustering minimises the inertia plus ``2 s2 logit(p)`` for each broken pair, where
``s2 = tr(S^2) / tr(S)`` is the variance of a cluster along one of its effective dimensions. Both p,
where nobody says, and s2 are taken from the clustering itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kempe.engine.sequential import SequentialDescent
from kempe.problem import Colours, Problem
from kempe.search.descent import Budget, Context
from kempe.soft_pairs import PairPrice, SoftLinks, SoftPairs

# How often pairs are wrong is seen from a clustering that hardly breaks any: at the last of these
# prices, each reached from the one before, in units of the mean inertia of a row.
STIFF = (2.0, 8.0, 32.0)
# The estimate begins with so many pairs, of which so many are wrong.
PRIOR_PAIRS, PRIOR_WRONG = 50.0, 0.1
# More than this is not believed: then pairs would say nothing.
MOST_NOISE = 0.49

# The variance has settled when it changes by less than this share; so many rounds are the most.
SETTLED = 1e-3
MOST_ROUNDS = 30

# On the way, centroids are relocated so many times at most, and so many times in vain.
RELOCATIONS = Budget(tries=100, most_failures=20)

# The covariance is that of so many rows at most; of so many where the time is up.
MOST_ROWS_OF_COVARIANCE = 20_000
FEW_ROWS_OF_COVARIANCE = 500


# Of a clustering, by so many rows at most.
Variance = Callable[[Problem, Colours, np.random.Generator, int], float]


@dataclass(frozen=True)
class Pricing:
    """How soft pairs get their prices.

    Attributes
    ----------
    confidence
        Probability that a pair is right which does not say so itself; ``None``: estimated.
    price
        A plain price of every pair instead; ``None``: none.
    variance
        Gives the variance within the clusters of a problem; other rows than those of the problem
        may be looked at.
    """

    confidence: float | None = None
    price: float | None = None
    variance: Variance | None = None

    def __post_init__(self) -> None:
        if self.confidence is not None and not 0.5 < self.confidence < 1:
            raise ValueError(
                f"confidence must be above one half and below one, got {self.confidence!r}"
            )
        if self.price is not None and not 0 < self.price < math.inf:
            raise ValueError(f"soft_price must be positive and finite, got {self.price!r}")

    def settle(self, context: Context, colours: Colours) -> Priced:
        """Find the prices of the soft pairs of a problem, and a clustering at these prices.

        Parameters
        ----------
        context
            The problem, some randomness, and when to stop.
        colours
            A clustering to go on from.
        """
        priced = self._priced(context, _improved(context, colours))
        labels = priced.problem.labels(priced.colours)
        return replace(priced, problem=priced.problem.counting_all(priced.pair_price, labels))

    def for_new_rows(self, of_fit: PairPrice | None, soft: SoftLinks, *, plain: bool) -> PairPrice:
        """Give what breaking a pair costs of rows that came after a fit, where nothing is found.

        Parameters
        ----------
        of_fit
            What a pair cost in the fit; ``None`` if there were no soft pairs.
        soft
            The pairs.
        plain
            Whether that was a plain price.
        """
        told = ~np.isnan(soft.stacked()[2])
        if self.price is not None:
            of_fit, plain = PairPrice(self.price, 1.0), True
        if of_fit is None:
            raise ValueError(
                "the model was fitted without soft pairs, so it does not know what breaking one "
                "costs: give a soft_price, or fit all rows again, from these labels"
            )
        if plain and (told.any() or self.confidence is not None):
            raise ValueError(
                "soft pairs have confidences, and soft_price is the price of all: give one of them"
            )
        if self.confidence is not None:
            return replace(of_fit, assumed=_logit(self.confidence))
        if not (of_fit.assumed or told.all()):
            raise ValueError(
                f"soft pairs do not say how sure they are ({np.count_nonzero(~told)} of "
                f"{told.size}), and all of the fit did: give a confidence, or a soft_price"
            )
        return of_fit

    def _priced(self, context: Context, colours: Colours) -> Priced:
        soft = soft_of(context.problem)
        if self.price is not None:
            if not math.isfinite(4 * self.price * (np.abs(soft.strength(1.0)).sum() + soft.broken)):
                raise ValueError(f"soft_price of {self.price:g} would overflow: give a lower one")
            return _at(context, colours, PairPrice(self.price, 1.0))
        noise = None
        assumed = 0.0
        if self.confidence is not None:
            assumed = _logit(self.confidence)
        elif soft.votes.any():
            noise, colours = _noise(context, colours)
            assumed = _logit(1 - noise)
        variance = self.variance or effective_variance
        return replace(_settled(context, colours, assumed, variance), noise=noise)


def price_by(problem: Problem, colours: Colours, rng: np.random.Generator) -> PairPrice:
    """Give the price of pairs that a clustering suggests: by its variance and what it breaks.

    Parameters
    ----------
    problem
        With soft pairs.
    colours
        The clustering.
    rng
        Draws rows for the covariance where there are many.
    """
    soft = soft_of(problem)
    noise = _share_broken(soft, colours) if soft.votes.any() else 0.25
    return PairPrice(2 * effective_variance(problem, colours, rng), _logit(1 - noise))


@dataclass(frozen=True, eq=False)
class Priced:
    """A problem whose soft pairs have prices.

    Attributes
    ----------
    problem
        The problem.
    colours
        A clustering of it.
    pair_price
        What a pair of rows costs.
    noise
        Estimated share of pairs that are wrong; ``None`` where it was not estimated.
    """

    problem: Problem
    colours: Colours
    pair_price: PairPrice
    noise: float | None = None


def soft_of(problem: Problem) -> SoftPairs:
    """Give the soft pairs of a problem that has some."""
    assert problem.soft is not None
    return problem.soft


def _logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def _improved(context: Context, colours: Colours) -> Colours:
    """Go down, and relocate centroids as long as that helps."""
    descent = SequentialDescent()
    colours = descent.descend(context, colours)
    for improved, _ in descent.improve(context, colours, RELOCATIONS):
        colours = improved
    return colours


def _noise(context: Context, colours: Colours) -> tuple[float, Colours]:
    """Estimate the share of wrong pairs by a clustering that hardly breaks any."""
    problem, soft = context.problem, soft_of(context.problem)
    unit = problem.inertia(colours) / problem.weight.sum()
    for factor in STIFF:
        if context.stopper.look():
            break
        stiff = replace(context, problem=problem.priced(factor * unit * soft.votes))
        colours = _improved(stiff, colours)
    return _share_broken(soft, colours), colours


def _share_broken(soft: SoftPairs, colours: Colours) -> float:
    """Share of the pairs that a clustering breaks, of those that do not say how sure they are."""
    broken = soft.broken + float(np.abs(soft.votes[soft.violated(soft.votes, colours)]).sum())
    total = soft.broken + soft.kept + float(np.abs(soft.votes).sum())
    return min((broken + PRIOR_WRONG) / (total + PRIOR_PAIRS), MOST_NOISE)


def _settled(context: Context, colours: Colours, assumed: float, variance_of: Variance) -> Priced:
    """Let the variance follow the clustering, and the clustering the prices that come of it."""
    problem = context.problem
    # Of many features it takes long, and nothing that comes after it will look for better clusters.
    most = FEW_ROWS_OF_COVARIANCE if context.stopper.look() else MOST_ROWS_OF_COVARIANCE
    variance = variance_of(problem, colours, context.rng, most)
    priced = _at(context, colours, PairPrice(2 * variance, assumed))
    for _ in range(MOST_ROUNDS):
        if context.stopper.look():
            break
        before, variance = variance, variance_of(problem, priced.colours, context.rng, most)
        if abs(variance - before) <= SETTLED * before or context.stopper.look():
            break
        priced = _at(context, priced.colours, PairPrice(2 * variance, assumed))
    return priced


def _at(context: Context, colours: Colours, price: PairPrice) -> Priced:
    problem = context.problem.priced(price.of_supernodes(soft_of(context.problem)))
    return Priced(problem, _improved(replace(context, problem=problem), colours), price)


def effective_variance(
    problem: Problem,
    colours: Colours,
    rng: np.random.Generator,
    most_rows: int = MOST_ROWS_OF_COVARIANCE,
) -> float:
    """Variance of rows within clusters along one effective dimension: tr(S^2) / tr(S)."""
    rows = np.arange(problem.n_rows)
    if rows.size > most_rows:
        rows = np.sort(rng.choice(rows, most_rows, replace=False))
    centroids, _ = problem.means(colours)
    weight = np.ones(rows.size) if problem.row_weight is None else problem.row_weight[rows]
    about = problem.rows[rows].astype(np.float64) - centroids[colours[problem.supernode[rows]]]
    return variance_of_one_dimension(about, weight)


def variance_of_one_dimension(about: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Variance along one effective dimension, of rows from which their means were subtracted."""
    about = about * np.sqrt(weight / weight.sum())[:, None]
    inner = about.T @ about if about.shape[1] <= about.shape[0] else about @ about.T
    trace = float(np.trace(inner))
    # Divided first: squares of squares would leave the range of doubles before the data does.
    return float(((inner / trace) ** 2).sum()) * trace if trace > 0 else 0.0
