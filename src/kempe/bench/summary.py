"""Runs condensed to cells: one per variant, data set, level and method."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kempe import datasets
from kempe.bench.plan import MAIN
from kempe.bench.statistics import Estimate, bootstrap_interval
from kempe.bench.store import Record

BASELINE = "KSKM"
"""Method that multiples refer to, as in the paper."""

Quantity = Literal["inertia", "time", "success", "ari"]

_ORDER = (
    "kempe",
    "KSKM",
    "KSKM_repo",
    "KSKM_E",
    "KSKM_E_repo",
    "PCCC",
    "BLPKMCC",
    "COPKM_P",
    "COPKM",
    "ICOPKM",
    "CLCKM",
    "S_MDEClust",
)


@dataclass(frozen=True)
class Cell:
    """All runs of one method on one instance."""

    runs: tuple[Record, ...]

    @cached_property
    def solved(self) -> tuple[Record, ...]:
        """Runs that ended with a feasible clustering."""
        return tuple(run for run in self.runs if run.ok)

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
        """Lowest inertia of all seeds, or their time together."""
        values = self.values(quantity)
        if not values.size:
            return math.nan
        return float(values.sum() if quantity == "time" else values.min())

    def estimate(self, quantity: Quantity) -> Estimate | None:
        """Mean over seeds with its interval."""
        values = self.values(quantity)
        if not values.size:
            return None
        low, high = bootstrap_interval(values)
        return Estimate(float(values.mean()), low, high, n_runs=values.size)


class Summary:
    """Cells of all runs of one or several stores.

    Parameters
    ----------
    records
        The runs.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        groups: dict[tuple[str, str, float | None, str], list[Record]] = {}
        for record in records:
            key = (record.variant, record.dataset, record.level, record.method)
            groups.setdefault(key, []).append(record)
        self.cells = {
            key: Cell(tuple(sorted(runs, key=lambda run: run.seed))) for key, runs in groups.items()
        }

    def cell(self, variant: str, dataset: str, level: float, method: str) -> Cell | None:
        """Cell of one instance and method, if there are runs."""
        return self.cells.get((variant, dataset, level, method))

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

    def matrix(
        self, quantity: Quantity, instances: Sequence[tuple[str, float]], variant: str = MAIN
    ) -> dict[str, NDArray[np.float64]]:
        """Per method the means over seeds on some instances, NaN where there is none."""
        return {
            method: np.array([self._mean(variant, *item, method, quantity) for item in instances])
            for method in self.methods(variant)
        }

    def _mean(
        self, variant: str, dataset: str, level: float, method: str, quantity: Quantity
    ) -> float:
        cell = self.cell(variant, dataset, level, method)
        return math.nan if cell is None else cell.mean(quantity)

    def rate(
        self, variant: str, names: Sequence[str], level: float, method: str
    ) -> Estimate | None:
        """Share of successful runs over some data sets."""
        cells = self._cells(variant, names, level, method)
        if not cells:
            return None
        runs = np.concatenate([cell.values("success") for cell in cells])
        low, high = bootstrap_interval(runs)
        return Estimate(float(runs.mean()), low, high, len(cells), len(names), runs.size)

    def multiple(
        self,
        variant: str,
        names: Sequence[str],
        level: float,
        method: str,
        quantity: Quantity,
        *,
        best: bool = False,
    ) -> Estimate | None:
        """Mean over data sets of a quantity divided by that of the baseline.

        The interval is over seeds: the mean over data sets is taken for each seed, and these
        means are resampled.

        Parameters
        ----------
        best
            Take the lowest inertia and the total time of all seeds instead of means.
        """
        condense: Callable[[Cell, Quantity], float] = Cell.best if best else Cell.mean
        ratios, per_seed, n_runs = [], [], 0
        for name in names:
            cell = self.cell(variant, name, level, method)
            base = self.cell(variant, name, level, BASELINE)
            if cell is None or base is None or not cell.solved or not base.solved:
                continue
            reference = condense(base, quantity)
            ratios.append(condense(cell, quantity) / reference)
            n_runs += len(cell.solved)
            values = zip(cell.solved, cell.values(quantity), strict=True)
            per_seed.append({run.seed: value / reference for run, value in values})
        if not ratios:
            return None
        low, high = (math.nan, math.nan) if best else bootstrap_interval(_seed_means(per_seed))
        return Estimate(float(np.mean(ratios)), low, high, len(ratios), len(names), n_runs)

    def _cells(self, variant: str, names: Sequence[str], level: float, method: str) -> list[Cell]:
        cells = [self.cell(variant, name, level, method) for name in names]
        return [cell for cell in cells if cell is not None]


def sort_methods(found: Iterable[str]) -> list[str]:
    """Put methods in the order of the paper, ours first and unknown ones last."""
    rank = {name: number for number, name in enumerate(_ORDER)}
    return sorted(found, key=lambda name: (rank.get(name, len(rank)), name))


def _seed_means(per_seed: Sequence[dict[int, float]]) -> list[float]:
    seeds = sorted(set().union(*per_seed))
    return [float(np.mean([item[seed] for item in per_seed if seed in item])) for seed in seeds]
