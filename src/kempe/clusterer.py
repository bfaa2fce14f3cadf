"""What all constrained clusterers share: validation, fitted attributes, prediction."""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache, lru_cache
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.metrics.pairwise import euclidean_distances, pairwise_distances_argmin_min
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from kempe.constraints import Constraints
from kempe.data_checks import (
    check_groups,
    check_kind,
    check_squares,
    feature_ranges,
    is_ready,
    warn_if_repeated,
)
from kempe.exact.new_rows import assign_new_rows
from kempe.fit_arguments import as_constraints, constraints_of_fit, seconds_of
from kempe.graph.sizes import refuse_conflict
from kempe.model_file import write_model
from kempe.problem import Problem
from kempe.search.callbacks import Callbacks
from kempe.search.display import display
from kempe.search.recorder import Recorder
from kempe.search.result import Origin, Result
from kempe.search.rounding import doubted
from kempe.search.stop import StoppingRule, TimeLimit
from kempe.sizes import SizeLimits
from kempe.soft_pairs import PairPrice

# Integers of these types are exact in float32, which halves the memory of image data.
_EXACT_IN_FLOAT32 = ("bool", "int8", "uint8", "int16", "uint16", "float16")

# Distances to the centres are computed by the calling thread alone up to so many products (rows x
# clusters x features): waking others takes longer, and a thousand times longer where the cores are
# busy. Up to the first number SciPy's plain loop is quicker than matrices.
PLAIN_UP_TO = 2**21
SERIAL_UP_TO = 2**26


EXPECTED_FAILED_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "repeated rows draw other starts, which may number the clusters in another order, as in "
        "scikit-learn's KMeans; the clusters are the same"
    ),
}
"""For ``check_estimator(KempeKMeans(), expected_failed_checks=...)`` of scikit-learn."""

# Parameters of scikit-learn's KMeans that mean nothing here, and what to write instead.
OF_KMEANS = {
    "max_iter": "descents run until nothing improves; bound the search by max_mutations or "
    "time_limit",
    "tol": "descents end where nothing improves any more, which no tolerance decides; leave it out",
    "copy_x": "data is never changed; leave it out",
    "algorithm": "there is one, which is quick with few clusters and with many; leave it out",
}
# Parameters of KempeKMeans that other methods do not have.
OF_KEMPE_KMEANS = ("size_min", "size_max")


class ConstrainedClusterer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """Base class of the constrained clusterers.

    A subclass has at least the parameters below and implements ``_solve``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), "array-like", callable],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "callbacks": [Callbacks, list, tuple, None],
    }

    # Constraints always reach ``fit`` through pipelines and searches.
    __metadata_request__fit: ClassVar = {
        "must_link": True,
        "cannot_link": True,
        "constraints": True,
    }

    # Whether pairs may be broken at a price.
    _takes_soft_pairs: ClassVar[bool] = False

    # Where the estimator's picture in a notebook links to.
    _doc_link_module: ClassVar = "kempe"
    _doc_link_template: ClassVar = "https://kempe.readthedocs.io/en/latest/generated/{page}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Name the page of this estimator, which is called as it is imported."""
        kind = type(self)
        room = kind.__module__.split(".")[1]
        public = "kempe" if room in ("engine", "kskm") else f"kempe.{room}"
        return {"page": f"{public}.{kind.__name__}"}

    n_clusters: int
    init: Any
    time_limit: float | None
    random_state: Any
    verbose: int
    callbacks: Callbacks | Sequence[Callbacks] | None

    labels_: NDArray[np.int32]
    cluster_centers_: NDArray[Any]
    inertia_: float
    n_iter_: int
    n_features_in_: int
    result_: Result

    _begun: float  # when the fit that is running was begun

    def __new__(cls, *positional: Any, **named: Any) -> Self:
        """Answer what others understand and this estimator does not, in a sentence."""
        for name in named.keys() & OF_KMEANS.keys():
            if name not in cls._get_param_names():
                raise TypeError(f"{cls.__name__} has no {name}, as KMeans has: {OF_KMEANS[name]}")
        for name in OF_KEMPE_KMEANS:
            if name in named and name not in cls._get_param_names():
                raise TypeError(f"{cls.__name__} knows no sizes of clusters; KempeKMeans does")
        return super().__new__(cls)  # type: ignore[no-any-return]

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
    ) -> Self:
        """Cluster the rows of ``X`` so that every constraint holds.

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
        problem = self._build_problem(
            X, constraints_of_fit(y, must_link, cannot_link, constraints), sample_weight
        )
        self._store(X, problem, self._solve(problem))
        return self

    @abstractmethod
    def _solve(self, problem: Problem) -> Result:
        """Cluster the supernodes of a problem."""

    def _build_problem(
        self, X: ArrayLike, constraints: Constraints, sample_weight: ArrayLike | None
    ) -> Problem:
        self._begun = time.perf_counter()
        data = self._validate_rows(X, reset=True)
        if constraints.soft.count and not self._takes_soft_pairs:
            raise ValueError(
                f"{type(self).__name__} keeps every pair, and {constraints.soft.count} of these "
                "may be wrong; use KempeKMeans, or give them as must_link and cannot_link"
            )
        if data.shape[0] < self.n_clusters:
            raise ValueError(
                f"n_samples={data.shape[0]} should be at least n_clusters={self.n_clusters}"
            )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, data, dtype=np.float64, ensure_non_negative=True
            )
            if not weights.any():
                raise ValueError("sample_weight is zero for every row")
        total = float(data.shape[0] if weights is None else weights.sum())
        lightest = 1.0 if weights is None else float(weights[weights > 0].min())
        check_squares(*feature_ranges(data), total, lightest)
        warn_if_repeated(data, int(self.n_clusters))
        problem = Problem.build(
            data,
            constraints,
            n_clusters=int(self.n_clusters),
            sample_weight=weights,
            n_threads=self._n_threads,
            limits=self._limits(data.shape[0]),
        )
        check_groups(problem.n_supernodes, int(self.n_clusters))
        if problem.limits is not None:
            refuse_conflict(problem.supernode, problem.graph, constraints, problem.limits)
        return problem

    def _limits(self, n_rows: int) -> SizeLimits | None:
        """Fewest and most rows of each cluster."""
        return None

    @property
    def _n_threads(self) -> int:
        """Threads of the kernels."""
        return 1

    def _validate_rows(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        if is_ready(X):
            self._note_features(X, reset=reset)
            return X
        check_kind(X)
        small = str(getattr(X, "dtype", "")) in _EXACT_IN_FLOAT32
        dtype = np.float32 if small else (np.float64, np.float32)
        data: NDArray[Any] = validate_data(
            self, X, reset=reset, dtype=dtype, order="C", accept_large_sparse=False
        )
        return data

    def _note_features(self, X: NDArray[Any], *, reset: bool) -> None:
        """Keep or check what scikit-learn wants to know of the features of a plain array."""
        if reset:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)  # those of an earlier fit
        else:
            validate_data(self, X, reset=False, skip_check_array=True)

    def _store(self, X: ArrayLike, problem: Problem, result: Result) -> None:
        colours = result.solution.colours
        if not problem.is_proper(colours):  # the last line of defence
            raise AssertionError("internal error: a clustering violates a cannot-link pair")
        if not problem.keeps_limits(colours):
            raise AssertionError("internal error: a cluster has too few or too many rows")
        if result.stop_reason == "optimal":
            data = self._validate_rows(X, reset=False)
            result = doubted(result, data, problem.labels(colours), problem.row_weight)
        centroids, _ = problem.means(colours)
        settings = {"method": type(self).__name__, **self.get_params(deep=False)}
        # A search of supernodes does not know what it was made on.
        origin = Origin.of(X, problem.constraints, problem.row_weight, settings)
        for name in ("cluster_names_", "_begun"):  # those of an earlier fit, and what fitting needs
            self.__dict__.pop(name, None)
        # All at once: Ctrl-C leaves no model of which a part is from an earlier fit.
        self.__dict__.update(
            labels_=problem.labels(colours),
            cluster_centers_=(centroids + problem.shift).astype(problem.rows.dtype),
            inertia_=result.solution.inertia,
            n_iter_=result.n_mutations + 1,
            result_=replace(result, origin=origin),
        )

    @property
    def objective_(self) -> float:
        """What was minimised: nearly always the inertia."""
        return self.result_.objective

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Look at the signature once for each class: a small fit would notice it each time."""
        return list(super()._get_param_names())

    @classmethod
    @cache
    def _defaults(cls) -> dict[str, Any]:
        """Default of each parameter that has one, looked up once for each class as well."""
        parameters = signature(cls.__init__).parameters
        return {name: parameters[name].default for name in cls._get_param_names()}

    def _validate_params(self) -> None:
        """Check the parameters as scikit-learn does, but for those that have their defaults.

        Numbers and words that were right once are right again.
        """
        defaults = self._defaults()
        for name, value in self.get_params(deep=False).items():
            if value is defaults[name]:
                continue
            if type(value) in (int, float, str):
                self._check_plain(name, type(value).__name__, value)
            else:
                self._check_parameter(name, value)

    @classmethod
    @lru_cache(maxsize=1024)
    def _check_plain(cls, name: str, kind: str, value: float | str) -> None:
        """Check a parameter of a kind: 1 and 1.0 are equal, and not both may be right."""
        cls._check_parameter(name, value)

    @classmethod
    def _check_parameter(cls, name: str, value: Any) -> None:
        validate_parameter_constraints(cls._parameter_constraints, {name: value}, cls.__name__)

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])

    def _new_data(self, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self, "cluster_centers_")
        return self._validate_rows(X, reset=False).astype(self.cluster_centers_.dtype, copy=False)

    def predict(
        self,
        X: ArrayLike,
        *,
        must_link: object = None,
        cannot_link: object = None,
        constraints: Constraints | None = None,
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

        Raises
        ------
        InfeasibleConstraintsError
            If the pairs cannot hold, with a proof.
        """
        pairs = as_constraints(must_link, cannot_link, constraints)
        if pairs.soft.count:
            raise ValueError(
                f"{type(self).__name__}.predict keeps every pair, and {pairs.soft.count} of these "
                "may be wrong; KempeKMeans.predict takes them, or give them as must_link and "
                "cannot_link"
            )
        return self._assigned(X, pairs)

    def _assigned(
        self, X: ArrayLike, pairs: Constraints, pair_price: PairPrice | None = None
    ) -> NDArray[np.int32]:
        """Give the cluster of each row, where soft pairs may be broken at a price."""
        data = self._new_data(X)
        if pairs.must_link.size or pairs.cannot_link.size or pairs.soft.count:
            squares = cdist(data, self.cluster_centers_, "sqeuclidean")
            return assign_new_rows(squares, pairs, np.asarray(self.labels_), pair_price)
        nearest, _ = self._nearest(data)
        return nearest

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Give the distance of each row to each cluster centre.

        Parameters
        ----------
        X
            Data of shape (n_rows, n_features).
        """
        data = self._new_data(X)
        if self._products(data) <= PLAIN_UP_TO:
            return cdist(data, self.cluster_centers_).astype(data.dtype, copy=False)
        with self._threads(data):
            return np.asarray(euclidean_distances(data, self.cluster_centers_))

    def _nearest(self, data: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Nearest cluster of each row, and the squared distance to its centre."""
        if self._products(data) <= PLAIN_UP_TO:
            squares = cdist(data, self.cluster_centers_, "sqeuclidean")
            return squares.argmin(axis=1).astype(np.int32), squares.min(axis=1)
        with self._threads(data):
            nearest, distances = pairwise_distances_argmin_min(data, self.cluster_centers_)
        return np.asarray(nearest, dtype=np.int32), distances.astype(np.float64) ** 2

    def _products(self, data: NDArray[Any]) -> int:
        return int(data.shape[0] * self.cluster_centers_.size)

    def _threads(self, data: NDArray[Any]) -> AbstractContextManager[Any]:
        """As many threads as the distances of these rows are worth."""
        if self._products(data) > SERIAL_UP_TO:
            return nullcontext()
        return _thread_pools().limit(limits=1)  # type: ignore[no-any-return]

    def score(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Give the negative inertia of rows about their nearest cluster centres.

        Parameters
        ----------
        X
            Data of shape (n_rows, n_features).
        y
            Ignored.
        sample_weight
            Weight of each row.
        """
        data = self._new_data(X)
        _, squares = self._nearest(data)
        weights = _check_sample_weight(sample_weight, data, dtype=np.float64)
        return -float(np.dot(weights, squares))

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file, which ``kempe.load`` reads without executing anything.

        The loaded model has equal parameters and predicts the same, bit by bit.

        Parameters
        ----------
        path
            The file; an existing one is replaced, whole or not at all.

        Raises
        ------
        TypeError
            If a parameter is no plain data, such as ``callbacks``, a function as ``stop`` or a
            generator as ``random_state``: ``set_params`` can set it to ``None`` first.
        """
        check_is_fitted(self, "cluster_centers_")
        write_model(path, self)

    def _recorder(
        self,
        problem: Problem,
        rules: Iterable[StoppingRule] = (),
        *,
        shown: Sequence[Callbacks] | None = None,
    ) -> Recorder:
        """Make a recorder with the given rules, what is left of the time, and the callbacks.

        Parameters
        ----------
        shown
            What shows the search; by default what ``verbose`` asks for.
        """
        limit = [] if self.time_limit is None else [TimeLimit(max(0.0, self._seconds_left))]
        given = self.callbacks or ()
        own = [given] if isinstance(given, Callbacks) else list(given)
        for callback in own:
            if not isinstance(callback, Callbacks):
                raise TypeError(f"callbacks must be kempe.search.Callbacks: {callback!r}")
        every = [*rules, *limit]
        shown = display(self.verbose, every) if shown is None else shown
        return Recorder(problem, every, [*own, *shown])

    @property
    def _seconds_left(self) -> float:
        """What is left of the time limit, which counts from the beginning of ``fit``."""
        now = time.perf_counter()
        return seconds_of(self.time_limit) - (now - getattr(self, "_begun", now))

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(self._seed())

    def _generators(self, count: int) -> list[np.random.Generator]:
        """Give what ``_generator`` would spawn, without making it first."""
        return [np.random.default_rng(child) for child in self._seed().spawn(count)]

    def _seed(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(_drawn_by(self.random_state))


@cache
def _thread_pools() -> ThreadpoolController:
    """Find the libraries with threads of their own once: looking for them takes milliseconds."""
    return ThreadpoolController()


class _Reseeded(threading.local):
    """A generator of each thread, which gets a new seed before every use: making one takes long."""

    def __init__(self) -> None:
        self.generator = np.random.RandomState(0)


_reseeded = _Reseeded()


def _drawn_by(random_state: Any) -> int:
    """Draw a number as ``check_random_state`` says."""
    if isinstance(random_state, Integral):
        generator = _reseeded.generator
        generator.seed(int(random_state))
    else:
        generator = check_random_state(random_state)
    return int(generator.randint(2**31 - 1))
