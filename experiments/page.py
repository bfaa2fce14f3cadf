"""The HTML page of a report on the paper's tables, with nothing outside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from experiments import figures
from experiments.rule import PAPER_SEEDS
from experiments.story import findings
from experiments.tables import UNPUBLISHED, Agreement, PaperTable, TableCell, total_agreement
from experiments.wording import rule_in_words, verdict, why
from kempe import datasets
from kempe.bench import page
from kempe.bench.page import NOTHING, Section
from kempe.bench.report import Comparisons, Runs
from kempe.bench.summary import Quantity, Summary
from kempe.bench.wording import HEADINGS
from kempe.datasets.catalogue import COLLECTIONS
from kempe.report.html import Html, html, join

HERE = Path(__file__).parent


def html_page(runs: Runs, tables: Sequence[PaperTable], comparisons: Comparisons) -> str:
    """Give the whole page, with nothing outside it, and nothing in it that has no runs."""
    summary, records = runs.summary, runs.records
    covered = [table for table in tables if table.has_runs]
    known = set(summary.collections()) & set(COLLECTIONS)
    drawn = [*page.drawn_figures(summary), (figures.scaling(summary), _SCALING_CAPTION)]
    sections = [
        Section("agreement", "Agreement with the paper", _agreement(covered)),
        Section("unexplained", "Unexplained differences", _unexplained(covered)),
        page.runs_section(
            summary, records, runs.machines, _SETTINGS, _AS_THE_PAPER if known else ""
        ),
        Section("tables", "Tables of the paper", _tables(covered), _links(covered)),
        page.figures_section(drawn),
        page.tests_section(comparisons),
        page.failures_section(records),
        page.details_section(summary, _SETTINGS),
        Section("data", "Data sets", _data_sets(summary)),
    ]
    return page.render(
        _LEAD,
        verdict(covered, len(records), runs.solved),
        sections,
        found=_found(summary, covered),
        more_style=(HERE / "report.css").read_text(encoding="utf-8"),
    )


_LEAD = (
    "Constrained clustering methods on the collections of the paper, our numbers beside those "
    "published for Kempe swap k-means."
)

_AGREEMENT = Html(
    """<p>A cell agrees <em>in direction</em> when the method is better than, equal to or
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
)

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

_AS_THE_PAPER = (
    "The paper has ten seeds and a limit of 3600 seconds; multiples of KSKM are over the seeds "
    "that both methods have."
)

_LEGEND = Html("""<p class="legend">Large: ours, a mean over seeds. Small: the paper's.
<span class="off" style="background:var(--off);color:var(--off-ink)">▲ ▼ ours is higher or lower by
more than the rule allows</span>
<span style="box-shadow:inset 0 -2px 0 var(--accent)">≠ on the other side of KSKM than in the
paper</span>
<span style="font-style:italic;color:var(--soft)">partial: some data sets are missing</span>
<span>⧖ the time limit ended some of the runs</span>
Hold the pointer over a cell for its bootstrap interval.</p>""")

_SIZES = Html("<p>Sizes, and per level the number of must-link / cannot-link pairs.</p>")

_FOUND_CAPTION = (
    "Quality against time, per collection: mean distance of a method's inertia from the best that "
    "any run found, over the instances that it solved, against the geometric mean of its CPU "
    "seconds. Lower and further left is better. A share beside a name is that of its runs that "
    "ended with a clustering."
)

_SCALING_CAPTION = (
    "CPU time against the number of rows, geometric means over the instances of a size class that "
    "the method solved; classes are a factor of two wide."
)

_SETTINGS = {"no-mutation": "without mutation", "no-must-link": "without must-link pairs"}


def _found(summary: Summary, tables: Sequence[PaperTable]) -> Html:
    sentences = findings(summary, tables)
    if not sentences:
        return NOTHING
    told = join(html("<li>{}</li>", sentence) for sentence in sentences)
    drawn = figures.quality_against_time(summary)
    return html("<ol class=found>{}</ol>{}", told, page.figure(drawn, _FOUND_CAPTION))


def _link(table: PaperTable) -> Html:
    return html('<a href="#{spec.name}">{spec.title}</a>', spec=table.spec)


def _unexplained(tables: Sequence[PaperTable]) -> Html:
    rows = [
        (
            _link(table),
            f"{cell.dataset} {cell.level:g}",
            *(cell.method, HEADINGS[cell.quantity], *table.numbers(cell)),
        )
        for table in tables
        for cell in table.differences
        if cell.cause is None
    ]
    if not rows:
        return NOTHING
    return html(
        '<div class="scroll"><table class="pairs"><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>",
        page.columns(("table", "data", "method", "quantity", "ours", "paper")),
        page.rows_of(rows, n_heads=2),
    )


def _links(tables: Sequence[PaperTable]) -> Html:
    return join(html("<li>{}</li>", _link(table)) for table in tables)


def _tables(tables: Sequence[PaperTable]) -> Html:
    told = join((_html_table(table) for table in tables), "\n")
    return join([_LEGEND, told]) if tables else NOTHING


def _agreement(tables: Sequence[PaperTable]) -> Html:
    if not tables:
        return NOTHING
    rows = [(_link(table), table.agreement()) for table in tables]
    return html(
        '{words}<div class="scroll"><table class="agreement"><thead><tr>{head}</tr></thead>'
        "<tbody>{rows}</tbody></table></div>",
        words=_AGREEMENT,
        head=page.columns(_AGREEMENT_HEAD),
        rows=join(
            (
                _agreement_row(title, counts)
                for title, counts in [*rows, ("All of these", total_agreement(tables))]
            ),
            "\n",
        ),
    )


def _agreement_row(title: str, counts: Agreement) -> Html:
    return html(
        "<tr><th scope=row>{title}</th><td>{direction}</td><td>{counts.repeatable:.0f}</td>"
        "<td>{opposed}</td><td>{size}</td><td>{explained}</td><td>{unexplained}</td>"
        "<td>{partial}</td></tr>",
        title=title,
        counts=counts,
        direction=_share(counts.direction, counts.directed),
        opposed=counts.opposed or "",
        size=_share(counts.size, counts.compared),
        explained=counts.explained or "",
        unexplained=counts.unexplained or "",
        partial=counts.partial or "",
    )


def _share(part: int, whole: int) -> Html:
    if not whole:
        return Html("<span class=none>–</span>")
    return html(
        "<span class=share style='--share:{width}%'><b>{part}</b> of {whole}</span>"
        "<span class=percent>{width} %</span>",
        part=part,
        whole=whole,
        width=round(100 * part / whole),
    )


def _html_table(table: PaperTable) -> Html:
    parts = [html("<section id={spec.name}><h3>{spec.title}</h3>", spec=table.spec)]
    for quantity, _, rule in table.spec.parts:
        if len(table.spec.parts) > 1:
            parts.append(html("<h4>{}</h4>", HEADINGS[quantity]))
        parts.append(html("<p class=rule>Agreement in size: {}.</p>", rule_in_words(rule)))
        parts.append(_html_part(table, quantity))
    parts.append(html("<p class=rule><b>Why it differs:</b> {}</p></section>", why(table)))
    return join(parts)


def _html_part(table: PaperTable, quantity: Quantity) -> Html:
    methods, cells = table.methods(quantity), table.lookup()
    tried = {(cell.dataset, cell.level) for cell in table.cells if cell.ours is not None}
    rows, previous = [], ""
    for dataset, level in [row for row in table.rows if row in tried]:
        row = join(
            _html_cell(cells.get((dataset, level, quantity, method)), table) for method in methods
        )
        name = "" if dataset == previous else dataset
        group = " class=group" if name else ""
        heads = html("<th scope=row>{}</th><th scope=row>{:g}</th>", name, level)
        rows.append(html("<tr{}>{}{}</tr>", group, heads, row))
        previous = dataset
    return html(
        "<div class=scroll><table class=paper><thead><tr><th>data</th><th>level</th>{}</tr>"
        "</thead><tbody>{}</tbody></table></div>{}",
        join(_method_head(method, table, quantity) for method in methods),
        join(rows),
        _left_out(table, tried),
    )


def _method_head(method: str, table: PaperTable, quantity: Quantity) -> Html:
    """Name of a method and, where it is not the paper's, the number of its seeds."""
    seeds = {
        cell.ours.n_seeds
        for cell in table.cells
        if (cell.method, cell.quantity) == (method, quantity) and cell.ours is not None
    }
    note = NOTHING
    if seeds and seeds != {PAPER_SEEDS}:
        note = html("<small>{}</small>", page.seeds_of(seeds))
    return html("<th scope=col>{}{}</th>", method, note)


def _left_out(table: PaperTable, tried: set[tuple[str, float]]) -> Html:
    levels: dict[str, list[str]] = {}
    for dataset, level in table.rows:
        if (dataset, level) not in tried:
            levels.setdefault(dataset, []).append(f"{level:g}")
    names = "; ".join(f"{name} at {', '.join(found)}" for name, found in levels.items())
    return html("<p class=rule>Not run: {}.</p>", names) if names else NOTHING


def _html_cell(cell: TableCell | None, table: PaperTable) -> Html:
    ours, paper = table.numbers(cell)
    published = cell is None or cell.method not in UNPUBLISHED
    below = html("<small>{}</small>", paper) if published else NOTHING
    if cell is None or cell.ours is None:
        missing = "–" if cell is None or cell.paper is None else "not run"
        return html("<td class=absent>{}{}</td>", missing, below)
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
    return html(
        '<td class="{classes}" title="{title}">{ours}{mark}{below}</td>',
        classes=" ".join(classes),
        title=_tooltip(cell),
        ours=ours,
        mark=html("<i>{}</i>", mark) if mark else NOTHING,
        below=below,
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


def _data_sets(summary: Summary) -> Html:
    """Characteristics of the data sets and sizes of their constraint sets, per collection."""
    shown = [collection for collection in COLLECTIONS if collection in summary.collections()]
    tables = [
        html(
            "<details><summary>{}: rows, features, clusters and pairs</summary>{}</details>",
            collection,
            _data_table(collection),
        )
        for collection in shown
    ]
    return join([_SIZES, *tables]) if shown else NOTHING


def _data_table(collection: str) -> Html:
    levels = datasets.levels(collection)
    names = ["rows", "features", "clusters", *(f"{level:g}" for level in levels)]
    rows = [
        (
            facts.name,
            *(f"{n:,}" for n in (facts.n_rows, facts.n_features, facts.n_clusters)),
            *(
                f"{must:,} / {cannot:,}"
                for must, cannot in (facts.counts[level] for level in levels)
            ),
        )
        for facts in datasets.describe(f"{collection}/*")
    ]
    return html(
        "<div class=scroll><table><thead><tr><th>data</th>{}</tr></thead>"
        "<tbody>{}</tbody></table></div>",
        page.columns(names),
        page.rows_of(rows, n_heads=1),
    )
