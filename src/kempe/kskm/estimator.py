"""KSKM, the algorithm of the paper as a clusterer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, ParamSpec

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from kempe.exact import SOLVERS, Solver
from kempe.kskm.exact import ExactParams
from kempe.kskm.kskm import FOLLOWINGS, HABITS, Following, Habits, KSKMParams, kskm_search
from kempe.kskm.mwis import METHODS, Method
from kempe.kskm.shift import RELOCATIONS, RelocationKind
from kempe.problem import Problem
from kempe.search.callbacks import Callbacks
from kempe.search.stop import StoppingRule
from kempe.searching import Search, SearchingClusterer

# Parameters that are now those of ``ExactParams``.
_OF_EXACT = ("effort", "annealing", "relocate_if_tight", "tabu_start", "nonempty")

Arguments = ParamSpec("Arguments")


def told_where_they_went(init: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Let a constructor that is called with parameters of old say where they are now."""

    @wraps(init)
    def checked(*args: Arguments.args, **options: Arguments.kwargs) -> None:
        for name in _OF_EXACT:
            if name in options:
                raise TypeError(
                    f"KSKM has no parameter {name!r}: it means something only with exact "
                    f"assignments, so say KSKM(exact=ExactParams({name}={options[name]!r})), "
                    "from kempe.kskm"
                )
        init(*args, **options)

    return checked


class KSKM(SearchingClusterer):
    """Kempe Swap K-Means as the paper has it (Algorithm 1).

    One clustering is improved by simultaneous swaps of compatible Kempe chains until none is left;
    then its centroids are perturbed or relocated, and it is improved again. ``KempeKMeans`` reaches
    lower inertia in less time; this is the algorithm to compare with.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    mwis : {"greedy", "spectral", "exact"}, default="greedy"
        How compatible chains are chosen (appendix A.1). ``"greedy"`` (with local search) is the
        cheapest, ``"exact"`` solves an integer program in every step, ``"spectral"`` is the
        heuristic of the paper.
    three_colour : bool, default=False
        Whether chains of three colours are rotated once swaps of two are exhausted (appendix A.2).
        That takes many times as long, and lowers the inertia a little only where constraints are
        loose.
    relocation : {"replace", "reposition", "coincide", "kmeans", "sdp"}, default="replace"
        Where relocated centroids go (Algorithm 4). ``"replace"`` puts one on a costly supernode;
        ``"reposition"`` splits the cluster of highest inertia at the expense of that of lowest;
        ``"coincide"`` puts the centroid of the latter onto that of the former; ``"kmeans"`` and
        ``"sdp"`` move all centroids to those of an unconstrained solution and cost most time.
    alpha : float, default=1.0
        Step of a relocation from the present centroids (0) to the targets (1).
    perturbation : float, default=0.8
        Share of the mutations that perturb all centroids a little (Algorithm 3) instead of
        relocating.
    failures_before_return : int, default=5
        Mutations in a row without a new best after which the search goes back to the best.
    after_perturbation : {"step", "settle"}, default="step"
        How the clustering follows perturbed centroids: by one simultaneous assignment, as Algorithm
        3 says, or by as many as it takes, as in the authors' program.
    habits : {"text", "program"}, default="text"
        ``"program"`` does as the authors' program does in what has no parameter of its own: the
        first mutation relocates (not with ``exact``), once back at the best all mutations start
        from it until there is a better one, coordinates are perturbed one by one, and a cluster
        that is empty takes a supernode at random while descending, not the costliest. With
        ``exact``, swaps settle before centroids move, and a descent goes on after an exact
        assignment only if its cost is lower when rounded to a whole number. The page about methods
        compares text, program and ours point by point.
    exact : bool, {"auto", "highs", "cpsat", "gurobi"} or ExactParams, default=False
        Whether each local optimum is improved by exact assignment (appendix A.3, KSKM_E), which
        takes long, and by which solver. ``True`` is ``"auto"``: SciPy's HiGHS, and OR-Tools' CP-SAT
        if it is installed. It also makes the first clustering where saturation order finds none,
        or proves that there is none. ``kempe.kskm.ExactParams`` says more about how.
    init : {"k-means++", "random"}, array or callable, default="k-means++"
        Starting centroids: how they are drawn, an array of shape (n_clusters, n_features), or a
        function that gives one, ``init(X, n_clusters, random_state)``.
    n_init : int or "auto", default=1
        Independent searches, of which the best is returned.
    max_mutations : int, default=200
        Mutations after which the search ends; 0 leaves a single descent.
    patience : int or None, default=None
        Mutations in a row without a new best after which the search ends; ``None``: no such limit.
    time_limit : float or None, default=None
        Seconds after which the search ends with the best clustering so far, all ``n_init``
        searches together. Results then depend on the speed of the machine.
    target_inertia : float or None, default=None
        The search ends as soon as the inertia is this low.
    stop : callable or None, default=None
        A stopping rule of your own, asked after every clustering that was looked at: called with a
        ``kempe.search.SearchState``, it returns whether to end.
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
    n_iter_ : int
        Solutions looked at: mutations and the start.
    result_ : Result
        How the search went: ``summary()``, ``statistics``, ``to_csv()``.

    References
    ----------
    Y. Ren, S. Deng: Kempe Swap K-Means: A Scalable Near-Optimal Solution for Semi-Supervised
    Clustering.

    Examples
    --------
    >>> from kempe import KSKM
    >>> X = [[0.0], [0.1], [5.0], [5.1], [9.0]]
    >>> model = KSKM(n_clusters=2, random_state=0)
    >>> labels = model.fit(X, must_link=[(0, 2)], cannot_link=[(2, 3)]).labels_
    >>> bool(labels[0] == labels[2]), bool(labels[2] == labels[3])
    (True, False)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SearchingClusterer._parameter_constraints,
        "mwis": [StrOptions(set(METHODS))],
        "three_colour": ["boolean"],
        "relocation": [StrOptions(set(RELOCATIONS))],
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "perturbation": [Interval(Real, 0, 1, closed="both")],
        "failures_before_return": [Interval(Integral, 1, None, closed="left")],
        "after_perturbation": [StrOptions(set(FOLLOWINGS))],
        "habits": [StrOptions(set(HABITS))],
        "exact": ["boolean", StrOptions(set(SOLVERS)), ExactParams],
    }

    max_mutations: int

    @told_where_they_went
    def __init__(
        self,
        n_clusters: int = 8,
        *,
        mwis: Method = "greedy",
        three_colour: bool = False,
        relocation: RelocationKind = "replace",
        alpha: float = 1.0,
        perturbation: float = 0.8,
        failures_before_return: int = 5,
        after_perturbation: Following = "step",
        habits: Habits = "text",
        exact: bool | Solver | ExactParams = False,
        init: Literal["k-means++", "random"] | ArrayLike = "k-means++",
        n_init: int | Literal["auto"] = 1,
        max_mutations: int = 200,
        patience: int | None = None,
        time_limit: float | None = None,
        target_inertia: float | None = None,
        stop: StoppingRule | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Callbacks | Sequence[Callbacks] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.mwis = mwis
        self.three_colour = three_colour
        self.relocation = relocation
        self.alpha = alpha
        self.perturbation = perturbation
        self.failures_before_return = failures_before_return
        self.after_perturbation = after_perturbation
        self.habits = habits
        self.exact = exact
        self.init = init
        self.n_init = n_init
        self.max_mutations = max_mutations
        self.patience = patience
        self.time_limit = time_limit
        self.target_inertia = target_inertia
        self.stop = stop
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _searcher(self) -> Search:
        params = KSKMParams(
            mwis=self.mwis,
            three_colour=bool(self.three_colour),
            relocation=self.relocation,
            alpha=self.alpha,
            perturbation=self.perturbation,
            failures_before_return=self.failures_before_return,
            after_perturbation=self.after_perturbation,
            habits=self.habits,
            exact=ExactParams.of(self.exact),
        )
        return partial(kskm_search, params=params, init=self.init)

    def _mutations(self, problem: Problem) -> int:
        return self.max_mutations
