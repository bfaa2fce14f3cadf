"""Pairs of which some are to be given up, what each is worth, and the pairs that stay for sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe import _core
from kempe.constraints import Constraints
from kempe.contradictions.signed_graph import SignedGraph
from kempe.graph.cannot_link import CannotLinkGraph
from kempe.graph.certificates import supernodes_of
from kempe.pairs import Pairs
from kempe.soft_pairs import SoftLinks, log_odds, one_for_each

# Beyond these, sums of weights and shares of them would leave the range of doubles.
LEAST_WEIGHT, MOST_WEIGHT = 1e-100, 1e100


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs that may be given up, and pairs that may not.

    Attributes
    ----------
    constraints
        What the user gave.
    certain
        The pairs that hold whatever it costs.
    pairs
        The others, those that belong together first.
    together
        Whether each belongs together.
    weight
        What giving it up costs.
    confidence
        How sure each is; NaN where nobody says.
    n_rows
        Number of rows.
    """

    constraints: Constraints
    certain: Constraints
    pairs: Pairs
    together: NDArray[np.bool_]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    n_rows: int

    @classmethod
    def of(
        cls,
        constraints: Constraints,
        must_link_weight: ArrayLike | None = None,
        cannot_link_weight: ArrayLike | None = None,
        n_rows: int | None = None,
    ) -> Candidates:
        """Part what may be given up from what may not.

        Parameters
        ----------
        constraints
            If some pairs are soft, only these may be given up; otherwise all may.
        must_link_weight, cannot_link_weight
            What giving up each pair costs, if it is not 1; soft pairs cost their log-odds.
        n_rows
            Number of rows, if it is known.
        """
        soft = constraints.soft
        if soft.count and (must_link_weight is not None or cannot_link_weight is not None):
            raise ValueError(
                "weights are of hard pairs, and only soft ones are given up where there are any: "
                "give soft pairs confidences instead"
            )
        pairs, together, confidence = (soft if soft.count else _all(constraints)).stacked()
        if soft.count:
            weight, certain = _of_confidence(confidence), constraints.with_soft(SoftLinks.of())
        else:
            both = (
                (must_link_weight, constraints.must_link, "must_link_weight"),
                (cannot_link_weight, constraints.cannot_link, "cannot_link_weight"),
            )
            weight = np.concatenate([_weights(given, len(p), name) for given, p, name in both])
            certain = constraints.with_pairs(None, None)
        size = constraints._size() if n_rows is None else n_rows
        return cls(constraints, certain, pairs, together, weight, confidence, size)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Rows that some pair names."""
        named = np.zeros(self.n_rows, dtype=bool)
        for pairs in (self.pairs, self.certain.must_link, self.certain.cannot_link):
            named[pairs] = True
        return np.flatnonzero(named)

    def broken(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of the candidates a clustering breaks."""
        first, second = self.pairs.T
        return np.asarray((labels[first] == labels[second]) != self.together)

    def cost(self, labels: NDArray[Any]) -> float:
        """Give what the pairs are worth that a clustering breaks."""
        return float(self.weight[self.broken(labels)].sum())

    def kept(self, given_up: NDArray[np.bool_]) -> Constraints:
        """Give all pairs but some candidates, soft ones as hard ones: they hold."""
        held, together = self.pairs[~given_up], self.together[~given_up]
        return self.certain | self.certain.with_pairs(held[together], held[~together])

    def signed_graph(self) -> tuple[NDArray[np.int32], SignedGraph]:
        """Give the supernode of each row, and what is said about each two of them.

        Pairs that certainly belong apart cost more than all others together.
        """
        supernode = supernodes_of(self.certain, self.n_rows)
        sign = np.where(self.together, 1.0, -1.0)
        apart = self.certain.cannot_link
        forbidden = np.full(len(apart), -2.0 * float(self.weight.sum()) - 1.0)
        return supernode, SignedGraph.of(
            int(supernode.max(initial=-1)) + 1,
            supernode[np.concatenate([self.pairs, apart])],
            np.concatenate([sign * self.weight, forbidden]),
        )


class Graphed(NamedTuple):
    """Pairs as supernodes and a graph between them.

    Attributes
    ----------
    supernode
        Supernode of each row.
    graph
        The cannot-link graph.
    inside
        A cannot-link pair inside a supernode, or -1.
    """

    supernode: NDArray[np.int32]
    graph: CannotLinkGraph
    inside: int

    @classmethod
    def of(cls, constraints: Constraints, n_rows: int) -> Graphed:
        """Merge must-linked rows, and turn cannot-link pairs into edges."""
        supernode, size = _core.supernodes(n_rows, constraints.must_link)
        graph, inside = _core.cannot_link_graph(supernode, size, constraints.cannot_link)
        return cls(supernode, CannotLinkGraph(graph), int(inside))


def _all(constraints: Constraints) -> SoftLinks:
    """All hard pairs, as if they could be wrong."""
    return SoftLinks.of(constraints.must_link, constraints.cannot_link)


def _of_confidence(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    unsaid = np.isnan(confidence)
    if unsaid.all():
        return np.ones(confidence.size)
    if unsaid.any():
        raise ValueError(
            f"{np.count_nonzero(unsaid)} of {confidence.size} soft pairs have no confidence: give "
            "one to all of them, or to none"
        )
    return log_odds(confidence)


def _weights(given: ArrayLike | None, count: int, name: str) -> NDArray[np.float64]:
    if given is None:
        return np.ones(count)
    weight = one_for_each(given, count, name)
    wrong = ~((weight >= LEAST_WEIGHT) & (weight <= MOST_WEIGHT))
    if wrong.any():
        position = int(np.argmax(wrong))
        raise ValueError(
            f"{name} of pair {position} is {weight[position]:g}, and must be above 0 and finite: "
            f"from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}"
        )
    return weight
