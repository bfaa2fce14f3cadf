"""PCKMeans against a slow, obvious twin, and on cases worked by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kempe import Constraints, NoSolutionFoundError
from kempe.problem import Problem
from kempe.rivals import PCKMeans
from kempe.rivals import pckmeans as module
from kempe.rivals.pckmeans import apart_from_all, centroids_of, neighbourhoods, with_entailed
from kempe.rivals.soft import WeightedPairs


def noisy(seed, *, n=40, k=3, n_pairs=40, wrong=0.1):
    """Groups of rows, and pairs of which some are wrong, with weights."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(k, size=n)
    X = rng.normal(size=(n, 2)) + 3 * np.eye(k, 2)[hidden]
    every = np.array(list(itertools.combinations(range(n), 2)))
    pairs = every[rng.choice(len(every), n_pairs, replace=False)]
    together = (hidden[pairs[:, 0]] == hidden[pairs[:, 1]]) ^ (rng.random(n_pairs) < wrong)
    return X, pairs, together, rng.uniform(0.2, 3.0, size=n_pairs)


class Twin:
    """The publication, row by row, pair by pair; draws what the estimator draws."""

    def __init__(self, model, X, pairs, together, weight, entailed):
        self.rng, self.price, self.k = model._generator(), model.soft_price, model.n_clusters
        self.X = X - X.mean(axis=0)
        self.hoods = self._hoods(pairs[together])
        self.said = {
            frozenset(map(int, pair)): (bool(joined), float(worth))
            for pair, joined, worth in zip(pairs, together, weight, strict=True)
        }
        if entailed:
            self._entail(pairs[~together], float(weight.mean()))

    def _hoods(self, joined):
        hood = list(range(len(self.X)))
        for a, b in joined.tolist():
            old, new = hood[a], hood[b]
            hood = [new if one == old else one for one in hood]
        return hood

    def _entail(self, apart, worth):
        parted = {frozenset((self.hoods[a], self.hoods[b])) for a, b in apart.tolist()}
        for a, b in itertools.combinations(range(len(self.X)), 2):
            two = frozenset((self.hoods[a], self.hoods[b]))
            if frozenset((a, b)) not in self.said and (len(two) == 1 or two in parted):
                self.said[frozenset((a, b))] = (len(two) == 1, worth)

    def start(self):
        groups = {}
        for row, hood in enumerate(self.hoods):
            groups.setdefault(hood, []).append(row)
        largest = sorted((g for g in groups.values() if len(g) > 1), key=lambda g: (-len(g), g[0]))
        assert len(largest) >= self.k
        return np.array([self.X[group].mean(axis=0) for group in largest[: self.k]])

    def broken(self, labels):
        return sum(
            worth
            for pair, (joined, worth) in self.said.items()
            if (len({int(labels[row]) for row in pair}) == 1) != joined
        )

    def place(self, row, labels, centroids):
        costs = ((self.X[row] - centroids) ** 2).sum(axis=1)
        for pair, (joined, worth) in self.said.items():
            if row in pair:
                [other] = pair - {row}
                for c in range(self.k):
                    costs[c] += (
                        self.price * worth * (labels[other] >= 0) * ((labels[other] == c) != joined)
                    )
        return int(costs.argmin())

    def run(self):
        labels, centroids, last = np.full(len(self.X), -1), self.start(), np.inf
        best = None
        while True:
            for row in self.rng.permutation(len(self.X)):
                labels[row] = self.place(row, labels, centroids)
            assert len(set(labels)) == self.k
            centroids = np.array([self.X[labels == c].mean(axis=0) for c in range(self.k)])
            value = ((self.X - centroids[labels]) ** 2).sum() + self.price * self.broken(labels)
            if value >= last * (1 - 1e-12):
                return best, last
            best, last = labels.copy(), value


@pytest.mark.parametrize("entailed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_it_makes_the_moves_of_its_twin(seed, entailed):
    X, pairs, together, weight = noisy(seed)
    model = PCKMeans(3, entailed=entailed, soft_price=0.7, random_state=seed)
    twin = Twin(model, X, pairs, together, weight, entailed)
    model.fit(
        X,
        soft_must_link=pairs[together],
        soft_cannot_link=pairs[~together],
        soft_must_link_confidence=weight[together],
        soft_cannot_link_confidence=weight[~together],
    )
    labels, value = twin.run()
    np.testing.assert_array_equal(model.labels_, labels)
    assert model.objective_ == pytest.approx(value)


def test_neighbourhoods_are_what_must_link_pairs_join_whatever_the_order():
    problem = Problem.build(np.arange(7.0)[:, None], Constraints([(0, 6)]), n_clusters=2)
    soft = WeightedPairs.build(problem, [(3, 1), (5, 3)], [(1, 0)])
    hoods = neighbourhoods(problem, soft)
    of = [[int(row) for row in np.flatnonzero(hoods == h)] for h in np.unique(hoods)]
    assert sorted(of) == [[0], [1, 3, 5], [2], [4]]
    # The largest is the first; then the supernode of two rows.
    found = centroids_of(problem, soft, hoods, np.random.default_rng(0)) + problem.shift
    assert found.ravel() == pytest.approx([3.0, 3.0])


def test_missing_neighbourhoods_are_made_up_for():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [50.0], [70.0]])
    problem = Problem.build(X, Constraints(cannot_link=[(4, 0)]), n_clusters=4)
    soft = WeightedPairs.build(problem, [(0, 1), (2, 3)], [(4, 2), (5, 2)])
    hoods = neighbourhoods(problem, soft)
    two = np.unique(hoods[[0, 2]])
    assert apart_from_all(problem, soft, hoods, two).tolist() == [4]  # 5 is apart from one alone
    starts = [
        centroids_of(problem, soft, hoods, np.random.default_rng(seed)) + problem.shift
        for seed in (0, 0, 1)
    ]
    assert starts[0][:3].ravel() == pytest.approx([0.5, 10.5, 50.0])
    assert starts[0][3] == starts[1][3] != starts[2][3]


def test_what_follows_does_not_overrule_what_was_said():
    problem = Problem.build(np.arange(6.0)[:, None], Constraints(None, [(3, 5)]), n_clusters=2)
    soft = WeightedPairs.build(problem, [(0, 1), (1, 2), (3, 4)], [(0, 2), (2, 4)], 2.0, 1.0)
    counted = with_entailed(problem, soft, neighbourhoods(problem, soft))
    told = {
        (int(a), int(b)): (bool(joined), float(weight))
        for a, b, weight, joined in zip(
            counted.first, counted.second, counted.confidence, counted.together, strict=True
        )
    }
    given = {(0, 1): (True, 2.0), (1, 2): (True, 2.0), (3, 4): (True, 2.0)}
    given |= {(0, 2): (False, 1.0), (2, 4): (False, 1.0)}
    follows = [(a, b) for a in (0, 1, 2) for b in (3, 4) if (a, b) != (2, 4)]
    # Row 5 is kept apart from row 3 by a hard pair, so from its neighbourhood as well.
    assert told == given | dict.fromkeys([*follows, (4, 5)], (False, 8.0 / 5))


def test_too_many_pairs_that_follow_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_ENTAILED", 5)
    X, chain = np.arange(8.0)[:, None], [(i, i + 1) for i in range(5)]
    with pytest.raises(ValueError, match=r"15 pairs follow from the 5 .* entailed=False"):
        PCKMeans(2, random_state=0).fit(X, soft_must_link=chain)
    assert PCKMeans(2, entailed=False, random_state=0).fit(X, soft_must_link=chain)


def test_hard_pairs_hold_and_soft_ones_are_told():
    X, pairs, together, _ = noisy(3)
    soft = Constraints(soft_must_link=pairs[together], soft_cannot_link=pairs[~together])
    hard = Constraints([(0, 1), (2, 3)], [(0, 2), (5, 6)])
    model = PCKMeans(3, random_state=0).fit(X, constraints=hard | soft)
    assert hard.violations(model.labels_).must_link.size == 0
    assert hard.violations(model.labels_).cannot_link.size == 0
    broken = soft.soft.violations(model.labels_)
    assert len(model.result_.violated) == broken.count == model.soft_violation_ > 0
    price = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert model.result_.violated["price"].to_numpy() == pytest.approx(price)


def test_without_soft_pairs_it_is_plain_k_means_from_its_start():
    X, *_ = noisy(1)
    model = PCKMeans(3, init="k-means++", random_state=0).fit(X)
    nearest = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.labels_, nearest)


def test_a_first_round_without_a_free_cluster_ends_in_an_error():
    X = np.arange(6.0)[:, None]
    apart = [(0, 1), (2, 3), (4, 5), (0, 3), (2, 5), (4, 1)]  # a ring of six: two colours do
    failures = 0
    for seed in range(20):
        try:
            labels = PCKMeans(2, random_state=seed).fit(X, cannot_link=apart).labels_
        except NoSolutionFoundError:
            failures += 1
        else:
            assert all(labels[a] != labels[b] for a, b in apart)
    assert 0 < failures < 20
