"""Labels that are known for some rows."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from kempe.constraints import Constraints
from kempe.tables.missing import is_unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kempe.tables import Table


class KnownLabels:
    """A column of labels, of which some say that nothing is known.

    Parameters
    ----------
    table, column
        Where they are.
    """

    def __init__(self, table: Table, column: int) -> None:
        self._name = table.names[column]
        cells = table.texts(column)
        self._labels = [None if is_unknown(cell) else cell for cell in cells]
        self._unknown = Counter(cell for cell in cells if is_unknown(cell))
        if not any(self._labels):
            raise ValueError(f"{table.source}: the column {self._name!r} has no known label")

    def constraints(self) -> Constraints:
        """Rows with equal labels belong together, rows with different ones do not."""
        return Constraints.from_labels(np.array(self._labels, dtype=object))

    def summary(self) -> str:
        """Say what is known, and what was taken for unknown."""
        known = Counter(label for label in self._labels if label is not None)
        text = (
            f"labels: {known.total():,} of {len(self._labels):,} rows of {self._name!r} known, "
            f"in {len(known):,} classes"
        )
        taken = [f"{times:,} x {cell or 'blank'}" for cell, times in self._unknown.most_common()]
        return f"{text}; taken as unknown: {', '.join(taken)}" if taken else text

    def cluster_names(self, clusters: NDArray[np.int32], n_clusters: int) -> list[str]:
        """Name each cluster by the label of its rows; the others get numbers that are no label."""
        names: dict[int, str] = {}
        for cluster, label in zip(clusters.tolist(), self._labels, strict=True):
            if label is not None:
                names.setdefault(cluster, label)
        taken = set(names.values())
        free = (str(number) for number in count() if str(number) not in taken)
        return [names[cluster] if cluster in names else next(free) for cluster in range(n_clusters)]
