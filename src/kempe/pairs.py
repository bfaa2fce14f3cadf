"""Pairs of rows, groups and labels from whatever form the user has them in, as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Pairs = NDArray[np.integer[Any]]

# Kernels count rows in 32 bits.
MOST_ROWS = 2**31 - 1

# Labels in words that say that nothing is known, whatever their case. NumPy makes words of -1 and
# of missing values when there are words beside them.
UNKNOWN_LABELS = frozenset({"", "?", "-1", "na", "n/a", "nan", "<na>", "null"})


def common_n_rows(n_rows: int | None, *values: object) -> int | None:
    """Say how many rows there are; what was said of them must not differ."""
    if n_rows is not None and (not isinstance(n_rows, Integral) or n_rows < 0):
        raise ValueError(f"n_rows must be a whole number of rows, got {n_rows!r}")
    sizes = {value.shape[0] for value in values if sparse.issparse(value)}  # type: ignore[attr-defined]
    sizes |= set() if n_rows is None else {n_rows}
    if len(sizes) > 1:
        counts = " and ".join(str(size) for size in sorted(sizes))
        raise ValueError(f"the matrices and n_rows disagree on the number of rows: {counts}")
    return int(sizes.pop()) if sizes else None


def as_pairs(value: object, name: str) -> Pairs:
    """Read-only contiguous (m, 2) array of int32 or int64; no copy when it is one already."""
    if value is None:
        return _frozen(np.empty((0, 2), dtype=np.int64))
    if sparse.issparse(value):
        return _frozen(_pairs_of_matrix(value, name))
    pairs = _as_table(value, name)
    if pairs.size == 0:
        return _frozen(np.empty((0, 2), dtype=np.int64))
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(_not_pairs(name, f"got shape {pairs.shape}", pairs.shape))
    return _frozen(np.ascontiguousarray(_as_integers(pairs, name)))


def _as_table(value: object, name: str, dtype: type | None = None) -> NDArray[Any]:
    if isinstance(value, (Set, Iterator)):
        value = list(value)
    try:
        table = np.asarray(value, dtype=dtype)
        if table.ndim == 1 and table.dtype.kind == "O":  # a series of tuples
            table = np.asarray(table.tolist(), dtype=dtype)
    except ValueError:
        raise ValueError(_not_pairs(name, "got entries of different lengths")) from None
    if table.ndim == 0:
        raise ValueError(_not_pairs(name, f"got {value!r:.60}"))
    return table


def _not_pairs(name: str, found: str, shape: tuple[int, ...] = ()) -> str:
    advice = ""
    if len(shape) == 2 and shape[0] == shape[1]:
        advice = "; for a dense n x n matrix use Constraints.from_matrix"
    elif shape == (2,):
        advice = "; write a single pair as [(0, 1)]"
    return f"{name} must be pairs of row numbers, that is of shape (m, 2), {found}{advice}"


def _as_integers(pairs: NDArray[Any], name: str) -> Pairs:
    if pairs.dtype in (np.int32, np.int64):
        return pairs
    if pairs.dtype.kind in "bc":
        raise TypeError(f"{name} must hold row numbers, got {pairs.dtype} values")
    if pairs.dtype.kind == "i":
        return pairs.astype(np.int64)
    try:
        numbers = pairs.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must hold row numbers, got {pairs[0].tolist()}; "
            "for pairs of ids use Constraints.from_ids"
        ) from None
    wrong = ~(np.isfinite(numbers) & (numbers == np.floor(numbers)))
    if wrong.any():
        position = int(np.flatnonzero(wrong.any(axis=1))[0])
        raise TypeError(
            f"{name} must hold whole row numbers; pair {position} is {pairs[position].tolist()}"
        )
    # What cannot be a row number may not fit into an integer either.
    return np.clip(numbers, -1, MOST_ROWS).astype(np.int64)


def as_group(group: ArrayLike, position: int) -> NDArray[np.int64]:
    """Row numbers of one group."""
    if type(group).__module__.partition(".")[0] == "pandas" and hasattr(group, "get_indexer"):
        raise TypeError(
            f"group {position} is a pandas index, which holds labels and not row numbers; "
            "df.groupby(...).indices.values() gives row numbers"
        )
    rows = np.asarray(sorted(group) if isinstance(group, Set) else group)
    if rows.ndim != 1:
        raise ValueError(f"group {position} must be a list of row numbers, got shape {rows.shape}")
    if rows.size and rows.dtype.kind not in "iu":
        raise TypeError(f"group {position} must hold row numbers, got {rows.dtype} values")
    return rows.astype(np.int64)


def check_disjoint(groups: list[NDArray[np.int64]]) -> None:
    """Refuse groups that share a row."""
    rows = np.concatenate([np.unique(group) for group in groups] or [np.empty(0, np.int64)])
    values, counts = np.unique(rows, return_counts=True)
    if (counts > 1).any():
        row = int(values[np.argmax(counts > 1)])
        first, second = [n for n, group in enumerate(groups) if row in group][:2]
        raise ValueError(f"row {row} is in groups {first} and {second}, which exclude each other")


def as_rows(rows: ArrayLike, n_rows: int | None) -> NDArray[np.int64]:
    """Row numbers, or the rows of a mask."""
    kept = np.asarray(rows)
    if kept.ndim != 1 or (kept.size and kept.dtype.kind not in "iub"):
        raise TypeError(f"rows must be row numbers or a mask, got {rows!r:.60}")
    if kept.dtype.kind == "b":
        if n_rows is not None and kept.size != n_rows:
            raise ValueError(f"the mask has {kept.size} entries for {n_rows} rows")
        return np.flatnonzero(kept)
    kept = kept.astype(np.int64)
    most = MOST_ROWS if n_rows is None else n_rows
    if kept.size and (kept.min() < 0 or kept.max() >= most):
        wrong = kept[(kept < 0) | (kept >= most)]
        raise ValueError(f"row {int(wrong[0])} is out of range for {most} rows")
    return kept


def _pairs_of_matrix(matrix: Any, name: str) -> Pairs:
    entries = sparse.coo_array(matrix)
    check_square(entries.shape, name)
    pairs = np.column_stack(entries.coords).astype(np.int64, copy=False)[entries.data != 0]
    upper = upper_triangle(pairs)
    return unordered(pairs[upper], pairs[~upper])


def check_square(shape: tuple[int, ...], name: str) -> None:
    """Refuse a matrix that is not square."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{name} must be a square matrix over the rows, got shape {shape}")


def upper_triangle(pairs: Pairs) -> NDArray[np.bool_]:
    """Which pairs lie on or above the diagonal of a matrix."""
    return np.asarray(pairs[:, 0] <= pairs[:, 1])


def unordered(upper: Pairs, lower: Pairs) -> Pairs:
    """One pair for the two entries of a symmetric matrix; the diagonal says nothing."""
    pairs = np.concatenate([upper, lower[:, ::-1]])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.unique(pairs, axis=0) if pairs.size else pairs


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Cells that are None, or NaN, NaT or NA, which do not equal themselves, or say so in words."""
    if values.dtype.kind in "OU":
        return np.array([_is_missing_value(value) for value in values.tolist()], dtype=bool)
    return np.asarray(values != values)


def _is_missing_value(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in UNKNOWN_LABELS
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA does not know whether it does
        return True


def label_codes(labels: NDArray[Any]) -> NDArray[np.intp]:
    """Give a number to each distinct label; those of objects need not be comparable."""
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)[1]
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.intp)


def _frozen(pairs: Pairs) -> Pairs:
    view = pairs.view()
    view.flags.writeable = False
    return view


def check_pairs_differ(cannot_link: Pairs, name: str = "cannot_link") -> None:
    """Refuse a cannot-link pair of a row with itself."""
    same = cannot_link[:, 0] == cannot_link[:, 1]
    if same.any():
        position = int(np.argmax(same))
        row = int(cannot_link[position, 0])
        raise ValueError(
            f"{name} pair {position} is ({row}, {row}): a row cannot be apart from itself"
        )


def check_range(pairs: Pairs, n_rows: int, name: str) -> None:
    """Refuse row numbers that the data does not have."""
    if not pairs.size or (pairs.min() >= 0 and pairs.max() < n_rows):
        return
    wrong = (pairs < 0) | (pairs >= n_rows)
    position = int(np.flatnonzero(wrong.any(axis=1))[0])
    first, second = (int(row) for row in pairs[position])
    where = f"{name} pair {position}, ({first}, {second})"
    if min(first, second) < 0:
        raise ValueError(f"{where}: row {min(first, second)} is negative")
    if n_rows == MOST_ROWS:
        raise ValueError(f"{where}: row {max(first, second)} is too large, even for 32 bits")
    raise ValueError(
        f"{where}: row {max(first, second)} is out of range for {n_rows} rows, "
        "which are counted from 0 by position"
    )


class RowsOfIds:
    """The row of each id, found for all pairs at once.

    Parameters
    ----------
    ids
        The id of each row; an id must name one row.

    Attributes
    ----------
    names
        The ids, in the order of the rows.
    """

    def __init__(self, ids: ArrayLike) -> None:
        names = np.asarray(ids, dtype=object)
        if names.ndim != 1:
            raise ValueError(f"ids must be one-dimensional, one per row, got shape {names.shape}")
        self.names: list[Any] = names.tolist()
        self._sorted = _sortable(self.names)
        if self._sorted is None:
            repeated = len(set(self.names)) < len(self.names)
        else:
            self._order = np.argsort(self._sorted, kind="stable")
            self._sorted = self._sorted[self._order]
            repeated = bool((self._sorted[1:] == self._sorted[:-1]).any())
        if repeated:
            name, count = Counter(self.names).most_common(1)[0]
            raise ValueError(f"the id {name!r} stands for {count} rows; an id must name one row")

    def pairs(self, value: object, name: str) -> Pairs | None:
        """Pairs of row numbers for pairs of ids."""
        if value is None:
            return None
        pairs = _as_table(value, name, object)  # as objects: 7 and "7" are two ids
        if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2):
            raise ValueError(
                f"{name} must be pairs of ids, that is of shape (m, 2), got {pairs.shape}"
            )
        rows = self._found(pairs.ravel().tolist()).reshape(-1, 2)
        if rows.size and rows.min() < 0:
            position, side = (int(i[0]) for i in np.nonzero(rows < 0))
            unknown = pairs[position, side]
            raise ValueError(f"{name} pair {position}: no row has the id {unknown!r}")
        return rows

    def _found(self, entries: list[Any]) -> NDArray[np.int64]:
        """Give the row of each id, -1 where there is none."""
        wanted = None if self._sorted is None else _sortable(entries)
        if self._sorted is None or wanted is None or wanted.dtype.kind != self._sorted.dtype.kind:
            known = {name: row for row, name in enumerate(self.names)}
            return np.array([known.get(entry, -1) for entry in entries], dtype=np.int64)
        if not self._sorted.size:
            return np.full(len(entries), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self._sorted, wanted), self._sorted.size - 1)
        hit = self._sorted[place] == wanted
        return np.where(hit, self._order[place], -1).astype(np.int64)


def _sortable(names: list[Any]) -> NDArray[Any] | None:
    """Give ids as an array if they are all text or all whole numbers."""
    kinds = set(map(type, names))
    if kinds <= {int} or kinds <= {str}:
        array = np.array(names)
        # NumPy drops zero characters at the end, and leaves numbers that are too large as objects.
        plain = array.dtype.kind in "iU" and not (kinds <= {str} and any("\0" in n for n in names))
        return array if plain and names else None
    return None
