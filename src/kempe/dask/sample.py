"""Some rows of a clustering that no single memory holds, for a page that a person looks at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.constraints import Constraints
from kempe.dask.pairs import NamedRows
from kempe.dask.parts import Parts, delayed_parts
from kempe.dask.tasks import compute, task
from kempe.problem import Problem
from kempe.search.result import BrokenPairs, Origin, Result, Solution


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows, their clusters, and the pairs among them.

    Attributes
    ----------
    numbers
        Their numbers among all rows, ascending.
    rows, weight, labels
        What they are, what they weigh, and their clusters.
    constraints
        The pairs among them, as positions in ``numbers``.
    """

    numbers: NDArray[np.int64]
    rows: NDArray[Any]
    weight: NDArray[np.float64] | None
    labels: NDArray[np.int32]
    constraints: Constraints

    @classmethod
    def of(
        cls, parts: Parts, labels: Any, named: NamedRows, most: int, rng: np.random.Generator
    ) -> Sample:
        """Fetch rows by chance, half of them from pairs where there are that many.

        Parameters
        ----------
        parts
            All rows.
        labels
            Cluster of each, a Dask collection with the same parts.
        named
            The rows that pairs name.
        most
            How many rows to fetch.
        rng
            Source of randomness.
        """
        numbers = _chosen_numbers(parts.n_rows, named, most, rng)
        rows, weight = parts.gathered(numbers)
        where, raw = parts.split(numbers), delayed_parts(labels)
        tasks = [
            task(_taken, part, numbers[own] - first, name="labels")
            for part, own, first in zip(raw, where, parts.first, strict=True)
        ]
        found = np.concatenate(compute(tasks)).astype(np.int32)
        pairs = named.in_row_numbers(parts.n_rows)
        pairs.row_names = None  # rows in no pair have none; the page is told what to call them
        own = pairs.subset(numbers)
        return cls(numbers, rows, weight if parts.weighted else None, found, own)

    def result(self, whole: Result, settings: dict[str, Any]) -> Result:
        """Give what the search found as if it had found it on these rows alone.

        Parameters
        ----------
        whole
            What it found on all rows.
        settings
            Name and parameters of the estimator.
        """
        problem = Problem.build(
            self.rows,
            self.constraints,
            n_clusters=int(settings["n_clusters"]),
            sample_weight=self.weight,
        )
        colours = np.empty(problem.n_supernodes, dtype=np.int32)
        colours[problem.supernode] = self.labels
        broken = None
        pair_price = None if whole.broken is None else whole.broken.pair_price
        if pair_price is not None:
            broken = BrokenPairs.of(self.constraints, self.labels, pair_price)
            if problem.soft is not None:
                priced = problem.priced(pair_price.of_supernodes(problem.soft))
                problem = priced.counting_all(pair_price, self.labels)
        return replace(
            whole,
            broken=broken,
            solution=Solution.of(problem, colours),
            n_supernodes=problem.n_supernodes,
            n_edges=problem.graph.n_edges,
            origin=Origin.of(self.rows, self.constraints, self.weight, settings),
        )


def _chosen_numbers(
    n_rows: int, named: NamedRows, most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw rows; pairs are drawn as pairs, since half of one shows nothing."""
    given = named.constraints
    pairs = np.concatenate([given.must_link, given.cannot_link, given.soft.stacked()[0]])
    drawn = named.numbers[rng.permutation(pairs)[: most // 4].ravel()]
    others = rng.choice(n_rows, min(n_rows, most), replace=False)
    others = others[~np.isin(others, drawn)]
    own = np.unique(drawn)
    return np.sort(np.concatenate([own, others[: max(0, most - own.size)]])).astype(np.int64)


def _taken(labels: Any, positions: NDArray[np.int64]) -> NDArray[Any]:
    return np.asarray(labels)[positions]
