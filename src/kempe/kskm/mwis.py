"""MWIS, appendix A.1 of the paper: which improving moves to make at the same time.

Those of a maximum-weight independent set in the graph of moves that exclude each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe import _core

Method: TypeAlias = Literal["greedy", "spectral", "exact"]
METHODS: tuple[str, ...] = get_args(Method)

# Up to this size all eigenvectors are cheap; beyond it only the lowest few are computed.
DENSE_UP_TO = 200
EIGENVECTORS = 12
SMALL = 32  # nodes that the compiled branch and bound takes

_Mask: TypeAlias = NDArray[np.bool_]


def solve(
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    method: Method = "greedy",
    rng: np.random.Generator | None = None,
) -> _Mask:
    """Choose nodes of large total weight, no two of which are adjacent.

    Parameters
    ----------
    weights
        Positive weight of each node.
    offsets, targets
        Symmetric adjacency in compressed sparse rows.
    method
        ``"greedy"``: by weight, and by weight over degree, the better one improved by exchanging
        one node against one or two; takes microseconds and is usually optimal or close.
        ``"spectral"``: read off the eigenvectors of a quadratic form (appendix A.1 of the paper).
        ``"exact"``: branch and bound on small connected components, a mixed-integer program with
        clique rows on large ones.
    rng
        Starts the iterative eigenvalue solver; only ``"spectral"`` uses it, on large components.

    Returns
    -------
    ndarray of bool
        Whether each node is chosen. The set is maximal: no further node fits.
    """
    if method == "greedy":
        return _core.mwis_greedy(weights, offsets, targets)
    if method == "exact":
        return _by_components(weights, offsets, targets, _exact)
    if method == "spectral":
        rng = np.random.default_rng(0) if rng is None else rng
        return _by_components(weights, offsets, targets, lambda w, a: _spectral(w, a, rng))
    raise ValueError(f"mwis must be one of {METHODS}, got {method!r}")


def _by_components(
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    solver: Callable[[NDArray[np.float64], sparse.csr_array], _Mask],
) -> _Mask:
    """Solve each connected component by itself; nodes without neighbours are always chosen."""
    chosen = np.diff(offsets) == 0
    if chosen.all():
        return np.asarray(chosen)
    ones = np.ones(targets.size, dtype=np.int8)
    adjacency = sparse.csr_array((ones, targets, offsets), shape=(weights.size, weights.size))
    for nodes in _components(adjacency):
        part = sparse.csr_array(adjacency[nodes][:, nodes])
        part.sort_indices()
        chosen[nodes] = solver(weights[nodes], part)
    return np.asarray(chosen)


def _components(adjacency: sparse.csr_array) -> Iterator[NDArray[np.int64]]:
    """Nodes of every connected component of at least two nodes."""
    count, component = sparse.csgraph.connected_components(adjacency, directed=False)
    order = np.argsort(component, kind="stable")
    ends = np.cumsum(np.bincount(component, minlength=count))
    for begin, end in zip(np.r_[0, ends[:-1]], ends, strict=True):
        if end - begin > 1:
            yield order[begin:end]


def _rows(adjacency: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    return adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int32)


def _exact(weights: NDArray[np.float64], adjacency: sparse.csr_array) -> _Mask:
    offsets, targets = _rows(adjacency)
    if weights.size <= SMALL:
        return _core.mwis_small(weights, offsets, targets)
    return _by_integer_program(weights, offsets, targets)


def _by_integer_program(
    weights: NDArray[np.float64], offsets: NDArray[np.int64], targets: NDArray[np.int32]
) -> _Mask:
    """Maximise the weight with at most one node of each clique.

    Rows for cliques instead of edges make the linear relaxation nearly integral.
    """
    from kempe.exact.highs import solve_program

    starts, members = _core.clique_cover(_core.Graph(offsets, targets))
    cliques = sparse.csr_array(
        (np.ones(members.size), members, starts), shape=(starts.size - 1, weights.size)
    )
    result = solve_program(
        -weights / weights.max(),
        [(cliques, -np.inf, 1.0)],
        np.ones(weights.size, dtype=np.int64),
    )
    if result.x is None:
        raise RuntimeError(f"the integer program for the independent set failed: {result.message}")
    # The solver's tolerances may leave out a node of tiny weight that would still fit.
    return _core.mwis_by_order(weights, offsets, targets, np.round(result.x))


def _spectral(
    weights: NDArray[np.float64], adjacency: sparse.csr_array, rng: np.random.Generator
) -> _Mask:
    """Read independent sets off the eigenvectors and keep the heaviest.

    Minimises ``u'Qu`` over the unit sphere, where ``Q`` has the negative weights on its diagonal
    and a penalty at each edge. Stationary points are the eigenvectors; for the lowest of them,
    nodes are taken in the order of their entries, from either end. For the penalty to make two
    adjacent nodes worse than one, it must be positive and exceed half the largest weight. (In the
    paper it has the opposite sign, and its bound is taken of negative costs.)

    References
    ----------
    Hosseinian and Butenko, heuristics from quadratic forms over a sphere, cited in appendix A.1.
    """
    offsets, targets = _rows(adjacency)
    best, best_weight = np.zeros(weights.size, dtype=bool), -1.0
    for vector in _low_eigenvectors(weights, adjacency, rng).T:
        for score in (vector, -vector):
            chosen = _core.mwis_by_order(weights, offsets, targets, np.ascontiguousarray(score))
            weight = float(weights[chosen].sum())
            if weight > best_weight:
                best, best_weight = chosen, weight
    return best


def _low_eigenvectors(
    weights: NDArray[np.float64], adjacency: sparse.csr_array, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Eigenvectors of the quadratic form as columns, lowest eigenvalue first."""
    largest = float(weights.max())
    penalty = 0.6  # of the largest weight, which is scaled to 1
    form = sparse.csr_array(penalty * adjacency - sparse.diags_array(weights / largest))
    if weights.size <= DENSE_UP_TO:
        return np.asarray(np.linalg.eigh(form.toarray())[1])
    start = rng.standard_normal(weights.size)
    _, vectors = sparse.linalg.eigsh(form, k=EIGENVECTORS, which="SA", v0=start, tol=1e-4)
    return np.asarray(vectors)
