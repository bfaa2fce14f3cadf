"""Multipliers of a node, and how they carry over to a node with more facts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kempe.proof.nodes import Cuts, Multipliers
from kempe.proof.relaxation import Data, Floats, Relaxation, Singles


@dataclass(frozen=True, eq=False)
class Dual:
    """Slack and cuts in the unit of the scaled data, and the matrix that they were found beside.

    Attributes
    ----------
    slack
        S of the theorem.
    cuts
        Cuts with their multipliers.
    nearest
        A matrix that satisfies the cuts, near the best Y.
    penalty
        Weight of the distance between the two halves of the iteration.
    """

    slack: Singles
    cuts: Cuts
    nearest: Singles
    penalty: float

    def without_nearest(self) -> Dual:
        """Give up what only an iteration needs."""
        return replace(self, nearest=np.empty((0, 0), dtype=np.float32))

    def multipliers(self, data: Data) -> Multipliers:
        """Give slack and cuts in the unit of the user, those without a multiplier left out."""
        power = round(math.log2(self.penalty))
        cuts = chosen(self.cuts, np.flatnonzero(self.cuts.multipliers))
        # Slack and cuts are in the unit of the inertia; cuts are over weights besides.
        mu = np.ldexp(cuts.multipliers, data.mass - power)
        slack = np.ldexp(np.tril(self.slack), -power)
        return Multipliers(
            slack + np.tril(slack, -1).T,
            Cuts(cuts.centres, cuts.offsets, cuts.members, mu),
            math.ldexp(1.0, power + 2 * data.length + data.mass),
        )

    def carried_over(self, old: Relaxation, new: Relaxation) -> Dual:
        """Give multipliers for a node with more facts, which prove no less there.

        Groups that are merged share a row and a column; with T the matrix of shares, every Y of
        the new node is T'YT. A cut keeps its form unless groups that it names are merged.
        """
        if new.size == old.size:
            return self
        into = new.position[new.facts.group[old.first_row]]
        share = np.sqrt(old.weight / new.weight[into])
        T = sparse.csr_array((share, (np.arange(old.size), into)), shape=(old.size, new.size))
        slack = T.T @ (T.T @ self.slack.astype(np.float64)).T
        nearest = T.T @ (T.T @ self.nearest.astype(np.float64)).T
        return Dual(_symmetric(slack), _renamed(self.cuts, into), _symmetric(nearest), self.penalty)


def cut_matrix(cuts: Cuts, weight: Floats) -> Floats:
    """Sum of all multiplied cuts, left less right, in the scale of Y.

    With V a row for each cut, 1 at its centre and -1 at its members, twice right less left is
    (V Z V')_tt + Z_ii - sum_J Z_jj.
    """
    m = cuts.centres.size
    own = np.concatenate([np.arange(m), np.repeat(np.arange(m), np.diff(cuts.offsets))])
    groups = np.concatenate([cuts.centres, cuts.members])
    signs = np.repeat([1.0, -1.0], [m, cuts.members.size])
    V = sparse.csr_array((signs, (own, groups)), shape=(m, weight.size))
    twice = (V.T @ V.multiply(cuts.multipliers[:, None])).toarray()
    twice[np.diag_indices_from(twice)] += V.T @ cuts.multipliers
    root = np.sqrt(weight)
    return np.asarray(-0.5 * twice / root / root[:, None])


def chosen(cuts: Cuts, which: NDArray[np.intp]) -> Cuts:
    """Take some of the cuts."""
    counts = np.diff(cuts.offsets)[which]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    members = cuts.members[np.repeat(cuts.offsets[which], counts) + inside]
    return Cuts(cuts.centres[which], offsets.astype(np.int64), members, cuts.multipliers[which])


def _renamed(cuts: Cuts, into: NDArray[np.int32]) -> Cuts:
    """Cuts over merged groups; those of which two groups were merged are left out."""
    centres, members = into[cuts.centres], into[cuts.members]
    own = np.repeat(np.arange(centres.size), np.diff(cuts.offsets))
    named = np.concatenate([centres, members]).astype(np.int64)
    keys = np.concatenate([np.arange(centres.size), own]) * into.size + named
    distinct = np.unique(keys) // into.size
    whole = np.bincount(distinct, minlength=centres.size) == np.diff(cuts.offsets) + 1
    renamed = Cuts(
        centres.astype(np.int32), cuts.offsets, members.astype(np.int32), cuts.multipliers
    )
    return chosen(renamed, np.flatnonzero(whole))


def _symmetric(matrix: Floats) -> Singles:
    return np.ascontiguousarray((matrix + matrix.T) / 2, dtype=np.float32)
