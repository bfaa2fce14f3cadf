"""The bound by the spectrum of a matrix.

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
- an error E of M costs <E, Y> <= k |E|, and |E| is at most g times the norms of the summands;
- the factor R of a Cholesky factorisation of K that runs to its end has |K - R'R| <= g(n + 2)
  trace K (Rump, Verification of positive definiteness, BIT 2006), whatever the order of the sums.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from kempe.exceptions import CertificateError
from kempe.proof.checking import rounding
from kempe.proof.checking.facts import Facts
from kempe.proof.checking.groups import Groups, Problem
from kempe.proof.checking.rounding import (
    LIGHTEST,
    TINY,
    Floats,
    gamma,
    power,
    require,
    sum_of_squares,
)
from kempe.proof.checking.terms import Terms
from kempe.proof.nodes import Cuts, Multipliers, RowPair


def spectral_bound(
    multipliers: Multipliers,
    fixed: Sequence[RowPair],
    facts: Facts,
    groups: Groups,
    terms: Terms | None = None,
) -> float:
    """Bound a node by the theorem; no pair that it fixes may leave room below the labels."""
    problem, F = groups.problem, groups.F
    added = None if terms is None else terms.at(facts, groups)
    apart = groups.apart(facts) if added is None else added.apart
    limited = terms is not None and terms.are_limited
    slack = _slack_matrix(multipliers, apart, problem, limited)
    cuts, sizes, n_summed = _cut_matrices(multipliers, apart, groups)
    require(bool((abs(slack) + sizes < 1 / LIGHTEST).all()), "multipliers are too large")
    M, squares = F @ F.T + slack + cuts, sum_of_squares(F)
    norms = squares + linalg.norm(slack) + linalg.norm(sizes)
    if added is not None:
        M -= added.cost
        norms += linalg.norm(added.cost)
        n_summed += groups.n
    error = gamma(F.shape[1] + n_summed + 16) * norms
    most = _product_at_most(M, groups.about.weights, problem.k, added is None)
    most += problem.k * error
    more = 0.0 if added is None else added.paid + added.product_at_least(slack.diagonal())
    between = squares - most - gamma(F.shape[1] + 16) * (squares + abs(most) + abs(more)) + more
    if fixed:
        gain = _least_gain(fixed, slack, apart, facts, groups)
        enough = groups.inertia_at_least(between + gain) >= problem.upper
        require(enough, "a fixed pair could be together in a clustering better than the labels")
    return groups.inertia_at_least(between)


def _slack_matrix(
    multipliers: Multipliers, apart: NDArray[np.bool_], problem: Problem, limited: bool
) -> Floats:
    """S in the unit of the problem. What underflows keeps its sign, and no more is needed."""
    slack = multipliers.slack
    require(slack.shape == apart.shape, f"slack of shape {slack.shape} for {len(apart)} groups")
    symmetric = np.isfinite(slack).all() and (slack == slack.T).all()
    require(bool(symmetric), "the slack is not finite and symmetric")
    free = apart | np.eye(len(apart), dtype=bool) if limited else apart
    for i, j in np.argwhere((slack < 0) & ~free)[:1]:
        raise CertificateError(f"the slack of groups {i} and {j}, not apart, is negative")
    return np.ldexp(slack.astype(np.float64), power(multipliers.scale) - problem.unit)


def _cut_matrices(
    multipliers: Multipliers, apart: NDArray[np.bool_], groups: Groups
) -> tuple[Floats, Floats, int]:
    """Give - sum mu A, the same with all signs positive, and the most terms in an entry.

    If m members J of a cut are with its centre i, in a cluster of weight W, then with Z_ij =
    Y_ij / sqrt(w_i w_j):  sum_J Z_ij = m / W <= (1 + m (m - 1) / 2) / W <= Z_ii + sum_{j<l} Z_jl.
    If J are k groups that are pairwise apart, m is 1 and the two sides are equal. Let V have a row
    for each cut, 1 at i and -1 at J: twice right less left is (V Z V')_tt + Z_ii - sum_J Z_jj.
    """
    V = _cut_signs(multipliers.cuts, apart, groups.problem.k)
    # The cuts are in the scale of the user's weights, the matrix in that of the problem's.
    unit = power(multipliers.scale) - groups.problem.unit - groups.problem.mass
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
    require(bool(fits and np.isfinite(cuts.multipliers).all()), "the cuts are malformed")
    groups = np.concatenate([cuts.centres, cuts.members])
    require(bool(((groups >= 0) & (groups < n)).all()), f"a cut names a group not in 0...{n - 1}")
    own = np.concatenate([np.arange(m), np.repeat(np.arange(m), lengths)])
    signs = np.repeat([1.0, -1.0], [m, cuts.members.size])
    V = sparse.csr_array((signs, (own, groups)), shape=(m, n))
    require(V.nnz == groups.size, "a cut names a group twice")
    for t in np.flatnonzero(cuts.multipliers < 0):
        J = cuts.members[cuts.offsets[t] : cuts.offsets[t + 1]]
        equality = J.size == k and (apart[np.ix_(J, J)] | np.eye(J.size, dtype=bool)).all()
        require(bool(equality), f"the multiplier of cut {t} is negative")
    return V


def _product_at_most(M: Floats, weights: Floats, k: int, exactly: bool = True) -> float:
    """<M, Y> for any Y of the theorem, rounded up. Only :func:`_shift` needs to be believed.

    If Y need not have rank k exactly, but at most, then t must not be negative.
    """
    n = len(M)
    u = np.sqrt(weights / math.fsum(weights))
    z = M @ u
    rho = u @ z
    # Eigenvalues of M orthogonal to u: u itself is sent to the far end of the spectrum.
    rest = M - np.outer(u, z) - np.outer(z, u) + (rho - 2 * linalg.norm(M)) * np.outer(u, u)
    values, vectors = linalg.eigh(rest, subset_by_index=(n - k, n - 1))
    if not exactly:
        values = np.maximum(values, 0.0)
    B = vectors[:, 1:] * np.sqrt(values[1:] - values[0])
    v = z - 0.5 * (rho + values[0]) * u
    K = B @ B.T + np.outer(u, v) + np.outer(v, u) - M
    size = sum_of_squares(B) + 2 * linalg.norm(v) + linalg.norm(M)
    t = _shift(K, float(values[0]), float(size), k)
    rounded = gamma(n + 16) * (k * abs(t) + sum_of_squares(B) + 4 * linalg.norm(v))
    return float(k * t + sum_of_squares(B) + 2 * u @ v + rounded)


def _shift(K: Floats, near: float, size: float, k: int) -> float:
    """Find t, near the given one, for which K + t I is proven positive semidefinite.

    K was summed up from terms whose norms have the sum ``size``.
    """
    n = len(K)
    for attempt in range(100):
        t = near + (rounding.EPSILON * size + TINY**2) * 2.0**attempt
        shifted = K + t * np.eye(n)
        try:
            factor = linalg.cholesky(shifted, lower=True)
        except linalg.LinAlgError:
            continue
        require(bool((factor.diagonal() > 0).all()), "the factorisation is not finite")
        formed = gamma(k + 16) * (size + math.sqrt(n) * abs(t))
        return float(t + formed + gamma(n + 2) * shifted.trace())
    raise CertificateError("the multipliers give no bound")


def _least_gain(
    fixed: Sequence[RowPair],
    slack: Floats,
    apart: NDArray[np.bool_],
    facts: Facts,
    groups: Groups,
) -> float:
    """Say what any of the fixed pairs, if it were together, would add to the bound.

    The bound has dropped <S, Y>, and with i and j together that is at least 2 S_ij Y_ij, where
    Y_ij >= sqrt(w_i w_j) / (weight of all groups that are apart from neither of them).
    """
    pairs = [[groups.index.get(facts.of(row), -1) for row in pair] for pair in fixed]
    i, j = np.array(pairs).T
    two = (i != j) & (i >= 0) & (j >= 0) & ~apart[i, j]
    require(bool(two.all()), "a fixed pair is not of two groups that could be together")
    weights, free = groups.about.weights, (~apart).astype(np.float64)
    np.fill_diagonal(free, 1.0)
    heaviest = ((free * weights) @ free.T)[i, j]
    gains = 2 * slack[i, j] * np.sqrt(weights[i]) * np.sqrt(weights[j]) / heaviest
    return float(gains.min() * (1 - gamma(len(free) + 16)))
