"""What a report says about a clustering, in numbers."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe import __version__, cards
from kempe.constraints import Constraints
from kempe.problem import Problem
from kempe.report.beside import Beside
from kempe.report.doubts import Doubt, nearly_broken
from kempe.report.limits import LimitCost
from kempe.report.prices import Price, pair_prices
from kempe.search.result import BrokenPairs, Result
from kempe.storage import replacing
from kempe.words import counted

# Seconds for the smallest number of clusters that the constraints permit.
CHECK_SECONDS = 2.0


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A clustering with everything that is worth saying about it.

    Make one with :meth:`of`. What takes time is computed when it is asked for.

    Attributes
    ----------
    title
        Heading of the page.
    result
        What the search returned.
    problem
        What was clustered.
    labels
        Cluster of each row.
    original
        The data in units that people know.
    ids, feature_names, cluster_names
        Names of its rows and columns, and of the clusters.
    settings
        Name and parameters of the estimator, as far as they are known.
    source
        Where the data came from, if it was said.
    """

    title: str
    result: Result
    problem: Problem
    labels: NDArray[np.int32]
    original: NDArray[Any]
    ids: Sequence[str]
    feature_names: Sequence[str]
    cluster_names: Sequence[str]
    settings: Mapping[str, Any]
    source: str = ""

    @classmethod
    def of(
        cls,
        result: Result,
        X: ArrayLike | None = None,
        *,
        constraints: Constraints | None = None,
        sample_weight: ArrayLike | None = None,
        original: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        feature_names: ArrayLike | None = None,
        cluster_names: ArrayLike | None = None,
        title: str = "Clustering report",
        source: str = "",
    ) -> Report:
        """Put together what a result and its data say; see ``Result.to_html``.

        Parameters
        ----------
        result
            What a fit found: ``model.result_``.
        X, constraints, sample_weight
            What was passed to ``fit``, if the program no longer has it.
        original, ids, feature_names, cluster_names, title
            As in ``Result.to_html``.
        source
            Where the data came from, such as a file and a command; the page says it.

        Raises
        ------
        ValueError
            If the data is gone and none is given, or if it is not what the result belongs to.
        """
        origin = result.origin
        if hasattr(X, "__dask_graph__"):
            raise ValueError(
                "these rows lie in many memories: report(X, ...) of the model makes a page from "
                "a sample of them"
            )
        if X is None:
            X = None if origin is None else origin.data()
            if origin is None or X is None:
                raise ValueError(
                    "the data that was clustered is gone; pass it again: "
                    "to_html(X=X, constraints=constraints); after a fit on Dask collections, "
                    "report(X, ...) of the model makes a page from a sample"
                )
            constraints = origin.constraints if constraints is None else constraints
            sample_weight = origin.sample_weight if sample_weight is None else sample_weight
        problem = _problem(result, X, constraints, sample_weight)
        shown = problem.rows + problem.shift
        if original is not None:
            shown = np.asarray(original, dtype=np.float64)
        names = feature_names
        if names is None:
            names = getattr(X if original is None else original, "columns", None)
        return cls(
            title,
            result,
            problem,
            problem.labels(result.solution.colours),
            _with_rows(shown, problem.n_rows, "original"),
            _names(_ids(ids, problem.constraints), problem.n_rows, "ids", first=0),
            _names(names, shown.shape[1], "feature_names", first=1),
            _names(cluster_names, problem.n_clusters, "cluster_names", first=0),
            {} if origin is None else origin.settings,
            source,
        )

    @property
    def constraints(self) -> Constraints:
        """The pairs."""
        return self.problem.constraints

    @property
    def n_pairs(self) -> int:
        """Number of pairs of both kinds that hold in any case."""
        return len(self.constraints.must_link) + len(self.constraints.cannot_link)

    @cached_property
    def broken(self) -> BrokenPairs | None:
        """Soft pairs that the clustering breaks, dearest first; ``None`` if there are none."""
        if not self.constraints.soft.count:
            return None
        known = self.result.broken
        if known is not None and known.pair_price is None:
            return known
        price = None if known is None else known.pair_price
        return BrokenPairs.of(self.constraints, self.labels, price)

    @cached_property
    def nearly_broken(self) -> list[Doubt]:
        """Soft pairs that only they themselves hold, those with the smallest margin first."""
        price = None if self.broken is None else self.broken.pair_price
        if price is None:
            return []
        return nearly_broken(self.problem, self.result.solution.colours, price)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each cluster."""
        return np.bincount(self.labels, minlength=self.problem.n_clusters)

    @cached_property
    def centres(self) -> NDArray[np.float64]:
        """Mean of each cluster in the original units."""
        weights = _ones_or(self.problem.row_weight, self.problem.n_rows)
        total = np.bincount(self.labels, weights, minlength=self.problem.n_clusters)
        sums = [
            np.bincount(self.labels, weights * column, minlength=total.size)
            for column in self.original.T.astype(np.float64)
        ]
        return np.column_stack(sums) / np.maximum(total, 1e-300)[:, None]

    @cached_property
    def overall(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and standard deviation of all rows in the original units."""
        weights = _ones_or(self.problem.row_weight, self.problem.n_rows)
        data = self.original.astype(np.float64)
        mean = np.average(data, axis=0, weights=weights)
        return mean, np.sqrt(np.average((data - mean) ** 2, axis=0, weights=weights))

    @cached_property
    def beside(self) -> Beside:
        """K-means without constraints."""
        return Beside.of(self.problem, self.labels)

    @cached_property
    def limit_cost(self) -> LimitCost | None:
        """What limits on sizes cost, if there are any."""
        return LimitCost.of(self)

    @cached_property
    def prices(self) -> list[Price]:
        """Pairs that cost most, the most expensive first."""
        if not self.n_pairs:
            return []
        price = None if self.broken is None else self.broken.pair_price
        return pair_prices(self.problem, self.result.solution.colours, price)

    def price_table(self) -> tuple[list[str], list[list[object]]]:
        """Give the prices as a table: names of columns, and rows."""
        names = ["kind", "first", "second", "price", "share_of_inertia", "rows_moved"]
        rows: list[list[object]] = [
            [
                price.kind,
                self.ids[price.first],
                self.ids[price.second],
                price.price,
                price.price / self.result.inertia,
                price.moved,
            ]
            for price in self.prices
        ]
        return names, rows

    @cached_property
    def graph_figures(self) -> dict[str, str]:
        """The constraint graph in figures."""
        problem, graph = self.problem, self.problem.graph
        members = np.bincount(problem.supernode)
        merged, bound = int((members > 1).sum()), graph.degree > 0
        component = np.bincount(graph.components[bound]) if bound.any() else np.zeros(1, int)
        component = component[component > 0] if bound.any() else component
        smallest = self.constraints.check(problem.n_clusters, time_limit=CHECK_SECONDS).smallest()
        largest = counted(int(members.max()), "row")
        return {
            "must-link pairs": f"{len(self.constraints.must_link):,}",
            "groups that they make": f"{merged:,}, the largest of {largest}",
            "cannot-link pairs": f"{len(self.constraints.cannot_link):,}",
            "supernodes": f"{problem.n_supernodes:,} (groups, and rows in none)",
            "edges between supernodes": f"{graph.n_edges:,}",
            "supernodes with an edge": f"{int(bound.sum()):,}, each with "
            f"{graph.degree[bound].mean() if bound.any() else 0:.1f} on average and "
            f"{int(graph.degree.max(initial=0)):,} at most",
            "connected parts": f"{component.size if bound.any() else 0:,}, "
            f"the largest of {component.max():,} supernodes",
            "clusters that are needed": smallest,
        }

    @cached_property
    def machine(self) -> str:
        """Versions that the page was made with."""
        return f"kempe {__version__}, NumPy {np.__version__}, Python {platform.python_version()}"

    def __repr__(self) -> str:
        return (
            f"Report({self.title!r}, {counted(self.problem.n_rows, 'row')} in "
            f"{counted(self.problem.n_clusters, 'cluster')}, inertia {self.result.inertia:.6g})"
        )

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame: its style is not that of the notebook."""
        return (
            f'<iframe srcdoc="{escape(self.to_html())}" title="{escape(self.title)}" '
            'sandbox="allow-scripts" style="width:100%;height:48rem;border:0;border-radius:8px">'
            "</iframe>"
        )

    def prices_frame(self) -> Any:
        """Give :meth:`price_table` as a data frame of pandas."""
        names, rows = self.price_table()
        return cards.frame([dict(zip(names, row, strict=True)) for row in rows])

    def to_html(self, path: str | Path | None = None) -> str:
        """Give the page, and write it to a file if there is a path.

        Parameters
        ----------
        path
            The file; an existing one is replaced.
        """
        from kempe.report.page import page

        text = page(self)
        if path is not None:
            with replacing(path) as file:
                file.write(text)
        return text


def _problem(
    result: Result, X: Any, constraints: Constraints | None, sample_weight: ArrayLike | None
) -> Problem:
    """Merge rows as the fit did, and see whether this is what the result belongs to."""
    colours = result.solution.colours
    data = np.asarray(X)
    if data.dtype not in (np.float32, np.float64):
        data = data.astype(np.float64)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    known = 0 if result.origin is None else int(result.origin.settings["n_clusters"])
    price = None if result.broken is None else result.broken.pair_price
    # Where soft pairs have no log-odds, their confidences may be weights of any size.
    known_pairs = Constraints() if constraints is None else constraints
    given = known_pairs if price is not None else known_pairs.without_soft()
    problem = Problem.build(
        data, given, n_clusters=max(known, 1 + int(colours.max())), sample_weight=weights
    )
    if problem.n_supernodes != result.n_supernodes or problem.graph.n_edges != result.n_edges:
        raise ValueError(
            f"X and the constraints make {problem.n_supernodes} groups of rows and "
            f"{problem.graph.n_edges} edges, but the clustering has {result.n_supernodes} and "
            f"{result.n_edges}: pass what was passed to fit"
        )
    if not np.isclose(problem.inertia(colours), result.inertia, rtol=1e-4):
        raise ValueError("X is not the data that was clustered, its inertia differs: pass that")
    if problem.soft is None or price is None:
        return replace(problem, constraints=known_pairs)
    priced = problem.priced(price.of_supernodes(problem.soft))
    return priced.counting_all(price, problem.labels(colours))


def _ids(given: Any, constraints: Constraints) -> Any:
    """Give the names of rows: those that were given, or those that the constraints know."""
    return constraints.row_names if given is None and _is_listed(constraints) else given


def _is_listed(constraints: Constraints) -> bool:
    return isinstance(constraints.row_names, Sequence)


def _with_rows(data: NDArray[Any], n_rows: int, name: str) -> NDArray[Any]:
    if data.ndim != 2 or data.shape[0] != n_rows:
        raise ValueError(f"{name} has shape {data.shape}, but {n_rows} rows were clustered")
    if not np.isfinite(data).all():
        raise ValueError(f"{name} has missing values; fill them as for the clustering")
    return data


def _names(given: Any, count: int, what: str, *, first: int) -> list[str]:
    """Give names as text; numbers from ``first`` where there are none."""
    if given is None:
        return [str(number) for number in range(first, first + count)]
    names = [str(name) for name in np.asarray(given, dtype=object).tolist()]
    if len(names) != count:
        raise ValueError(f"{len(names)} {what} were given for {count}")
    return names


def _ones_or(weights: NDArray[np.float64] | None, count: int) -> NDArray[np.float64]:
    return np.ones(count) if weights is None else weights
