"""Super-instances that are split and merged, as in COBRAS."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kempe.ask.strategy import Proposal, Strategy, View

Rows = NDArray[np.int64]
Asking = Generator[tuple[int, int], None, bool]


@dataclass(eq=False)
class _SuperInstance:
    """Rows that are taken to belong together, and the one in their middle."""

    rows: Rows
    medoid: int
    splits: bool = True


@dataclass(eq=False)
class _Cluster:
    parts: list[_SuperInstance] = field(default_factory=list)


class SuperInstances(Strategy):
    """Split rows into parts whose middles are compared, and merge parts that belong together.

    Van Craenendonck, Dumancic, Van Wolputte and Blockeel (2018): the largest super-instance is
    split, into the more parts the more questions it takes to find two halves that belong together;
    then clusters are merged, nearest first, until all are known to be apart. It does not know the
    number of clusters. ``clusters`` has the clustering of its own.

    A run goes on where it was as long as the answers hold that it was built on, and begins anew
    otherwise.
    """

    def __init__(self) -> None:
        self._run: Generator[tuple[int, int], None, None] | None = None
        self._view: View | None = None
        self._built_on: dict[tuple[int, int], bool] = {}
        self.clusters: NDArray[np.int32] | None = None

    def propose(self, view: View) -> Proposal | None:
        """Give the pair to ask about next."""
        holds = all(
            view.known.relation(*pair) == together for pair, together in self._built_on.items()
        )
        if self._run is None or not holds:
            self._run = self._all(np.random.default_rng(int(view.rng.integers(2**63))))
            self._built_on = {}
        self._view = view
        try:
            pair = next(self._run, None)
        except BaseException:  # Ctrl-C ends a generator, which would have no more questions
            self._run = None
            raise
        if pair is None:
            return None
        return Proposal(*pair, "both stand for many rows, which may belong together")

    def _all(self, rng: np.random.Generator) -> Generator[tuple[int, int], None, None]:
        view = self._now()
        clusters = [_Cluster([_super_instance(view.X, np.arange(len(view.X)))])]
        self._settle(clusters)
        while True:
            parts = [(len(p.rows), n, p, c) for n, c in enumerate(clusters) for p in c.parts]
            parts = [one for one in parts if one[2].splits and one[0] > 1]
            if not parts:
                return
            _, _, chosen, home = max(parts, key=lambda one: one[0])
            level = yield from self._level(chosen, rng)
            halves = _split(view.X, chosen.rows, level, rng)
            if len(halves) < 2:
                chosen.splits = False
                continue
            home.parts.remove(chosen)
            clusters = [c for c in clusters if c.parts] + [_Cluster([half]) for half in halves]
            clusters = yield from self._merged(clusters)
            self._settle(clusters)

    def _level(
        self, chosen: _SuperInstance, rng: np.random.Generator
    ) -> Generator[tuple[int, int], None, int]:
        """Halve until two halves belong together: so many parts are needed."""
        view, depth, part = self._now(), 0, chosen
        while True:
            halves = _split(view.X, part.rows, 2, rng)
            if len(halves) < 2:
                break
            together = yield from self._ask(halves[0].medoid, halves[1].medoid)
            if together:
                break
            depth += 1
            part = halves[int(rng.integers(2))]
        return int(min(2 ** max(depth, 1), len(chosen.rows)))

    def _merged(self, clusters: list[_Cluster]) -> Generator[tuple[int, int], None, list[_Cluster]]:
        """Merge clusters, nearest first, until all pairs are known to be apart."""
        merged = True
        while merged:
            merged = False
            for first, second in self._by_distance(clusters):
                together = yield from self._asked_of(first, second)
                if together:
                    first.parts += second.parts
                    clusters.remove(second)
                    merged = True
                    break
        return clusters

    def _asked_of(self, first: _Cluster, second: _Cluster) -> Asking:
        known = self._now().known
        pairs = [(a.medoid, b.medoid) for a in first.parts for b in second.parts]
        for pair in pairs:
            relation = known.relation(*pair)
            if relation is not None:
                self._built_on[pair] = relation
                return relation
        squares = [float(self._now().squares(a, np.array([b]))[0]) for a, b in pairs]
        return (yield from self._ask(*pairs[int(np.argmin(squares))]))

    def _ask(self, first: int, second: int) -> Asking:
        while (relation := self._now().known.relation(first, second)) is None:
            if not self._now().is_open(first, second):  # nobody could say
                return False
            yield first, second
        self._built_on[first, second] = relation
        return relation

    def _by_distance(self, clusters: list[_Cluster]) -> list[tuple[_Cluster, _Cluster]]:
        X = self._now().X
        medoids = [np.array([part.medoid for part in c.parts]) for c in clusters]
        found = []
        for i, one in enumerate(medoids):
            for j in range(i):
                squares = ((X[one][:, None] - X[medoids[j]]) ** 2).sum(axis=2)
                found.append((float(squares.min()), j, i))
        return [(clusters[j], clusters[i]) for _, j, i in sorted(found)]

    def _settle(self, clusters: list[_Cluster]) -> None:
        labels = np.empty(len(self._now().X), dtype=np.int32)
        for number, cluster in enumerate(clusters):
            for part in cluster.parts:
                labels[part.rows] = number
        self.clusters = labels

    def _now(self) -> View:
        assert self._view is not None
        return self._view


def _super_instance(X: NDArray[np.float64], rows: Rows) -> _SuperInstance:
    away = ((X[rows] - X[rows].mean(axis=0)) ** 2).sum(axis=1)
    return _SuperInstance(rows, int(rows[away.argmin()]))


def _split(
    X: NDArray[np.float64], rows: Rows, count: int, rng: np.random.Generator
) -> list[_SuperInstance]:
    from sklearn.cluster import KMeans

    if len(rows) < 2:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows that coincide
        model = KMeans(min(count, len(rows)), n_init=10, random_state=int(rng.integers(2**31)))
        found = model.fit_predict(X[rows])
    parts = [rows[found == number] for number in np.unique(found)]
    return [_super_instance(X, part) for part in parts]
