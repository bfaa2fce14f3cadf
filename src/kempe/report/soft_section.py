"""The part of a report about pairs that may be wrong: what was broken, and what nearly was."""

from __future__ import annotations

import math

from kempe.report.doubts import Doubt
from kempe.report.html import number, short, table
from kempe.report.report import Report
from kempe.search.result import BrokenPairs

# More are in the frame of the result, which is the better place to read hundreds.
MOST_BROKEN = 50
MOST_NEAR = 10

_WHAT = ["pair", "first", "second", "clusters", "confidence"]


def soft_section(report: Report) -> str:
    """Give both tables, or say that one of them is empty."""
    assert report.broken is not None
    return (
        "<h2>Pairs that may be wrong</h2>"
        f"{_broken(report, report.broken)}{_nearly_broken(report, report.nearly_broken)}"
    )


def pair_cells(report: Report, first: int, second: int) -> list[str]:
    """Give the cells that name both rows of a pair, and their clusters."""
    clusters = dict.fromkeys(report.cluster_names[report.labels[row]] for row in (first, second))
    names = (report.ids[first], report.ids[second], ", ".join(clusters))
    return [f"<td class=text>{short(name)}</td>" for name in names]


def _broken(report: Report, broken: BrokenPairs) -> str:
    count, of = len(broken.pairs), report.constraints.soft.count
    if not count:
        return f"<p>None of the {of:,} soft pairs is broken.</p>"
    more = count - MOST_BROKEN
    left_out = f" {more:,} cheaper ones are left out here." if more > 0 else ""
    rows = [
        [
            f"<th scope=row>{number(price)}</th>",
            *_what(report, bool(together), first, second, confidence),
        ]
        for price, together, (first, second), confidence in zip(
            broken.price[:MOST_BROKEN].tolist(),
            broken.together[:MOST_BROKEN].tolist(),
            broken.pairs[:MOST_BROKEN].tolist(),
            broken.confidence[:MOST_BROKEN].tolist(),
            strict=True,
        )
    ]
    return (
        f"<p>{count:,} of {of:,} soft pairs are broken, because keeping them would have cost more "
        "than their price. They are the first to look at if some are wrong; the dearest come "
        f"first.{left_out}</p>{table(['price', *_WHAT], rows, kind='soft-pairs')}"
    )


def _nearly_broken(report: Report, doubts: list[Doubt]) -> str:
    if not doubts:
        return ""
    more = len(doubts) - MOST_NEAR
    left_out = f" {more:,} with a larger margin are left out." if more > 0 else ""
    rows = [
        [
            f"<th scope=row>{number(doubt.margin)}</th>",
            *_what(report, doubt.together, doubt.first, doubt.second, doubt.confidence),
            f"<td>{number(doubt.price)}</td>",
        ]
        for doubt in doubts[:MOST_NEAR]
    ]
    return (
        "<p>Nearly broken: nothing but the pair itself holds these, as one of their rows would be "
        "better off elsewhere without it. The margin is by how much the objective would rise if "
        f"the pair were broken.{left_out}</p>"
        + table(["margin", *_WHAT, "price"], rows, kind="soft-pairs")
    )


def _what(report: Report, together: bool, first: int, second: int, confidence: float) -> list[str]:
    sure = "not said" if math.isnan(confidence) else f"{confidence:.2f}"
    return [
        f"<td class=text>{'must-link' if together else 'cannot-link'}</td>",
        *pair_cells(report, first, second),
        f"<td>{sure}</td>",
    ]
