"""KempeKMeans, the clusterer that most users want."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from kempe.assign import Descent
from kempe.assign.annealing import AnnealingDescent
from kempe.assign.exact import ExactDescent
from kempe.assign.mwis import METHODS, Method
from kempe.assign.sequential import SequentialDescent
from kempe.assign.simultaneous import SimultaneousDescent
from kempe.estimators._base import ConstrainedClusterer
from kempe.feasibility import find_colouring, is_tight
from kempe.mutate import RELOCATIONS, Relocation, RelocationKind
from kempe.problem import Colours, Problem
from kempe.search.callbacks import Callbacks
from kempe.search.iterated import IteratedParams, iterated_search
from kempe.search.memetic import MemeticParams, memetic_search
from kempe.search.recorder import Recorder
from kempe.search.result import Result
from kempe.search.start import starting_solution
from kempe.search.stop import MaxMutations, Patience, StoppingRule, TargetInertia

# The paper's number of mutations, for the paper's search.
PAPER_MUTATIONS = 200
# Most repetitions of the saturation-ordered assignment in the start of our own search.
SATURATION_ROUNDS = 20

# After these no further search is begun.
ENDS_ALL = ("interrupted", "callback", "target_inertia", "time_limit")

# Beyond this many supernodes annealing is too slow to be worth while unasked.
LARGEST_ANNEALED = 5_000
# On tight graphs Kempe swaps cannot follow a relocated centroid. Many starts pay there.
ANNEALED_POPULATION: dict[str, Any] = {
    "population_size": 24,
    "relocations_per_cluster": 0.0,
    "extra_relocations": 0,
}


class KempeKMeans(ConstrainedClusterer):
    """K-means clustering under hard must-link and cannot-link constraints.

    Must-linked rows are merged into supernodes; a clustering is then a proper colouring of the
    graph of cannot-link pairs, and swapping two colours along a Kempe chain keeps it proper. Every
    clustering that is returned satisfies every constraint.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    search : {"memetic", "iterated"}, default="memetic"
        How the space of clusterings is searched. ``"memetic"`` keeps a small population, recombines
        centroids and relocates them one at a time: lowest inertia for the time. ``"iterated"`` is
        Algorithm 1 of the paper: one solution, perturbed and relocated.
    assignment : {"sequential", "simultaneous"}, default="sequential"
        How an assignment is improved. ``"sequential"`` swaps one chain at a time by the exact
        change of the inertia: faster, and lower optima. ``"simultaneous"`` is Algorithm 2 of the
        paper: all improving chains at fixed centroids, of which it swaps a compatible set.
    mwis : {"greedy", "spectral", "exact"}, default="greedy"
        How ``"simultaneous"`` chooses compatible chains. ``"greedy"`` (with local search) is the
        cheapest, ``"exact"`` solves an integer program in every step, ``"spectral"`` is the
        heuristic of appendix A.1.
    init : {"k-means++", "random"} or array of shape (n_clusters, n_features), default="k-means++"
        Starting centroids. ``"k-means++"`` spreads them out and starts lower; ``"random"`` takes
        supernodes at random. An array is used for the first solution of the search.
    n_init : int, default=1
        Independent searches, of which the best is returned. Time grows in proportion; a longer
        search (``max_mutations``) is usually the better use of it.
    max_mutations : int or None, default=None
        Mutations after which the search ends; 0 leaves a single descent, which is fastest.
        ``None``: 200 for ``"iterated"``, as in the paper; for ``"memetic"`` a number that grows
        with ``n_clusters``.
    patience : int or None, default=None
        Mutations in a row without a new best after which the search ends; ``None``: no such limit.
    time_limit : float or None, default=None
        Seconds after which the search ends with the best clustering so far, all ``n_init``
        searches together. Results then depend on the speed of the machine.
    target_inertia : float or None, default=None
        The search ends as soon as the inertia is this low.
    relocation : {"replace", "reposition", "kmeans", "sdp"}, default="replace"
        Where relocated centroids go. ``"replace"`` puts one on a costly supernode; ``"reposition"``
        splits the cluster of highest inertia; ``"kmeans"`` and ``"sdp"`` move all centroids to
        those of an unconstrained solution and cost most time.
        The memetic search with sequential assignment always replaces.
    perturbation : float, default=0.8
        Share of the mutations of ``"iterated"`` that perturb all centroids a little instead of
        relocating. With ``exact="refine"`` all relocate if classic DSATUR finds no clustering: the
        exact assignment would undo a perturbation.
    alpha : float, default=1.0
        Step of a relocation from the present centroids (0) to the targets (1).
    three_colour : bool, default=False
        Whether ``"simultaneous"`` also rotates chains of three colours (appendix A.2): lower
        inertia on tight constraints, at the cost of looking at all triples of clusters.
    exact : {"auto", "start", "refine", "never"}, default="auto"
        What else takes part where Kempe swaps do not suffice, because the number of clusters is
        close to the least possible. ``"start"``: if saturation order finds no clustering, tabu
        search and an exact solver look for one, or prove that there is none. ``"refine"``: in
        addition each local optimum is improved by exact assignment (KSKM_E), which takes long.
        ``"auto"``: as ``"start"``, and if classic DSATUR finds no clustering either, the memetic
        search with sequential assignment improves its local optima by simulated annealing.
        ``"never"``: give up at once.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it, unless there is a time limit.
    random_state : int, RandomState or None, default=None
        Seed of all randomness.
    verbose : int, default=0
        1 shows a progress bar, 2 logs every new best through ``logging``.
    callbacks : Callbacks, list of Callbacks or None, default=None
        Called while the search runs, see ``kempe.search.callbacks``.

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
        **ConstrainedClusterer._parameter_constraints,
        "search": [StrOptions({"memetic", "iterated"})],
        "assignment": [StrOptions({"sequential", "simultaneous"})],
        "mwis": [StrOptions(set(METHODS))],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_mutations": [Interval(Integral, 0, None, closed="left"), None],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "target_inertia": [Real, None],
        "relocation": [StrOptions(set(RELOCATIONS))],
        "perturbation": [Interval(Real, 0, 1, closed="both")],
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "three_colour": ["boolean"],
        "exact": [StrOptions({"auto", "start", "refine", "never"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        search: Literal["memetic", "iterated"] = "memetic",
        assignment: Literal["sequential", "simultaneous"] = "sequential",
        mwis: Method = "greedy",
        init: Literal["k-means++", "random"] | ArrayLike = "k-means++",
        n_init: int = 1,
        max_mutations: int | None = None,
        patience: int | None = None,
        time_limit: float | None = None,
        target_inertia: float | None = None,
        relocation: RelocationKind = "replace",
        perturbation: float = 0.8,
        alpha: float = 1.0,
        three_colour: bool = False,
        exact: Literal["auto", "start", "refine", "never"] = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Callbacks | Sequence[Callbacks] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.search = search
        self.assignment = assignment
        self.mwis = mwis
        self.init = init
        self.n_init = n_init
        self.max_mutations = max_mutations
        self.patience = patience
        self.time_limit = time_limit
        self.target_inertia = target_inertia
        self.relocation = relocation
        self.perturbation = perturbation
        self.alpha = alpha
        self.three_colour = three_colour
        self.exact = exact
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _solve(self, problem: Problem) -> Result:
        results: list[Result] = []
        for rng in self._generator().spawn(self.n_init):
            spent = sum(result.runtime for result in results)
            if self.time_limit is not None and spent >= self.time_limit:
                break
            results.append(self._search_once(problem, rng, spent))
            if results[-1].stop_reason in ENDS_ALL:
                break
        return min(results, key=lambda result: result.inertia)

    def _search_once(self, problem: Problem, rng: np.random.Generator, spent: float) -> Result:
        recorder = self._recorder(problem, self._rules(problem), spent=spent)
        run = self._memetic if self.search == "memetic" else self._iterated
        return run(problem, recorder, rng)

    def _iterated(self, problem: Problem, recorder: Recorder, rng: np.random.Generator) -> Result:
        descent = self._descent(problem)
        start = self._start(problem, descent, recorder, 0, rng)
        params = IteratedParams(
            perturbed=self._perturbed_share(problem), relocation=self._relocation()
        )
        return iterated_search(problem, start, descent, recorder, rng, params)

    def _memetic(self, problem: Problem, recorder: Recorder, rng: np.random.Generator) -> Result:
        descent = self._descent(problem)
        known = self._known_colouring(problem, recorder, rng)
        return memetic_search(
            problem,
            lambda number, child: self._start(problem, descent, recorder, number, child, known),
            descent,
            recorder,
            rng,
            self._memetic_params(descent),
            target=-math.inf if self.target_inertia is None else self.target_inertia,
            n_jobs=effective_n_jobs(self.n_jobs),
        )

    def _known_colouring(
        self, problem: Problem, recorder: Recorder, rng: np.random.Generator
    ) -> Colours | None:
        """Find a colouring for all starts to fall back on, where that may take long."""
        if self.exact == "never" or not is_tight(problem):
            return None
        return find_colouring(problem, rng, recorder.stopper)

    def _start(
        self,
        problem: Problem,
        descent: Descent,
        recorder: Recorder,
        number: int,
        rng: np.random.Generator,
        known: Colours | None = None,
    ) -> Colours:
        given = isinstance(self.init, str) or number == 0
        return starting_solution(
            problem,
            self.init if given else "k-means++",
            descent,
            rng,
            recorder.stopper,
            exhaustive=self.exact != "never",
            known=known,
            rounds=0 if known is not None else self._saturation_rounds(problem),
        )

    def _saturation_rounds(self, problem: Problem) -> int:
        """Say how often to repeat the first assignment; not where constraints hardly bind."""
        dense = 10 * problem.n_edges > problem.n_supernodes
        return SATURATION_ROUNDS if self.assignment == "sequential" and dense else 0

    def _descent(self, problem: Problem) -> Descent:
        inner: Descent
        if self.assignment == "sequential":
            inner = SequentialDescent()
            if self._anneals(problem):
                return AnnealingDescent(inner)
        else:
            inner = SimultaneousDescent(mwis=self.mwis, three_colour=self.three_colour)
        return ExactDescent(inner) if self.exact == "refine" else inner

    def _perturbed_share(self, problem: Problem) -> float:
        """Relocate only, where exact assignment would undo every small perturbation."""
        return 0.0 if self.exact == "refine" and is_tight(problem) else self.perturbation

    def _anneals(self, problem: Problem) -> bool:
        if self.exact != "auto" or self.search != "memetic":
            return False
        return problem.n_supernodes <= LARGEST_ANNEALED and is_tight(problem)

    def _memetic_params(self, descent: Descent) -> MemeticParams:
        if isinstance(descent, AnnealingDescent):
            return MemeticParams(**ANNEALED_POPULATION, relocation=self._relocation())
        return MemeticParams(relocation=self._relocation())

    def _relocation(self) -> Relocation:
        return Relocation(kind=self.relocation, alpha=self.alpha)

    def _rules(self, problem: Problem) -> list[StoppingRule]:
        rules: list[StoppingRule] = [MaxMutations(self._mutations(problem))]
        if self.patience is not None:
            rules.append(Patience(self.patience))
        if self.target_inertia is not None:
            rules.append(TargetInertia(self.target_inertia))
        return rules

    def _mutations(self, problem: Problem) -> int:
        if self.max_mutations is not None:
            return self.max_mutations
        if self.search == "iterated":
            return PAPER_MUTATIONS
        return MemeticParams().max_mutations(problem.n_clusters)
