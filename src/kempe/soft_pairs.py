"""Soft pairs: knowledge that may be wrong, of rows as users have it and of supernodes."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kempe import _core
from kempe.pairs import Pairs, as_pairs, check_pairs_differ, check_range

_KINDS = ("must_link", "cannot_link")


@dataclass(frozen=True, eq=False)
class SoftLinks:
    """Pairs of rows that probably belong together, and pairs that probably do not.

    Attributes
    ----------
    must_link, cannot_link
        The pairs as given.
    must_link_confidence, cannot_link_confidence
        Probability that each is right; NaN where nobody says.
    """

    must_link: Pairs
    cannot_link: Pairs
    must_link_confidence: NDArray[np.float64]
    cannot_link_confidence: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        must_link: object = None,
        cannot_link: object = None,
        must_link_confidence: ArrayLike | None = None,
        cannot_link_confidence: ArrayLike | None = None,
    ) -> SoftLinks:
        """Read pairs, and one confidence for all of a kind or one for each."""
        said = (must_link, cannot_link, must_link_confidence, cannot_link_confidence)
        if all(one is None for one in said):
            return _no_soft_links()
        must_link, must_link_confidence = with_confidence(
            must_link, must_link_confidence, "soft_must_link"
        )
        cannot_link, cannot_link_confidence = with_confidence(
            cannot_link, cannot_link_confidence, "soft_cannot_link"
        )
        together = as_pairs(must_link, "soft_must_link")
        apart = as_pairs(cannot_link, "soft_cannot_link")
        check_pairs_differ(apart, "soft_cannot_link")
        return cls(
            together,
            apart,
            _confidences(must_link_confidence, len(together), "soft_must_link_confidence"),
            _confidences(cannot_link_confidence, len(apart), "soft_cannot_link_confidence"),
        )

    @property
    def count(self) -> int:
        """Number of pairs."""
        return len(self.must_link) + len(self.cannot_link)

    def check_confidences(self) -> None:
        """Raise ``ValueError`` where a confidence says nothing, or too much."""
        for name in _KINDS if self.count else ():
            said = getattr(self, f"{name}_confidence")
            check_confidences(np.where(np.isnan(said), 0.75, said), f"soft_{name}_confidence")

    def check_rows(self, n_rows: int) -> None:
        """Raise ``ValueError`` unless every pair refers to rows 0 to ``n_rows - 1``."""
        for name in _KINDS:
            check_range(getattr(self, name), n_rows, f"soft_{name}")

    def stacked(self) -> tuple[Pairs, NDArray[np.bool_], NDArray[np.float64]]:
        """All pairs, whether each belongs together, and the confidence of each."""
        pairs = np.concatenate([self.must_link, self.cannot_link])
        together = np.arange(len(pairs)) < len(self.must_link)
        confidence = np.concatenate([self.must_link_confidence, self.cannot_link_confidence])
        return pairs, together, confidence

    def where(self, chosen: Callable[[Pairs, bool], NDArray[np.bool_]]) -> SoftLinks:
        """Give the pairs that are chosen by themselves and by whether they belong together."""
        together, apart = chosen(self.must_link, True), chosen(self.cannot_link, False)
        return SoftLinks(
            self.must_link[together],
            self.cannot_link[apart],
            self.must_link_confidence[together],
            self.cannot_link_confidence[apart],
        )

    def violations(self, labels: NDArray[Any]) -> SoftLinks:
        """Give the pairs that a clustering does not respect."""

        def parted(pairs: Pairs, together: bool) -> NDArray[np.bool_]:
            return np.asarray((labels[pairs[:, 0]] == labels[pairs[:, 1]]) != together)

        return self.where(parted)

    def subset(self, rows: NDArray[np.int64], size: int) -> SoftLinks:
        """Give the pairs among some rows, renumbered to their positions there."""
        position = np.full(size, -1, dtype=np.int64)
        position[rows] = np.arange(rows.size)
        kept = self.where(lambda pairs, _: np.asarray((position[pairs] >= 0).all(axis=1)))
        return kept.renumbered(lambda pairs: position[pairs])

    def renumbered(self, number: Callable[[Pairs], Pairs]) -> SoftLinks:
        """Give the same pairs of rows that have other numbers."""
        return SoftLinks(
            number(self.must_link),
            number(self.cannot_link),
            self.must_link_confidence,
            self.cannot_link_confidence,
        )

    def __or__(self, other: SoftLinks) -> SoftLinks:
        return SoftLinks(
            *(np.concatenate(both) for both in zip(self._all, other._all, strict=True))
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SoftLinks):
            return NotImplemented
        pairs = zip(self._all, other._all, strict=True)
        return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    @property
    def _all(self) -> tuple[NDArray[Any], ...]:
        return (
            self.must_link,
            self.cannot_link,
            self.must_link_confidence,
            self.cannot_link_confidence,
        )


@cache
def _no_soft_links() -> SoftLinks:
    """Give the pairs of nearly all fits; a small one would notice if they were read each time."""
    none, unsaid = as_pairs(None, "soft_must_link"), np.empty(0)
    unsaid.flags.writeable = False
    return SoftLinks(none, none, unsaid, unsaid)


def with_confidence(
    pairs: object, confidence: ArrayLike | None, name: str
) -> tuple[object, ArrayLike | None]:
    """Take a column ``confidence`` out of a frame of pairs, if it has one.

    Parameters
    ----------
    pairs
        Pairs in any form.
    confidence
        What was said apart from them.
    name
        What messages call the pairs.
    """
    if "confidence" not in list(getattr(pairs, "columns", ())):
        return pairs, confidence
    if confidence is not None:
        raise ValueError(f"{name} has a column of confidences, and {name}_confidence is given, too")
    frame: Any = pairs
    others = [column for column in frame.columns if column != "confidence"]
    return frame[others], frame["confidence"].to_numpy()


def log_odds(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-odds of probabilities; NaN of NaN."""
    return np.asarray(np.log(confidence) - np.log1p(-confidence))


def _confidences(value: ArrayLike | None, count: int, name: str) -> NDArray[np.float64]:
    if value is None:
        return np.full(count, np.nan)
    confidence = one_for_each(value, count, name)
    check_confidences(confidence, name)
    return confidence


def one_for_each(value: ArrayLike, count: int, name: str) -> NDArray[np.float64]:
    """Read a number for each of several pairs, or one for all of them."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {reprlib.repr(value)}") from None
    if numbers.shape not in ((), (count,)):
        raise ValueError(
            f"{name} must be one number or one for each of the {count} pairs, "
            f"got shape {numbers.shape}"
        )
    return np.broadcast_to(numbers, (count,)).copy()


def check_confidences(confidence: NDArray[np.float64], name: str) -> None:
    """Refuse probabilities that say nothing, or too much, of a pair that may be wrong."""
    for wrong, why in (
        (np.isnan(confidence), "which is no number; leave it out if nobody knows"),
        (confidence >= 1, "which is certain: give it as a hard pair"),
        (confidence <= 0.5, "which is no more than one half: say it the other way round"),
    ):
        if wrong.any():
            position = int(np.argmax(wrong))
            raise ValueError(f"{name} of pair {position} is {confidence[position]:g}, {why}")


@dataclass(frozen=True, eq=False)
class SoftPairs:
    """Soft pairs between supernodes, each two supernodes once.

    What rows say about the same two supernodes is added up, together against apart, as the
    log-odds of independent witnesses are. What hard pairs decide is left out.

    Attributes
    ----------
    n_supernodes
        Number of supernodes.
    first, second
        The two supernodes of each pair.
    log_odds
        How sure it is that a pair belongs together, where rows say how sure; negative if apart.
    votes
        How many more pairs of rows say together than apart, of those that do not say how sure.
    kept, broken
        How many of all pairs of rows the hard pairs keep, and break, whatever the clustering.
    """

    n_supernodes: int
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    log_odds: NDArray[np.float64]
    votes: NDArray[np.float64]
    kept: int = 0
    broken: int = 0

    @classmethod
    def build(
        cls,
        supernode: NDArray[np.int32],
        graph: _core.Graph,
        pairs: Pairs,
        together: NDArray[np.bool_],
        log_odds: NDArray[np.float64],
    ) -> SoftPairs:
        """Add up what pairs of rows say about the same two supernodes.

        Parameters
        ----------
        supernode
            Supernode of each row.
        graph
            The cannot-link graph.
        pairs
            Pairs of rows.
        together
            Whether each belongs together or apart.
        log_odds
            How sure each is; NaN where nobody says.
        """
        ends = supernode_ends(supernode, pairs)
        inside = ends[:, 0] == ends[:, 1]
        apart = _are_neighbours(graph, ends)
        decided = inside | apart
        kept = int(np.count_nonzero(decided & (inside == together)))
        sign = np.where(together, 1.0, -1.0)[~decided]
        first, second, which = each_once(ends[~decided], graph.size)
        given = log_odds[~decided]
        unsaid = np.isnan(given)

        def total(said: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.bincount(which, said, minlength=first.size).astype(np.float64)

        return cls(
            n_supernodes=graph.size,
            first=first.astype(np.int32),
            second=second.astype(np.int32),
            log_odds=total(np.where(unsaid, 0.0, given) * sign),
            votes=total(sign * unsaid),
            kept=kept,
            broken=int(np.count_nonzero(decided)) - kept,
        )

    def strength(self, log_odds: float) -> NDArray[np.float64]:
        """Give the log-odds of each pair, if those that do not say how sure they are have these."""
        return self.log_odds + log_odds * self.votes

    def violated(
        self, strength: NDArray[np.float64], colours: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Which pairs a clustering breaks, given what they are worth."""
        same = colours[self.first] == colours[self.second]
        return np.asarray((strength != 0) & (same != (strength > 0)))

    def pulls(
        self, prices: NDArray[np.float64], colours: NDArray[np.int32], n_clusters: int
    ) -> NDArray[np.float64]:
        """Add up, for each supernode, its prices with the members of each cluster."""
        total = np.zeros(self.n_supernodes * n_clusters)
        for one, other in ((self.first, self.second), (self.second, self.first)):
            place = one.astype(np.int64) * n_clusters + colours[other]
            total += np.bincount(place, prices, minlength=total.size)
        return total.reshape(self.n_supernodes, n_clusters)

    def core(self, prices: NDArray[np.float64]) -> _core.SoftPairs:
        """Give the pairs to the kernels, at these prices; those that cost nothing are left out."""
        dear = prices != 0
        return _core.SoftPairs(self.n_supernodes, self.first[dear], self.second[dear], prices[dear])


@dataclass(frozen=True)
class PairPrice:
    """What a pair of rows costs: the unit times its log-odds.

    Attributes
    ----------
    unit
        Price of log-odds of 1.
    assumed
        Log-odds of pairs that do not say how sure they are.
    """

    unit: float
    assumed: float

    def of_supernodes(self, soft: SoftPairs) -> NDArray[np.float64]:
        """Prices of pairs of supernodes, negative for those that belong apart."""
        return self.unit * soft.strength(self.assumed)

    def of_rows(self, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Prices of pairs of rows with these confidences, NaN where nobody says."""
        said = log_odds(confidence)
        return self.unit * np.where(np.isnan(said), self.assumed, said)

    def of_broken(self, links: SoftLinks, labels: NDArray[Any]) -> float:
        """Price of all pairs of rows that labels break."""
        return float(self.of_rows(links.violations(labels).stacked()[2]).sum())


def supernode_ends(supernode: NDArray[np.int32], pairs: Pairs) -> NDArray[np.int64]:
    """Give the supernodes of pairs of rows, the smaller number first."""
    return np.sort(supernode[pairs].reshape(-1, 2), axis=1).astype(np.int64)


def each_once(
    ends: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
    """Give each two supernodes once, in order, and which of these every pair is of."""
    first, second = ends.T
    # Two counting sorts, the second by the first of a pair; nothing is summed up on the way.
    by_second = sparse.coo_array((np.arange(len(ends)), (second, first)), (size, size))
    by_second.has_canonical_format = True
    order = by_second.tocsr().T.tocsr().data
    first, second = first[order], second[order]
    new = np.ones(order.size, dtype=bool)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    which = np.empty(order.size, dtype=np.intp)
    which[order] = np.cumsum(new) - 1
    return first[new], second[new], which


def _are_neighbours(graph: _core.Graph, ends: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of these pairs of vertices an edge joins."""
    degree = np.diff(graph.offsets)
    edges = np.repeat(np.arange(graph.size, dtype=np.int64), degree) * graph.size + graph.targets
    return np.isin(ends @ [graph.size, 1], edges)
