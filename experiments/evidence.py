"""What claims of the paper rest on: comparisons, counted in our cells of a table and in its own."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import truediv
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from experiments.multiples import BASELINE
from experiments.tables import PaperTable, TableCell
from kempe.bench.plan import MAIN
from kempe.bench.summary import Quantity, Summary

Tables = Mapping[str, PaperTable]

# Inertia within this share is comparable; below this share beyond the best known it is near it.
COMPARABLE = 0.02
NEAR = 0.01


class Count(NamedTuple):
    """In how many cells something is so: in ours, in the paper's, and of how many.

    The paper's are unknown where it has no such number.
    """

    ours: int
    paper: int | None
    cells: int


@dataclass(frozen=True)
class Finding:
    """A sentence, and the cells that it rests on; ``None`` if there is nothing to count."""

    words: str
    count: Count | None


@dataclass(frozen=True)
class Relation:
    """How two numbers compare.

    Attributes
    ----------
    words
        Between the names of the methods.
    holds
        Whether the first number and the second are so.
    """

    words: str
    holds: Callable[[float, float], bool]


LOWER = Relation("below", lambda one, other: one < other)
HIGHER = Relation("above", lambda one, other: one > other)
NOT_HIGHER = Relation("at most", lambda one, other: one <= other * (1 + 1e-6))
NOT_LOWER = Relation("at least", lambda one, other: one >= other * (1 - 1e-6))
TENFOLD = Relation("ten times or more that of", lambda one, other: one >= 10 * other)
# Printed digits are decimal: 1.02 is within two per cent of 1.
ALIKE = Relation(
    f"within {100 * COMPARABLE:g} % of",
    lambda one, other: abs(one - other) <= (COMPARABLE + 1e-9) * other,
)


class Pair(NamedTuple):
    """Numbers of two methods in a cell, ours and the paper's.

    ``decided`` is false where longer runs of ours might have turned them round.
    """

    ours: tuple[float, float]
    paper: tuple[float, float]
    decided: bool

    def rounded(self, decimals: int) -> tuple[float, float]:
        """Ours with the digits that the paper prints."""
        one, other = np.round(self.ours, decimals).tolist()
        return one, other


@dataclass(frozen=True)
class Compare:
    """Two methods in all cells of a table that have both, here and in the paper.

    A time that our limit cut is at least what it is. Cells in which it is the lower of the two are
    left out: without the limit it might be the higher one.

    Attributes
    ----------
    table, quantity
        Where to look.
    method, relation, other
        What is claimed.
    rows, levels
        Names of data sets or collections, and levels; all if empty.
    """

    table: str
    quantity: Quantity
    method: str
    relation: Relation
    other: str = BASELINE
    rows: tuple[str, ...] = ()
    levels: tuple[float, ...] = ()

    def finding(self, summary: Summary, tables: Tables) -> Finding:
        """Count cells, and give the mean ratio."""
        table = tables[self.table]
        pairs = self.pairs(table).values()
        found = [pair for pair in pairs if pair.decided]
        cut = len(pairs) - len(found)
        claim = f"{_what(self.quantity)} of `{self.method}` {self.relation.words} `{self.other}`"
        if not found:
            return Finding(f"{claim}: no runs", None)
        count = Count(
            sum(self.relation.holds(*pair.rounded(table.spec.decimals)) for pair in found),
            sum(self.relation.holds(*pair.paper) for pair in found),
            len(found),
        )
        left_out = f", {cut} more that our limit leaves undecided" if cut else ""
        return Finding(
            f"{claim}: {count.ours} of {count.cells} cells (paper {count.paper}){left_out}"
            f"{_mean_ratio(found)}",
            count,
        )

    def pairs(self, table: PaperTable) -> dict[tuple[str, float], Pair]:
        """Give the numbers of both methods by row, wherever there are all four."""
        cells = table.lookup()
        found = {
            (dataset, level): _both(
                cells.get((dataset, level, self.quantity, self.method)),
                cells.get((dataset, level, self.quantity, self.other)),
            )
            for dataset, level in table.rows
            if (not self.rows or dataset in self.rows) and (not self.levels or level in self.levels)
        }
        return {row: pair for row, pair in found.items() if pair is not None}


@dataclass(frozen=True)
class CostsMore:
    """What is left out costs one method more than another, cell by cell.

    Attributes
    ----------
    first, second
        A method without it, and with it.
    """

    table: str
    quantity: Quantity
    first: tuple[str, str]
    second: tuple[str, str]

    @property
    def method(self) -> str:
        """The method that loses more."""
        return self.first[0]

    def finding(self, summary: Summary, tables: Tables) -> Finding:
        """Count the cells in which the first ratio is the larger."""
        table = tables[self.table]
        first, second = (
            Compare(self.table, self.quantity, without, HIGHER, base).pairs(table)
            for without, base in (self.first, self.second)
        )
        rows = [row for row in first if row in second]
        claim = "`{}` over `{}` above `{}` over `{}`".format(*self.first, *self.second)
        if not rows:
            return Finding(f"{claim}: no runs", None)
        ratios = [
            [truediv(*pair.rounded(table.spec.decimals)), truediv(*pair.paper)]
            for pair in [*(first[row] for row in rows), *(second[row] for row in rows)]
        ]
        sides = np.reshape(ratios, (2, len(rows), 2))
        ours, paper = (sides[0] > sides[1]).sum(axis=0).tolist()
        return Finding(
            f"{claim}: {ours} of {len(rows)} cells (paper {paper})", Count(ours, paper, len(rows))
        )


@dataclass(frozen=True)
class Grows:
    """A method's multiple of the baseline grows from collection to collection."""

    table: str
    quantity: Quantity
    method: str
    rows: tuple[str, ...]

    def finding(self, summary: Summary, tables: Tables) -> Finding:
        """Count the steps that go up, of the geometric means over levels."""
        pairs = Compare(self.table, self.quantity, self.method, HIGHER).pairs(tables[self.table])
        claim = f"{_what(self.quantity)} of `{self.method}` over `{BASELINE}`"
        means = [
            _ratios([pair for (dataset, _), pair in pairs.items() if dataset == row])
            for row in self.rows
        ]
        if any(mean is None for mean in means):
            return Finding(f"{claim}: no runs", None)
        ours, paper = np.transpose([mean for mean in means if mean is not None]).tolist()
        rises = [int((np.diff(side) > 0).sum()) for side in (ours, paper)]
        here, there = (", ".join(f"{mean:.3g}" for mean in side) for side in (ours, paper))
        return Finding(
            f"{claim} on {', '.join(self.rows)}: {here} ({there})",
            Count(rises[0], rises[1], len(self.rows) - 1),
        )


@dataclass(frozen=True)
class Reaches:
    """A method's multiple of the baseline is this large somewhere."""

    table: str
    quantity: Quantity
    method: str
    factor: float

    def finding(self, summary: Summary, tables: Tables) -> Finding:
        """Say how large it gets."""
        pairs = Compare(self.table, self.quantity, self.method, HIGHER).pairs(tables[self.table])
        claim = f"largest {_what(self.quantity)} of `{self.method}` over `{BASELINE}`"
        if not pairs:
            return Finding(f"{claim}: no runs", None)
        ours = max(truediv(*pair.ours) for pair in pairs.values())
        paper = max(truediv(*pair.paper) for pair in pairs.values())
        return Finding(
            f"{claim}: {ours:,.0f} ({paper:,.0f})",
            Count(int(ours >= self.factor), int(paper >= self.factor), 1),
        )


@dataclass(frozen=True)
class Succeeds:
    """A method finds a clustering in at least this share of its runs, cell by cell."""

    method: str
    share: float
    tables: tuple[str, ...] = ("success-rate", "success-rate-col4")
    rows: tuple[str, ...] = ()
    seldom: bool = False

    def finding(self, summary: Summary, tables: Tables) -> Finding:
        """Count cells, and give the lowest rate."""
        rates = [
            (cell.ours.value, cell.paper)
            for name in self.tables
            for cell in tables[name].cells
            if (cell.quantity, cell.method) == ("success", self.method)
            and (not self.rows or cell.dataset in self.rows)
            and cell.ours is not None
            and cell.paper is not None
        ]
        words = "less than" if self.seldom else "at least"
        claim = f"`{self.method}` succeeds in {words} {100 * self.share:g} % of its runs"
        if not rates:
            return Finding(f"{claim}: no runs", None)
        sides = list(zip(*rates, strict=True))
        ours, paper = ([(rate >= self.share) != self.seldom for rate in side] for side in sides)
        lowest = [min(side) for side in sides]
        return Finding(
            f"{claim}: {sum(ours)} of {len(rates)} cells (paper {sum(paper)}), lowest rate "
            f"{lowest[0]:.2f} ({lowest[1]:.2f})",
            Count(sum(ours), sum(paper), len(rates)),
        )


@dataclass(frozen=True)
class NearBest:
    """A method's mean inertia against the lowest that is known of each instance."""

    method: str

    def finding(self, summary: Summary, tables: Tables) -> Finding:
        """Count the instances within one per cent."""
        gaps = np.array(
            [
                cell.mean("inertia") / lowest - 1
                for (dataset, level), lowest in best_known().items()
                if (cell := summary.cell(MAIN, dataset, level, self.method)) is not None
                and cell.solved
                and lowest > 0
            ]
        )
        claim = f"mean inertia of `{self.method}` within {100 * NEAR:g} % of the lowest known"
        if not gaps.size:
            return Finding(f"{claim}: no runs", None)
        near = int(np.count_nonzero(gaps <= NEAR))
        return Finding(
            f"{claim}: {near} of {gaps.size} instances, above it by {100 * gaps.mean():.2f} % on "
            f"average and {100 * np.median(gaps):.3f} % in the median",
            Count(near, None, gaps.size),
        )


Evidence: TypeAlias = Compare | CostsMore | Grows | Reaches | Succeeds | NearBest


def _what(quantity: Quantity) -> str:
    return {"inertia": "inertia", "time": "CPU time", "success": "success", "ari": "ARI"}[quantity]


def _both(one: TableCell | None, other: TableCell | None) -> Pair | None:
    """Numbers of two methods; ``None`` unless there are all four, on all data sets of the row."""
    if one is None or other is None or one.ours is None or other.ours is None:
        return None
    ours, paper = (one.ours.value, other.ours.value), (one.paper, other.paper)
    if one.ours.partial or other.ours.partial or np.isnan(ours).any():
        return None
    if paper[0] is None or paper[1] is None:
        return None
    faster = one.ours if ours[0] < ours[1] else other.ours
    cut = one.quantity == "time" and faster.n_limited > 0
    return Pair(ours, (paper[0], paper[1]), decided=not cut)


def _ratios(pairs: Sequence[Pair]) -> tuple[float, float] | None:
    """Geometric means of ratios, ours and the paper's, where all numbers are above zero."""
    positive = [pair for pair in pairs if min(*pair.ours, *pair.paper) > 0]
    if not positive:
        return None
    ours, paper = (
        math.exp(np.mean([math.log(truediv(*side)) for side in sides]))
        for sides in zip(*((pair.ours, pair.paper) for pair in positive), strict=True)
    )
    return ours, paper


def _mean_ratio(pairs: Sequence[Pair]) -> str:
    ratios = _ratios(pairs)
    return "" if ratios is None else f", ratio {ratios[0]:.3g} ({ratios[1]:.3g})"


def best_known() -> dict[tuple[str, float], float]:
    """Give the lowest inertia that is known of each instance of collections 1 to 3."""
    path = Path(__file__).parents[1] / "benchmarks" / "best_known.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["dataset"], float(row["level"])): float(row["inertia"])
            for row in csv.DictReader(file)
        }
