"""Runs condensed to cells: one per variant, data set, level and method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kempe import datasets, methods
from kempe.bench.plan import MAIN
from kempe.bench.statistics import Estimate, bootstrap_interval
from kempe.bench.store import NO_DATA, Record
from kempe.datasets.catalogue import COLLECTIONS

ALL = "all collections"
"""Name under which results over all collections together are shown."""

Quantity = Literal["inertia", "time", "success", "ari"]


@dataclass(frozen=True)
class Cell:
    """All runs of one method on one instance."""

    runs: tuple[Record, ...]

    @cached_property
    def solved(self) -> tuple[Record, ...]:
        """Runs that ended with a feasible clustering."""
        return tuple(run for run in self.runs if run.ok)

    @property
    def n_limited(self) -> int:
        """Number of runs that the time limit ended."""
        return sum(run.limited for run in self.runs)

    @property
    def in_time(self) -> Cell:
        """Runs that ended by themselves."""
        return Cell(tuple(run for run in self.runs if not run.limited)) if self.n_limited else self

    @cached_property
    def seeds(self) -> frozenset[int]:
        """Seeds of the runs, successful or not."""
        return frozenset(run.seed for run in self.runs)

    def at(self, seeds: frozenset[int]) -> Cell:
        """Give the runs at some seeds only."""
        return self if seeds >= self.seeds else Cell(tuple(r for r in self.runs if r.seed in seeds))

    @property
    def success(self) -> float:
        """Share of the runs that ended with a feasible clustering."""
        return len(self.solved) / len(self.runs)

    def values(self, quantity: Quantity) -> NDArray[np.float64]:
        """One value per solved run (per run for ``"success"``)."""
        if quantity == "success":
            return np.array([float(run.ok) for run in self.runs])
        name = {"inertia": "inertia", "time": "cpu_s", "ari": "ari"}[quantity]
        return np.array([getattr(run, name) for run in self.solved], dtype=np.float64)

    def mean(self, quantity: Quantity) -> float:
        """Mean over seeds, NaN without a solved run."""
        values = self.values(quantity)
        return float(values.mean()) if values.size else math.nan

    def best(self, quantity: Quantity) -> float:
        """Lowest inertia or highest index of all seeds, or their time together."""
        values = self.values(quantity)
        if not values.size:
            return math.nan
        if quantity == "time":
            return float(values.sum())
        return float(values.min() if quantity == "inertia" else values.max())

    def estimate(self, quantity: Quantity) -> Estimate:
        """Mean over seeds with its interval."""
        values = self.values(quantity)
        low, high = bootstrap_interval(values)
        n_sets = int(values.size > 0)
        return Estimate(
            self.mean(quantity),
            low,
            high,
            n_sets,
            n_runs=values.size,
            n_seeds=len(self.seeds),
            n_limited=self.n_limited,
        )


@dataclass(frozen=True)
class PairedMeans:
    """Means of two methods on some instances, over the seeds at which both ended by themselves.

    Attributes
    ----------
    first, second
        NaN where there is nothing to compare.
    seeds
        Fewest and most seeds of an instance that counts.
    limits
        Time limits of the runs that count, in seconds.
    n_limited
        Instances that do not count because the limit ended every run of one of the two.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    seeds: tuple[int, int]
    limits: tuple[float, ...]
    n_limited: int


class Summary:
    """Cells of all runs of one or several stores.

    Parameters
    ----------
    records
        The runs; those that had no data are left out.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        groups: dict[tuple[str, str, float | None, str], list[Record]] = {}
        for record in records:
            if record.reason.startswith(NO_DATA):
                continue
            key = (record.variant, record.dataset, record.level, record.method)
            groups.setdefault(key, []).append(record)
        self.cells = {
            key: Cell(tuple(sorted(runs, key=lambda run: run.seed))) for key, runs in groups.items()
        }

    def cell(self, variant: str, dataset: str, level: float, method: str) -> Cell | None:
        """Cell of one instance and method, if there are runs."""
        return self.cells.get((variant, dataset, level, method))

    def variants(self) -> list[str]:
        """Name the settings with runs, the usual one first."""
        return sorted({key[0] for key in self.cells}, key=lambda name: (name != MAIN, name))

    def collections(self) -> list[str]:
        """Name the collections with runs, those of the paper first."""
        found = {key[1].split("/")[0] for key in self.cells}
        known = [name for name in COLLECTIONS if name in found]
        return known + sorted(found - set(known))

    def methods(self, variant: str = MAIN) -> list[str]:
        """Methods with runs, the known ones in the order of the paper."""
        found = {key[3] for key in self.cells if key[0] == variant}
        return sort_methods(found)

    def instances(self, variant: str = MAIN, collection: str = "") -> list[tuple[str, float]]:
        """List data sets and levels with runs, in the order of the catalogue."""
        order = {name: number for number, name in enumerate(datasets.names())}
        found = {
            (key[1], key[2])
            for key in self.cells
            if key[0] == variant and key[1].startswith(collection) and key[2] is not None
        }
        return sorted(found, key=lambda item: (order.get(item[0], len(order)), item[1]))

    def common_instances(self, methods: Iterable[str]) -> list[tuple[str, float]]:
        """List the instances that all of some methods have runs on, successful or not."""
        wanted = list(methods)
        return [
            item
            for item in self.instances()
            if all(self.cell(MAIN, *item, method) is not None for method in wanted)
        ]

    def matrix(
        self,
        quantity: Quantity,
        instances: Sequence[tuple[str, float]],
        variant: str = MAIN,
        *,
        best: bool = False,
    ) -> dict[str, NDArray[np.float64]]:
        """Per method the means over seeds on some instances, NaN where there is none.

        Parameters
        ----------
        best
            Take the lowest inertia and the total time of all seeds instead of means.
        """
        condense = Cell.best if best else Cell.mean

        def value(dataset: str, level: float, method: str) -> float:
            cell = self.cell(variant, dataset, level, method)
            return math.nan if cell is None else condense(cell, quantity)

        return {
            method: np.array([value(*item, method) for item in instances])
            for method in self.methods(variant)
        }

    def paired_means(
        self, first: str, second: str, quantity: Quantity, instances: Sequence[tuple[str, float]]
    ) -> PairedMeans:
        """Means of two methods; a run that a time limit ended tells of the limit, so it is out."""
        cells = [
            (self.cell(MAIN, *item, first), self.cell(MAIN, *item, second)) for item in instances
        ]
        both = [(a, b) for a, b in cells if a is not None and b is not None]
        in_time = [at_common_seeds(a.in_time, b.in_time) for a, b in both]
        pairs = [pair for pair in in_time if pair is not None]
        means = np.array(
            [[cell.mean(quantity) for cell in pair] for pair in pairs], dtype=np.float64
        ).reshape(-1, 2)
        runs = [run for pair in pairs for cell in pair for run in cell.runs]
        numbers = [len(pair[0].seeds) for pair in pairs]
        return PairedMeans(
            first=means[:, 0],
            second=means[:, 1],
            seeds=(min(numbers, default=0), max(numbers, default=0)),
            limits=tuple(sorted({run.time_limit for run in runs})),
            n_limited=sum(
                pair is None and bool(a.seeds & b.seeds)
                for pair, (a, b) in zip(in_time, both, strict=True)
            ),
        )


def at_common_seeds(first: Cell | None, second: Cell | None) -> tuple[Cell, Cell] | None:
    """Give the runs of two cells at the seeds that both have, ``None`` if there are none."""
    if first is None or second is None or not first.seeds & second.seeds:
        return None
    return first.at(second.seeds), second.at(first.seeds)


def sort_methods(found: Iterable[str]) -> list[str]:
    """Put methods in the order of the paper, ours first and unknown ones last."""
    rank = {name: number for number, name in enumerate(methods.names())}
    return sorted(found, key=lambda name: (rank.get(name, len(rank)), name))
