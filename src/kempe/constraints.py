"""Must-link and cannot-link pairs: made, combined, checked and split."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kempe.exceptions import InfeasibleConstraintsError
from kempe.pairs import (
    MOST_ROWS,
    Pairs,
    RowsOfIds,
    as_group,
    as_pairs,
    as_rows,
    check_disjoint,
    check_pairs_differ,
    check_range,
    check_square,
    common_n_rows,
    is_missing,
    label_codes,
    unordered,
    upper_triangle,
)
from kempe.sizes import SizeLimits
from kempe.soft_pairs import SoftLinks, with_confidence
from kempe.words import counted

if TYPE_CHECKING:
    from kempe.graph.check import FeasibilityReport

RowNames = Sequence[Any] | Mapping[int, Any]


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
    row_names
        What messages call the rows: a name for each, or for some by their numbers. By default
        they speak of row numbers.
    soft_must_link, soft_cannot_link
        Pairs that may be wrong, in the same forms. A clustering may break them at a price. A data
        frame may have a third column ``confidence``.
    soft_must_link_confidence, soft_cannot_link_confidence
        Probability that they are right, above one half and below one: one for all of a kind, or
        one for each. By default it is estimated while fitting.

    Attributes
    ----------
    must_link, cannot_link : ndarray of shape (m, 2)
        The pairs as given, read-only, repetitions included.
    n_rows : int or None
    row_names : sequence, mapping or None
    soft : SoftLinks
        The pairs that may be wrong, with their confidences.

    Examples
    --------
    >>> from kempe import Constraints
    >>> Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
    Constraints(1 must-link, 1 cannot-link)
    """

    must_link: Pairs
    cannot_link: Pairs
    n_rows: int | None
    row_names: RowNames | None
    soft: SoftLinks

    def __init__(
        self,
        must_link: object = None,
        cannot_link: object = None,
        *,
        n_rows: int | None = None,
        row_names: RowNames | None = None,
        soft_must_link: object = None,
        soft_cannot_link: object = None,
        soft_must_link_confidence: ArrayLike | None = None,
        soft_cannot_link_confidence: ArrayLike | None = None,
    ) -> None:
        self.row_names = row_names
        self.n_rows = common_n_rows(
            n_rows, must_link, cannot_link, soft_must_link, soft_cannot_link
        )
        self.soft = SoftLinks.of(
            soft_must_link,
            soft_cannot_link,
            soft_must_link_confidence,
            soft_cannot_link_confidence,
        )
        self.must_link = as_pairs(must_link, "must_link")
        self.cannot_link = as_pairs(cannot_link, "cannot_link")
        check_pairs_differ(self.cannot_link)
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
        members = [as_group(group, position) for position, group in enumerate(groups)]
        if exclusive:
            check_disjoint(members)
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
        rows = np.flatnonzero(~is_missing(known))
        rows = rows[np.broadcast_to(np.asarray(known[rows] != unlabelled), rows.shape)]
        codes = label_codes(known[rows])
        order = np.argsort(codes, kind="stable")
        groups = np.split(rows[order], np.flatnonzero(np.diff(codes[order])) + 1)
        return cls.from_groups(groups, n_rows=known.size, exclusive=True)

    @classmethod
    def from_ids(
        cls,
        must_link: object = None,
        cannot_link: object = None,
        *,
        ids: ArrayLike,
        soft_must_link: object = None,
        soft_cannot_link: object = None,
        soft_must_link_confidence: ArrayLike | None = None,
        soft_cannot_link_confidence: ArrayLike | None = None,
    ) -> Constraints:
        """Read pairs of ids, such as customer numbers, instead of row numbers.

        Parameters
        ----------
        must_link, cannot_link
            Pairs of ids: an (m, 2) array, a list of tuples or a data frame of two columns.
        ids : array of shape (n_rows,)
            The id of each row of the data, each only once: a column or the index of a frame.
        soft_must_link, soft_cannot_link
            Pairs that may be wrong, in the same forms; a third column ``confidence`` of a frame
            says how sure each is.
        soft_must_link_confidence, soft_cannot_link_confidence
            How sure they are, as for ``Constraints``.

        Examples
        --------
        >>> Constraints.from_ids([("ann", "bob")], ids=["bob", "cid", "ann"]).must_link.tolist()
        [[2, 0]]
        """
        rows = RowsOfIds(ids)
        together, sure_together = with_confidence(
            soft_must_link, soft_must_link_confidence, "soft_must_link"
        )
        apart, sure_apart = with_confidence(
            soft_cannot_link, soft_cannot_link_confidence, "soft_cannot_link"
        )
        return cls(
            rows.pairs(must_link, "must_link"),
            rows.pairs(cannot_link, "cannot_link"),
            n_rows=len(rows.names),
            row_names=rows.names,
            soft_must_link=rows.pairs(together, "soft_must_link"),
            soft_cannot_link=rows.pairs(apart, "soft_cannot_link"),
            soft_must_link_confidence=sure_together,
            soft_cannot_link_confidence=sure_apart,
        )

    @classmethod
    def from_probabilities(
        cls, pairs: object, probability: ArrayLike, *, n_rows: int | None = None
    ) -> Constraints:
        """Read pairs with the probability that they belong together; below one half means apart.

        Parameters
        ----------
        pairs
            Pairs of row numbers, as for ``Constraints``.
        probability
            Between 0 and 1, for each pair. Pairs at 0 and 1 become hard ones, and pairs at one half
            say nothing.
        n_rows
            Number of rows the pairs refer to.

        Examples
        --------
        >>> Constraints.from_probabilities([(0, 1), (1, 2), (0, 2)], [0.9, 0.2, 1.0])
        Constraints(1 must-link, 0 cannot-link, 2 soft)
        """
        every = as_pairs(pairs, "pairs")
        p = np.asarray(probability, dtype=np.float64)
        if p.shape != (len(every),):
            raise ValueError(f"probability must have one entry for each of the {len(every)} pairs")
        wrong = ~((p >= 0) & (p <= 1))
        if wrong.any():
            raise ValueError(
                f"probability {int(np.argmax(wrong))} is {p[np.argmax(wrong)]:g}, "
                "which is not between 0 and 1"
            )
        together, apart = (p > 0.5) & (p < 1), (p < 0.5) & (p > 0)
        return cls(
            every[p == 1],
            every[p == 0],
            n_rows=n_rows,
            soft_must_link=every[together],
            soft_cannot_link=every[apart],
            soft_must_link_confidence=p[together],
            soft_cannot_link_confidence=1 - p[apart],
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
        check_square(entries.shape, "the constraint matrix")
        pairs = np.column_stack(entries.coords).astype(np.int64, copy=False)
        upper = upper_triangle(pairs)
        positive = entries.data > 0
        negative = entries.data < 0
        return cls(
            unordered(pairs[positive & upper], pairs[positive & ~upper]),
            unordered(pairs[negative & upper], pairs[negative & ~upper]),
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
            check_range(getattr(self, name), n_rows, name)
        self.soft.check_rows(n_rows)

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
        kept = as_rows(rows, self.n_rows)
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
            self.must_link[parted],
            self.cannot_link[~kept_apart],
            n_rows=clusters.size,
            row_names=self.row_names,
        ).with_soft(self.soft.violations(clusters))

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
        fitting = self.with_pairs(*(pairs[~out] for pairs, out in masked))
        scoring = self.with_pairs(*(pairs[out] for pairs, out in masked))
        scoring = _without_implied(scoring, fitting, self._size())
        if not self.soft.count:
            return fitting, scoring
        kinds = {
            together: _random_mask(len(pairs), held_out, rng)
            for pairs, together in ((self.soft.must_link, True), (self.soft.cannot_link, False))
        }
        return (
            fitting.with_soft(self.soft.where(lambda _, together: ~kinds[together])),
            scoring.with_soft(self.soft.where(lambda _, together: kinds[together])),
        )

    def without_must_link(self) -> Constraints:
        """Give the cannot-link pairs alone."""
        return self.with_pairs(None, self.cannot_link)

    def with_pairs(self, must_link: object, cannot_link: object) -> Constraints:
        """Give other pairs of the same rows.

        Parameters
        ----------
        must_link, cannot_link
            Pairs of row numbers, as for ``Constraints``.
        """
        return Constraints(must_link, cannot_link, n_rows=self.n_rows, row_names=self.row_names)

    def with_soft(self, soft: SoftLinks) -> Constraints:
        """Give the same hard pairs with other pairs that may be wrong.

        Parameters
        ----------
        soft
            Those pairs.
        """
        given = self.with_pairs(self.must_link, self.cannot_link)
        soft.check_rows(MOST_ROWS if self.n_rows is None else self.n_rows)
        given.soft = soft
        return given

    def without_soft(self) -> Constraints:
        """Give the hard pairs alone."""
        return self.with_pairs(self.must_link, self.cannot_link)

    def decided(self) -> tuple[int, int]:
        """Count the soft pairs that hard ones keep, and that they break, whatever the clusters."""
        if not self.soft.count:
            return 0, 0
        pairs, together, _ = self.soft.stacked()
        rows = np.unique(np.concatenate([pairs, self.must_link, self.cannot_link]))
        # Few of very many rows are in pairs where these lie on several machines.
        pairs, must_link, cannot_link = (
            np.searchsorted(rows, each) for each in (pairs, self.must_link, self.cannot_link)
        )
        group = _groups(must_link, rows.size)
        inside = group[pairs[:, 0]] == group[pairs[:, 1]]
        apart = np.isin(_keys(group[pairs], rows.size), _keys(group[cannot_link], rows.size))
        kept = np.count_nonzero(np.where(together, inside, apart & ~inside))
        broken = np.count_nonzero(np.where(together, apart & ~inside, inside))
        return int(kept), int(broken)

    def names_of(self, rows: Iterable[int]) -> list[Any]:
        """Give what messages call some rows: their names, or their numbers.

        Parameters
        ----------
        rows
            Row numbers.
        """
        names = self.row_names
        return [int(row) if names is None else names[int(row)] for row in rows]

    def check(
        self,
        n_clusters: int,
        *,
        size_min: ArrayLike | None = None,
        size_max: ArrayLike | None = None,
        time_limit: float = 60.0,
        random_state: int = 0,
    ) -> FeasibilityReport:
        """Say whether ``n_clusters`` clusters suffice, which is the smallest number, and why not.

        Parameters
        ----------
        n_clusters
            Number of clusters, at least 1.
        size_min, size_max
            Fewest and most rows of a cluster, as for ``KempeKMeans``. They are of all rows, so
            ``n_rows`` must be known.
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
        limits = None
        if size_min is not None or size_max is not None:
            if self.n_rows is None:
                raise ValueError("sizes need the number of rows: Constraints(..., n_rows=...)")
            limits = SizeLimits.of(size_min, size_max, self.n_rows, int(n_clusters))
        return check(self, int(n_clusters), time_limit=time_limit, seed=random_state, limits=limits)

    def summary(self) -> str:
        """Say in one line how many pairs of each kind there are and how many rows they touch."""
        every = [*self._both(), self.soft.must_link, self.soft.cannot_link]
        touched = np.unique(np.concatenate([p.ravel() for p in every])).size
        of = "" if self.n_rows is None else f" of {self.n_rows:,}"
        soft = f", and {self.soft.count:,} that may be wrong," if self.soft.count else ""
        return (
            f"{self.must_link.shape[0]:,} must-link and "
            f"{counted(self.cannot_link.shape[0], 'cannot-link pair')}{soft} on {touched:,}{of} "
            f"{'row' if (self.n_rows or touched) == 1 else 'rows'}"
        )

    def _both(self) -> tuple[Pairs, Pairs]:
        return self.must_link, self.cannot_link

    def _size(self) -> int:
        """Count the rows, as far as they are known."""
        if self.n_rows is not None:
            return self.n_rows
        every = (*self._both(), self.soft.must_link, self.soft.cannot_link)
        return 1 + max(int(pairs.max(initial=-1)) for pairs in every)

    def __or__(self, other: Constraints) -> Constraints:
        """Give the pairs of both."""
        if not isinstance(other, Constraints):
            return NotImplemented
        sizes = {c.n_rows for c in (self, other)} - {None}
        if len(sizes) > 1:
            raise ValueError(f"the constraints refer to {self.n_rows} and {other.n_rows} rows")
        pairs = zip(self._both(), other._both(), strict=True)
        names = other.row_names if self.row_names is None else self.row_names
        size = sizes.pop() if sizes else None
        joined = Constraints(*map(np.concatenate, pairs), n_rows=size, row_names=names)
        return joined.with_soft(self.soft | other.soft)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constraints):
            return NotImplemented
        same = [np.array_equal(a, b) for a, b in zip(self._both(), other._both(), strict=True)]
        return all(same) and self.n_rows == other.n_rows and self.soft == other.soft

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        ml, cl = (p.shape[0] for p in self._both())
        soft = f", {self.soft.count} soft" if self.soft.count else ""
        rows = "" if self.n_rows is None else f", {self.n_rows} rows"
        return f"Constraints({ml} must-link, {cl} cannot-link{soft}{rows})"


def _random_mask(size: int, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    return rng.permutation(size) < round(share * size)


def _without_implied(pairs: Constraints, known: Constraints, size: int) -> Constraints:
    """Leave out the pairs that follow from the known ones."""
    group = _groups(known.must_link, size)
    joined, together = (group[p[:, 0]] == group[p[:, 1]] for p in pairs._both())
    apart, asked = (_keys(group[each.cannot_link], size) for each in (known, pairs))
    news = ~np.isin(asked, apart) | together
    return pairs.with_pairs(pairs.must_link[~joined], pairs.cannot_link[news])


def _keys(pairs: NDArray[np.integer[Any]], size: int) -> NDArray[np.int64]:
    """Give one number for each pair, whatever its order; numbers in it are below ``size``."""
    ends = pairs.astype(np.int64)
    return np.asarray(ends.min(axis=1) * size + ends.max(axis=1))


def _groups(must_link: Pairs, size: int) -> NDArray[np.int32]:
    """Give each row the number of its group, which must-link pairs join."""
    links = (must_link[:, 0], must_link[:, 1])
    graph = sparse.coo_array((np.ones(len(must_link), dtype=np.int8), links), (size, size))
    return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1])


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
        a, b = constraints.names_of(cl[np.argmax(joined)])
        raise InfeasibleConstraintsError(
            f"the constraints contradict each other: rows {a} and {b} cannot be linked, but "
            "must-link pairs join them"
        )
    return Constraints(
        np.column_stack([representative[later], later]),
        apart[(apart >= 0).all(axis=1)],
        n_rows=rows.size,
        row_names=None if constraints.row_names is None else constraints.names_of(rows),
    ).with_soft(constraints.soft.subset(rows, size))
