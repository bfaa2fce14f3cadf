"""MultiKSAssignment, Algorithm 6 of the paper (appendix A.2): chains of three colours.

Their rotations can reach what two-colour swaps do not reach downhill. Measured
(``benchmarks/ablations.py``), they lower the inertia where there are many clusters and did nothing
on two tight graphs of three clusters: a component of three colours is then a component of the whole
graph, and rotating it renames its clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.kskm import mwis
from kempe.kskm.moves import Moves, conflicts
from kempe.problem import Colours, Problem


def three_colour_step(
    problem: Problem,
    colours: Colours,
    rng: np.random.Generator,
    stopper: _core.Stopper,
    method: mwis.Method = "greedy",
    seen: Colours | None = None,
) -> Colours | None:
    """One multi-Kempe assignment (Algorithm 6).

    Every component of the subgraph on three colours is rotated both ways, and the result improved
    by two-colour swaps within the component, the three centroids following. What ends with a lower
    inertia is a move, and compatible moves are made together. Components are left out in which
    no supernode lies closer to another of the three centroids than to its own.

    Parameters
    ----------
    seen
        The colouring of the step before. Triples of clusters that have not changed since are left
        out: had they had a move, it would have been made, or excluded by one that changed them.

    Returns
    -------
    ndarray or None
        A colouring of lower inertia, or ``None`` if there is no improving rotation.
    """
    fresh = changed_clusters(colours, seen, problem.n_clusters)
    moves = Moves(*_core.three_colour_moves(problem.core, colours, fresh, stopper))
    if moves.n_moves == 0:
        return None
    chosen = mwis.solve(moves.gain, *conflicts(problem, moves), method, rng)
    single = np.arange(moves.n_moves) == np.argmax(moves.gain)
    before = problem.inertia(colours)
    # Gains do not add up where moves share a cluster, because centroids move; the best move alone
    # does lower the inertia.
    for mask in (chosen, single):
        after = moves.apply(colours, mask)
        if problem.inertia(after) < before:
            return after
    return None


def changed_clusters(colours: Colours, seen: Colours | None, k: int) -> NDArray[np.bool_]:
    """Mark the clusters that gained or lost a supernode; all if nothing was seen before."""
    if seen is None:
        return np.ones(k, dtype=bool)
    moved = colours != seen
    fresh = np.zeros(k, dtype=bool)
    fresh[colours[moved]] = fresh[seen[moved]] = True
    return fresh
