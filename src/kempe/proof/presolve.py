"""What cannot-link cliques imply, with a log that a checker can replay."""

from __future__ import annotations

from dataclasses import dataclass

from kempe import _core
from kempe.proof.certificate import Deduction
from kempe.proof.facts import Facts

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


def presolve(facts: Facts, n_clusters: int) -> Presolved:
    """Deduce what cliques imply, until nothing new follows."""
    torn = facts.torn_group()
    if torn is not None:
        return Presolved(facts, (), torn)
    kinds, pairs, offsets, members = _core.clique_deductions(facts.graph.core, n_clusters)
    rows = facts.first_row
    log: list[Deduction] = []
    for number, kind in enumerate(kinds.tolist()):
        a, b = rows[pairs[number]].tolist()
        clique = tuple(rows[members[offsets[number] : offsets[number + 1]]].tolist())
        if kind == _CONTRADICTION:
            return Presolved(facts, tuple(log), (a, b, *clique))
        log.append(Deduction("together" if kind == _TOGETHER else "apart", (a, b), clique))
    apart = [deduction.pair for deduction in log if deduction.kind == "apart"]
    together = [deduction.pair for deduction in log if deduction.kind == "together"]
    known = facts.with_apart(apart) if apart else facts
    return Presolved(known.with_together(together) if together else known, tuple(log))
