"""KempeKMeans for Dask arrays and data frames."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from kempe.dask.cells import summary
from kempe.dask.descent import Descender, FullClustering
from kempe.dask.pairs import NamedRows, named_rows
from kempe.dask.parts import Parts, is_frame
from kempe.dask.progress import ConvergenceBar
from kempe.dask.results import (
    distances_of_part,
    labels_like,
    nearest_of_part,
    score_of_part,
    table_like,
)
from kempe.dask.sample import Sample
from kempe.dask.seeding import drawn_centroids
from kempe.dask.tasks import compute, library, task, tree
from kempe.data_checks import check_squares
from kempe.engine.kempe_kmeans import KempeKMeans as OnOneMachine
from kempe.engine.params import MemeticParams
from kempe.engine.pricing import Priced
from kempe.exceptions import InfeasibleConstraintsError, Interrupted
from kempe.problem import Centroids, Colours, Problem
from kempe.search.callbacks import Callbacks
from kempe.search.descent import Context
from kempe.search.recorder import Recorder
from kempe.search.result import Result
from kempe.search.seeding import checked_centroids
from kempe.search.stop import DiminishingReturns, MaxMutations, Patience, StoppingRule

if TYPE_CHECKING:
    from kempe.report import Report

# Data up to this size is gathered and clustered in one place, which no cluster could do sooner.
GATHER_UP_TO_BYTES = 64 * 2**20


class KempeKMeans(OnOneMachine):
    """K-means under constraints for rows that lie in parts, in many memories.

    Rows in no constraint stay where they are: centroids travel to them, sums travel back. Rows in
    constraints are gathered once, and Kempe chains are swapped there, with the others as one
    heavy point in each cluster. Every clustering that is returned satisfies every constraint.

    Data of up to ``gather_up_to`` bytes is clustered exactly as :class:`kempe.KempeKMeans` does. A
    search over more of it looks at summaries, the means of small cells, and goes down on all rows
    from what it found. A single descent (``max_mutations=0``) has no summaries.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {"k-means++", "random"} or array of shape (n_clusters, n_features), default="k-means++"
        Starting centroids; in a single descent ``"k-means++"`` stands for k-means||, which looks at
        all parts at once.
    size_min, size_max
        As for :class:`kempe.KempeKMeans`, for data of up to ``gather_up_to`` bytes.
    n_init, max_mutations, patience, time_limit, target_inertia, stop
        As for :class:`kempe.KempeKMeans`; they end the search over summaries. The time limit holds
        for everything that follows the first look at the data.
    params : MemeticParams or None, default=None
        Settings of the search.
    confidence, soft_price
        As for :class:`kempe.KempeKMeans`. Rows in soft pairs are gathered as those in hard ones
        are; prices are found on summaries, also where there is but one descent.
    n_jobs : int or None, default=None
        Threads of the search on this machine. Workers use one thread for each task.
    random_state, verbose, callbacks
        As for :class:`kempe.KempeKMeans`. With ``verbose=1`` the progress bar of a descent shows
        the gap to convergence: the share by which the last pass lowered the inertia.
    n_cells : int, default=8192
        Points that stand for the rows in no constraint while searching.
    gather_up_to : int, default=67108864
        Bytes of data (at 8 for each number) up to which it is clustered on this machine; 0: never.

    Attributes
    ----------
    labels_ : dask array, or dask series for data frames
        Cluster of each row, in the chunks of the data; computed when asked for.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters.
    inertia_ : float
        Sum of squared distances of rows to their cluster centre, weighted if there are weights.
    n_iter_ : int
        Solutions looked at: mutations and the start; passes over the data in a single descent.
    result_ : Result
        How the search went: ``summary()``, ``statistics``, ``to_csv()``. Its colours are those of
        the rows that were gathered.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if ``X`` had any.

    Examples
    --------
    >>> import dask.array as da
    >>> from kempe.dask import KempeKMeans
    >>> X = da.from_array([[0.0], [0.1], [5.0], [5.1], [9.0]], chunks=(2, 1))
    >>> model = KempeKMeans(n_clusters=2, random_state=0)
    >>> model.fit(X, must_link=[(0, 2)], cannot_link=[(2, 3)]).labels_.chunks
    ((2, 2, 1),)
    >>> round(model.inertia_, 3)
    23.945
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnOneMachine._parameter_constraints,
        "init": [StrOptions({"k-means++", "random"}), "array-like"],  # no function sees all rows
        "n_cells": [Interval(Integral, 1, None, closed="left")],
        "gather_up_to": [Interval(Integral, 0, None, closed="left")],
    }
    # Labels of rows that lie in many memories would have to come in one.
    __metadata_request__fit: ClassVar = {"ids": True, "init": UNUSED}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Literal["k-means++", "random"] | ArrayLike = "k-means++",
        n_init: int | Literal["auto"] = 1,
        size_min: ArrayLike | None = None,
        size_max: ArrayLike | None = None,
        max_mutations: int | None = None,
        patience: int | None = None,
        time_limit: float | None = None,
        target_inertia: float | None = None,
        stop: StoppingRule | None = None,
        params: MemeticParams | None = None,
        confidence: float | Literal["auto"] = "auto",
        soft_price: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Callbacks | Sequence[Callbacks] | None = None,
        n_cells: int = 8192,
        gather_up_to: int = GATHER_UP_TO_BYTES,
    ) -> None:
        super().__init__(
            n_clusters,
            init=init,
            n_init=n_init,
            size_min=size_min,
            size_max=size_max,
            max_mutations=max_mutations,
            patience=patience,
            time_limit=time_limit,
            target_inertia=target_inertia,
            stop=stop,
            params=params,
            confidence=confidence,
            soft_price=soft_price,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
        )
        self.n_cells = n_cells
        self.gather_up_to = gather_up_to

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: object = None,
        *,
        must_link: object = None,
        cannot_link: object = None,
        constraints: Any = None,
        sample_weight: Any = None,
        ids: Any = None,
        soft_must_link: object = None,
        soft_cannot_link: object = None,
        soft_must_link_confidence: ArrayLike | None = None,
        soft_cannot_link_confidence: ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of ``X`` so that every constraint holds, but for soft ones.

        Parameters
        ----------
        X
            Dask array or data frame of shape (n_rows, n_features). It is passed over many times:
            ``X.persist()`` first, if it fits into the memory of the cluster.
        y
            Ignored; here for scikit-learn's interface.
        must_link, cannot_link
            Pairs of 0-based row numbers that belong together or apart, or pairs of ``ids``.
        constraints
            Both kinds of pairs as one ``Constraints``, instead of the two arguments above.
        sample_weight
            Weight of each row: a Dask array or series with the parts of ``X``; all 1 by default.
        ids
            Id of each row, which pairs name instead of row numbers: a Dask array, series or index
            with the parts of ``X``, or the name of a column of a data frame, which is then no
            feature.
        soft_must_link, soft_cannot_link
            Pairs that may be wrong, in the forms of ``must_link``: they may be broken at a price.
            ``result_.violated`` tells which are.
        soft_must_link_confidence, soft_cannot_link_confidence
            Probability that they are right, above one half and below one: one for all of a kind, or
            one for each. By default the parameter ``confidence`` holds.

        Returns
        -------
        self

        Raises
        ------
        InfeasibleConstraintsError
            If the constraints contradict each other or need more than ``n_clusters`` clusters.
        NoSolutionFoundError
            If the method found no clustering, which may nevertheless exist.
        WorkerLostError
            If workers died over the same part of the data, one after the other.
        """
        self._begun = time.perf_counter()
        if isinstance(ids, str):
            X, ids = _without_ids(X, ids)
        parts = Parts.of(X, sample_weight)
        self._check(parts)
        named = named_rows(
            parts,
            must_link,
            cannot_link,
            constraints,
            ids,
            soft_must_link=soft_must_link,
            soft_cannot_link=soft_cannot_link,
            soft_must_link_confidence=soft_must_link_confidence,
            soft_cannot_link_confidence=soft_cannot_link_confidence,
        )
        self._check_one_price(named.constraints)
        if 8 * parts.n_rows * parts.n_features <= self.gather_up_to:
            self._fit_here(parts, named)
        else:
            self._fit_there(parts, named)
        return self

    def _check(self, parts: Parts) -> None:
        """Refuse what cannot be clustered, as on one machine."""
        facts, k = parts.facts, int(self.n_clusters)
        if parts.n_rows < k:
            raise ValueError(f"n_samples={parts.n_rows} should be at least n_clusters={k}")
        if not facts.total > 0:
            raise ValueError("sample_weight is zero for every row")
        check_squares(facts.low, facts.high, facts.total, facts.lightest)

    def _fit_here(self, parts: Parts, named: NamedRows) -> None:
        """Gather all rows."""
        rows, weights = zip(*compute(parts.map(_both)), strict=True)
        data, weight = np.concatenate(rows), np.concatenate(weights)
        super().fit(
            data,
            constraints=named.in_row_numbers(parts.n_rows),
            sample_weight=weight if weight.size else None,
        )
        self._remember_names(parts)
        labels = np.split(self.labels_, parts.first[1:])
        self.labels_ = labels_like(parts, [task(np.asarray, each) for each in labels])

    def _fit_there(self, parts: Parts, named: NamedRows) -> None:
        """Gather the rows in constraints, and let the others stay where they are."""
        if self.size_min is not None or self.size_max is not None:
            raise ValueError(
                "size_min and size_max need all rows in one memory: raise gather_up_to, or use "
                "kempe.KempeKMeans"
            )
        try:
            found = self._best(Descender.of(parts, named, int(self.n_clusters), self._settings))
        except InfeasibleConstraintsError as error:
            raise named.told(error) from None
        self._remember_names(parts)
        self.__dict__.update(
            n_features_in_=parts.n_features,
            labels_=labels_like(parts, found.label_tasks),
            cluster_centers_=found.centroids.astype(parts.dtype),
            inertia_=found.result.inertia,
            n_iter_=found.result.n_mutations + 1,
            result_=found.result,
        )

    def _remember_names(self, parts: Parts) -> None:
        for name in ("cluster_names_", "feature_names_in_", "_begun"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if parts.names is not None:
            self.feature_names_in_ = parts.names

    def _best(self, descender: Descender) -> FullClustering:
        """Search summaries and go down from there, or go down from several starts."""
        soft = descender.gathered.soft is not None
        if self.max_mutations != 0 or soft:
            cells = summary(descender.free, int(self.n_cells))
            problem = descender.gathered.beside(cells.points, cells.weight, cells.within)
            if problem.n_supernodes >= self.n_clusters:
                return self._searched(descender, problem)
            if soft:
                raise ValueError(
                    f"soft pairs need as many different rows as clusters, {self.n_clusters}; "
                    f"there are {problem.n_supernodes}"
                )
        best: FullClustering | None = None
        for rng in self._generators(self._n_searches):
            start = partial(self._start, descender, rng)
            try:
                with self._descent_recorder(descender) as recorder:
                    found = descender.from_centroids(start, recorder, rng)
            except Interrupted:
                if best is None:
                    raise
                return best.ended("interrupted")
            best = found if best is None or found.is_better_than(best) else best
            if found.result.stop_reason in self._ends_all:
                return best.ended(found.result.stop_reason)
        assert best is not None
        return best

    def _start(self, descender: Descender, rng: np.random.Generator) -> Centroids:
        k, parts, origin = int(self.n_clusters), descender.parts, descender.origin
        if isinstance(self.init, str):
            return drawn_centroids(parts, origin, self.init, k, rng)
        return checked_centroids(self.init, (k, parts.n_features)) - origin

    def _searched(self, descender: Descender, problem: Problem) -> FullClustering:
        self._note_noise(None)
        if problem.soft is None:
            found = self._solve(problem)
        else:
            found, descender = self._searched_softly(descender, problem)
        with self._descent_recorder(descender) as recorder:
            return descender.from_search(problem, found, recorder, self._generator())

    def _searched_softly(self, descender: Descender, problem: Problem) -> tuple[Result, Descender]:
        """Search summaries at the prices that they show, which the way down on all rows keeps."""
        sampled = descender.variance(self._generator())
        pricing = replace(self._pricing(), variance=sampled)
        size = len(descender.gathered)

        def settle(context: Context, colours: Colours) -> Priced:
            found = pricing.settle(context, colours)
            whole = descender.priced(found.pair_price, found.colours[:size]).gathered
            told = replace(found.problem, unavoidable=whole.unavoidable)
            return replace(found, problem=told)

        result, priced = self._solve_soft(problem, self.init, settle)
        self._note_noise(priced.noise)
        return result, descender.priced(priced.pair_price, priced.colours[:size])

    def _descent_recorder(self, descender: Descender) -> Recorder:
        """Make a recorder for a descent on all rows, which no number of mutations ends."""
        rules = [rule for rule in self._rules(descender.problem) if _ends_descents(rule)]
        bar = (
            [ConvergenceBar(descender.parts.n_rows, self._seconds_left)]
            if self.verbose == 1
            else None
        )
        return self._recorder(descender.problem, rules, shown=bar)

    def predict(self, X: Any) -> Any:  # type: ignore[override]
        """Give the nearest cluster of each row; no constraints apply to new rows.

        Parameters
        ----------
        X
            Dask array or data frame, for which the result is a Dask array or series that is
            computed when asked for, or data in memory.
        """
        if not library().is_dask_collection(X):
            return super().predict(X)
        parts = self._new_parts(X)
        return labels_like(parts, self._tasks(nearest_of_part, parts))

    def transform(self, X: Any) -> Any:
        """Give the distance of each row to each cluster centre.

        Parameters
        ----------
        X
            Dask array or data frame, for which the result is one as well, computed when asked for,
            or data in memory.
        """
        if not library().is_dask_collection(X):
            return super().transform(X)
        parts = self._new_parts(X)
        names = self.get_feature_names_out()
        return table_like(parts, self._tasks(distances_of_part, parts), names)

    def score(self, X: Any, y: object = None, sample_weight: Any = None) -> Any:
        """Give the negative inertia of rows about their nearest cluster centres.

        Parameters
        ----------
        X
            Dask array or data frame, for which the result is a Dask array of one number that is
            computed when asked for, or data in memory.
        y
            Ignored.
        sample_weight
            Weight of each row.
        """
        if not library().is_dask_collection(X):
            return super().score(X, y, sample_weight)
        parts = self._new_parts(X, sample_weight)
        scores = self._tasks(score_of_part, parts)
        return library().array.from_delayed(tree(sum, scores), shape=(), dtype=np.float64)

    def _tasks(self, function: Any, parts: Parts) -> list[Any]:
        return parts.map(function, self.cluster_centers_.astype(np.float64))

    def _new_parts(self, X: Any, sample_weight: Any = None) -> Parts:
        check_is_fitted(self, "cluster_centers_")
        parts = Parts.of(X, sample_weight)
        if parts.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {parts.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        known = getattr(self, "feature_names_in_", None)
        if known is not None and parts.names is not None and list(known) != list(parts.names):
            raise ValueError("the columns of X are not those of the fit, or in another order")
        return parts

    def on_one_machine(self) -> OnOneMachine:
        """Give the fitted model as :class:`kempe.KempeKMeans`, with empty labels."""
        check_is_fitted(self, "cluster_centers_")
        model = OnOneMachine()
        model.set_params(**{name: getattr(self, name) for name in model.get_params()})
        model.__dict__.update({key: value for key, value in vars(self).items() if key[-1] == "_"})
        model.labels_ = np.empty(0, dtype=np.int32)
        colours = self.result_.solution.colours
        model.result_ = replace(self.result_, n_supernodes=colours.size)
        return model

    def report(
        self,
        X: Any,
        *,
        must_link: object = None,
        cannot_link: object = None,
        constraints: Any = None,
        sample_weight: Any = None,
        ids: Any = None,
        soft_must_link: object = None,
        soft_cannot_link: object = None,
        soft_must_link_confidence: ArrayLike | None = None,
        soft_cannot_link_confidence: ArrayLike | None = None,
        n_rows: int = 5000,
        random_state: int = 0,
        **more: Any,
    ) -> Report:
        """Give a page about some of the rows, drawn by chance; ``to_html(path)`` writes it.

        Half of the rows are of pairs, where there are that many. Figures of the page are those of
        the sample, and it says so.

        Parameters
        ----------
        X, must_link, cannot_link, constraints, sample_weight, ids
            What was passed to ``fit``.
        soft_must_link, soft_cannot_link, soft_must_link_confidence, soft_cannot_link_confidence
            These as well.
        n_rows
            How many rows to fetch.
        random_state
            Seed of the draw.
        **more
            Further arguments of :meth:`kempe.report.Report.of`, such as ``title``; ``in_units``, a
            function, makes of the rows what people read.
        """
        if isinstance(ids, str):
            X, ids = _without_ids(X, ids)
        parts = self._new_parts(X, sample_weight)
        named = named_rows(
            parts,
            must_link,
            cannot_link,
            constraints,
            ids,
            soft_must_link=soft_must_link,
            soft_cannot_link=soft_cannot_link,
            soft_must_link_confidence=soft_must_link_confidence,
            soft_cannot_link_confidence=soft_cannot_link_confidence,
        )
        rng = np.random.default_rng(random_state)
        sample = Sample.of(parts, self.labels_, named, n_rows, rng)
        settings = {"method": type(self).__name__, **self.get_params()}
        whole = f"{sample.numbers.size:,} of {parts.n_rows:,} rows"
        told = f"a sample of {whole} (inertia of all rows: {self.inertia_:,.6g})"
        source, in_units = more.pop("source", ""), more.pop("in_units", None)
        return sample.result(self.result_, settings).report(
            sample.rows,
            constraints=sample.constraints,
            sample_weight=sample.weight,
            **{
                "title": f"Clustering report on {whole}",
                "feature_names": getattr(self, "feature_names_in_", None),
                "ids": named.names_of(sample.numbers),
                "original": None if in_units is None else in_units(sample.rows),
                "source": f"{told}; {source}" if source else told,
                **more,
            },
        )

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file; ``kempe.load`` gives a model for one machine.

        Parameters
        ----------
        path
            The file; an existing one is replaced, whole or not at all.
        """
        self.on_one_machine().save(path)


def _ends_descents(rule: StoppingRule) -> bool:
    return not isinstance(rule, (DiminishingReturns, MaxMutations, Patience))


def _both(rows: NDArray[Any], weight: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
    return rows, weight


def _without_ids(X: Any, name: str) -> tuple[Any, Any]:
    """Part the column of ids from a data frame."""
    if not is_frame(X):
        raise TypeError(f"ids={name!r} is a column, but X is no data frame")
    if name not in X.columns:
        listed = ", ".join(map(str, X.columns))
        raise ValueError(f"X has no column {name!r} of ids; it has {listed}")
    return X.drop(columns=[name]), X[name]
