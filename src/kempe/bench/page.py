"""The HTML page of a report, with nothing outside it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from kempe import datasets
from kempe.bench import figures
from kempe.bench.plan import MAIN
from kempe.bench.statistics import Comparison
from kempe.bench.store import Record
from kempe.bench.summary import ALL, Cell, Quantity, Summary
from kempe.bench.wording import (
    format_number,
    in_sentence,
    limits_in_words,
    machine_in_words,
    outcome_in_words,
    p_value,
    seeds_in_words,
)
from kempe.datasets.catalogue import COLLECTIONS
from kempe.report.html import Html, html, join, style

Settings = Mapping[str, str]
"""Words for variants, by their names."""

NOTHING = Html()


def html_page(
    summary: Summary,
    records: Sequence[Record],
    comparisons: Mapping[tuple[str, str], Sequence[Comparison]],
    machines: Sequence[Mapping[str, Any]],
) -> str:
    """Give the page of a report on any runs."""
    sections = [
        runs_section(summary, records, machines, {}),
        figures_section(drawn_figures(summary)),
        tests_section(comparisons),
        failures_section(records),
        details_section(summary, {}),
    ]
    told = outcome_in_words(len(records), sum(record.ok for record in records))
    return render(_LEAD, told, sections)


def render(
    lead: str,
    verdict: str,
    sections: Sequence[Section],
    *,
    found: Html = NOTHING,
    more_style: str = "",
) -> str:
    """Put a page together; sections without a body are left out.

    Parameters
    ----------
    lead, verdict
        What the page is about, and what is to be said before everything else.
    found
        What stands between the two.
    more_style
        Rules beside those that all reports share.
    """
    template, rules = (_file(name) for name in ("report.html", "report.css"))
    shown = [section for section in sections if section.body]
    return html(
        template,
        style=Html("\n".join(part.strip("\n") for part in (style(), rules, more_style)).strip()),
        lead=lead,
        found=found,
        verdict=verdict,
        contents=join(section.link for section in shown),
        sections=join(
            html("<h2 id={}>{}</h2>{}", section.name, section.title, section.body)
            for section in shown
        ),
    )


def _file(name: str) -> str:
    return resources.files("kempe.bench").joinpath(name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Section:
    """A part of the page, left out if it has no body.

    Attributes
    ----------
    name
        What links refer to.
    title, body
        What is shown.
    inner_links
        Items of the table of contents below its own.
    """

    name: str
    title: str
    body: Html
    inner_links: Html = NOTHING

    @property
    def link(self) -> Html:
        """Item of the table of contents."""
        inner = html("<ul>{}</ul>", self.inner_links) if self.inner_links else NOTHING
        return html('<li><a href="#{}">{}</a>{}</li>', self.name, self.title, inner)


_LEAD = "Constrained clustering methods compared."

_COVERED = "Instances (data set and level) of each collection, with the number of seeds."

_TESTS = Html(
    """<p>Wilcoxon signed-rank tests over instances (data set and level), on the ratio of the
means over the seeds at which both ended by themselves; runs that the time limit ended are left out,
and instances without other runs with them (<em>left out</em>). The p-values of one group are
corrected by Holm's procedure. A ratio below one favours the first method. Bold where the corrected
value is below 0.05.</p>"""
)

# A test or a profile over fewer instances says nothing.
_FEWEST_INSTANCES = 2

# Tables of so few are not worth hiding.
_FEW_INSTANCES = 5


def figure(drawn: Html, caption: str) -> Html:
    """Give a drawing with its caption."""
    return html(
        '<figure><div class="wide">{}</div><figcaption>{}</figcaption></figure>', drawn, caption
    )


def columns(names: Iterable[str]) -> Html:
    """Give the heads of columns."""
    return join(html("<th scope=col>{}</th>", name) for name in names)


def rows_of(cells: Iterable[Sequence[object]], n_heads: int) -> Html:
    """Give rows of a table, of which the first cells are heads."""
    return join(
        html(
            "<tr>{}{}</tr>",
            join(html("<th scope=row>{}</th>", cell) for cell in row[:n_heads]),
            join(html("<td>{}</td>", cell) for cell in row[n_heads:]),
        )
        for row in cells
    )


def runs_section(
    summary: Summary,
    records: Sequence[Record],
    machines: Sequence[Mapping[str, Any]],
    settings: Settings,
    note: str = "",
) -> Section:
    """Say what was run, by which method, where.

    Parameters
    ----------
    settings
        Words for variants.
    note
        A word more about what is counted.
    """
    names = ["method", *summary.collections()]
    names += ["limit", "runs", "failed", "stopped by limit", "CPU time"]
    body = html(
        "<dl>{facts}</dl><p>{words}</p>"
        '<div class="scroll"><table class="coverage"><thead><tr>{head}</tr></thead>'
        "<tbody>{rows}</tbody></table></div>",
        facts=_facts(records, machines),
        words=f"{_COVERED} {note}".strip(),
        head=columns(names),
        rows=_coverage(summary, settings),
    )
    return Section("runs", "What was run", body)


def drawn_figures(summary: Summary) -> list[tuple[Html, str]]:
    """Draw what the runs have to show; each figure with its caption."""
    profiles = len(summary.instances()) >= _FEWEST_INSTANCES
    return [
        (
            figures.failures(summary),
            "Where methods fail: share of the runs that ended without a clustering, by collection "
            "and level, and of those that the time limit ended.",
        ),
        (
            figures.performance_profiles(summary) if profiles else NOTHING,
            "Performance profiles: the share of instances on which a method stays within a factor "
            "of the best of all methods, over the instances that all methods were run on. Higher "
            "and further left is better; a curve that ends below one failed on the rest.",
        ),
        (
            figures.convergence(summary),
            "Convergence on the instances on which the methods differ most: mean over seeds of "
            "the best inertia so far, as per cent above the best that any run found.",
        ),
    ]


def figures_section(drawn: Sequence[tuple[Html, str]]) -> Section:
    """Show figures, those that have something to show."""
    body = join(figure(picture, caption) for picture, caption in drawn if picture)
    return Section("figures", "Figures", body)


def tests_section(comparisons: Mapping[tuple[str, str], Sequence[Comparison]]) -> Section:
    """Show paired tests by collection and quantity."""
    told = [
        _comparison_table(*key, pairs)
        for key, pairs in comparisons.items()
        if max(pair.n for pair in pairs) >= _FEWEST_INSTANCES
    ]
    return Section("tests", "Paired tests", join([_TESTS, join(told, "\n")]) if told else NOTHING)


def details_section(summary: Summary, settings: Settings) -> Section:
    """Show every instance.

    Parameters
    ----------
    settings
        Words for variants.
    """
    body = html(
        "<p>Means over the seeds that succeeded, and the best over seeds; the best of a row is "
        "bold.</p>{}",
        _details(summary, settings),
    )
    return Section("details", "All instances", body)


def _facts(records: Sequence[Record], machines: Sequence[Mapping[str, Any]]) -> Html:
    failed = sum(not record.ok for record in records)
    seconds = sum(record.cpu_s or 0.0 for record in records)
    instances = {(record.dataset, record.level) for record in records}
    seeds = {record.seed for record in records}
    limits = sorted({record.time_limit for record in records})
    items = {
        "runs": f"{len(records):,}, of which {failed:,} failed",
        "instances": f"{len(instances):,} (data set and level)",
        "methods": ", ".join(sorted({record.method for record in records})),
        "seeds": f"{len(seeds)}, with the same starting centroids for all methods",
        "time limit": ", ".join(f"{limit:g} s" for limit in limits) + " per run",
        "processor time": f"{_duration(seconds)} in all",
        "violated constraints": f"{sum(record.violations or 0 for record in records)}",
    }
    # Machines that differ in nothing that is told here count as one.
    told = dict.fromkeys(machine_in_words(facts) for facts in machines)
    for number, words in enumerate(told, start=1):
        items["machine" if len(told) == 1 else f"machine {number}"] = words
    return join(html("<dt>{}</dt><dd>{}</dd>", name, text) for name, text in items.items())


def _coverage(summary: Summary, settings: Settings) -> Html:
    """Per method what was run: instances of each collection, seeds, limits, outcomes."""
    rows = []
    for variant in summary.variants():
        for method in summary.methods(variant):
            cells = {
                key[1]: [cell for (v, d, _, m), cell in summary.cells.items() if (v, d, m) == key]
                for key in {
                    (v, d, m) for v, d, _, m in summary.cells if (v, m) == (variant, method)
                }
            }
            setting = "" if variant == MAIN else settings.get(variant, variant)
            rows.append(_coverage_row(method, setting, cells, summary.collections()))
    return join(rows, "\n")


def _coverage_row(
    method: str, setting: str, cells: dict[str, list[Cell]], collections: Sequence[str]
) -> Html:
    parts = []
    for collection in collections:
        found = [
            cell for name, group in cells.items() if name.startswith(collection) for cell in group
        ]
        parts.append(_covered(found, collection))
    runs = [run for group in cells.values() for cell in group for run in cell.runs]
    limits = limits_in_words(sorted({run.time_limit for run in runs}))
    stopped = sum(run.limited for run in runs)
    failed = sum(not run.ok for run in runs)
    return html(
        "<tr><th scope=row>{method}{small}</th>{parts}<td>{limits}</td>"
        "<td>{runs:,}</td><td>{failed}</td><td>{stopped}</td><td>{time}</td></tr>",
        method=method,
        small=html(" <small>{}</small>", setting) if setting else NOTHING,
        parts=join(parts),
        limits=limits,
        runs=len(runs),
        failed=failed or "",
        stopped=stopped or "",
        time=_duration(sum(run.cpu_s or 0.0 for run in runs)),
    )


def _covered(cells: Sequence[Cell], collection: str) -> Html:
    if not cells:
        return Html("<td class=none>–</td>")
    count = f"{len(cells)}"
    if collection in COLLECTIONS:
        total = len(datasets.names(collection)) * len(datasets.levels(collection))
        count = f"all {total}" if len(cells) == total else f"{len(cells)} of {total}"
    seeds = seeds_of({len(cell.seeds) for cell in cells})
    return html("<td>{}<small>{}</small></td>", count, seeds)


def seeds_of(numbers: set[int]) -> str:
    """Give numbers of seeds, from the fewest to the most."""
    low, high = min(numbers), max(numbers)
    return f"{seeds_in_words(low, high)} {'seed' if high == 1 else 'seeds'}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 3600:.1f} h" if seconds > 5400 else f"{seconds / 60:.1f} min"


_TEST_HEAD = (
    *("first", "second", "instances", "first better", "second better", "ratio"),
    *("seeds", "limit", "left out", "p", "p (Holm)"),
)


def _comparison_table(collection: str, quantity: str, pairs: Sequence[Comparison]) -> Html:
    return html(
        "<details{open}><summary>{collection}: {quantity}</summary>"
        "<div class=scroll><table class=pairs><thead><tr>{head}</tr></thead>"
        "<tbody>{rows}</tbody></table></div></details>",
        open=" open" if collection == ALL else "",
        collection=collection,
        quantity=in_sentence(quantity),
        head=columns(_TEST_HEAD),
        rows=join(_test_row(pair) for pair in pairs),
    )


def _test_row(pair: Comparison) -> Html:
    return html(
        "<tr><th scope=row>{pair.first}</th><th scope=row>{pair.second}</th><td>{pair.n}</td>"
        "<td>{pair.wins}</td><td>{pair.losses}</td><td>{pair.ratio:.4g}</td><td>{seeds}</td>"
        "<td>{limits}</td><td>{limited}</td><td>{p}</td><td class={kind}>{p_holm}</td></tr>",
        pair=pair,
        seeds=seeds_in_words(*pair.seeds),
        limits=limits_in_words(pair.limits),
        limited=pair.n_limited or "",
        p=p_value(pair.p_value),
        kind="sure" if pair.p_holm < 0.05 else "open",
        p_holm=p_value(pair.p_holm),
    )


def failures_section(records: Sequence[Record]) -> Section:
    """Count the failures of each method by their kind."""
    return Section("failures", "Failed runs", _failures(records))


def _failures(records: Sequence[Record]) -> Html:
    failed = [record for record in records if not record.ok]
    counts = Counter((record.method, record.reason.split(":")[0]) for record in failed)
    if not counts:
        return Html("<p>No run failed.</p>")
    return html(
        "<div class=scroll><table class=pairs><thead><tr><th>method</th><th>reason</th>"
        "<th>runs</th></tr></thead><tbody>{}</tbody></table></div>",
        rows_of(((*key, f"{count:,}") for key, count in sorted(counts.items())), n_heads=2),
    )


def _details(summary: Summary, settings: Settings) -> Html:
    """Tables of every instance: means over seeds, and for the usual setting the best of them."""
    quantities: tuple[Quantity, ...] = ("inertia", "time", "ari", "success")
    parts = []
    for variant in summary.variants():
        setting = f", {settings.get(variant, variant)}" if variant != MAIN else ""
        for collection in summary.collections():
            instances = summary.instances(variant, collection)
            kinds = [(quantity, False) for quantity in quantities]
            if variant == MAIN:
                kinds += [("inertia", True), ("time", True), ("ari", True)]
            parts += [
                html(
                    "<details{}><summary>{}: {}</summary>{}</details>",
                    " open" * (len(instances) <= _FEW_INSTANCES),
                    f"{collection}{setting}",
                    _detail_title(*kind),
                    _detail_table(summary, instances, variant, *kind),
                )
                for kind in kinds
                if instances
            ]
    return join(parts)


def _detail_title(quantity: str, best: bool) -> str:
    name = in_sentence(quantity)
    if not best:
        return f"mean {name}" if quantity != "success" else name
    return {"inertia": "lowest", "time": "total", "ari": "highest"}[
        quantity
    ] + f" {name} of all seeds"


def _detail_table(
    summary: Summary,
    instances: Sequence[tuple[str, float]],
    variant: str,
    quantity: Quantity,
    best: bool,
) -> Html:
    values = summary.matrix(quantity, instances, variant, best=best)
    lower_is_better = quantity in ("inertia", "time")
    rows = []
    for number, (dataset, level) in enumerate(instances):
        row = [float(found[number]) for found in values.values()]
        known = [value for value in row if not math.isnan(value)]
        top = (min if lower_is_better else max)(known, default=math.nan)
        cells = join(_detail_cell(value, top, quantity) for value in row)
        heads = html("<th scope=row>{}</th><th scope=row>{:g}</th>", dataset.split("/")[1], level)
        rows.append(html("<tr>{}{}</tr>", heads, cells))
    return html(
        "<div class=scroll><table><thead><tr><th>data</th><th>level</th>{}</tr></thead>"
        "<tbody>{}</tbody></table></div>",
        columns(values),
        join(rows),
    )


def _detail_cell(value: float, best: float, quantity: str) -> Html:
    decimals = 3 if quantity == "time" else 2
    text = format_number(value, quantity, decimals)
    is_best = not math.isnan(value) and math.isclose(value, best, rel_tol=1e-6)
    return html("<td class=best>{}</td>", text) if is_best else html("<td>{}</td>", text)
