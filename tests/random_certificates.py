"""Tiny problems, their optima by exhaustive search, and random proofs about them.

Any multipliers that obey the rules give a valid bound, and so does any tree: what is drawn here is
right by construction, whatever it is worth. Facts are kept as matrices over rows and values come
straight from the theorem, in a way as different from the checker's as can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.proof import OptimalityCertificate
from kempe.proof.certificate import Cuts, Deduction, Multipliers, Node, Part, data_hash
from kempe.proof.checking import prove


@cache
def partitions(n: int) -> NDArray[np.int64]:
    """All partitions of n rows, as labels in the order of their first rows."""
    rows = [[0]]
    for _ in range(n - 1):
        rows = [[*labels, new] for labels in rows for new in range(max(labels) + 2)]
    return np.array(rows)


@dataclass(frozen=True)
class Tiny:
    """A problem small enough to look at every clustering."""

    X: NDArray[np.float64]
    weights: NDArray[np.float64]
    must_link: NDArray[np.int64]
    cannot_link: NDArray[np.int64]
    n_clusters: int

    @property
    def data(self) -> tuple[Any, ...]:
        """Arguments of the checker."""
        return self.X, self.weights, self.must_link, self.cannot_link, self.n_clusters

    def feasible(self) -> NDArray[np.int64]:
        """All clusterings that obey the pairs."""
        every = partitions(len(self.X))
        every = every[every.max(axis=1) < self.n_clusters]
        for a, b in self.must_link:
            every = every[every[:, a] == every[:, b]]
        for a, b in self.cannot_link:
            every = every[every[:, a] != every[:, b]]
        return every

    def inertias(self, clusterings: NDArray[np.int64]) -> NDArray[np.longdouble]:
        """Inertia of clusterings, with more digits than doubles have where there are any."""
        n = len(self.X)
        members = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        cost = np.array([self._inside(np.flatnonzero(rows)) for rows in members])
        clusters = np.arange(n)[:, None]
        blocks = ((clusterings[:, None, :] == clusters) << np.arange(n)).sum(axis=2)
        return cost[blocks].sum(axis=1)

    def _inside(self, rows: NDArray[np.int64]) -> np.longdouble:
        rows = rows[self.weights[rows] > 0]
        if not rows.size:
            return np.longdouble(0)
        x, w = (values[rows].astype(np.longdouble) for values in (self.X, self.weights))
        x = x - x[0]
        mean = w @ x / w.sum()
        return w @ ((x - mean) ** 2).sum(axis=1)


def random_tiny(rng: np.random.Generator) -> Tiny:
    """A feasible problem, often with something unpleasant about it."""
    n, d, k = int(rng.integers(1, 9, size=2).max()), rng.integers(1, 4), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X = X.round()  # ties and duplicates
    if rng.random() < 0.3:
        X[rng.integers(n, size=n // 2)] = X[0]
    weights = [np.ones(n), rng.uniform(0.1, 3, n), 10.0 ** rng.uniform(-6, 6, n)][rng.integers(3)]
    if rng.random() < 0.3:
        weights = weights * (rng.random(n) < 0.7)
    X, weights = X * 10.0 ** rng.choice([0, 0, -90, 90]), weights * 10.0 ** rng.choice([0, -40, 40])
    if rng.random() < 0.2:
        X = X + rng.choice([1e3, 1e8]) * abs(X).max()
    return Tiny(X, weights, *_random_pairs(rng, n, k), k)


def _random_pairs(rng: np.random.Generator, n: int, k: int) -> list[NDArray[np.int64]]:
    hidden = rng.integers(k, size=n)
    pairs = np.array(list(combinations(range(n), 2)), dtype=np.int64).reshape(-1, 2)
    pairs = pairs[rng.random(len(pairs)) < rng.choice([0, 0.2, 0.5])]
    same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    kept = rng.random(len(pairs)) < 0.5
    return [pairs[same & kept], pairs[~same]]


class Knowledge:
    """Which rows are together and which are apart, as matrices."""

    def __init__(self, problem: Tiny) -> None:
        n = len(problem.X)
        self.together, self.apart = np.eye(n, dtype=bool), np.zeros((n, n), dtype=bool)
        for pair in problem.must_link:
            self.add("together", *pair)
        for pair in problem.cannot_link:
            self.add("apart", *pair)

    def copy(self) -> Knowledge:
        """The same, to be changed."""
        other = object.__new__(Knowledge)
        other.together, other.apart = self.together.copy(), self.apart.copy()
        return other

    def add(self, relation: str, a: int, b: int) -> None:
        """Add a fact and what follows from it."""
        if relation == "together":
            both = self.together[a] | self.together[b]
            self.together |= np.outer(both, both)
        else:
            self.apart[[a, b], [b, a]] = True
        self.apart = self.together @ self.apart @ self.together

    def cliques(self, size: int) -> list[tuple[int, ...]]:
        """All sets of rows that are pairwise apart."""
        rows = combinations(range(len(self.apart)), size)
        return [c for c in rows if all(self.apart[a, b] for a, b in combinations(c, 2))]

    def deductions(self, k: int) -> list[Deduction]:
        """All that cliques force and that is not known."""
        found = []
        for kind, rule, size in (("together", np.logical_and, k - 1), ("apart", np.logical_or, k)):
            known = getattr(self, kind)
            for clique in self.cliques(size):
                for a, b in combinations(range(len(known)), 2):
                    if not known[a, b] and rule(self.apart[a], self.apart[b])[list(clique)].all():
                        found.append(Deduction(kind, (a, b), clique))
        return found

    def contradiction(self, k: int) -> tuple[int, ...] | None:
        """Rows that show that there is no clustering."""
        both = np.argwhere(self.together & self.apart)
        found = [tuple(map(int, both[0]))] if both.size else self.cliques(k + 1)
        return found[0] if found else None

    def groups(self, problem: Tiny) -> list[NDArray[np.int64]]:
        """Rows of each group of positive weight."""
        first = self.together.argmax(axis=1)
        every = [np.flatnonzero(first == number) for number in np.unique(first)]
        return [rows for rows in every if problem.weights[rows].sum() > 0]


def groups_apart(knowledge: Knowledge, groups: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Which groups are apart."""
    first = [rows[0] for rows in groups]
    return knowledge.apart[np.ix_(first, first)]


@dataclass(frozen=True)
class Theorem:
    """The bound of the theorem for groups, as it is written down."""

    problem: Tiny
    groups: list[NDArray[np.int64]]

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the groups."""
        return np.array([self.problem.weights[rows].sum() for rows in self.groups])

    @property
    def centred(self) -> NDArray[np.float64]:
        """The data about its mean."""
        X, w = self.problem.X - self.problem.X[0], self.problem.weights
        return X - w @ X / w.sum()

    @property
    def total(self) -> float:
        """Inertia of all rows as one cluster."""
        return float(self.problem.weights @ (self.centred**2).sum(axis=1))

    @property
    def inside(self) -> float:
        """Inertia inside of the groups."""
        return self.total - float(np.trace(self.gram()))

    def gram(self) -> NDArray[np.float64]:
        """G."""
        X, w = self.centred, self.problem.weights
        F = [w[rows] @ X[rows] / np.sqrt(w[rows].sum()) for rows in self.groups]
        return np.array(F) @ np.array(F).T

    def cut(self, centre: int, members: NDArray[np.int64]) -> NDArray[np.float64]:
        """A, the left side less the right side as a symmetric matrix."""
        w, n = self.weights, len(self.groups)
        A = np.zeros((n, n))
        for j in members:
            A[centre, j] += 0.5 / np.sqrt(w[centre] * w[j])
            A[j, centre] += 0.5 / np.sqrt(w[centre] * w[j])
        A[centre, centre] -= 1 / w[centre]
        for j, other in combinations(members, 2):
            A[j, other] -= 0.5 / np.sqrt(w[j] * w[other])
            A[other, j] -= 0.5 / np.sqrt(w[j] * w[other])
        return A

    def value(self, multipliers: Multipliers) -> tuple[float, NDArray[np.float64]]:
        """The bound and the matrix Y at which it is attained."""
        cuts = multipliers.cuts
        M = multipliers.slack.astype(float)
        for t, centre in enumerate(cuts.centres):
            members = cuts.members[cuts.offsets[t] : cuts.offsets[t + 1]]
            M = M - cuts.multipliers[t] * self.cut(centre, members)
        M = self.gram() + multipliers.scale * M
        u = np.sqrt(self.weights / self.weights.sum())
        P = np.eye(len(u)) - np.outer(u, u)
        # Far below all others, the eigenvalue of u is not among the largest.
        far = 10 * len(u) * np.abs(M).max()
        values, vectors = np.linalg.eigh(P @ M @ P - far * np.outer(u, u))
        top = slice(len(u) - self.problem.n_clusters + 1, None)
        Y = np.outer(u, u) + vectors[:, top] @ vectors[:, top].T
        return self.total - float(u @ M @ u + values[top].sum()), Y


def random_multipliers(
    rng: np.random.Generator, problem: Tiny, apart: NDArray[np.bool_], theorem: Theorem
) -> Multipliers:
    """Multipliers that obey the rules: anything at all, or after some steps uphill."""
    n, k = len(theorem.groups), problem.n_clusters
    if theorem.total == 0:
        return Multipliers(np.zeros((n, n), dtype=np.float32))
    unit = 2.0 ** np.frexp(theorem.total / n)[1]
    slack = rng.exponential(rng.choice([0, 0.3]), size=(n, n)) * (rng.random((n, n)) < 0.5)
    slack = np.where(apart, rng.normal(size=(n, n)), np.abs(slack))
    slack = np.tril(slack) + np.tril(slack, -1).T
    cuts = _random_cuts(rng, apart, k, theorem.weights.mean())
    best = Multipliers(slack.astype(np.float32), cuts, unit)
    for step in 0.5 / np.arange(1, rng.integers(1, 20)):
        _, Y = theorem.value(best)
        slack = best.slack - step * Y
        slack = np.where(apart, slack, np.maximum(slack, 0))
        slack = np.tril(slack) + np.tril(slack, -1).T
        best = Multipliers(slack.astype(np.float32), cuts, unit)
    return best


def _random_cuts(rng: np.random.Generator, apart: NDArray[np.bool_], k: int, weight: float) -> Cuts:
    n = len(apart)
    cuts = []
    for _ in range(rng.integers(0, 6)):
        centre, *members = rng.permutation(n)[: rng.integers(3, n + 1)].tolist() if n > 2 else [0]
        if not members:
            continue
        equality = len(members) == k and all(apart[a, b] for a, b in combinations(members, 2))
        mu = rng.normal() if equality else rng.exponential()
        cuts.append((centre, members, 0.1 * mu * weight))
    return Cuts.of(*(list(column) for column in zip(*cuts, strict=True))) if cuts else Cuts.none()


@dataclass
class TreeMaker:
    """Draws trees. ``upper`` is the inertia of the labels."""

    rng: np.random.Generator
    problem: Tiny
    upper: float

    def tree(self, depth: int = 3) -> tuple[Node, ...]:
        """Draw a tree."""
        nodes: list[Node] = []
        self._grow(nodes, Knowledge(self.problem), depth, parent=None, together=(), apart=())
        return tuple(nodes)

    def _grow(self, nodes: list[Node], knowledge: Knowledge, depth: int, **given: Any) -> None:
        for relation in ("together", "apart"):
            for pair in given[relation]:
                knowledge.add(relation, *pair)
        given["deductions"] = self._deduced(knowledge)
        own = len(nodes)
        node, children = self._node(knowledge, depth, given)
        nodes.append(node)
        for relation, pairs in children:
            facts = {"together": (), "apart": (), relation: pairs}
            self._grow(nodes, knowledge.copy(), depth - 1, parent=own, **facts)

    def _deduced(self, knowledge: Knowledge) -> tuple[Deduction, ...]:
        done = []
        while (open_ := knowledge.deductions(self.problem.n_clusters)) and self.rng.random() < 0.8:
            deduction = open_[self.rng.integers(len(open_))]
            knowledge.add(deduction.kind, *deduction.pair)
            done.append(deduction)
        return tuple(done)

    def _node(self, knowledge: Knowledge, depth: int, given: Any) -> tuple[Node, list[Any]]:
        k = self.problem.n_clusters
        witness = knowledge.contradiction(k)
        # A node that is contradictory may still be bounded, if nothing is apart from itself.
        if witness is not None and (len(witness) <= min(k, 2) or self.rng.random() < 0.9):
            return Node(kind="contradiction", witness=witness, **given), []
        groups = knowledge.groups(self.problem)
        undecided = np.argwhere(np.triu(~knowledge.together & ~knowledge.apart, 1))
        if depth and len(undecided) and self.rng.random() < 0.5:
            pair = tuple(map(int, self.rng.permutation(undecided)[0]))
            children = [("together", (pair,)), ("apart", (pair,))]
            return Node(kind="split", pair=pair, **given), children
        if len(groups) <= k:
            return Node(kind="few", **given), []
        return self._bound(knowledge, groups, depth, given)

    def _bound(
        self, knowledge: Knowledge, groups: list[NDArray[np.int64]], depth: int, given: Any
    ) -> tuple[Node, list[Any]]:
        theorem, apart = Theorem(self.problem, groups), groups_apart(knowledge, groups)
        multipliers = random_multipliers(self.rng, self.problem, apart, theorem)
        given["multipliers"] = multipliers
        fixed = self._fixable(multipliers, theorem, apart) if depth else ()
        if not fixed:
            return Node(kind="bound", **given), []
        return Node(kind="fixing", fixed=fixed, **given), [("apart", fixed)]

    def _fixable(
        self, multipliers: Multipliers, theorem: Theorem, apart: NDArray[np.bool_]
    ) -> tuple[tuple[int, int], ...]:
        bound, w = theorem.value(multipliers)[0], theorem.weights
        fixed = []
        for i, j in combinations(range(len(w)), 2):
            if apart[i, j]:
                continue
            heaviest = w[~(apart[i] | apart[j]) | (np.arange(len(w)) == i)].sum()
            slack = multipliers.scale * multipliers.slack[i, j]
            gain = 2 * slack * np.sqrt(w[i] * w[j]) / heaviest
            if bound + gain > self.upper * (1 + 1e-6) + 1e-9 * theorem.total:
                fixed.append((int(theorem.groups[i][-1]), int(theorem.groups[j][0])))
        return tuple(fixed)


def random_certificate(
    rng: np.random.Generator, problem: Tiny
) -> tuple[OptimalityCertificate, np.longdouble]:
    """A certificate that must hold, and the optimum, which its bound must not exceed."""
    clusterings = problem.feasible()
    inertias = problem.inertias(clusterings)
    chosen = int(rng.choice([inertias.argmin(), rng.integers(len(inertias))]))
    labels, upper = clusterings[chosen].astype(np.int32), float(inertias[chosen])
    rows = np.split(rng.permutation(len(problem.X)), _random_ends(rng, len(problem.X)))
    parts = tuple(Part(own, _tree(rng, problem, own, upper)) for own in rows)
    proven = prove(*problem.data, labels, parts)
    certificate = OptimalityCertificate(
        labels=labels,
        n_clusters=problem.n_clusters,
        parts=parts,
        lower_bound=proven.lower_bound,
        inertia=proven.inertia,
        data_hash=data_hash(*problem.data),
    )
    return certificate, inertias.min()


def _random_ends(rng: np.random.Generator, n: int) -> list[int]:
    return sorted(rng.integers(1, n, size=1).tolist()) if n > 1 and rng.random() < 0.15 else []


def _tree(
    rng: np.random.Generator, problem: Tiny, rows: NDArray[np.int64], upper: float
) -> tuple[Node, ...]:
    own = np.zeros_like(problem.weights)
    own[rows] = problem.weights[rows]
    part = Tiny(problem.X, own, problem.must_link, problem.cannot_link, problem.n_clusters)
    return TreeMaker(rng, part, upper).tree()


def overlapping(seed: int = 0, n: int = 60, k: int = 4, pairs: int = 60) -> dict[str, object]:
    """Points without clusters, and cannot-link pairs that a hidden clustering obeys."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(k, size=n)
    drawn = rng.integers(n, size=(pairs, 2))
    apart = drawn[hidden[drawn[:, 0]] != hidden[drawn[:, 1]]]
    return {"X": rng.normal(size=(n, 3)), "n_clusters": k, "cannot_link": apart}
