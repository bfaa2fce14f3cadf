"""How work reaches a cluster, or the threads of this machine where there is none."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from kempe.exceptions import WorkerLostError

# So many parts are added up at a time, on a worker; then so many of these sums.
FAN_IN = 8


def library() -> Any:
    """Give ``dask`` with its arrays, or say how to get it."""
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise ImportError(
            "kempe.dask needs Dask, which is not installed: pip install 'kempe[dask]'"
        ) from error
    return dask


def task(function: Callable[..., Any], *arguments: Any, name: str | None = None) -> Any:
    """Call a function later, somewhere.

    Parameters
    ----------
    name
        What dashboards call it.
    """
    # Arguments are arrays and other tasks; looking for tasks inside them takes long.
    delayed = library().delayed(function, pure=False, traverse=False)
    return delayed(*arguments, dask_key_name=_key(name or function.__name__))


def _key(name: str) -> str:
    return f"kempe-{name}-{uuid.uuid4().hex}"


def tree(merge: Callable[[Sequence[Any]], Any], parts: Sequence[Any]) -> Any:
    """Merge parts in a tree that depends on their number alone.

    Parameters
    ----------
    merge
        Makes one of several, which come in their order.
    parts
        Tasks, at least one.
    """
    while True:
        parts = [
            task(_merged, merge, *parts[first : first + FAN_IN], name="merge")
            for first in range(0, len(parts), FAN_IN)
        ]
        if len(parts) == 1:
            return parts[0]


def _merged(merge: Callable[[Sequence[Any]], Any], *parts: Any) -> Any:
    return merge(parts)


def compute(tasks: Sequence[Any]) -> list[Any]:
    """Do tasks now, and wait for what they return.

    Raises
    ------
    WorkerLostError
        If one of them has killed several workers.
    """
    with _plain_errors():
        return list(library().compute(*tasks))


def keep(tasks: Sequence[Any]) -> list[Any]:
    """Do tasks now and leave what they return where it is; whatever gets lost is done again."""
    with _plain_errors():
        return list(library().persist(*tasks))


class _plain_errors:
    """Says in plain words that workers died, which Dask calls ``KilledWorker``."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if kind is not None and kind.__name__ == "KilledWorker":
            raise WorkerLostError(
                "workers died one after the other over the same part of the data, most likely for "
                "want of memory; make the parts smaller (rechunk, repartition) or give workers "
                f"more memory. Dask says: {error}"
            ) from error
