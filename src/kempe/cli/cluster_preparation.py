"""Tables of Dask made ready for k-means: what all rows decide is computed over all parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from kempe.cli.options import TableOptions
    from kempe.preparation import Preparation


def prepared(rows: Any, table: TableOptions, encode: Sequence[str]) -> tuple[Any, Preparation]:
    """Prepare the columns of a data frame of Dask; nothing but figures about them comes here.

    Parameters
    ----------
    rows
        Columns to cluster by.
    table
        What is to be done to them.
    encode
        Columns of categories.

    Returns
    -------
    rows, preparation
        The prepared frame, and what prepares new rows in the same way.
    """
    made = _learnt(rows, table, encode)
    names = [str(name) for name in made.get_feature_names_out()]
    meta = _frame(np.empty((0, len(names))), names)
    return rows.map_partitions(_transformed, made, names, meta=meta), made


def _transformed(part: Any, made: Preparation, names: Sequence[str]) -> Any:
    return _frame(made.transform(part.astype(object)), names)


def _frame(data: Any, names: Sequence[str]) -> Any:
    import pandas

    return pandas.DataFrame(data, columns=list(names))


def _learnt(rows: Any, table: TableOptions, encode: Sequence[str]) -> Preparation:
    """Learn from all parts what ``Preparation.fit`` learns from a table in memory."""
    from dask import compute

    from kempe.preparation import Preparation

    plain = [name for name in rows.columns if name not in encode]
    numbers, arrays = rows[plain].astype("float64"), {}
    holes = {str(name): int(n) for name, n in rows.isna().sum().compute().items() if n}
    if any(name in holes for name in plain) and table.impute is None:
        found = ", ".join(f"{name} ({holes[name]:,})" for name in plain if name in holes)
        raise ValueError(f"columns with missing values: {found}; use --impute mean")
    header: dict[str, Any] = {
        "names": [str(name) for name in rows.columns],
        "named": True,
        "encode": [str(name) for name in rows.columns if name in encode],
        "impute": None if table.impute is None else table.impute.value,
        "standardise": table.standardise,
        "holes": holes,
    }
    if plain and table.impute is not None:
        fill = _fill(numbers, table.impute.value)
        numbers = numbers.fillna(dict(zip(plain, fill, strict=True)))
        arrays["fill"] = np.asarray(fill, dtype=np.float64)
    if plain and table.standardise:
        mean, deviation = compute(numbers.mean(), numbers.std(ddof=0))
        arrays["mean"] = mean[plain].to_numpy(dtype=np.float64)
        arrays["scale"] = np.where(deviation[plain] > 0, deviation[plain], 1.0).astype(np.float64)
    if encode:
        header |= _categories(rows, header["encode"], header["impute"])
    return Preparation.from_plain(header, arrays)


def _fill(numbers: Any, how: str) -> list[float]:
    """Give what missing numbers become."""
    if how == "mean":
        return [float(value) for value in numbers.mean().compute()]
    counts = {name: numbers[name].value_counts().compute() for name in numbers.columns}
    # The smallest of those that are most frequent, as scikit-learn chooses.
    return [float(min(count.index[count == count.max()])) for count in counts.values()]


def _categories(rows: Any, encode: Sequence[str], impute: str | None) -> dict[str, Any]:
    """Give the categories of each column, with one for holes, and the most frequent."""
    from kempe.preparation import MISSING, word

    known, frequent = [], []
    for name in encode:
        raw = rows[name].value_counts(dropna=False).compute()
        counts: dict[str, int] = {}
        for value, count in raw.items():
            text = word(value)
            counts[MISSING if text is None else text] = counts.get(text or MISSING, 0) + int(count)
        if impute == "most_frequent":
            counts.pop(MISSING, None)
            frequent.append(min(counts, key=lambda text: (-counts[text], text)))
        known.append(sorted(counts))
    return {"categories": known} | ({"most_frequent": frequent} if frequent else {})
