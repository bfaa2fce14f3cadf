"""Labels that are known for some rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from kempe.constraints import Constraints
from kempe.exceptions import InfeasibleConstraintsError
from kempe.tables.missing import is_unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kempe.tables import Table

MOST_TOLD = 12
"""So many classes are told by name."""


class KnownLabels:
    """A column of labels, of which some say that nothing is known.

    Parameters
    ----------
    table, column
        Where they are.
    unknown
        Words that say that nothing is known, beside those that always do; in any case.
    """

    def __init__(self, table: Table, column: int, unknown: Sequence[str] = ()) -> None:
        self._name = table.names[column]
        cells = table.texts(column)
        declared = {word.strip().lower() for word in unknown}
        says_nothing = [is_unknown(cell) or cell.lower() in declared for cell in cells]
        both = list(zip(cells, says_nothing, strict=True))
        self._labels = [None if nothing else cell for cell, nothing in both]
        self._unknown = Counter(cell for cell, nothing in both if nothing)
        self._classes = Counter(label for label in self._labels if label is not None)
        if not self._classes:
            raise ValueError(f"{table.source}: the column {self._name!r} has no known label")

    def check(self, n_clusters: int) -> None:
        """Refuse more classes than clusters, in words about classes rather than about pairs."""
        count = len(self._classes)
        if count > n_clusters:
            raise InfeasibleConstraintsError(
                f"the column {self._name!r} has {count:,} classes, which need a cluster each, more "
                f"than {n_clusters}: {self._listed()}; use -k {count}, or say which of them are no "
                "classes: --unknown WORD"
            )

    def _listed(self) -> str:
        told = [f"{name} ({times:,})" for name, times in self._classes.most_common(MOST_TOLD)]
        more = len(self._classes) - len(told)
        return ", ".join(told) + (f" and {more:,} more" if more else "")

    def constraints(self) -> Constraints:
        """Rows with equal labels belong together, rows with different ones do not."""
        return Constraints.from_labels(np.array(self._labels, dtype=object))

    def summary(self) -> str:
        """Say what is known, and what was taken for unknown."""
        known = self._classes
        text = (
            f"labels: {known.total():,} of {len(self._labels):,} rows of {self._name!r} known, "
            f"in {len(known):,} classes: {self._listed()}"
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
