"""What the paper claims in words, claim by claim, with what its tables and our runs say to it.

A claim is broken down to comparisons of two methods in the cells of one table. A comparison is
counted in our cells and in the paper's own, and the share of ours in which it is so gives the
verdict. Nothing here is a number of its own: all are read from the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.evidence import (
    ALIKE,
    HIGHER,
    LOWER,
    NOT_HIGHER,
    NOT_LOWER,
    TENFOLD,
    Compare,
    CostsMore,
    Evidence,
    Finding,
    Grows,
    NearBest,
    Reaches,
    Succeeds,
    Tables,
)
from experiments.multiples import INTEGER_PROGRAMS
from experiments.tables import PaperTable
from kempe.bench.summary import Summary

# Verdicts, and the share of the cells above which they are given.
VERDICTS = ((0.9, "holds"), (0.7, "holds mostly"), (0.3, "holds in part"), (0.0, "does not hold"))


@dataclass(frozen=True)
class Claim:
    """What the paper says, in our words, and what to look at.

    Attributes
    ----------
    place
        Where it says so.
    evidence
        What the verdict rests on.
    beside
        What is shown with it.
    """

    place: str
    words: str
    evidence: Sequence[Evidence]
    beside: Sequence[Evidence] = ()


_COLLECTIONS = ("COL1", "COL2", "COL3")

# What the paper compares itself with by integer programming, and by greedy assignment.
_PROGRAMS = ("PCCC", "BLPKMCC")
_GREEDY = ("COPKM_P", "COPKM")
# Those of its methods that solve integer programs and still leave a local optimum.
_EXPLORING = ("KSKM_E", "PCCC")

CLAIMS = (
    Claim(
        "abstract; 3.2",
        "KSKM finds partitions that are near the optimum.",
        [NearBest("KSKM")],
        beside=[NearBest(method) for method in (*INTEGER_PROGRAMS, "COPKM_P")],
    ),
    Claim(
        "abstract; conclusion",
        "On large data KSKM is more accurate than the state of the art, and faster.",
        [
            *(Compare("inertia-col4", "inertia", "KSKM", LOWER, other) for other in _PROGRAMS),
            *(Compare("time-col4", "time", "KSKM", LOWER, other) for other in _PROGRAMS),
        ],
        beside=[
            *(Compare("inertia-col4", "inertia", "KSKM", NOT_HIGHER, other) for other in _PROGRAMS),
            *(Compare("inertia-col4", "inertia", "KSKM", LOWER, other) for other in _GREEDY),
        ],
    ),
    Claim(
        "3.2, success",
        "Most methods find clusterings; COPKM fails often.",
        [
            *(Succeeds(method, 0.9) for method in ("KSKM", *INTEGER_PROGRAMS, "COPKM_P")),
            Succeeds("COPKM", 0.9, seldom=True),
        ],
    ),
    Claim(
        "3.2, success",
        "The order of DSATUR mends what COPKM suffers from.",
        [
            Compare("success-rate", "success", "COPKM_P", NOT_LOWER, "COPKM"),
            Succeeds("COPKM_P", 0.93, tables=("success-rate",)),
        ],
    ),
    Claim(
        "3.2, success on collection 4",
        "On CIFAR-100 integer programs run out of memory at 1 and 5 %; KSKM_E still finds "
        "clusterings.",
        [
            Compare(
                *("success-rate-col4", "success", method, LOWER, "KSKM_E"),
                rows=("cifar100",),
                levels=(0.01, 0.05),
            )
            for method in _PROGRAMS
        ]
        + [Succeeds("KSKM_E", 0.9, tables=("success-rate-col4",), rows=("cifar100",))],
    ),
    Claim(
        "3.2, inertia",
        "COP-K-Means and BLPKMCC end at higher inertia.",
        [
            Compare("inertia", "inertia", method, HIGHER, rows=_COLLECTIONS)
            for method in (*_GREEDY, "BLPKMCC")
        ],
    ),
    Claim(
        "3.2, inertia",
        "KSKM reaches inertia comparable to that of KSKM_E and PCCC.",
        [
            Compare("inertia", "inertia", method, ALIKE, rows=_COLLECTIONS)
            for method in ("KSKM_E", "PCCC")
        ],
    ),
    Claim(
        "3.2, collection 4",
        "On the largest data integer programs end above KSKM and above COP-K-Means.",
        [
            Compare("inertia-col4", "inertia", method, HIGHER, other)
            for method in _PROGRAMS
            for other in ("KSKM", "COPKM_P")
        ],
    ),
    Claim(
        "3.2, time",
        "COP-K-Means is the fastest.",
        [Compare("time", "time", method, LOWER) for method in _GREEDY],
        beside=[Compare("time-col4", "time", method, LOWER) for method in _GREEDY],
    ),
    Claim(
        "3.2, time",
        "KSKM is faster than KSKM_E, PCCC and BLPKMCC.",
        [Compare("time", "time", method, HIGHER, rows=_COLLECTIONS) for method in INTEGER_PROGRAMS],
    ),
    Claim(
        "3.2, time",
        "By how much grows with the data.",
        [Grows("time", "time", method, _COLLECTIONS) for method in INTEGER_PROGRAMS],
    ),
    Claim(
        "3.2, time on collection 4",
        "KSKM_E and PCCC are slow on large data, and KSKM is fast.",
        [Compare("time-col4", "time", method, HIGHER) for method in INTEGER_PROGRAMS],
    ),
    Claim(
        "3.2, summary",
        "KSKM_E improves on KSKM.",
        [Compare("inertia", "inertia", "KSKM_E", NOT_HIGHER, rows=_COLLECTIONS)],
        beside=[Compare("inertia", "inertia", "KSKM_E", LOWER, rows=_COLLECTIONS)],
    ),
    Claim(
        "3.3",
        "Without mutation KSKM ends slightly above KSKM_E and PCCC, up to three orders of "
        "magnitude sooner.",
        [
            *(Compare("no-mutation", "inertia", method, NOT_HIGHER) for method in _EXPLORING),
            *(Compare("no-mutation", "time", method, TENFOLD) for method in _EXPLORING),
            Reaches("no-mutation", "time", "PCCC", 1000),
        ],
    ),
    Claim(
        "3.3",
        "Without mutation KSKM_E is comparable to PCCC in inertia, in less time.",
        [
            Compare("no-mutation", "inertia", "KSKM_E", ALIKE, "PCCC"),
            Compare("no-mutation", "time", "KSKM_E", LOWER, "PCCC"),
        ],
    ),
    Claim(
        "3.4",
        "Without perturbation inertia is higher.",
        [
            Compare("reposition", "inertia", "KSKM_repo", HIGHER),
            Compare("reposition", "inertia", "KSKM_E_repo", HIGHER, "KSKM_E"),
        ],
    ),
    Claim(
        "3.4",
        "KSKM gains more by perturbation than KSKM_E.",
        [CostsMore("reposition", "inertia", ("KSKM_repo", "KSKM"), ("KSKM_E_repo", "KSKM_E"))],
    ),
    Claim(
        "3.5",
        "Where cannot-link pairs are dense and clusters few, KSKM is at its weakest, and exact "
        "assignments help.",
        [
            Compare("no-must-link", "success", "KSKM_E", NOT_LOWER),
            Compare("no-must-link", "inertia", "KSKM_E", LOWER),
            Succeeds("KSKM", 0.9, tables=("no-must-link",), seldom=True),
        ],
        beside=[Succeeds(method, 0.9, tables=("no-must-link",)) for method in INTEGER_PROGRAMS],
    ),
    Claim(
        "appendix, S_MDEClust",
        "S_MDEClust ends below BLPKMCC, but hardly below KSKM, KSKM_E and PCCC, at a high price.",
        [
            Compare("smde-inertia", "inertia", "S_MDEClust", LOWER, "BLPKMCC"),
            *(
                Compare("smde-inertia", "inertia", "S_MDEClust", ALIKE, other)
                for other in ("KSKM", *_EXPLORING)
            ),
            Compare("smde-time", "time", "S_MDEClust", HIGHER),
        ],
        beside=[Compare("smde-time", "time", "S_MDEClust", TENFOLD)],
    ),
)


def claims_page(summary: Summary, tables: Sequence[PaperTable]) -> str:
    """Write all claims as Markdown, with what was found and a verdict."""
    by_name = {table.spec.name: table for table in tables}
    lines = [
        "# What the paper claims, and what our runs say",
        "",
        "Written by `python -m experiments report`, from the runs alone. A claim is broken down to "
        "comparisons in the cells of the paper's tables, ours rounded to its digits; in brackets, "
        "the same in the paper's own numbers. Ratios are geometric means over those cells. Times "
        "that our limit cut are left out where longer ones might say the opposite. Of `vehicle` "
        "the paper's pairs are not published; ours are as many. The verdict is the share of our "
        "cells in which the comparisons come out as claimed, beside that of the paper's own: "
        + ", ".join(f"from {100 * share:g} % on *{words}*" for share, words in VERDICTS[:-1])
        + ", else *does not hold*. CPU times are of compiled code, HiGHS and OR-Tools here, of "
        "Python and Gurobi in the paper.",
        "",
        "| claim | where | measured here (in the paper) | verdict |",
        "|---|---|---|---|",
    ]
    lines += [_line(claim, summary, by_name) for claim in CLAIMS]
    return "\n".join(lines) + "\n"


def _line(claim: Claim, summary: Summary, tables: Tables) -> str:
    findings, beside = (
        [item.finding(summary, tables) for item in items]
        for items in (claim.evidence, claim.beside)
    )
    measured = [finding.words for finding in findings]
    if beside:
        measured += ["*beside it:*", *(finding.words for finding in beside)]
    return f"| {claim.words} | {claim.place} | {'<br>'.join(measured)} | {verdict(findings)} |"


def verdict(findings: Sequence[Finding]) -> str:
    """Judge a claim by its findings, each of which counts as much as the others."""
    counts = [found.count for found in findings if found.count is not None]
    if not counts:
        return "not measured"
    ours = float(np.mean([count.ours / count.cells for count in counts]))
    paper = [count.paper / count.cells for count in counts if count.paper is not None]
    words = next(words for share, words in VERDICTS if ours >= share)
    there = f"; paper {100 * np.mean(paper):.0f} %" if paper else ""
    return f"**{words}** ({100 * ours:.0f} %{there})"
