"""What the runs of a report show, in three sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.multiples import BASELINE
from experiments.tables import UNPUBLISHED, PaperTable, total_agreement
from kempe.bench.plan import MAIN
from kempe.bench.summary import Cell, Summary
from kempe.report.html import Html, html

OURS = UNPUBLISHED[0]

# Fewer instances make no story.
_FEWEST_INSTANCES = 10
# Methods that fail more rarely are no news.
_NOTABLE = 0.01


def findings(summary: Summary, tables: Sequence[PaperTable]) -> list[str]:
    """Say what was found: of our method, of the paper's tables, and of failures.

    Parameters
    ----------
    tables
        Those that have runs.
    """
    instances = summary.common_instances([OURS, BASELINE])
    if len(instances) < _FEWEST_INSTANCES or not tables:
        return []
    return [_of_ours(summary, instances), _of_the_paper(tables), _of_failures(summary)]


def _of_ours(summary: Summary, instances: Sequence[tuple[str, float]]) -> Html:
    inertia, time = (summary.matrix(q, instances) for q in ("inertia", "time"))
    ratios = inertia[OURS] / inertia[BASELINE]
    share = np.nansum(time[OURS]) / np.nansum(time[BASELINE])
    lowest = np.fmin.reduce(list(inertia.values()))
    best = int(np.count_nonzero(inertia[OURS] <= lowest * (1 + 1e-9)))
    return html(
        "On {number} instances the inertia of <b>{ours}</b> is {mean:.2f} % below that of {base} "
        "on average (at most {most:.0f} %, and above it on {above}), for {share:.2g} times its "
        "CPU time; it is the lowest mean of all methods on {best}.",
        number=len(instances),
        ours=OURS,
        base=BASELINE,
        mean=100 * (1 - np.nanmean(ratios)),
        most=100 * (1 - np.nanmin(ratios)),
        above=int(np.count_nonzero(ratios > 1 + 1e-9)),
        share=share,
        best=best,
    )


def _of_the_paper(tables: Sequence[PaperTable]) -> str:
    total = total_agreement(tables)
    size, compared = total.size - total.timed_size, total.compared - total.timed
    return (
        f"The paper's findings hold: {_percent(total.direction, total.directed)} of its cells that "
        f"were run agree on whether a method is better or worse than {BASELINE} "
        f"({_percent(total.opposed, total.directed)} say the opposite; two experiments like ours "
        f"would agree in {_percent(total.repeatable, total.directed)}) and "
        f"{_percent(size, compared)} of those that are no CPU times agree in size; of the "
        f"{total.explained + total.unexplained} cells that differ, {total.explained} have a known "
        f"cause and {total.unexplained} have none."
    )


def _of_failures(summary: Summary) -> str:
    failing, limited = [], []
    for method in summary.methods():
        cells = [cell for key, cell in summary.cells.items() if (key[0], key[3]) == (MAIN, method)]
        failed, stopped = _shares(cells)
        failing += [f"{method} ({100 * failed:.0f} % of its runs)"] if failed >= _NOTABLE else []
        limited += [f"{method} ({100 * stopped:.0f} %)"] if stopped >= _NOTABLE else []
    failures = f"fail to find a clustering: {', '.join(failing)}" if failing else "never fail"
    limits = f"; the time limit cuts short {', '.join(limited)}" if limited else ""
    return f"Where clusterings are hard to find, some methods {failures}{limits}."


def _shares(cells: Sequence[Cell]) -> tuple[float, float]:
    """Shares of runs that failed, and of those that the limit ended."""
    runs = sum(len(cell.runs) for cell in cells)
    solved = sum(len(cell.solved) for cell in cells)
    return 1 - solved / runs, sum(cell.n_limited for cell in cells) / runs


def _percent(part: float, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"
