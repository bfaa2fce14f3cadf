"""Clusters of new rows under pairs, at centroids that stay where they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.constraints import Constraints
from kempe.exact.assigner import ExactAssigner
from kempe.exact.part import Floats
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.graph import CannotLinkGraph
from kempe.graph.certificates import must_link_path, raise_interrupt
from kempe.graph.check import colour_or_explain


def assign_new_rows(
    costs: Floats, constraints: Constraints, known: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Give each new row the cluster that costs least where all pairs hold.

    Parameters
    ----------
    costs
        Squared distance of each new row to each centroid.
    constraints
        Pairs of rows; new rows have the numbers from 0, known ones those after them.
    known
        Clusters of the known rows, which keep them.

    Raises
    ------
    InfeasibleConstraintsError
        If that is impossible, with a proof.
    """
    n_new, n_clusters = costs.shape
    constraints.check_rows(n_new + known.size)
    touched = _touched(constraints, n_new)
    every = np.concatenate([np.arange(n_new), touched])
    pairs = [np.searchsorted(every, p) for p in (constraints.must_link, constraints.cannot_link)]
    supernode, size = _core.supernodes(every.size, pairs[0])
    core, wrong = _core.cannot_link_graph(supernode, size, pairs[1])
    if wrong < 0:
        own = known[touched - n_new]
        allowed = _allowed(supernode[n_new:], own, size, n_clusters)
        total = np.zeros((size, n_clusters))
        np.add.at(total, supernode[:n_new], costs)
        if allowed.any(axis=1).all():
            stopper = _core.Stopper()
            assigner = ExactAssigner(CannotLinkGraph(core))
            found = assigner.solve(total, allowed=allowed, stopper=stopper).colours
            raise_interrupt(stopper)
            if found is not None:
                return found[supernode[:n_new]]
    raise _explained(constraints, touched, known, n_new, n_clusters)


def _touched(constraints: Constraints, n_new: int) -> NDArray[np.int64]:
    """Give the numbers of the known rows that are in a pair."""
    both = np.concatenate([constraints.must_link.ravel(), constraints.cannot_link.ravel()])
    return np.unique(both[both >= n_new]).astype(np.int64)


def _allowed(
    supernode: NDArray[np.int32], own: NDArray[np.int32], size: int, n_clusters: int
) -> NDArray[np.bool_]:
    """Which clusters each supernode may take: known rows keep theirs."""
    refused = np.zeros((size, n_clusters), dtype=np.bool_)
    for vertex, cluster in zip(supernode.tolist(), own.tolist(), strict=True):
        refused[vertex] |= np.arange(n_clusters) != cluster
    return ~refused


def _explained(
    constraints: Constraints,
    touched: NDArray[np.int64],
    known: NDArray[np.int32],
    n_new: int,
    n_clusters: int,
) -> Exception:
    """Prove that there is no clustering: that known rows keep their clusters is said by pairs."""
    labels = np.full(n_new + known.size, -1)
    labels[touched] = known[touched - n_new]
    both = constraints | Constraints.from_labels(labels)
    supernode, size = _core.supernodes(labels.size, both.must_link)
    core, pair = _core.cannot_link_graph(supernode, size, both.cannot_link)
    if pair >= 0:
        path = must_link_path(both, pair)
        return InfeasibleConstraintsError(
            f"the pairs contradict each other, or the clusters of known rows: {path}", path
        )
    try:
        rng, stopper = np.random.default_rng(0), _core.Stopper()
        colour_or_explain(CannotLinkGraph(core), both, n_clusters, rng, stopper)
    except (InfeasibleConstraintsError, NoSolutionFoundError) as error:
        return error
    return NoSolutionFoundError("no clusters of the new rows were found under which all pairs hold")
