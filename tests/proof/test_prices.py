"""Prices of groups: kernels and slow twins, bounds and optima, and what the checker refuses."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from kempe import Constraints, KempeKMeans, _core, certify
from kempe.exceptions import CertificateError
from kempe.problem import Problem
from kempe.proof import OptimalityCertificate, price_proof
from kempe.proof.bundle import Bundle
from kempe.proof.checking import prove
from kempe.proof.nodes import Node, Part, Prices
from kempe.proof.presolve import Merged
from kempe.proof.price_proof import ROOMS, PriceProof, effective_dimension
from kempe.proof.price_rules import Rules
from kempe.proof.relaxation import Data
from random_certificates import Knowledge, Tiny, groups_apart, random_tiny


class Groups:
    """Groups with prices and rules, and the sets that the rules allow, one by one."""

    def __init__(self, seed: int, n: int = 7, d: int = 2) -> None:
        rng = np.random.default_rng(seed)
        self.points = rng.normal(size=(n, d))
        if seed % 3 == 0:
            self.points = self.points.round()
        self.weight = rng.uniform(0.2, 3, size=n)
        self.prices = rng.uniform(0, 3, size=n)
        pairs = np.array(list(combinations(range(n), 2)), dtype=np.int32)
        self.edges = pairs[rng.random(len(pairs)) < rng.choice([0, 0.3, 0.7])]
        self.rules = Rules.of(n, self.edges, rng.random(len(self.edges)))
        if seed % 4 == 1 and len(self.edges):  # a hub, whatever it saves
            self.rules = self._with_hub(int(self.edges[0, 0]))
        self.pricing = _core.Pricing(self.points, self.weight, 1 + seed % 2)
        rules = self.rules
        self.pricing.arrange(rules.unit, rules.hubs, rules.offsets, rules.neighbours)

    def _with_hub(self, hub: int) -> Rules:
        others = np.unique(self.edges[(self.edges == hub).any(axis=1)])
        others = others[others != hub].astype(np.int32)
        unit = self.rules.unit.copy()
        unit[unit == unit[hub]] = np.flatnonzero(unit == unit[hub])
        return Rules(unit, np.array([hub], dtype=np.int32), np.array([0, others.size]), others)

    def allowed(self, members: tuple[int, ...]) -> bool:
        """Whether a set has one group of a unit at most, and nobody with a hub it is apart from."""
        units = [self.rules.unit[i] for i in members]
        lists = np.split(self.rules.neighbours, self.rules.offsets[1:-1])
        apart = [
            set(others.tolist()) & set(members)
            for hub, others in zip(self.rules.hubs, lists, strict=False)
            if hub in members
        ]
        return len(set(units)) == len(units) and not any(apart)

    def value(self, members: Any) -> float:
        """Prices of a set less its cost."""
        members = list(members)
        w, x = self.weight[members], self.points[members]
        mean = w @ x / w.sum()
        return float(self.prices[members].sum() - w @ ((x - mean) ** 2).sum(axis=1))

    def sigma(self) -> float:
        """The most that a set is worth: all of them are looked at."""
        n = len(self.weight)
        sets = (s for size in range(1, n + 1) for s in combinations(range(n), size))
        return max([0.0, *(self.value(s) for s in sets if self.allowed(s))])


@pytest.mark.parametrize("seed", range(60))
def test_a_covering_proves_what_is_true_and_nothing_else(seed):
    groups = Groups(seed)
    sigma = groups.sigma()
    proven, boxes, looks, above = groups.pricing.cover(
        groups.prices, sigma * (1 + 1e-6), 10**6, _core.Stopper()
    )
    assert proven
    assert not above.size
    assert looks >= boxes >= 1
    proven, _, _, above = groups.pricing.cover(groups.prices, sigma * 0.99, 10**6, _core.Stopper())
    assert not proven
    assert above.size == 2


def test_a_covering_ends_after_so_many_boxes_and_at_the_stopper():
    groups = Groups(2, n=40, d=4)
    target = 1.0001 * max(
        groups.pricing.climb(groups.prices, groups.points, 99, _core.Stopper())[0]
    )
    assert not groups.pricing.cover(groups.prices, target, 3, _core.Stopper())[0]
    assert not groups.pricing.cover(groups.prices, target, 10**6, _core.Stopper(0.0))[0]


@pytest.mark.parametrize("seed", range(60))
def test_a_climb_ends_at_a_set_that_pays_where_its_own_mean_is(seed):
    groups = Groups(seed, n=30)
    values, costs, centres, offsets, members = groups.pricing.climb(
        groups.prices, groups.points, 99, _core.Stopper()
    )
    assert len(values)
    for number, value in enumerate(values):
        own = members[offsets[number] : offsets[number + 1]].tolist()
        assert groups.allowed(tuple(own))
        assert value == pytest.approx(groups.value(own))
        assert costs[number] == pytest.approx(groups.prices[own].sum() - value, abs=1e-12)
        np.testing.assert_allclose(
            centres[number], groups.weight[own] @ groups.points[own] / groups.weight[own].sum()
        )
        if not len(groups.edges):  # then it is all that pay there
            squares = ((groups.points - centres[number]) ** 2).sum(axis=1)
            paying = np.flatnonzero(groups.prices - groups.weight * squares > 0)
            assert own == paying.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_climbs_from_everywhere_find_the_best_set_without_rules(seed):
    groups = Groups(seed, n=6)
    groups.pricing.arrange(
        np.arange(6, dtype=np.int32),
        np.empty(0, np.int32),
        np.zeros(1, np.int64),
        np.empty(0, np.int32),
    )
    groups.rules = Rules.none(6)
    grid = np.stack(np.meshgrid(*[np.linspace(-3, 3, 25)] * 2), axis=-1).reshape(-1, 2)
    values = groups.pricing.climb(groups.prices, grid, 99, _core.Stopper())[0]
    assert max(values) == pytest.approx(groups.sigma())


@pytest.mark.parametrize("t", [1.4e308, np.inf])
def test_a_step_that_is_too_long_for_a_double_is_none(t):
    bundle = Bundle(np.full(3, 2.0), 2, 1)
    bundle.add(np.zeros(1), np.zeros((1, 1)), np.array([0, 1]), np.array([0], dtype=np.int32))
    prices = np.ones(3)
    np.testing.assert_array_equal(bundle.step(prices, t), prices)


@pytest.mark.parametrize("seed", range(12))
def test_the_model_is_maximised_as_a_slow_solver_does(seed):
    rng = np.random.default_rng(seed)
    n, m, k, t = 12, 6, 3, float(rng.choice([0.05, 0.5, 5.0]))
    metric = rng.uniform(0.5, 2, size=n)
    member = rng.random((m, n)) < 0.5
    member[:, 0] = True
    costs, prices = rng.uniform(0, 2, size=m), rng.uniform(0, 2, size=n)
    bundle = Bundle(metric, k, 1)
    offsets = np.concatenate([[0], np.cumsum(member.sum(axis=1))])
    columns = np.nonzero(member)[1].astype(np.int32)
    assert bundle.add(costs, np.arange(m, dtype=float)[:, None], offsets, columns) == m
    assert bundle.add(costs, np.arange(m, dtype=float)[:, None], offsets, columns) == 0
    np.testing.assert_allclose(bundle.values(prices), member @ prices - costs)
    bundle.step(prices, t)

    def objective(shares):
        rest = 1 - member.T @ shares
        return t / 2 * metric @ rest**2 - shares @ (member @ prices - costs)

    found = minimize(
        objective,
        np.full(m, k / m),
        bounds=[(0, None)] * m,
        constraints=LinearConstraint(np.ones(m), k, k),
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert bundle.shares.sum() == pytest.approx(k)
    assert objective(bundle.shares) <= found.fun + 1e-3 * abs(found.fun)


@pytest.mark.parametrize("seed", range(30))
def test_rules_name_only_groups_that_are_apart(seed):
    groups = Groups(seed, n=25)
    pairs = {frozenset(edge) for edge in groups.edges.tolist()}
    for name in np.unique(groups.rules.unit):
        for pair in combinations(np.flatnonzero(groups.rules.unit == name).tolist(), 2):
            assert frozenset(pair) in pairs
    lists = np.split(groups.rules.neighbours, groups.rules.offsets[1:-1])
    for hub, others in zip(groups.rules.hubs.tolist(), lists, strict=False):
        assert {frozenset((hub, other)) for other in others.tolist()} <= pairs


def test_a_group_apart_from_all_others_is_a_hub():
    edges = np.array([(0, i) for i in range(1, 30)], dtype=np.int32)
    rules = Rules.of(30, edges, np.ones(29))
    assert rules.hubs.tolist() == [0]
    assert rules.neighbours.tolist() == list(range(1, 30))


# Against all clusterings.


def price_parts(problem: Tiny, labels: Any, seed: int = 0) -> tuple[Part, ...]:
    """What the solver finds for a problem, as a part of a certificate; none if it finds nothing."""
    pairs = Constraints(problem.must_link, problem.cannot_link, n_rows=len(problem.X))
    built = Problem.build(
        problem.X, pairs, n_clusters=problem.n_clusters, sample_weight=problem.weights
    )
    data = Data.centred(built.rows, built.row_weight)
    proof = PriceProof(
        built,
        Merged.of(built, _core.Stopper()),
        data.heavy,
        labels,
        1e-6,
        1,
        np.random.default_rng(seed),
        lambda: False,
        lambda: None,
        _core.Stopper(2.0),
    )
    if proof.size <= problem.n_clusters:
        return ()
    proof.run()
    rows = np.flatnonzero(data.heavy.weight == data.weight)
    if proof.best is None:
        return ()
    for room in ROOMS:
        parts = (Part(rows, proof.nodes(room)),)
        with suppress(CertificateError):
            prove(*problem.data, labels, parts)
            return parts
    return ()  # next to weights a million million times as large, rounding takes all


def never_above_the_optimum(seed: int, n_problems: int) -> Counter[str]:
    rng = np.random.default_rng([31, seed])
    seen: Counter[str] = Counter()
    while seen["bounded"] < n_problems:
        problem = random_tiny(rng)
        if not problem.weights.any():
            continue
        clusterings = problem.feasible()
        inertias = problem.inertias(clusterings)
        labels = clusterings[rng.choice([inertias.argmin(), rng.integers(len(inertias))])]
        parts = price_parts(problem, labels.astype(np.int32), seed)
        if not parts:
            continue
        proven = prove(*problem.data, labels.astype(np.int32), parts)
        optimum = inertias.min()
        assert proven.lower_bound <= optimum
        seen["bounded"] += 1
        seen["pairs"] += bool(len(problem.cannot_link))
        seen["units"] += any(
            np.unique(p.nodes[0].prices.units).size < p.nodes[0].prices.units.size for p in parts
        )
        seen["tight"] += proven.lower_bound > (1 - 1e-5) * optimum > 0
        seen["loose"] += 0 < proven.lower_bound < (1 - 1e-5) * optimum
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_bound_is_above_the_optimum_of_tiny_problems(seed):
    seen = never_above_the_optimum(seed, 100)
    assert min(seen[name] for name in ("bounded", "pairs", "units", "tight", "loose")) > 3


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(3, 43))
def test_no_bound_is_above_the_optimum_of_ten_thousand_tiny_problems(seed):
    never_above_the_optimum(seed, 250)


# Any prices at all: what holds, and what is changed.


def drawn_certificate(seed: int) -> tuple[Tiny, np.ndarray, Prices, float] | None:
    """A tiny problem, labels, random prices with the sigma that all sets have, and the optimum."""
    rng = np.random.default_rng([41, seed])
    problem = random_tiny(rng)
    knowledge = Knowledge(problem)
    groups = knowledge.groups(problem) if problem.weights.any() else []
    if len(groups) <= problem.n_clusters or abs(problem.X).max() > 1e6 or len(groups) < 3:
        return None
    if not 1e-3 < problem.weights.max() < 1e3 or abs(problem.X).max() < 1e-6:
        return None
    apart = groups_apart(knowledge, groups)
    w = np.array([problem.weights[rows].sum() for rows in groups])
    X = problem.X - problem.X.mean(axis=0)
    points = np.array([problem.weights[rows] @ X[rows] for rows in groups]) / w[:, None]
    spread = (w[:, None] * (points - w @ points / w.sum()) ** 2).sum()
    if not spread > 1e-9:
        return None
    made = object.__new__(Groups)
    made.points, made.weight = points, w
    made.prices = rng.exponential(spread / len(w), size=len(w))
    edges = np.argwhere(np.triu(apart)).astype(np.int32)
    made.rules = Rules.of(len(w), edges, rng.random(len(edges)))
    clusterings = problem.feasible()
    inertias = problem.inertias(clusterings)
    most = made.sigma() * (1 + 1e-6) + 1e-6 * spread
    prices = Prices(made.prices, most, made.rules.unit, made.rules.hubs)
    return problem, clusterings[inertias.argmin()].astype(np.int32), prices, float(inertias.min())


DRAWN = [drawn for drawn in map(drawn_certificate, range(900)) if drawn is not None]


def proven_by(problem: Tiny, labels: Any, prices: Prices | None) -> Any:
    node = Node(None, "prices", prices=prices)
    rows = np.flatnonzero(problem.weights >= 0)
    return prove(*problem.data, labels, (Part(rows, (node,)),))


def test_any_prices_prove_what_the_theorem_says_and_no_more():
    assert len(DRAWN) > 40
    positive = 0
    for problem, labels, prices, optimum in DRAWN:
        proven = proven_by(problem, labels, prices)
        assert proven.lower_bound <= optimum
        said = float(prices.prices.sum() - problem.n_clusters * prices.most)
        assert proven.lower_bound >= said * (1 - 1e-6) - 1e-9 * prices.prices.sum()
        positive += said > 0
    assert positive > 5


def refused(reason: str, change: Any) -> None:
    tried = 0
    for problem, labels, prices, _ in DRAWN:
        changed = change(problem, prices)
        if changed is not None:
            tried += 1
            with pytest.raises(CertificateError, match=reason):
                proven_by(problem, labels, changed)
    assert tried > 5


def test_a_cluster_that_is_said_to_take_less():
    refused("more than is claimed", lambda _, p: replace(p, most=0.9 * p.most))
    refused("no number from 0", lambda _, p: replace(p, most=-1.0))
    refused("no number from 0", lambda _, p: replace(p, most=np.nan))


def test_prices_that_are_higher():
    def change(problem, prices):
        higher = prices.prices.copy()
        higher[0] += 1.1 * prices.most
        return replace(prices, prices=higher)

    refused("more than is claimed", change)
    refused("prices of", lambda _, p: replace(p, prices=p.prices[1:]))
    refused("prices of", lambda _, p: replace(p, prices=p.prices * np.nan))


def test_a_scale_that_is_changed():
    refused("no power of two", lambda _, p: replace(p, scale=3.0))
    refused("too large|more than is claimed", lambda _, p: replace(p, scale=2.0**200))


def test_units_of_groups_that_are_not_apart():
    def change(problem, prices):
        units = np.zeros_like(prices.units)
        complete = len(problem.cannot_link) >= units.size * (units.size - 1) // 2
        return None if complete else replace(prices, units=units)

    refused("are not apart", change)
    refused("every group needs a unit", lambda _, p: replace(p, units=p.units[1:]))


def test_hubs_that_are_none():
    refused("no group", lambda _, p: replace(p, hubs=np.array([-1], dtype=np.int32)))
    refused("no group", lambda _, p: replace(p, hubs=np.array([p.units.size], dtype=np.int32)))
    refused("twice", lambda _, p: replace(p, hubs=np.array([0, 0], dtype=np.int32)))


def test_hubs_change_nothing_but_the_cases():
    for problem, labels, prices, optimum in DRAWN[:40]:
        hubs = np.arange(min(3, prices.units.size), dtype=np.int32)
        assert proven_by(problem, labels, replace(prices, hubs=hubs)).lower_bound <= optimum


def test_no_prices_at_all():
    problem, labels, _, _ = DRAWN[0]
    with pytest.raises(CertificateError, match="needs"):
        proven_by(problem, labels, None)


def test_a_covering_that_takes_too_long_is_followed_by_wider_ones(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    problem = Problem.build(X, Constraints(), n_clusters=4, sample_weight=np.ones(200))
    data = Data.centred(problem.rows, problem.row_weight)
    labels = 2 * (X[:, 0] > 0).astype(np.int32) + (X[:, 1] > 0)
    monkeypatch.setattr(price_proof, "LOSS_SHARE", 1e-3)
    stopper = _core.Stopper(30.0)
    proof = PriceProof(
        problem, Merged.nothing(problem), data.heavy, labels, 1e-6, 1, rng,
        lambda: False, lambda: None, stopper,
    )  # fmt: skip
    tried = []
    whole = proof._cover

    def cover(ascent, *share):
        tried.append(proof._tolerance)
        return whole(ascent, *share) if proof._tolerance > 0.02 else None

    monkeypatch.setattr(proof, "_cover", cover)
    proof.run()
    assert 0.02 < proof._reached < 0.04
    assert proof.best.bound > 0
    assert len(tried) < 12


def test_two_clusters_merge_the_sides_of_their_pairs():
    rng = np.random.default_rng(0)
    X, n = rng.normal(size=(80, 2)), 80
    path = np.column_stack([np.arange(39), np.arange(1, 40)])
    problem = Problem.build(
        X, Constraints(cannot_link=path), n_clusters=2, sample_weight=np.ones(n)
    )
    labels = (np.arange(n) % 2).astype(np.int32)
    data = Data.centred(problem.rows, problem.row_weight)
    bounds = []
    for merged in (Merged.nothing(problem), Merged.of(problem, _core.Stopper())):
        proof = PriceProof(
            problem,
            merged,
            data.heavy,
            labels,
            1e-6,
            1,
            rng,
            lambda: False,
            lambda: None,
            _core.Stopper(5.0),
        )
        proof.run()
        parts = (Part(np.arange(n), proof.nodes(1e-8)),)
        inputs = X, np.ones(n), np.empty((0, 2), np.int64), path, 2
        bounds.append((proof.size, prove(*inputs, labels, parts).lower_bound))
    assert [size for size, _ in bounds] == [80, 42]
    assert bounds[1][1] > 1.01 * bounds[0][1]


# The whole.


def blobs(n: int = 7000, k: int = 5, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    hidden = np.arange(n) % k
    X = 6 * rng.normal(size=(k, 2))[hidden] + rng.normal(size=(n, 2))
    drawn = rng.integers(n, size=(n // 20, 2))
    return X, hidden, drawn[hidden[drawn[:, 0]] != hidden[drawn[:, 1]]]


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_thousands_of_rows_are_bounded_at_once(tmp_path, n_jobs):
    X, _, apart = blobs()
    # Good labels: what hidden ones lack is in every gap, however good the bound.
    model = KempeKMeans(5, time_limit=5, random_state=0).fit(X, cannot_link=apart)
    certificate = certify(X, model, cannot_link=apart, time_limit=20, random_state=0, n_jobs=n_jobs)
    assert certificate.method == "prices"
    assert certificate.gap < 0.05
    assert "prices" in certificate.summary()
    certificate.save(tmp_path / "proof.kempe")
    again = OptimalityCertificate.load(tmp_path / "proof.kempe")
    proven = again.verify(X, cannot_link=apart)
    assert proven.lower_bound == pytest.approx(certificate.lower_bound)
    (node,) = again.parts[0].nodes
    lower = replace(node, prices=replace(node.prices, most=0.99 * node.prices.most))
    changed = replace(again, parts=(replace(again.parts[0], nodes=(lower,)),))
    with pytest.raises(CertificateError, match="more than is claimed"):
        changed.verify(X, cannot_link=apart)


def test_some_rows_say_in_how_many_dimensions_all_of_them_lie():
    rng = np.random.default_rng(0)
    inside, n = rng.normal(size=(3, 400)), 5000
    rows = rng.normal(size=(n, 3)) @ inside + 1e-3 * rng.normal(size=(n, 400))
    weight = np.where(np.arange(n) % 5 == 0, 0.0, rng.uniform(0.5, 2.0, size=n))
    centred = rows - weight @ rows / weight.sum()
    spectrum = np.linalg.eigvalsh(centred.T @ (weight[:, None] * centred))
    exact = spectrum.sum() ** 2 / (spectrum**2).sum()
    assert effective_dimension(Data(rows, weight)) == pytest.approx(exact, rel=0.1)
    few = Data(np.ascontiguousarray(rows[:, :100]), weight)
    assert effective_dimension(few) == pytest.approx(exact, rel=0.2)
    assert effective_dimension(Data(np.zeros((5, 300)), np.ones(5))) == 0.0
