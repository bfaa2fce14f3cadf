"""A thousand fits that together go through everything that a search can do.

They know no more than the public interface, so that two states of the code can be compared, and all
of them end by counting, never by time. Groups are named for what they reach.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from folders import available
from kempe import Constraints, KempeKMeans, datasets, methods

APART = 4
"""Standard deviations between the centres of two groups, on average: they overlap."""


class Data(NamedTuple):
    """Rows, pairs, number of clusters."""

    X: NDArray[np.float64]
    pairs: Constraints
    n_clusters: int


@dataclass(frozen=True)
class Published:
    """An instance of the benchmark; ``kinds`` says which pairs are kept."""

    name: str
    level: float | None
    kinds: str = "both"

    def __str__(self) -> str:
        kinds = "" if self.kinds == "both" else f" {self.kinds}"
        return f"{self.name} {self.level}{kinds}"

    def make(self) -> Data:
        """Load it."""
        found = datasets.load(self.name, self.level, download=False)
        pairs = found.constraints
        if self.kinds == "cannot":
            pairs = Constraints(None, pairs.cannot_link)
        return Data(found.X, pairs, found.n_clusters)


@dataclass(frozen=True)
class Blobs:
    """Overlapping groups; pairs agree with labels of which some are wrong."""

    n_rows: int
    n_features: int
    n_clusters: int
    n_pairs: int = 0
    seed: int = 0
    repeated: int = 1  # so often each row comes, one after the other

    def __str__(self) -> str:
        size = f"{self.n_rows}x{self.n_features} k{self.n_clusters} p{self.n_pairs}"
        return f"blobs {size} s{self.seed}" + (f" r{self.repeated}" if self.repeated > 1 else "")

    def make(self) -> Data:
        """Draw it, by the legacy generator, which is the same in every version of NumPy."""
        legacy = np.random.RandomState(self.seed)
        blob = legacy.randint(self.n_clusters, size=self.n_rows)
        apart = APART / np.sqrt(2 * self.n_features)
        centres = apart * legacy.standard_normal((self.n_clusters, self.n_features))
        X = centres[blob] + legacy.standard_normal((self.n_rows, self.n_features))
        X = X[np.arange(self.n_rows) // self.repeated]
        wrong = legacy.random_sample(self.n_rows) < 0.1
        hidden = np.where(wrong, legacy.permutation(blob), blob)
        pairs = legacy.randint(self.n_rows, size=(self.n_pairs, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
        return Data(X, Constraints(pairs[same], pairs[~same]), self.n_clusters)


@dataclass(frozen=True)
class Planted:
    """Rows without groups, and cannot-link pairs near the most that so many clusters can keep."""

    n_rows: int
    n_features: int
    n_clusters: int
    degree: float
    seed: int = 0

    def __str__(self) -> str:
        size = f"{self.n_rows}x{self.n_features} k{self.n_clusters}"
        return f"planted {size} g{self.degree:g} s{self.seed}"

    def make(self) -> Data:
        """Draw it."""
        legacy = np.random.RandomState(self.seed)
        X = legacy.standard_normal((self.n_rows, self.n_features))
        hidden = legacy.randint(self.n_clusters, size=self.n_rows)
        wanted = int(self.n_rows * self.degree / 2)
        pairs = legacy.randint(self.n_rows, size=(4 * wanted, 2))
        pairs = pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]][:wanted]
        return Data(X, Constraints(None, pairs), self.n_clusters)


@dataclass(frozen=True)
class Fit:
    """One fit.

    Attributes
    ----------
    data
        What is clustered.
    method
        Name of the method, ``"dask"`` for rows in parts.
    options
        Parameters of the estimator. Those of ``params`` belong to the settings of our search.
    dtype
        Of the rows.
    weighted
        Whether rows have weights, some of them zero.
    soft
        Whether the cannot-link pairs may be broken at a price.
    """

    data: Published | Blobs | Planted
    method: str = "kempe"
    options: dict[str, Any] = field(default_factory=dict)
    dtype: str = "float64"
    weighted: bool = False
    soft: bool = False

    def __str__(self) -> str:
        options = [f"{name}={value}" for name, value in self.options.items()]
        marks = ["weighted"] * self.weighted + ["soft"] * self.soft
        return " ".join([str(self.data), self.method, *options, self.dtype, *marks])

    def run(self) -> Any:
        """Give the fitted estimator, whose labels are in memory."""
        data = _made(self.data)
        rows, pairs = data.X.astype(self.dtype), self._pairs(data.pairs)
        weight = {"sample_weight": _weights(len(rows))} if self.weighted else {}
        options = {"random_state": 7, **self.options}
        if "params" in options:
            options["params"] = settings()(**options["params"])
        if self.method == "dask":
            return _dask_fit(rows, data.n_clusters, options, pairs | weight)
        return methods.create(self.method, data.n_clusters, **options).fit(rows, **pairs, **weight)

    def _pairs(self, pairs: Constraints) -> dict[str, Any]:
        if not self.soft:
            return {"constraints": pairs}
        price = np.random.RandomState(1).uniform(0.1, 1.0, len(pairs.cannot_link))
        return {
            "must_link": pairs.must_link,
            "soft_cannot_link": pairs.cannot_link,
            _soft_price_name(): price,
        }

    @property
    def is_possible(self) -> bool:
        """Whether the data is there, and the settings that it asks for."""
        known = signature(settings()).parameters
        if not set(self.options.get("params", {})) <= set(known):
            return False
        return not isinstance(self.data, Published) or available(self.data.name)


def _soft_price_name() -> str:
    """Name of the argument that says what breaking a soft pair costs, which has changed."""
    known = signature(methods.create("PCCC", 2).fit).parameters
    return next(name for name in known if name.startswith("soft_cannot_link_"))


def settings() -> type:
    """Class of the settings of our search, wherever it is defined."""
    room = import_module(KempeKMeans.__module__.rpartition(".")[0])
    return room.MemeticParams  # type: ignore[no-any-return]


@lru_cache(maxsize=4)
def _made(data: Published | Blobs | Planted) -> Data:
    return data.make()


def _weights(n_rows: int) -> NDArray[np.float64]:
    legacy = np.random.RandomState(3)
    return np.where(legacy.random_sample(n_rows) < 0.05, 0.0, legacy.uniform(0.5, 3.0, n_rows))


def _dask_fit(
    rows: NDArray[Any], n_clusters: int, options: dict[str, Any], passed: dict[str, Any]
) -> Any:
    import dask
    import dask.array as da

    from kempe.dask import KempeKMeans as InParts

    length = -(-len(rows) // 3)
    if "sample_weight" in passed:
        passed["sample_weight"] = da.from_array(passed["sample_weight"], chunks=length)
    with dask.config.set(scheduler="synchronous"):
        parts = da.from_array(rows, chunks=(length, rows.shape[1]))
        model = InParts(n_clusters, **options).fit(parts, **passed)
        model.labels_ = np.asarray(model.labels_)
    return model


def _instances(*collections: str) -> list[Published]:
    return [
        Published(name, level)
        for collection in collections
        for name in datasets.names(collection)
        for level in datasets.levels(collection)
    ]


def collections() -> Iterator[Fit]:
    """Our search on all instances of collections 1 to 3, one thread and two."""
    for number, data in enumerate(_instances("COL1", "COL2", "COL3")):
        most = 100 if data.name.startswith("COL3/n5000") else 250
        yield Fit(data, options={"max_mutations": most, "n_jobs": 1})
        second = {"max_mutations": most // 2, "n_jobs": 2, "random_state": number}
        if number % 2:
            yield Fit(data, options=second, weighted=True)
        else:
            yield Fit(data, options=second, dtype="float32")


def to_the_end() -> Iterator[Fit]:
    """Our search until clusterings agree, as users run it."""
    for data in _instances("COL1")[::5]:
        yield Fit(data)
    for data in (Published("COL3/n500-k10", 0.1), Published("COL2/n300-k10-s20", 0.3)):
        yield Fit(data, options={"n_jobs": 2})
        yield Fit(data, options={"patience": 40, "n_init": 2}, dtype="float32")


def single_descents() -> Iterator[Fit]:
    """One descent each, from several starts."""
    for data in _instances("COL1", "COL2", "COL3")[3::9]:
        yield Fit(data, options={"max_mutations": 0, "n_init": 3})
        yield Fit(data, options={"max_mutations": 0, "init": "random"}, dtype="float32")


def kskm() -> Iterator[Fit]:
    """Run the algorithm of the paper over the collections, and in its variants."""
    for number, data in enumerate(_instances("COL1", "COL2", "COL3")[1::4]):
        method = ("KSKM", "KSKM_text", "KSKM_repo", "KSKM_repo_text")[number % 4]
        dtype = "float32" if number % 3 == 0 else "float64"
        yield Fit(data, method, {"max_mutations": 6}, dtype, weighted=number % 5 == 0)
    variants: list[dict[str, Any]] = [
        *({"mwis": mwis} for mwis in ("greedy", "spectral", "exact")),
        *({"relocation": kind} for kind in ("replace", "reposition", "coincide", "kmeans")),
        {"relocation": "sdp", "max_mutations": 3},
        {"relocation": "kmeans", "alpha": 0.5, "perturbation": 0.2},
        {"three_colour": True},
        {"three_colour": True, "mwis": "spectral"},
        {"habits": "program"},
        {"after_perturbation": "settle", "failures_before_return": 2},
        {"patience": 3, "n_init": 2},
        {"init": "random", "max_mutations": 0},
    ]
    for data in (Blobs(150, 3, 5, 250), Published("COL2/n300-k10-s30", 0.15)):
        for variant in variants:
            yield Fit(data, "KSKM_text", {"max_mutations": 10, **variant})
    for data in (Blobs(80, 3, 4, 120, seed=1), Planted(40, 2, 4, 8.0)):
        for solver in (True, "highs", "cpsat"):
            yield Fit(data, "KSKM_text", {"exact": solver, "max_mutations": 4})
        yield Fit(data, "KSKM_text", {"exact": True, "three_colour": True, "max_mutations": 4})


def all_methods() -> Iterator[Fit]:
    """Every method of the paper on a few small instances."""
    small = [Blobs(60, 2, 3, 60, seed=s) for s in (2, 3)] + [Blobs(120, 5, 6, 100, seed=4)]
    for name in methods.names():
        brief = {"max_mutations": 4} if name.startswith(("KSKM", "kempe")) else {}
        for data in small:
            yield Fit(data, name, brief)
        yield Fit(small[2], name, brief, "float32", weighted=True)
        yield Fit(Published("COL1/iris", 0.1), name, brief)
    for data in small:
        for rule in ("inertia", "violations"):
            yield Fit(data, "PCCC", {"repositioning": rule}, soft=True)
            yield Fit(data, "PCCC_squared", {"repositioning": rule}, soft=True)
        yield Fit(data, "PCCC_squared", {"kempe_swaps": False})


def large() -> Iterator[Fit]:
    """Run loops over large data, in blocks and threads, of few features and of many."""
    few, some = Blobs(120_000, 9, 8, 3000), Blobs(60_000, 20, 12, 0, seed=1)
    recombining = {"params": {"relocations_per_cluster": 0, "extra_relocations": 2}}
    many, dense = Blobs(17_000, 64, 9, 4000, seed=2), Blobs(70_000, 16, 6, 40_000, seed=3)
    for data in (few, some, many, dense):
        for dtype in ("float64", "float32"):
            yield Fit(data, options={"max_mutations": 0, "n_jobs": 1}, dtype=dtype)
            yield Fit(data, options={"max_mutations": 20, "n_jobs": 1}, dtype=dtype)
        yield Fit(data, options={"max_mutations": 20, "n_jobs": 2, **recombining})
        yield Fit(data, options={"max_mutations": 12, "n_jobs": 2}, weighted=True, dtype="float32")


def many_features() -> Iterator[Fit]:
    """Chains priced by a table, ejection and sketches."""
    table, sketch = Blobs(33_000, 64, 8, 9000, seed=4), Blobs(10_000, 250, 10, 5000, seed=5)
    bare = Blobs(4500, 250, 8, 0, seed=6)
    for data in (table, sketch, bare):
        for dtype in ("float64", "float32"):
            yield Fit(data, options={"max_mutations": 0, "n_jobs": 1}, dtype=dtype)
            yield Fit(data, options={"max_mutations": 15, "n_jobs": 1}, dtype=dtype)
        yield Fit(data, options={"max_mutations": 15, "n_jobs": 2}, weighted=True)
        yield Fit(data, options={"max_mutations": 20, "params": {"extra_relocations": 1}})
    yield Fit(Blobs(1500, 100, 12, 2500, seed=7), options={"max_mutations": 30})
    yield Fit(Blobs(1500, 100, 12, 2500, seed=7), options={"max_mutations": 30}, dtype="float32")


def tight() -> Iterator[Fit]:
    """Pairs that leave little room: annealed local optima, and glass."""
    for seed in range(6):
        for data in (
            Planted(80, 2, 3, 4.6, seed),
            Planted(120, 3, 5, 11.0, seed),
            Planted(60, 2, 8, 20.0, seed),
        ):
            dtype = "float32" if seed % 2 else "float64"
            yield Fit(data, options={"max_mutations": 20, "n_jobs": 1 + seed % 2}, dtype=dtype)
    for params in ({"annealing": True}, {"annealing": False}, {"exhaustive_start": False}):
        yield Fit(Planted(80, 2, 3, 4.6), options={"max_mutations": 8, "params": params})
    glass = Published("COL1/vehicle", 0.1, "cannot")
    yield Fit(glass, options={"max_mutations": 60})
    yield Fit(glass, options={"max_mutations": 60, "n_jobs": 2}, dtype="float32")
    yield Fit(Planted(200, 2, 6, 8.0), options={"max_mutations": 60, "n_jobs": 2})


def tiny() -> Iterator[Fit]:
    """Problems of which all clusterings are looked at."""
    for seed in range(12):
        data = Blobs(6 + seed % 5, 1 + seed % 3, 2 + seed % 3, seed % 4, seed=seed)
        yield Fit(data, options={"n_jobs": 1})
        yield Fit(data, dtype="float32", weighted=seed % 2 == 0)
    for seed in range(4):
        yield Fit(Blobs(9, 2, 3, 4, seed=seed), options={"params": {"enumerate_up_to": 0}})


def awkward() -> Iterator[Fit]:
    """Equal rows, as many clusters as rows, one cluster, settings of the population."""
    for seed in range(4):
        yield Fit(Blobs(90, 2, 6, 80, seed, repeated=6), options={"max_mutations": 30})
        yield Fit(Blobs(60, 2, 20, 0, seed, repeated=6), options={"max_mutations": 10})
        yield Fit(Blobs(40, 3, 1, 0, seed), options={"max_mutations": 5})
        yield Fit(Blobs(30, 2, 29, 6, seed), options={"max_mutations": 20}, weighted=True)
    shapes: list[dict[str, Any]] = [
        {"population_size": 2, "generation_size": 1},
        {"generation_size": 5},
        {"relocations_per_cluster": 0.0, "extra_relocations": 0},
        {"agreement": 2},
        {"saturation_rounds": 0},
    ]
    for params in shapes:
        yield Fit(Published("COL3/n500-k20", 0.1), options={"max_mutations": 80, "params": params})
        yield Fit(Blobs(400, 3, 8, 300, seed=8), options={"n_jobs": 2, "params": params})


def in_parts() -> Iterator[Fit]:
    """Rows in no constraint that move all at once, in one memory and on Dask."""
    batched = {"max_mutations": 3, "params": {"batched": True}}
    for data in (Blobs(1500, 3, 6, 400, seed=9), Blobs(1200, 8, 5, 0, seed=10)):
        for dtype in ("float64", "float32"):
            yield Fit(data, options=batched, dtype=dtype)
            yield Fit(data, options=batched, dtype=dtype, weighted=True)
            for most in (0, 20):
                parts = {"max_mutations": most, "gather_up_to": 0, "n_cells": 300}
                yield Fit(data, "dask", parts, dtype)
                yield Fit(data, "dask", parts, dtype, weighted=True)
        yield Fit(data, "dask", {"max_mutations": 20})
        yield Fit(data, "dask", {"gather_up_to": 0, "n_cells": 200, "patience": 30, "n_init": 2})
        yield Fit(data, "dask", {"max_mutations": 0, "gather_up_to": 0, "init": "random"})


GROUPS = (
    *(collections, to_the_end, single_descents, kskm, all_methods, large),
    *(many_features, tight, tiny, awkward, in_parts),
)
QUICK = 11
"""One of so many fits of a group is enough while developing; odd, as groups alternate."""


@cache
def all_fits() -> dict[str, Fit]:
    """Every fit that can be made here, by its name."""
    found = [
        (f"{group.__name__}: {fit}", fit) for group in GROUPS for fit in group() if fit.is_possible
    ]
    if len(dict(found)) < len(found):
        raise RuntimeError("two fits have the same name")
    return dict(found)


def quick(names: list[str]) -> list[str]:
    """Give a part of the fits, some of each group."""
    by_group: dict[str, list[str]] = {}
    for name in names:
        by_group.setdefault(name.partition(":")[0], []).append(name)
    return [name for group in by_group.values() for name in group[::QUICK]]


def n_processes() -> int:
    """Two, or fewer where there are fewer cores."""
    return min(2, os.cpu_count() or 1)
