"""Figures of a report and of a comparison, as SVG that follows the colours of its page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kempe.bench.drawing import INK, colour, decades, lines, plain, svg
from kempe.bench.plan import MAIN
from kempe.bench.statistics import SAME, bootstrap_interval
from kempe.bench.summary import Cell, Quantity, Summary
from kempe.report.html import Html

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def failures(summary: Summary) -> Html:
    """Where methods fail: shares of runs without a clustering, and of those cut short."""
    methods = summary.methods()
    columns = sorted({(name.split("/")[0], level) for name, level in summary.instances()})
    lost, cut = _failing(summary, methods, columns)
    if not methods or not columns or not np.nansum(lost) + np.nansum(cut):
        return Html()

    def draw(axes: Any) -> None:
        for axis, values, title in zip(
            axes,
            (lost, cut),
            ("no clustering found, per cent of runs", "ended by the time limit, per cent of runs"),
            strict=True,
        ):
            _draw_shares(axis, values, methods, columns)
            axis.set_title(title, loc="left", pad=17)

    return svg("failures", draw, columns=1, panels=2, height=0.24 * len(methods) + 0.9)


def _failing(
    summary: Summary, methods: Sequence[str], columns: Sequence[tuple[str, float]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares of runs without a clustering and of runs that the limit ended, NaN without runs."""
    lost, cut = (np.full((len(methods), len(columns)), math.nan) for _ in range(2))
    runs: dict[tuple[str, str, float], list[Cell]] = {}
    for (variant, dataset, level, method), cell in summary.cells.items():
        if variant == MAIN and level is not None:
            runs.setdefault((method, dataset.split("/")[0], level), []).append(cell)
    for i, method in enumerate(methods):
        for j, column in enumerate(columns):
            cells = runs.get((method, *column), [])
            count = sum(len(cell.runs) for cell in cells)
            if count:
                lost[i, j] = 1 - sum(len(cell.solved) for cell in cells) / count
                cut[i, j] = sum(cell.n_limited for cell in cells) / count
    return lost, cut


def _draw_shares(
    axis: Any,
    values: NDArray[np.float64],
    methods: Sequence[str],
    columns: Sequence[tuple[str, float]],
) -> None:
    """Shares as shaded cells with numbers; a dot where there are no runs."""
    axis.grid(False)
    for (i, j), value in np.ndenumerate(values):
        if math.isnan(value):
            axis.text(j, i, "·", ha="center", va="center", fontsize=7, color=INK)
        elif value > 0:
            shade = {"color": colour("kempe"), "alpha": 0.12 + 0.6 * value, "linewidth": 0}
            axis.fill_between([j - 0.48, j + 0.48], i - 0.46, i + 0.46, **shade)
            number = f"{100 * value:.0f}" if value >= 0.005 else "<1"
            axis.text(j, i, number, ha="center", va="center", fontsize=6.5)
    starts = [j for j, (name, _) in enumerate(columns) if j == 0 or columns[j - 1][0] != name]
    for start in starts:
        axis.text(start - 0.45, -0.75, plain(columns[start][0]), fontsize=7.5, va="bottom")
        axis.axvline(start - 0.5, color=INK, linewidth=0.5)
    axis.set_xticks(range(len(columns)), [f"{100 * level:g}" for _, level in columns], fontsize=6.5)
    axis.set_yticks(range(len(methods)), list(map(plain, methods)), fontsize=7.5)
    axis.tick_params(length=0)
    axis.set_xlabel("constraint level, per cent")
    axis.set_xlim(-0.5, len(columns) - 0.5)
    axis.set_ylim(len(methods) - 0.5, -0.5)


def performance_profiles(summary: Summary) -> Html:
    """Share of the instances that a method solves within a factor of the best, per factor."""
    # An instance that a method was not run on is no failure of it.
    instances = summary.common_instances(summary.methods()) or summary.instances()
    panels: list[tuple[Quantity, str]] = [
        ("inertia", "mean inertia / best"),
        ("time", "mean CPU time / shortest"),
    ]

    def draw(axes: Any) -> None:
        for axis, (quantity, label) in zip(axes, panels, strict=True):
            _draw_profile(axis, summary.matrix(quantity, instances), quantity)
            axis.set_xlabel(label)
        axes[0].set_ylabel(f"share of {len(instances)} instances")
        axes[0].legend(frameon=False, loc="lower right")

    return svg("profiles", draw, columns=2)


def profile(values: dict[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Ratios to the best method per instance, sorted; infinite where a method failed."""
    with np.errstate(invalid="ignore"):
        best = np.fmin.reduce(list(values.values()))
    solved = np.isfinite(best) & (best > 0)
    ratios = {name: found[solved] / best[solved] for name, found in values.items()}
    return {name: np.sort(np.where(np.isnan(r), np.inf, r)) for name, r in ratios.items()}


def _draw_profile(axis: Any, values: dict[str, NDArray[np.float64]], quantity: str) -> None:
    ratios = profile(values)
    finite = np.concatenate([r[np.isfinite(r)] for r in ratios.values()])
    right = float(np.quantile(finite, 0.995)) * 1.02 if finite.size else 2.0
    if quantity == "time":
        axis.set_xscale("log")
    for method, line in lines(ratios):
        sorted_ratios = ratios[method]
        share = np.arange(1, sorted_ratios.size + 1) / max(1, sorted_ratios.size)
        inside = np.isfinite(sorted_ratios)
        x = np.concatenate([[1.0], sorted_ratios[inside], [max(right, 1.001)]])
        y = np.concatenate([[0.0], share[inside], share[inside][-1:] if inside.any() else [0.0]])
        axis.step(x, y, where="post", label=plain(method), **line)
    axis.set_xlim(1.0, max(right, 1.001))
    axis.set_ylim(0, 1.02)


def convergence(summary: Summary, count: int = 6) -> Html:
    """Best inertia over time on the instances on which the methods differ most."""
    chosen = _most_different(summary, count)

    def draw(axes: Any) -> None:
        for axis, (dataset, level) in zip(axes, chosen, strict=True):
            _draw_convergence(axis, summary, dataset, level)
            axis.set_title(plain(f"{dataset}, level {level:g}"))
        axes[0].set_ylabel("above the best, per cent")
        for axis in axes[-min(3, len(axes)) :]:
            axis.set_xlabel("seconds of wall time")
        axes[0].legend(frameon=False)

    columns = min(3, len(chosen))
    return svg("convergence", draw, columns=columns, panels=len(chosen)) if chosen else Html()


def _most_different(summary: Summary, count: int) -> list[tuple[str, float]]:
    instances = [item for item in summary.instances() if _curves(summary, *item)]
    values = np.array(list(summary.matrix("inertia", instances).values()))
    if not values.size:
        return []
    with np.errstate(all="ignore"):
        spread = np.nan_to_num(np.nanmax(values, axis=0) / np.nanmin(values, axis=0), nan=0.0)
    chosen: dict[str, tuple[str, float]] = {}
    for index in np.argsort(-spread, kind="stable"):
        dataset, level = instances[index]
        chosen.setdefault(dataset, (dataset, level))
    return list(chosen.values())[:count]


def _curves(summary: Summary, dataset: str, level: float) -> dict[str, Cell]:
    cells = {name: summary.cell(MAIN, dataset, level, name) for name in summary.methods()}
    return {
        name: cell
        for name, cell in cells.items()
        if cell is not None and any(len(run.history) > 1 for run in cell.solved)
    }


def mean_curve(
    cell: Cell, grid: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average the best inertia over seeds, from the time when every seed has a solution."""
    levels = []
    for run in cell.solved:
        end = (run.wall_s or 0.0, run.inertia or 0.0)
        points = np.array(run.history or [end], dtype=np.float64)
        position = np.searchsorted(points[:, 0], grid, side="right") - 1
        levels.append(np.where(position >= 0, points[position, 1], np.nan))
    mean = np.mean(levels, axis=0)
    return grid[np.isfinite(mean)], mean[np.isfinite(mean)]


def _draw_convergence(axis: Any, summary: Summary, dataset: str, level: float) -> None:
    cells = {name: summary.cell(MAIN, dataset, level, name) for name in summary.methods()}
    solved = {name: cell for name, cell in cells.items() if cell is not None and cell.solved}
    best = min(cell.best("inertia") for cell in solved.values())
    last = max(run.wall_s or 0.0 for cell in solved.values() for run in cell.solved)
    grid = np.geomspace(1e-3, max(last, 1e-2), 200)
    for method, line in lines(solved):
        times, mean = mean_curve(solved[method], grid)
        axis.step(times, above_best(mean, best), where="post", label=plain(method), **line)
    decades(axis, "x", grid[0], grid[-1])
    axis.set_yscale("symlog", linthresh=0.1)
    axis.set_ylim(0, max(axis.get_ylim()[1], 0.1))


def comparison_figure(summary: Summary, methods: Sequence[str]) -> Figure:
    """Draw the runs of some methods on one instance: inertia, time, and convergence."""
    from matplotlib.figure import Figure

    (dataset, level), *_ = summary.instances()
    cells = {name: summary.cell(MAIN, dataset, level, name) for name in methods}
    solved = {name: cell for name, cell in cells.items() if cell is not None and cell.solved}
    best = min((cell.best("inertia") for cell in solved.values()), default=1.0)
    above = {name: above_best(cell.values("inertia"), best) for name, cell in solved.items()}
    figure = Figure(figsize=(11.0, 0.42 * len(methods) + 2.3), layout="constrained")
    inertia, seconds, curves = figure.subplots(1, 3)
    _draw_runs(inertia, methods, above)
    inertia.set_xlabel("inertia above the best, per cent")
    inertia.ticklabel_format(axis="x", useOffset=False)
    if not any(values.any() for values in above.values()):
        inertia.set_xlim(-0.05, 1.0)  # all are equal, which no digits shall hide
    _draw_runs(seconds, methods, {n: c.values("time") for n, c in solved.items()})
    seconds.set_xlabel("CPU seconds")
    times = np.concatenate([c.values("time") for c in solved.values()] or [np.ones(1)])
    decades(seconds, "x", max(times.min(), 1e-4), max(times.max(), 1e-4))
    seconds.set_yticklabels([])
    if solved:
        _draw_convergence(curves, summary, dataset, level)
    curves.set_xlabel("seconds of wall time")
    curves.set_ylabel("above the best, per cent")
    for axis in (inertia, seconds, curves):
        axis.spines[["top", "right"]].set_visible(False)
    return figure


def above_best(values: NDArray[np.float64], best: float) -> NDArray[np.float64]:
    """Per cent above the best; sums of the same clustering in another order are equal."""
    above = values / best - 1 if best else values
    return 100 * np.where(np.abs(above) < SAME, 0.0, above)


def _draw_runs(axis: Any, methods: Sequence[str], values: dict[str, NDArray[np.float64]]) -> None:
    """Every run as a dot, the mean as a line with its interval."""
    for place, method in enumerate(methods):
        found = values.get(method)
        if found is None:
            axis.text(
                0.5,
                place,
                "no run succeeded",
                ha="center",
                va="center",
                fontsize="small",
                transform=axis.get_yaxis_transform(),
            )
            continue
        spread = place + 0.22 * (np.arange(found.size) % 3 - 1)
        axis.scatter(found, spread, s=14, color=colour(method), alpha=0.45, linewidths=0)
        low, high = bootstrap_interval(found)
        if not math.isnan(low):
            axis.plot([low, high], [place, place], color=colour(method), lw=2.5)
        axis.plot(found.mean(), place, "o", ms=7, mfc="white", mec=colour(method), mew=2)
    axis.set_yticks(range(len(methods)), list(map(plain, methods)))
    axis.set_ylim(len(methods) - 0.4, -0.6)
