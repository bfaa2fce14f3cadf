"""The parts of a Dask collection as arrays of numbers, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.dask.tasks import compute, library, task, tree

# Integers of these types are exact in float32, as on one machine.
_EXACT_IN_FLOAT32 = ("bool", "int8", "uint8", "int16", "uint16", "float16", "float32")


@dataclass(frozen=True, eq=False)
class RowFacts:
    """What a part, or several, say about themselves.

    Attributes
    ----------
    lengths
        Rows of each part.
    total
        Weight of all rows.
    lightest
        Smallest weight above 0.
    sums
        Weighted sum of the rows.
    low, high
        Smallest and largest entry of each feature.
    fault
        What is wrong with the data, if something is.
    """

    lengths: NDArray[np.int64]
    total: float
    lightest: float
    sums: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    fault: str

    @classmethod
    def of(cls, rows: NDArray[Any], weight: NDArray[np.float64], weighted: bool) -> RowFacts:
        """Look at one part, whose rows have weights or not."""
        fault = _fault(rows, weight, weighted)
        if fault or not len(rows):
            nothing = np.zeros(rows.shape[1])
            low, high = nothing + np.inf, nothing - np.inf
            return cls(np.array([len(rows)]), 0.0, np.inf, nothing, low, high, fault)
        some = weight[weight > 0]
        sums = weight @ rows if weight.size else rows.sum(axis=0, dtype=np.float64)
        return cls(
            np.array([len(rows)]),
            float(weight.sum()) if weight.size else float(len(rows)),
            float(some.min(initial=np.inf)) if weight.size else 1.0,
            np.asarray(sums, dtype=np.float64),
            rows.min(axis=0).astype(np.float64),
            rows.max(axis=0).astype(np.float64),
            "",
        )

    @classmethod
    def merged(cls, parts: Sequence[RowFacts]) -> RowFacts:
        """Put the facts of several parts together, in their order."""
        return cls(
            np.concatenate([part.lengths for part in parts]),
            sum(part.total for part in parts),
            min(part.lightest for part in parts),
            np.sum([part.sums for part in parts], axis=0),
            np.min([part.low for part in parts], axis=0),
            np.max([part.high for part in parts], axis=0),
            next((part.fault for part in parts if part.fault), ""),
        )


def _fault(rows: NDArray[Any], weight: NDArray[np.float64], weighted: bool) -> str:
    if not np.isfinite(rows).all():
        return "Input X contains NaN or infinity"
    if weighted and weight.size != len(rows):
        return "sample_weight has other parts than X"
    if not np.isfinite(weight).all() or (weight < 0).any():
        return "sample_weight has negative entries, NaN or infinity"
    return ""


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows of a Dask collection, part by part.

    Attributes
    ----------
    source
        The collection.
    raw
        A task for each part, as the collection has it.
    raw_weights
        A task for each part that gives the weights of its rows, or an empty array if all are 1.
    n_features
        Number of columns.
    names
        Their names, if they have any.
    dtype
        float32 or float64.
    weighted
        Whether rows have weights.
    """

    source: Any
    raw: list[Any]
    raw_weights: list[Any]
    n_features: int
    names: NDArray[np.object_] | None
    dtype: np.dtype[Any]
    weighted: bool

    @classmethod
    def of(cls, X: Any, sample_weight: Any = None) -> Parts:
        """Read a Dask array or data frame; anything else becomes an array of one part."""
        da = library().array
        names = None
        if is_frame(X):
            dtype, width = _common_type(X.dtypes), len(X.columns)
            if all(isinstance(name, str) for name in X.columns):
                names = np.asarray(X.columns, dtype=object)
            raw = delayed_parts(X)
        else:
            X = X if isinstance(X, da.Array) else da.from_array(np.asarray(X))
            if X.ndim != 2:
                raise ValueError(f"Expected 2D array, got {X.ndim}D array instead")
            X = X.rechunk({1: -1})
            dtype, width = _common_type([X.dtype]), X.shape[1]
            raw = delayed_parts(X)
        weights = [np.empty(0)] * len(raw)
        if sample_weight is not None:
            weights = _weights(sample_weight, X, len(raw))
        return cls(X, raw, weights, width, names, dtype, sample_weight is not None)

    def __len__(self) -> int:
        return len(self.raw)

    def map(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        each: Sequence[Sequence[Any]] = (),
        name: str | None = None,
    ) -> list[Any]:
        """Give a task for each part: ``function(rows, weight, *one of each, *arguments)``.

        Parameters
        ----------
        function
            Gets the rows, float32 or float64, and their weights, empty if all are 1.
        arguments
            The same for all parts.
        each
            Lists with an argument for each part.
        name
            What dashboards call the tasks.
        """
        name = name or function.__name__
        parts = zip(self.raw, self.raw_weights, *each, strict=True)
        return [
            task(_on_part, function, self.dtype, *part, *arguments, name=name) for part in parts
        ]

    @property
    def is_frame(self) -> bool:
        """Whether the rows came as a data frame."""
        return is_frame(self.source)

    @cached_property
    def facts(self) -> RowFacts:
        """Look at all rows once."""
        parts = self.map(RowFacts.of, self.weighted, name="facts")
        facts: RowFacts = compute([tree(RowFacts.merged, parts)])[0]
        if facts.fault:
            raise ValueError(facts.fault)
        return facts

    @property
    def n_rows(self) -> int:
        """Number of rows in all parts."""
        return int(self.facts.lengths.sum())

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Number of the first row of each part."""
        lengths = self.facts.lengths
        return np.asarray(np.cumsum(lengths) - lengths, dtype=np.int64)

    def split(self, numbers: NDArray[np.int64]) -> list[slice]:
        """Where among ascending row numbers those of each part are."""
        bounds = np.searchsorted(numbers, [*self.first, self.n_rows])
        return [slice(begin, end) for begin, end in pairwise(bounds.tolist())]

    def gathered(self, numbers: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Fetch rows with ascending numbers, and their weights."""
        where = self.split(numbers)
        positions = [numbers[part] - first for part, first in zip(where, self.first, strict=True)]
        tasks = self.map(_chosen, each=[positions], name="gather")
        found = compute([each for each, some in zip(tasks, positions, strict=True) if some.size])
        found = found or [(np.empty((0, self.n_features)), np.empty(0))]
        points, weights = zip(*found, strict=True)
        return np.concatenate(points), np.concatenate(weights)


def is_frame(X: Any) -> bool:
    """Whether something is a data frame of Dask."""
    if not library().is_dask_collection(X) or not hasattr(X, "divisions"):
        return False
    return hasattr(X, "columns") and X.ndim == 2


def delayed_parts(collection: Any) -> list[Any]:
    """Give a task for each part of a collection."""
    # The optimiser of frames may join parts, and those of ids and weights otherwise than of rows.
    parts: list[Any] = np.ravel(collection.to_delayed(optimize_graph=False)).tolist()
    return parts


def _on_part(
    function: Callable[..., Any], dtype: np.dtype[Any], raw: Any, weight: Any, *arguments: Any
) -> Any:
    """Make arrays of one part of a collection and of its weights, and call a function."""
    if hasattr(raw, "to_numpy"):
        raw = raw.to_numpy(dtype=dtype, na_value=np.nan)
    rows = np.ascontiguousarray(raw, dtype=dtype)
    return function(rows, np.ascontiguousarray(weight, dtype=np.float64), *arguments)


def _common_type(types: Any) -> np.dtype[Any]:
    small = all(str(kind).lower() in _EXACT_IN_FLOAT32 for kind in types)
    return np.dtype(np.float32 if small else np.float64)


def _weights(sample_weight: Any, X: Any, count: int) -> list[Any]:
    """Tasks for the weights, which have the parts of the rows."""
    dask = library()
    if not dask.is_dask_collection(sample_weight):
        lengths = [0] if is_frame(X) else X.chunks[0]
        if is_frame(X) or np.isnan(lengths).any():
            raise TypeError("sample_weight must be a Dask collection with the parts of X")
        sample_weight = dask.array.from_array(np.asarray(sample_weight), chunks=(lengths,))
    elif isinstance(sample_weight, dask.array.Array) and not is_frame(X):
        known = sample_weight.shape == X.shape[:1]  # an unknown length equals nothing
        sample_weight = sample_weight.rechunk((X.chunks[0],)) if known else sample_weight
    raw = delayed_parts(sample_weight)
    if len(raw) != count:
        raise ValueError(f"sample_weight has {len(raw)} parts but X has {count}")
    return raw


def _chosen(
    rows: NDArray[Any], weight: NDArray[np.float64], positions: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    own = weight[positions] if weight.size else np.ones(positions.size)
    return rows[positions], own
