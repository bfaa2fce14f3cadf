"""Numbers as the paper's tables have them: rates over data sets, and multiples of KSKM."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from experiments.rule import PAPER_SEEDS
from kempe.bench.statistics import Estimate, bootstrap_interval
from kempe.bench.store import Record
from kempe.bench.summary import Cell, Quantity, Summary, at_common_seeds

BASELINE = "KSKM"
"""Method that multiples refer to."""

INTEGER_PROGRAMS = ("KSKM_E", "PCCC", "BLPKMCC")
"""Methods that find a clustering wherever there is one, unless their time is up."""

POPULATION = ("S_MDEClust",)
"""Methods of which one run is set against the best of all runs of another."""

Condense = Callable[[Cell, Quantity], float]
"""How the runs of a cell become one number."""


def rate(
    summary: Summary, variant: str, names: Sequence[str], level: float, method: str
) -> Estimate | None:
    """Share of successful runs, each data set counting as much, however many runs it has."""
    found = [summary.cell(variant, name, level, method) for name in names]
    cells = [cell for cell in found if cell is not None]
    if not cells:
        return None
    runs = [cell.values("success") for cell in cells]
    most = max(values.size for values in runs)
    low, high = bootstrap_interval(np.concatenate([np.resize(values, most) for values in runs]))
    return Estimate(
        float(np.mean([values.mean() for values in runs])),
        low,
        high,
        n_sets=len(cells),
        n_sets_tried=len(cells),
        n_sets_wanted=len(names),
        n_runs=sum(values.size for values in runs),
        n_seeds=min(len(cell.seeds) for cell in cells),
        n_limited=sum(cell.n_limited for cell in cells),
    )


def multiple(
    summary: Summary,
    variant: str,
    names: Sequence[str],
    level: float,
    method: str,
    quantity: Quantity,
    *,
    best: bool = False,
) -> Estimate | None:
    """Mean over data sets of a quantity divided by that of the baseline.

    Both are taken over the seeds that both have runs of. There is no interval:
    ``Repetition.confidence`` has one, since other starts change the baseline as well.

    Parameters
    ----------
    best
        Take the lowest inertia and the total time of ten seeds instead of means; of a method
        that has a population, one run.
    """
    alone = best and method in POPULATION
    found = pairs(summary, variant, names, level, method, alone=alone)
    if not found:
        return None
    if not best:
        return _multiple(found, len(names), quantity, Cell.mean, Cell.mean)
    bests = partial(best_of, count=PAPER_SEEDS)
    ours = partial(best_of, count=1) if alone else bests
    return _multiple(found, len(names), quantity, ours, bests)


def pairs(
    summary: Summary,
    variant: str,
    names: Sequence[str],
    level: float,
    method: str,
    *,
    alone: bool = False,
) -> list[tuple[Cell, Cell]]:
    """Give the runs of a method and of the baseline on some data sets, at their common seeds.

    Parameters
    ----------
    alone
        Whether the two need no common seeds.
    """
    found = []
    for name in names:
        cell = summary.cell(variant, name, level, method)
        base = summary.cell(variant, name, level, BASELINE)
        pair = (cell, base) if alone and cell and base else at_common_seeds(cell, base)
        if pair is not None:
            found.append(pair)
    return found


def best_of(cell: Cell, quantity: Quantity, count: int) -> float:
    """Lowest inertia or total time of so many seeds, the mean if there are several times that.

    Parameters
    ----------
    count
        Seeds that belong together: the first so many, the next so many, and on.
    """
    groups: dict[int, list[Record]] = {}
    for run in cell.runs:
        groups.setdefault(run.seed // count, []).append(run)
    bests = np.array([Cell(tuple(runs)).best(quantity) for runs in groups.values()])
    known = bests[~np.isnan(bests)]
    return float(known.mean()) if known.size else math.nan


def _multiple(
    pairs: Sequence[tuple[Cell, Cell]],
    n_wanted: int,
    quantity: Quantity,
    condense: Condense,
    condense_base: Condense,
) -> Estimate:
    """Mean ratio of the cells of a method to those of the baseline."""
    solved = [(cell, base) for cell, base in pairs if cell.solved and base.solved]
    ratios = [condense(cell, quantity) / condense_base(base, quantity) for cell, base in solved]
    return Estimate(
        float(np.mean(ratios)) if ratios else math.nan,
        math.nan,
        math.nan,
        n_sets=len(solved),
        n_sets_tried=len(pairs),
        n_sets_wanted=n_wanted,
        n_runs=sum(len(cell.solved) for cell, _ in solved),
        n_seeds=min(len(cell.seeds) for cell, _ in pairs),
        n_limited=sum(cell.n_limited for cell, _ in pairs),
    )
