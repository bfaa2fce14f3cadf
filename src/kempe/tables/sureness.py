"""Columns that say how sure pairs are, and files of pairs that have one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kempe.tables.errors import TableError, Unsaid
from kempe.tables.ids import Ids
from kempe.tables.pairs import (
    SURE,
    Kind,
    Pairs,
    PairSet,
    check_differ,
    kinds_of,
    opened,
    read_pairs,
    row_pairs,
    says_header,
)
from kempe.tables.source import Source
from kempe.tables.table import Table, TextColumnsError

# Log-odds beyond this are a probability of 1 to all digits.
MOST_WEIGHT = 34.0


def read_linked(
    path: Path | Source, kind: Kind, *, ids: Ids | None = None, n_rows: int | None = None
) -> PairSet:
    """Read pairs of one kind, which hold, or are soft if a third column says how sure they are.

    Parameters
    ----------
    path
        The file; ``-`` for standard input.
    kind
        What the pairs are.
    ids, n_rows
        As for ``read_pairs``. A third column is called ``confidence`` or ``weight``.
    """
    source = path if isinstance(path, Source) else Source(path)
    table = opened(source, says_header(ids))
    if len(table.names) != 3 or _sure_name(table) is None:
        pairs = read_pairs(source, kind, ids=ids, n_rows=n_rows)
        return PairSet(must_link=pairs) if kind == "must-link" else PairSet(cannot_link=pairs)
    if _sure_name(table) == "probability":
        raise TableError(
            f"{table.source}: a probability says by itself which pairs belong together, so they "
            "are of both kinds",
            Unsaid.SOFT,
        )
    rows = row_pairs(table, kind, ids, n_rows)
    together = np.full(len(rows), kind == "must-link")
    return _soft(table, rows, together, _confidence(table, 2))


def read_soft_pairs(
    path: Path | Source, *, soft: bool = True, ids: Ids | None = None, n_rows: int | None = None
) -> PairSet:
    """Read pairs of both kinds, with a column that says how sure they are or without.

    Parameters
    ----------
    path
        The file; ``-`` for standard input. Behind the two rows of a pair there are a kind,
        must-link or cannot-link; or a kind and a ``confidence`` or ``weight``; or a ``probability``
        that they belong together, or a ``weight`` that is negative if they do not.
    soft
        Whether pairs are soft of which nothing but their kind is said; otherwise they hold.
    ids, n_rows
        As for ``read_pairs``.
    """
    table = opened(path, says_header(ids, kinds=True))
    sure, width = _sure_name(table), len(table.names)
    if not table.has_rows:
        raise TableError(f"{table.source} holds no pair", Unsaid.FORM)
    if width == 3 and sure in ("probability", "weight"):
        return _signed(table, row_pairs(table, None, ids, n_rows), sure)
    if width != 3 + (sure is not None):
        raise TableError(
            f"{table.source}: pairs of both kinds need three columns, the last of which says "
            f"must-link or cannot-link, found {width}; a further one may be called confidence or "
            "weight",
            Unsaid.FORM,
        )
    together = ~kinds_of(table, 2)
    rows = row_pairs(table, None, ids, n_rows)
    check_differ(rows, ~together, table.place)
    if sure is None and not soft:
        return PairSet(rows[together], rows[~together])
    if sure == "probability":
        raise TableError(
            f"{table.source}: a probability says by itself which pairs belong together: leave out "
            "the column of kinds",
            None,
        )
    unsaid = np.full(len(rows), np.nan)
    return _soft(table, rows, together, unsaid if sure is None else _confidence(table, 3))


def _sure_name(table: Table) -> str | None:
    """Give what the last column says of pairs, if it says how sure they are."""
    name = table.names[-1].strip().lower() if table.has_header else ""
    return name if name in SURE else None


def _soft(
    table: Table, rows: Pairs, together: NDArray[np.bool_], confidence: NDArray[np.float64]
) -> PairSet:
    check_differ(rows, ~together, table.place)
    return PairSet(
        soft_must_link=rows[together],
        soft_cannot_link=rows[~together],
        soft_must_link_confidence=confidence[together],
        soft_cannot_link_confidence=confidence[~together],
    )


def _signed(table: Table, rows: Pairs, sure: str) -> PairSet:
    """Tell the kind of pairs from their probabilities, or from the signs of their weights."""
    said = _numbers(table, 2, sure)
    if sure == "weight":
        return _soft(table, rows, said > 0, _of_weight(table, np.abs(said)))
    _refuse(table, ~((said >= 0) & (said <= 1)), said, "probability", "not between 0 and 1")
    open_ = (said != 0.5) & (said > 0) & (said < 1)
    together = said[open_] > 0.5
    held = _soft(table, rows[open_], together, np.where(together, said[open_], 1 - said[open_]))
    return PairSet(rows[said == 1], rows[said == 0]) | held


def _confidence(table: Table, column: int) -> NDArray[np.float64]:
    name = str(_sure_name(table))
    said = _numbers(table, column, name)
    if name == "weight":
        _refuse(table, said <= 0, said, name, "not above 0: say it the other way round")
        return _of_weight(table, said)
    _refuse(table, said >= 1, said, name, "certain: give it as a hard pair")
    _refuse(table, said <= 0.5, said, name, "no more than one half: say it the other way round")
    return said


def _of_weight(table: Table, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the confidence whose log-odds a weight is."""
    _refuse(table, weight == 0, weight, "weight", "nothing at all")
    _refuse(table, ~(weight <= MOST_WEIGHT), weight, "weight", "certain: give it as a hard pair")
    return np.asarray(1 / (1 + np.exp(-weight)))


def _numbers(table: Table, column: int, name: str) -> NDArray[np.float64]:
    try:
        said = table.numbers([column])[:, 0]
    except TextColumnsError as error:
        row, cell = min(error.found.values())
        raise ValueError(
            f"{table.place(row)}: the {name} is {cell!r}, which is no number"
        ) from None
    missing = np.isnan(said)
    if missing.any():
        place = table.place(int(missing.argmax()))
        raise ValueError(
            f"{place}: the {name} is missing; put pairs of which nobody knows it into another file"
        )
    return said


def _refuse(
    table: Table, wrong: NDArray[np.bool_], said: NDArray[np.float64], name: str, why: str
) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{table.place(row)}: the {name} is {said[row]:g}, which is {why}")
