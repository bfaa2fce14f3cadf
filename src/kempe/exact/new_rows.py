"""Clusters of new rows under pairs, at centroids that stay where they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.constraints import Constraints
from kempe.exact.part import Floats
from kempe.exact.soft_assignment import OpenPairs, assign_softly
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.graph import CannotLinkGraph
from kempe.graph.certificates import must_link_path, raise_interrupt
from kempe.graph.check import colour_or_explain
from kempe.pairs import Pairs
from kempe.soft_pairs import PairPrice, SoftPairs, log_odds


def assign_new_rows(
    costs: Floats,
    constraints: Constraints,
    known: NDArray[np.int32],
    pair_price: PairPrice | None = None,
) -> NDArray[np.int32]:
    """Give each new row the cluster that costs least where all pairs hold, but for soft ones.

    Parameters
    ----------
    costs
        Squared distance of each new row to each centroid.
    constraints
        Pairs of rows; new rows have the numbers from 0, known ones those after them.
    known
        Clusters of the known rows, which keep them.
    pair_price
        What breaking a soft pair costs, if there are any.

    Raises
    ------
    InfeasibleConstraintsError
        If that is impossible, with a proof.
    """
    n_new, n_clusters = costs.shape
    constraints.check_rows(n_new + known.size)
    pairs, together, confidence = constraints.soft.stacked()
    touched = _known_rows(n_new, constraints.must_link, constraints.cannot_link, pairs)
    every = np.concatenate([np.arange(n_new), touched])
    must_link, cannot_link, pairs = (
        np.searchsorted(every, some)
        for some in (constraints.must_link, constraints.cannot_link, pairs)
    )
    supernode, size = _core.supernodes(every.size, must_link)
    core, wrong = _core.cannot_link_graph(supernode, size, cannot_link)
    if wrong < 0:
        own = known[touched - n_new]
        total = np.zeros((size, n_clusters))
        np.add.at(total, supernode[:n_new], costs)
        total[~_allowed(supernode[n_new:], own, size, n_clusters)] = np.inf
        if np.isfinite(total).any(axis=1).all():
            soft = SoftPairs.build(supernode, core, pairs, together, log_odds(confidence))
            stopper = _core.Stopper()
            found = assign_softly(CannotLinkGraph(core), total, _priced(soft, pair_price), stopper)
            raise_interrupt(stopper)
            if found is not None:
                return found[supernode[:n_new]]
    raise _explained(constraints, known, n_new, n_clusters)


def _priced(soft: SoftPairs, pair_price: PairPrice | None) -> OpenPairs:
    prices = np.zeros(soft.first.size) if pair_price is None else pair_price.of_supernodes(soft)
    return OpenPairs(soft.first, soft.second, prices).where(prices != 0)


def _known_rows(n_new: int, *pairs: Pairs) -> NDArray[np.int64]:
    """Give the numbers of the known rows that are in a pair."""
    every = np.concatenate([some.ravel() for some in pairs])
    return np.unique(every[every >= n_new]).astype(np.int64)


def _allowed(
    supernode: NDArray[np.int32], own: NDArray[np.int32], size: int, n_clusters: int
) -> NDArray[np.bool_]:
    """Which clusters each supernode may take: known rows keep theirs."""
    refused = np.zeros((size, n_clusters), dtype=np.bool_)
    for vertex, cluster in zip(supernode.tolist(), own.tolist(), strict=True):
        refused[vertex] |= np.arange(n_clusters) != cluster
    return ~refused


def _explained(
    constraints: Constraints, known: NDArray[np.int32], n_new: int, n_clusters: int
) -> Exception:
    """Prove that there is no clustering: that known rows keep their clusters is said by pairs."""
    touched = _known_rows(n_new, constraints.must_link, constraints.cannot_link)
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
