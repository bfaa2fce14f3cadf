"""That no place takes more than is claimed: boxes over the positions of a centre.

What is to be shown is phi(y) <= s for all y, see ``prices.py``. One box is around all points (from
outside of it, moving to the nearest place in it brings y nearer to every point); boxes are split
until the bound of each is at most s. In a box, f with least < 0 < most has max(0, f) <= t (f -
least), t = most / (most - least): the right side is linear in f, not negative at ``least``, and
``most`` at ``most``. In the same way max(f, g) = g + max(0, f - g) for two groups of a unit. All
that is added up are quadratics c + 2 b'y - a |y|^2 with a >= 0, whose largest value in a box is
known coordinate by coordinate.

Half a box differs from it in one coordinate. So the squared distances of the nearest and farthest
places are updated by what changes there, and the groups that may pay are chosen anew, with all that
is computed of them, only every few levels or where many have ceased to matter.

Rounding
--------
With m groups in a box, no point or corner farther than r from the origin when they were chosen,
each of the few operations on a group is off by less than g times p_i + w_i r^2, and the sums by
g(m) of that. A group is left out only where it does not pay by more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe.exceptions import CertificateError
from kempe.proof.checking.rounding import TINY, Floats, gamma, require

Numbers = NDArray[np.intp]

# More boxes than that are refused: whoever made them could have made fewer.
MOST_BOXES = 2_000_000
# Operations on a group in a box, and how large their operands are next to p_i + w_i r^2, at most.
OPERATIONS, OPERANDS = 200, 64
# Groups are chosen anew after so many levels, of five operations each, or where fewer matter.
LEVELS, STILL_MATTER = 8, 0.75
# Groups by which the coordinate is chosen that is halved.
LOOKED_AT = 512
# Boxes between two reports.
REPORT_EVERY = 256


@dataclass
class _Sum:
    """A sum of quadratics c + 2 b'y - a |y|^2."""

    a: float
    b: Floats
    c: float

    def most(self, low: Floats, high: Floats) -> float:
        """Its largest value in a box."""
        y = np.clip(self.b / self.a, low, high) if self.a > 0 else np.where(self.b > 0, high, low)
        return self.c + float(((2 * self.b - self.a * y) * y).sum())


@dataclass
class _Size:
    """How large the terms of a sum are: their number, prices, weights and largest square."""

    terms: int = 0
    prices: float = 0.0
    weight: float = 0.0
    radius: float = 0.0

    def rounding(self, dimension: int, depth: int) -> float:
        """By how much the sum is off, at most."""
        off = gamma(self.terms + depth + 8 * dimension + OPERATIONS)
        return off * OPERANDS * (self.prices + self.weight * self.radius) + TINY


@dataclass(frozen=True, eq=False)
class _Reach:
    """Groups that may pay in a box or inside of it, coordinates first.

    ``shared`` are the places of those with others of their unit, sorted by it; ``sure`` is the sum
    of those that pay everywhere, which are no longer among the groups.
    """

    numbers: Numbers
    x: Floats
    linear: Floats
    w: Floats
    p: Floats
    constant: Floats
    shared: Numbers
    alone: NDArray[np.bool_]
    sure: _Sum
    sure_size: _Size
    size: _Size
    depth: int


@dataclass
class _Box:
    """A box; ``near`` and ``far``, squared distances, still lack the coordinate ``across``."""

    low: Floats
    high: Floats
    reach: _Reach
    near: Floats
    far: Floats
    across: int | None
    depth: int

    def complete(self) -> None:
        """Add the coordinate that lacks."""
        if self.across is not None:
            near, far = _squares(self.reach.x[self.across], *self._sides(self.across))
            self.near, self.far, self.across = self.near + near, self.far + far, None

    def halves(self, across: int) -> list[_Box]:
        """Split it in the middle of a coordinate."""
        near, far = _squares(self.reach.x[across], *self._sides(across))
        near, far = self.near - near, self.far - far
        low, high = self.low.copy(), self.high.copy()
        low[across] = high[across] = (self.low[across] + self.high[across]) / 2
        return [
            _Box(self.low, high, self.reach, near, far, across, self.depth + 1),
            _Box(low, self.high, self.reach, near, far, across, self.depth + 1),
        ]

    def _sides(self, across: int) -> tuple[float, float]:
        return float(self.low[across]), float(self.high[across])


@dataclass(frozen=True, eq=False)
class _Look:
    """What groups pay in a box: range of f, shares of their chords, places of those that contend.

    The total, a quadratic above what is paid, is that of the others alone.
    """

    least: Floats
    most: Floats
    share: Floats
    contend: Numbers
    total: _Sum


class Cover:
    """Boxes over the positions of a centre.

    Parameters
    ----------
    points, weights, prices, units
        Of each group.
    hubs
        Groups that are cases, each with those that it is apart from.
    most
        What is claimed: no place takes more.
    """

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

    def prove(self, report: Callable[[float], None] = lambda share: None) -> None:
        """Split boxes until each is done; report which share of them is."""
        paying = np.flatnonzero(self.p > 0)
        if not paying.size:
            return
        paying = paying[np.argsort(self.units[paying], kind="stable")]
        corners = self.x[paying].min(axis=0), self.x[paying].max(axis=0)
        empty = _Sum(0.0, np.zeros(self.x.shape[1]), 0.0)
        waiting = [self._box(*corners, paying, empty, _Size(), 0)]
        done = 0.0
        for number in range(MOST_BOXES):
            if not waiting:
                return
            box = waiting.pop()
            smaller = self._looked_at(box)
            waiting += smaller
            # A level has two boxes for each of the level above.
            done += 0.0 if smaller else 0.5**box.depth
            if number % REPORT_EVERY == 0:
                report(done)
        raise CertificateError("the proof by boxes is too long")

    def _looked_at(self, box: _Box) -> list[_Box]:
        """Give nothing if the bound of a box is low enough, else what comes in its place."""
        box.complete()
        look, reach = self._look(box), box.reach
        if self._fits(box, look):
            return []
        if self._is_stale(box, look):
            chosen = reach.numbers[look.most > -self._slack(reach.numbers, reach.size.radius)]
            return [self._box(box.low, box.high, chosen, reach.sure, reach.sure_size, box.depth)]
        if self.apart.size:
            pays = reach.numbers[look.most > 0]
            hubs = pays[self.hub[pays] >= 0]
            for hub in hubs[self.apart[self.hub[hubs]][:, pays].any(axis=1)][:1]:
                return self._cases(box, int(hub))
        wide = np.flatnonzero(box.high > box.low)
        require(bool(wide.size and box.depth < 1000), "a cluster can take more than is claimed")
        return box.halves(int(wide[_scores(box, look)[wide].argmax()]))

    def _fits(self, box: _Box, look: _Look) -> bool:
        """Whether all that is paid is at most what is claimed; units only where that decides it."""
        claimed = self.most - box.reach.size.rounding(box.low.size, box.depth)
        without = look.total.most(box.low, box.high)
        if without > claimed or not look.contend.size:
            return without <= claimed
        if _with_each(look, box.reach).most(box.low, box.high) <= claimed:
            return True
        units = self._with_units(look.total, box.reach.numbers[look.contend], box)
        return units.most(box.low, box.high) <= claimed

    def _is_stale(self, box: _Box, look: _Look) -> bool:
        """Whether groups are to be chosen anew; never twice at one level, so this ends."""
        levels = box.depth - box.reach.depth
        sure = (look.least >= 0) & box.reach.alone
        matter = int(np.count_nonzero((look.most > 0) & ~sure))
        return levels >= LEVELS or (levels > 0 and matter < STILL_MATTER * sure.size)

    def _slack(self, numbers: Numbers, radius: float) -> Floats:
        """By how much the range of a group can be off."""
        off = gamma(8 * self.x.shape[1] + OPERATIONS) * OPERANDS
        return off * (self.p[numbers] + self.w[numbers] * radius) + TINY

    def _box(
        self, low: Floats, high: Floats, numbers: Numbers, sure: _Sum, size: _Size, depth: int
    ) -> _Box:
        """Choose those that may pay in a box; those that do for sure are added up."""
        corner = float((np.maximum(abs(low), abs(high)) ** 2).sum())
        radius = max(size.radius, corner, float(self.squares[numbers].max(initial=0.0)))
        near, far = _squares(self.x[numbers], low, high)
        near, far = near.sum(axis=1), far.sum(axis=1)
        p, w = self.p[numbers], self.w[numbers]
        unit = self.units[numbers]
        several = np.zeros(numbers.size, dtype=bool)
        several[1:] = unit[1:] == unit[:-1]
        several[:-1] |= several[1:]
        alone = ~several & (self.hub[numbers] < 0)
        stays = p - w * near > -self._slack(numbers, radius)
        pays = alone & (p - w * far >= 0)
        sure, size = self._surely(sure, size, numbers[pays], radius)
        stays &= ~pays
        reach = self._reach(numbers[stays], alone[stays], several[stays], sure, size, depth)
        return _Box(low, high, reach, near[stays], far[stays], None, depth)

    def _surely(
        self, total: _Sum, size: _Size, chosen: Numbers, radius: float
    ) -> tuple[_Sum, _Size]:
        """Add groups that pay everywhere."""
        more = _Sum(
            total.a + float(self.w[chosen].sum()),
            total.b + self.linear[chosen].sum(axis=0),
            total.c + float(self.constant[chosen].sum()),
        )
        return more, self._larger(size, chosen, radius)

    def _larger(self, size: _Size, chosen: Numbers, radius: float) -> _Size:
        return _Size(
            size.terms + chosen.size,
            size.prices + float(self.p[chosen].sum()),
            size.weight + float(self.w[chosen].sum()),
            max(size.radius, radius),
        )

    def _reach(
        self,
        numbers: Numbers,
        alone: NDArray[np.bool_],
        several: NDArray[np.bool_],
        sure: _Sum,
        size: _Size,
        depth: int,
    ) -> _Reach:
        return _Reach(
            numbers,
            np.ascontiguousarray(self.x[numbers].T),
            np.ascontiguousarray(self.linear[numbers].T),
            self.w[numbers],
            self.p[numbers],
            self.constant[numbers],
            np.flatnonzero(several),
            alone,
            sure,
            size,
            self._larger(size, numbers, size.radius),
            depth,
        )

    def _cases(self, box: _Box, hub: int) -> list[_Box]:
        """Without a hub, and with it for sure."""
        reach, depth = box.reach, box.depth + 1
        others = reach.numbers[reach.numbers != hub]
        free = others[~self.apart[self.hub[hub]][others]]
        radius = reach.size.radius
        sure, size = self._surely(reach.sure, reach.sure_size, np.array([hub]), radius)
        return [
            self._box(box.low, box.high, others, reach.sure, reach.sure_size, depth),
            self._box(box.low, box.high, free, sure, size, depth),
        ]

    def _look(self, box: _Box) -> _Look:
        """Give what groups pay, and a quadratic above what those do that contend with nobody."""
        reach = box.reach
        most = reach.p - reach.w * box.near
        least = np.minimum(reach.p - reach.w * box.far, 0)
        above = np.maximum(most, 0)
        width = above - least
        width[width <= 0] = 1.0
        share = above / width
        contend = self._contending(reach, most)
        free = share
        if contend.size:
            free = share.copy()
            free[contend] = 0.0
        total = _Sum(
            reach.sure.a + float(free @ reach.w),
            reach.sure.b + reach.linear @ free,
            reach.sure.c + float(free @ (reach.constant - least)),
        )
        return _Look(least, most, share, contend, total)

    def _contending(self, reach: _Reach, most: Floats) -> Numbers:
        """Places of groups that may pay with others of their unit that may."""
        places = reach.shared[most[reach.shared] > 0]
        unit = self.units[reach.numbers[places]]
        same = unit[1:] == unit[:-1]
        several = np.zeros(places.size, dtype=bool)
        several[1:] = same
        several[:-1] |= same
        return places[several]

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
        )


def _with_each(look: _Look, reach: _Reach) -> _Sum:
    """Add those that contend as if they did not: simpler than what units pay, and more."""
    own, share = look.contend, look.share[look.contend]
    return _Sum(
        look.total.a + float(share @ reach.w[own]),
        look.total.b + reach.linear[:, own] @ share,
        look.total.c + float(share @ (reach.constant[own] - look.least[own])),
    )


def _scores(box: _Box, look: _Look) -> Floats:
    """Say by how much the chords are too high, by coordinate: of those that are so most."""
    reach = box.reach
    off = look.share * (1 - look.share)
    off[look.contend] = 0.25
    off *= reach.w
    chosen = np.arange(off.size)
    if off.size > LOOKED_AT:
        chosen = np.argpartition(-off * (box.far - box.near), LOOKED_AT)[:LOOKED_AT]
    near, far = _squares(reach.x[:, chosen], box.low[:, None], box.high[:, None])
    return np.asarray((far - near) @ off[chosen])


def _squares(x: Floats, low: Floats | float, high: Floats | float) -> tuple[Floats, Floats]:
    """Squared distances to the nearest and farthest places between two sides."""
    below, above = low - x, x - high
    near = np.maximum(np.maximum(below, above), 0)
    far = np.minimum(below, above)
    return near * near, far * far


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
