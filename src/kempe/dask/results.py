"""What is known of rows that lie in parts, in the form in which they came."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kempe import _core
from kempe.dask.parts import Parts
from kempe.dask.tasks import library, task
from kempe.engine.crowd import Floats
from kempe.problem import Centroids


def labels_like(parts: Parts, tasks: Sequence[Any]) -> Any:
    """Make an array with the chunks of the rows, or a series with their index.

    Parameters
    ----------
    parts
        The rows.
    tasks
        Gives the labels of each part.
    """
    if not parts.is_frame:
        return _array(parts, tasks, (), np.dtype(np.int32))
    import pandas as pd

    series = [task(_series, raw, labels) for raw, labels in zip(parts.raw, tasks, strict=True)]
    return _frame(parts, series, pd.Series([], dtype=np.int32, name="label"))


def table_like(parts: Parts, tasks: Sequence[Any], names: Sequence[str]) -> Any:
    """Make an array with the chunks of the rows, or a data frame with their index.

    Parameters
    ----------
    parts
        The rows.
    tasks
        Gives the table of each part.
    names
        Names of the columns.
    """
    if not parts.is_frame:
        return _array(parts, tasks, (len(names),), parts.dtype)
    import pandas as pd

    frames = [
        task(_table, raw, values, list(names)) for raw, values in zip(parts.raw, tasks, strict=True)
    ]
    meta = pd.DataFrame(np.empty((0, len(names)), dtype=parts.dtype), columns=list(names))
    return _frame(parts, frames, meta)


def _array(parts: Parts, tasks: Sequence[Any], rest: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Make an array whose chunks are tasks; ``concatenate`` would lose the empty ones."""
    from dask.highlevelgraph import HighLevelGraph

    name = f"kempe-{uuid.uuid4().hex}"
    chunks = {(name, i, *(0 for _ in rest)): each.key for i, each in enumerate(tasks)}
    graph = HighLevelGraph.from_collections(name, chunks, dependencies=list(tasks))
    lengths = parts.source.chunks[0]
    return library().array.Array(graph, name, (lengths, *((size,) for size in rest)), dtype)


def _frame(parts: Parts, tasks: Sequence[Any], meta: Any) -> Any:
    from dask.dataframe import from_delayed

    divisions = parts.source.divisions
    known = {} if None in divisions else {"divisions": divisions}
    return from_delayed(list(tasks), meta=meta.astype(meta.dtypes), verify_meta=False, **known)


def _series(raw: Any, labels: NDArray[np.int32]) -> Any:
    import pandas as pd

    return pd.Series(labels, index=raw.index, name="label")


def _table(raw: Any, values: NDArray[Any], names: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame(values, index=raw.index, columns=names)


def nearest_of_part(rows: NDArray[Any], weight: Floats, centres: Centroids) -> NDArray[np.int32]:
    """Nearest centre of each row."""
    return _core.nearest_centroids(_finite(rows), centres)[0]


def distances_of_part(rows: NDArray[Any], weight: Floats, centres: Centroids) -> NDArray[Any]:
    """Distance of each row to each centre."""
    return cdist(_finite(rows), centres).astype(rows.dtype, copy=False)


def score_of_part(rows: NDArray[Any], weight: Floats, centres: Centroids) -> np.float64:
    """Negative inertia of the rows about their nearest centres."""
    squares = _core.nearest_centroids(_finite(rows), centres)[1]
    return np.float64(-(weight @ squares if weight.size else squares.sum()))


def _finite(rows: NDArray[Any]) -> NDArray[Any]:
    if not np.isfinite(rows).all():
        raise ValueError("Input X contains NaN or infinity")
    return rows
