"""Tiny problems of every kind that gives trouble, and what every method promises about them.

The property tests, the fuzzer and the stored regressions all take their problems and their checks
from here.
"""

from __future__ import annotations

import faulthandler
import itertools
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kempe import Constraints, InfeasibleConstraintsError, NoSolutionFoundError, methods, relax
from kempe.engine import MemeticParams

Pair = tuple[int, int]

LARGE = 10**6
"""So many values of supernodes are large to the kernels, see Instance::is_large."""


@dataclass(frozen=True)
class TinyProblem:
    """Data, pairs, number of clusters and seed, all of it plain enough for JSON."""

    X: list[list[float]]
    n_clusters: int
    must_link: Sequence[Pair] = ()
    cannot_link: Sequence[Pair] = ()
    weights: list[float] | None = None
    seed: int = 0
    dtype: str = "float64"
    # What the default alone knows: pairs that may be broken at a price, and sizes of clusters.
    soft_must_link: Sequence[Pair] = ()
    soft_cannot_link: Sequence[Pair] = ()
    soft_price: float | None = None
    size_min: int | list[int] | None = None
    size_max: int | list[int] | None = None
    # Zeros beside the rows make it as large as data that goes its own way.
    as_large: bool = False

    @property
    def data(self) -> NDArray[Any]:
        return np.array(self.X, dtype=self.dtype)

    @property
    def given(self) -> NDArray[Any]:
        """The data as methods get it."""
        data = self.data
        if not self.as_large:
            return data
        n_features = LARGE // len(set(self.group)) + 1
        return np.pad(data, ((0, 0), (0, n_features - data.shape[1])))

    @property
    def constraints(self) -> Constraints:
        return Constraints(
            self.must_link or None,
            self.cannot_link or None,
            soft_must_link=self.soft_must_link or None,
            soft_cannot_link=self.soft_cannot_link or None,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of an estimator that belong to the problem."""
        own = {"size_min": self.size_min, "size_max": self.size_max, "soft_price": self.soft_price}
        return {name: value for name, value in own.items() if value is not None}

    @property
    def limits(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Fewest and most rows of each cluster."""
        least = np.full(self.n_clusters, 1) if self.size_min is None else np.array(self.size_min)
        most = np.array(len(self.X) if self.size_max is None else self.size_max)
        both = np.broadcast_arrays(np.maximum(least, 1), most, np.empty(self.n_clusters))
        return both[0], both[1]

    @property
    def group(self) -> list[int]:
        """For each row the first row that it is must-linked to, itself if there is none."""
        group = list(range(len(self.X)))
        for a, b in self.must_link:
            low, high = sorted((group[a], group[b]))
            group = [low if g == high else g for g in group]
        return group

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> TinyProblem:
        return cls(**content)


# How each method is run where a fit must be short. Together they have every method, and those
# parts of the default and of KSKM that tiny problems would not reach otherwise.
_SEARCHING = {"params": MemeticParams(enumerate_up_to=0)}
_ANNEALING = {"params": MemeticParams(enumerate_up_to=0, annealing=True), "max_mutations": 3}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "kempe": ("kempe", {}),
    "kempe, searching": ("kempe", _SEARCHING),
    "kempe, annealing": ("kempe", _ANNEALING),
    "KSKM": ("KSKM", {"max_mutations": 20}),
    "KSKM, three colours": ("KSKM", {"max_mutations": 8, "three_colour": True, "mwis": "exact"}),
    "KSKM_repo": ("KSKM_repo", {"max_mutations": 20}),
    "KSKM_E": ("KSKM_E", {"max_mutations": 5}),
    "KSKM_E_repo": ("KSKM_E_repo", {"max_mutations": 5}),
    "KSKM_text": ("KSKM_text", {"max_mutations": 20}),
    "KSKM_repo_text": ("KSKM_repo_text", {"max_mutations": 20}),
    "KSKM_E_text": ("KSKM_E_text", {"max_mutations": 5}),
    "KSKM_E_repo_text": ("KSKM_E_repo_text", {"max_mutations": 5}),
    "PCCC": ("PCCC", {}),
    "PCCC_squared": ("PCCC_squared", {}),
    "PCKMeans": ("PCKMeans", {}),
    "BLPKMCC": ("BLPKMCC", {}),
    "BLPKMCC_plain": ("BLPKMCC_plain", {}),
    "IPC_KMeans": ("IPC_KMeans", {}),
    "COPKM_P": ("COPKM_P", {}),
    "COPKM": ("COPKM", {}),
    "COPKM_P_text": ("COPKM_P_text", {}),
    "COPKM_text": ("COPKM_text", {}),
    "ICOPKM": ("ICOPKM", {"n_runs": 3}),
    "CLCKM": ("CLCKM", {}),
    "S_MDEClust": ("S_MDEClust", {"population_size": 4, "max_generations": 1}),
}

# These may find nothing where there is something: nothing is taken back, or no search goes on.
MAY_FIND_NOTHING = {
    *("KSKM", "KSKM_repo", "KSKM_text", "KSKM_repo_text"),
    *("COPKM", "COPKM_P", "COPKM_text", "COPKM_P_text", "ICOPKM", "CLCKM", "PCKMeans"),
}


@dataclass(frozen=True)
class Outcome:
    """What a fit ended with: labels and inertia, or the kind of error."""

    labels: tuple[int, ...] = ()
    inertia: float = np.inf
    n_iter: int = 0
    error: str = ""


def fit(variant: str, problem: TinyProblem, **changes: Any) -> Outcome:
    """Fit one method; errors that are part of the interface are outcomes, others are raised."""
    name, options = VARIANTS[variant]
    model = methods.create(
        name,
        problem.n_clusters,
        random_state=problem.seed,
        **{**problem.settings, **options, **changes},
    )
    try:
        with no_longer_than(20):
            model.fit(problem.given, constraints=problem.constraints, sample_weight=problem.weights)
    except (InfeasibleConstraintsError, NoSolutionFoundError) as error:
        return Outcome(error=type(error).__name__)
    return Outcome(tuple(model.labels_.tolist()), model.inertia_, model.n_iter_)


@contextmanager
def no_longer_than(cpu_seconds: float) -> Iterator[None]:
    """Raise ``TimeoutError`` in the main thread after so much work of the processor.

    Kernels notice signals. One that does not is ended, with the process, and shows where it hung.
    """
    alone = threading.current_thread() is threading.main_thread()
    if not alone or not hasattr(signal, "SIGPROF"):  # Windows
        yield
        return

    def ring(number: int, frame: object) -> None:
        raise TimeoutError(f"not finished after {cpu_seconds} seconds of processor time")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    faulthandler.dump_traceback_later(30 * cpu_seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# What is true of a problem, by the slow and obvious way.


def exact_inertia(problem: TinyProblem, labels: Sequence[int]) -> float:
    """Inertia in rational arithmetic, without any rounding but the last."""
    rows = [[Fraction(x) for x in row] for row in problem.data.astype(np.float64).tolist()]
    weights = [Fraction(w) for w in problem.weights or [1.0] * len(rows)]
    total = Fraction(0)
    for cluster in set(labels):
        members = [i for i, label in enumerate(labels) if label == cluster]
        weight = sum(weights[i] for i in members)
        for column in range(len(rows[0])):
            if weight:
                mean = sum(weights[i] * rows[i][column] for i in members) / weight
                total += sum(weights[i] * (rows[i][column] - mean) ** 2 for i in members)
    return float(total)


def rounding(problem: TinyProblem, inertia: float) -> float:
    """How far a computed inertia may be from the true one.

    Data is centred in its own type, so each point moves by up to ``delta``.
    """
    data = problem.data.astype(np.float64)
    reach = float(np.abs(data - data.mean(axis=0)).max()) * np.sqrt(data.shape[1])
    delta = 4 * float(np.finfo(problem.dtype).eps) * reach
    weight = float(sum(problem.weights or [1.0] * len(data)))
    return 2 * float(np.sqrt(inertia * weight)) * delta + weight * delta**2 + 1e-12 * inertia


def feasible_labellings(problem: TinyProblem) -> NDArray[np.int64]:
    """All labellings that satisfy the pairs and leave no cluster empty, each partition once."""
    group = problem.group
    firsts = sorted(set(group))
    place = {row: position for position, row in enumerate(firsts)}
    apart = {frozenset((place[group[a]], place[group[b]])) for a, b in problem.cannot_link}
    k = problem.n_clusters
    found: list[list[int]] = [[]]
    for position in range(len(firsts)):
        found = [
            [*colours, c]
            for colours in found
            for c in range(min(k, max(colours, default=-1) + 2))
            if all(colours[u] != c or {u, position} not in apart for u in range(position))
            and {position} not in apart
        ]
    complete = [colours for colours in found if max(colours, default=-1) == k - 1]
    every = np.array(complete, dtype=np.int64).reshape(-1, len(firsts))[
        :, [place[g] for g in group]
    ]
    return every[[can_be_named(problem, np.bincount(labels)) for labels in every]]


def can_be_named(problem: TinyProblem, sizes: NDArray[np.int64]) -> bool:
    """Whether parts of these sizes can be given to clusters, so that each keeps its limits."""
    if problem.size_min is None and problem.size_max is None:
        return True
    least, most = problem.limits
    breaks = (sizes[:, None] < least) | (sizes[:, None] > most)
    return not breaks[linear_sum_assignment(breaks)].any()


def broken_price(problem: TinyProblem, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the soft pairs cost that labels break, each row of which is a labelling."""
    total = np.zeros(len(labels))
    for pairs, wants in ((problem.soft_must_link, True), (problem.soft_cannot_link, False)):
        for a, b in pairs:
            total += (problem.soft_price or 0.0) * ((labels[:, a] == labels[:, b]) != wants)
    return total


def optimum(problem: TinyProblem) -> float:
    """Lowest inertia over all feasible labellings, soft pairs included; infinite if none is."""
    every = feasible_labellings(problem)
    if not len(every):
        return np.inf
    data = problem.data.astype(np.float64)
    data = data - data.mean(axis=0)
    weights = np.ones(len(data)) if problem.weights is None else np.array(problem.weights)
    member = every[:, :, None] == np.arange(problem.n_clusters)
    weight = member.transpose(0, 2, 1) @ weights
    sums = member.transpose(0, 2, 1) @ (weights[:, None] * data)
    means = np.divide(sums, weight[..., None], out=np.zeros_like(sums), where=weight[..., None] > 0)
    own = np.take_along_axis(means, every[:, :, None], axis=1)
    inertia = (weights * ((data - own) ** 2).sum(axis=2)).sum(axis=1)
    return float((inertia + broken_price(problem, every)).min())


# What every method promises.


def check_promises(variant: str, problem: TinyProblem, outcome: Outcome, best: float) -> None:
    """Raise ``AssertionError`` where an outcome breaks a promise; ``best`` is the optimum."""
    name = VARIANTS[variant][0]
    if outcome.error == "InfeasibleConstraintsError":
        assert best == np.inf, f"refused, but {best} can be reached"
        return
    if outcome.error:
        assert name in MAY_FIND_NOTHING or best == np.inf, f"nothing found, but {best} exists"
        return
    assert best < np.inf, "a clustering of what has none"
    check_labels(problem, outcome)
    if variant == "kempe":
        assert is_optimal(problem, outcome, best), f"{outcome.inertia} instead of {best}"


def check_relaxed(problem: TinyProblem) -> None:
    """Raise ``AssertionError`` where ``relax`` gives up too many pairs, or proves too much."""
    with no_longer_than(20):
        found = relax(
            problem.data,
            problem.constraints,
            problem.n_clusters,
            sample_weight=problem.weights,
            random_state=problem.seed,
        )
    assert found.verify(), "a pair that is kept does not hold, or a proof is none"
    assert found.n_given_up == least_given_up(problem), "not the fewest pairs"
    assert found.lower_bound <= found.cost, "a bound above what was given up"


def least_given_up(problem: TinyProblem) -> int:
    """Fewest pairs that any clustering breaks, by looking at all of them."""
    every: list[list[int]] = [[]]
    for _ in problem.X:
        every = [
            [*labels, c]
            for labels in every
            for c in range(min(problem.n_clusters, max(labels, default=-1) + 2))
        ]
    labels = np.array(every)
    broken = np.zeros(len(labels), dtype=np.int64)
    for pairs, wants in ((problem.must_link, True), (problem.cannot_link, False)):
        for a, b in pairs:
            broken += (labels[:, a] == labels[:, b]) != wants
    return int(broken.min())


def check_labels(problem: TinyProblem, outcome: Outcome) -> None:
    """Raise ``AssertionError`` where labels are no clustering, or not of the inertia they claim."""
    labels = outcome.labels
    assert all(labels[a] == labels[b] for a, b in problem.must_link), "violated must-link pair"
    assert all(labels[a] != labels[b] for a, b in problem.cannot_link), "violated cannot-link pair"
    assert set(labels) == set(range(problem.n_clusters)), "an empty cluster"
    sizes = np.bincount(labels)
    assert (sizes >= problem.limits[0]).all(), "a cluster is too small"
    assert (sizes <= problem.limits[1]).all(), "a cluster is too large"
    true = exact_inertia(problem, labels)
    assert abs(outcome.inertia - true) <= rounding(problem, true), "inertia is not that of labels"


def is_optimal(problem: TinyProblem, outcome: Outcome, best: float) -> bool:
    """Whether the inertia, with what broken soft pairs cost, is the lowest, up to rounding."""
    reached = outcome.inertia + float(broken_price(problem, np.array([outcome.labels]))[0])
    return reached <= best + 2 * rounding(problem, best)


# Where problems come from.


def _lattice() -> st.SearchStrategy[float]:
    """Few values, so that points coincide and distances tie."""
    return st.integers(0, 2).map(float)


def _scattered() -> st.SearchStrategy[float]:
    """Values in general position, nearly always; what is drawn has few digits, so it shrinks."""
    return st.integers(-1000, 1000).map(lambda i: i / 64)


SCALES = (1.0, 1e-12, 1e12, 0.1, 2.0**-40)
OFFSETS = (0.0, 1e8, -3.7)


@st.composite
def data(draw: st.DrawFn, n_rows: int, *, plain: bool = False) -> list[list[float]]:
    """Points on a lattice or scattered; unless plain, scaled, far from zero, a column constant."""
    n_features = draw(st.integers(1, 3))
    value = _scattered() if plain or draw(st.booleans()) else _lattice()
    row = st.lists(value, min_size=n_features, max_size=n_features)
    X = np.array(draw(st.lists(row, min_size=n_rows, max_size=n_rows)))
    if plain:
        return X.tolist()
    if draw(st.integers(0, 4)) == 1:
        X[:, -1] = 7.3
    X = X * draw(st.sampled_from(SCALES)) + draw(st.sampled_from(OFFSETS))
    return X.tolist()


@st.composite
def few_distinct(draw: st.DrawFn, n_rows: int) -> list[list[float]]:
    """Two or three distinct rows, near each other and perhaps far from zero."""
    n_features = draw(st.integers(1, 2))
    row = st.lists(_scattered(), min_size=n_features, max_size=n_features)
    rows = draw(st.lists(row, min_size=1, max_size=3))
    which = draw(st.lists(st.integers(0, len(rows) - 1), min_size=n_rows, max_size=n_rows))
    shift = draw(st.sampled_from((0.0, 1e9, -3.7, 1e-9)))
    return [[value + shift for value in rows[i]] for i in which]


@st.composite
def mixed_magnitudes(draw: st.DrawFn, n_rows: int) -> list[list[float]]:
    """Numbers of which some are a million times as large as others."""
    n_features = draw(st.integers(1, 3))
    value = st.tuples(st.integers(-9, 9), st.integers(-6, 6)).map(lambda v: v[0] * 10.0 ** v[1])
    row = st.lists(value, min_size=n_features, max_size=n_features)
    return draw(st.lists(row, min_size=n_rows, max_size=n_rows))


@st.composite
def many_features(draw: st.DrawFn, n_rows: int) -> list[list[float]]:
    """More features than any loop over them was unrolled for."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features = draw(st.sampled_from((17, 49, 65, 200)))
    return (rng.integers(-4, 5, size=(n_rows, n_features)) / 4).tolist()


ROWS = {
    "few distinct rows": few_distinct,
    "mixed magnitudes": mixed_magnitudes,
    "many features": many_features,
}
"""Where the rows of a family of problems come from."""


@st.composite
def crowded(draw: st.DrawFn, most_rows: int) -> TinyProblem:
    """More rows than can be enumerated, few of them distinct, and pairs that some labels obey."""
    n_rows, k = draw(st.integers(8, most_rows)), draw(st.integers(2, 5))
    hidden = [i % k for i in range(n_rows)]
    row = st.integers(0, n_rows - 1)
    pairs = draw(st.lists(st.tuples(row, row), max_size=2 * n_rows))
    weights = draw(st.none() | st.lists(st.floats(0.25, 1.0), min_size=n_rows, max_size=n_rows))
    return TinyProblem(
        draw(few_distinct(n_rows)),
        k,
        cannot_link=[(a, b) for a, b in pairs if hidden[a] != hidden[b]],
        weights=weights,
        seed=draw(st.integers(0, 99)),
    )


@st.composite
def cannot_links(draw: st.DrawFn, n_rows: int, n_clusters: int) -> list[Pair]:
    """From no pair to all pairs: random, bipartite, k-partite and one part more."""
    every = list(itertools.combinations(range(n_rows), 2))
    kind = draw(st.sampled_from(["none", "some", "parts", "many", "all"]))
    if kind == "none" or not every:
        return []
    if kind == "all":
        return every
    if kind == "parts":
        parts = draw(st.sampled_from([2, n_clusters, n_clusters + 1]))
        hidden = draw(st.lists(st.integers(0, parts - 1), min_size=n_rows, max_size=n_rows))
        return [(a, b) for a, b in every if hidden[a] != hidden[b]]
    most = n_rows if kind == "some" else 3 * n_rows
    return draw(st.lists(st.sampled_from(every), max_size=most))  # with duplicates


@st.composite
def must_links(draw: st.DrawFn, n_rows: int) -> list[Pair]:
    """Nothing, a few pairs (of a row with itself, too), or a chain."""
    kind = draw(st.sampled_from(["none", "none", "pairs", "chain"]))
    row = st.integers(0, n_rows - 1)
    if kind == "pairs":
        return draw(st.lists(st.tuples(row, row), max_size=3))
    if kind == "chain":
        length = draw(st.integers(1, n_rows))
        return [(i, i + 1) for i in range(length - 1)]
    return []


@st.composite
def tiny_problems(
    draw: st.DrawFn,
    most_rows: int = 7,
    *,
    least_rows: int = 1,
    plain: bool = False,
    rows: str = "",
    spare: int | None = None,
) -> TinyProblem:
    """Problems with at least as many groups of rows as clusters and some weight.

    ``rows`` is a name in ``ROWS``; ``spare`` bounds by how much the groups exceed the clusters.
    """
    n_rows = draw(st.integers(least_rows, most_rows))
    X = draw(ROWS[rows](n_rows) if rows else data(n_rows, plain=plain))
    bare = TinyProblem(X, 1, draw(must_links(n_rows)))
    groups = len(set(bare.group))
    least = 1 if spare is None else max(1, groups - spare)
    k = draw(st.one_of(st.integers(least, groups), st.just(groups), st.just(least)))
    weights = None
    if draw(st.integers(0, 2)) == 1:
        weights = draw(
            st.lists(st.sampled_from([0.0, 1.0, 0.3, 5.0]), min_size=n_rows, max_size=n_rows)
        )
        weights = weights if any(weights) else None
    return replace(
        bare,
        n_clusters=k,
        cannot_link=draw(cannot_links(n_rows, k)),
        weights=weights,
        seed=draw(st.integers(0, 99)),
        dtype="float64" if plain else draw(st.sampled_from(["float64", "float64", "float32"])),
    )


def as_large(problem: TinyProblem) -> TinyProblem:
    """Make the same problem as large as data that goes its own way."""
    return replace(problem, as_large=True)


@st.composite
def limits(draw: st.DrawFn, low: int, high: int, n_clusters: int) -> int | list[int] | None:
    """No limit, one for all clusters or one for each, between two numbers of rows."""
    value = st.integers(low, max(low, high))
    each = st.lists(value, min_size=n_clusters, max_size=n_clusters)
    return draw(st.none() | value | each)


@st.composite
def limited_and_soft(draw: st.DrawFn, most_rows: int = 9, *, rows: str = "") -> TinyProblem:
    """Hard pairs, soft pairs and limits on sizes, each of which may be missing."""
    bare = draw(tiny_problems(most_rows, rows=rows))
    n, k = len(bare.X), bare.n_clusters
    data = bare.data.astype(np.float64)
    spread = float(((data - data.mean(axis=0)) ** 2).sum()) / n or 1.0
    row = st.integers(0, n - 1)
    pairs = st.lists(st.tuples(row, row).filter(lambda pair: pair[0] != pair[1]), max_size=6)
    size_min = draw(limits(0, n // k, k))
    least = 1 if size_min is None else int(np.max(size_min))
    return replace(
        bare,
        soft_must_link=draw(pairs if n > 1 else st.just([])),
        soft_cannot_link=draw(pairs if n > 1 else st.just([])),
        soft_price=spread * draw(st.sampled_from((0.01, 0.3, 1.0, 7.0))),
        size_min=size_min,
        size_max=draw(limits(max(1, least, n // k), n, k)),
    )
