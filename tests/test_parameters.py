"""Every parameter of every estimator acts, value by value, as its documentation says.

``CASES`` has for each of them some values, all choices among them, and a function that fits with
one value and gives what can be seen of it. Different values must look different, so a parameter
that does nothing fails, and so does a new one that has no case.
"""

from __future__ import annotations

import inspect
import io
import itertools
import math
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args, get_type_hints
from unittest.mock import patch

import numpy as np
import pytest
from joblib import effective_n_jobs
from sklearn.utils._param_validation import StrOptions

import kempe
from kempe import (
    KSKM,
    InfeasibleConstraintsError,
    KempeKMeans,
    NoSolutionFoundError,
    _core,
    rivals,
)
from kempe.clusterer import ConstrainedClusterer
from kempe.engine import MemeticParams, SequentialDescent
from kempe.engine.pricing import Pricing
from kempe.exact import ExactAssigner, branching, relaxation
from kempe.graph.check import colour_or_explain
from kempe.kskm import ExactParams, SimultaneousDescent, kskm
from kempe.rivals import BLPKMCC, CLCKM, COPKM, COPKM_P, ICOPKM, PCCC, PCKMeans, S_MDEClust, icopkm
from kempe.search import first_colouring
from kempe.search.callbacks import Callbacks
from random_problems import random_problem

PUBLIC = [getattr(module, name) for module in (kempe, rivals) for name in module.__all__]
ESTIMATORS = [
    item for item in PUBLIC if isinstance(item, type) and issubclass(item, ConstrainedClusterer)
]
SETTINGS = [MemeticParams, ExactParams]
SEARCHING = [KempeKMeans, KSKM]
ALTERNATING = [BLPKMCC, CLCKM, COPKM, COPKM_P, ICOPKM, PCKMeans]

# What keeps a fit short, unless the case says otherwise.
QUICK = {
    KempeKMeans: {"max_mutations": 12},
    KSKM: {"max_mutations": 12},
    S_MDEClust: {"population_size": 4, "max_generations": 2},
}

LOOSE = {"n": 40, "k": 4, "density": 0.02}  # even the greedy methods find a clustering
DENSE = {"n": 80, "k": 10, "density": 0.2}  # many chains exclude each other
STICKY = {"n": 60, "k": 4, "density": 0.12, "merged": 0}  # swaps reach little
TIGHT = {"n": 60, "k": 3, "density": 0.12, "merged": 0}  # classic DSATUR finds no colouring
SMALL = {"n": 30, "k": 4, "density": 0.1, "merged": 0}  # for integer programs by the dozen


class Case(NamedTuple):
    """What shows that a parameter acts.

    Attributes
    ----------
    values
        Values of the parameter.
    see
        Fits an estimator with a value and gives what can be seen of it.
    wanted
        What must be seen for a value, where the documentation is so exact.
    check
        Whether what is seen for all values agrees with the documentation, where it is less so.
    same
        Pairs of positions in ``values`` that mean the same.
    """

    values: Sequence[Any]
    see: Callable[[type, Any], Any]
    wanted: Callable[[Any], Any] | None = None
    check: Callable[..., bool] | None = None
    same: Sequence[tuple[int, int]] = ()


CASES: dict[tuple[type, str], Case] = {}


def case(estimators, parameter, values, **promises):
    """Enter the function that sees a parameter act."""

    def enter(see):
        for estimator in estimators if isinstance(estimators, list) else [estimators]:
            CASES[estimator, parameter] = Case(values, see, **promises)
        return see

    return enter


def fit(estimator, shape=LOOSE, seed=0, **options):
    """Fit a random problem, the same for every value of a parameter."""
    problem, _ = random_problem(seed, **shape)
    defaults = {"n_clusters": problem.n_clusters, "random_state": 0, **QUICK.get(estimator, {})}
    model = estimator(**{**defaults, **options})
    return model.fit(problem.rows, constraints=problem.constraints)


def history(model):
    """Kind and inertia of all solutions looked at, rounded so that they differ for a reason."""
    statistics = model.result_.statistics
    return list(zip(statistics.kind, np.round(statistics.inertia, 6).tolist(), strict=True))


def count(model, kind):
    return model.result_.statistics.kind.count(kind)


def end(model):
    """Why a search ended, and after how many mutations."""
    return model.result_.stop_reason, model.result_.n_mutations


def fruitless(model):
    """Mutations since the best solution was found, if patience ended the search."""
    statistics = model.result_.statistics
    best = statistics.iteration[int(np.argmin(statistics.inertia))]
    reason, mutations = end(model)
    return mutations - best if reason == "patience" else reason


# Parameters that all estimators have


@case(ESTIMATORS, "n_clusters", [4, 5, 7], wanted=lambda value: (value, value))
def see_clusters(estimator, value):
    model = fit(estimator, n_clusters=value)
    return np.unique(model.labels_).size, len(model.cluster_centers_)


# Four groups far from each other. Centroids that split one and share two others are stuck.
GROUPS = (100.0 * np.arange(4)[:, None] + [-1.0, -0.9, 0.9, 1.0]).reshape(-1, 1)
STUCK = [[-0.95], [0.95], [150.0], [300.0]]
ONE_GROUP = 2 * (1.0**2 + 0.9**2)
LOWEST = 4 * ONE_GROUP
HIGH = 4 * 0.05**2 + (8 * 50.0**2 + 2 * ONE_GROUP) + ONE_GROUP


def stuck(X, n_clusters, random_state):
    """Give them in the way that scikit-learn asks functions for centroids."""
    np.testing.assert_allclose(X, GROUPS)
    assert n_clusters == 4
    assert isinstance(random_state, np.random.RandomState)
    return STUCK


def starts_as_documented(spread, random, given, called):
    """Spread-out centroids hit every group, random ones do not always, given ones are taken."""
    lowest, high = (pytest.approx([value] * 10) for value in (LOWEST, HIGH))
    return spread == lowest and given == called == high and random not in (lowest, high)


def starts_as_documented_with_sdp(*seen):
    *others, relaxed = seen
    return starts_as_documented(*others) and relaxed[0] == pytest.approx(LOWEST)


@case(
    BLPKMCC,
    "init",
    ["k-means++", "random", STUCK, stuck, "sdp"],
    check=starts_as_documented_with_sdp,
    same=[(0, 4), (2, 3)],
)
@case(
    PCKMeans,
    "init",
    ["k-means++", "random", STUCK, stuck, "neighbourhoods"],
    check=lambda *seen: starts_as_documented(*seen[:4]),
    same=[(2, 3)],
)
@case(
    [item for item in ESTIMATORS if item not in (BLPKMCC, PCKMeans)],
    "init",
    ["k-means++", "random", STUCK, stuck],
    check=starts_as_documented,
    same=[(2, 3)],
)
def see_start(estimator, value):
    """Inertia of the first solution, for several seeds."""
    first = []
    for seed in range(10):
        model = estimator(4, init=value, random_state=seed, **QUICK.get(estimator, {}))
        model.fit(GROUPS, cannot_link=[(0, 4)])
        first.append(model.result_.statistics.inertia[0])
    return first


SEEDS = [0, 1, np.random.RandomState(0), None]


@case(ESTIMATORS, "random_state", SEEDS, same=[(0, 2), (1, 3)])
def see_chance(estimator, value):
    """The whole history; without a seed that of NumPy's global generator, here seeded by 1."""
    with patch.object(np.random.mtrand, "_rand", np.random.RandomState(1)):
        return history(fit(estimator, random_state=deepcopy(value)))


@case(ESTIMATORS, "verbose", [0, 1, 2], wanted=["nothing", "bar", "log"].__getitem__)
def see_output(estimator, value):
    """Kind of what is shown: the bar has the final state, the log a line for every new best."""
    with redirect_stderr(io.StringIO()) as screen:
        model = fit(estimator, verbose=value)
    shown = screen.getvalue()
    bests = sum(line.startswith("kempe: ") and " best " in line for line in shown.splitlines())
    kinds = {
        "nothing": shown == "",
        "bar": f"mutation {model.result_.n_mutations}  best " in shown and "kempe: " not in shown,
        "log": bests == np.unique(model.result_.statistics.best_inertia).size,
    }
    return next((kind for kind, seen in kinds.items() if seen), shown)


@dataclass
class Counter(Callbacks):
    """Counts the searches and their solutions, and ends the search after some."""

    most: float = math.inf
    searches: int = 0
    solutions: int = 0

    def on_start(self, problem):
        self.searches += 1

    def on_iteration(self, state):
        self.solutions += 1
        return self.solutions >= self.most


CALLBACKS = [None, Counter(), [Counter(), Counter()], Counter(most=1)]


def calls_as_documented(without, one, two, ending):
    every = without[0]
    return (
        without == (every, [], False)
        and one == (every, [every], False)
        and two == (every, [every, every], False)
        and ending == (1, [1], True)
    )


@case(ESTIMATORS, "callbacks", CALLBACKS, check=calls_as_documented)
def see_calls(estimator, value):
    """Solutions looked at, how many each callback was told of, and whether one ended the search."""
    value = deepcopy(value)
    model = fit(estimator, callbacks=value)
    listed = value if isinstance(value, list) else [value] if value else []
    told = [callback.solutions for callback in listed]
    return len(model.result_.statistics.kind), told, model.result_.stop_reason == "callback"


def limits_as_documented(without, long, short):
    return without == long != "time_limit" == short


@case(ESTIMATORS, "time_limit", [None, 1e6, 1e-9], same=[(0, 1)], check=limits_as_documented)
def see_reason(estimator, value):
    return fit(estimator, time_limit=value).result_.stop_reason


# Parameters of the estimators that search


def searches_as_documented(auto, one, three):
    return (one[0], three[0]) == (1, 3) and three[1] < one[1]


@case(SEARCHING, "n_init", ["auto", 1, 3], same=[(0, 1)], check=searches_as_documented)
def see_searches(estimator, value):
    """Number of searches, and the lowest inertia."""
    counter = Counter()
    model = fit(estimator, n_init=value, max_mutations=0, callbacks=counter)
    return counter.searches, model.inertia_


@case(KempeKMeans, "size_min", [None, 9, 0.25], check=lambda one, two, three: one < two <= three)
def see_smallest(estimator, value):
    """Rows of the smallest cluster."""
    return int(np.bincount(fit(estimator, size_min=value, max_mutations=5).labels_).min())


@case(KempeKMeans, "size_max", [None, 14, 0.3], check=lambda one, two, three: one > two >= three)
def see_largest(estimator, value):
    """Rows of the largest cluster."""
    return int(np.bincount(fit(estimator, size_max=value, max_mutations=5).labels_).max())


@case(KSKM, "max_mutations", [0, 3, 20], wanted=int)
@case(
    KempeKMeans,
    "max_mutations",
    [0, 3, 20, None],
    wanted={0: 0, 3: 3, 20: 20, None: "converged"}.get,
)
def see_mutations(estimator, value):
    """Number of mutations; without a limit clusterings that agree end the search."""
    reason, mutations = end(fit(estimator, max_mutations=value))
    return mutations if reason == "max_mutations" else reason


# A clustering is left after one failed relocation, so that patience is looked at often.
HASTY = {"extra_relocations": 1, "relocations_per_cluster": 0}


@case(SEARCHING, "patience", [None, 3, 9], wanted=lambda value: value or "max_mutations")
def see_patience(estimator, value):
    options = {"params": MemeticParams(**HASTY)} if estimator is KempeKMeans else {}
    return fruitless(fit(estimator, patience=value, max_mutations=60, **options))


def targets_as_documented(without, lowest, between, highest):
    return (
        without == lowest == ("max_mutations", 60)
        and highest == ("target_inertia", 0)
        and between[0] == "target_inertia"
        and 0 < between[1] < 60
    )


TARGETS = [None, 0.0, 26.0, 1e9]


@case(SEARCHING, "target_inertia", TARGETS, same=[(0, 1)], check=targets_as_documented)
def see_target(estimator, value):
    return end(fit(estimator, target_inertia=value, max_mutations=60))


def second_solution(state):
    return state.iteration > 0


def rules_as_documented(without, rule):
    return without[0] == "max_mutations" and rule == ("user_rule", 2) != without


@case(SEARCHING, "stop", [None, second_solution], check=rules_as_documented)
def see_rule(estimator, value):
    """Why the search ended, and after how many solutions."""
    model = fit(estimator, stop=value)
    return model.result_.stop_reason, len(model.result_.statistics.kind)


# Parameters of KempeKMeans


@case(KempeKMeans, "params", [None, MemeticParams(), MemeticParams(**HASTY)], same=[(0, 1)])
def see_params(estimator, value):
    return history(fit(estimator, params=value))


NOISY = {"soft_must_link": [(0, 1), (2, 3), (4, 5)], "soft_cannot_link": [(0, 9), (1, 8)]}


@case(KempeKMeans, "confidence", ["auto", 0.6, 0.999])
def see_confidence(_, value):
    """What breaking pairs that do not say how sure they are costs, in units of the spread."""
    return priced(confidence=value).assumed


@case(KempeKMeans, "soft_price", [None, 0.5, 7.0], check=lambda own, *given: given == (0.5, 7.0))
def see_soft_price(_, value):
    return priced(soft_price=value).unit


def priced(**options):
    """Fit with soft pairs; the price that they were given."""
    found = []
    settle = Pricing.settle

    def watched(self, *arguments):
        found.append(settle(self, *arguments))
        return found[-1]

    problem, _ = random_problem(0, **LOOSE)
    model = KempeKMeans(problem.n_clusters, max_mutations=0, random_state=0, **options)
    with patch.object(Pricing, "settle", watched):
        model.fit(problem.rows, **NOISY)
    return found[0].pair_price


def descending_threads(expected, **options):
    """Fit, and count the threads that descend at the same time.

    Each waits until as many as expected are there, so that a quick one does not do all the work.
    """
    meeting = threading.Condition()
    present = most = 0
    descend = SequentialDescent.descend

    def watched(self, *arguments):
        nonlocal present, most
        with meeting:
            present += 1
            most = max(most, present)
            meeting.notify_all()
            meeting.wait_for(lambda: most >= expected, timeout=10)
        try:
            return descend(self, *arguments)
        finally:
            with meeting:
                present -= 1

    with patch.object(SequentialDescent, "descend", watched):
        return fit(KempeKMeans, max_mutations=3, **options), most


def threads_as_documented(*seen):
    """As many as asked for, and they change nothing."""
    threads, labels = zip(*seen, strict=True)
    return threads == (1, 1, 2, 4) and all(one == labels[0] for one in labels)


@case(KempeKMeans, "n_jobs", [None, 1, 2, 4], same=[(0, 1)], check=threads_as_documented)
def see_threads(_, value):
    params = MemeticParams(generation_size=4)
    model, threads = descending_threads(value or 1, params=params, n_jobs=value)
    return threads, model.labels_.tolist()


# Settings of the memetic search


def fit_with(shape=LOOSE, seed=0, max_mutations=None, **settings):
    params = MemeticParams(**settings)
    return fit(KempeKMeans, shape, seed, max_mutations=max_mutations, params=params)


@case(MemeticParams, "population_size", [2, 4, 6], wanted=int)
def see_population(_, value):
    """Clusterings that are started; all others come of them."""
    return count(fit_with(max_mutations=60, population_size=value, **HASTY), "start")


@case(MemeticParams, "annealed_population_size", [2, 4, 6], wanted=int)
def see_annealed_population(_, value):
    model = fit_with(max_mutations=20, annealing=True, annealed_population_size=value)
    return count(model, "start")


@case(MemeticParams, "enumerate_up_to", [0, 6, 7], wanted=lambda v: v >= 7, same=[(0, 1)])
def see_enumeration(_, value):
    """Four rows can be divided into two clusters in seven ways."""
    params = MemeticParams(enumerate_up_to=value)
    return count(KempeKMeans(2, params=params).fit([[0.0], [1.0], [3.0], [7.0]]), "enumerate") > 0


@case(MemeticParams, "generation_size", [1, 2, 4], wanted=int)
def see_generation(_, value):
    """Clusterings that are made side by side, if there are threads for them."""
    return descending_threads(value, params=MemeticParams(generation_size=value), n_jobs=4)[1]


def failed_relocations(**settings):
    """Relocations after which a clustering that cannot be improved is left."""
    params = MemeticParams(generation_size=1, **settings)
    model = KempeKMeans(4, params=params, max_mutations=500, random_state=0).fit(GROUPS)
    statistics = model.result_.statistics
    return statistics.iteration[statistics.kind.index("start", 1)] - 1


@case(MemeticParams, "extra_relocations", [0, 3, 20], wanted=lambda value: value + 4)
def see_extra_relocations(_, value):
    return failed_relocations(extra_relocations=value, relocations_per_cluster=1)


@case(MemeticParams, "relocations_per_cluster", [0, 0.6, 2], wanted=lambda v: 5 + math.ceil(4 * v))
def see_relocations_per_cluster(_, value):
    return failed_relocations(extra_relocations=5, relocations_per_cluster=value)


@case(MemeticParams, "extra_mutations", [0, 10, 30], wanted=lambda value: value + 4)
def see_extra_mutations(_, value):
    return fit_with(extra_mutations=value, mutations_per_cluster=1).result_.n_mutations


@case(MemeticParams, "mutations_per_cluster", [0, 2.6, 7], wanted=lambda v: 5 + math.ceil(4 * v))
def see_mutations_per_cluster(_, value):
    return fit_with(extra_mutations=5, mutations_per_cluster=value).result_.n_mutations


@case(MemeticParams, "agreement", [0, 1, 3, 5], wanted={0: 4 + 40, 1: 1, 3: 3, 5: 5}.get)
def see_agreement(_, value):
    """Clusterings of four groups, each of which is right at once, or else all mutations."""
    params = MemeticParams(
        generation_size=1, agreement=value, **HASTY, extra_mutations=40, mutations_per_cluster=1
    )
    result = KempeKMeans(4, params=params, random_state=0).fit(GROUPS).result_
    kinds = result.statistics.kind
    return kinds.count("start") + kinds.count("recombine") if value else result.n_mutations


def end_of_large(**settings):
    """Why the search of 120 rows ends, and after how many mutations."""
    params = MemeticParams(agreement=0, extra_mutations=300, mutations_per_cluster=0, **settings)
    return end(KempeKMeans(12, params=params, random_state=0).fit(SPREAD))


SPREAD = np.random.default_rng(5).normal(size=(120, 2))


@case(
    MemeticParams,
    "worthwhile",
    [0, 1e-9, 0.9],
    check=lambda never, little, much: (
        never == ("max_mutations", 300)
        and little[0] == much[0] == "diminishing_returns"
        and 48 <= much[1] < little[1] < 300
    ),
)
def see_worthwhile(_, value):
    return end_of_large(worthwhile=value, large_from=120)


@case(
    MemeticParams,
    "large_from",
    [0, 120, 121],
    wanted=lambda value: "diminishing_returns" if value <= 120 else "max_mutations",
    same=[(0, 1)],
)
def see_large(_, value):
    return end_of_large(large_from=value)[0]


def rounds_as_documented(without, one, many):
    ends = without[1], one[1], many[1]
    different = all(first != second for first, second in itertools.combinations(ends, 2))
    return different and (without[0], one[0]) == (1, 2) and 2 < many[0] <= 21


@case(MemeticParams, "saturation_rounds", [0, 1, 20], check=rounds_as_documented)
def see_rounds(_, value):
    """Most assignments in saturation order, and where descents from the last of them end."""
    assign, calls, inertia = _core.saturation_assignment, [], []
    for seed in range(8):
        with patch.object(_core, "saturation_assignment", side_effect=assign) as watched:
            model = fit_with(DENSE, seed, max_mutations=0, saturation_rounds=value)
        calls.append(watched.call_count)
        inertia.append(round(model.inertia_, 6))
    return max(calls), inertia


PENTAGON = [(row, (row + 1) % 5) for row in range(5)]


@case(
    MemeticParams,
    "exhaustive_start",
    [False, True],
    wanted=[NoSolutionFoundError, InfeasibleConstraintsError].__getitem__,
)
def see_failure(_, value):
    """What becomes of constraints that need one cluster more."""
    model = KempeKMeans(2, params=MemeticParams(exhaustive_start=value))
    with pytest.raises((NoSolutionFoundError, InfeasibleConstraintsError)) as failure:
        model.fit(np.eye(5), cannot_link=PENTAGON)
    return failure.type


@case(
    MemeticParams,
    "annealing",
    [None, True, False],
    wanted={None: (True, False), True: (False, False), False: (True, True)}.get,
)
def see_annealing(_, value):
    """Whether centroids are relocated, instead of annealing, on a loose and on a tight problem."""
    settings = {"annealing": value, "annealed_population_size": 3}
    loose, tight = (fit_with(shape, max_mutations=12, **settings) for shape in (LOOSE, TIGHT))
    return count(loose, "relocate") > 0, count(tight, "relocate") > 0


# Parameters of KSKM


@case(KSKM, "mwis", ["greedy", "spectral", "exact"])
def see_swaps(estimator, value):
    """Histories of several searches, in each of which many sets of chains are chosen."""
    options = {"mwis": value, "perturbation": 0.0}
    return [history(fit(estimator, DENSE, seed, **options)) for seed in range(8)]


def rotations_as_documented(without, rotated):
    return all(lower <= inertia for inertia, lower in zip(without, rotated, strict=True))


@case(KSKM, "three_colour", [False, True], check=rotations_as_documented)
def see_rotations(estimator, value):
    """Inertia of one descent, which rotations can only continue, for several problems."""
    options = {"three_colour": value, "max_mutations": 0}
    return [round(fit(estimator, DENSE, seed, **options).inertia_, 6) for seed in range(6)]


def first_relocation(**options):
    """A search, and how far its first relocation moves each centroid."""
    steps = []
    settle = SimultaneousDescent.settle

    def watched(self, context, colours, centroids):
        steps.append(np.linalg.norm(centroids - context.problem.means(colours)[0], axis=1))
        return settle(self, context, colours, centroids)

    with patch.object(SimultaneousDescent, "settle", watched):
        model = fit(KSKM, DENSE, perturbation=0.0, max_mutations=3, **options)
    return model, steps[1]  # the first settles the start


def relocations_as_documented(*seen):
    return [moved for moved, _ in seen] == [1, 2, 1, 10, 10]


KINDS = ["replace", "reposition", "coincide", "kmeans", "sdp"]


@case(KSKM, "relocation", KINDS, check=relocations_as_documented)
def see_relocation(_, value):
    """Number of centroids that move, and the history."""
    model, steps = first_relocation(relocation=value)
    return np.count_nonzero(steps > 1e-9), history(model)


def steps_as_documented(quarter, half, whole):
    return [quarter, half] == pytest.approx([whole / 4, whole / 2])


@case(KSKM, "alpha", [0.25, 0.5, 1.0], check=steps_as_documented)
def see_step(_, value):
    return first_relocation(alpha=value)[1].max()


@case(KSKM, "perturbation", [0.0, 0.5, 0.8, 1.0], wanted=float)
def see_perturbations(estimator, value):
    """Share of the mutations that perturb."""
    return count(fit(estimator, perturbation=value, max_mutations=10), "perturb") / 10


@case(KSKM, "failures_before_return", [1, 3, 100], wanted={1: 1, 3: 3}.get)
def see_returns(estimator, value):
    """Fewest failures after which a mutation set out from the best instead of the last."""
    origins = []
    perturb = kskm.perturb

    def watched(problem, colours, rng):
        origins.append(problem.inertia(colours))
        return perturb(problem, colours, rng)

    options = {"perturbation": 1.0, "max_mutations": 30, "failures_before_return": value}
    with patch.object(kskm, "perturb", watched):
        statistics = fit(estimator, DENSE, **options).result_.statistics
    returns, failures = [], 0
    for i in range(1, 30):
        failures = 0 if statistics.inertia[i] < statistics.best_inertia[i - 1] else failures + 1
        if origins[i] != statistics.inertia[i]:
            assert origins[i] == statistics.best_inertia[i]
            returns.append(failures)
            failures = 0
    return min(returns, default=None)


@case(KSKM, "after_perturbation", ["step", "settle"], wanted=lambda value: {value})
def see_following(estimator, value):
    """What the descent is asked for after a perturbation."""
    asked = set()

    def watched(name):
        ask = getattr(SimultaneousDescent, name)

        def note(self, *arguments):
            asked.add(name)
            return ask(self, *arguments)

        return patch.object(SimultaneousDescent, name, note)

    started = patch.object(kskm, "starting_solution", starting_colours)
    with started, watched("step"), watched("settle"):
        fit(estimator, DENSE, after_perturbation=value, perturbation=1.0, max_mutations=3)
    return asked


def starting_colours(context, centroids, descent, **options):
    """A first clustering for which no descent is asked."""
    return _core.saturation_assignment(context.problem.core, centroids)[0]


@case(KSKM, "habits", ["text", "program"], wanted={"text": set(), "program": {0, 1, 2, 3}}.get)
def see_habits(estimator, value):
    """Which of four habits of the authors' program a search has."""
    schedules = []

    def watched(context, start, descent, recorder, schedule, relocator):
        schedules.append((schedule, descent))
        return iterate(context, start, descent, recorder, schedule, relocator)

    iterate = kskm.iterate
    with patch.object(kskm, "iterate", watched):
        fit(estimator, DENSE, habits=value, max_mutations=1)
        fit(estimator, STICKY, habits=value, max_mutations=1, exact=True)
    (swaps, _), (exact, refined) = schedules
    assert not exact.relocate_first
    assert swaps.keep_returning == exact.keep_returning
    assert swaps.independent == exact.independent
    habits = (swaps.relocate_first, swaps.keep_returning, swaps.independent, refined.as_program)
    return {i for i, habit in enumerate(habits) if habit}


SOLVERS = {
    "solve_relaxation": relaxation,
    "solve_integer": branching,
    "solve_by_cpsat": branching,
    "solve_by_gurobi": branching,
}


@contextmanager
def watched_solvers():
    """Note the solvers that are asked."""
    asked = set()

    def watched(name, solve):
        def ask(*arguments, **options):
            asked.add(name)
            return solve(*arguments, **options)

        return ask

    with ExitStack() as patches:
        for name, module in SOLVERS.items():
            solve = watched(name, getattr(module, name))
            patches.enter_context(patch.object(module, name, solve))
        yield asked


def solvers_as_documented(without, default, auto, highs, cpsat, gurobi, *same):
    found = [result for _, result in (without, default, auto, highs, cpsat)]
    return (
        found == ["as swaps", "lower", "lower", "lower", "lower"]
        and without[0] == set()
        and default == auto
        and auto[0] >= {"solve_relaxation", "solve_by_cpsat"}
        and highs[0] <= {"solve_relaxation", "solve_integer"}
        and cpsat[0] == {"solve_by_cpsat"}
        and gurobi[0] == {"solve_by_gurobi"}
        and gurobi[1] in ("lower", "not installed")
    )


EXACT = [False, True, "auto", "highs", "cpsat", "gurobi", ExactParams(), ExactParams("cpsat")]


@case(KSKM, "exact", EXACT, same=[(1, 2), (1, 6), (2, 6), (4, 7)], check=solvers_as_documented)
def see_solvers(estimator, value):
    """Solvers that are asked, and what comes of it."""
    swaps = fit(estimator, STICKY, max_mutations=0).inertia_
    with watched_solvers() as asked:
        try:
            inertia = fit(estimator, STICKY, max_mutations=0, exact=value).inertia_
        except ImportError:
            return asked, "not installed"
    return asked, "lower" if inertia < swaps * (1 - 1e-6) else "as swaps"


@case(ExactParams, "solver", ["auto", "highs", "cpsat", "gurobi"])
def see_named_solvers(_, value):
    return see_solvers(KSKM, ExactParams(value))


@case(ExactParams, "annealing", [True, False], wanted=bool)
def see_annealing_of_assignments(_, value):
    """Whether anything is annealed."""
    with patch.object(_core, "anneal", side_effect=_core.anneal) as watched:
        fit(KSKM, TIGHT, exact=ExactParams(annealing=value), max_mutations=3)
    return watched.called


@case(ExactParams, "relocate_if_tight", [True, False], wanted={True: 0, False: 4}.get)
def see_perturbations_if_tight(_, value):
    exact = ExactParams(relocate_if_tight=value)
    return count(fit(KSKM, TIGHT, exact=exact, max_mutations=5), "perturb")


@case(ExactParams, "tabu_start", [True, False], wanted=bool)
def see_tabu(_, value):
    """Whether a clustering that saturation order does not find is searched by colouring."""
    with patch.object(first_colouring, "colour_or_explain", wraps=colour_or_explain) as watched:
        for seed in range(4):
            fit(KSKM, TIGHT, seed, exact=ExactParams(tabu_start=value), max_mutations=0)
    return watched.called


def told_to_assignments(option, **options):
    """What the exact assignments of a fit are told."""
    told = set()
    solve = ExactAssigner.solve

    def watched(self, *arguments, **given):
        told.add(given[option])
        return solve(self, *arguments, **given)

    with patch.object(ExactAssigner, "solve", watched):
        fit(KSKM, STICKY, exact=ExactParams(**options))
    return told


@case(ExactParams, "nonempty", [False, True], wanted=lambda value: {value})
def see_nonempty(_, value):
    return told_to_assignments("nonempty", nonempty=value)


@case(ExactParams, "effort", [0.125, 2.0, None], wanted=lambda value: value or math.inf)
def see_effort(_, value):
    return max(told_to_assignments("effort", effort=value))


# Parameters of the rivals


@case([BLPKMCC, PCCC, S_MDEClust], "kempe_swaps", [True, False], wanted=bool)
def see_kempe_swaps(estimator, value):
    """Whether Kempe chains improve what the solver starts from."""
    with patch.object(_core, "chain_descent", side_effect=_core.chain_descent) as watched:
        fit(estimator, SMALL, kempe_swaps=value)
    return watched.called


@case(PCCC, "quality", ["sqeuclidean", "euclidean"])
def see_quality(estimator, value):
    """Steps of the descents on several problems: plain distances may rise while squared fall."""
    shape = {"n": 40, "k": 5, "density": 0.1}
    return [fit(estimator, shape, seed, quality=value).n_iter_ for seed in range(7)]


def iterations_as_documented(one, two, many):
    return (one, two) == (("max_iter", 1), ("max_iter", 2)) and many[0] == "converged"


@case(ALTERNATING, "max_iter", [1, 2, 300], check=iterations_as_documented)
def see_iterations(estimator, value):
    model = fit(estimator, max_iter=value)
    return model.result_.stop_reason, model.n_iter_


@case(
    BLPKMCC,
    "metric",
    ["sqeuclidean", "euclidean"],
    wanted={"sqeuclidean": [1, 1, 1, 0, 1], "euclidean": [0, 0, 0, 0, 1]}.get,
)
def see_metric(estimator, value):
    """Three rows are one supernode. Plain distances to 0 and 4: 10 and 14; squared: 100 and 68."""
    model = estimator(2, metric=value, init=[[0.0], [4.0]], max_iter=1)
    X = [[0.0], [0.0], [10.0], [0.0], [4.0]]
    return model.fit(X, must_link=[(0, 1), (1, 2)]).labels_.tolist()


@case([COPKM, COPKM_P, CLCKM, ICOPKM], "until", ["clusters", "inertia"])
def see_until(estimator, value):
    """Iterations of several problems: those on which the inertia rises end earlier."""
    iterations = [fit(estimator, seed=seed, until=value).n_iter_ for seed in range(30)]
    return sum(iterations)


@case(
    COPKM_P,
    "cliques",
    ["greedy", "optimal"],
    wanted={"greedy": [0, 1, 0, 1], "optimal": [1, 0, 0, 1]}.get,
)
def see_cliques(estimator, value):
    """Row 0 comes first and takes the left cluster, where row 1, which is apart, gains more."""
    model = estimator(2, cliques=value, init=[[0.0], [10.0]], max_iter=1)
    X = [[4.0], [1.0], [0.0], [10.0]]
    return model.fit(X, cannot_link=[(0, 1)]).labels_.tolist()


@case(ICOPKM, "n_runs", [1, 3, 10])
def see_runs(estimator, value):
    """Clusterings of several problems, as the order that comes of so many runs has it."""
    labels = []
    for seed in range(6):
        with patch.object(icopkm, "certainty", side_effect=icopkm.certainty) as watched:
            labels.append(fit(estimator, seed=seed, n_runs=value).labels_.tolist())
        assert watched.call_count == value
    return labels


@case(PCCC, "n_nearest", [1, 2, None], wanted={1: 5.0, 2: 2.0, None: 0.0}.get)
def see_nearest(estimator, value):
    """Confidence of the violated pairs.

    With the nearest centroid alone neither pair can be kept. With two, a violation of confidence 1
    costs 50, so that of (0, 1) costs more than the 100 of keeping it, and that of (0, 2) less than
    its 200. With all three it costs 133.
    """
    model = estimator(3, n_nearest=value, init=[[0.0], [10.0], [20.0]], repositioning=None)
    pairs = {"soft_must_link": [(0, 1), (0, 2)], "soft_must_link_confidence": [3.0, 2.0]}
    return model.fit([[0.0], [10.0], [20.0]] * 2, **pairs).soft_violation_


def repositioning_as_documented(*seen):
    moved = [any("reposition" in dict(one) for one in histories) for histories in seen]
    return moved == [False, True, True]


@case(PCKMeans, "entailed", [True, False], wanted={True: [0, 0, 0], False: [0, 0, 1]}.get)
def see_entailed(estimator, value):
    """Row 2 is tied to row 1, which is tied to row 0: what follows ties it to row 0 as well."""
    model = estimator(2, entailed=value, soft_price=40.0, init=[[0.0], [8.0]], random_state=0)
    X = [[0.0], [0.0], [8.0], [8.0]]
    return model.fit(X, soft_must_link=[(0, 1), (1, 2)]).labels_[:3].tolist()


@case(PCKMeans, "soft_price", [None, 1e6], wanted={None: 1.0, 1e6: 0.0}.get)
def see_price_of_greedy_violations(estimator, value):
    model = estimator(2, soft_price=value, init=[[0.0], [10.0]], random_state=0)
    return model.fit([[0.0], [0.0], [10.0]], soft_cannot_link=[(0, 1)]).soft_violation_


@case(PCCC, "soft_price", [None, 1e6], wanted={None: 1.0, 1e6: 0.0}.get)
def see_plain_price(estimator, value):
    """Confidence of the violated pairs: one, which to keep costs a hundred and is worth fifty."""
    model = estimator(2, soft_price=value, init=[[0.0], [10.0]], repositioning=None)
    return model.fit([[0.0], [0.0], [10.0]], soft_cannot_link=[(0, 1)]).soft_violation_


@case(PCCC, "repositioning", [None, "inertia", "violations"], check=repositioning_as_documented)
def see_repositioning(_, value):
    """Histories on problems with soft pairs, some of which are violated."""
    seen = []
    for seed in range(4):
        problem, _ = random_problem(seed, n=24, density=0.0, merged=0)
        pairs = np.random.default_rng(seed).integers(12, size=(15, 2)) + np.array([0, 12])
        model = PCCC(4, repositioning=value, random_state=0)
        model.fit(problem.rows, soft_cannot_link=pairs, soft_cannot_link_confidence=0.1)
        seen.append(history(model))
    return seen


@case([BLPKMCC, PCCC], "assignment_time_limit", [None, 1e-6])
def see_assignments(estimator, value):
    """The history; what is not optimal in no time is not what an optimal assignment leads to."""
    return history(fit(estimator, STICKY, assignment_time_limit=value))


@case(S_MDEClust, "population_size", [4, 6], wanted=int)
def see_members(estimator, value):
    return count(fit(estimator, population_size=value), "member")


def generations_as_documented(none, two, unlimited):
    return (none, two) == (("max_generations", 0), ("max_generations", 8)) and (
        unlimited[0] == "patience" and unlimited[1] >= 30
    )


@case(S_MDEClust, "max_generations", [0, 2, None], check=generations_as_documented)
def see_generations(estimator, value):
    """Why the search ended, and the number of offspring."""
    model = fit(estimator, max_generations=value, patience=30, population_tol=0.0)
    return model.result_.stop_reason, count(model, "offspring")


@case(S_MDEClust, "assignment", ["exact", "greedy"])
def see_assignment(estimator, value):
    """Histories with mutation, which alone needs this assignment, of several problems."""
    options = {"assignment": value, "mutation": True}
    return [history(fit(estimator, SMALL, seed, **options)) for seed in range(4)]


@case(S_MDEClust, "mutation", [False, True])
def see_mutation(estimator, value):
    return history(fit(estimator, SMALL, mutation=value))


@case(S_MDEClust, "scale", [0.5, (0.5, 0.5), (0.0, 2.0), 2.0], same=[(0, 1)])
def see_scale(estimator, value):
    return history(fit(estimator, SMALL, scale=value))


@case(S_MDEClust, "patience", [4, 12, 5000], wanted={4: 4, 12: 12, 5000: "max_generations"}.get)
def see_offspring(estimator, value):
    """Offspring since the last better one; populations of four end with a generation."""
    model = fit(estimator, patience=value, max_generations=20, population_tol=0.0)
    since = fruitless(model)
    return since if isinstance(since, str) else value * (value <= since < value + 4)


@case(S_MDEClust, "tol", [0.0, 5.0])
def see_tolerance(estimator, value):
    """Histories: offspring hardly better do not change members."""
    options = {"tol": value, "max_generations": 4}
    return [history(fit(estimator, SMALL, seed, **options)) for seed in range(4)]


@case(
    S_MDEClust,
    "population_tol",
    [0.0, 1e9],
    wanted={0.0: "max_generations", 1e9: "converged"}.get,
)
def see_population_tolerance(estimator, value):
    """Why the search ended."""
    return fit(estimator, population_tol=value).result_.stop_reason


# The tests


def choices(estimator, parameter):
    """Strings, booleans and None, as far as a parameter takes them."""
    if estimator in SETTINGS:
        hint = get_type_hints(estimator)[parameter]
        kinds = get_args(hint) or (hint,)
        texts = [kind for kind in kinds if isinstance(kind, str)]
        return [True, False] * (bool in kinds) + [None] * (type(None) in kinds) + texts
    found = []
    for allowed in estimator._parameter_constraints[parameter]:
        if isinstance(allowed, StrOptions):
            found += sorted(allowed.options)
        elif isinstance(allowed, str):
            found += {"boolean": [True, False], "random_state": [None]}.get(allowed, [])
        elif allowed is None:
            found.append(None)
    return found


def spelled(value):
    return value.__name__ if isinstance(value, type) else value


def test_every_parameter_has_a_case():
    signatures = {item: inspect.signature(item).parameters for item in [*ESTIMATORS, *SETTINGS]}
    assert set(CASES) == {(item, name) for item, names in signatures.items() for name in names}


def test_every_choice_has_a_case():
    tried = {key: {repr(value) for value in case.values} for key, case in CASES.items()}
    missing = [(*key, c) for key in CASES for c in choices(*key) if repr(c) not in tried[key]]
    assert missing == []


@pytest.mark.parametrize(("estimator", "parameter"), CASES, ids=spelled)
def test_every_value_acts_as_documented(estimator, parameter):
    values, see, wanted, check, same = CASES[estimator, parameter]
    seen = [see(estimator, value) for value in values]
    if wanted is not None:
        assert seen == [wanted(value) for value in values]
    if check is not None:
        assert check(*seen), seen
    for i, j in itertools.combinations(range(len(values)), 2):
        assert (seen[i] == seen[j]) == ((i, j) in same), f"{values[i]!r} and {values[j]!r}"


def test_minus_one_job_is_a_thread_for_every_core():
    expected = min(4, effective_n_jobs(-1))
    _, threads = descending_threads(expected, params=MemeticParams(generation_size=4), n_jobs=-1)
    assert threads == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("effort", 2.0), ("annealing", False), ("relocate_if_tight", True), ("nonempty", True)],
)
def test_parameters_of_old_are_refused_with_the_place_where_they_are_now(name, value):
    with pytest.raises(TypeError, match=rf"KSKM\(exact=ExactParams\({name}={value}\)\)"):
        KSKM(3, exact=True, **{name: value})


@pytest.mark.parametrize("wrong", [{"solver": "cplex"}, {"effort": 0.0}, {"effort": math.nan}])
def test_settings_of_exact_assignments_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ExactParams(**wrong)


def test_with_exact_assignment_every_mutation_relocates_where_constraints_are_tight():
    for shape, perturbations in ((STICKY, 2), (TIGHT, 0)):
        model = fit(KSKM, shape, exact="cpsat", perturbation=1.0, max_mutations=2)
        assert count(model, "perturb") == perturbations


@pytest.mark.parametrize(
    "call",
    [
        lambda X, limit: KempeKMeans(2, time_limit=limit).fit(X),
        lambda X, limit: KSKM(2, time_limit=limit).fit(X),
        lambda X, limit: kempe.certify(X, n_clusters=2, time_limit=limit),
        lambda X, limit: kempe.relax(X, n_clusters=2, cannot_link=[(0, 1)], time_limit=limit),
        lambda X, limit: kempe.Constraints([], [(0, 1)]).check(2, time_limit=limit),
    ],
    ids=["KempeKMeans", "KSKM", "certify", "relax", "check"],
)
def test_limits_beyond_all_doubles_are_limits_and_what_is_none_is_refused(call):
    X = np.random.default_rng(0).normal(size=(12, 2))
    call(X, 10**400)
    for wrong in (-1, float("nan"), "soon"):
        with pytest.raises(ValueError, match="time_limit"):
            call(X, wrong)
