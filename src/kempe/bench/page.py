"""The HTML page of a report, with nothing outside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template
from typing import Any

from kempe import datasets
from kempe.bench import figures
from kempe.bench.plan import MAIN
from kempe.bench.rule import PAPER_SEEDS
from kempe.bench.statistics import Comparison
from kempe.bench.store import Record
from kempe.bench.story import findings
from kempe.bench.summary import ALL, Cell, Quantity, Summary
from kempe.bench.tables import (
    UNPUBLISHED,
    PaperTable,
    TableCell,
    format_number,
    total_agreement,
)
from kempe.bench.wording import (
    HEADINGS,
    in_sentence,
    limits_in_words,
    p_value,
    rule_in_words,
    seeds_in_words,
    verdict,
    why,
)
from kempe.datasets.catalogue import COLLECTIONS
from kempe.report.html import style


def html_page(
    summary: Summary,
    records: Sequence[Record],
    tables: Sequence[PaperTable],
    comparisons: dict[tuple[str, str], list[Comparison]],
    machines: Sequence[dict[str, Any]],
) -> str:
    """Give the whole page, with nothing outside it, and nothing in it that has no runs."""
    template = resources.files("kempe.bench").joinpath("report.html").read_text(encoding="utf-8")
    covered = [table for table in tables if table.has_runs]
    sections = [
        _Section("agreement", "Agreement with the paper", _agreement(covered)),
        _Section("unexplained", "Unexplained differences", _unexplained(covered)),
        _Section("runs", "What was run", _runs(summary, records, machines)),
        _Section("tables", "Tables of the paper", _tables(covered), _links(covered)),
        _Section("figures", "Figures", _figures(summary)),
        _Section("tests", "Paired tests", _tests(comparisons)),
        _Section("failures", "Failed runs", _failures(records)),
        _Section("details", "All instances", _all_instances(summary)),
        _Section("data", "Data sets", _data_sets(summary)),
    ]
    shown = [section for section in sections if section.body]
    counted = verdict(covered, len(records), sum(record.ok for record in records))
    return Template(template).substitute(
        style=style(),
        lead=_LEAD if covered else _LEAD_OF_OWN,
        found=_found(summary, covered),
        verdict=counted,
        contents="".join(section.link for section in shown),
        sections="".join(f"<h2 id={s.name}>{s.title}</h2>{s.body}" for s in shown),
    )


@dataclass(frozen=True)
class _Section:
    """A part of the page, left out if it has no body."""

    name: str
    title: str
    body: str
    inner_links: str = ""

    @property
    def link(self) -> str:
        inner = f"<ul>{self.inner_links}</ul>" if self.inner_links else ""
        return f'<li><a href="#{self.name}">{self.title}</a>{inner}</li>'


_LEAD = (
    "Constrained clustering methods on the collections of the paper, our numbers beside those "
    "published for Kempe swap k-means."
)
_LEAD_OF_OWN = "Constrained clustering methods compared."

_AGREEMENT = """<p>A cell agrees <em>in direction</em> when the method is better than, equal to or
worse than KSKM in our runs as in the paper; it says the <em>opposite</em> when it is better in one
and worse in the other. It agrees <em>in size</em> when the two numbers are as close as the rule
above each table says. Only cells with runs on every data set of their row are counted; cells with
runs on some of them are partial. As in the paper, means are over successful runs; a cell in which
all our runs failed and the paper's did not disagrees. A cell that differs is explained if the runs
themselves show why; the line under each table counts the causes. A printed 1.01 stands for all
numbers from 1.005 to 1.015, and what is equal to KSKM ends at 1.005: such a cell counts as another
direction than an equal one of ours, and its cause is called rounding. <em>Two like ours</em> says
how many cells of two experiments with our methods would agree in direction with each other: runs
are drawn anew from ours, as many as we have for one and ten for the other, which is rounded like
the paper. It is what chance leaves to be reached; a cell with a single run counts as
certain.</p>"""

_AGREEMENT_HEAD = (
    "table",
    "agree in direction",
    "two like ours",
    "opposite",
    "agree in size",
    "explained",
    "unexplained",
    "partial",
)

_COVERED = "Instances (data set and level) of each collection, with the number of seeds."
_AS_THE_PAPER = (
    "The paper has ten seeds and a limit of 3600 seconds; multiples of KSKM are over the seeds "
    "that both methods have."
)

_LEGEND = """<p class="legend">Large: ours, a mean over seeds. Small: the paper's.
<span class="off" style="background:var(--off);color:var(--off-ink)">▲ ▼ ours is higher or lower by
more than the rule allows</span>
<span style="box-shadow:inset 0 -2px 0 var(--accent)">≠ on the other side of KSKM than in the
paper</span>
<span style="font-style:italic;color:var(--soft)">partial: some data sets are missing</span>
<span>⧖ the time limit ended some of the runs</span>
Hold the pointer over a cell for its bootstrap interval.</p>"""

_FOUND_CAPTION = (
    "Quality against time, per collection: mean distance of a method's inertia from the best that "
    "any run found, over the instances that it solved, against the geometric mean of its CPU "
    "seconds. Lower and further left is better. A share beside a name is that of its runs that "
    "ended with a clustering."
)

_CAPTIONS = (
    "Where methods fail: share of the runs that ended without a clustering, by collection and "
    "level, and of those that the time limit ended.",
    "Performance profiles: the share of instances on which a method stays within a factor of the "
    "best of all methods, over the instances that all methods were run on. Higher and further left "
    "is better; a curve that ends below one failed on the rest.",
    "Convergence on the instances on which the methods differ most: mean over seeds of the best "
    "inertia so far, as per cent above the best that any run found.",
    "CPU time against the number of rows, geometric means over the instances of a size class that "
    "the method solved; classes are a factor of two wide.",
)

_TESTS = """<p>Wilcoxon signed-rank tests over instances (data set and level), on the ratio of the
means over the seeds at which both ended by themselves; runs that the time limit ended are left out,
and instances without other runs with them (<em>left out</em>). The p-values of one group are
corrected by Holm's procedure. A ratio below one favours the first method. Bold where the corrected
value is below 0.05.</p>"""

# A test or a profile over fewer instances says nothing.
_FEWEST_INSTANCES = 2
# Tables of so few are not worth hiding.
_FEW_INSTANCES = 5


def _found(summary: Summary, tables: Sequence[PaperTable]) -> str:
    sentences = findings(summary, tables)
    if not sentences:
        return ""
    told = "".join(f"<li>{sentence}</li>" for sentence in sentences)
    return f"<ol class=found>{told}</ol>" + _figure(
        figures.quality_against_time(summary), _FOUND_CAPTION
    )


def _figure(drawn: str, caption: str) -> str:
    return f'<figure><div class="wide">{drawn}</div><figcaption>{caption}</figcaption></figure>'


def _unexplained(tables: Sequence[PaperTable]) -> str:
    rows = "".join(
        f'<tr><th scope=row><a href="#{table.spec.name}">{escape(table.spec.title)}</a></th>'
        f"<th scope=row>{escape(cell.dataset)} {cell.level:g}</th>"
        f"<td>{escape(cell.method)}</td><td>{HEADINGS[cell.quantity]}</td>"
        f"<td>{table.numbers(cell)[0]}</td><td>{table.numbers(cell)[1]}</td></tr>"
        for table in tables
        for cell in table.differences
        if cell.cause is None
    )
    names = ("table", "data", "method", "quantity", "ours", "paper")
    head = "".join(f"<th scope=col>{name}</th>" for name in names)
    return (
        f'<div class="scroll"><table class="pairs"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        if rows
        else ""
    )


def _links(tables: Sequence[PaperTable]) -> str:
    return "".join(
        f'<li><a href="#{table.spec.name}">{escape(table.spec.title)}</a></li>' for table in tables
    )


def _runs(summary: Summary, records: Sequence[Record], machines: Sequence[dict[str, Any]]) -> str:
    collections = summary.collections()
    words = f"{_COVERED} {_AS_THE_PAPER}" if set(collections) & set(COLLECTIONS) else _COVERED
    names = ["method", *collections, "limit", "runs", "failed", "stopped by limit", "CPU time"]
    head = "".join(f"<th scope=col>{name}</th>" for name in names)
    return (
        f"<dl>{_facts(summary, records, machines)}</dl><p>{words}</p>"
        f'<div class="scroll"><table class="coverage"><thead><tr>{head}</tr></thead>'
        f"<tbody>{_coverage(summary)}</tbody></table></div>"
    )


def _tables(tables: Sequence[PaperTable]) -> str:
    return _LEGEND + "\n".join(_html_table(table) for table in tables) if tables else ""


def _figures(summary: Summary) -> str:
    drawn = (
        figures.failures(summary),
        figures.performance_profiles(summary)
        if len(summary.instances()) >= _FEWEST_INSTANCES
        else "",
        figures.convergence(summary),
        figures.scaling(summary),
    )
    return "".join(
        _figure(figure, caption) for figure, caption in zip(drawn, _CAPTIONS, strict=True) if figure
    )


def _tests(comparisons: dict[tuple[str, str], list[Comparison]]) -> str:
    told = [
        _comparison_table(*key, pairs)
        for key, pairs in comparisons.items()
        if max(pair.n for pair in pairs) >= _FEWEST_INSTANCES
    ]
    return _TESTS + "\n".join(told) if told else ""


def _all_instances(summary: Summary) -> str:
    return (
        "<p>Means over the seeds that succeeded, and the best over seeds; the best of a row is "
        f"bold.</p>{_details(summary)}"
    )


def _facts(summary: Summary, records: Sequence[Record], machines: Sequence[dict[str, Any]]) -> str:
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


def _coverage(summary: Summary) -> str:
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
            rows.append(_coverage_row(variant, method, cells, summary.collections()))
    return "\n".join(rows)


def _coverage_row(
    variant: str, method: str, cells: dict[str, list[Cell]], collections: Sequence[str]
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
    setting = (
        "" if variant == MAIN else f" <small>{escape(_SETTINGS.get(variant, variant))}</small>"
    )
    return (
        f"<tr><th scope=row>{escape(method)}{setting}</th>{''.join(parts)}<td>{limits}</td>"
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
    return f"<td>{count}<small>{_seeds({len(cell.seeds) for cell in cells})}</small></td>"


def _seeds(numbers: set[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{seeds_in_words(low, high)} {'seed' if high == 1 else 'seeds'}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 3600:.1f} h" if seconds > 5400 else f"{seconds / 60:.1f} min"


def _agreement(tables: Sequence[PaperTable]) -> str:
    if not tables:
        return ""
    rows = [
        (f'<a href="#{table.spec.name}">{escape(table.spec.title)}</a>', table.agreement())
        for table in tables
    ]
    body = "\n".join(
        f"<tr><th scope=row>{title}</th>"
        f"<td>{_share(counts.direction, counts.directed)}</td>"
        f"<td>{counts.repeatable:.0f}</td><td>{counts.opposed or ''}</td>"
        f"<td>{_share(counts.size, counts.compared)}</td><td>{counts.explained or ''}</td>"
        f"<td>{counts.unexplained or ''}</td><td>{counts.partial or ''}</td></tr>"
        for title, counts in [*rows, ("All of these", total_agreement(tables))]
    )
    head = "".join(f"<th scope=col>{name}</th>" for name in _AGREEMENT_HEAD)
    return (
        f'{_AGREEMENT}<div class="scroll"><table class="agreement"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _share(part: int, whole: int) -> str:
    if not whole:
        return "<span class=none>–</span>"
    width = round(100 * part / whole)
    return (
        f"<span class=share style='--share:{width}%'><b>{part}</b> of {whole}</span>"
        f"<span class=percent>{width} %</span>"
    )


def _html_table(table: PaperTable) -> str:
    parts = [f"<section id={table.spec.name}><h3>{escape(table.spec.title)}</h3>"]
    for quantity, _, rule in table.spec.parts:
        if len(table.spec.parts) > 1:
            parts.append(f"<h4>{HEADINGS[quantity]}</h4>")
        parts.append(f"<p class=rule>Agreement in size: {escape(rule_in_words(rule))}.</p>")
        parts.append(_html_part(table, quantity))
    parts.append(f"<p class=rule><b>Why it differs:</b> {escape(why(table))}</p>")
    return "".join(parts) + "</section>"


def _html_part(table: PaperTable, quantity: Quantity) -> str:
    methods, cells = table.methods(quantity), table.lookup()
    tried = {(cell.dataset, cell.level) for cell in table.cells if cell.ours is not None}
    head = "".join(_method_head(method, table, quantity) for method in methods)
    rows, previous = [], ""
    for dataset, level in [row for row in table.rows if row in tried]:
        name = "" if dataset == previous else escape(dataset)
        row = "".join(
            _html_cell(cells.get((dataset, level, quantity, method)), table) for method in methods
        )
        group = " class=group" if name else ""
        rows.append(f"<tr{group}><th scope=row>{name}</th><th scope=row>{level:g}</th>{row}</tr>")
        previous = dataset
    return (
        f"<div class=scroll><table class=paper><thead><tr><th>data</th><th>level</th>{head}</tr>"
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>{_left_out(table, tried)}"
    )


def _method_head(method: str, table: PaperTable, quantity: Quantity) -> str:
    """Name of a method and, where it is not the paper's, the number of its seeds."""
    seeds = {
        cell.ours.n_seeds
        for cell in table.cells
        if (cell.method, cell.quantity) == (method, quantity) and cell.ours is not None
    }
    note = f"<small>{_seeds(seeds)}</small>" if seeds and seeds != {PAPER_SEEDS} else ""
    return f"<th scope=col>{escape(method)}{note}</th>"


def _left_out(table: PaperTable, tried: set[tuple[str, float]]) -> str:
    levels: dict[str, list[str]] = {}
    for dataset, level in table.rows:
        if (dataset, level) not in tried:
            levels.setdefault(dataset, []).append(f"{level:g}")
    names = "; ".join(f"{name} at {', '.join(found)}" for name, found in levels.items())
    return f"<p class=rule>Not run: {escape(names)}.</p>" if names else ""


def _html_cell(cell: TableCell | None, table: PaperTable) -> str:
    ours, paper = table.numbers(cell)
    below = f"<small>{paper}</small>"
    if cell is not None and cell.method in UNPUBLISHED:
        below = ""
    if cell is None or cell.ours is None:
        missing = "–" if cell is None or cell.paper is None else "not run"
        return f"<td class=absent>{missing}{below}</td>"
    if math.isnan(cell.ours.value):
        ours = "failed"
    classes, mark = [], ""
    if cell.ours.partial:
        classes.append("partial")
    if cell.size is False and cell.paper is not None:
        classes.append("off")
        if not math.isnan(cell.ours.value):
            mark = "▲" if cell.ours.value > cell.paper else "▼"
    if cell.direction is False:
        classes.append("turned")
        mark += "≠"
    if cell.ours.n_limited:
        mark += "⧖"
    return (
        f'<td class="{" ".join(classes)}" title="{escape(_tooltip(cell))}">'
        f"{ours}{f'<i>{mark}</i>' if mark else ''}{below}</td>"
    )


def _tooltip(cell: TableCell) -> str:
    ours = cell.ours
    if ours is None:
        return ""
    text = f"{cell.method}: {ours.value:.6g}" if ours.n_sets else f"{cell.method}: no run succeeded"
    if not math.isnan(ours.low):
        text += f", 95 % interval {ours.low:.6g} to {ours.high:.6g}"
    if ours.n_sets_wanted > 1:
        text += f"; {ours.n_sets_tried} of {ours.n_sets_wanted} data sets"
        if ours.n_sets < ours.n_sets_tried:
            text += f", {ours.n_sets} of them solved"
    text += f"; {ours.n_runs} runs, {ours.n_seeds} seeds"
    text += f", {ours.n_limited} ended by the limit" if ours.n_limited else ""
    text += f"; paper {cell.paper:g}" if cell.paper is not None else ""
    return text + (f"; differs by {cell.cause.name}" if cell.cause is not None else "")


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


_SETTINGS = {MAIN: "", "no-mutation": "without mutation", "no-must-link": "without must-link pairs"}


def _details(summary: Summary) -> str:
    """Tables of every instance: means over seeds, and for the usual setting the best of them."""
    quantities: tuple[Quantity, ...] = ("inertia", "time", "ari", "success")
    parts = []
    for variant in summary.variants():
        setting = f", {_SETTINGS.get(variant, variant)}" if variant != MAIN else ""
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


def _data_sets(summary: Summary) -> str:
    """Characteristics of the data sets and sizes of their constraint sets, per collection."""
    shown = [collection for collection in COLLECTIONS if collection in summary.collections()]
    words = "<p>Sizes, and per level the number of must-link / cannot-link pairs.</p>"
    return (words if shown else "") + "".join(
        f"<details><summary>{collection}: rows, features, clusters and pairs</summary>"
        f"{_data_table(collection)}</details>"
        for collection in shown
    )


def _data_table(collection: str) -> str:
    levels = datasets.levels(collection)
    names = ["rows", "features", "clusters", *(f"{level:g}" for level in levels)]
    head = "".join(f"<th scope=col>{name}</th>" for name in names)
    rows = []
    for facts in datasets.describe(f"{collection}/*"):
        sizes = [f"{n:,}" for n in (facts.n_rows, facts.n_features, facts.n_clusters)]
        pairs = [
            f"{must:,} / {cannot:,}" for must, cannot in (facts.counts[level] for level in levels)
        ]
        cells = "".join(f"<td>{cell}</td>" for cell in [*sizes, *pairs])
        rows.append(f"<tr><th scope=row>{escape(facts.name)}</th>{cells}</tr>")
    return (
        f"<div class=scroll><table><thead><tr><th>data</th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _detail_cell(value: float, best: float, quantity: str) -> str:
    decimals = 3 if quantity == "time" else 2
    text = format_number(value, quantity, decimals)
    is_best = not math.isnan(value) and math.isclose(value, best, rel_tol=1e-6)
    return f"<td class=best>{text}</td>" if is_best else f"<td>{text}</td>"
