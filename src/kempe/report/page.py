"""The page of a report on a clustering."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from html import escape
from string import Template
from typing import Any

import numpy as np

from kempe.report.html import embedded, facts, number, part, short, style, table
from kempe.report.lines import LINES
from kempe.report.picture import COLOURS, minimised, picture
from kempe.report.prices import Price
from kempe.report.report import Report
from kempe.report.soft_section import pair_cells, soft_section
from kempe.words import counted

# Features beyond these are left out, those first in which the clusters differ least.
MOST_FEATURES = 12
# Beyond so many clusters a table of all pairs of them says nothing any more.
MOST_CROSSED = 20
MOST_PRICES = 10
MOST_LETTERS = 200


def page(report: Report) -> str:
    """Give the whole page, with nothing outside it."""
    drawn = picture(report)
    return Template(part("clustering.html")).substitute(
        title=escape(report.title),
        style=style(),
        lead=escape(_lead(report)),
        origin=escape(_origin(report)),
        tiles=_tiles(report),
        sections="\n".join(
            [
                _map(report, drawn),
                _sizes_and_search(report),
                _centres(report),
                _beside(report),
                *([soft_section(report)] if report.broken is not None else []),
                *([_prices(report), _graph(report)] if report.n_pairs else []),
                _settings(report),
            ]
        ),
        data=embedded(drawn),
        # The map of the library's source is not shipped, and a browser would look for it.
        library=part("chart.umd.min.js").split("//# sourceMappingURL")[0],
        charts=part("charts.js"),
    )


def _lead(report: Report) -> str:
    method = report.settings.get("method", "A search")
    pairs = []
    if report.n_pairs:
        pairs.append(f"{report.constraints.without_soft().summary()}, all of which hold")
    if report.broken is not None:
        pairs.append(
            f"{counted(report.constraints.soft.count, 'pair')} that may be wrong, of which "
            f"{len(report.broken.pairs):,} are broken"
        )
    return (
        f"{method} put {counted(report.problem.n_rows, 'row')} into "
        f"{counted(report.problem.n_clusters, 'cluster')}: "
        f"{'; '.join(pairs) or 'no constraints'}."
    )


def _origin(report: Report) -> str:
    """Say in a line where the page comes from."""
    source = f" from {report.source}" if report.source else ""
    return f"Made on {date.today():%d %B %Y} by {report.machine.split(',')[0]}{source}"


def _tiles(report: Report) -> str:
    plain = report.beside.inertia
    above = 100 * (report.result.inertia / plain - 1) if plain else 0.0
    broken = len(report.beside.broken.must_link) + len(report.beside.broken.cannot_link)
    same = abs(above) < 0.005
    side = "that of" if same else "above" if above > 0 else "below"
    tiles = {
        "inertia": number(report.result.inertia, 6),
        f"{side} k-means without constraints": "the same" if same else f"{abs(above):.2f} %",
        "pairs hold here": f"all {report.n_pairs:,}",
        "pairs that k-means breaks": f"{broken:,}",
        "rows in other clusters than by k-means": f"{report.beside.n_moved:,}",
        "search": f"{report.result.runtime:.2f} s",
    }
    if not report.n_pairs:
        tiles = {name: value for name, value in tiles.items() if not name.startswith("pairs")}
    if report.broken is not None:
        count = f"{len(report.broken.pairs):,} of {report.constraints.soft.count:,}"
        tiles["soft pairs are broken"] = count
    return "".join(
        f"<div class=tile><b>{value}</b><span>{name}</span></div>" for name, value in tiles.items()
    )


def _map(report: Report, drawn: dict[str, Any]) -> str:
    shown = drawn["map"]
    controls = "".join(
        f"<label><input type=checkbox id={line.name}{' checked' * line.shown}> {line.sample()} "
        f"{line.text} ({len(shown[line.name]):,})</label>"
        for line in LINES
        if shown[line.name]
    )
    controls += _finding(report)
    left_out = report.problem.n_rows - len(shown["x"])
    many = counted(left_out, "row is", "rows are")
    note = f" {many} left out, chosen at random." if left_out else ""
    return (
        "<h2 id=map-title>The clusters</h2><figure><div class=controls>"
        "<label><input type=radio name=by value=cluster checked> this clustering</label>"
        "<label><input type=radio name=by value=plain> k-means without constraints</label>"
        f"{controls}</div>"
        '<div class="chart tall"><canvas id=map role=img aria-label="Rows in the plane, coloured '
        'by cluster" aria-describedby=found></canvas></div><p id=found class=rule '
        "aria-live=polite></p><figcaption>Hold the pointer over a point, or touch it, to see its "
        "id; or type an id, and go from row to row by the arrow keys. "
        f"{note} {escape(_projection(report, drawn['shares']))}</figcaption></figure>"
    )


def _finding(report: Report) -> str:
    """Give what finds a row and what comes closer; both work without a pointer."""
    named = report.problem.n_clusters > 1
    return (
        f"<label><input type=checkbox id=named{' checked' * named}> names</label>"
        "<label>row <input type=search id=row size=12 autocomplete=off "
        'aria-label="id of a row"></label>'
        "<span class=zoom><button type=button data-zoom=0.7>closer</button>"
        "<button type=button data-zoom=1.4>farther</button>"
        "<button type=button data-zoom=0>all</button></span>"
    )


def _projection(report: Report, shares: Sequence[float]) -> str:
    if report.problem.n_features <= 2:
        return "The axes are the features as they were clustered."
    return (
        f"The axes are the first two principal components, which show {100 * sum(shares):.0f} % of "
        "the variance; clusters that seem to overlap may be apart in the others."
    )


def _sizes_and_search(report: Report) -> str:
    name = minimised(report).capitalize()
    return (
        "<div class=two><div><h2>Sizes</h2><figure><div class=chart><canvas id=sizes role=img "
        'aria-label="Rows of each cluster"></canvas></div><figcaption>Rows of each cluster, and of '
        f"the cluster of k-means that shares most rows with it.{_limits(report)}</figcaption>"
        "</figure></div>"
        "<div><h2>The search</h2><figure><div class=chart><canvas id=search role=img "
        f'aria-label="{name} over time"></canvas></div><figcaption>{name} of the clusterings that '
        f"were looked at; {counted(report.result.n_mutations, 'mutation')}, "
        f"{escape(report.result.ending)}."
        "</figcaption></figure></div></div>"
    )


def _limits(report: Report) -> str:
    """Say which sizes were asked for, and what the limits cost."""
    cost = report.limit_cost
    if cost is None:
        return ""
    found = f"{report.sizes.min():,} to {report.sizes.max():,}"
    return (
        f" Clusters were to have {escape(cost.limits.in_words)}; they have {found}. Without these "
        f"limits the same search reaches {number(cost.free, 6)}, so that they cost "
        f"{100 * cost.share:.2f} %."
    )


def _centres(report: Report) -> str:
    mean, spread = report.overall
    scores = (report.centres - mean) / np.where(spread > 0, spread, 1.0)
    telling = np.argsort(-np.abs(scores).max(axis=0), kind="stable")[:MOST_FEATURES]
    names = [report.feature_names[feature] for feature in telling]
    rows = [
        [_cluster_head(report, cluster), f"<td>{report.sizes[cluster]:,}</td>"]
        + [_heat(report.centres[cluster, f], scores[cluster, f]) for f in telling]
        for cluster in range(report.problem.n_clusters)
    ]
    overall = ["<th scope=row>all rows</th>", f"<td>{report.problem.n_rows:,}</td>"]
    overall += [f"<td>{number(mean[f])}</td>" for f in telling]
    left_out = len(report.feature_names) - len(names)
    many = counted(left_out, "feature")
    note = f"; {many} in which they differ less left out" if left_out else ""
    return (
        "<h2>Centres</h2><p>Means of the clusters in the original units. The stronger the colour, "
        "the more standard deviations the mean lies above (red) or below (blue) that of all rows; "
        f"features in which the clusters differ most come first{note}.</p>"
        + table(["cluster", "rows", *names], rows, foot=overall)
    )


def _heat(value: float, score: float) -> str:
    size = round(min(abs(score), 2.0) * 32)
    side = "high" if score > 0 else "low"
    return (
        f'<td class=heat style="--side:var(--{side});--size:{size}" '
        f'title="{score:+.2f} standard deviations">{number(value)}</td>'
    )


def _cluster_head(report: Report, cluster: int) -> str:
    swatch = f'<span class=swatch style="background:{COLOURS[cluster % len(COLOURS)]}"></span>'
    return f"<th scope=row>{swatch}{short(report.cluster_names[cluster])}</th>"


def _beside(report: Report) -> str:
    beside = report.beside
    broken = beside.broken
    starts = "once" if beside.starts == 1 else f"{beside.starts} times"
    words = (
        f"K-means, which knows no constraints, was started {starts} on the same data. Its inertia "
        f"is {number(beside.inertia, 6)}, ours {number(report.result.inertia, 6)}."
    )
    if report.n_pairs:
        words += (
            f" It breaks {len(broken.must_link):,} of {len(report.constraints.must_link):,} "
            f"must-link and {len(broken.cannot_link):,} of {len(report.constraints.cannot_link):,} "
            "cannot-link pairs."
        )
    if report.broken is not None:
        words += (
            f" Of {counted(report.constraints.soft.count, 'soft pair')} it breaks "
            f"{broken.soft.count:,}, "
            f"this clustering {len(report.broken.pairs):,}."
        )
    return f"<h2>Beside k-means</h2><p>{words}</p>{_crossed(report)}"


def _crossed(report: Report) -> str:
    shared = report.beside.shared
    if len(shared) > MOST_CROSSED:
        return _largest_moves(report)
    rows = [
        [_cluster_head(report, ours)]
        + [_count(int(count), ours == theirs) for theirs, count in enumerate(line)]
        for ours, line in enumerate(shared)
    ]
    head = ["here / k-means", *report.cluster_names]
    return "<p class=rule>Rows by cluster here and by k-means:</p>" + table(head, rows)


def _count(count: int, same: bool) -> str:
    return f"<td class={'zero' if not count else 'same' if same else 'moved'}>{count:,}</td>"


def _largest_moves(report: Report) -> str:
    shared = report.beside.shared * (1 - np.eye(len(report.beside.shared), dtype=int))
    order = np.argsort(-shared, axis=None, kind="stable")[:MOST_PRICES]
    cells = [np.unravel_index(position, shared.shape) for position in order]
    rows = [
        [
            _cluster_head(report, int(ours)),
            f"<td>{short(report.cluster_names[theirs])}</td><td>{shared[ours, theirs]:,}</td>",
        ]
        for ours, theirs in cells
        if shared[ours, theirs]
    ]
    return "<p class=rule>Most rows that moved:</p>" + table(["here", "by k-means", "rows"], rows)


def _prices(report: Report) -> str:
    head = (
        f"<h2>What pairs cost</h2><p>By how much the {minimised(report)} would fall, at least, if "
        "a pair were dropped: a descent from this clustering without the pair. An expensive pair "
        "is worth a second look, as it may be wrong.</p>"
    )
    if not report.prices:
        return head + "<p>None of the pairs that were tried costs anything.</p>"
    rows = [_price_row(report, price) for price in report.prices[:MOST_PRICES]]
    names = ["price", "of inertia", "pair", "first", "second", "clusters", "rows moved"]
    return head + table(names, rows, kind="prices")


def _price_row(report: Report, price: Price) -> list[str]:
    return [
        f"<th scope=row>{number(price.price)}</th>",
        f"<td>{100 * price.price / report.result.inertia:.3g} %</td>",
        f"<td class=text>{price.kind}</td>",
        *pair_cells(report, price.first, price.second),
        f"<td>{price.moved:,}</td>",
    ]


def _graph(report: Report) -> str:
    return f"<h2>The constraints</h2>{facts(report.graph_figures)}"


def _settings(report: Report) -> str:
    left_out = ("callbacks", "verbose")  # how it was watched, not what was found
    told = {name: value for name, value in report.settings.items() if name not in left_out}
    known = {name: _printed(value) for name, value in told.items()}
    made = {"versions": report.machine, "made on": f"{date.today():%d %B %Y}"}
    if report.source:
        made["data"] = report.source
    return f"<h2>Settings</h2>{facts(known | made, 'short')}"


def _printed(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + " …"
