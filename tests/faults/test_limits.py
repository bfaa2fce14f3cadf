"""A time limit holds for every method and every kind of problem, but for the step it falls into."""

from __future__ import annotations

import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kempe import Constraints, KempeKMeans, NoSolutionFoundError, _core, methods, relax
from kempe.problem import Problem
from kempe.search.first_colouring import first_colouring
from kempe.search.seeding import starting_centroids
from random_problems import context_of

LIMIT = 0.2
# Seconds of processor time: what a kernel may take until it looks at the clock, and the checks
# before and after the search.
OVER = 0.5
METHODS = [
    *("kempe", "KSKM", "KSKM_E", "PCCC", "BLPKMCC", "IPC_KMeans", "COPKM_P", "COPKM", "ICOPKM"),
    *("CLCKM", "S_MDEClust"),
]


def planted(n, d, k, n_pairs):
    rng = np.random.default_rng(0)
    labels = rng.integers(k, size=n)
    X = 4 * rng.normal(size=(k, d))[labels] + rng.normal(size=(n, d))
    pairs = rng.integers(n, size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return X, Constraints(pairs[same][: n_pairs // 10], pairs[~same]), k


KINDS = {
    "large": (100_000, 10, 10, 20_000),
    "many clusters": (30_000, 20, 600, 10_000),
    "high-dimensional": (1_500, 2_000, 10, 1_500),
    "tight": (1_500, 5, 6, 9_000),
}


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param, planted(*KINDS[request.param])


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("name", METHODS)
def test_a_fit_ends_soon_after_its_limit(name, kind):
    described, (X, constraints, k) = kind
    model = methods.create(name, k, random_state=0, time_limit=LIMIT)
    # Threads of linear algebra that wait for each other would count as well.
    with threadpool_limits(1):
        started = time.process_time()
        try:
            model.fit(X, constraints=constraints)
        except NoSolutionFoundError:  # greedy methods get stuck in tight constraints
            assert described == "tight"
        spent = time.process_time() - started
    assert spent <= LIMIT + OVER


def _softly(model, X, constraints):
    pairs = constraints.cannot_link
    return model.fit(X, soft_must_link=pairs[::10], soft_cannot_link=pairs[1::2])


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize(
    "what", ["equal sizes", "loose sizes", "soft pairs", "relax", "relax alone"]
)
def test_what_pairs_and_sizes_add_ends_soon_after_its_limit(what, kind):
    _, (X, constraints, k) = kind
    mean = len(X) / k
    sizes = {
        "equal sizes": {"size_min": int(mean), "size_max": int(np.ceil(mean))},
        "loose sizes": {"size_min": int(mean / 2), "size_max": int(2 * mean)},
    }.get(what, {})
    model = KempeKMeans(k, random_state=0, time_limit=LIMIT, **sizes)
    wrong = constraints.with_pairs(constraints.cannot_link[::10], constraints.cannot_link)
    with threadpool_limits(1):
        started = time.process_time()
        try:
            if what.startswith("relax"):
                rows = X if what == "relax" else None
                relax(rows, wrong, k, time_limit=LIMIT, random_state=0)
            elif what == "soft pairs":
                _softly(model, X, constraints)
            else:
                model.fit(X, constraints=constraints)
        except NoSolutionFoundError:  # sizes and pairs together are hard
            assert sizes
        spent = time.process_time() - started
    assert spent <= LIMIT + OVER


@pytest.fixture(scope="module")
def crowded():
    """A problem of so many clusters that seeding takes seconds."""
    X, constraints, _ = planted(30_000, 20, 100, 10_000)
    return Problem.build(X, constraints, n_clusters=1_000)


def test_seeding_that_is_stopped_gives_other_supernodes_for_the_rest(crowded):
    stopped = _core.Stopper()
    stopped.stop()
    started = time.process_time()
    chosen = _core.kmeans_plus_plus(crowded.core, crowded.everyone, 1_000, 0, stopped)
    assert time.process_time() - started < 0.5
    assert np.unique(chosen).size == 1_000
    centroids = starting_centroids(crowded, "k-means++", np.random.default_rng(0), stopped)
    assert np.unique(centroids, axis=0).shape == (1_000, 20)


def test_seeding_in_time_is_not_changed_by_its_stopper(crowded):
    few = crowded.everyone[:500]
    plain, watched = (
        _core.kmeans_plus_plus(crowded.core, few, 50, 3, stopper)
        for stopper in (None, _core.Stopper(1e6))
    )
    np.testing.assert_array_equal(plain, watched)


def test_a_first_colouring_that_is_stopped_is_proper_all_the_same(crowded):
    context = context_of(crowded)
    context.stopper.stop()
    centroids = crowded.points(crowded.everyone[:1_000])
    started = time.process_time()
    colours = first_colouring(context, centroids)
    assert time.process_time() - started < 0.5
    assert crowded.is_proper(colours)
    assert np.unique(colours).size == 1_000


def test_the_limit_counts_from_the_beginning_of_the_fit(monkeypatch):
    build = Problem.build.__func__

    def slowly(cls, *arguments, **options):
        time.sleep(0.3)
        return build(cls, *arguments, **options)

    monkeypatch.setattr(Problem, "build", classmethod(slowly))
    X, constraints, k = planted(300, 3, 4, 100)
    for name in ("kempe", "KSKM", "COPKM_P"):
        model = methods.create(name, k, random_state=0, time_limit=0.25)
        model.fit(X, constraints=constraints)
        assert model.result_.stop_reason == "time_limit"
        assert model.result_.n_mutations == 0
