"""A lower bound on what must be given up: contradictions that share no pair.

Of each of them one pair at least must go, and no pair can do for two. A clustering shows where to
look: every contradiction has a pair that it breaks, and the best have no other. Most are a broken
pair and a path of kept ones that says the opposite; the rest are groups that must all be apart,
more than there are clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe import _core
from kempe.constraints import Constraints
from kempe.contradictions.candidates import Candidates, Graphed
from kempe.contradictions.contradiction import Contradiction
from kempe.graph.certificates import pairs_of_edges
from kempe.pairs import Pairs

# So often contradictions are packed anew, with other lengths.
ROUNDS = 24
# Lengths vary by so much at random, and pairs that were in demand are so much longer.
NOISE, DEMAND = 0.3, 1.0
# Seconds for all of it, however much time there is.
MOST_SECONDS = 10.0
# Seconds for one look for groups that must all be apart.
GROUP_SECONDS = 0.2


def pack(
    candidates: Candidates,
    n_clusters: int,
    labels: NDArray[Any],
    rng: np.random.Generator,
    stopper: _core.Stopper,
    rounds: int = ROUNDS,
) -> tuple[Contradiction, ...]:
    """Find contradictions that share no pair, or no more of it than it is worth.

    Parameters
    ----------
    candidates
        Pairs, and what each is worth.
    n_clusters
        Number of clusters.
    labels
        A clustering that breaks few pairs.
    rng, stopper
        Randomness, and when to stop.
    rounds
        How often they are packed anew.
    """
    stopper = stopper.child(MOST_SECONDS)
    weighed = _Weighed.of(candidates)
    broken = weighed.broken(labels)
    total = float(weighed.weight[broken].sum())
    best: list[_Used] = []
    ways = _Ways(weighed, n_clusters)
    demand = np.zeros(len(weighed.pairs))
    for turn in range(rounds):
        length = 1.0 + DEMAND * demand / max(turn, 1) + NOISE * rng.random(demand.size)
        found = list(_packed(weighed, ways, broken, length, n_clusters, rng, stopper))
        best = max(best, found, key=_bound)
        for used in found:
            demand[used.pairs] += 1
        if _bound(best) >= total * (1 - 1e-12) or stopper.look():
            break
    names = candidates.constraints.row_names
    return tuple(weighed.contradiction(used, n_clusters, names) for used in best)


@dataclass(frozen=True, eq=False)
class _Used:
    """Pairs that contradict each other, and how much of each they use."""

    pairs: NDArray[np.intp]
    weight: float


def _bound(found: list[_Used]) -> float:
    return sum(used.weight for used in found)


@dataclass(frozen=True, eq=False)
class _Weighed:
    """All pairs, each once, with what all who say it are worth; certain ones without end."""

    pairs: Pairs
    together: NDArray[np.bool_]
    weight: NDArray[np.float64]
    n_rows: int

    @classmethod
    def of(cls, candidates: Candidates) -> _Weighed:
        certain = (candidates.certain.must_link, candidates.certain.cannot_link)
        pairs = np.sort(np.concatenate([candidates.pairs, *certain]), axis=1)
        kinds = [candidates.together, *(np.full(len(p), p is certain[0]) for p in certain)]
        together = np.concatenate(kinds)
        weight = np.concatenate([candidates.weight, np.full(sum(map(len, certain)), np.inf)])
        real = pairs[:, 0] != pairs[:, 1]
        said = np.column_stack([pairs, together])[real]
        distinct, which = np.unique(said, axis=0, return_inverse=True)
        total = np.zeros(len(distinct))
        np.add.at(total, which.ravel(), weight[real])
        return cls(distinct[:, :2], distinct[:, 2].astype(bool), total, candidates.n_rows)

    def broken(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        first, second = self.pairs.T
        return np.asarray((labels[first] == labels[second]) != self.together)

    def constraints(self, chosen: NDArray[np.bool_]) -> Constraints:
        """Give some of the pairs as they are."""
        together = self.pairs[chosen & self.together]
        return Constraints(together, self.pairs[chosen & ~self.together], n_rows=self.n_rows)

    def numbers(self, pairs: Pairs, *, together: bool) -> NDArray[np.intp]:
        """Find pairs of one kind among all."""
        own = np.flatnonzero(self.together == together)
        keys, wanted = (np.sort(p, axis=1) @ [self.n_rows, 1] for p in (self.pairs[own], pairs))
        order = np.argsort(keys)
        return own[order[np.searchsorted(keys, wanted, sorter=order)]]

    def contradiction(self, used: _Used, n_clusters: int, names: Any) -> Contradiction:
        pairs, together = self.pairs[used.pairs], self.together[used.pairs]
        return Contradiction(pairs[together], pairs[~together], n_clusters, used.weight, names)


def _packed(
    weighed: _Weighed,
    ways: _Ways,
    broken: NDArray[np.bool_],
    length: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.Generator,
    stopper: _core.Stopper,
) -> Iterator[_Used]:
    """Pack one after the other: short ones first, those with one broken pair before others."""
    left = weighed.weight.copy()
    wrong = rng.permutation(np.flatnonzero(broken & np.isfinite(left)))

    def use(pairs: NDArray[np.intp]) -> _Used:
        amount = float(left[pairs].min())
        left[pairs] -= amount
        return _Used(pairs, amount)

    for usable in (~broken, np.ones_like(broken)):
        steps = [ways.steps(pair, length, usable & (left > 0), stopper) for pair in wrong]
        for pair in wrong[np.argsort(steps, kind="stable")]:
            while left[pair] > 0 and not stopper.look():
                way = ways.round_trip(pair, length, usable & (left > 0))
                if way is None:
                    break
                yield use(way)
    for pair in wrong:
        while left[pair] > 0 and not stopper.look():
            usable = ~broken & (left > 0)
            usable[pair] = True
            limit = stopper.child(GROUP_SECONDS)
            group = _group(weighed, pair, usable, n_clusters, limit)
            if group is None:
                break
            yield use(group)


class _Ways:
    """Ways over pairs on which rows stay in the same cluster, or change it.

    Each row is there twice: in the cluster of where a way began, and in another. With two clusters
    whoever leaves the other one is back in the first; with more, nobody knows.
    """

    def __init__(self, weighed: _Weighed, n_clusters: int) -> None:
        self._weighed = weighed
        n = weighed.n_rows
        (first, second), pair = weighed.pairs.T, np.arange(len(weighed.pairs))
        stay = weighed.together
        parts = [
            *((first[stay] + side, second[stay] + side, pair[stay]) for side in (0, n)),
            (first[~stay], second[~stay] + n, pair[~stay]),
            (second[~stay], first[~stay] + n, pair[~stay]),
        ]
        back = [(b, a, which) for a, b, which in parts[: None if n_clusters == 2 else 2]]
        tails, heads, pairs = (np.concatenate(each) for each in zip(*parts, *back, strict=True))
        numbers = sparse.csr_array((1.0 + np.arange(tails.size), (tails, heads)), (2 * n, 2 * n))
        self._pair = pairs[numbers.data.astype(np.intp) - 1]
        self._graph = numbers

    def round_trip(
        self, pair: int, length: NDArray[np.float64], usable: NDArray[np.bool_]
    ) -> NDArray[np.intp] | None:
        """Give a pair and the shortest way that says the opposite, if there is one."""
        weighed = self._weighed
        (first, second), together = weighed.pairs[pair], bool(weighed.together[pair])
        price = np.where(usable, length, np.inf)
        price[pair] = np.inf
        self._graph.data = price[self._pair]
        target = int(second) + (weighed.n_rows if together else 0)
        distance, before = sparse.csgraph.dijkstra(
            self._graph, indices=np.array(first), return_predecessors=True
        )
        if not np.isfinite(distance[target]):
            return None
        nodes = [target]
        while nodes[-1] != first:
            nodes.append(int(before[nodes[-1]]))
        steps = (self._step(a, b) for a, b in zip(nodes[1:], nodes, strict=False))
        return np.unique([pair, *steps])

    def steps(
        self,
        pair: int,
        length: NDArray[np.float64],
        usable: NDArray[np.bool_],
        stopper: _core.Stopper,
    ) -> float:
        """Count the pairs of such a way; infinity if there is none, or no time."""
        way = None if stopper.look() else self.round_trip(pair, length, usable)
        return np.inf if way is None else float(way.size)

    def _step(self, tail: int, head: int) -> int:
        """Give the pair that leads from one place to another."""
        begin, end = self._graph.indptr[tail : tail + 2]
        return int(self._pair[begin + np.searchsorted(self._graph.indices[begin:end], head)])


def _group(
    weighed: _Weighed,
    pair: int,
    usable: NDArray[np.bool_],
    n_clusters: int,
    stopper: _core.Stopper,
) -> NDArray[np.intp] | None:
    """Find groups of rows that must all be apart, more than there are clusters, around a pair."""
    pairs = weighed.constraints(usable)
    supernode, graph, inside = Graphed.of(pairs, weighed.n_rows)
    if inside >= 0:
        return None
    own = int(supernode[weighed.pairs[pair, 0]])
    around = np.append(graph.core.targets[slice(*graph.core.offsets[own : own + 2])], own)
    nearby = np.sort(around).astype(np.intp)
    found, _ = _core.largest_clique(graph.induced(nearby).core, n_clusters + 1, stopper)
    if found.size <= n_clusters:
        return None
    clique = nearby[found[: n_clusters + 1]]
    ends = clique[np.column_stack(np.triu_indices(clique.size, k=1))]
    apart = pairs_of_edges(pairs, ends)
    joining = _joining(pairs.must_link, supernode, np.unique(apart))
    return np.union1d(
        weighed.numbers(apart, together=False), weighed.numbers(joining, together=True)
    )


def _joining(must_link: Pairs, supernode: NDArray[np.int32], rows: NDArray[np.int64]) -> Pairs:
    """Give must-link pairs that join those of some rows which are of one supernode."""
    n, ones = supernode.size, np.ones(len(must_link), dtype=np.int8)
    graph = sparse.csr_array((ones, (must_link[:, 0], must_link[:, 1])), shape=(n, n))
    used: set[tuple[int, int]] = set()
    for group in np.unique(supernode[rows]):
        root, *others = rows[supernode[rows] == group].tolist()
        if not others:
            continue
        _, before = sparse.csgraph.breadth_first_order(graph, root, directed=False)
        for row in others:
            while row != root:
                last = int(before[row])
                used.add((min(row, last), max(row, last)))
                row = last
    return np.array(sorted(used), dtype=np.int64).reshape(-1, 2)
