"""Must-link and cannot-link pairs, from whatever form the user has them in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Set
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kempe.exceptions import InfeasibleConstraintsError

if TYPE_CHECKING:
    from kempe.graph.check import FeasibilityReport

Pairs = NDArray[np.integer[Any]]

# Kernels count rows in 32 bits.
MOST_ROWS = 2**31 - 1

# Labels in words that say that nothing is known, whatever their case. NumPy makes words of -1 and
# of missing values when there are words beside them.
UNKNOWN_LABELS = frozenset({"", "?", "-1", "na", "n/a", "nan", "<na>", "null"})


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
        none. Row numbers are positions, whatever index a data frame has.
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
        self.n_rows = _common_n_rows(n_rows, must_link, cannot_link)
        self.must_link = _as_pairs(must_link, "must_link")
        self.cannot_link = _as_pairs(cannot_link, "cannot_link")
        _check_pairs_differ(self.cannot_link)
        self.check_rows(MOST_ROWS if self.n_rows is None else self.n_rows)

    @classmethod
    def from_groups(
        cls, groups: Iterable[ArrayLike], *, n_rows: int | None = None, exclusive: bool = False
    ) -> Constraints:
        """Rows of one group belong together; with ``exclusive``, rows of two groups do not.

        Only as many pairs are made as are needed: each group becomes a chain of must-link pairs,
        and one cannot-link pair stands for two groups.

        Parameters
        ----------
        groups
            Row numbers of each group, counted from 0.
        n_rows
            Number of rows that the groups refer to, if it is to be checked.
        exclusive
            Whether rows of two groups must be apart.

        Examples
        --------
        >>> Constraints.from_groups([[0, 1, 2], [5, 6]], exclusive=True)
        Constraints(3 must-link, 1 cannot-link)
        """
        members = [_as_group(group, position) for position, group in enumerate(groups)]
        if exclusive:
            _check_disjoint(members)
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
            Marks rows about which nothing is known. Missing values do so in any case, and so do the
            words for them, in small or large letters: blanks, ``?``, ``-1``, ``NA``, ``N/A``,
            ``NaN``, ``<NA>`` and ``null``.

        Examples
        --------
        >>> Constraints.from_labels([0, 0, 1, -1])
        Constraints(1 must-link, 1 cannot-link, 4 rows)
        >>> Constraints.from_labels(["oak", "oak", "fir", "NA", float("nan")])
        Constraints(1 must-link, 1 cannot-link, 5 rows)
        """
        known = np.asarray(labels)
        if known.ndim != 1:
            raise ValueError(f"labels must be one-dimensional, got shape {known.shape}")
        if not isinstance(unlabelled, Hashable):
            raise TypeError(f"unlabelled must be a single value, got {unlabelled!r}")
        rows = np.flatnonzero(~_is_missing(known))
        rows = rows[np.broadcast_to(np.asarray(known[rows] != unlabelled), rows.shape)]
        codes = _codes(known[rows])
        order = np.argsort(codes, kind="stable")
        groups = np.split(rows[order], np.flatnonzero(np.diff(codes[order])) + 1)
        return cls.from_groups(groups, n_rows=known.size, exclusive=True)

    @classmethod
    def from_ids(
        cls, must_link: object = None, cannot_link: object = None, *, ids: ArrayLike
    ) -> Constraints:
        """Read pairs of ids, such as customer numbers, instead of row numbers.

        Parameters
        ----------
        must_link, cannot_link
            Pairs of ids: an (m, 2) array, a list of tuples or a data frame of two columns.
        ids : array of shape (n_rows,)
            The id of each row of the data, each only once: a column or the index of a frame.

        Examples
        --------
        >>> Constraints.from_ids([("ann", "bob")], ids=["bob", "cid", "ann"]).must_link.tolist()
        [[2, 0]]
        """
        rows = _rows_of_ids(ids)
        return cls(
            _pairs_of_ids(must_link, rows, "must_link"),
            _pairs_of_ids(cannot_link, rows, "cannot_link"),
            n_rows=len(rows),
        )

    @classmethod
    def from_matrix(cls, matrix: Any) -> Constraints:
        """Read an n x n matrix, dense or sparse: positive entries must link, negative cannot.

        Parameters
        ----------
        matrix
            Square, dense or ``scipy.sparse``. The size of an entry does not matter, and (i, j) says
            the same as (j, i).

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
        """Raise ``ValueError`` unless every pair refers to rows 0 to ``n_rows - 1``.

        Parameters
        ----------
        n_rows
            Number of rows of the data.
        """
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

        Parameters
        ----------
        rows
            Row numbers, or a mask with an entry for each row.

        Examples
        --------
        >>> Constraints([(0, 1), (1, 2)], [(2, 3)]).subset([0, 2, 3]).must_link.tolist()
        [[0, 1]]
        """
        kept = _as_rows(rows, self.n_rows)
        return _subset(self, kept, max(self._size(), 1 + int(kept.max(initial=-1))))

    def violations(self, labels: ArrayLike) -> Constraints:
        """Give the pairs that a clustering does not respect.

        Parameters
        ----------
        labels : array of shape (n_rows,)
            The cluster of each row, by numbers or by names.

        Examples
        --------
        >>> Constraints([(0, 1)], [(1, 2), (0, 2)]).violations([0, 1, 1])
        Constraints(1 must-link, 1 cannot-link, 3 rows)
        """
        clusters = np.asarray(labels)
        if clusters.ndim != 1:
            raise ValueError(f"labels must be one-dimensional, got shape {clusters.shape}")
        self.check_rows(clusters.size)
        parted, kept_apart = (clusters[p[:, 0]] != clusters[p[:, 1]] for p in self._both())
        return Constraints(
            self.must_link[parted], self.cannot_link[~kept_apart], n_rows=clusters.size
        )

    def split(
        self, held_out: float = 0.2, *, random_state: int | np.random.Generator | None = None
    ) -> tuple[Constraints, Constraints]:
        """Part the pairs at random into those to fit with and those to score with.

        Pairs that follow from the first part are in neither of the two: every clustering that
        respects the first part respects them, so they would praise any method.

        Parameters
        ----------
        held_out
            Share of the pairs of each kind to score with, between 0 and 1.
        random_state
            Seed or generator.

        Returns
        -------
        fitting, scoring : Constraints

        Examples
        --------
        >>> pairs = Constraints([(0, 1), (1, 2), (3, 4)], [(0, 3), (5, 6), (7, 8)])
        >>> pairs.split(1 / 3, random_state=0)
        (Constraints(2 must-link, 2 cannot-link), Constraints(1 must-link, 1 cannot-link))
        """
        if not 0 <= held_out <= 1:
            raise ValueError(f"held_out must be a share between 0 and 1, got {held_out!r}")
        rng = np.random.default_rng(random_state)
        chosen = [_random_mask(len(pairs), held_out, rng) for pairs in self._both()]
        masked = list(zip(self._both(), chosen, strict=True))
        fitting = Constraints(*(pairs[~out] for pairs, out in masked), n_rows=self.n_rows)
        scoring = Constraints(*(pairs[out] for pairs, out in masked), n_rows=self.n_rows)
        return fitting, _without_implied(scoring, fitting, self._size())

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
            Number of clusters, at least 1.
        time_limit
            Seconds of wall time after which the answer may be that it is not known.
        random_state
            Seed of the heuristics.

        Examples
        --------
        >>> print(Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)]).check(2).certificate)
        3 rows 0, 1, 2 are cannot-linked to each other, so at least 3 clusters are needed
        """
        from kempe.graph.check import check

        if not isinstance(n_clusters, Integral) or n_clusters < 1:
            raise ValueError(f"n_clusters must be a positive whole number, got {n_clusters!r}")
        return check(self, int(n_clusters), time_limit=time_limit, seed=random_state)

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

    def _size(self) -> int:
        """Count the rows, as far as they are known."""
        if self.n_rows is not None:
            return self.n_rows
        return 1 + max(int(pairs.max(initial=-1)) for pairs in self._both())

    def __or__(self, other: Constraints) -> Constraints:
        """Give the pairs of both."""
        if not isinstance(other, Constraints):
            return NotImplemented
        sizes = {c.n_rows for c in (self, other)} - {None}
        if len(sizes) > 1:
            raise ValueError(f"the constraints refer to {self.n_rows} and {other.n_rows} rows")
        pairs = zip(self._both(), other._both(), strict=True)
        return Constraints(*map(np.concatenate, pairs), n_rows=sizes.pop() if sizes else None)

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


def _common_n_rows(n_rows: int | None, *values: object) -> int | None:
    """Say how many rows there are; what was said of them must not differ."""
    if n_rows is not None and (not isinstance(n_rows, Integral) or n_rows < 0):
        raise ValueError(f"n_rows must be a whole number of rows, got {n_rows!r}")
    sizes = {value.shape[0] for value in values if sparse.issparse(value)}  # type: ignore[attr-defined]
    sizes |= set() if n_rows is None else {n_rows}
    if len(sizes) > 1:
        counts = " and ".join(str(size) for size in sorted(sizes))
        raise ValueError(f"the matrices and n_rows disagree on the number of rows: {counts}")
    return int(sizes.pop()) if sizes else None


def _as_pairs(value: object, name: str) -> Pairs:
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


def _as_group(group: ArrayLike, position: int) -> NDArray[np.int64]:
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


def _check_disjoint(groups: list[NDArray[np.int64]]) -> None:
    rows = np.concatenate([np.unique(group) for group in groups] or [np.empty(0, np.int64)])
    values, counts = np.unique(rows, return_counts=True)
    if (counts > 1).any():
        row = int(values[np.argmax(counts > 1)])
        first, second = [n for n, group in enumerate(groups) if row in group][:2]
        raise ValueError(f"row {row} is in groups {first} and {second}, which exclude each other")


def _as_rows(rows: ArrayLike, n_rows: int | None) -> NDArray[np.int64]:
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


def _codes(labels: NDArray[Any]) -> NDArray[np.intp]:
    """Give a number to each distinct label; those of objects need not be comparable."""
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)[1]
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.intp)


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
    where = f"{name} pair {position}, ({first}, {second})"
    if min(first, second) < 0:
        raise ValueError(f"{where}: row {min(first, second)} is negative")
    if n_rows == MOST_ROWS:
        raise ValueError(f"{where}: row {max(first, second)} is too large, even for 32 bits")
    raise ValueError(
        f"{where}: row {max(first, second)} is out of range for {n_rows} rows, "
        "which are counted from 0 by position"
    )


def _random_mask(size: int, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    return rng.permutation(size) < round(share * size)


def _without_implied(pairs: Constraints, known: Constraints, size: int) -> Constraints:
    """Leave out the pairs that follow from the known ones."""
    group = _groups(known.must_link, size)
    joined, together = (group[p[:, 0]] == group[p[:, 1]] for p in pairs._both())
    apart = {frozenset(edge) for edge in group[known.cannot_link].tolist()}
    implied = [frozenset(edge) in apart for edge in group[pairs.cannot_link].tolist()]
    news = ~np.array(implied, dtype=bool) | together
    return Constraints(pairs.must_link[~joined], pairs.cannot_link[news], n_rows=pairs.n_rows)


def _groups(must_link: Pairs, size: int) -> NDArray[np.int32]:
    """Give each row the number of its group, which must-link pairs join."""
    links = (must_link[:, 0], must_link[:, 1])
    graph = sparse.coo_array((np.ones(len(must_link), dtype=np.int8), links), (size, size))
    return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1])


def _rows_of_ids(ids: ArrayLike) -> dict[Any, int]:
    names = np.asarray(ids, dtype=object)
    if names.ndim != 1:
        raise ValueError(f"ids must be one-dimensional, one per row, got shape {names.shape}")
    rows = {name: row for row, name in enumerate(names.tolist())}
    if len(rows) < names.size:
        counts = Counter(names.tolist())
        name, count = counts.most_common(1)[0]
        raise ValueError(f"the id {name!r} stands for {count} rows; an id must name one row")
    return rows


def _pairs_of_ids(value: object, rows: dict[Any, int], name: str) -> Pairs | None:
    if value is None:
        return None
    pairs = _as_table(value, name, object)  # as objects: 7 and "7" are two ids
    if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2):
        raise ValueError(f"{name} must be pairs of ids, that is of shape (m, 2), got {pairs.shape}")
    try:
        found = [rows[entry] for pair in pairs.tolist() for entry in pair]
    except KeyError as error:
        unknown = error.args[0]
        position = next(i for i, pair in enumerate(pairs.tolist()) if unknown in pair)
        raise ValueError(f"{name} pair {position}: no row has the id {unknown!r}") from None
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _subset(constraints: Constraints, rows: NDArray[np.int64], size: int) -> Constraints:
    ml, cl = constraints._both()
    group = _groups(ml, size)
    # A group is represented in the subset by its first row there.
    first = np.full(size, -1, dtype=np.int64)
    first[group[rows[::-1]]] = np.arange(rows.size)[::-1]
    representative = first[group[rows]]
    later = np.flatnonzero(representative != np.arange(rows.size))
    apart = first[group[cl]] if len(cl) else np.empty((0, 2), dtype=np.int64)
    joined = (apart[:, 0] == apart[:, 1]) & (apart[:, 0] >= 0)
    if joined.any():
        a, b = cl[np.argmax(joined)].tolist()
        raise InfeasibleConstraintsError(
            f"the constraints contradict each other: rows {a} and {b} cannot be linked, but "
            "must-link pairs join them"
        )
    return Constraints(
        np.column_stack([representative[later], later]),
        apart[(apart >= 0).all(axis=1)],
        n_rows=rows.size,
    )
