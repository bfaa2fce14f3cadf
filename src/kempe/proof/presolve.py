"""What cannot-link cliques imply, with a log that a checker can replay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.graph import CannotLinkGraph
from kempe.problem import Problem
from kempe.proof.facts import Facts, Pair, as_pairs, merged_groups
from kempe.proof.nodes import Deduction, Relation

# Kinds in the log of the kernel.
_APART, _TOGETHER, _CONTRADICTION = range(3)


@dataclass(frozen=True, eq=False)
class Presolved:
    """Facts after all deductions, their log, and rows that no clustering can have.

    Attributes
    ----------
    facts
        What is known now; of no use if there is a witness.
    deductions
        How it follows, in order.
    witness
        ``n_clusters + 1`` rows that are pairwise apart, or two that are both together and apart;
        empty if no contradiction was met.
    """

    facts: Facts
    deductions: tuple[Deduction, ...]
    witness: tuple[int, ...] = ()


def presolve(facts: Facts, n_clusters: int, stopper: _core.Stopper | None = None) -> Presolved:
    """Deduce what cliques imply, until nothing new follows or the stopper strikes."""
    torn = facts.torn_group()
    if torn is not None:
        return Presolved(facts, (), torn)
    log, witness = _deduced(facts.graph, facts.first_row, n_clusters, stopper)
    if witness:
        return Presolved(facts, log, witness)
    known = facts.with_apart(_pairs(log, "apart")) if _pairs(log, "apart") else facts
    together = _pairs(log, "together")
    return Presolved(known.with_together(together) if together else known, log)


@dataclass(frozen=True, eq=False)
class Merged:
    """Groups of all rows of a problem after all deductions, without a matrix over them.

    Attributes
    ----------
    group
        Group of each row, numbered by first row.
    edges
        Pairs of groups that are apart.
    deductions, witness
        As in ``Presolved``; with a witness nothing is merged.
    """

    group: NDArray[np.int32]
    edges: NDArray[np.int32]
    deductions: tuple[Deduction, ...] = ()
    witness: tuple[int, ...] = ()

    @classmethod
    def nothing(cls, problem: Problem) -> Merged:
        """Give the user's pairs alone."""
        return cls(problem.supernode, problem.graph.edges)

    @classmethod
    def of(cls, problem: Problem, stopper: _core.Stopper) -> Merged:
        """Deduce what cliques imply."""
        row = np.unique(problem.supernode, return_index=True)[1]
        log, witness = _deduced(problem.graph, row, problem.n_clusters, stopper)
        if witness:
            return cls(problem.supernode, problem.graph.edges, log, witness)
        if not log:
            return cls.nothing(problem)
        into = merged_groups(problem.supernode[as_pairs(_pairs(log, "together"))], row.size)
        apart = problem.supernode[as_pairs(_pairs(log, "apart"))]
        edges = np.sort(into[np.concatenate([problem.graph.edges, apart])], axis=1)
        # One number stands for a pair, and sorts many times faster.
        keys = np.unique(edges[:, 0].astype(np.int64) << 32 | edges[:, 1])
        distinct = np.column_stack([keys >> 32, keys & (2**32 - 1)]).astype(np.int32)
        return cls(into[problem.supernode], distinct, log)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max()) + 1


def presolve_problem(problem: Problem, merged: Merged, most: int) -> Presolved | None:
    """Do the same for all rows of a problem; none if more groups of some weight are left than that.

    Only then is there a matrix over the groups: before, there may be too many for one.
    """
    if merged.witness:
        return Presolved(Facts.of(problem), merged.deductions, merged.witness)
    if np.count_nonzero(np.bincount(merged.group, problem.row_weight)) > most:
        return None
    facts = Facts.of_edges(merged.group, merged.n_groups, merged.edges)
    return Presolved(facts, merged.deductions)


def _deduced(
    graph: CannotLinkGraph,
    rows: NDArray[np.intp],
    n_clusters: int,
    stopper: _core.Stopper | None,
) -> tuple[tuple[Deduction, ...], tuple[int, ...]]:
    """Give the log, by the rows that stand for the groups, and a witness if it ends with one."""
    kinds, pairs, offsets, members = _core.clique_deductions(
        graph.core, n_clusters, stopper or _core.Stopper()
    )
    log: list[Deduction] = []
    for number, kind in enumerate(kinds.tolist()):
        a, b = rows[pairs[number]].tolist()
        clique = tuple(rows[members[offsets[number] : offsets[number + 1]]].tolist())
        if kind == _CONTRADICTION:
            return tuple(log), (a, b, *clique)
        log.append(Deduction("together" if kind == _TOGETHER else "apart", (a, b), clique))
    return tuple(log), ()


def _pairs(log: Iterable[Deduction], kind: Relation) -> list[Pair]:
    return [deduction.pair for deduction in log if deduction.kind == kind]
