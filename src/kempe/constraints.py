"""Must-link and cannot-link pairs, from whatever form the user has them in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

if TYPE_CHECKING:
    from kempe.feasibility import FeasibilityReport

Pairs = NDArray[np.integer[Any]]


class Constraints:
    """Pairs of rows that belong together and pairs that do not.

    Pass it to ``fit`` as ``constraints=``. It deliberately has neither a length nor a shape:
    scikit-learn's model selection slices every ``fit`` argument that is as long as the data, and
    pairs of row numbers would be corrupted silently.

    Parameters
    ----------
    must_link, cannot_link
        Pairs of 0-based row numbers: an (m, 2) integer array, a list of tuples, a data frame of
        two columns, or an n x n sparse matrix whose non-zero entries are the pairs. ``None`` for
        none.
    n_rows
        Number of rows the pairs refer to. If given, pairs are checked against it at once.

    Attributes
    ----------
    must_link, cannot_link : ndarray of shape (m, 2)
        The pairs as given, read-only, repetitions included.
    n_rows : int or None

    Examples
    --------
    >>> from kempe import Constraints
    >>> Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
    Constraints(1 must-link, 1 cannot-link)
    """

    must_link: Pairs
    cannot_link: Pairs
    n_rows: int | None

    def __init__(
        self,
        must_link: object = None,
        cannot_link: object = None,
        *,
        n_rows: int | None = None,
    ) -> None:
        if n_rows is None:
            n_rows = _rows_of_matrix(must_link) or _rows_of_matrix(cannot_link)
        self.n_rows = n_rows
        self.must_link = _as_pairs(must_link, "must_link")
        self.cannot_link = _as_pairs(cannot_link, "cannot_link")
        _check_pairs_differ(self.cannot_link)
        if n_rows is not None:
            self.check_rows(n_rows)

    @classmethod
    def from_groups(
        cls, groups: Iterable[ArrayLike], *, n_rows: int | None = None, exclusive: bool = False
    ) -> Constraints:
        """Rows of one group belong together; with ``exclusive``, rows of two groups do not.

        Only as many pairs are made as are needed: each group becomes a chain of must-link pairs,
        and one cannot-link pair stands for two groups.

        Examples
        --------
        >>> Constraints.from_groups([[0, 1, 2], [5, 6]], exclusive=True)
        Constraints(3 must-link, 1 cannot-link)
        """
        members = [_as_group(group, position) for position, group in enumerate(groups)]
        members = [group for group in members if group.size]
        chains = [np.column_stack([group[:-1], group[1:]]) for group in members]
        first = np.array([group[0] for group in members], dtype=np.int64)
        between = first[np.column_stack(np.triu_indices(first.size, k=1))] if exclusive else None
        return cls(np.concatenate(chains) if chains else None, between, n_rows=n_rows)

    @classmethod
    def from_labels(cls, labels: ArrayLike, *, unlabelled: object = -1) -> Constraints:
        """Rows with equal known labels belong together, rows with different ones do not.

        Parameters
        ----------
        labels : array of shape (n_rows,)
            One label per row.
        unlabelled
            Marks rows about which nothing is known (missing values do so in any case).

        Examples
        --------
        >>> Constraints.from_labels([0, 0, 1, -1])
        Constraints(1 must-link, 1 cannot-link, 4 rows)
        """
        known = np.asarray(labels)
        if known.ndim != 1:
            raise ValueError(f"labels must be one-dimensional, got shape {known.shape}")
        missing = np.asarray(known == unlabelled) | _is_missing(known)
        rows = np.flatnonzero(~np.broadcast_to(missing, known.shape))
        _, codes = np.unique(known[rows], return_inverse=True)
        order = np.argsort(codes, kind="stable")
        groups = np.split(rows[order], np.flatnonzero(np.diff(codes[order])) + 1)
        return cls.from_groups(groups, n_rows=known.size, exclusive=True)

    @classmethod
    def from_matrix(cls, matrix: Any) -> Constraints:
        """Read an n x n matrix, dense or sparse: positive entries must link, negative cannot.

        Examples
        --------
        >>> Constraints.from_matrix([[0, 1, -1], [1, 0, 0], [-1, 0, 0]])
        Constraints(1 must-link, 1 cannot-link, 3 rows)
        """
        entries = sparse.coo_array(matrix)
        _check_square(entries.shape, "the constraint matrix")
        pairs = np.column_stack(entries.coords).astype(np.int64, copy=False)
        upper = _upper_triangle(pairs)
        positive = entries.data > 0
        negative = entries.data < 0
        return cls(
            _unordered(pairs[positive & upper], pairs[positive & ~upper]),
            _unordered(pairs[negative & upper], pairs[negative & ~upper]),
            n_rows=entries.shape[0],
        )

    def check_rows(self, n_rows: int) -> None:
        """Raise ``ValueError`` unless every pair refers to rows 0 to ``n_rows - 1``."""
        if self.n_rows is not None and self.n_rows != n_rows:
            raise ValueError(
                f"the constraints refer to {self.n_rows} rows but the data has {n_rows}; "
                "use Constraints.subset(rows) when you fit on a part of the data"
            )
        for name in ("must_link", "cannot_link"):
            _check_range(getattr(self, name), n_rows, name)

    def subset(self, rows: ArrayLike) -> Constraints:
        """Give the constraints among ``rows``, renumbered to their positions in ``rows``.

        Must-link pairs are closed first, so rows joined through a row that is left out stay
        together, and cannot-link pairs pass on to the rows joined to their ends.

        Examples
        --------
        >>> Constraints([(0, 1), (1, 2)], [(2, 3)]).subset([0, 2, 3]).must_link.tolist()
        [[0, 1]]
        """
        kept = np.asarray(rows)
        if kept.dtype == np.bool_:
            kept = np.flatnonzero(kept)
        size = max([self.n_rows or 0, *(int(p.max()) + 1 for p in self._both() if p.size)])
        size = max(size, int(kept.max(initial=-1)) + 1)
        return _subset(self, kept.astype(np.int64), size)

    def without_must_link(self) -> Constraints:
        """Give the cannot-link pairs alone."""
        return Constraints(None, self.cannot_link, n_rows=self.n_rows)

    def check(
        self, n_clusters: int, *, time_limit: float = 60.0, random_state: int = 0
    ) -> FeasibilityReport:
        """Say whether ``n_clusters`` clusters suffice, which is the smallest number, and why not.

        Parameters
        ----------
        n_clusters
            Number of clusters.
        time_limit
            Seconds of wall time after which the answer may be that it is not known.
        random_state
            Seed of the heuristics.

        Examples
        --------
        >>> print(Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)]).check(2).certificate)
        3 rows 0, 1, 2 are cannot-linked to each other, so at least 3 clusters are needed
        """
        from kempe.feasibility import check

        return check(self, n_clusters, time_limit=time_limit, seed=random_state)

    def summary(self) -> str:
        """Say in one line how many pairs of each kind there are and how many rows they touch."""
        touched = np.unique(np.concatenate([p.ravel() for p in self._both()])).size
        of = "" if self.n_rows is None else f" of {self.n_rows:,}"
        return (
            f"{self.must_link.shape[0]:,} must-link and {self.cannot_link.shape[0]:,} cannot-link "
            f"pairs on {touched:,}{of} rows"
        )

    def _both(self) -> tuple[Pairs, Pairs]:
        return self.must_link, self.cannot_link

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constraints):
            return NotImplemented
        same = [np.array_equal(a, b) for a, b in zip(self._both(), other._both(), strict=True)]
        return all(same) and self.n_rows == other.n_rows

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        ml, cl = (p.shape[0] for p in self._both())
        rows = "" if self.n_rows is None else f", {self.n_rows} rows"
        return f"Constraints({ml} must-link, {cl} cannot-link{rows})"


def as_constraints(
    must_link: object = None, cannot_link: object = None, constraints: object = None
) -> Constraints:
    """Combine the arguments of ``fit`` into one ``Constraints``."""
    for name, value in (("must_link", must_link), ("cannot_link", cannot_link)):
        if isinstance(value, Constraints):
            if constraints is not None and constraints is not value:
                raise ValueError(f"got Constraints twice, as {name} and as constraints")
            constraints = value
            must_link, cannot_link = (
                None if given is value else given for given in (must_link, cannot_link)
            )
    if constraints is None:
        return Constraints(must_link, cannot_link)
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be a kempe.Constraints, got {type(constraints).__name__}; "
            "pass pairs as must_link= and cannot_link="
        )
    if must_link is not None or cannot_link is not None:
        raise ValueError("pass either a Constraints object or pairs, not both")
    return constraints


def _rows_of_matrix(value: object) -> int | None:
    return int(value.shape[0]) if sparse.issparse(value) else None  # type: ignore[attr-defined]


def _as_pairs(value: object, name: str) -> Pairs:
    """Read-only contiguous (m, 2) array of int32 or int64; no copy when it is one already."""
    if value is None:
        return _frozen(np.empty((0, 2), dtype=np.int64))
    if sparse.issparse(value):
        return _frozen(_pairs_of_matrix(value, name))
    pairs = np.asarray(value)
    if pairs.size == 0:
        return _frozen(np.empty((0, 2), dtype=np.int64))
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(
            f"{name} must be pairs of row numbers, that is of shape (m, 2), got shape {pairs.shape}"
        )
    return _frozen(np.ascontiguousarray(_as_integers(pairs, name)))


def _as_integers(pairs: NDArray[Any], name: str) -> Pairs:
    if pairs.dtype in (np.int32, np.int64):
        return pairs
    if pairs.dtype.kind in "iu":
        return pairs.astype(np.int64)
    if pairs.dtype.kind in "bc":
        raise TypeError(f"{name} must hold row numbers, got {pairs.dtype} values")
    try:
        numbers = pairs.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must hold row numbers, got {pairs.dtype} values") from None
    wrong = ~(np.isfinite(numbers) & (numbers == np.floor(numbers)))
    if wrong.any():
        position = int(np.flatnonzero(wrong.any(axis=1))[0])
        raise TypeError(
            f"{name} must hold whole row numbers; pair {position} is {pairs[position].tolist()}"
        )
    return numbers.astype(np.int64)


def _as_group(group: ArrayLike, position: int) -> NDArray[np.int64]:
    rows = np.asarray(group)
    if rows.ndim != 1:
        raise ValueError(f"group {position} must be a list of row numbers, got shape {rows.shape}")
    if rows.size and rows.dtype.kind not in "iu":
        raise TypeError(f"group {position} must hold row numbers, got {rows.dtype} values")
    return rows.astype(np.int64)


def _pairs_of_matrix(matrix: Any, name: str) -> Pairs:
    entries = sparse.coo_array(matrix)
    _check_square(entries.shape, name)
    pairs = np.column_stack(entries.coords).astype(np.int64, copy=False)[entries.data != 0]
    upper = _upper_triangle(pairs)
    return _unordered(pairs[upper], pairs[~upper])


def _check_square(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{name} must be a square matrix over the rows, got shape {shape}")


def _upper_triangle(pairs: Pairs) -> NDArray[np.bool_]:
    return np.asarray(pairs[:, 0] <= pairs[:, 1])


def _unordered(upper: Pairs, lower: Pairs) -> Pairs:
    """One pair for the two entries of a symmetric matrix; the diagonal says nothing."""
    pairs = np.concatenate([upper, lower[:, ::-1]])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.unique(pairs, axis=0) if pairs.size else pairs


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Cells that are NaN, NaT or None, each of which differs from itself or is None."""
    if values.dtype.kind == "O":
        return np.array([value is None or value != value for value in values], dtype=bool)
    return np.asarray(values != values)


def _frozen(pairs: Pairs) -> Pairs:
    view = pairs.view()
    view.flags.writeable = False
    return view


def _check_pairs_differ(cannot_link: Pairs) -> None:
    same = cannot_link[:, 0] == cannot_link[:, 1]
    if same.any():
        position = int(np.argmax(same))
        row = int(cannot_link[position, 0])
        raise ValueError(
            f"cannot_link pair {position} is ({row}, {row}): a row cannot be apart from itself"
        )


def _check_range(pairs: Pairs, n_rows: int, name: str) -> None:
    if not pairs.size or (pairs.min() >= 0 and pairs.max() < n_rows):
        return
    wrong = (pairs < 0) | (pairs >= n_rows)
    position = int(np.flatnonzero(wrong.any(axis=1))[0])
    first, second = (int(row) for row in pairs[position])
    what = "negative" if min(first, second) < 0 else f"out of range for {n_rows} rows"
    row = min(first, second) if min(first, second) < 0 else max(first, second)
    raise ValueError(f"{name} pair {position}, ({first}, {second}): row {row} is {what}")


def _subset(constraints: Constraints, rows: NDArray[np.int64], size: int) -> Constraints:
    ml, cl = constraints._both()
    graph = sparse.coo_array((np.ones(len(ml), dtype=np.int8), (ml[:, 0], ml[:, 1])), (size, size))
    _, group = sparse.csgraph.connected_components(graph, directed=False)
    # A group is represented in the subset by its first row there.
    first = np.full(size, -1, dtype=np.int64)
    first[group[rows[::-1]]] = np.arange(rows.size)[::-1]
    representative = first[group[rows]]
    later = np.flatnonzero(representative != np.arange(rows.size))
    apart = first[group[cl]] if len(cl) else np.empty((0, 2), dtype=np.int64)
    return Constraints(
        np.column_stack([representative[later], later]),
        apart[(apart >= 0).all(axis=1)],
        n_rows=rows.size,
    )
