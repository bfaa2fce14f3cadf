"""The checker: proves a lower bound from a certificate, and trusts nothing in it.

It shares no code with what finds certificates and needs numpy and scipy only. Whoever doubts a
bound needs to read this file, and the meaning of the fields in ``certificate.py``.

Theorem
-------
Let groups of rows have weights w_i > 0 and means x_i, F_i = sqrt(w_i) x_i, G = F F', and u_i =
sqrt(w_i / sum w). A partition of the groups into k non-empty clusters is the matrix Y with
Y_ij = sqrt(w_i w_j) / W_C if i and j are in one cluster C, of weight W_C, and else 0. It is the
projection onto a space of dimension k that has u in it: Y u = u, trace Y = k, 0 <= Y <= I. What
the partition adds to the inertia inside of the groups is |F - Y F|^2 = |F|^2 - <G, Y>.

Let S be symmetric with S_ij >= 0 unless i and j are apart: then <S, Y> >= 0, since Y >= 0, and
Y_ij = 0 if they are apart. A cut says <A, Y> <= 0 (see :func:`_cut_matrices`); mu >= 0. So with
M = G + S - sum mu A:  <G, Y> <= <M, Y>. If for some number t, matrix B and vector v

    M <= t I + B B' + u v' + v u'     (that is, the difference is positive semidefinite)

then  <M, Y> <= k t + |B|^2 + 2 u'v,  and |F|^2 less this bounds what any partition adds. The best
t, B and v come from the k largest eigenvalues of M orthogonal to u. None of that is trusted: a
Cholesky factorisation that runs to its end proves the inequality.

At most k clusters are allowed, but exactly k may be assumed: splitting a cluster does not raise
the inertia, and a node with at most k groups is not bounded by the theorem.

Rounding
--------
The checker's floating-point numbers are the exact data of a nearby problem: with g(m) =
:func:`_gamma`, and m rows in the largest group,

- group weights, rounded, are those of rows whose weights are off by a factor of 1 + g(m) at most;
  the inertia grows with each weight, so the optimum is off by no more than that factor;
- the root of an inertia is the distance of the data (as a vector) to a space, so moving the data
  by e moves the root of the optimum by e at most; means and differences, rounded, are moved by
  g(m + 8) times their norms at most (Cauchy and Schwarz);
- an error E of M costs <E, Y> <= k |E|, and |E| is at most g times the norms of the summands;
- the factor R of a Cholesky factorisation of K that runs to its end has |K - R'R| <= g(n + 2)
  trace K (Rump, Verification of positive definiteness, BIT 2006), whatever the order of the sums;
- lengths are scaled by powers of two to be near 1, so that nothing underflows that matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from kempe.exceptions import CertificateError
from kempe.proof.certificate import (
    Cuts,
    Deduction,
    Multipliers,
    Node,
    OptimalityCertificate,
    Part,
    RowPair,
    Verification,
    data_hash,
)

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Twice the unit round-off. The factor leaves room for terms of second order, for libraries that
# multiply by reciprocals, and for computing the error bounds themselves in floating point.
EPSILON = 2.0**-52
# Next to a weight of 1, a smaller one could underflow in products.
LIGHTEST = 2.0**-400
# Far above what underflows, far below what matters next to lengths of 1.
TINY = 2.0**-450
# What a claim may differ from what is proven, since libraries round in different ways.
CLAIM = 1e-9


def check(
    certificate: OptimalityCertificate,
    X: Floats,
    weights: Floats,
    must_link: NDArray[Any],
    cannot_link: NDArray[Any],
) -> Verification:
    """Prove the bound of a certificate, or raise ``CertificateError`` with the reason.

    Parameters
    ----------
    certificate
        What is to be proven.
    X
        Data of shape (n_rows, n_features).
    weights
        Weight of each row.
    must_link, cannot_link
        Pairs of row numbers, of shape (m, 2).
    """
    k = certificate.n_clusters
    if data_hash(X, weights, must_link, cannot_link, k) != certificate.data_hash:
        raise CertificateError(
            "the certificate is for other data, weights, constraints or number of clusters"
        )
    proven = prove(X, weights, must_link, cannot_link, k, certificate.labels, certificate.parts)
    claimed, inertia = certificate.lower_bound, certificate.inertia
    _require(
        abs(inertia - proven.inertia) <= CLAIM * proven.inertia,
        f"the inertia of the labels is {proven.inertia!r}, not {inertia!r}",
    )
    _require(
        claimed <= proven.lower_bound + CLAIM * proven.inertia,
        f"the proof gives a bound of {proven.lower_bound!r}, not {claimed!r}",
    )
    return proven


def prove(
    X: Floats,
    weights: Floats,
    must_link: NDArray[Any],
    cannot_link: NDArray[Any],
    n_clusters: int,
    labels: NDArray[Any],
    parts: Sequence[Part],
) -> Verification:
    """Prove what labels and trees show: an inertia, rounded up, and a lower bound, rounded down.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features).
    weights
        Weight of each row.
    must_link, cannot_link
        Pairs of row numbers, of shape (m, 2).
    n_clusters
        Number of clusters.
    labels
        Cluster of each row.
    parts
        The tree of each part of the data.
    """
    _require(n_clusters >= 1, f"{n_clusters} clusters")
    _require(bool(np.isfinite(X).all()), "the data is not finite")
    _require(bool((np.isfinite(weights) & (weights >= 0)).all()), "weights must be at least 0")
    _check_labels(labels, X.shape[0], n_clusters, must_link, cannot_link)
    upper = _inertia_at_most(X, weights, labels)
    facts = Facts.given(X.shape[0], must_link, cannot_link)
    _check_disjoint(parts, X.shape[0])
    values = []
    for part in parts:
        own = np.zeros_like(weights)
        own[part.rows] = weights[part.rows]
        values.append(_value_of_tree(part.nodes, facts, _Problem(X, own, n_clusters, upper)))
    lower = min(upper, math.fsum(values) * (1 - EPSILON))
    return Verification(lower, upper, sum(len(part.nodes) for part in parts))


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise CertificateError(reason)


def _gamma(n: float) -> float:
    """Relative error of a sum of n products, or of n operations, in any order."""
    return n * EPSILON / (1 - n * EPSILON)


# The labels and the facts: whole numbers, no rounding.


def _check_labels(
    labels: NDArray[Any], n_rows: int, k: int, must_link: NDArray[Any], cannot_link: NDArray[Any]
) -> None:
    """Labels are a clustering into at most k clusters that obeys the pairs."""
    whole = labels.shape == (n_rows,) and labels.dtype.kind in "iu"
    _require(whole, f"labels must be {n_rows} whole numbers")
    _require(bool(((labels >= 0) & (labels < k)).all()), f"labels must be in 0, ..., {k - 1}")
    for pairs, equal, name in ((must_link, True, "must-link"), (cannot_link, False, "cannot-link")):
        for a, b in pairs[(labels[pairs[:, 0]] == labels[pairs[:, 1]]) != equal][:1]:
            raise CertificateError(f"the labels violate the {name} pair ({a}, {b})")


def _check_disjoint(parts: Sequence[Part], n_rows: int) -> None:
    rows = np.concatenate([np.empty(0, dtype=np.int64), *(part.rows for part in parts)])
    _require(bool(((rows >= 0) & (rows < n_rows)).all()), "a part has rows that do not exist")
    _require(np.unique(rows).size == rows.size, "two parts share a row")


class Facts:
    """What is known: groups of rows that are together, and pairs of groups that are apart.

    ``group`` names the group of each row by its smallest row; ``apart`` maps it to others.
    """

    def __init__(self, group: Rows, apart: dict[int, set[int]]) -> None:
        self.group = group
        self.apart = apart

    @classmethod
    def given(cls, n_rows: int, must_link: NDArray[Any], cannot_link: NDArray[Any]) -> Facts:
        """Start with the user's pairs."""
        links = sparse.coo_array((np.ones(len(must_link)), must_link.T), shape=(n_rows, n_rows))
        _, component = sparse.csgraph.connected_components(links, directed=False)
        smallest = np.unique(component, return_index=True)[1]
        facts = cls(smallest[component].astype(np.int64), {})
        for a, b in np.unique(facts.group[cannot_link], axis=0).tolist():
            facts.separate(a, b)
        return facts

    def copy(self) -> Facts:
        """Facts that can grow without changing these."""
        return Facts(self.group.copy(), {a: set(others) for a, others in self.apart.items()})

    def of(self, row: int) -> int:
        """Group of a row."""
        _require(0 <= row < self.group.size, f"there is no row {row}")
        return int(self.group[row])

    def are_apart(self, a: int, b: int) -> bool:
        """Whether two rows are known to be in different clusters."""
        return self.of(b) in self.apart.get(self.of(a), ())

    def are_clique(self, rows: Iterable[int]) -> bool:
        """Whether rows are pairwise apart."""
        return all(self.are_apart(a, b) for a, b in combinations(rows, 2))

    def separate(self, a: int, b: int) -> None:
        """Learn that two rows are in different clusters."""
        a, b = self.of(a), self.of(b)
        self.apart.setdefault(a, set()).add(b)
        self.apart.setdefault(b, set()).add(a)

    def join(self, a: int, b: int) -> None:
        """Learn that two rows are in one cluster."""
        a, b = sorted((self.of(a), self.of(b)))
        if a == b:
            return
        self.group[self.group == b] = a
        for other in self.apart.pop(b, ()):
            self.apart.get(other, set()).discard(b)
            self.separate(a, other)

    def deduce(self, deduction: Deduction, k: int) -> None:
        """Learn what a clique forces; ``Deduction`` says why it does."""
        (a, b), clique = deduction.pair, deduction.clique
        together = deduction.kind == "together"
        size, rule = (k - 1, all) if together else (k, any)
        _require(
            len(clique) == size
            and self.are_clique(clique)
            and all(rule(self.are_apart(row, c) for row in (a, b)) for c in clique),
            f"rows {a} and {b} need not be {deduction.kind} because of {clique}",
        )
        (self.join if together else self.separate)(a, b)

    def is_contradiction(self, witness: Sequence[int], k: int) -> bool:
        """Whether rows show that no clustering agrees with the facts."""
        if len(witness) == 2 and self.of(witness[0]) == self.of(witness[1]):
            return self.are_apart(*witness)
        return len(witness) == k + 1 and self.are_clique(witness)


# The tree. What holds for the value of a node: every clustering that agrees with its facts has at
# least that inertia on the rows of the part, or is no better than the labels.


def _value_of_tree(nodes: Sequence[Node], facts: Facts, problem: _Problem) -> float:
    """Replay a tree from the root, then combine the values of children from the leaves."""
    children = _children(nodes)
    known = {0: facts}
    values = np.zeros(len(nodes))
    for number, node in enumerate(nodes):
        own = known.pop(number).copy()
        try:
            _check_given(node, [nodes[child] for child in children[number]])
            values[number] = _value_of_node(node, own, problem)
        except CertificateError as error:
            raise CertificateError(f"node {number}: {error}") from None
        known.update(dict.fromkeys(children[number], own))
    for number in reversed(range(len(nodes))):
        below = min((values[child] for child in children[number]), default=0.0)
        values[number] = max(values[number], min(problem.upper, below))
    return float(values[0])


def _children(nodes: Sequence[Node]) -> list[list[int]]:
    """Children of each node; the first node is the only root and is given nothing."""
    rooted = bool(nodes) and (nodes[0].parent, nodes[0].together, nodes[0].apart) == (None, (), ())
    _require(rooted, "the first node is no root")
    children: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes[1:], start=1):
        parent = -1 if node.parent is None else node.parent
        _require(0 <= parent < number, f"node {number} has no parent before it")
        children[parent].append(number)
    return children


def _check_given(node: Node, children: Sequence[Node]) -> None:
    """Children together cover every clustering of the node that is not excluded by its bound."""
    covering: list[tuple[tuple[RowPair, ...], tuple[RowPair, ...]]] = []
    if node.kind == "split" and node.pair is not None:
        covering = [((), (node.pair,)), ((node.pair,), ())]
    elif node.kind == "fixing":
        covering = [((), node.fixed)]
    given = sorted((child.together, child.apart) for child in children)
    _require(given == covering, f"the children of a {node.kind} are not given what covers it")


def _value_of_node(node: Node, facts: Facts, problem: _Problem) -> float:
    """Take in the facts of a node and bound it, apart from what its children show."""
    for pair in node.together:
        facts.join(*pair)
    for pair in node.apart:
        facts.separate(*pair)
    for deduction in node.deductions:
        facts.deduce(deduction, problem.k)
    if node.kind == "split":
        _require(node.pair is not None, "a split needs a pair")
        return 0.0
    if node.kind == "contradiction":
        _require(facts.is_contradiction(node.witness, problem.k), "there is no contradiction")
        return math.inf
    groups = problem.groups(facts)
    if node.kind == "few":
        _require(groups.n <= problem.k, f"there are {groups.n} groups, more than {problem.k}")
        return groups.inertia_at_least()
    _require(groups.n > problem.k, f"there are only {groups.n} groups")
    if node.multipliers is None:
        raise CertificateError(f"a {node.kind} needs multipliers")
    return _bound(node.multipliers, node.fixed, facts, groups)


# The theorem. Lengths and weights are scaled by powers of two, which is exact.


class _Problem:
    """The rows of positive weight, k, and the inertia of the labels in the user's unit."""

    def __init__(self, X: Floats, weights: Floats, k: int, upper: float) -> None:
        self.k, self.upper = k, upper
        self.rows = np.flatnonzero(weights)
        X, weights = X[self.rows], weights[self.rows]
        self.mass = _exponent(weights)
        self.weights = np.ldexp(weights, -self.mass)
        shift = self.weights @ X / max(self.weights.sum(), 0.5)
        length = _exponent(X - shift)
        self.points, self.shift = np.ldexp(X, -length), np.ldexp(shift, -length)
        self.unit = 2 * length + self.mass
        exact = (np.ldexp(self.points, length) == X).all() and (self.weights >= LIGHTEST).all()
        finite = np.isfinite(self.points - self.shift).all()
        _require(bool(exact and finite), "data or weights span more than doubles can")

    def groups(self, facts: Facts) -> _Groups:
        """Sum up the groups of positive weight, in the order of their smallest rows."""
        numbers, of = np.unique(facts.group[self.rows], return_inverse=True)
        about = _Spread.of(self.points, self.weights, of)
        anchors = self.points[about.anchors] - self.shift
        roots = np.sqrt(about.weights)[:, None]
        moved = about.error + about.rounding * math.sqrt(_squares(roots * anchors))
        index = {int(number): position for position, number in enumerate(numbers)}
        return _Groups(self, index, roots * (anchors + about.means), about, moved)


@dataclass(frozen=True)
class _Spread:
    """Rows about the means of their groups, and what rounding does to them.

    Means are relative to one row of the group, its anchor: equal rows differ by exactly zero.
    ``rounding`` is relative; ``error`` bounds how far the rows less their means are moved.
    """

    weights: Floats
    anchors: Rows
    means: Floats
    squares: float
    rounding: float
    error: float

    @classmethod
    def of(cls, points: Floats, weights: Floats, groups: Rows) -> _Spread:
        """Sum up the rows of each group; groups are numbered from 0."""
        anchors = np.unique(groups, return_index=True)[1]
        total = np.bincount(groups, weights).astype(np.float64)
        spread = points - points[anchors[groups]]
        shape = (total.size, groups.size)
        sums = sparse.csr_array((weights, (groups, np.arange(groups.size))), shape=shape) @ spread
        means = np.asarray(sums) / total[:, None]
        rounding = _gamma(int(np.bincount(groups).max(initial=0)) + points.shape[1] + 16)
        error = rounding * math.sqrt(_squares(spread, weights)) + TINY * spread.any()
        return cls(
            total, anchors, means, _squares(spread - means[groups], weights), rounding, error
        )


@dataclass(frozen=True)
class _Groups:
    """Groups of positive weight by their smallest rows, their points F and what is inside them.

    ``moved`` bounds how far rounding moves F.
    """

    problem: _Problem
    index: dict[int, int]
    F: Floats
    about: _Spread
    moved: float

    @property
    def n(self) -> int:
        """Number of groups."""
        return len(self.index)

    def inertia_at_least(self, between: float | None = None) -> float:
        """Inertia of partitions that add at least so much, or of the groups as clusters."""
        added, moved = (0.0, 0.0) if between is None else (max(between, 0.0), self.moved)
        squares = (self.about.squares + added) * (1 - self.about.rounding)
        root = max(math.sqrt(squares) - self.about.error - moved, 0.0)
        return _rescaled(root**2 * (1 - self.about.rounding), self.problem.unit, 0.0)

    def apart(self, facts: Facts) -> NDArray[np.bool_]:
        """Which groups are apart."""
        apart = np.zeros((self.n, self.n), dtype=bool)
        for number, position in self.index.items():
            others = facts.apart.get(number, ())
            apart[position, [self.index[other] for other in others if other in self.index]] = True
        return apart


def _inertia_at_most(X: Floats, weights: Floats, labels: NDArray[Any]) -> float:
    """Inertia of the labels, rounded up."""
    problem = _Problem(X, weights, 0, math.inf)
    used = np.unique(labels[problem.rows], return_inverse=True)[1]
    about = _Spread.of(problem.points, problem.weights, used)
    root = math.sqrt(about.squares * (1 + about.rounding)) + about.error
    value = _rescaled(root**2 * (1 + about.rounding), problem.unit, math.inf) if root else 0.0
    _require(math.isfinite(value), "the inertia of the labels is too large for a double")
    return value


def _bound(
    multipliers: Multipliers, fixed: Sequence[RowPair], facts: Facts, groups: _Groups
) -> float:
    """Bound a node by the theorem; no pair that it fixes may leave room below the labels."""
    problem, F, apart = groups.problem, groups.F, groups.apart(facts)
    slack = _slack_matrix(multipliers, apart, problem)
    cuts, sizes, terms = _cut_matrices(multipliers, apart, groups)
    _require(bool((abs(slack) + sizes < 1 / LIGHTEST).all()), "multipliers are too large")
    M, squares = F @ F.T + slack + cuts, _squares(F)
    error = _gamma(F.shape[1] + terms + 16) * (squares + linalg.norm(slack) + linalg.norm(sizes))
    most = _product_at_most(M, groups.about.weights, problem.k) + problem.k * error
    between = squares - most - _gamma(F.shape[1] + 16) * (squares + abs(most))
    if fixed:
        gain = _least_gain(fixed, slack, apart, facts, groups)
        enough = groups.inertia_at_least(between + gain) >= problem.upper
        _require(enough, "a fixed pair could be together in a clustering better than the labels")
    return groups.inertia_at_least(between)


def _slack_matrix(multipliers: Multipliers, apart: NDArray[np.bool_], problem: _Problem) -> Floats:
    """S in the unit of the problem. What underflows keeps its sign, and no more is needed."""
    slack = multipliers.slack
    _require(slack.shape == apart.shape, f"slack of shape {slack.shape} for {len(apart)} groups")
    symmetric = np.isfinite(slack).all() and (slack == slack.T).all()
    _require(bool(symmetric), "the slack is not finite and symmetric")
    for i, j in np.argwhere((slack < 0) & ~apart)[:1]:
        raise CertificateError(f"the slack of groups {i} and {j}, not apart, is negative")
    return np.ldexp(slack.astype(np.float64), _power(multipliers.scale) - problem.unit)


def _cut_matrices(
    multipliers: Multipliers, apart: NDArray[np.bool_], groups: _Groups
) -> tuple[Floats, Floats, int]:
    """Give - sum mu A, the same with all signs positive, and the most terms in an entry.

    If m members J of a cut are with its centre i, in a cluster of weight W, then with Z_ij =
    Y_ij / sqrt(w_i w_j):  sum_J Z_ij = m / W <= (1 + m (m - 1) / 2) / W <= Z_ii + sum_{j<l} Z_jl.
    If J are k groups that are pairwise apart, m is 1 and the two sides are equal. Let V have a row
    for each cut, 1 at i and -1 at J: twice right less left is (V Z V')_tt + Z_ii - sum_J Z_jj.
    """
    V = _cut_signs(multipliers.cuts, apart, groups.problem.k)
    # The cuts are in the scale of the user's weights, the matrix in that of the problem's.
    unit = _power(multipliers.scale) - groups.problem.unit - groups.problem.mass
    mu = np.ldexp(multipliers.cuts.multipliers, unit)
    roots = np.sqrt(groups.about.weights)
    matrices = [
        0.5
        * (A.T @ A.multiply(nu[:, None]) + sparse.diags_array(A.T @ nu)).toarray()
        / roots
        / roots[:, None]
        for A, nu in ((V, mu), (abs(V), abs(mu)))
    ]
    return matrices[0], matrices[1], int(np.bincount(V.indices, minlength=1).max())


def _cut_signs(cuts: Cuts, apart: NDArray[np.bool_], k: int) -> Any:
    """Matrix V of the cuts, after a look at their form and the signs of their multipliers."""
    m, n = cuts.centres.size, len(apart)
    lengths = np.diff(cuts.offsets)
    fits = cuts.offsets.shape == (m + 1,) and (lengths >= 0).all() and cuts.offsets[0] == 0
    fits = fits and cuts.offsets[-1] == cuts.members.size and cuts.multipliers.shape == (m,)
    _require(bool(fits and np.isfinite(cuts.multipliers).all()), "the cuts are malformed")
    groups = np.concatenate([cuts.centres, cuts.members])
    _require(bool(((groups >= 0) & (groups < n)).all()), f"a cut names a group not in 0...{n - 1}")
    own = np.concatenate([np.arange(m), np.repeat(np.arange(m), lengths)])
    signs = np.repeat([1.0, -1.0], [m, cuts.members.size])
    V = sparse.csr_array((signs, (own, groups)), shape=(m, n))
    _require(V.nnz == groups.size, "a cut names a group twice")
    for t in np.flatnonzero(cuts.multipliers < 0):
        J = cuts.members[cuts.offsets[t] : cuts.offsets[t + 1]]
        equality = J.size == k and (apart[np.ix_(J, J)] | np.eye(J.size, dtype=bool)).all()
        _require(bool(equality), f"the multiplier of cut {t} is negative")
    return V


def _product_at_most(M: Floats, weights: Floats, k: int) -> float:
    """<M, Y> for any Y of the theorem, rounded up. Only :func:`_shift` needs to be believed."""
    n = len(M)
    u = np.sqrt(weights / math.fsum(weights))
    z = M @ u
    rho = u @ z
    # Eigenvalues of M orthogonal to u: u itself is sent to the far end of the spectrum.
    rest = M - np.outer(u, z) - np.outer(z, u) + (rho - 2 * linalg.norm(M)) * np.outer(u, u)
    values, vectors = linalg.eigh(rest, subset_by_index=(n - k, n - 1))
    B = vectors[:, 1:] * np.sqrt(values[1:] - values[0])
    v = z - 0.5 * (rho + values[0]) * u
    K = B @ B.T + np.outer(u, v) + np.outer(v, u) - M
    size = _squares(B) + 2 * linalg.norm(v) + linalg.norm(M)
    t = _shift(K, float(values[0]), float(size), k)
    rounding = _gamma(n + 16) * (k * abs(t) + _squares(B) + 4 * linalg.norm(v))
    return float(k * t + _squares(B) + 2 * u @ v + rounding)


def _shift(K: Floats, near: float, size: float, k: int) -> float:
    """Find t, near the given one, for which K + t I is proven positive semidefinite.

    K was summed up from terms whose norms have the sum ``size``.
    """
    n = len(K)
    for attempt in range(100):
        t = near + (EPSILON * size + TINY**2) * 2.0**attempt
        shifted = K + t * np.eye(n)
        try:
            factor = linalg.cholesky(shifted, lower=True)
        except linalg.LinAlgError:
            continue
        _require(bool((factor.diagonal() > 0).all()), "the factorisation is not finite")
        formed = _gamma(k + 16) * (size + math.sqrt(n) * abs(t))
        return float(t + formed + _gamma(n + 2) * shifted.trace())
    raise CertificateError("the multipliers give no bound")


def _least_gain(
    fixed: Sequence[RowPair],
    slack: Floats,
    apart: NDArray[np.bool_],
    facts: Facts,
    groups: _Groups,
) -> float:
    """Say what any of the fixed pairs, if it were together, would add to the bound.

    The bound has dropped <S, Y>, and with i and j together that is at least 2 S_ij Y_ij, where
    Y_ij >= sqrt(w_i w_j) / (weight of all groups that are apart from neither of them).
    """
    pairs = [[groups.index.get(facts.of(row), -1) for row in pair] for pair in fixed]
    i, j = np.array(pairs).T
    two = (i != j) & (i >= 0) & (j >= 0) & ~apart[i, j]
    _require(bool(two.all()), "a fixed pair is not of two groups that could be together")
    weights, free = groups.about.weights, (~apart).astype(np.float64)
    np.fill_diagonal(free, 1.0)
    heaviest = ((free * weights) @ free.T)[i, j]
    gains = 2 * slack[i, j] * np.sqrt(weights[i]) * np.sqrt(weights[j]) / heaviest
    return float(gains.min() * (1 - _gamma(len(free) + 16)))


def _squares(rows: Floats, weights: Floats | float = 1.0) -> float:
    """Weighted sum of squares."""
    return math.fsum(weights * np.einsum("ij,ij->i", rows, rows))


def _exponent(values: Floats) -> int:
    """Exponent of a power of two just above all values."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])


def _power(scale: float) -> int:
    """Exponent of a power of two."""
    mantissa, exponent = math.frexp(scale)
    _require(mantissa == 0.5, f"the scale {scale!r} is no power of two")
    return exponent - 1


def _rescaled(value: float, exponent: int, towards: float) -> float:
    """Value times a power of two, rounded to one side."""
    try:
        return math.nextafter(math.ldexp(value, exponent), towards)
    except OverflowError:
        return math.inf
