"""Bounds that know limits on sizes and soft pairs are never above the best, and often meet it."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest

from kempe import Constraints, KempeKMeans, certify
from kempe.exceptions import CertificateError, FileFormatError
from kempe.proof import OptimalityCertificate
from kempe.proof.certificate import Cuts, Multipliers, Node, Part, data_hash
from kempe.proof.checking import prove
from kempe.proof.checking.terms import Sizes as CheckedSizes
from kempe.proof.nodes import SoftPairs
from kempe.proof.terms import Sizes
from kempe.sizes import SizeLimits
from random_certificates import Tiny, random_tiny

NO_PAIRS = np.empty((0, 2), dtype=np.int64)


class Case(NamedTuple):
    """A tiny problem with limits, soft pairs, or both; its best clustering and what that costs."""

    problem: Tiny
    limits: tuple[np.ndarray, np.ndarray] | None
    soft: SoftPairs | None
    labels: np.ndarray
    best: float

    @property
    def constraints(self) -> Constraints:
        soft = SoftPairs.none() if self.soft is None else self.soft
        return Constraints(
            self.problem.must_link,
            self.problem.cannot_link,
            soft_must_link=soft.pairs[soft.together],
            soft_cannot_link=soft.pairs[~soft.together],
        )

    @property
    def sizes(self) -> dict[str, Any]:
        return (
            {} if self.limits is None else {"size_min": self.limits[0], "size_max": self.limits[1]}
        )


def broken(soft: SoftPairs | None, clusterings: np.ndarray) -> np.ndarray:
    if soft is None:
        return np.zeros(len(clusterings))
    a, b = soft.pairs.T
    return ((clusterings[:, a] == clusterings[:, b]) != soft.together) @ soft.prices


def named_clusterings(problem: Tiny, limits) -> np.ndarray:
    """Clusterings that obey pairs and limits; with limits, clusters have names."""
    if limits is None:
        return problem.feasible()
    n, k = len(problem.X), problem.n_clusters
    every = np.stack(np.unravel_index(np.arange(k**n), (k,) * n), axis=1)
    for a, b in problem.must_link:
        every = every[every[:, a] == every[:, b]]
    for a, b in problem.cannot_link:
        every = every[every[:, a] != every[:, b]]
    sizes = (every[:, :, None] == np.arange(k)).sum(axis=1)
    return every[((sizes >= limits[0]) & (sizes <= limits[1])).all(axis=1)]


def inertias(problem: Tiny, clusterings: np.ndarray) -> np.ndarray:
    total = np.zeros(len(clusterings))
    X = problem.X - problem.X[problem.weights.argmax()]  # or light rows would drown in rounding
    for cluster in range(problem.n_clusters):
        member = (clusterings == cluster) * problem.weights
        weight = member.sum(axis=1)
        sums = ((member @ X) ** 2).sum(axis=1)
        of_mean = np.divide(sums, weight, where=weight > 0, out=np.zeros_like(sums))
        total += member @ (X**2).sum(axis=1) - of_mean
    return total


def random_case(rng: np.random.Generator, limited: float = 0.7) -> Case | None:
    """A random problem; none if limits leave no clustering."""
    problem = random_tiny(rng)
    n, k = len(problem.X), problem.n_clusters
    X, heavy = problem.X, problem.weights > 0
    if (
        not 2 <= n <= 7
        or np.unique(X[heavy], axis=0).shape[0] < 2
        or np.ptp(X) < 1e-6 * abs(X).max()
    ):
        return None
    limits = None
    if rng.random() < limited:
        least = rng.integers(1, max(2, n // k + 1), size=k)
        limits = least, np.minimum(least + rng.integers(0, n, size=k), n)
        if rng.random() < 0.5:
            limits = np.full(k, max(1, n // k)), np.full(k, -(-n // k))
    every = named_clusterings(problem, limits)
    if not len(every):
        return None
    pairs = np.array(list(combinations(range(n), 2)))
    m = int(rng.integers(0, 8)) if limits is not None else int(rng.integers(1, 8))
    spread = inertias(problem, np.zeros((1, n), dtype=int))[0]
    soft = None
    if m:
        usual = abs(spread) or problem.weights.sum()
        price = usual * rng.choice([0.01, 0.3, 3.0]) * rng.uniform(0.5, 1, size=m)
        soft = SoftPairs(pairs[rng.integers(0, len(pairs), size=m)], rng.random(m) < 0.5, price)
    cost = inertias(problem, every) + broken(soft, every)
    at = int(cost.argmin())
    return Case(problem, limits, soft, every[at].astype(np.int32), float(cost[at]))


def cases(seed: int, count: int, **how: float) -> list[Case]:
    rng = np.random.default_rng(seed)
    drawn = (random_case(rng, **how) for _ in range(count))
    return [case for case in drawn if case is not None]


def scatter(case: Case) -> float:
    """What rounding is relative to: all sums of squares and all prices."""
    prices = 0.0 if case.soft is None else case.soft.prices.sum()
    return float(case.problem.weights @ (case.problem.X**2).sum(axis=1) + prices)


def random_multipliers(rng: np.random.Generator, case: Case) -> Node | None:
    """Any multipliers at all prove something, if their signs are right."""
    problem = case.problem
    group = np.arange(len(problem.X))
    for a, b in problem.must_link:
        group[group == max(group[a], group[b])] = min(group[a], group[b])
    names = [g for g in np.unique(group) if problem.weights[group == g].sum() > 0]
    n = len(names)
    if n <= problem.n_clusters:
        return Node(None, "few")
    X = problem.X[problem.weights > 0]
    spread = float(problem.weights.max() * ((X - X[:1]) ** 2).sum())
    size = (spread or problem.weights.max()) * rng.choice([1e-3, 0.1, 1.0])
    slack = np.abs(rng.normal(size=(n, n))) * (rng.random((n, n)) < 0.5)
    slack = np.tril(slack) + np.tril(slack, -1).T
    if case.limits is not None:
        slack[np.diag_indices(n)] = rng.normal(size=n)
    cuts = Cuts.none()
    if n > 2:
        rows = [rng.permutation(n)[:3].tolist() for _ in range(4)]
        mu = rng.random(4) * rng.random()
        cuts = Cuts.of([row[0] for row in rows], [row[1:] for row in rows], mu.tolist())
    scale = 2.0 ** float(np.round(np.log2(size)))
    return Node(None, "bound", multipliers=Multipliers(slack.astype(np.float32), cuts, scale))


def proven(case: Case, node: Node) -> Any:
    parts = (Part(np.arange(len(case.problem.X)), (node,)),)
    return prove(*case.problem.data, case.labels, parts, case.limits, case.soft)


@pytest.mark.parametrize("seed", range(8))
def test_no_multipliers_prove_more_than_the_best_clustering(seed):
    rng = np.random.default_rng(seed)
    found = cases(seed, 250)
    bounds = []
    for case in found:
        node = random_multipliers(rng, case)
        bound = proven(case, node)
        assert bound.lower_bound <= case.best + 1e-9 * scatter(case)
        assert bound.objective >= case.best - 1e-9 * scatter(case)
        bounds.append(bound.lower_bound)
    assert len(found) > 40
    assert np.count_nonzero(bounds) > 10


@pytest.mark.parametrize("seed", range(6))
def test_bounds_found_are_never_above_the_best_clustering_and_mostly_meet_it(seed):
    found = cases(100 + seed, 30)
    gaps = [gap_of(case) for case in found]
    assert len(found) > 5
    assert np.mean(np.array(gaps) <= 1e-4) > 0.6


@pytest.mark.stress
def test_thousands_of_bounds_are_never_above_the_best_clustering():
    assert len([gap_of(case) for case in cases(7, 6000)]) > 2000


def gap_of(case: Case) -> float:
    """Certify the best labels; the prices of a case are not those of a rule, so they are given."""
    price = None if case.soft is None else float(case.soft.prices.max())
    soft = None
    if case.soft is not None:
        soft = replace(case.soft, prices=np.full(len(case.soft.prices), price))
    every = named_clusterings(case.problem, case.limits)
    cost = inertias(case.problem, every) + broken(soft, every)
    labels, best = every[cost.argmin()], cost.min()
    given = {"constraints": case.constraints, "sample_weight": case.problem.weights, **case.sizes}
    k = case.problem.n_clusters
    how = {"n_clusters": k, "soft_price": price, "time_limit": 2, "random_state": 0}
    found = certify(case.problem.X, labels, **how, **given)
    assert found.lower_bound <= best + 1e-9 * scatter(case)
    assert found.objective == pytest.approx(best, rel=1e-6, abs=1e-9 * scatter(case))
    assert found.verify(case.problem.X, **given).lower_bound == found.lower_bound
    return found.gap


@pytest.mark.parametrize("seed", range(30))
def test_both_sides_of_a_proof_know_the_same_of_weights_and_sizes(seed):
    rng = np.random.default_rng(seed)
    n, k = 12, 3
    weight = rng.choice([0.0, 1.0, 2.5, 7.0], size=n) + (seed % 2)
    least = rng.integers(1, 5, size=k)
    most = least + rng.integers(0, 6, size=k)
    limits = SizeLimits(least.astype(np.int32), most.astype(np.int32))
    ours, theirs = Sizes.of(weight, limits), CheckedSizes((limits.least, limits.most), weight)
    rows = rng.integers(1, 5, size=6)
    own = rng.uniform(0.1, 5, size=6)
    np.testing.assert_allclose(ours.at_least(own, rows), theirs.at_least(own, rows), rtol=1e-12)
    np.testing.assert_allclose(ours.at_most(own, rows), theirs.at_most(own, rows), rtol=1e-12)
    for _ in range(20):
        counts = np.bincount(rng.integers(0, int(rng.integers(1, 6)), size=n))
        counts = counts[counts > 0]
        assert ours.exclude(counts) == theirs.exclude(counts.tolist())


def test_weights_of_clusters_are_those_of_the_lightest_and_heaviest_rows():
    limits = SizeLimits.of(2, 3, 5, 2)
    sizes = Sizes.of(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), limits)
    # A row of weight 4 with one more row at least, and with two more at most.
    assert sizes.at_least(np.array([4.0]), np.array([1])) == [5.0]
    assert sizes.at_most(np.array([4.0]), np.array([1])) == [28.0]
    assert not sizes.exclude(np.array([3, 2]))
    assert sizes.exclude(np.array([4, 1]))


def two_blobs(n: int = 24) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.concatenate([rng.normal(size=(2 * n // 3, 2)), rng.normal(4, 1, size=(n // 3, 2))])


def test_equal_sizes_are_proven_optimal_where_a_bound_without_them_is_far_below():
    X = two_blobs()
    model = KempeKMeans(2, size_min=12, size_max=12, random_state=0).fit(X)
    found = certify(X, model, time_limit=20)
    assert found.is_optimal
    free = certify(X, KempeKMeans(2, random_state=0).fit(X), time_limit=20)
    assert free.lower_bound < 0.8 * found.lower_bound


def noisy() -> tuple[np.ndarray, dict[str, Any]]:
    """Rows, and soft pairs of which some say the opposite of what distances say."""
    X = two_blobs()
    pairs = {"soft_must_link": [(0, 1), (2, 20), (3, 4)], "soft_cannot_link": [(0, 23), (5, 6)]}
    return X, pairs


def test_the_objective_with_soft_pairs_is_proven_optimal():
    X, pairs = noisy()
    model = KempeKMeans(2, soft_price=8.0, random_state=0).fit(X, **pairs)
    found = certify(X, model, time_limit=20, **pairs)
    assert found.is_optimal
    assert found.objective == pytest.approx(model.objective_)
    assert found.inertia == pytest.approx(model.inertia_)
    assert found.objective > found.inertia
    assert "broken of 5 soft pairs" in found.summary()


def test_prices_come_from_the_model_the_user_or_the_labels():
    X, pairs = noisy()
    model = KempeKMeans(2, random_state=0).fit(X, **pairs)
    paid = model.result_.broken.pair_price
    by_model = certify(X, model, time_limit=5, **pairs)
    np.testing.assert_array_equal(by_model.soft.prices, paid.of_rows(np.full(5, np.nan)))
    by_user = certify(X, model, soft_price=1.5, time_limit=5, **pairs)
    np.testing.assert_array_equal(by_user.soft.prices, np.full(5, 1.5))
    by_labels = certify(X, model.labels_, time_limit=5, **pairs)
    assert (by_labels.soft.prices > 0).all()
    searched = certify(X, n_clusters=2, time_limit=5, random_state=0, **pairs)
    assert searched.soft is not None
    with pytest.raises(ValueError, match="soft_price=-1"):
        certify(X, model, soft_price=-1.0, **pairs)
    sure = Constraints(soft_must_link=[(0, 1)], soft_must_link_confidence=0.9)
    with pytest.raises(ValueError, match="none of them may have a confidence"):
        certify(X, model.labels_, soft_price=1.0, constraints=sure)


def test_prices_are_part_of_the_file_and_of_what_is_proven(tmp_path):
    X, pairs = noisy()
    found = certify(X, KempeKMeans(2, random_state=0).fit(X, **pairs), time_limit=5, **pairs)
    found.save(tmp_path / "proof.kempe")
    again = OptimalityCertificate.load(tmp_path / "proof.kempe")
    proven = again.verify(X, **pairs)
    assert proven.lower_bound == found.lower_bound
    assert proven.objective == pytest.approx(again.objective)
    # In any order, but no others.
    turned = {name: [(b, a) for a, b in given[::-1]] for name, given in pairs.items()}
    assert again.verify(X, **turned).lower_bound == found.lower_bound
    fewer = {**pairs, "soft_must_link": pairs["soft_must_link"][:2]}
    with pytest.raises(CertificateError, match="for 5 soft pairs, not for these 4"):
        again.verify(X, **fewer)
    with pytest.raises(CertificateError, match="soft pairs"):
        again.verify(X)
    with pytest.raises(CertificateError, match="soft pairs"):
        again.verify(X, soft_cannot_link=[*pairs["soft_must_link"], *pairs["soft_cannot_link"]])
    without = certify(X, found.labels, time_limit=5)
    with pytest.raises(CertificateError, match="for 0 soft pairs"):
        without.verify(X, **pairs)


def forged(found: OptimalityCertificate, X: np.ndarray, **changes: Any) -> OptimalityCertificate:
    """Other soft pairs, with a hash that fits."""
    soft = replace(found.soft, **changes)
    named = data_hash(X, np.ones(len(X)), NO_PAIRS, NO_PAIRS, found.n_clusters, None, soft)
    return replace(found, soft=soft, data_hash=named)


def test_what_is_changed_about_prices_is_noticed():
    X, pairs = noisy()
    model = KempeKMeans(2, soft_price=8.0, random_state=0).fit(X, **pairs)
    found = certify(X, model, time_limit=20, **pairs)
    prices = found.soft.prices
    with pytest.raises(CertificateError, match="other data"):
        replace(found, soft=replace(found.soft, prices=prices * 2)).verify(X, **pairs)
    with pytest.raises(CertificateError, match="the proof gives a bound"):
        forged(found, X, prices=prices / 4).verify(X, **pairs)
    for wrong in (-prices, prices * np.nan, prices * np.inf):
        with pytest.raises(CertificateError, match="at least 0"):
            forged(found, X, prices=wrong).verify(X, **pairs)
    with pytest.raises(CertificateError, match="soft pairs"):
        forged(found, X, together=~found.soft.together).verify(X, **pairs)


def test_files_with_soft_pairs_that_are_none_are_refused(tmp_path):
    X, pairs = noisy()
    found = certify(X, KempeKMeans(2, random_state=0).fit(X, **pairs), time_limit=1, **pairs)
    soft = found.soft
    for wrong in (
        replace(soft, prices=soft.prices[:-1]),
        replace(soft, prices=soft.prices.astype(np.int64)),
        replace(soft, together=soft.together[1:]),
        replace(soft, pairs=soft.pairs.ravel()),
    ):
        replace(found, soft=wrong).save(tmp_path / "proof.kempe")
        with pytest.raises(FileFormatError):
            OptimalityCertificate.load(tmp_path / "proof.kempe")


def test_the_diagonal_may_be_negative_only_where_sizes_are_limited():
    X = two_blobs()
    model = KempeKMeans(2, size_min=12, size_max=12, random_state=0).fit(X)
    found = certify(X, model, time_limit=20)
    (part,) = found.parts
    inputs = X, np.ones(len(X)), NO_PAIRS, NO_PAIRS, 2, found.labels, found.parts
    limits = np.full(2, 12), np.full(2, 12)
    assert prove(*inputs, limits).lower_bound == found.lower_bound
    found_by = [node.multipliers for node in part.nodes if node.multipliers]
    assert any((multipliers.slack.diagonal() < 0).any() for multipliers in found_by)
    with pytest.raises(CertificateError, match="not apart, is negative"):
        prove(*inputs)
    # With wider limits the same multipliers prove less.
    wider = np.full(2, 8), np.full(2, 16)
    assert prove(*inputs, wider).lower_bound < found.lower_bound


def test_sizes_exclude_nothing_that_is_within_limits():
    X = np.arange(6.0)[:, None]
    limits = np.full(2, 2), np.full(2, 4)
    node = Node(None, "contradiction")
    parts = (Part(np.arange(6), (node,)),)
    inputs = X, np.ones(6), NO_PAIRS, NO_PAIRS, 2, np.array([0, 0, 0, 1, 1, 1]), parts
    with pytest.raises(CertificateError, match="no contradiction"):
        prove(*inputs, limits)
    with pytest.raises(CertificateError, match="no contradiction"):
        prove(*inputs)


def test_parts_bound_the_inertia_alone():
    X, pairs = noisy()
    model = KempeKMeans(2, soft_price=8.0, random_state=0).fit(X, **pairs)
    soft = certify(X, model, time_limit=5, **pairs).soft
    rows = np.arange(len(X))
    slack = np.zeros((12, 12), dtype=np.float32)
    halves = tuple(
        Part(half, (Node(None, "bound", multipliers=Multipliers(slack)),))
        for half in (rows[::2], rows[1::2])
    )
    data = X, np.ones(len(X)), NO_PAIRS, NO_PAIRS, 2, model.labels_
    with_prices = prove(*data, halves, None, soft)
    assert with_prices.lower_bound == prove(*data, halves).lower_bound
    assert with_prices.objective > with_prices.inertia


@pytest.mark.parametrize(("share", "method"), [(0.9, "prices"), (0.0, "parts")])
def test_large_data_is_bounded_without_terms_and_says_so(share, method, monkeypatch):
    from kempe.proof import certify as module

    monkeypatch.setattr(module, "PRESOLVE_UP_TO", 10)
    monkeypatch.setattr(module, "PRICE_SHARE", share)
    monkeypatch.setattr(module, "PRICE_TRIAL", share)
    monkeypatch.setattr(module, "part_size", lambda *_: 12)
    X, pairs = noisy()
    model = KempeKMeans(2, soft_price=8.0, size_min=6, random_state=0).fit(X, **pairs)
    found = certify(X, model, time_limit=5, random_state=0, **pairs)
    assert found.method == method
    assert "; the bound leaves them out" in found.summary()
    assert 0 < found.lower_bound <= found.inertia < found.objective
    assert found.verify(X, size_min=6, **pairs).lower_bound == found.lower_bound
