"""What is known about every data set: size, true inertia, number of constraints per level."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources

COLLECTIONS = ("COL1", "COL2", "COL3", "COL4")

_TWENTY_PER_CENT = (0.05, 0.1, 0.15, 0.2)
_LEVELS = {
    "COL1": _TWENTY_PER_CENT,
    "COL2": (*_TWENTY_PER_CENT, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
    "COL3": _TWENTY_PER_CENT,
    "COL4": (0.005, 0.01, 0.05),
}


@dataclass(frozen=True)
class DatasetFacts:
    """What a copy of a data set must agree with.

    Attributes
    ----------
    collection, name
        Where the set belongs and what it is called.
    n_rows, n_features, n_clusters
        Its size.
    true_inertia
        Inertia of the true partition on standardised features, to six decimals.
    counts
        Number of must-link and of cannot-link pairs at each level.
    """

    collection: str
    name: str
    n_rows: int
    n_features: int
    n_clusters: int
    true_inertia: float
    counts: dict[float, tuple[int, int]]

    @property
    def key(self) -> str:
        """Collection and name, as ``load`` wants them."""
        return f"{self.collection}/{self.name}"


def names(collection: str | None = None) -> tuple[str, ...]:
    """Names of the data sets of one collection, or of all, as ``load`` wants them.

    Parameters
    ----------
    collection
        ``"COL1"`` to ``"COL4"``; ``None`` for all.

    Examples
    --------
    >>> names("COL4")
    ('COL4/banana', 'COL4/letter', 'COL4/shuttle', 'COL4/mnist', 'COL4/cifar10', 'COL4/cifar100')
    """
    if collection is not None:
        _check_collection(collection)
    return tuple(
        key for key, facts in _catalogue().items() if collection in (None, facts.collection)
    )


def levels(collection: str) -> tuple[float, ...]:
    """Constraint levels of a collection, each a share of the objects.

    Parameters
    ----------
    collection
        ``"COL1"`` to ``"COL4"``.

    Examples
    --------
    >>> levels("COL3")
    (0.05, 0.1, 0.15, 0.2)
    """
    _check_collection(collection)
    return _LEVELS[collection]


def describe(pattern: str = "*") -> list[DatasetFacts]:
    """DatasetFacts about the data sets whose name matches a shell pattern.

    Parameters
    ----------
    pattern
        Such as ``"COL2/*"``.

    Examples
    --------
    >>> [facts.n_rows for facts in describe("COL3/*-k100")]
    [500, 1000, 2000, 5000]
    """
    return [facts for key, facts in _catalogue().items() if fnmatchcase(key, pattern)]


def find(name: str) -> DatasetFacts:
    """DatasetFacts about one data set; the collection may be left out of its name."""
    catalogue = _catalogue()
    if name in catalogue:
        return catalogue[name]
    matches = [facts for facts in catalogue.values() if facts.name == name]
    if not matches:
        raise ValueError(f"unknown data set {name!r}; kempe.datasets.names() lists them")
    return matches[0]


def _check_collection(collection: str) -> None:
    if collection not in COLLECTIONS:
        raise ValueError(f"unknown collection {collection!r}, expected one of {COLLECTIONS}")


@cache
def _catalogue() -> dict[str, DatasetFacts]:
    text = resources.files("kempe.datasets").joinpath("catalogue.csv").read_text(encoding="utf-8")
    everything = [_facts(row) for row in csv.DictReader(text.splitlines())]
    return {facts.key: facts for facts in everything}


def _facts(row: dict[str, str]) -> DatasetFacts:
    cells = [cell.split("/") for cell in row["constraint_counts"].split()]
    counts = {
        level: (int(must), int(cannot))
        for level, (must, cannot) in zip(_LEVELS[row["collection"]], cells, strict=True)
    }
    return DatasetFacts(
        row["collection"],
        row["name"],
        int(row["n_rows"]),
        int(row["n_features"]),
        int(row["n_clusters"]),
        float(row["true_inertia"]),
        counts,
    )
