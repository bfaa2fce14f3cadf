"""Starting centroids from rows that lie in parts: k-means|| of Bahmani et al. (2012).

Each round looks at all rows once. They differ from the publication in that a round draws exactly as
many rows as it draws there on average: with keys as in Efraimidis and Spirakis (2006), every part
draws by itself and the best of all parts count. The keys depend on the numbers of the rows alone,
so what is drawn does not depend on how the rows are divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.dask.parts import Parts
from kempe.dask.rows import PartedRows
from kempe.dask.tasks import compute, tree
from kempe.engine.batched import Gathered
from kempe.engine.crowd import Floats
from kempe.problem import Centroids
from kempe.search.seeding import starting_centroids

# A round draws so many rows for each cluster. Three rounds give five times the clusters and more.
DRAWN_PER_CLUSTER = 2
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows that were drawn, with the keys that decide between those of several parts."""

    key: Floats
    number: NDArray[np.int64]
    points: Floats

    @classmethod
    def best(cls, parts: Sequence[Drawn], most: int) -> Drawn:
        """Give those with the largest keys, in the order of their rows."""
        key, number, points = (
            np.concatenate(values)
            for values in zip(*((p.key, p.number, p.points) for p in parts), strict=True)
        )
        chosen = np.lexsort((number, -key))[:most]
        chosen = chosen[np.argsort(number[chosen])]
        return cls(key[chosen], number[chosen], points[chosen])


def drawn_centroids(
    parts: Parts, origin: Floats, init: str, n_clusters: int, rng: np.random.Generator
) -> Centroids:
    """Draw starting centroids, less ``origin``.

    Parameters
    ----------
    parts
        All rows.
    origin
        What is subtracted.
    init
        ``"k-means++"``: by k-means||; ``"random"``: rows at random.
    n_clusters
        How many.
    rng
        Source of all randomness.
    """
    nothing = np.empty((0, parts.n_features))
    if init == "random":
        return _draw(parts, nothing, n_clusters, rng) - origin
    candidates = _draw(parts, nothing, 1, rng)
    for _ in range(ROUNDS):
        more = _draw(parts, candidates, DRAWN_PER_CLUSTER * n_clusters, rng)
        candidates = np.concatenate([candidates, more])
    return _reduced(parts, origin, candidates - origin, n_clusters, rng)


def _draw(parts: Parts, known: Floats, most: int, rng: np.random.Generator) -> Floats:
    """Draw rows in proportion to their cost at centroids that are known, one look at all rows."""
    seed = int(rng.integers(2**63))
    each = [parts.first.tolist()]
    drawn = parts.map(draw_from_part, known, most, seed, each=each, name="draw")
    found: Drawn = compute([tree(partial(Drawn.best, most=most), drawn)])[0]
    return found.points


def draw_from_part(
    rows: NDArray[Any], weight: Floats, first: int, known: Floats, most: int, seed: int
) -> Drawn:
    """Draw the rows of one part that could be among the best of all."""
    mass = weight if weight.size else np.ones(len(rows))
    if len(known):
        mass = mass * _core.nearest_centroids(rows, known)[1]
    number = first + np.arange(len(rows), dtype=np.int64)
    with np.errstate(divide="ignore"):
        key = np.log(_uniform(number, seed)) / mass  # minus infinity where there is no mass
    chosen = np.argsort(-key, kind="stable")[:most]
    points = np.ascontiguousarray(rows[chosen], dtype=np.float64)
    return Drawn(key[chosen], number[chosen], points)


def _uniform(number: NDArray[np.int64], seed: int) -> Floats:
    """Give each row a random number in (0, 1), by the mixer of SplitMix64 (Steele et al. 2014)."""
    mixed = (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed += np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return np.asarray(((mixed >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)


def _reduced(
    parts: Parts, origin: Floats, candidates: Floats, k: int, rng: np.random.Generator
) -> Centroids:
    """Choose k of the candidates by k-means++, each as heavy as the rows nearest to it."""
    everyone = PartedRows(parts, np.empty(0, dtype=np.int64), origin)
    weight = everyone.look(candidates).weight
    nobody = Gathered.empty(k, parts.n_features)
    return starting_centroids(nobody.beside(candidates, weight, 0.0), "k-means++", rng)
