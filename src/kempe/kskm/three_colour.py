"""MultiKSAssignment, Algorithm 6 of the paper (appendix A.2): chains of three colours.

Their rotations reach what no sequence of two-colour swaps reaches downhill.
"""

from __future__ import annotations

import numpy as np

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
) -> Colours | None:
    """One multi-Kempe assignment (Algorithm 6).

    Every component of the subgraph on three colours is rotated both ways, and the result improved
    by two-colour swaps within the component, the three centroids following. What ends with a lower
    inertia is a move, and compatible moves are made together.

    Returns
    -------
    ndarray or None
        A colouring of lower inertia, or ``None`` if there is no improving rotation.
    """
    moves = Moves(*_core.three_colour_moves(problem.core, colours, problem.n_clusters, stopper))
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
