"""KempeKMeans, the clusterer that most users want."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kempe.constraints import Constraints
from kempe.engine.limits import in_given_positions, nearest_within
from kempe.engine.memetic import memetic_search
from kempe.engine.params import MemeticParams
from kempe.engine.pricing import Priced, Pricing
from kempe.engine.warm import checked_labels, is_labels
from kempe.fit_arguments import as_constraints, constraints_of_fit
from kempe.problem import Colours, Problem
from kempe.search.callbacks import Callbacks
from kempe.search.descent import Context
from kempe.search.result import BrokenPairs, Result
from kempe.search.seeding import Draw
from kempe.search.stop import StoppingRule
from kempe.search.threads import n_threads
from kempe.searching import Search, SearchingClusterer
from kempe.sizes import SizeLimits
from kempe.soft_pairs import PairPrice, SoftLinks

DEFAULTS = MemeticParams()


class KempeKMeans(SearchingClusterer):
    """K-means under must-link and cannot-link constraints, by swaps along Kempe chains.

    A clustering that keeps cannot-linked rows apart is a colouring of the graph of cannot-link
    pairs, and swapping two colours along a Kempe chain keeps it proper. Every clustering that is
    returned satisfies every constraint. The search keeps a small population of clusterings, moves
    their centroids one at a time, and recombines them; the algorithm of the paper is ``KSKM``.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {"k-means++", "random"}, array or callable, default="k-means++"
        Starting centroids. ``"k-means++"`` spreads them out and starts lower; ``"random"`` takes
        supernodes at random. An array is used for the first solution of the search: centroids, of
        shape (n_clusters, n_features), or the cluster of each row, as ``fit(init=labels)``. A
        function draws the centroids of every start: ``init(X, n_clusters, random_state)`` gives
        an array of shape (n_clusters, n_features), as for scikit-learn's ``KMeans``.
    n_init : int or "auto", default=1
        Independent searches, of which the best is returned. Time grows in proportion; a longer
        search (``max_mutations``) is usually the better use of it.
    size_min, size_max : int, float, array of shape (n_clusters,) or None, default=None
        Fewest and most rows of a cluster: a number of rows, a share of all rows below 1, or one of
        these for each cluster. Rows count, whatever their weight, and a must-linked group counts
        all its rows. Limits of their own belong to clusters by position, which starting centroids
        (``init``) give a meaning.
    max_mutations : int or None, default=None
        Mutations after which the search ends; 0 leaves a single descent, which is fastest.
        ``None``: until several clusterings agree, or large data hardly gains any more, at most a
        number that grows with ``n_clusters``, see ``params``. Up to about ten rows or must-linked
        groups the one mutation is to look at all clusterings, so the result is optimal
        (``result_.stop_reason`` says so), see ``params.enumerate_up_to``.
    patience : int or None, default=None
        Mutations in a row without a new best after which the search ends; ``None``: no such limit.
    time_limit : float or None, default=None
        Seconds after which the search ends with the best clustering so far, all ``n_init``
        searches together. Results then depend on the speed of the machine.
    target_inertia : float or None, default=None
        The search ends as soon as the inertia is this low.
    stop : callable or None, default=None
        A stopping rule of your own, asked after every clustering that was looked at: called with a
        ``kempe.search.SearchState``, it returns whether to end. ``kempe.search`` has ready ones.
    params : MemeticParams or None, default=None
        Settings of the search itself: sizes of the population, relocations, what to do where the
        constraints are tight. ``None``: the defaults of ``kempe.engine.MemeticParams``.
    confidence : float or "auto", default="auto"
        Probability that a soft pair is right which does not say so itself, above one half and below
        one. ``"auto"``: estimated from the pairs that a clustering breaks which hardly breaks any.
    soft_price : float or None, default=None
        A plain price for breaking a soft pair, in units of the inertia, instead of one that follows
        from its confidence and the spread of the clusters.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it, unless there is a time limit.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.
    verbose : int, default=0
        1 shows a progress bar, 2 logs every new best through ``logging``.
    callbacks : Callbacks, list of Callbacks or None, default=None
        Called while the search runs, see ``kempe.search.Callbacks``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters.
    inertia_ : float
        Sum of squared distances of rows to their cluster centre, weighted if there are weights.
    objective_ : float
        What was minimised: the inertia, and the prices of broken soft pairs.
    noise_ : float
        Estimated share of soft pairs that are wrong, if it was estimated.
    n_iter_ : int
        Solutions looked at: mutations and the start.
    result_ : Result
        How the search went: ``summary()``, ``statistics``, ``to_csv()``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if ``X`` had any.

    Examples
    --------
    >>> from kempe import KempeKMeans
    >>> X = [[0.0], [0.1], [5.0], [5.1], [9.0]]
    >>> model = KempeKMeans(n_clusters=2, random_state=0)
    >>> labels = model.fit(X, must_link=[(0, 2)], cannot_link=[(2, 3)]).labels_
    >>> bool(labels[0] == labels[2]), bool(labels[2] == labels[3])
    (True, False)
    >>> round(model.inertia_, 3)
    23.945
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SearchingClusterer._parameter_constraints,
        "max_mutations": [*SearchingClusterer._parameter_constraints["max_mutations"], None],
        "params": [MemeticParams, None],
        "size_min": [Interval(Real, 0, None, closed="left"), "array-like", None],
        "size_max": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "n_jobs": [Integral, None],
        "confidence": [StrOptions({"auto"}), Interval(Real, 0.5, 1, closed="neither")],
        "soft_price": [Interval(Real, 0, None, closed="neither"), None],
    }

    _takes_soft_pairs: ClassVar[bool] = True

    __metadata_request__fit: ClassVar = {
        "init": True,
        "soft_must_link": True,
        "soft_cannot_link": True,
        "soft_must_link_confidence": True,
        "soft_cannot_link_confidence": True,
    }

    noise_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Literal["k-means++", "random"] | ArrayLike | Draw = "k-means++",
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
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.size_min = size_min
        self.size_max = size_max
        self.max_mutations = max_mutations
        self.patience = patience
        self.time_limit = time_limit
        self.target_inertia = target_inertia
        self.stop = stop
        self.params = params
        self.confidence = confidence
        self.soft_price = soft_price
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        must_link: object = None,
        cannot_link: object = None,
        constraints: Constraints | None = None,
        sample_weight: ArrayLike | None = None,
        init: ArrayLike | None = None,
        soft_must_link: object = None,
        soft_cannot_link: object = None,
        soft_must_link_confidence: ArrayLike | None = None,
        soft_cannot_link_confidence: ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of ``X`` so that every constraint holds, but for soft ones.

        Parameters
        ----------
        X
            Data of shape (n_rows, n_features). float32 stays float32.
        y
            Ignored; here for scikit-learn's interface.
        must_link, cannot_link
            Pairs of 0-based row numbers that belong together or apart: an (m, 2) array, a list of
            tuples, a data frame of two columns or an n x n sparse matrix.
        constraints
            Both kinds of pairs as one ``Constraints``, instead of the two arguments above.
        sample_weight
            Weight of each row; all 1 by default.
        init
            Where to go on from, instead of the parameter ``init``: the cluster of each row, whole
            numbers from 0. Labels may break pairs; as few rows as possible change before the
            search begins. With ``max_mutations=0`` this is the quickest way to take in new pairs.
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
        """
        start = self.init if init is None else np.asarray(init)
        if init is not None and not is_labels(start):
            raise ValueError(
                f"fit takes the label of each row as init, got shape {start.shape}; "
                "give centroids to the estimator: KempeKMeans(init=...)"
            )
        given = constraints_of_fit(
            y,
            must_link,
            cannot_link,
            constraints,
            soft_must_link=soft_must_link,
            soft_cannot_link=soft_cannot_link,
            soft_must_link_confidence=soft_must_link_confidence,
            soft_cannot_link_confidence=soft_cannot_link_confidence,
        )
        given.soft.check_confidences()
        self._check_one_price(given)
        problem = self._build_problem(X, given, sample_weight)
        if is_labels(start):
            start = checked_labels(start, problem.n_rows, problem.n_clusters)
        if problem.soft is None:
            self._note_noise(None)
            found = _in_given_positions(problem, self._solve(problem, self._searcher(start)), start)
            self._store(X, problem, found)
        else:
            self._fit_soft(X, problem, start)
        return self

    def _check_one_price(self, given: Constraints) -> None:
        if self.soft_price is not None and not np.isnan(given.soft.stacked()[2]).all():
            raise ValueError(
                "soft pairs have confidences, and soft_price is the price of all: give one of them"
            )

    def _fit_soft(self, X: ArrayLike, problem: Problem, start: Any) -> None:
        """Find the prices of soft pairs in the first search, and keep them in the others."""
        result, priced = self._solve_soft(problem, start, self._pricing().settle)
        result = _in_given_positions(priced.problem, result, start)
        labels = problem.labels(result.solution.colours)
        broken = BrokenPairs.of(problem.constraints, labels, priced.pair_price)
        self._store(X, priced.problem, replace(result, broken=broken))
        self._note_noise(priced.noise)

    def _pricing(self) -> Pricing:
        confidence = None if isinstance(self.confidence, str) else float(self.confidence)
        return Pricing(confidence, self.soft_price)

    def _solve_soft(
        self, problem: Problem, start: Any, settle_prices: Callable[[Context, Colours], Priced]
    ) -> tuple[Result, Priced]:
        """Search at prices that the first start settles, and all others share."""
        found: list[Priced] = []

        def settle(context: Context, colours: Colours) -> Priced:
            if not found:
                found.append(settle_prices(context, colours))
            return found[0]

        result = self._solve(problem, self._searcher(start, settle))
        return result, found[0]

    def _note_noise(self, noise: float | None) -> None:
        self.__dict__.pop("noise_", None)  # that of an earlier fit
        if noise is not None:
            self.noise_ = noise

    def _searcher(
        self,
        init: Any = None,
        settle_prices: Callable[[Context, Colours], Priced] | None = None,
    ) -> Search:
        settings = self._settings
        return partial(
            memetic_search,
            params=settings if self.max_mutations is None else _to_the_end(settings),
            init=self.init if init is None else init,
            settle_prices=settle_prices,
        )

    def predict(
        self,
        X: ArrayLike,
        *,
        must_link: object = None,
        cannot_link: object = None,
        constraints: Constraints | None = None,
        size_min: ArrayLike | None = None,
        size_max: ArrayLike | None = None,
        with_fit: bool = False,
        soft_must_link: object = None,
        soft_cannot_link: object = None,
        soft_must_link_confidence: ArrayLike | None = None,
        soft_cannot_link_confidence: ArrayLike | None = None,
        confidence: float | Literal["auto"] = "auto",
        soft_price: float | None = None,
    ) -> NDArray[np.int32]:
        """Give the nearest cluster of each row, or the nearest ones under which pairs hold.

        Parameters
        ----------
        X
            Data of shape (n_rows, n_features).
        must_link, cannot_link
            Pairs of new rows, and of new rows and rows that the model was fitted to. The rows of
            ``X`` have the numbers from 0, those of the fit come after them: row ``i`` of the fit
            is ``len(X) + i``. Rows of the fit keep their clusters and the centres stay; the sum of
            squared distances of the new rows is the lowest that the pairs permit.
        constraints
            Both kinds of pairs as one ``Constraints``, instead of the two arguments above.
        size_min, size_max
            Fewest and most rows of a cluster, as for the estimator: then the sum of squared
            distances is the lowest that these sizes permit. Not together with pairs.
        with_fit
            Whether sizes count the rows of the fit as well, which keep their clusters.
        soft_must_link, soft_cannot_link
            Pairs of the same rows that may be wrong: the sum of squared distances and of the prices
            of broken ones is the lowest, or close to it where pairs tie many rows to each other.
        soft_must_link_confidence, soft_cannot_link_confidence
            Probability that they are right, as for ``fit``.
        confidence
            Probability that a soft pair is right which does not say so itself; ``"auto"``: as
            assumed, or estimated, when the model was fitted.
        soft_price
            A plain price for breaking a soft pair; by default what one cost when the model was
            fitted, which a model that was fitted without soft pairs does not know.

        Raises
        ------
        InfeasibleConstraintsError
            If the pairs cannot hold, with a proof, or the sizes cannot be had.
        """
        held = as_constraints(
            must_link,
            cannot_link,
            constraints,
            soft_must_link=soft_must_link,
            soft_cannot_link=soft_cannot_link,
            soft_must_link_confidence=soft_must_link_confidence,
            soft_cannot_link_confidence=soft_cannot_link_confidence,
        )
        if size_min is None and size_max is None:
            if with_fit:
                raise ValueError("with_fit says which rows sizes count: give size_min or size_max")
            check_is_fitted(self, "cluster_centers_")
            return self._assigned(X, held, self.price_of_new(held.soft, confidence, soft_price))
        if held.must_link.size or held.cannot_link.size or held.soft.count:
            raise ValueError(
                "predict takes pairs or sizes; for both, fit again with init=labels_ of all rows"
            )
        data = self._new_data(X)
        k = len(self.cluster_centers_)
        taken = np.bincount(self.labels_, minlength=k) if with_fit else np.zeros(k, dtype=np.int64)
        limits = SizeLimits.of(size_min, size_max, len(data) + int(taken.sum()), k)
        assert limits is not None
        if size_min is None:  # a batch need not reach every cluster
            limits = replace(limits, least=np.zeros_like(limits.least))
        return nearest_within(data, self.cluster_centers_, limits, taken, self._n_threads)

    def price_of_new(
        self,
        soft: SoftLinks,
        confidence: float | Literal["auto"] = "auto",
        soft_price: float | None = None,
    ) -> PairPrice | None:
        """Give what breaking a soft pair costs in ``predict``; ``None`` if there is none.

        Parameters
        ----------
        soft
            The pairs, ``Constraints.soft``.
        confidence, soft_price
            As for ``predict``.
        """
        if not soft.count:
            return None
        soft.check_confidences()
        broken = self.result_.broken
        of_fit = None if broken is None else broken.pair_price
        pricing = Pricing(None if isinstance(confidence, str) else confidence, soft_price)
        return pricing.for_new_rows(of_fit, soft, plain=self.soft_price is not None)

    def _limits(self, n_rows: int) -> SizeLimits | None:
        return SizeLimits.of(self.size_min, self.size_max, n_rows, int(self.n_clusters))

    def _rules(self, problem: Problem) -> list[StoppingRule]:
        enough = self._settings.enough(problem) if self.max_mutations is None else None
        return [*super()._rules(problem), *([] if enough is None else [enough])]

    def _mutations(self, problem: Problem) -> int:
        if self.max_mutations is not None:
            return self.max_mutations
        return self._settings.max_mutations(problem.n_clusters)

    @property
    def _n_threads(self) -> int:
        return n_threads(self.n_jobs)

    @property
    def _settings(self) -> MemeticParams:
        return DEFAULTS if self.params is None else self.params


@cache
def _to_the_end(settings: MemeticParams) -> MemeticParams:
    """Make all mutations that were asked for, whatever clusterings agree."""
    return replace(settings, agreement=0)


def _in_given_positions(problem: Problem, result: Result, init: Any) -> Result:
    if problem.limits is None:
        return result
    colours = in_given_positions(problem, result.solution.colours, init)
    return replace(result, solution=replace(result.solution, colours=colours))
