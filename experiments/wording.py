"""What the page, the LaTeX tables and the summary say about the paper's tables."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.causes import CAUSES
from experiments.multiples import BASELINE
from experiments.rule import Rule
from experiments.tables import Agreement, PaperTable, paper_values, total_agreement
from kempe.bench.wording import outcome_in_words


def verdict(tables: Sequence[PaperTable], n_runs: int, n_solved: int) -> str:
    """Say how many runs there are, and how much of the paper's tables they cover and agree with.

    Parameters
    ----------
    tables
        Those that have runs.
    """
    runs = outcome_in_words(n_runs, n_solved)
    if not tables:
        return f"{runs} None of them is on a data set and level of the paper's tables."
    return f"{runs} {agreement_in_words(total_agreement(tables))}"


def agreement_in_words(total: Agreement) -> str:
    """Say how many cells of the paper were compared and agree."""
    if not total.compared:
        return "No cell of the paper has runs on all its data sets, so none is compared."
    untimed, agreeing = (
        total.directed - total.timed_directed,
        total.direction - total.timed_direction,
    )
    whole = total.published - total.missing - total.partial
    alike = whole - total.compared
    without = f", and {alike:,} of these have no number here as in the paper" if alike else ""
    return (
        f"Of {total.published:,} cells of the paper, {whole:,} have runs on all their "
        f"data sets{without}. "
        f"{total.size:,} of {'the others' if alike else 'these'} agree in size "
        f"({_percent(total.size, total.compared)}); "
        f"{total.direction:,} of the {total.directed:,} that say better or worse than {BASELINE} "
        f"agree in direction ({_percent(total.direction, total.directed)}), {total.rounded:,} more "
        f"do within the rounding of the paper's digits "
        f"({_percent(total.direction + total.rounded, total.directed)} with them), "
        f"{total.opposed:,} say the opposite and the rest are equal to it in one of the two; apart "
        f"from CPU times {agreeing:,} of {untimed:,} agree ({_percent(agreeing, untimed)}). "
        "Two experiments like ours, with other starts, would agree with each other in "
        f"{total.repeatable:,.0f} ({_percent(total.repeatable, total.directed)}). "
        f"Of the cells that differ, {total.explained:,} have a known cause and "
        f"{total.unexplained:,} do not.{_left_out(total)}"
    )


def _left_out(total: Agreement) -> str:
    missing = total.missing if _is_most(total) else 0
    if not total.partial:
        return f" {missing:,} cells have no runs." if missing else ""
    none = f", {missing:,} none" if missing else ""
    return f" {total.partial:,} cells have runs on some of their data sets only{none}."


def _is_most(total: Agreement) -> bool:
    """Whether most of the paper is repeated: what is left out matters; elsewhere it is no news."""
    return 2 * total.compared > total.published


def unrun(tables: Sequence[PaperTable]) -> list[str]:
    """Name what has no runs yet, a line for each data set and level.

    Parameters
    ----------
    tables
        Those that have runs.
    """
    missing: dict[tuple[str, float], dict[str, None]] = {}
    for cell in (cell for table in tables for cell in table.cells):
        if cell.ours is None and cell.paper is not None:
            missing.setdefault((cell.dataset, cell.level), {})[cell.method] = None
    if not missing or not _is_most(total_agreement(tables)):
        return []
    return [
        "Not run yet; in brackets, the CPU seconds of one run in the paper, where it gives any:",
        "\n".join(
            f"- {dataset} at {100 * level:g} %: "
            + ", ".join(method + _seconds(dataset, level, method) for method in methods)
            for (dataset, level), methods in sorted(missing.items())
        ),
    ]


def _seconds(dataset: str, level: float, method: str) -> str:
    """Give the time of one run in the paper's table of collection 4, in brackets."""
    seconds = paper_values().get(("time-col4", dataset, level, "time", method))
    return "" if seconds is None else f" ({seconds:,.0f})"


def rule_in_words(rule: Rule) -> str:
    """Say when numbers agree in size, and when a method counts as equal to the baseline."""
    size = {
        "difference": f"within ±{rule.size:g}",
        "share": f"within {100 * rule.size:g} %",
        "factor": f"within a factor of {rule.size:g}",
    }[rule.scale]
    return f"{size}; equal to {BASELINE} within {100 * rule.equal:g} %"


def why(table: PaperTable) -> str:
    """Say why a table differs from the paper's, in a line."""
    cells = table.differences
    if not cells:
        return "no cell that was run differs."
    parts = []
    for cause in CAUSES:
        count = sum(cell.cause == cause for cell in cells)
        parts += [f"{count} {cause.name} ({cause.words})"] if count else []
    unknown = sum(cell.cause is None for cell in cells)
    parts += [f"{unknown} unexplained"] if unknown else []
    return f"{len(cells)} cells differ: {'; '.join(parts)}."


def _percent(part: float, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"
