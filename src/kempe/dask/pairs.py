"""Constraints on rows that lie elsewhere: which rows they name, and pairs of these alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.constraints import Constraints
from kempe.dask.parts import Parts, delayed_parts
from kempe.dask.tasks import compute, library, task
from kempe.exceptions import InfeasibleConstraintsError
from kempe.fit_arguments import as_constraints
from kempe.graph.certificates import Clique, CriticalPairs, MustLinkPath
from kempe.pairs import Pairs
from kempe.search.result import BrokenPairs
from kempe.soft_pairs import with_confidence


@dataclass(frozen=True, eq=False)
class NamedRows:
    """The rows that constraints name.

    Attributes
    ----------
    numbers
        Their numbers, ascending.
    constraints
        The pairs, as positions in ``numbers``.
    """

    numbers: NDArray[np.int64]
    constraints: Constraints

    @classmethod
    def by_number(cls, parts: Parts, constraints: Constraints) -> NamedRows:
        """Find the rows that pairs of row numbers name."""
        constraints.check_rows(parts.n_rows)
        hard, soft = (constraints.must_link, constraints.cannot_link), constraints.soft
        every = [pairs.ravel() for pairs in (*hard, soft.must_link, soft.cannot_link)]
        numbers = np.unique(np.concatenate(every)).astype(np.int64)

        def position(pairs: Pairs) -> Pairs:
            return np.searchsorted(numbers, pairs)

        names = None if constraints.row_names is None else constraints.names_of(numbers)
        compact = Constraints(*map(position, hard), n_rows=numbers.size, row_names=names)
        return cls(numbers, compact.with_soft(soft.renumbered(position)))

    @classmethod
    def by_id(
        cls, parts: Parts, must_link: Any, cannot_link: Any, ids: Any, soft: Mapping[str, Any]
    ) -> NamedRows:
        """Find the rows that pairs of ids name, wherever they are."""
        links = [
            with_confidence(soft.get(name), soft.get(f"{name}_confidence"), name)[0]
            for name in ("soft_must_link", "soft_cannot_link")
        ]
        every = (must_link, cannot_link, *links)
        wanted = {name for pairs in every for name in _names(pairs)}
        numbers, names = find_ids(parts, ids, wanted)
        constraints = Constraints.from_ids(must_link, cannot_link, ids=_objects(names), **soft)
        return cls(numbers, constraints)

    def told(self, error: InfeasibleConstraintsError) -> InfeasibleConstraintsError:
        """Say of the user's row numbers what was said of positions in ``numbers``."""
        certificate = error.certificate
        if isinstance(certificate, MustLinkPath):
            rows = tuple(int(row) for row in self.numbers[list(certificate.rows)])
            told: Any = replace(certificate, rows=rows, names=self._names)
        elif isinstance(certificate, (Clique, CriticalPairs)):
            told = replace(certificate, pairs=self.numbers[certificate.pairs], names=self._names)
        else:
            return error
        return error.with_certificate(told)

    def in_row_numbers(self, n_rows: int) -> Constraints:
        """Give the pairs as numbers of rows of all the data."""
        pairs = (self.constraints.must_link, self.constraints.cannot_link)
        both = (self.numbers[each] for each in pairs)
        soft = self.constraints.soft.renumbered(lambda each: self.numbers[each])
        return Constraints(*both, n_rows=n_rows, row_names=self._names).with_soft(soft)

    def in_numbers_of_rows(self, broken: BrokenPairs) -> BrokenPairs:
        """Tell broken pairs by the numbers that rows have in all the data."""
        pairs = self.numbers[broken.pairs]
        names = list(zip(*(self.names_of(end) for end in pairs.T), strict=True))
        return broken._replace(pairs=pairs, names=names)

    def names_of(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Give what the user calls some rows: their ids as far as pairs name them, or numbers."""
        names = self._names or {}
        return [names.get(number, number) for number in numbers.tolist()]

    @property
    def _names(self) -> dict[int, Any] | None:
        """What messages call the rows, by the numbers that they have in all the data."""
        names = self.constraints.row_names
        return None if names is None else dict(zip(self.numbers.tolist(), names, strict=True))


def named_rows(
    parts: Parts, must_link: Any, cannot_link: Any, constraints: Any, ids: Any, **soft: Any
) -> NamedRows:
    """Find the rows that the arguments of ``fit`` name."""
    if ids is None:
        given = as_constraints(must_link, cannot_link, constraints, **soft)
        given.soft.check_confidences()
        return NamedRows.by_number(parts, given)
    if constraints is not None:
        raise ValueError(
            "pass pairs of ids as must_link, cannot_link, soft_must_link and soft_cannot_link, "
            "without constraints"
        )
    if not library().is_dask_collection(ids):
        raise TypeError("ids must be a Dask array, series or index, or the name of a column of X")
    return NamedRows.by_id(parts, must_link, cannot_link, ids, soft)


def _names(pairs: Any) -> list[Any]:
    return [] if pairs is None else np.asarray(pairs, dtype=object).ravel().tolist()


def _objects(names: list[Any]) -> NDArray[np.object_]:
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def find_ids(
    parts: Parts, ids: Any, wanted: set[Any], *, as_text: bool = False
) -> tuple[NDArray[np.int64], list[Any]]:
    """Find rows by their ids.

    Parameters
    ----------
    parts
        The rows.
    ids
        The id of each, a Dask collection with the same parts.
    wanted
        Ids to look for.
    as_text
        Whether ids are compared as text without blanks around it, as files have them.

    Returns
    -------
    numbers, names
        Number and id of each row that was found, in the order of the rows.
    """
    raw = delayed_parts(ids)
    if len(raw) != len(parts):
        raise ValueError(f"ids have {len(raw)} parts but X has {len(parts)}")
    found = compute([task(_rows_with_ids, part, wanted, as_text, name="ids") for part in raw])
    numbers = [first + rows for first, (rows, _) in zip(parts.first, found, strict=True)]
    return np.concatenate(numbers), [name for _, part in found for name in part]


def _rows_with_ids(
    raw: Any, wanted: set[Any], as_text: bool
) -> tuple[NDArray[np.int64], list[Any]]:
    """Positions in a part of rows whose ids are wanted, and these ids."""
    names = np.asarray(raw).tolist()
    if as_text:
        names = [str(name).strip() for name in names]
    rows = [row for row, name in enumerate(names) if name in wanted]
    return np.array(rows, dtype=np.int64), [names[row] for row in rows]
