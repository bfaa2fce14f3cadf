"""Files with pairs of all kinds: a table with a column of kinds, or JSON as PCCC has it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kempe.tables.errors import TableError, Unsaid
from kempe.tables.formats import open_table, text
from kempe.tables.ids import Ids
from kempe.tables.pairs import NO_PAIRS, Kind, Pairs, PairSet, row_pairs
from kempe.tables.source import Source
from kempe.tables.sureness import read_soft_pairs
from kempe.tables.table import MemoryTable

# Files of constraints as the program PCCC reads them: pairs of row numbers and confidences.
_PAIRS: Mapping[str, tuple[str, Kind]] = {
    "ml": ("must_link", "must-link"),
    "cl": ("cannot_link", "cannot-link"),
    "sml": ("soft_must_link", "must-link"),
    "scl": ("soft_cannot_link", "cannot-link"),
}
_CONFIDENCES = {
    "sml_proba": ("sml", "soft_must_link_confidence"),
    "scl_proba": ("scl", "soft_cannot_link_confidence"),
}


def read_constraint_file(
    path: Path | Source, *, soft: bool = False, ids: Ids | None = None, n_rows: int | None = None
) -> PairSet:
    """Read a file with pairs of all kinds.

    Parameters
    ----------
    path
        A table as :func:`read_soft_pairs` reads it, or JSON as the program PCCC has it: with
        ``ml`` and ``cl``, and with ``sml`` and ``scl`` for soft pairs, whose confidences are
        ``sml_proba`` and ``scl_proba``.
    soft
        Whether pairs of a table are soft of which nothing but their kind is said.
    ids
        Ids of the rows; without them, pairs are of row numbers counted from 0.
    n_rows
        Number of rows, if it is known.
    """
    source = path if isinstance(path, Source) else Source(path)
    if not _is_json(source):
        return read_soft_pairs(source, soft=soft, ids=ids, n_rows=n_rows)
    content = _json(source)
    unknown = set(content) - set(_PAIRS) - set(_CONFIDENCES)
    if unknown or not set(content) & set(_PAIRS):
        what = f"unknown: {', '.join(sorted(unknown))}" if unknown else "there is none of them"
        raise TableError(f"{source.name} should hold {', '.join(_PAIRS)}; {what}", Unsaid.FORM)
    found: dict[str, Any] = {
        name: _json_pairs(source, key, kind, content.get(key) or [], ids, n_rows)
        for key, (name, kind) in _PAIRS.items()
    }
    for key, (pairs, name) in _CONFIDENCES.items():
        said = _confidences(source, key, content.get(key) or [], len(content.get(pairs) or []))
        unsaid = np.full(len(found[_PAIRS[pairs][0]]), np.nan)
        found[name] = np.array(said, dtype=np.float64) if len(said) else unsaid
    if not any(len(found[name]) for name, _ in _PAIRS.values()):
        raise ValueError(f"{source.name} holds no pair")
    return PairSet(**found)


def names_in(source: Source) -> set[str]:
    """Give whatever stands in a file of pairs, names of columns included."""
    if _is_json(source):
        return set(_leaves(_json(source)))
    table = open_table(source, False, blanks=True)
    return {name for column in range(len(table.names)) for name in table.texts(column)}


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        yield text(value)
        return
    for item in value:
        yield from _leaves(item)


def _is_json(source: Source) -> bool:
    """Whether it begins as JSON does; no table begins with a brace."""
    return source.suffix == ".json" or source.head(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"


def _json(source: Source) -> dict[str, Any]:
    try:
        with source.text() as file:
            content = json.load(file)
    except TableError:
        raise
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, too
        raise ValueError(f"{source.name} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise TableError(
            f"{source.name} should hold an object with {', '.join(_PAIRS)}", Unsaid.FORM
        )
    return content


def _json_pairs(
    source: Source, key: str, kind: Kind, pairs: Any, ids: Ids | None, n_rows: int | None
) -> Pairs:
    if not isinstance(pairs, list) or not all(_is_pair(pair) for pair in pairs):
        raise TableError(f"{source.name}: {key!r} is not a list of pairs", Unsaid.FORM)
    if not pairs:
        return NO_PAIRS.copy()
    columns = [[text(pair[side]) for pair in pairs] for side in (0, 1)]
    table = MemoryTable(f"{source.name}, {key!r}", ["first", "second"], columns, first=("pair", 1))
    return row_pairs(table, kind, ids, n_rows)


def _is_pair(pair: object) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == 2
        and all(isinstance(end, int | float | str) for end in pair)
    )


def _confidences(source: Source, key: str, values: Any, count: int) -> list[float]:
    numbers = isinstance(values, list) and all(isinstance(v, int | float) for v in values)
    if not numbers or len(values) not in (0, count):
        raise ValueError(f"{source.name}: {key!r} is not a list of {count} confidences")
    return [float(value) for value in values]
