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

Boxes
-----
That phi <= s everywhere is shown by boxes: one around all points (from outside of it, moving to
the nearest place in it brings y nearer to every point), split until the bound of each is at most
s. In a box, f with least < 0 < most has max(0, f) <= t (f - least), t = most / (most - least): the
right side is linear in f, not negative at ``least``, and ``most`` at ``most``. In the same way
max(f, g) = g + max(0, f - g) for two groups of a unit. All that is added up are quadratics
c + 2 b'y - a |y|^2 with a >= 0, whose largest value in a box is known coordinate by coordinate.

Rounding
--------
- axes are turned by a matrix that is orthogonal up to d, which moves the points by d times their
  distance from the origin, and a bound on what that costs is in ``groups.py``;
- with m groups in a box, no point or corner farther than r from the origin, each of the few
  operations on a group is off by less than g times p_i + w_i r^2, and the sums by g(m) of that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe.exceptions import CertificateError
from kempe.proof.checking.facts import Facts
from kempe.proof.checking.groups import Groups
from kempe.proof.checking.rounding import TINY, Floats, gamma, power, require, sum_of_squares
from kempe.proof.nodes import Prices

Numbers = NDArray[np.intp]

# More boxes or more cases of hubs than that are refused: whoever made them could have made fewer.
MOST_BOXES, MOST_HUBS = 2_000_000, 32
# Operations on a group in a box, and how large their operands are next to p_i + w_i r^2, at most.
OPERATIONS, OPERANDS = 200, 64


def price_bound(prices: Prices, facts: Facts, groups: Groups) -> float:
    """Bound a node by the theorem."""
    problem, n = groups.problem, groups.n
    unit = power(prices.scale) - problem.unit
    own, most = np.ldexp(prices.prices, unit), float(np.ldexp(prices.most, unit))
    require(own.shape == (n,) and bool(np.isfinite(own).all()), f"{own.shape} prices of {n} groups")
    require(math.isfinite(most) and most >= 0, "what a cluster can take is no number from 0 on")
    require(bool((abs(own) < 1 / TINY).all()) and most < 1 / TINY, "prices are too large")
    points, turned = _turned(groups)
    units = _units(prices, facts, groups)
    _Cover(points, groups.about.weights, own, units, _hubs(prices, facts, groups), most).prove()
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
        [groups.index.get(other, -1) for other in facts.apart.get(names[hub], ())] for hub in hubs
    )
    lists = (np.array(sorted(others), dtype=np.intp) for others in apart)
    return [(hub, others[others >= 0]) for hub, others in zip(hubs, lists, strict=True)]


@dataclass
class _Sum:
    """A sum of quadratics c + 2 b'y - a |y|^2, and how large its terms are."""

    a: float
    b: Floats
    c: float
    terms: int = 0
    prices: float = 0.0
    weight: float = 0.0
    radius: float = 0.0

    def most(self, low: Floats, high: Floats, depth: int) -> float:
        """Bound its values in a box."""
        y = np.clip(self.b / self.a, low, high) if self.a > 0 else np.where(self.b > 0, high, low)
        value = self.c + float(((2 * self.b - self.a * y) * y).sum())
        radius = max(self.radius, float((np.maximum(abs(low), abs(high)) ** 2).sum()))
        off = gamma(self.terms + depth + 8 * low.size + OPERATIONS)
        return value + off * OPERANDS * (self.prices + self.weight * radius) + TINY


@dataclass
class _Box:
    low: Floats
    high: Floats
    sure: _Sum
    single: Numbers
    shared: Numbers
    depth: int = 0


class _Cover:
    """Boxes over the positions of a centre."""

    def __init__(
        self,
        points: Floats,
        weights: Floats,
        prices: Floats,
        units: Numbers,
        hubs: list[tuple[int, Numbers]],
        most: float,
    ) -> None:
        self.x, self.w, self.p, self.units, self.most = points, weights, prices, units, most
        self.squares = np.einsum("ij,ij->i", points, points)
        self.linear = weights[:, None] * points
        self.constant = prices - weights * self.squares
        self.hub = np.full(weights.size, -1)
        self.apart = np.zeros((len(hubs), weights.size), dtype=bool)
        for number, (hub, others) in enumerate(hubs):
            self.hub[hub] = number
            self.apart[number, others] = True

    def prove(self) -> None:
        """Split boxes until each is done."""
        paying = np.flatnonzero(self.p > 0)
        if not paying.size:
            return
        paying = paying[np.argsort(self.units[paying], kind="stable")]
        several = np.bincount(self.units[paying])[self.units[paying]] > 1
        corner = self.x[paying].min(axis=0), self.x[paying].max(axis=0)
        empty = _Sum(0.0, np.zeros(self.x.shape[1]), 0.0)
        waiting = [_Box(*corner, empty, paying[~several], paying[several])]
        for _ in range(MOST_BOXES):
            if not waiting:
                return
            waiting += self._look(waiting.pop())
        raise CertificateError("the proof by boxes is too long")

    def _look(self, box: _Box) -> list[_Box]:
        """Give nothing if the bound of a box is low enough, else what it is split into."""
        single, shared, total, scores = self._bounded(box)
        if total.most(box.low, box.high, box.depth) <= self.most:
            return []
        box = _Box(box.low, box.high, box.sure, single, shared, box.depth + 1)
        if self.apart.size:
            both = np.concatenate([single, shared])
            hubs = both[self.hub[both] >= 0]
            for hub in hubs[self.apart[self.hub[hubs]][:, both].any(axis=1)][:1]:
                return self._cases(box, int(hub))
        wide = np.flatnonzero(box.high > box.low)
        require(bool(wide.size and box.depth < 1000), "a cluster can take more than is claimed")
        across = wide[scores[wide].argmax()]
        low, high = box.low.copy(), box.high.copy()
        low[across] = high[across] = (box.low[across] + box.high[across]) / 2
        return [
            _Box(box.low, high, box.sure, single, shared, box.depth),
            _Box(low, box.high, box.sure, single, shared, box.depth),
        ]

    def _cases(self, box: _Box, hub: int) -> list[_Box]:
        """Without a hub, and with it for sure."""
        single, shared = (numbers[numbers != hub] for numbers in (box.single, box.shared))
        free = ~self.apart[self.hub[hub]]
        sure = self._more(box.sure, np.array([hub]), np.ones(1), np.zeros(1))
        return [
            _Box(box.low, box.high, box.sure, single, shared, box.depth),
            _Box(box.low, box.high, sure, single[free[single]], shared[free[shared]], box.depth),
        ]

    def _more(self, total: _Sum, chosen: Numbers, share: Floats, less: Floats) -> _Sum:
        """Add share (f - less) of some groups."""
        return _Sum(
            total.a + float(share @ self.w[chosen]),
            total.b + share @ self.linear[chosen],
            total.c + float((share * (self.constant[chosen] - less)).sum()),
            *self._sizes(total, chosen),
        )

    def _sizes(self, total: _Sum, chosen: Numbers) -> tuple[int, float, float, float]:
        return (
            total.terms + chosen.size,
            total.prices + float(self.p[chosen].sum()),
            total.weight + float(self.w[chosen].sum()),
            max(total.radius, float(self.squares[chosen].max(initial=0.0))),
        )

    def _ranges(self, box: _Box, chosen: Numbers) -> tuple[Numbers, Floats, Floats, Floats]:
        """Those that may pay, their least and most f, and how it changes by coordinate."""
        x = self.x[chosen]
        near = np.maximum(np.maximum(box.low - x, x - box.high), 0) ** 2
        most = self.p[chosen] - self.w[chosen] * near.sum(axis=1)
        pays = most > 0
        chosen, x, near, most = chosen[pays], x[pays], near[pays], most[pays]
        far = np.maximum(x - box.low, box.high - x) ** 2
        w = self.w[chosen]
        return chosen, self.p[chosen] - w * far.sum(axis=1), most, w[:, None] * (far - near)

    def _bounded(self, box: _Box) -> tuple[Numbers, Numbers, _Sum, Floats]:
        """Give those that may pay, a quadratic above all they pay, and where it is too high."""
        chosen, least, most, change = self._ranges(box, box.single)
        sure = (least >= 0) & (self.hub[chosen] < 0)
        box.sure = self._more(box.sure, chosen[sure], np.ones(int(sure.sum())), np.zeros(1))
        single, most, least = chosen[~sure], most[~sure], np.minimum(least[~sure], 0)
        share = most / (most - least)
        total = self._more(box.sure, single, share, least)
        scores = (share * -least / (most - least)) @ change[~sure]
        shared, _, _, change = self._ranges(box, box.shared)
        if shared.size:
            total = self._with_units(total, shared, box)
            scores = scores + 0.25 * change.sum(axis=0)
        return single, shared, total, scores

    def _with_units(self, total: _Sum, shared: Numbers, box: _Box) -> _Sum:
        """Add what units pay: their members, sorted by unit, are taken in one after the other."""
        starts = np.flatnonzero(np.diff(self.units[shared], prepend=-1))
        sizes = np.diff(starts, append=shared.size)
        first = shared[starts]
        a, b, c = self.w[first], self.linear[first], self.constant[first]
        for rank in range(1, int(sizes.max())):
            own = np.flatnonzero(sizes > rank)
            other = shared[starts[own] + rank]
            da, db = self.w[other] - a[own], self.linear[other] - b[own]
            dc = self.constant[other] - c[own]
            share, least = _chord(*_extremes(da, db, dc, box))
            a[own] += share * da
            b[own] += share[:, None] * db
            c[own] += share * (dc - least)
        share, least = _chord(*_extremes(a, b, c, box))
        return _Sum(
            total.a + float(share @ a),
            total.b + share @ b,
            total.c + float((share * (c - least)).sum()),
            *self._sizes(total, shared),
        )


def _chord(least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Share t and least of a chord t (f - least) above max(0, f)."""
    least = np.minimum(least, 0)
    most = np.maximum(most, 0)
    width = most - least
    return np.divide(most, width, out=np.zeros_like(most), where=width > 0), least * (most > 0)


def _extremes(a: Floats, b: Floats, c: Floats, box: _Box) -> tuple[Floats, Floats]:
    """Least and largest values of quadratics c + 2 b'y - a |y|^2 in a box."""
    turn = np.divide(b, a[:, None], out=np.zeros_like(b), where=a[:, None] != 0)
    inside = (turn > box.low) & (turn < box.high) & (a[:, None] != 0)
    turn = np.where(inside, turn, box.low)
    values = [(2 * b - a[:, None] * y) * y for y in (box.low, box.high, turn)]
    least = np.minimum(np.minimum(values[0], values[1]), values[2])
    most = np.maximum(np.maximum(values[0], values[1]), values[2])
    return c + least.sum(axis=1), c + most.sum(axis=1)
