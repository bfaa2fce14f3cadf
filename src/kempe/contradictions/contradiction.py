"""Pairs that cannot all hold, as part of a proof that some must be given up."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kempe.constraints import Constraints, RowNames
from kempe.graph.certificates import CriticalPairs, listed, names_of_rows, supernodes_of
from kempe.graph.certificates import are_among as _are_among
from kempe.pairs import Pairs


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Pairs of rows that no clustering into k clusters satisfies all at once.

    Attributes
    ----------
    must_link, cannot_link
        The pairs, in the user's row numbers.
    n_clusters
        The number of clusters, k.
    weight
        How much it adds to the lower bound: what its cheapest pair is worth, as far as no other
        contradiction has used it up.
    names
        What messages call the rows, if not by their numbers.
    """

    must_link: Pairs
    cannot_link: Pairs
    n_clusters: int
    weight: float = 1.0
    names: RowNames | None = field(default=None, repr=False, compare=False)

    def verify(self, constraints: Constraints, n_clusters: int) -> bool:
        """Check against the constraints alone that its pairs are among them and cannot all hold.

        Parameters
        ----------
        constraints
            What was given, soft pairs included.
        n_clusters
            Number of clusters.
        """
        soft = constraints.soft
        for own, hard, uncertain in (
            (self.must_link, constraints.must_link, soft.must_link),
            (self.cannot_link, constraints.cannot_link, soft.cannot_link),
        ):
            if len(own) and not _are_among(own, np.concatenate([hard, uncertain])):
                return False
        alone = Constraints(self.must_link, self.cannot_link)
        ends = supernodes_of(alone)[self.cannot_link]
        if (ends[:, 0] == ends[:, 1]).any():
            return True
        return CriticalPairs(self.cannot_link, n_clusters, False).verify(alone, n_clusters)

    def __str__(self) -> str:
        told = [
            *(f"{a} = {b}" for a, b in map(self._called, self.must_link.tolist())),
            *(f"{a} ≠ {b}" for a, b in map(self._called, self.cannot_link.tolist())),
        ]
        return f"{len(told)} pairs cannot all hold: {listed(', ', told)}"

    def _called(self, pair: list[int]) -> list[str]:
        return names_of_rows(pair, self.names)
