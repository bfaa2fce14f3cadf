"""Moves: changes to a colouring that keep it proper, and which of them exclude each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.problem import Colours, Problem


class Moves(NamedTuple):
    """Several moves in flat arrays; move ``s`` owns the entries ``offsets[s] .. offsets[s + 1]``.

    Attributes
    ----------
    offsets
        Where the entries of each move begin.
    vertices
        The supernodes of the moves.
    colours
        The colour that each of them gets by the move.
    gain
        How much each move takes off the objective, positive.
    """

    offsets: NDArray[np.int64]
    vertices: NDArray[np.int32]
    colours: NDArray[np.int32]
    gain: NDArray[np.float64]

    @property
    def n_moves(self) -> int:
        """Number of moves."""
        return int(self.gain.size)

    def apply(self, colours: Colours, chosen: NDArray[np.bool_]) -> Colours:
        """Colours after the chosen moves, which must not exclude each other."""
        taken = np.repeat(chosen, np.diff(self.offsets))
        after = colours.copy()
        after[self.vertices[taken]] = self.colours[taken]
        return after


def conflicts(problem: Problem, moves: Moves) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Which moves exclude each other, in compressed sparse rows.

    Two moves do if they share a supernode (the paper's clique constraints), or if a cannot-link
    edge joins them and both its ends would have the same colour **after** the moves. Looking at
    pairs of moves is enough, because an edge has two ends.
    """
    return _core.move_conflicts(problem.graph.core, moves.offsets, moves.vertices, moves.colours)
