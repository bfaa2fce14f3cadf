"""Limits on sizes: kernels against slow twins, fits against all clusterings of tiny problems."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from kempe import (
    KSKM,
    Constraints,
    InfeasibleConstraintsError,
    KempeKMeans,
    NoSolutionFoundError,
    _core,
)
from kempe.engine import MemeticParams, SequentialDescent
from kempe.graph.sizes import SizeConflict, colour_within, find_conflict
from kempe.problem import Problem
from kempe.rivals import PCCC
from kempe.sizes import SizeLimits
from kempe.soft_pairs import SoftPairs
from random_problems import context_of, random_problem

seeds = st.integers(0, 2**32 - 1)


def limited(problem: Problem, colours, slack: int) -> Problem:
    """The same problem with limits that a clustering just keeps, but for some rows."""
    sizes = np.bincount(colours[problem.supernode], minlength=problem.n_clusters)
    limits = SizeLimits(
        np.maximum(1, sizes - slack).astype(np.int32), (sizes + slack).astype(np.int32)
    )
    return Problem.build(
        problem.rows + problem.shift.astype(problem.rows.dtype),
        problem.constraints,
        n_clusters=problem.n_clusters,
        sample_weight=problem.row_weight,
        limits=limits,
    )


def softened(problem: Problem, seed: int) -> Problem:
    """The same problem with soft pairs at random, of all prices."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(problem.n_rows, size=(int(rng.integers(1, 3 * problem.n_rows)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together, unsaid = rng.random(len(pairs)) < 0.5, np.full(len(pairs), np.nan)
    soft = SoftPairs.build(problem.supernode, problem.graph.core, pairs, together, unsaid)
    prices = 10 ** rng.uniform(-2, 1) * soft.votes * rng.uniform(0.5, 1.5, soft.votes.size)
    return replace(problem, soft=soft).priced(prices)


def objective(problem: Problem, colours, centroids=None) -> float:
    return problem.inertia(colours, centroids) + problem.price(colours)


@st.composite
def sized_problems(draw):
    seed, slack = draw(seeds), draw(st.integers(0, 3))
    problem, colours = random_problem(
        seed,
        n=draw(st.integers(6, 40)),
        k=draw(st.integers(2, 5)),
        density=draw(st.sampled_from([0.0, 0.1, 0.4])),
        merged=draw(st.integers(0, 8)),
        dtype=draw(st.sampled_from([np.float32, np.float64])),
        weighted=draw(st.booleans()),
    )
    # Clusters without rows are no clusters.
    if np.unique(colours).size < problem.n_clusters:
        colours = np.arange(problem.n_supernodes, dtype=np.int32) % problem.n_clusters
        problem = Problem.build(problem.rows, n_clusters=problem.n_clusters)
        colours = colours[: problem.n_supernodes]
        if problem.n_supernodes != colours.size:
            colours = np.arange(problem.n_supernodes, dtype=np.int32) % problem.n_clusters
    problem = limited(problem, colours, slack)
    return softened(problem, seed) if draw(st.booleans()) else problem, colours


def pays(before: float, after: float) -> bool:
    return after < before * (1 - 1e-9) - 1e-12


def neighbours_of(centroids, count: int = 8):
    """Which clusters are among the nearest few of each other, one way or both."""
    squares = ((centroids[:, None] - centroids) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    near = squares.argsort(axis=1).argsort(axis=1) < count
    return near | near.T


def improving_exchanges(problem: Problem, colours):
    """Clusterings one move or one exchange of two vertices away that are lower and allowed.

    Only clusters near to each other exchange anything.
    """
    lowest = objective(problem, colours)
    n, k = problem.n_supernodes, problem.n_clusters

    def judged(after):
        allowed = problem.is_proper(after) and problem.keeps_limits(after)
        return allowed and pays(lowest, objective(problem, after))

    for v, c in itertools.product(range(n), range(k)):
        after = colours.copy()
        after[v] = c
        if c != colours[v] and judged(after):
            yield after
    # Exchanges that pay even where the centroids stay are never left, unless soft pairs tie those
    # that are exchanged to each other.
    if problem.soft is not None:
        return
    centroids, _ = problem.means(colours)
    costs, near = problem.costs(centroids), neighbours_of(centroids)
    for u, v in itertools.combinations(range(n), 2):
        a, b = colours[u], colours[v]
        if (
            not near[a, b]
            or problem.size[u] != problem.size[v]
            or costs[u, b] + costs[v, a] >= ((costs[u, a] + costs[v, b]) * (1 - 1e-9) - 1e-12)
        ):
            continue
        after = colours.copy()
        after[u], after[v] = b, a
        # Each must be able to go alone, as far as pairs are concerned.
        alone = [colours.copy(), colours.copy()]
        alone[0][u], alone[1][v] = b, a
        if all(problem.is_proper(one) for one in alone) and judged(after):
            yield after


@given(sized_problems())
@settings(max_examples=60, deadline=None)
def test_a_descent_keeps_limits_and_leaves_no_move_nor_exchange(case):
    problem, colours = case
    found = SequentialDescent().descend(context_of(problem), colours)
    assert problem.is_proper(found)
    assert problem.keeps_limits(found)
    assert objective(problem, found) <= objective(problem, colours) * (1 + 1e-9)
    assert next(improving_exchanges(problem, found), None) is None


@pytest.mark.parametrize("seed", range(4))
def test_of_many_clusters_those_nearby_exchange_rows(seed):
    rng = np.random.default_rng(seed)
    n, k = 90, 14
    X = rng.normal(size=(n, 2))
    colours = rng.permutation(np.arange(n, dtype=np.int32) % k)
    problem = limited(Problem.build(X, n_clusters=k), colours, slack=seed % 2)
    found = SequentialDescent().descend(context_of(problem), colours)
    assert problem.keeps_limits(found)
    assert problem.inertia(found) < 0.5 * problem.inertia(colours)
    assert next(improving_exchanges(problem, found), None) is None


def test_rows_go_far_where_pairs_keep_them_out_of_all_clusters_nearby():
    k = 12
    colours = np.repeat(np.arange(k, dtype=np.int32), [3, *[2] * (k - 2), 1])
    X = 10.0 * colours[:, None] + np.arange(colours.size)[:, None] % 2
    # Whoever leaves the first cluster can only go to the last, the farthest from it.
    between = np.flatnonzero((colours > 0) & (colours < k - 1))
    pairs = list(itertools.product(np.flatnonzero(colours == 0).tolist(), between.tolist()))
    limits = SizeLimits.of(2, 2, colours.size, k)
    problem = Problem.build(X, Constraints(cannot_link=pairs), n_clusters=k, limits=limits)
    centroids, _ = problem.means(colours)
    found, excess = SequentialDescent().repair(context_of(problem), colours, centroids)
    assert excess == 0
    assert problem.is_proper(found)
    assert problem.keeps_limits(found)
    assert ((found != colours) & (found == k - 1)).sum() == 1


@given(sized_problems(), seeds)
@settings(max_examples=40, deadline=None)
def test_settling_and_relocating_keep_limits(case, seed):
    problem, colours = case
    context = context_of(problem, seed)
    centroids = problem.points(np.random.default_rng(seed).integers(0, 2, problem.n_clusters))
    settled = SequentialDescent().settle(context, colours, centroids)
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    moved, _, _ = search.relocate(colours, 20, 20, 0, -np.inf, seed, context.stopper)
    for found in (settled, moved):
        assert problem.is_proper(found)
        assert problem.keeps_limits(found)
    before, after = (objective(problem, one, centroids) for one in (colours, settled))
    assert after <= before * (1 + 1e-9)


@given(seed=seeds, n=st.integers(4, 24), k=st.integers(2, 4), slack=st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_free_rows_are_a_transport_problem_solved_exactly(seed, n, k, slack):
    rng = np.random.default_rng(seed)
    X, least = rng.normal(size=(n, 2)), max(1, n // k - slack)
    most = -(-n // k) + slack
    limits = SizeLimits.of(least, most, n, k)
    problem = Problem.build(X, n_clusters=k, limits=limits)
    centroids = rng.normal(size=(k, 2))
    context = context_of(problem)
    search = _core.SequentialSearch(problem.core, k)
    nearest = problem.costs(centroids).argmin(axis=1).astype(np.int32)
    mended, excess = search.repair(nearest, centroids, context.stopper)
    assert excess == 0
    found = search.settle(mended, centroids, context.stopper)
    assert problem.inertia(found, centroids) == pytest.approx(
        transport(problem.costs(centroids), least, most)
    )


@st.composite
def transports(draw):
    """Single rows, centroids, and limits for each cluster that leave room for all rows."""
    rng = np.random.default_rng(draw(seeds))
    n = draw(st.integers(1, 50))
    k = draw(st.integers(1, min(n, 14)))
    X = rng.normal(size=(n, draw(st.integers(1, 10))))
    if draw(st.booleans()):
        X = np.round(X)  # ties
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    weights = rng.integers(0, 4, n).astype(float) if draw(st.booleans()) else None
    sizes, slack = rng.multinomial(n, np.ones(k) / k), draw(st.integers(0, 3))
    least = np.maximum(0, sizes - rng.integers(0, slack + 1, k)).astype(np.int32)
    most = (sizes + rng.integers(0, slack + 1, k)).astype(np.int32)
    limits = SizeLimits(least, most)
    problem = Problem.build(X, n_clusters=k, sample_weight=weights, limits=limits)
    return problem, rng.normal(size=(k, X.shape[1]))


@given(transports())
@settings(max_examples=150, deadline=None)
def test_rows_are_transported_at_the_lowest_cost_of_a_linear_program(case):
    problem, centroids = case
    found = _core.transport(problem.core, centroids, _core.Stopper())
    costs = problem.costs(centroids)
    assert problem.limits.hold(problem.limits.sizes_of(found))
    cost = costs[np.arange(problem.n_rows), found].sum()
    assert cost == pytest.approx(lowest_by_program(costs, problem.limits), abs=1e-7)


def lowest_by_program(costs, limits):
    """What the linear program costs of which the corners are assignments."""
    n, k = costs.shape
    each, sizes = np.kron(np.eye(n), np.ones(k)), np.kron(np.ones(n), np.eye(k))
    found = linprog(
        costs.ravel(),
        A_eq=each,
        b_eq=np.ones(n),
        A_ub=np.concatenate([sizes, -sizes]),
        b_ub=np.concatenate([limits.most, -limits.least]),
    )
    return found.fun


def test_when_time_is_up_transported_rows_keep_limits():
    rng = np.random.default_rng(0)
    limits = SizeLimits.of(100, 100, 2000, 20)
    problem = Problem.build(rng.normal(size=(2000, 3)), n_clusters=20, limits=limits)
    centroids = 3 + rng.normal(size=(20, 3))
    late = _core.transport(problem.core, centroids, _core.Stopper(0.0))
    assert limits.hold(limits.sizes_of(late))


def test_a_fit_that_has_no_time_keeps_limits():
    X = np.random.default_rng(0).normal(size=(30_000, 4))
    sizes = [21_000] + [1000] * 9
    model = KempeKMeans(10, size_min=sizes, size_max=sizes, time_limit=1e-4, random_state=0)
    assert np.bincount(model.fit(X).labels_).tolist() == sizes


def test_threads_do_not_change_where_many_rows_go():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 4))
    limits = SizeLimits.of(5000, 6500, 60_000, 10)
    centroids = rng.normal(size=(10, 4))
    found = []
    for n_threads in (1, 3):
        problem = Problem.build(X, n_clusters=10, limits=limits, n_threads=n_threads)
        found.append(_core.transport(problem.core, centroids - problem.shift, _core.Stopper()))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("by", ["centroids", "labels"])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_clusters_with_limits_of_their_own_lie_where_they_were_put_if_they_can(seed, by, soft):
    rng = np.random.default_rng(seed)
    corners = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
    X = corners[rng.integers(4, size=60)] + rng.normal(size=(60, 2))
    limits = {"size_min": [1, 1, 1, 12], "size_max": [26, 20, 20, 20]}
    model = KempeKMeans(4, random_state=seed, **limits)
    pairs = {"soft_cannot_link": [(0, 1), (2, 3)]} if soft else {}
    if by == "centroids":
        targets = corners
        model.set_params(init=corners).fit(X, **pairs)
    else:
        labels = ((X[:, None] - corners) ** 2).sum(axis=2).argmin(axis=1)
        targets = np.array([X[labels == c].mean(axis=0) for c in range(4)])
        model.fit(X, init=labels, **pairs)
    sizes = np.bincount(model.labels_, minlength=4)

    def moved(order) -> float:
        """What it costs to bring the cluster of each number to the position in the order."""
        room = zip(sizes, order, strict=True)
        if any(not limits["size_min"][p] <= n <= limits["size_max"][p] for n, p in room):
            return np.inf
        return float(sizes @ ((model.cluster_centers_ - targets[list(order)]) ** 2).sum(axis=1))

    assert moved(range(4)) == pytest.approx(min(map(moved, itertools.permutations(range(4)))))


def many_clusters(seed, n, k):
    """Rows around more clusters than tables of all pairs of them are made for."""
    rng = np.random.default_rng(seed)
    X = 3 * rng.normal(size=(k, 3))[rng.integers(k, size=n)] + rng.normal(size=(n, 3))
    pairs = rng.integers(n, size=(n // 5, 2))
    return X, pairs[pairs[:, 0] != pairs[:, 1]]


@pytest.mark.parametrize("most", [4, 6])
@pytest.mark.parametrize("paired", [False, True])
def test_no_row_leaves_and_no_two_change_places_where_many_clusters_are_near(most, paired):
    n, k = 280, 70
    X, pairs = many_clusters(most, n, k)
    limits = SizeLimits.of(4 if most == 4 else 2, most, n, k)
    constraints = Constraints(None, pairs if paired else None)
    problem = Problem.build(X, constraints, n_clusters=k, limits=limits)
    context = context_of(problem, 0)
    start = KempeKMeans(k, size_min=limits.least, size_max=limits.most, max_mutations=0)
    colours = start.fit(X, cannot_link=constraints.cannot_link).labels_
    colours = SequentialDescent().descend(context, colours)
    sizes = np.bincount(colours, minlength=k)
    assert limits.hold(sizes)
    assert problem.is_proper(colours)
    centroids = problem.means(colours)[0]
    dearer = problem.costs(centroids)
    dearer -= dearer[np.arange(n), colours][:, None]
    for row, other in constraints.cannot_link.tolist():  # where neighbours are, nobody goes alone
        dearer[row, colours[other]] = dearer[other, colours[row]] = np.inf
    away = ((centroids[:, None] - centroids) ** 2).sum(axis=2)
    lowest = np.full((k, k), np.inf)
    np.minimum.at(lowest, colours, dearer)
    for a in range(k):
        for b in np.argsort(away[a])[1:9]:
            assert lowest[a, b] + lowest[b, a] > -1e-9
            if sizes[a] > limits.least[a] and sizes[b] < limits.most[b]:
                assert lowest[a, b] > -1e-9


@pytest.mark.parametrize(("least", "most"), [(1, 3), (2, 3), (0, 500)])
def test_rows_go_to_the_nearest_of_many_clusters_that_has_room(least, most):
    n, k = 1000, 450
    X, _ = many_clusters(0, n, k)
    limits = SizeLimits(np.full(k, least, np.int32), np.full(k, most, np.int32))
    problem = Problem.build(X, n_clusters=k, limits=limits)
    centroids = X[:k] - problem.shift
    costs = problem.costs(centroids)
    expected, rows = np.empty(n, dtype=np.int32), np.zeros(k, dtype=int)
    for turn, row in enumerate(np.argsort(costs.min(axis=1), kind="stable")):
        lacking = np.maximum(least - rows, 0).sum()
        full = rows >= (least if n - turn <= lacking else most)
        expected[row] = np.where(full, np.inf, costs[row]).argmin()
        rows[expected[row]] += 1
    found = _core.transport(problem.core, centroids, _core.Stopper())
    assert limits.hold(np.bincount(found, minlength=k))
    assert (found == expected).mean() > 0.99  # distances that are equal but for rounding
    late = _core.transport(problem.core, centroids, _core.Stopper(0.0))
    assert limits.hold(np.bincount(late, minlength=k))


@pytest.mark.parametrize(
    ("constraints", "limits"),
    [
        (Constraints([(0, 1)]), SizeLimits.of(1, 4, 6, 2)),
        (Constraints(None, [(0, 1)]), SizeLimits.of(1, 4, 6, 2)),
        (Constraints(), None),
        (Constraints(), SizeLimits.of(1, 4, 6, 3)),
        (Constraints(), SizeLimits.of(1, 2, 6, 2)),
        (Constraints(), SizeLimits.of(4, 6, 6, 2)),
    ],
)
def test_what_is_no_transport_problem_is_refused(constraints, limits):
    X = np.arange(12.0).reshape(6, 2)
    problem = Problem.build(X, constraints, n_clusters=2, limits=limits)
    with pytest.raises(ValueError, match=r"limits|rows must be by themselves"):
        _core.transport(problem.core, X[:2].copy(), _core.Stopper())


def transport(costs, least, most):
    """Lowest cost of rows in clusters of some sizes: places that must be taken, and others."""
    n, k = costs.shape
    lowest = np.inf
    for extra in itertools.product(range(most - least + 1), repeat=k):
        if k * least + sum(extra) == n:
            columns = np.repeat(np.arange(k), np.add(least, extra))
            table = costs[:, columns]
            lowest = min(lowest, table[linear_sum_assignment(table)].sum())
    return lowest


class Tiny:
    """A problem so small that all its clusterings can be looked at."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n = n = int(rng.integers(2, 10))
        self.k = k = int(rng.integers(1, min(n, 4) + 1))
        self.X = np.round(rng.normal(size=(n, int(rng.integers(1, 3)))), int(rng.integers(0, 3)))
        self.weights = rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else None
        self.must_link = self._pairs(rng, 3) if rng.random() < 0.6 else []
        self.cannot_link = self._pairs(rng, 5) if rng.random() < 0.7 else []
        self.size_min = self._limit(rng, 0, n // k)
        self.size_max = self._limit(rng, max(1, n // k), n)
        self.soft_must_link = self._pairs(rng, 5) if rng.random() < 0.4 else []
        self.soft_cannot_link = self._pairs(rng, 5) if rng.random() < 0.4 else []
        self.soft_price = float(rng.choice([0.05, 0.5, 2.0, 10.0]))

    def _pairs(self, rng, most):
        count = int(rng.integers(0, most))
        return [tuple(map(int, rng.choice(self.n, 2, replace=False))) for _ in range(count)]

    def _limit(self, rng, low, high):
        kind = rng.random()
        if kind < 0.3:
            return None
        drawn = rng.integers(low, high + 1, self.k)
        return int(max(1, drawn[0])) if kind < 0.7 else drawn.tolist()

    @property
    def least(self):
        return np.maximum(1, 1 if self.size_min is None else self.size_min)

    @property
    def most(self):
        return self.n if self.size_max is None else np.array(self.size_max)

    def allowed(self, labels):
        """Which rows of an array of labels keep all pairs and limits."""
        sizes = (labels[:, :, None] == np.arange(self.k)).sum(axis=1)
        good = ((sizes >= self.least) & (sizes <= self.most)).all(axis=1)
        for a, b in self.must_link:
            good &= labels[:, a] == labels[:, b]
        for a, b in self.cannot_link:
            good &= labels[:, a] != labels[:, b]
        return good

    def lowest(self, labels) -> float:
        """Lowest objective of the rows of an array of labels that keep everything."""
        labels = labels[self.allowed(labels)]
        if not len(labels):
            return np.inf
        weights = np.ones(self.n) if self.weights is None else self.weights
        centred = self.X - np.average(self.X, axis=0, weights=weights)
        member = (labels[:, :, None] == np.arange(self.k)) * weights[:, None]
        sums = np.einsum("ink,nd->ikd", member, centred)
        explained = ((sums**2).sum(axis=2) / member.sum(axis=1)).sum(axis=1)
        broken = sum((labels[:, a] != labels[:, b]).astype(float) for a, b in self.soft_must_link)
        broken += sum(
            (labels[:, a] == labels[:, b]).astype(float) for a, b in self.soft_cannot_link
        )
        costs = self.soft_price * broken - explained
        return float(weights @ (centred**2).sum(axis=1) + costs.min())

    def optimum(self) -> float:
        return self.lowest(np.indices((self.k,) * self.n).reshape(self.n, -1).T)

    def fit(self, **settings):
        model = KempeKMeans(
            self.k,
            size_min=self.size_min,
            size_max=self.size_max,
            soft_price=self.soft_price,
            random_state=0,
            **settings,
        )
        kinds = ("must_link", "cannot_link", "soft_must_link", "soft_cannot_link")
        pairs = {kind: getattr(self, kind) for kind in kinds}
        return model.fit(self.X, sample_weight=self.weights, **pairs)


def check_tiny_fits(first: int, count: int) -> None:
    for seed in range(first, first + count):
        tiny = Tiny(seed)
        optimum = tiny.optimum()
        try:
            model = tiny.fit()
        except (ValueError, NoSolutionFoundError):
            assert optimum == np.inf, seed
            continue
        assert tiny.allowed(model.labels_[None, :]).all(), seed
        reached = tiny.lowest(model.labels_[None, :])
        assert reached <= optimum * (1 + 1e-9) + 1e-8, seed


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_tiny_fits_are_optimal_and_refusals_are_right(first):
    check_tiny_fits(first, 100)


@pytest.mark.stress
@pytest.mark.parametrize("first", range(10_000, 20_000, 1_000))
def test_ten_thousand_tiny_fits_are_optimal_and_refusals_are_right(first):
    check_tiny_fits(first, 1_000)


@pytest.mark.parametrize("first", range(1000, 1300, 100))
def test_tiny_searches_without_enumeration_keep_everything(first):
    for seed in range(first, first + 100):
        tiny = Tiny(seed)
        try:
            model = tiny.fit(params=MemeticParams(enumerate_up_to=0), max_mutations=10)
        except (ValueError, NoSolutionFoundError):
            assert tiny.optimum() == np.inf, seed
        else:
            assert tiny.allowed(model.labels_[None, :]).all(), seed


def test_threads_do_not_change_the_result():
    problem, _ = random_problem(3, n=80, k=5)
    X = problem.rows
    models = [
        KempeKMeans(5, size_min=14, size_max=18, random_state=0, max_mutations=60, n_jobs=n)
        for n in (1, 3)
    ]
    labels = [model.fit(X, constraints=problem.constraints).labels_ for model in models]
    np.testing.assert_array_equal(*labels)


def test_many_rows_of_equal_sizes_take_a_moment():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    model = KempeKMeans(6, size_min=500, size_max=500, max_mutations=0, random_state=0).fit(X)
    assert np.bincount(model.labels_).tolist() == [500] * 6
    # Lower than a Lloyd step with the same sizes would leave it.
    problem = Problem.build(X, n_clusters=6, limits=SizeLimits.of(500, 500, 3000, 6))
    colours = model.labels_.astype(np.int32)
    settled = SequentialDescent().settle(context_of(problem), colours, problem.means(colours)[0])
    assert problem.inertia(settled) == pytest.approx(model.inertia_)


def test_limits_of_their_own_belong_to_clusters_by_position():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    model = KempeKMeans(
        3, init=[[0.0], [5.0], [9.0]], size_min=[1, 1, 3], size_max=[2, 2, 3], random_state=0
    )
    assert np.bincount(model.fit(X).labels_, minlength=3).tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size_min": 4}, "12 rows, but there are 10; size_min must be at most 3"),
        ({"size_max": 3}, "room for 9 rows, but there are 10; size_max must be at least 4"),
        ({"size_max": 4}, "5 rows are must-linked to row 2"),
        ({"size_max": [2, 3, 4]}, "room for 9"),
        ({"size_min": 5, "size_max": 4}, "size_min is larger than size_max"),
        ({"size_min": 1.5}, "whole number of rows, or a share below 1"),
        ({"size_min": [1, 2]}, "2 numbers for 3 clusters"),
        ({"size_min": "many"}, "size_min"),
        ({"size_max": float("nan")}, "size_max"),
    ],
)
def test_impossible_sizes_are_refused_in_words(settings, message):
    X = np.arange(10.0)[:, None]
    must_link = [(2, 4), (4, 6), (6, 8), (8, 9)]
    with pytest.raises(ValueError, match=message):
        KempeKMeans(3, **settings).fit(X, must_link=must_link)


@pytest.mark.parametrize("name", ["size_min", "size_max"])
@pytest.mark.parametrize(
    "value",
    [
        *[float("nan"), float("inf"), -1, True, "4", 1.5, 1j, {4}],
        *[[4, 4], [4, 4, 4, 4], [], [[4, 4, 4]], [4, None, 4], [4, float("nan"), 4], [4, -1, 4]],
        *[[True, True, True], ["a", "b", "c"], [4, 4, 4j], np.array("4"), [4, 4, 1.5]],
    ],
    ids=repr,
)
def test_what_is_no_size_is_refused_by_name(name, value):
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match=name):
        KempeKMeans(3, **{name: value}).fit(X)


def test_sizes_beyond_the_rows_are_refused_in_their_own_words():
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match="more than all 12 rows"):
        KempeKMeans(3, size_min=13).fit(X)
    with pytest.raises(ValueError, match="leaves no cluster a single one of 12 rows"):
        KempeKMeans(3, size_max=0.05).fit(X)
    free = KempeKMeans(3, random_state=0).fit(X)
    for many in (2**40, 10**400):
        loose = KempeKMeans(3, size_min=0.01, size_max=many, random_state=0).fit(X)
        assert loose.inertia_ == pytest.approx(free.inertia_)


def test_a_limit_that_would_do_is_named_only_where_numbers_alone_decide():
    X = np.random.default_rng(0).normal(size=(12, 2))

    def refusal(sizes, **pairs):
        with pytest.raises(InfeasibleConstraintsError) as error:
            KempeKMeans(3, **sizes).fit(X, **pairs)
        return str(error.value)

    assert refusal({"size_max": 3}).endswith("size_max of 4 would do")
    assert refusal({"size_min": 5}).endswith("size_min of 4 would do")
    # Here no limit on the largest cluster would do but all that the group needs.
    tied = {"must_link": [(0, 1), (1, 2), (2, 3), (3, 4)]}
    assert refusal({"size_max": 3}, **tied).endswith("size_max must be at least 4")
    assert refusal({"size_min": 5}, **tied).endswith("size_min must be at most 4")
    assert refusal({"size_min": [6, 5, 5]}).endswith("there are 12")


@pytest.mark.parametrize("method", [KSKM, PCCC])
def test_methods_that_know_no_sizes_say_so(method):
    with pytest.raises(TypeError, match=r"knows no sizes of clusters; KempeKMeans does"):
        method(3, size_max=4)


def test_rows_of_the_fit_count_only_where_sizes_do():
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = KempeKMeans(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="give size_min or size_max"):
        model.predict(X, with_fit=True)


def test_a_conflict_proves_itself_and_nothing_else():
    constraints = Constraints([(0, 1), (2, 3), (4, 5)], [(0, 2), (0, 4), (2, 4)], n_rows=8)
    supernode, size = _core.supernodes(8, constraints.must_link)
    graph = Problem.build(np.zeros((8, 1)), constraints, n_clusters=3).graph
    for least, most, kind in [
        ([3, 3, 3], [8, 8, 8], "few"),
        ([1, 1, 1], [2, 2, 2], "many"),
        ([1, 1, 1], [8, 1, 1], "clique"),
    ]:
        limits = SizeLimits(np.array(least, np.int32), np.array(most, np.int32))
        found = find_conflict(supernode, graph, constraints, limits)
        assert found is not None
        assert found.kind == kind
        assert found.verify(constraints)
        assert str(found)
        roomy = SizeLimits(np.ones(3, np.int32), np.full(3, 8, np.int32))
        assert not replace(found, limits=roomy).verify(constraints)
    assert size == 5


@pytest.mark.parametrize("solver", ["cpsat", "highs"])
def test_a_solver_decides_what_cheap_proofs_leave_open(solver, monkeypatch):
    if solver == "highs":
        monkeypatch.setattr("kempe.graph.sizes.has_ortools", lambda: False)
    stopper = _core.Stopper(30)
    # Groups of 4, 3 and 3 rows into two clusters of 5 rows: no.
    X, ml = np.arange(10.0)[:, None], [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (7, 8), (8, 9)]
    for most, feasible in ((5, False), (6, True)):
        limits = SizeLimits.of(None, most, 10, 2)
        problem = Problem.build(X, Constraints(ml), n_clusters=2, limits=limits)
        answer = colour_within(problem.graph, problem.size, limits, stopper)
        assert answer.infeasible is not feasible
        assert feasible is (answer.colours is not None and problem.keeps_limits(answer.colours))
    with pytest.raises(InfeasibleConstraintsError):
        KempeKMeans(2, size_max=5).fit(X, must_link=ml)


def test_errors_speak_of_ids():
    constraints = Constraints.from_ids(
        [("bob", "cid"), ("cid", "dan")], None, ids=["ann", "bob", "cid", "dan"]
    )
    with pytest.raises(InfeasibleConstraintsError, match="row bob") as caught:
        KempeKMeans(2, size_max=2).fit(np.arange(4.0)[:, None], constraints=constraints)
    assert isinstance(caught.value.certificate, SizeConflict)


def test_shares_hold_exactly():
    limits = SizeLimits.of(0.15, 0.35, 20, 4)
    assert limits is not None
    assert (limits.least[0], limits.most[0]) == (3, 7)
    assert SizeLimits.of(None, None, 20, 4) is None


def test_labels_to_go_on_from_may_break_limits():
    X = np.arange(12.0)[:, None]
    labels = [0] * 9 + [1] * 2 + [2]
    model = KempeKMeans(3, init=labels, size_min=4, size_max=4, max_mutations=0, random_state=0)
    assert np.bincount(model.fit(X, cannot_link=[(0, 1)]).labels_).tolist() == [4, 4, 4]


@pytest.mark.parametrize("seed", range(20))
def test_new_rows_get_the_nearest_clusters_that_have_room(seed):
    rng = np.random.default_rng(seed)
    model = KempeKMeans(3, size_min=5, random_state=0).fit(rng.normal(size=(20, 2)))
    n = int(rng.integers(3, 9))
    new, most = rng.normal(size=(n, 2)), -(-n // 3) + int(rng.integers(0, 2))
    found = model.predict(new, size_max=most)
    squares = ((new[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    every = np.indices((3,) * n).reshape(n, -1).T
    sizes = (every[:, :, None] == np.arange(3)).sum(axis=1)
    costs = squares[np.arange(n), every].sum(axis=1)[(sizes <= most).all(axis=1)]
    assert np.bincount(found).max() <= most
    assert squares[np.arange(n), found].sum() == pytest.approx(costs.min())


def test_sizes_of_new_rows_may_count_those_of_the_fit():
    X = np.array([[0.0], [0.1], [0.2], [9.0]])
    model = KempeKMeans(2, random_state=0).fit(X)
    new = [[0.3], [0.4]]
    full = model.labels_[3]
    assert model.predict(new, size_max=3, with_fit=True).tolist() == [full, full]
    with pytest.raises(InfeasibleConstraintsError, match="room for 1"):
        model.predict([[0.0]] * 3, size_max=[3, 2][:: 1 if full else -1], with_fit=True)
    with pytest.raises(ValueError, match="pairs or sizes"):
        model.predict(new, size_max=3, cannot_link=[(0, 1)])


def test_constraints_are_checked_with_sizes():
    constraints = Constraints([(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (7, 8), (8, 9)], n_rows=10)
    assert constraints.check(2, size_max=6)
    assert "feasible with 2 clusters of at least 1 and at most 6 rows" in str(
        constraints.check(2, size_max=6)
    )
    assert "4 rows are must-linked to row 0" in str(constraints.check(4, size_max=3))
    open_to_solver = constraints.check(2, size_max=5)
    assert open_to_solver.feasible is False
    assert "infeasible" in str(open_to_solver)
    with pytest.raises(ValueError, match="number of rows"):
        Constraints([(0, 1)]).check(2, size_max=5)
