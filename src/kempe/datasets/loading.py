"""Loading a data set of the benchmark with its constraints."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kempe.constraints import Constraints
from kempe.datasets import sources
from kempe.datasets.catalogue import DatasetFacts, find, levels
from kempe.datasets.constraint_sets import make_constraints, published_level
from kempe.datasets.scaling import standardise as standardise_columns


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set, its true labels and one constraint set.

    Attributes
    ----------
    n_clusters
        Number of clusters.
    collection, name
        Where the set belongs and what it is called.
    level
        Share of the objects that the number of constraints was computed from; ``None`` if there
        are no constraints.
    X
        Features, standardised unless asked otherwise.
    y
        True labels, 0 .. n_clusters - 1; ``None`` if nobody knows them, which is so only for data
        from elsewhere.
    constraints
        Pairs that all agree with ``y``.
    true_inertia
        Inertia of the true partition on standardised features.
    origin
        The file it was read from, ``"generated"`` or ``"download"``.
    """

    collection: str
    name: str
    level: float | None
    X: NDArray[Any] = field(repr=False)
    y: NDArray[Any] | None = field(repr=False)
    n_clusters: int
    constraints: Constraints
    true_inertia: float
    origin: str

    @property
    def key(self) -> str:
        """Collection and name, as ``load`` wants them."""
        return f"{self.collection}/{self.name}"


def load(
    name: str,
    level: float | None = None,
    *,
    standardise: bool = True,
    dtype: DTypeLike = np.float64,
    data_home: str | PathLike[str] | None = None,
    download: bool = True,
) -> Dataset:
    """Load one of the seventy data sets of the benchmark.

    A set is read from ``data_home``, from the folder that the environment variable ``KEMPE_DATA``
    names or from the cache folder; if it is in none of them it is generated (collections 2 and 3)
    or downloaded into the cache folder. What is known about the set is checked.

    Parameters
    ----------
    name
        For example ``"COL3/n5000-k20"``; the collection may be left out.
    level
        Share of the objects that constraints are made from, one of ``levels(collection)`` (or,
        except in collection 1, any share). ``None`` for no constraints.
    standardise
        Scale the columns to mean 0 and standard deviation 1, as all experiments of the paper do.
    dtype
        Type of the standardised features; ``float32`` halves the memory of the large sets.
    data_home
        Folder with ``<collection>/<name>.npz`` files.
    download
        Whether the internet may be asked.

    Raises
    ------
    DataNotFoundError
        If no source has the set.
    ValueError
        If the copy found is not the set that the published results belong to.

    Examples
    --------
    >>> load("COL3/n500-k10", level=0.05).constraints
    Constraints(26 must-link, 274 cannot-link, 500 rows)
    """
    facts = find(name)
    level = _known_level(facts, level)
    raw = sources.raw(facts, data_home, download)
    constraints = _constraints(facts, raw, level)
    X = standardise_columns(raw.X, dtype) if standardise else raw.X
    return Dataset(
        facts.collection,
        facts.name,
        level,
        X,
        raw.y,
        facts.n_clusters,
        constraints,
        facts.true_inertia,
        raw.origin,
    )


def _known_level(facts: DatasetFacts, level: float | None) -> float | None:
    """Forgive rounding errors in a published level."""
    if level is None:
        return None
    known = levels(facts.collection)
    for published in known:
        if math.isclose(published, level, rel_tol=1e-9):
            return published
    if facts.collection == "COL1":
        raise ValueError(f"{facts.key} has constraints at the levels {known}, not at {level}")
    return level


def _constraints(facts: DatasetFacts, raw: sources.Raw, level: float | None) -> Constraints:
    if level is None:
        return Constraints(n_rows=facts.n_rows)
    if facts.collection == "COL1":
        constraints = _stored(facts, raw, level)
    else:
        constraints = make_constraints(raw.y, published_level(facts.collection, level))
    must, cannot = len(constraints.must_link), len(constraints.cannot_link)
    sources.check_counts(facts, level, must, cannot)
    return constraints


def _stored(facts: DatasetFacts, raw: sources.Raw, level: float) -> Constraints:
    if raw.pairs is None:
        raise sources.DataNotFoundError(
            f"{raw.origin} has no {facts.name}_constraints.npz beside it, and the constraint sets "
            "of collection 1 cannot be generated"
        )
    must, cannot = raw.pairs[f"ml_{level}"], raw.pairs[f"cl_{level}"]
    sources.check_labels(facts, level, raw.y, must, cannot)
    return Constraints(must, cannot, n_rows=facts.n_rows)
