"""What a search returns: the best clustering and how it was found."""

from __future__ import annotations

import csv
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe import cards
from kempe.constraints import Constraints
from kempe.pairs import Pairs
from kempe.problem import Centroids, Colours, Problem
from kempe.soft_pairs import PairPrice
from kempe.storage import replacing

if TYPE_CHECKING:
    from kempe.report import Report

ENDINGS = {
    "interrupted": "stopped by Ctrl-C",
    "max_mutations": "ended as planned",
    "patience": "ended, as nothing improved any more",
    "diminishing_returns": "ended, as it hardly gained any more",
    "time_limit": "ended by the time limit",
    "target_inertia": "ended at the target",
    "optimal": "ended, as no clustering is better",
    "converged": "converged",
    "stuck": "ended, as it found no further clustering",
}
"""Why a search ended, in words."""


@dataclass(frozen=True)
class Solution:
    """A proper colouring of the supernodes, its inertia, and what decides whether it is the best.

    Attributes
    ----------
    colours
        Cluster of each supernode.
    inertia
        Sum of squared distances to the means of the clusters.
    objective
        What the search minimises: the inertia, or something of which it is a part.
    """

    colours: Colours
    inertia: float
    objective: float

    @classmethod
    def of(cls, problem: Problem, colours: Colours, centroids: Centroids | None = None) -> Self:
        """Judge a colouring: the one place that says what all searches but some rivals minimise.

        Parameters
        ----------
        problem
            Supernodes and the graph between them.
        colours
            Cluster of each supernode.
        centroids
            Means of the clusters, if they are known.
        """
        inertia = problem.inertia(colours, centroids)
        return cls(colours, inertia, inertia + problem.price(colours))


class HistoryRow(NamedTuple):
    """One solution that the search has looked at: a value for each list of ``Statistics``."""

    iteration: int
    kind: str
    inertia: float
    best_inertia: float
    elapsed: float
    objective: float
    best_objective: float


COLUMNS = HistoryRow._fields
_OF_OBJECTIVE = ("objective", "best_objective")


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
        Inertia of the best solution up to each.
    elapsed
        Seconds of wall time until each.
    objective
        What the search minimises, of each: nearly always the inertia.
    best_objective
        Lowest objective up to each.
    """

    iteration: list[int] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    inertia: list[float] = field(default_factory=list)
    best_inertia: list[float] = field(default_factory=list)
    elapsed: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    best_objective: list[float] = field(default_factory=list)

    def append(self, row: HistoryRow) -> None:
        """Add a row.

        Parameters
        ----------
        row
            One value for each of the lists above.
        """
        self.iteration.append(row.iteration)
        self.kind.append(row.kind)
        self.inertia.append(row.inertia)
        self.best_inertia.append(row.best_inertia)
        self.elapsed.append(row.elapsed)
        self.objective.append(row.objective)
        self.best_objective.append(row.best_objective)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the lists that say something: those of the objective only where it differs."""
        same = self.objective == self.inertia and self.best_objective == self.best_inertia
        return tuple(name for name in COLUMNS if not (same and name in _OF_OBJECTIVE))

    def rows(self) -> list[HistoryRow]:
        """All rows."""
        columns = (getattr(self, name) for name in COLUMNS)
        return [HistoryRow(*row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True, eq=False)
class Origin:
    """What a result was found on, as far as it is still there.

    Attributes
    ----------
    data
        Gives the data as it was passed to ``fit``, or ``None`` if nobody has it any more: a model
        shall not keep gigabytes alive, which its user may want to be rid of.
    constraints, sample_weight
        As passed to ``fit``.
    settings
        Name and parameters of the estimator.
    """

    data: Callable[[], Any]
    constraints: Constraints
    sample_weight: NDArray[np.float64] | None
    settings: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        X: Any,
        constraints: Constraints,
        sample_weight: NDArray[np.float64] | None,
        settings: Mapping[str, Any],
    ) -> Origin:
        """Remember the data as long as somebody else does."""
        rest = (constraints, sample_weight, settings)
        try:
            return cls(weakref.ref(X), *rest)
        except TypeError:  # a list, which is small
            return cls(lambda: X, *rest)


class BrokenPairs(NamedTuple):
    """Soft pairs that a clustering breaks, dearest first.

    Attributes
    ----------
    pairs
        Row numbers.
    together
        Whether each was said to belong together.
    confidence
        How sure each was; NaN where nobody said.
    price
        What breaking it cost.
    names
        What the user calls the rows of each pair.
    pair_price
        What a pair costs, whether broken or not; ``None`` where it has no price.
    """

    pairs: Pairs
    together: NDArray[np.bool_]
    confidence: NDArray[np.float64]
    price: NDArray[np.float64]
    names: list[tuple[Any, Any]]
    pair_price: PairPrice | None = None

    @classmethod
    def of(
        cls,
        constraints: Constraints,
        labels: NDArray[np.int32],
        pair_price: PairPrice | None,
        cost_of: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
    ) -> BrokenPairs:
        """Find the pairs that labels break, and what that costs.

        Parameters
        ----------
        constraints
            With the soft pairs.
        labels
            Cluster of each row.
        pair_price
            What a pair costs by its log-odds.
        cost_of
            What pairs cost by their confidences, for methods that price them in another way.
        """
        pairs, together, confidence = constraints.soft.violations(labels).stacked()
        if pair_price is not None:
            cost_of = pair_price.of_rows
        cost = np.full(len(pairs), np.nan) if cost_of is None else cost_of(confidence)
        order = np.argsort(-cost, kind="stable")
        pairs = pairs[order]
        ends = (constraints.names_of(pairs[:, end].tolist()) for end in (0, 1))
        names = list(zip(*ends, strict=True))
        return cls(pairs, together[order], confidence[order], cost[order], names, pair_price)


@dataclass(frozen=True, repr=False)
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
    origin
        What it was found on, for :meth:`to_html`; neither pickled nor saved with a model.
    broken
        The soft pairs that the solution breaks; ``None`` if there were no soft pairs.
    """

    solution: Solution
    n_mutations: int
    stop_reason: str
    runtime: float
    cpu_time: float
    n_supernodes: int
    n_edges: int
    statistics: Statistics
    origin: Origin | None = field(default=None, repr=False, compare=False)
    broken: BrokenPairs | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"origin": None}

    @property
    def violated(self) -> Any:
        """Soft pairs that the clustering breaks, dearest first, as a data frame of pandas."""
        import pandas as pd

        if self.broken is None:
            raise AttributeError("there were no soft pairs, and all others hold")
        return pd.DataFrame(
            {
                "kind": np.where(self.broken.together, "must-link", "cannot-link"),
                "first": [first for first, _ in self.broken.names],
                "second": [second for _, second in self.broken.names],
                "confidence": self.broken.confidence,
                "price": self.broken.price,
            }
        )

    @property
    def inertia(self) -> float:
        """Inertia of the best solution."""
        return self.solution.inertia

    @property
    def objective(self) -> float:
        """What the search has minimised, of the best solution: nearly always the inertia."""
        return self.solution.objective

    @property
    def best_after(self) -> float:
        """Seconds of wall time until the best solution was found, as far as is known."""
        best = self.statistics.best_objective
        if not best:
            return self.runtime
        return self.statistics.elapsed[best.index(min(best))]

    @property
    def ending(self) -> str:
        """What ended the search, as a person says it."""
        return ENDINGS.get(self.stop_reason, f"ended by {self.stop_reason}")

    def summary(self) -> str:
        """Describe the run in a few lines."""
        first = self.statistics.objective[0] if self.statistics.objective else self.objective
        gain = 100 * (1 - self.objective / first) if first else 0.0
        low = "not" if gain < 0.005 else f"{gain:.2f} %"
        gained = f"({low} below the first descent)"
        same = self.objective == self.inertia
        minimised = [f"objective     {self.objective:,.6g} {gained}"]
        return "\n".join(
            [
                *([] if same else minimised),
                f"inertia       {self.inertia:,.6g}" + (f" {gained}" if same else ""),
                f"mutations     {self.n_mutations:,}, {self.ending}",
                f"time          {self.runtime:.3f} s, {self.cpu_time:.3f} s of processor time; "
                f"found after {self.best_after:.3f} s",
                f"problem       {self.n_supernodes:,} supernodes, {self.n_edges:,} edges",
            ]
        )

    def __repr__(self) -> str:
        return (
            f"Result(inertia={self.inertia:.6g}, n_mutations={self.n_mutations}, "
            f"stop_reason={self.stop_reason!r}, runtime={self.runtime:.3g})"
        )

    def _repr_html_(self) -> str:
        """Show the summary in a notebook, and how the best came down."""
        known = cards.facts_of(self.summary())
        history = self.statistics
        drawn = cards.curve(history.elapsed, history.best_objective, "best objective over time")
        return cards.card("Result", cards.facts(known), drawn)

    def to_frame(self) -> Any:
        """Give the history as a data frame of pandas."""
        return cards.frame([row._asdict() for row in self.statistics.rows()])

    def report(self, X: ArrayLike | None = None, **more: Any) -> Report:
        """Give the page of :meth:`to_html` as an object that a notebook shows in a frame.

        Parameters
        ----------
        X
            What was passed to ``fit``, if the program no longer has it.
        **more
            The other arguments of :meth:`to_html`.
        """
        from kempe.report import Report

        return Report.of(self, X, **more)

    def to_csv(self, path: str | Path) -> None:
        """Write the history to a CSV file.

        Parameters
        ----------
        path
            The file; an existing one is replaced.
        """
        with replacing(path) as file:
            writer = csv.writer(file)
            columns = self.statistics.columns
            writer.writerow(columns)
            written = (getattr(self.statistics, name) for name in columns)
            writer.writerows(zip(*written, strict=True))

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        X: ArrayLike | None = None,
        constraints: Constraints | None = None,
        sample_weight: ArrayLike | None = None,
        original: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        feature_names: ArrayLike | None = None,
        cluster_names: ArrayLike | None = None,
        title: str = "Clustering report",
    ) -> str:
        """Describe the clustering on one page of HTML that needs nothing outside itself.

        It shows the clusters with their pairs, sizes and centres, k-means without constraints
        beside them, what the most expensive pairs cost, the search and its settings.

        Parameters
        ----------
        path
            Also write the page to this file.
        X, constraints, sample_weight
            What was passed to ``fit``. They need not be passed again as long as the program still
            has the ``X`` of the fit; a model that was loaded or unpickled has forgotten all three.
        original
            The data in units that people know, (n_rows, any number of features), if ``X`` was
            scaled or otherwise transformed: centres are shown in these.
        ids
            Name of each row; by default its number.
        feature_names
            Name of each column of ``original``, or of ``X``; by default those of a data frame.
        cluster_names
            Name of each cluster; by default its number.
        title
            Heading of the page.
        """
        from kempe.report import Report

        report = Report.of(
            self,
            X,
            constraints=constraints,
            sample_weight=sample_weight,
            original=original,
            ids=ids,
            feature_names=feature_names,
            cluster_names=cluster_names,
            title=title,
        )
        return report.to_html(path)
