"""Soft pairs of rivals, whose confidences are weights, and the program by which PCCC assigns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kempe import _core
from kempe.exact.highs import Block, solve_program
from kempe.exact.part import CliqueRows, Columns
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.pairs import as_pairs, check_pairs_differ
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.program import nearest_allowed
from kempe.soft_pairs import (
    SoftLinks,
    each_once,
    one_for_each,
    supernode_ends,
    with_confidence,
)


@dataclass(frozen=True)
class WeightedPairs:
    """Soft pairs between supernodes, one per pair of supernodes, as the publication has them.

    A confidence is any weight here, and all prices are proportional to it; to ``KempeKMeans`` it
    is a probability.

    Attributes
    ----------
    first, second
        The two supernodes of each pair.
    confidence
        What a violation weighs, positive.
    together
        Whether the pair belongs together or apart.
    unavoidable
        Confidence of what every clustering violates: apart within a supernode, or contradicted.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    confidence: NDArray[np.float64]
    together: NDArray[np.bool_]
    unavoidable: float = 0.0

    @classmethod
    def build(
        cls,
        problem: Problem,
        soft_must_link: object = None,
        soft_cannot_link: object = None,
        soft_must_link_confidence: ArrayLike | None = None,
        soft_cannot_link_confidence: ArrayLike | None = None,
    ) -> WeightedPairs:
        """Add up the confidences between the same two supernodes, must-link against cannot-link.

        Pairs inside a supernode can change nothing and are counted apart.
        """
        links = weighed_links(
            soft_must_link,
            soft_cannot_link,
            soft_must_link_confidence,
            soft_cannot_link_confidence,
        )
        links.check_rows(problem.n_rows)
        return cls.of(problem, links)

    @classmethod
    def of(cls, problem: Problem, links: SoftLinks) -> WeightedPairs:
        """Do the same with pairs that were read, whose confidences are weights."""
        pairs, together, confidence = links.stacked()
        ends = supernode_ends(problem.supernode, pairs)
        first, second, which = each_once(ends, problem.n_supernodes)
        signed = weights_of(confidence) * np.where(together, 1.0, -1.0)
        total = np.bincount(which, signed, minlength=first.size)
        against = np.bincount(which, np.abs(signed), minlength=first.size) - np.abs(total)
        inside = (first == second) & (total < 0)
        kept = (first != second) & (total != 0)
        unavoidable = 0.5 * against.sum() - total[inside].sum()
        return cls(
            first[kept], second[kept], np.abs(total[kept]), total[kept] > 0, float(unavoidable)
        )

    @classmethod
    def none(cls) -> WeightedPairs:
        """Give no pairs."""
        nobody = np.empty(0, dtype=np.int64)
        return cls(nobody, nobody, np.empty(0), np.empty(0, dtype=bool))

    def core(self, size: int, price: float) -> _core.SoftPairs:
        """Give the pairs to the kernels, at a price for each weight of 1."""
        signed = price * self.confidence * np.where(self.together, 1.0, -1.0)
        first, second = (end.astype(np.int32) for end in (self.first, self.second))
        return _core.SoftPairs(size, first, second, signed)

    @property
    def count(self) -> int:
        """Number of pairs."""
        return int(self.first.size)

    def violated(self, colours: Colours) -> NDArray[np.bool_]:
        """Which pairs a colouring violates."""
        same = colours[self.first] == colours[self.second]
        return np.asarray(same != self.together)

    def violation(self, colours: Colours) -> float:
        """Total confidence of the violated pairs."""
        return self.unavoidable + float(self.confidence[self.violated(colours)].sum())

    def violation_by_cluster(self, colours: Colours, n_clusters: int) -> NDArray[np.float64]:
        """Confidence of the violated cannot-link pairs in each cluster."""
        wrong = self.violated(colours) & ~self.together
        clusters = colours[self.first[wrong]]
        total = np.bincount(clusters, self.confidence[wrong], minlength=n_clusters)
        return np.asarray(total, dtype=np.float64)


def weights_of(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give what pairs weigh: their confidence, or 1 where nobody says."""
    return np.where(np.isnan(confidence), 1.0, confidence)


def weighed_links(
    soft_must_link: object = None,
    soft_cannot_link: object = None,
    soft_must_link_confidence: ArrayLike | None = None,
    soft_cannot_link_confidence: ArrayLike | None = None,
) -> SoftLinks:
    """Read pairs whose confidences are any weights, unlike those of ``Constraints``."""
    read = []
    for pairs, confidence, name in (
        (soft_must_link, soft_must_link_confidence, "soft_must_link"),
        (soft_cannot_link, soft_cannot_link_confidence, "soft_cannot_link"),
    ):
        others, said = with_confidence(pairs, confidence, name)
        rows = as_pairs(others, name)
        read.append((rows, _confidences(said, len(rows), name)))
    (together, sure_together), (apart, sure_apart) = read
    check_pairs_differ(apart, "soft_cannot_link")
    return SoftLinks(together, apart, sure_together, sure_apart)


def _confidences(given: ArrayLike | None, count: int, kind: str) -> NDArray[np.float64]:
    if given is None:
        return np.full(count, np.nan)
    name = f"{kind}_confidence"
    values = one_for_each(given, count, name)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"{name} must be finite and not negative")
    return values


def violation_price(problem: Problem, centroids: Centroids, nearest: int) -> float:
    """Price of a violation of confidence 1: the mean distance to the ``nearest`` centroids."""
    distances = problem.squared_distances(centroids)
    if nearest < distances.shape[1]:
        distances = np.partition(distances, nearest - 1, axis=1)[:, :nearest]
    return float(distances.mean())


class SoftProgram:
    """Assign all supernodes at the lowest total of distances and prices of violated soft pairs.

    One slack variable per soft pair measures its violation; hard cannot-link pairs are rows over
    cliques, as in the exact assignment.

    Parameters
    ----------
    problem
        The problem with its hard pairs.
    soft
        The soft pairs.
    nearest
        How many of its nearest centroids a supernode may take.
    price
        Gives the price of a violation of confidence 1 at some centroids.
    seconds
        Limit for one assignment, which only strikes once there is an assignment to return; none if
        ``None``.
    """

    def __init__(
        self,
        problem: Problem,
        soft: WeightedPairs,
        nearest: int,
        price: Callable[[Centroids], float],
        seconds: float | None = None,
    ) -> None:
        self._soft = soft
        self._nearest = nearest
        self._price = price
        self._seconds = math.inf if seconds is None else seconds
        self._cliques = CliqueRows.of(problem.graph)

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes; the previous assignment stands if nothing better is found."""
        costs = problem.costs(centroids)
        price = self._price(centroids)
        found = self._solve(costs, price, stopper)
        candidates = [c for c in (found, previous) if c is not None and problem.is_proper(c)]
        if not candidates:
            raise NoSolutionFoundError(
                "the integer program was stopped before it had an assignment of the "
                f"{problem.n_supernodes} supernodes"
            )

        def total(colours: Colours) -> float:
            distance = costs[np.arange(colours.size), colours].sum()
            return float(distance) + price * self._soft.violation(colours)

        return min(candidates, key=total)

    def _solve(
        self, costs: NDArray[np.float64], price: float, stopper: _core.Stopper
    ) -> Colours | None:
        allowed = nearest_allowed(costs, self._nearest, stopper)
        if stopper.look():
            return None
        columns = Columns(np.ones(costs.shape, dtype=bool) if allowed is None else allowed)
        objective = np.concatenate(
            [costs[columns.vertex, columns.cluster], price * self._soft.confidence]
        )
        rows = self._rows(columns, costs.shape[1])
        limit = min(self._seconds, stopper.remaining)
        solution = _minimise(objective, columns.count, rows, limit)
        if solution.x is None and solution.status == 1 and not stopper.look():
            solution = _minimise(objective, columns.count, rows, stopper.remaining)
        if solution.status == 2:
            raise InfeasibleConstraintsError(
                f"no clustering into {costs.shape[1]} clusters satisfies all hard cannot-link pairs"
            )
        if solution.x is None:
            return None
        table = columns.spread(solution.x[: columns.count], 0.0)
        return np.asarray(table.argmax(axis=1), dtype=np.int32)

    def _rows(self, columns: Columns, k: int) -> list[Block]:
        slacks = self._soft.count
        everything = np.ones((self._cliques.count, k), dtype=bool)
        return [
            (_widened(columns.one_cluster_each(), slacks), 1.0, 1.0),
            (_widened(self._cliques.matrix(everything, columns)[0], slacks), -np.inf, 1.0),
            (self._apart_rows(columns), -np.inf, 1.0),
            (self._together_rows(columns), -np.inf, 0.0),
        ]

    def _apart_rows(self, columns: Columns) -> sparse.csr_array:
        """Rows ``x[a, j] + x[b, j] - slack <= 1`` for soft cannot-link pairs."""
        pair, one, other = self._ends(columns, ~self._soft.together)
        both = (one >= 0) & (other >= 0)
        slack = columns.count + np.broadcast_to(pair[:, None], one.shape)[both]
        return self._matrix(columns, [(one[both], 1.0), (other[both], 1.0), (slack, -1.0)])

    def _together_rows(self, columns: Columns) -> sparse.csr_array:
        """Rows ``x[a, j] - x[b, j] - slack <= 0``, both ways round, for soft must-link pairs."""
        pair, one, other = self._ends(columns, self._soft.together)
        blocks = []
        for left, right in ((one, other), (other, one)):
            has = left >= 0
            slack = columns.count + np.broadcast_to(pair[:, None], left.shape)[has]
            blocks.append(
                self._matrix(columns, [(left[has], 1.0), (right[has], -1.0), (slack, -1.0)])
            )
        return sparse.csr_array(sparse.vstack(blocks, format="csr"))

    def _ends(
        self, columns: Columns, which: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.int32]]:
        """Numbers of some pairs and the columns of their two ends in every cluster."""
        pair = np.flatnonzero(which)
        number = columns.number
        return pair, number[self._soft.first[pair]], number[self._soft.second[pair]]

    def _matrix(
        self, columns: Columns, entries: list[tuple[NDArray[np.integer[Any]], float]]
    ) -> sparse.csr_array:
        """Matrix whose row r has each entry's value in its r-th column; -1 is no column."""
        count = entries[0][0].size
        column = np.concatenate([position for position, _ in entries])
        row = np.tile(np.arange(count), len(entries))
        value = np.repeat([value for _, value in entries], count)
        kept = column >= 0
        shape = (count, columns.count + self._soft.count)
        return sparse.csr_array((value[kept], (row[kept], column[kept])), shape=shape)


def _widened(matrix: sparse.csr_array, columns: int) -> sparse.csr_array:
    matrix = sparse.csr_array(matrix)
    return sparse.csr_array(
        (matrix.data, matrix.indices, matrix.indptr),
        shape=(matrix.shape[0], matrix.shape[1] + columns),
    )


def _minimise(
    objective: NDArray[np.float64], binaries: int, rows: list[Block], seconds: float
) -> Any:
    integrality = np.zeros(objective.size, dtype=np.uint8)
    integrality[:binaries] = 1
    return solve_program(objective, rows, integrality, seconds)
