"""Soft pairs in the engine: the slow, obvious twin, and what a user meets."""

from __future__ import annotations

import _thread
import itertools
from dataclasses import replace

import numpy as np
import pytest

import kempe
from kempe import KSKM, Constraints, InfeasibleConstraintsError, KempeKMeans, _core
from kempe.engine import MemeticParams
from kempe.engine.annealing import AnnealingDescent
from kempe.engine.climb import SHARES, Climb
from kempe.engine.pricing import effective_variance
from kempe.engine.sequential import SequentialDescent
from kempe.problem import Problem
from kempe.proof.certify import certify
from kempe.rivals import PCCC
from kempe.search.callbacks import Callbacks
from kempe.search.descent import Context
from kempe.sizes import SizeLimits
from kempe.soft_pairs import SoftPairs, each_once

LONG = 1e9


def soft_problem(seed: int, *, largest: int = 60) -> Problem | None:
    """Blobs with some hard pairs that agree with them, and soft ones of which some do not."""
    rng = np.random.default_rng(seed)
    n, k, d = (int(rng.integers(*bounds)) for bounds in ((6, largest), (2, 6), (1, 5)))
    hidden = rng.integers(k, size=n)
    X = rng.normal(size=(n, d)) + hidden[:, None] * rng.uniform(0, 2)
    pairs = _pairs(rng, n, int(rng.integers(0, n // 2)))
    same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    problem = Problem.build(X, Constraints(pairs[same], pairs[~same], n_rows=n), n_clusters=k)
    if problem.n_supernodes < k:
        return None
    pairs = _pairs(rng, n, int(rng.integers(1, 3 * n)))
    together = (hidden[pairs[:, 0]] == hidden[pairs[:, 1]]) ^ (rng.random(len(pairs)) < 0.15)
    unsaid = np.full(len(pairs), np.nan)
    soft = SoftPairs.build(problem.supernode, problem.graph.core, pairs, together, unsaid)
    prices = 10 ** rng.uniform(-2, 2) * soft.votes * rng.uniform(0.5, 1.5, size=soft.votes.size)
    return replace(problem, soft=soft).priced(prices)


def _pairs(rng, n, count):
    pairs = rng.integers(n, size=(count, 2))
    return pairs[pairs[:, 0] != pairs[:, 1]]


def start_of(problem: Problem, seed: int):
    rng = np.random.default_rng(seed)
    chosen = rng.choice(problem.n_supernodes, problem.n_clusters, replace=False)
    centroids = problem.points(chosen)
    colours, stuck = _core.saturation_assignment(problem.core, centroids)
    return (None if stuck >= 0 else colours), centroids


def objective(problem: Problem, colours) -> float:
    """Inertia and prices, added up one by one."""
    total = problem.within
    for c in range(problem.n_clusters):
        members = np.flatnonzero(colours == c)
        if members.size:
            points, weight = problem.points(members), problem.weight[members]
            mean = np.average(points, axis=0, weights=weight)
            total += float((weight * ((points - mean) ** 2).sum(axis=1)).sum())
    for a, b, price in zip(problem.soft.first, problem.soft.second, problem.prices, strict=True):
        if price != 0 and (colours[a] == colours[b]) != (price > 0):
            total += abs(price)
    return total


@pytest.mark.parametrize("seed", range(60))
def test_a_descent_ends_where_no_single_move_lowers_the_objective(seed):
    problem = soft_problem(seed)
    colours, centroids = (None, None) if problem is None else start_of(problem, seed)
    if colours is None:
        pytest.skip("no start")
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    for found, lowered in (
        (search.descend(colours, _core.Stopper(LONG)), objective),
        (search.settle(colours, centroids, _core.Stopper(LONG)), _at(centroids)),
    ):
        assert problem.is_proper(found)
        value, size = lowered(problem, found), np.bincount(found, minlength=problem.n_clusters)
        for v, c in itertools.product(range(problem.n_supernodes), range(problem.n_clusters)):
            moved = found.copy()
            moved[v] = c
            if size[found[v]] > 1 and problem.is_proper(moved):
                assert lowered(problem, moved) >= value * (1 - 1e-9) - 1e-12


@pytest.mark.parametrize("seed", range(40))
def test_a_descent_ends_where_no_merging_of_two_clusters_frees_one_for_another_vertex(seed):
    problem = soft_problem(seed, largest=25)
    colours = None if problem is None else start_of(problem, seed)[0]
    if colours is None:
        pytest.skip("no start")
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    found = search.descend(colours, _core.Stopper(LONG))
    value = objective(problem, found)
    for a, b in itertools.permutations(range(problem.n_clusters), 2):
        for v in range(problem.n_supernodes):
            merged = np.where(found == b, a, found).astype(np.int32)
            merged[v] = b
            if problem.is_proper(merged) and len(set(merged)) == problem.n_clusters:
                assert objective(problem, merged) >= value * (1 - 1e-9) - 1e-12


LARGEST_GROUP, MOST_IN_VAIN = 64, 12


def grown_groups(problem: Problem, colours, v: int, to: int):
    """All groups that grow from a vertex between its cluster and another, each as colours.

    Whoever a hard pair keeps out comes along, then the tied vertex that costs least at the
    centroids as they are. Everything is measured anew.
    """
    sides = {int(colours[v]): to, to: int(colours[v])}
    costs = problem.costs(problem.means(colours)[0])
    edges = {
        frozenset(map(int, edge)) for edge in zip(*problem.graph.matrix.nonzero(), strict=True)
    }
    tied = [(int(a), int(b)) for a, b in zip(problem.soft.first, problem.soft.second, strict=True)]

    def swapped(group):
        moved = colours.copy()
        for u in group:
            moved[u] = sides[int(colours[u])]
        return moved

    def closed(group):
        group = list(group)
        for u in group:
            group += [
                w
                for w in range(problem.n_supernodes)
                if w not in group
                and int(colours[w]) == sides[int(colours[u])]
                and frozenset((u, w)) in edges
            ]
        return group

    def marginal(group, u):
        switched = costs[u, sides[int(colours[u])]] - costs[u, colours[u]]
        return switched + problem.price(swapped([*group, u])) - problem.price(swapped(group))

    group, best, size = closed([v]), objective(problem, colours), 0
    while len(group) <= LARGEST_GROUP:
        moved = swapped(group)
        yield moved
        if len(set(moved)) == problem.n_clusters and objective(problem, moved) < best:
            best, size = objective(problem, moved), len(group)
        near = {b if a in group else a for a, b in tied if (a in group) != (b in group)}
        near = [u for u in near if int(colours[u]) in sides]
        if not near or len(group) >= size + MOST_IN_VAIN:
            return
        group = closed([*group, min(near, key=lambda u: marginal(group, u))])


@pytest.mark.parametrize("seed", range(40))
def test_a_descent_ends_where_no_group_grown_from_a_vertex_lowers_the_objective(seed):
    problem = soft_problem(seed, largest=20)
    colours = None if problem is None else start_of(problem, seed)[0]
    if colours is None:
        pytest.skip("no start")
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    found = search.descend(colours, _core.Stopper(LONG))
    value = objective(problem, found)
    centroids, pulls = problem.means(found)[0], problem.pulls(found)
    costs = problem.costs(centroids)
    dear = problem.prices != 0
    for v in np.union1d(problem.soft.first[dear], problem.soft.second[dear]):
        for c in set(range(problem.n_clusters)) - {int(found[v])}:
            own = found[v]
            if pulls[v, c] <= 0 and pulls[v, own] >= 0 and costs[v, c] >= costs[v, own]:
                continue  # nothing there is to its liking
            for moved in grown_groups(problem, found, int(v), c):
                if len(set(moved)) == problem.n_clusters:
                    assert objective(problem, moved) >= value * (1 - 1e-9) - 1e-12


def _at(centroids):
    def cost(problem, colours):
        own = problem.own_costs(colours, centroids).sum()
        return problem.within + own + problem.price(colours)

    return cost


@pytest.mark.parametrize("seed", range(60))
def test_relocations_never_raise_the_objective(seed):
    problem = soft_problem(seed)
    colours = None if problem is None else start_of(problem, seed)[0]
    if colours is None:
        pytest.skip("no start")
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    before = search.descend(colours, _core.Stopper(LONG))
    after, _, _ = search.relocate(before, 60, 60, 0, -LONG, seed, _core.Stopper(LONG))
    assert problem.is_proper(after)
    assert objective(problem, after) <= objective(problem, before) * (1 + 1e-12)
    assert problem.inertia(after) + problem.price(after) == pytest.approx(objective(problem, after))


@pytest.mark.parametrize("seed", range(60))
def test_enumeration_finds_the_lowest_objective(seed):
    problem = soft_problem(seed, largest=9)
    colours = None if problem is None else start_of(problem, seed)[0]
    k = 0 if problem is None else problem.n_clusters
    if colours is None or k**problem.n_supernodes > 40_000:
        pytest.skip("no start, or too many")
    found, complete = _core.best_partition(problem.core, colours, k, _core.Stopper(LONG))
    every = (
        np.array(one, dtype=np.int32)
        for one in itertools.product(range(k), repeat=problem.n_supernodes)
        if len(set(one)) == k
    )
    values = [objective(problem, one) for one in every if problem.is_proper(one)]
    assert complete
    assert objective(problem, found) == pytest.approx(min(values))


def test_the_default_is_optimal_on_tiny_problems_and_the_search_nearly_always():
    missed = tried = 0
    for seed in range(120):
        problem = soft_problem(seed, largest=10)
        if problem is None:
            continue
        X, pairs, k = problem.rows, problem.constraints, problem.n_clusters
        soft = Constraints(soft_must_link=_rows(problem, 1), soft_cannot_link=_rows(problem, -1))
        if not soft.soft.count:
            continue
        known = {"constraints": pairs | soft, "soft_price": 2.0}
        try:
            best = _fitted(X, k, **known)
        except InfeasibleConstraintsError:
            continue
        searched = _fitted(X, k, params=MemeticParams(enumerate_up_to=0), **known)
        assert best.result_.stop_reason == "optimal"
        assert best.objective_ <= searched.objective_ * (1 + 1e-9)
        tried += 1
        missed += searched.objective_ > best.objective_ * (1 + 1e-9)
    assert tried > 60
    assert missed <= tried * 0.02


def _rows(problem, sign):
    chosen = np.sign(problem.soft.votes) == sign
    first = {int(s): row for row, s in reversed(list(enumerate(problem.supernode)))}
    ends = np.column_stack([problem.soft.first, problem.soft.second])[chosen]
    return [(first[int(a)], first[int(b)]) for a, b in ends]


def _fitted(X, k, *, constraints, soft_price, params=None):
    model = KempeKMeans(k, soft_price=soft_price, params=params, random_state=0)
    return model.fit(X, constraints=constraints)


def blobs(seed=0, n=240, k=4, flipped=0.1, pairs=1500):
    rng = np.random.default_rng(seed)
    hidden = rng.integers(k, size=n)
    X = rng.normal(size=(n, 3)) + 3.0 * np.eye(k, 3)[hidden]
    some = np.unique(np.sort(_pairs(rng, n, pairs), axis=1), axis=0)
    right = hidden[some[:, 0]] == hidden[some[:, 1]]
    wrong = rng.random(len(some)) < flipped
    return X, hidden, some, right ^ wrong, wrong


def test_wrong_pairs_are_the_ones_that_are_broken():
    X, _, pairs, together, wrong = blobs()
    model = KempeKMeans(4, random_state=0)
    model.fit(X, soft_must_link=pairs[together], soft_cannot_link=pairs[~together])
    labels = model.labels_
    broken = (labels[pairs[:, 0]] == labels[pairs[:, 1]]) != together
    assert (broken & wrong).sum() >= 0.75 * broken.sum()
    assert (broken & wrong).sum() >= 0.75 * wrong.sum()
    assert model.noise_ == pytest.approx(0.1, abs=0.03)
    told = model.result_.violated
    assert len(told) == broken.sum()
    assert told["price"].is_monotonic_decreasing
    assert model.objective_ == pytest.approx(model.inertia_ + told["price"].sum())


def test_labels_do_not_depend_on_threads_scale_or_repeated_columns():
    X, _, pairs, together, _ = blobs(1)
    known = {"soft_must_link": pairs[together], "soft_cannot_link": pairs[~together]}
    labels = [
        KempeKMeans(4, random_state=0, n_jobs=jobs).fit(data, **known).labels_
        for data, jobs in ((X, 1), (X, 2), (7 * X, 1), (np.hstack([X, X]), 1))
    ]
    assert all(np.array_equal(labels[0], other) for other in labels[1:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_data_goes_down_with_soft_pairs(dtype):
    rng = np.random.default_rng(0)
    hidden = rng.integers(5, size=60_000)
    X = (rng.normal(size=(hidden.size, 20)) + 1.5 * np.eye(5, 20)[hidden]).astype(dtype)
    pairs = _pairs(rng, hidden.size, 50_000)
    together = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    known = {"soft_must_link": pairs[together], "soft_cannot_link": pairs[~together]}
    model = KempeKMeans(5, max_mutations=0, random_state=0, soft_price=5.0, n_jobs=2)
    labels = model.fit(X, **known).labels_
    assert np.mean((labels[pairs[:, 0]] == labels[pairs[:, 1]]) == together) > 0.95
    problem = Problem.build(X, Constraints(**known), n_clusters=5)
    problem = problem.priced(5.0 * problem.soft.strength(1.0))
    own = problem.inertia(labels) + problem.price(labels)
    for v in rng.integers(hidden.size, size=200):
        for c in range(5):
            moved = labels.copy()
            moved[v] = c
            assert problem.inertia(moved) + problem.price(moved) >= own * (1 - 1e-9)


def test_groups_take_a_share_of_the_work_of_a_descent_however_many_pairs():
    rng = np.random.default_rng(0)
    hidden = rng.integers(20, size=3_000)
    X = rng.normal(size=(20, 8))[hidden] + rng.normal(size=(hidden.size, 8))
    pairs = _pairs(rng, hidden.size, 30_000)
    together = (hidden[pairs[:, 0]] == hidden[pairs[:, 1]]) ^ (rng.random(len(pairs)) < 0.2)
    known = Constraints(soft_must_link=pairs[together], soft_cannot_link=pairs[~together])
    problem = Problem.build(X, known, n_clusters=20)
    problem = problem.priced(2.0 * problem.soft.strength(1.0))
    start, _ = start_of(problem, 0)
    search = _core.SequentialSearch(problem.core, 20)
    found = [search.descend(start, _core.Stopper(LONG)) for _ in range(2)]
    singles, groups = search.work_done()
    assert singles > 20 * 8 * hidden.size
    # Either way of looking for groups ends with the first that goes over what is allowed.
    assert 400_000 < groups < 1.25 * 2 * (1_000_000 + 0.05 * singles)
    assert np.array_equal(*found)


def test_hard_pairs_always_hold_and_decide_soft_ones():
    X, _, pairs, together, _ = blobs(2)
    model = KempeKMeans(4, random_state=0, max_mutations=20)
    model.fit(
        X,
        must_link=[(0, 1)],
        cannot_link=[(1, 2)],
        soft_cannot_link=[(0, 1), *pairs[~together]],
        soft_must_link=[(0, 2), *pairs[together]],
    )
    assert model.labels_[0] == model.labels_[1] != model.labels_[2]
    told = {(row["first"], row["second"]) for _, row in model.result_.violated.iterrows()}
    assert {(0, 1), (0, 2)} <= told


def broken_by_labels(X, known: Constraints, model) -> float:
    """Inertia of labels, and the price of every pair of rows that they break, one by one."""
    labels, total = model.labels_, 0.0
    for c in np.unique(labels):
        members = X[labels == c]
        total += float(((members - members.mean(axis=0)) ** 2).sum())
    price = model.result_.broken.pair_price
    for pairs, confidence, together in (
        (known.soft.must_link, known.soft.must_link_confidence, True),
        (known.soft.cannot_link, known.soft.cannot_link_confidence, False),
    ):
        for (a, b), sure in zip(pairs, confidence, strict=True):
            odds = price.assumed if np.isnan(sure) else np.log(sure / (1 - sure))
            total += price.unit * odds * ((labels[a] == labels[b]) != together)
    return total


@pytest.mark.parametrize("options", [{}, {"size_min": 40}, {"soft_price": 2.0}])
@pytest.mark.parametrize("hard", [False, True])
def test_the_objective_has_the_price_of_every_pair_of_rows_that_is_broken(options, hard):
    """Those that hard pairs decide, and those that contradict each other, as well."""
    X, hidden, pairs, together, _ = blobs(6, n=180, pairs=600)
    rng = np.random.default_rng(0)
    told = pairs[:60][hidden[pairs[:60, 0]] == hidden[pairs[:60, 1]]]
    apart = pairs[:60][hidden[pairs[:60, 0]] != hidden[pairs[:60, 1]]]
    sure = None if options.get("soft_price") else rng.uniform(0.6, 0.95, size=20)
    known = Constraints(
        soft_must_link=np.concatenate([pairs[together], pairs[:20]]),
        soft_cannot_link=np.concatenate([pairs[~together], pairs[:20]]),
    ) | Constraints(soft_must_link=pairs[20:40], soft_must_link_confidence=sure)
    known = (Constraints(told, apart) if hard else Constraints()) | known
    model = KempeKMeans(4, random_state=0, **options).fit(X, constraints=known)
    _, broken = known.decided()
    assert (broken > 0) == hard
    assert model.objective_ == pytest.approx(broken_by_labels(X, known, model), rel=1e-9)
    assert model.objective_ - model.inertia_ == pytest.approx(model.result_.violated["price"].sum())
    assert model.result_.statistics.best_objective[-1] == pytest.approx(model.objective_)


def tight_and_soft(seed, n=100, density=0.1):
    """Cannot-link pairs that leave little room for four clusters, and soft ones, often wrong."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(4, size=n)
    first, second = np.triu_indices(n, 1)
    hard = (hidden[first] != hidden[second]) & (rng.random(first.size) < density)
    soft = ~hard & (rng.random(first.size) < 0.05)
    together = (hidden[first] == hidden[second]) ^ (rng.random(first.size) < 0.3)
    pairs = np.column_stack([first, second])
    known = Constraints(
        cannot_link=pairs[hard],
        soft_must_link=pairs[soft & together],
        soft_cannot_link=pairs[soft & ~together],
    )
    return rng.normal(size=(n, 3)), known


def annealed_or_not(X, known):
    """Models that anneal where that is due, in one thread and in two, and one that never does."""
    never = MemeticParams(annealing=False)
    models = []
    for params, n_jobs in ((None, 1), (None, 2), (never, 1)):
        model = KempeKMeans(4, soft_price=0.3, params=params, random_state=0, n_jobs=n_jobs)
        models.append(model.fit(X, constraints=known))
        assert known.without_soft().violations(model.labels_).cannot_link.size == 0
    return models


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_tight_problems_are_annealed_with_soft_pairs_as_without(seed):
    X, known = tight_and_soft(seed)
    problem = Problem.build(X, known, n_clusters=4)
    assert problem.graph.is_tight(4)
    assert isinstance(MemeticParams().plan(problem).descent, AnnealingDescent)
    model, threads, plain = annealed_or_not(X, known)
    np.testing.assert_array_equal(model.labels_, threads.labels_)
    assert model.objective_ < 0.99 * plain.objective_


@pytest.mark.slow
def test_glassy_problems_are_annealed_with_soft_pairs_as_without():
    X, known = tight_and_soft(1, n=150, density=0.06)
    model, threads, plain = annealed_or_not(X, known)
    assert "anneal" in model.result_.statistics.kind
    np.testing.assert_array_equal(model.labels_, threads.labels_)
    assert model.objective_ < 0.99 * plain.objective_


def test_limits_on_sizes_are_not_annealed():
    X, known = tight_and_soft(0)
    limits = SizeLimits.of(2, None, len(X), 4)
    problem = Problem.build(X, known, n_clusters=4, limits=limits)
    plan = MemeticParams(annealing=True).plan(problem)
    assert isinstance(plan.descent, SequentialDescent)


def test_ctrl_c_ends_a_fit_with_soft_pairs_and_keeps_the_best():
    X, known = noisy_pairs()

    class Impatient(Callbacks):
        def on_iteration(self, state):
            if state.iteration >= 2:
                _thread.interrupt_main()

    model = KempeKMeans(4, random_state=0, max_mutations=10**6, n_init=2, callbacks=Impatient())
    model.fit(X, **known)
    assert model.result_.stop_reason == "interrupted"
    assert len(model.result_.violated) > 0
    assert 0 < model.noise_ < 0.5


def test_pairs_that_say_the_same_add_up():
    X = [[0.0], [1.0], [1.2], [5.0]]
    for count, together in ((1, False), (40, True)):
        model = KempeKMeans(3, soft_price=0.05, random_state=0)
        labels = model.fit(X, soft_must_link=[(0, 1)] * count).labels_
        assert (labels[0] == labels[1]) == together


@pytest.mark.parametrize(
    ("confidence", "message"),
    [
        (0.5, "the other way round"),
        (1.0, "give it as a hard pair"),
        (float("nan"), "no number"),
        ([0.9, 0.9], "one for each of the 1 pairs"),
    ],
)
def test_confidences_that_say_nothing_are_refused(confidence, message):
    with pytest.raises(ValueError, match=message):
        Constraints(soft_must_link=[(0, 1)], soft_must_link_confidence=confidence)


def test_methods_that_keep_every_pair_refuse_soft_ones():
    with pytest.raises(ValueError, match="use KempeKMeans"):
        KSKM(2).fit([[0.0], [1.0], [2.0]], constraints=Constraints(soft_must_link=[(0, 1)]))


def test_rivals_lose_no_soft_pair_of_new_rows_without_a_word():
    model = PCCC(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])
    with pytest.raises(ValueError, match=r"PCCC.predict keeps every pair, and 1 of these may be"):
        model.predict([[4.0]], constraints=Constraints(soft_must_link=[(0, 1)]))


FOUR = [[0.0], [1.0], [8.0], [9.0]]


def test_new_rows_break_soft_pairs_at_the_price_of_the_fit(tmp_path):
    model = KempeKMeans(2, random_state=0).fit(FOUR, soft_must_link=[(0, 1), (2, 3)])
    price = model.result_.broken.pair_price
    near, far = model.labels_[0], model.labels_[2]
    for x, kept in ((4.4, True), (1.0, False)):  # one that wavers, and one that does not
        gain = (x - 0.5) ** 2 - (x - 8.5) ** 2
        assert (price.unit * price.assumed > -gain) == kept
        new = {"X": [[x]], "soft_must_link": [(0, 1 + 2)]}
        assert model.predict(**new).tolist() == [far if kept else near]
    assert model.predict([[1.0]], soft_must_link=[(0, 3)], soft_price=1e3).tolist() == [far]
    assert model.predict([[4.4]], soft_must_link=[(0, 3)], confidence=0.5001).tolist() == [near]
    sure = model.predict([[4.4]], soft_must_link=[(0, 3)], soft_must_link_confidence=0.5001)
    assert sure.tolist() == [near]
    apart = model.predict([[4.4], [4.4]], soft_cannot_link=[(0, 1)])
    assert apart[0] != apart[1]
    model.save(tmp_path / "model")
    again = kempe.load(tmp_path / "model")
    assert again.predict([[4.4]], soft_must_link=[(0, 3)]).tolist() == [far]


@pytest.mark.parametrize(
    ("settings", "fitted", "new", "message"),
    [
        ({}, {}, {}, "fitted without soft pairs, so it does not know what breaking one costs"),
        ({}, {"soft_must_link_confidence": 0.9}, {}, r"do not say how sure they are \(1 of 1\)"),
        ({"soft_price": 1.0}, {}, {"soft_must_link_confidence": 0.9}, "give one of them"),
        ({}, {}, {"soft_price": 1.0, "confidence": 0.9}, "give one of them"),
        ({}, {}, {"confidence": 0.4}, "above one half and below one, got 0.4"),
        ({}, {}, {"soft_price": float("nan")}, "positive and finite, got nan"),
        ({}, {}, {"size_min": 1}, "takes pairs or sizes"),
    ],
)
def test_soft_pairs_of_new_rows_without_a_price_are_named(settings, fitted, new, message):
    known = {"soft_must_link": [(0, 1)], **fitted} if settings or fitted or new else {}
    model = KempeKMeans(2, random_state=0, **settings).fit(FOUR, **known)
    with pytest.raises(ValueError, match=message):
        model.predict([[4.0]], soft_must_link=[(0, 1)], **new)


def test_confidences_and_a_plain_price_exclude_each_other():
    with pytest.raises(ValueError, match="give one of them"):
        KempeKMeans(2, soft_price=1.0).fit(
            [[0.0], [1.0], [2.0]], soft_must_link=[(0, 1)], soft_must_link_confidence=0.9
        )


def test_constraints_carry_soft_pairs_along():
    hard = Constraints([(0, 1)], n_rows=6)
    soft = Constraints(soft_must_link=[(2, 3)], soft_cannot_link=[(3, 4), (0, 5)], n_rows=6)
    both = hard | soft
    assert repr(both) == "Constraints(1 must-link, 0 cannot-link, 3 soft, 6 rows)"
    kept = both.subset([3, 4, 2])
    assert kept.soft.must_link.tolist() == [[2, 0]]
    assert kept.soft.cannot_link.tolist() == [[0, 1]]
    assert both.violations([0, 0, 1, 2, 2, 0]).soft.count == 3
    parts = both.split(0.5, random_state=0)
    assert sum(part.soft.count for part in parts) == 3
    assert both != hard


def test_the_effective_variance_counts_a_column_once_however_often_it_stands_there():
    X, _, _, _, _ = blobs(3)
    for data in (X, np.hstack([X, X])):
        problem = Problem.build(data, n_clusters=1)
        variance = effective_variance(
            problem, np.zeros(len(X), dtype=np.int32), np.random.default_rng(0)
        )
        scale = data.shape[1] / X.shape[1]
        eigenvalues = np.linalg.eigvalsh(np.cov(X.T, bias=True))
        assert variance == pytest.approx(scale * (eigenvalues**2).sum() / eigenvalues.sum())


@pytest.mark.parametrize("exponent", [-460, 460])
def test_soft_pairs_do_not_depend_on_the_scale_of_the_data(exponent):
    X, _, _, _, _ = blobs(3)
    pairs = {"soft_must_link": [(0, 1), (2, 3)], "soft_cannot_link": [(4, 5), (0, 7)]}
    fits = [
        KempeKMeans(3, random_state=0, max_mutations=20).fit(np.ldexp(X, power), **pairs)
        for power in (0, exponent)
    ]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    assert fits[1].objective_ == np.ldexp(fits[0].objective_, 2 * exponent)


@pytest.mark.parametrize("value", [["a", "b"], "sure", [None, object()], {"p": 0.9}])
def test_confidences_that_are_no_numbers_are_named(value):
    with pytest.raises(ValueError, match="soft_must_link_confidence must be"):
        Constraints(soft_must_link=[(0, 1), (2, 3)], soft_must_link_confidence=value)


@pytest.mark.parametrize("seed", range(20))
def test_a_climb_ends_with_pairs_and_below_where_it_began(seed):
    problem = soft_problem(seed)
    colours = None if problem is None else start_of(problem, seed)[0]
    if colours is None:
        pytest.skip("no start")
    free = Problem.build(problem.rows, problem.constraints, n_clusters=problem.n_clusters)
    free = replace(free, soft=problem.soft)
    climb = Climb.to(problem, free)
    assert [one.prices.tolist() for one in climb.lower] == [
        pytest.approx((share * problem.prices).tolist()) for share in SHARES
    ]
    context = Context(problem, np.random.default_rng(seed), _core.Stopper(LONG))
    found = climb(context, colours)
    assert problem.is_proper(found)
    last = climb.lower[-1]
    descend = SequentialDescent().descend
    again = descend(replace(context, problem=last), found)
    assert objective(last, again) == pytest.approx(objective(last, found))
    assert climb.leads_to(problem)
    assert not climb.leads_to(free)
    assert climb.free_of(context).problem is free


def test_clusterings_made_later_climb_and_the_first_goes_on_from_the_prices(monkeypatch):
    X, _, pairs, together, _ = blobs(4)
    climbed = []
    climb = Climb.__call__

    def watched(self, context, colours):
        climbed.append(climb(self, context, colours))
        return climbed[-1]

    monkeypatch.setattr(Climb, "__call__", watched)
    model = KempeKMeans(4, random_state=0, params=MemeticParams(population_size=4))
    model.fit(X, soft_must_link=pairs[together], soft_cannot_link=pairs[~together])
    assert len(climbed) == 3


def noisy_pairs(seed=5):
    X, _, pairs, together, _ = blobs(seed)
    return X, {"soft_must_link": pairs[together], "soft_cannot_link": pairs[~together]}


def test_a_search_goes_on_from_labels_and_never_ends_above_them():
    X, known = noisy_pairs()
    model = KempeKMeans(4, soft_price=3.0, random_state=0).fit(X, **known)
    again = KempeKMeans(4, soft_price=3.0, max_mutations=0, random_state=1)
    again.fit(X, init=model.labels_, **known)
    assert again.objective_ <= model.objective_ * (1 + 1e-9)
    assert np.array_equal(again.labels_, model.labels_)


def test_a_row_of_weight_two_with_its_pairs_twice_is_two_rows():
    X, known = noisy_pairs()
    twice = {key: np.concatenate([pairs, pairs + len(X)]) for key, pairs in known.items()}
    both = Constraints([(i, i + len(X)) for i in range(len(X))])
    rows = np.concatenate([X, X])
    doubled = KempeKMeans(4, soft_price=3.0, random_state=0)
    doubled.fit(rows, constraints=both | Constraints(**twice))
    weighted = KempeKMeans(4, soft_price=6.0, random_state=0)
    weighted.fit(X, sample_weight=np.full(len(X), 2.0), **known)
    assert weighted.objective_ == pytest.approx(doubled.objective_)


def test_float32_finds_the_same_clusters():
    X, known = noisy_pairs()
    labels = [KempeKMeans(4, random_state=0).fit(X.astype(t), **known).labels_ for t in "fd"]
    assert np.mean(labels[0] == labels[1]) > 0.99


def test_a_time_limit_a_callback_and_a_rule_end_the_search():
    X, known = noisy_pairs()
    reasons = []
    for options in (
        {"time_limit": 1e-6},
        {"stop": lambda state: True},
        {"max_mutations": 3},
    ):
        model = KempeKMeans(4, random_state=0, **options).fit(X, **known)
        assert model.objective_ >= model.inertia_
        reasons.append(model.result_.stop_reason)
    assert reasons[0] == "time_limit"
    assert reasons[2] == "max_mutations"


def test_callbacks_see_the_objective_fall():
    X, known = noisy_pairs()
    seen = []

    class Watch(Callbacks):
        def on_best(self, state):
            seen.append(state.best_objective)

    model = KempeKMeans(4, random_state=0, callbacks=Watch()).fit(X, **known)
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == pytest.approx(model.objective_)


def test_a_certificate_has_the_objective_and_its_prices():
    X, known = noisy_pairs()
    model = KempeKMeans(4, random_state=0).fit(X, **known)
    found = certify(X, model, constraints=Constraints(**known), time_limit=5)
    assert found.objective == pytest.approx(model.objective_)
    assert 0 < found.lower_bound <= found.objective


@pytest.mark.parametrize("size", [1, 2, 7, 200])
@pytest.mark.parametrize("n_pairs", [0, 1, 60])
def test_pairs_that_are_said_several_times_are_given_once_and_in_order(size, n_pairs):
    ends = np.sort(np.random.default_rng(size).integers(size, size=(n_pairs, 2)), axis=1)
    first, second, which = each_once(ends, size)
    given = list(zip(first.tolist(), second.tolist(), strict=True))
    assert given == sorted({tuple(pair) for pair in ends.tolist()})
    assert [given[number] for number in which] == [tuple(pair) for pair in ends.tolist()]
