"""The HTML page of a report, with nothing outside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template
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
    outcome_in_words,
    p_value,
    seeds_in_words,
)
from kempe.datasets.catalogue import COLLECTIONS
from kempe.report.html import style

Settings = Mapping[str, str]
"""Words for variants, by their names."""


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
    lead: str, verdict: str, sections: Sequence[Section], *, found: str = "", more_style: str = ""
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
    template = resources.files("kempe.bench").joinpath("report.html").read_text(encoding="utf-8")
    shown = [section for section in sections if section.body]
    return Template(template).substitute(
        style=style(),
        more_style=more_style.strip(),
        lead=lead,
        found=found,
        verdict=verdict,
        contents="".join(section.link for section in shown),
        sections="".join(f"<h2 id={s.name}>{s.title}</h2>{s.body}" for s in shown),
    )


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
    body: str
    inner_links: str = ""

    @property
    def link(self) -> str:
        """Item of the table of contents."""
        inner = f"<ul>{self.inner_links}</ul>" if self.inner_links else ""
        return f'<li><a href="#{self.name}">{self.title}</a>{inner}</li>'


_LEAD = "Constrained clustering methods compared."

_COVERED = "Instances (data set and level) of each collection, with the number of seeds."

_TESTS = """<p>Wilcoxon signed-rank tests over instances (data set and level), on the ratio of the
means over the seeds at which both ended by themselves; runs that the time limit ended are left out,
and instances without other runs with them (<em>left out</em>). The p-values of one group are
corrected by Holm's procedure. A ratio below one favours the first method. Bold where the corrected
value is below 0.05.</p>"""

# A test or a profile over fewer instances says nothing.
_FEWEST_INSTANCES = 2

# Tables of so few are not worth hiding.
_FEW_INSTANCES = 5


def figure(drawn: str, caption: str) -> str:
    """Give a drawing with its caption."""
    return f'<figure><div class="wide">{drawn}</div><figcaption>{caption}</figcaption></figure>'


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
    head = "".join(f"<th scope=col>{name}</th>" for name in names)
    body = (
        f"<dl>{_facts(summary, records, machines)}</dl><p>{_COVERED}{note and f' {note}'}</p>"
        f'<div class="scroll"><table class="coverage"><thead><tr>{head}</tr></thead>'
        f"<tbody>{_coverage(summary, settings)}</tbody></table></div>"
    )
    return Section("runs", "What was run", body)


def drawn_figures(summary: Summary) -> list[tuple[str, str]]:
    """Draw what the runs have to show; each figure with its caption."""
    profiles = len(summary.instances()) >= _FEWEST_INSTANCES
    return [
        (
            figures.failures(summary),
            "Where methods fail: share of the runs that ended without a clustering, by collection "
            "and level, and of those that the time limit ended.",
        ),
        (
            figures.performance_profiles(summary) if profiles else "",
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


def figures_section(drawn: Sequence[tuple[str, str]]) -> Section:
    """Show figures, those that have something to show."""
    body = "".join(figure(picture, caption) for picture, caption in drawn if picture)
    return Section("figures", "Figures", body)


def tests_section(comparisons: Mapping[tuple[str, str], Sequence[Comparison]]) -> Section:
    """Show paired tests by collection and quantity."""
    told = [
        _comparison_table(*key, pairs)
        for key, pairs in comparisons.items()
        if max(pair.n for pair in pairs) >= _FEWEST_INSTANCES
    ]
    return Section("tests", "Paired tests", _TESTS + "\n".join(told) if told else "")


def details_section(summary: Summary, settings: Settings) -> Section:
    """Show every instance.

    Parameters
    ----------
    settings
        Words for variants.
    """
    body = (
        "<p>Means over the seeds that succeeded, and the best over seeds; the best of a row is "
        f"bold.</p>{_details(summary, settings)}"
    )
    return Section("details", "All instances", body)


def _facts(
    summary: Summary, records: Sequence[Record], machines: Sequence[Mapping[str, Any]]
) -> str:
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
    for number, facts in enumerate(machines, start=1):
        packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
        title = "machine" if len(machines) == 1 else f"machine {number}"
        items[title] = (
            f"{facts['processor']}, {facts['cores']} cores; Python {facts['python']}; {packages}"
        )
    return "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in items.items())


def _coverage(summary: Summary, settings: Settings) -> str:
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
    return "\n".join(rows)


def _coverage_row(
    method: str, setting: str, cells: dict[str, list[Cell]], collections: Sequence[str]
) -> str:
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
    small = f" <small>{escape(setting)}</small>" if setting else ""
    return (
        f"<tr><th scope=row>{escape(method)}{small}</th>{''.join(parts)}<td>{limits}</td>"
        f"<td>{len(runs):,}</td><td>{failed or ''}</td><td>{stopped or ''}</td>"
        f"<td>{_duration(sum(run.cpu_s or 0.0 for run in runs))}</td></tr>"
    )


def _covered(cells: Sequence[Cell], collection: str) -> str:
    if not cells:
        return "<td class=none>–</td>"
    count = f"{len(cells)}"
    if collection in COLLECTIONS:
        total = len(datasets.names(collection)) * len(datasets.levels(collection))
        count = f"all {total}" if len(cells) == total else f"{len(cells)} of {total}"
    return f"<td>{count}<small>{seeds_of({len(cell.seeds) for cell in cells})}</small></td>"


def seeds_of(numbers: set[int]) -> str:
    """Give numbers of seeds, from the fewest to the most."""
    low, high = min(numbers), max(numbers)
    return f"{seeds_in_words(low, high)} {'seed' if high == 1 else 'seeds'}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 3600:.1f} h" if seconds > 5400 else f"{seconds / 60:.1f} min"


def _comparison_table(collection: str, quantity: str, pairs: Sequence[Comparison]) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(pair.first)}</th><th scope=row>{escape(pair.second)}</th>"
        f"<td>{pair.n}</td><td>{pair.wins}</td><td>{pair.losses}</td><td>{pair.ratio:.4g}</td>"
        f"<td>{seeds_in_words(*pair.seeds)}</td><td>{limits_in_words(pair.limits)}</td>"
        f"<td>{pair.n_limited or ''}</td>"
        f"<td>{p_value(pair.p_value)}</td><td class={'sure' if pair.p_holm < 0.05 else 'open'}>"
        f"{p_value(pair.p_holm)}</td></tr>"
        for pair in pairs
    )
    names = (
        "first,second,instances,first better,second better,ratio,seeds,limit,left out,p,p (Holm)"
    )
    head = names.split(",")
    columns = "".join(f"<th scope=col>{name}</th>" for name in head)
    return (
        f"<details{' open' if collection == ALL else ''}>"
        f"<summary>{collection}: {in_sentence(quantity)}</summary>"
        f"<div class=scroll><table class=pairs><thead><tr>{columns}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def failures_section(records: Sequence[Record]) -> Section:
    """Count the failures of each method by their kind."""
    return Section("failures", "Failed runs", _failures(records))


def _failures(records: Sequence[Record]) -> str:
    counts: dict[tuple[str, str], int] = {}
    for record in records:
        if not record.ok:
            key = (record.method, record.reason.split(":")[0])
            counts[key] = counts.get(key, 0) + 1
    if not counts:
        return "<p>No run failed.</p>"
    rows = "".join(
        f"<tr><th scope=row>{escape(method)}</th><th scope=row>{escape(kind)}</th>"
        f"<td>{count:,}</td></tr>"
        for (method, kind), count in sorted(counts.items())
    )
    return (
        "<div class=scroll><table class=pairs><thead><tr><th>method</th><th>reason</th>"
        f"<th>runs</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _details(summary: Summary, settings: Settings) -> str:
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
                f"<details{' open' * (len(instances) <= _FEW_INSTANCES)}>"
                f"<summary>{collection}{escape(setting)}: {_detail_title(*kind)}</summary>"
                f"{_detail_table(summary, instances, variant, *kind)}</details>"
                for kind in kinds
                if instances
            ]
    return "".join(parts)


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
) -> str:
    values = summary.matrix(quantity, instances, variant, best=best)
    lower_is_better = quantity in ("inertia", "time")
    head = "".join(f"<th scope=col>{escape(method)}</th>" for method in values)
    rows = []
    for number, (dataset, level) in enumerate(instances):
        row = [float(found[number]) for found in values.values()]
        known = [value for value in row if not math.isnan(value)]
        top = (min if lower_is_better else max)(known, default=math.nan)
        cells = "".join(_detail_cell(value, top, quantity) for value in row)
        name = escape(dataset.split("/")[1])
        rows.append(f"<tr><th scope=row>{name}</th><th scope=row>{level:g}</th>{cells}</tr>")
    return (
        f"<div class=scroll><table><thead><tr><th>data</th><th>level</th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _detail_cell(value: float, best: float, quantity: str) -> str:
    decimals = 3 if quantity == "time" else 2
    text = format_number(value, quantity, decimals)
    is_best = not math.isnan(value) and math.isclose(value, best, rel_tol=1e-6)
    return f"<td class=best>{text}</td>" if is_best else f"<td>{text}</td>"
