"""The bound by prices of groups.

Theorem
-------
Let groups of rows have weights w_i > 0, points x_i and prices p_i. A cluster S with its centre at y
costs sum_S w_i |x_i - y|^2, so its prices less its cost are sum_S f_i(y), f_i(y) = p_i - w_i |x_i -
y|^2. If that is at most s >= 0 for all y and all sets S that can be clusters, then k clusters which
cover every group cost at least

    sum of all p_i - k s.

Let the groups be divided into units, in each of which they are pairwise apart. A cluster has one
group of each at most, so sum_S f_i(y) <= phi(y) = sum over units of max(0, the largest f_i(y)). A
hub h is a case: a cluster with it has none that is apart from h, one without it has no f_h.

That phi <= s everywhere is shown by boxes, see ``boxes.py``.

Rounding
--------
- axes are turned by a matrix that is orthogonal up to d, which moves the points by d times their
  distance from the origin, and a bound on what that costs is in ``groups.py``;
- what boxes take off is in ``boxes.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from kempe.proof.checking.boxes import Cover, Numbers
from kempe.proof.checking.facts import Facts
from kempe.proof.checking.groups import Groups
from kempe.proof.checking.rounding import TINY, Floats, gamma, power, require, sum_of_squares
from kempe.proof.nodes import Prices

# More cases of hubs than that are refused.
MOST_HUBS = 32


def price_bound(
    prices: Prices, facts: Facts, groups: Groups, report: Callable[[float], None]
) -> float:
    """Bound a node by the theorem."""
    problem, n = groups.problem, groups.n
    unit = power(prices.scale) - problem.unit
    own, most = np.ldexp(prices.prices, unit), float(np.ldexp(prices.most, unit))
    require(own.shape == (n,) and bool(np.isfinite(own).all()), f"{own.shape} prices of {n} groups")
    require(math.isfinite(most) and most >= 0, "what a cluster can take is no number from 0 on")
    require(bool((abs(own) < 1 / TINY).all()) and most < 1 / TINY, "prices are too large")
    points, turned = _turned(groups)
    units = _units(prices, facts, groups)
    hubs = _hubs(prices, facts, groups)
    Cover(points, groups.about.weights, own, units, hubs, most).prove(report)
    total = math.fsum([*own.tolist(), *[-most] * problem.k])
    size = math.fsum(abs(own).tolist()) + problem.k * most
    return groups.inertia_at_least(total - gamma(16) * size, turned)


def _turned(groups: Groups) -> tuple[Floats, float]:
    """Points in principal axes, and how far all of them together are moved by rounding."""
    F, dimension = groups.F, groups.F.shape[1]
    axes = np.linalg.eigh(F.T @ F)[1][:, ::-1]
    rounded = gamma(dimension**2 + 32)
    skew = np.linalg.norm(axes.T @ axes - np.eye(dimension)) + dimension * rounded
    require(bool(skew < 0.5), "the axes are not orthogonal")
    points = (F / np.sqrt(groups.about.weights)[:, None]) @ axes
    return points, float(2 * (skew + rounded)) * math.sqrt(sum_of_squares(F))


def _units(prices: Prices, facts: Facts, groups: Groups) -> Numbers:
    """Units by number, after a look at whether their members are apart."""
    names = np.fromiter(groups.index, dtype=np.int64, count=groups.n)
    require(prices.units.shape == (groups.n,), "every group needs a unit")
    units = np.unique(prices.units, return_inverse=True)[1].astype(np.intp)
    order = np.argsort(units, kind="stable")
    sizes = np.bincount(units)
    for members in np.split(order, np.cumsum(sizes)[:-1]):
        if members.size > 1:
            rows = names[members].tolist()
            require(facts.are_clique(rows), f"the groups of rows {rows} in one unit are not apart")
    return units


def _hubs(prices: Prices, facts: Facts, groups: Groups) -> list[tuple[int, Numbers]]:
    """Hubs, each with those that it is apart from."""
    hubs, names = prices.hubs.tolist(), list(groups.index)
    require(len(hubs) <= MOST_HUBS and len(set(hubs)) == len(hubs), "hubs are too many or twice")
    require(all(0 <= hub < groups.n for hub in hubs), "a hub is no group")
    apart = (
        [groups.index.get(other, -1) for other in facts.apart_from(names[hub])] for hub in hubs
    )
    lists = (np.array(sorted(others), dtype=np.intp) for others in apart)
    return [(hub, others[others >= 0]) for hub, others in zip(hubs, lists, strict=True)]
