"""What a search returns: the best clustering and how it was found."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

from kempe.problem import Colours
from kempe.storage import replacing

COLUMNS = ("iteration", "kind", "inertia", "best_inertia", "elapsed")


@dataclass(frozen=True)
class Solution:
    """A proper colouring of the supernodes and its inertia.

    Attributes
    ----------
    colours
        Cluster of each supernode.
    inertia
        Sum of squared distances to the means of the clusters.
    """

    colours: Colours
    inertia: float


@dataclass
class Statistics:
    """One row per solution that the search has looked at.

    Attributes
    ----------
    iteration
        Mutations before each solution.
    kind
        Where each came from, for example ``"start"`` or ``"perturb"``.
    inertia
        Inertia of each.
    best_inertia
        Lowest inertia up to each.
    elapsed
        Seconds of wall time until each.
    """

    iteration: list[int] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    inertia: list[float] = field(default_factory=list)
    best_inertia: list[float] = field(default_factory=list)
    elapsed: list[float] = field(default_factory=list)

    def append(
        self, iteration: int, kind: str, inertia: float, best_inertia: float, elapsed: float
    ) -> None:
        """Add a row.

        Parameters
        ----------
        iteration, kind, inertia, best_inertia, elapsed
            One value for each of the lists above.
        """
        self.iteration.append(iteration)
        self.kind.append(kind)
        self.inertia.append(inertia)
        self.best_inertia.append(best_inertia)
        self.elapsed.append(elapsed)

    def rows(self) -> list[tuple[int, str, float, float, float]]:
        """All rows, in the order of ``COLUMNS``."""
        columns = (self.iteration, self.kind, self.inertia, self.best_inertia, self.elapsed)
        return list(zip(*columns, strict=True))


@dataclass(frozen=True)
class Result:
    """The best solution of a search and its history.

    Attributes
    ----------
    solution
        The best colouring of the supernodes.
    n_mutations
        Solutions looked at after the first.
    stop_reason
        What ended the search, for example ``"patience"`` or ``"time_limit"``.
    runtime
        Seconds of wall time.
    cpu_time
        Seconds of processor time, all threads together.
    n_supernodes, n_edges
        Size of the problem after preprocessing.
    statistics
        History, one row per solution looked at.
    """

    solution: Solution
    n_mutations: int
    stop_reason: str
    runtime: float
    cpu_time: float
    n_supernodes: int
    n_edges: int
    statistics: Statistics

    @property
    def inertia(self) -> float:
        """Inertia of the best solution."""
        return self.solution.inertia

    def summary(self) -> str:
        """Describe the run in a few lines."""
        first = self.statistics.inertia[0] if self.statistics.inertia else self.inertia
        gain = 100 * (1 - self.inertia / first) if first else 0.0
        return "\n".join(
            [
                f"inertia       {self.inertia:,.6g} ({gain:.2f} % below the first descent)",
                f"mutations     {self.n_mutations:,}, stopped by {self.stop_reason}",
                f"time          {self.runtime:.3f} s, {self.cpu_time:.3f} s of processor time",
                f"problem       {self.n_supernodes:,} supernodes, {self.n_edges:,} edges",
            ]
        )

    def to_csv(self, path: str | Path) -> None:
        """Write the history to a CSV file.

        Parameters
        ----------
        path
            The file; an existing one is replaced.
        """
        with replacing(path) as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(self.statistics.rows())
