"""Figures of a report, as SVG that follows the colours of the page it is put into."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kempe import datasets
from kempe.bench.plan import MAIN
from kempe.bench.statistics import bootstrap_interval
from kempe.bench.summary import Cell, Quantity, Summary, sort_methods

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Text, axes and grid are drawn in these and replaced by the page's own colours.
_INK = "#010203"
_FAINT = "#040506"

# Distinguishable with common colour deficiencies, on white and on black.
COLOURS = {
    "kempe": "#d1495b",
    "KSKM": "#2e86c1",
    "KSKM_repo": "#7fb3d5",
    "KSKM_E": "#8e6bbf",
    "KSKM_E_repo": "#b9a3da",
    "PCCC": "#2a9d6f",
    "BLPKMCC": "#c98a1b",
    "COPKM_P": "#5f7f8c",
    "COPKM": "#a17c5b",
    "ICOPKM": "#9aa52b",
    "CLCKM": "#c76fa5",
    "S_MDEClust": "#3fb8b0",
}
_OTHERS = ("#e07a5f", "#6c8ebf", "#81b29a", "#b5838d")

# Lines that lie on each other stay visible by their dashes.
_DASHES = ("-", "--", "-.", ":")


def colour(method: str) -> str:
    """Colour of a method, the same in all figures."""
    return COLOURS.get(method) or _OTHERS[sum(map(ord, method)) % len(_OTHERS)]


def performance_profiles(summary: Summary) -> str:
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

    return _svg("profiles", draw, columns=2)


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
    for method, line in _lines(ratios):
        sorted_ratios = ratios[method]
        share = np.arange(1, sorted_ratios.size + 1) / max(1, sorted_ratios.size)
        inside = np.isfinite(sorted_ratios)
        x = np.concatenate([[1.0], sorted_ratios[inside], [max(right, 1.001)]])
        y = np.concatenate([[0.0], share[inside], share[inside][-1:] if inside.any() else [0.0]])
        axis.step(x, y, where="post", label=method, **line)
    axis.set_xlim(1.0, max(right, 1.001))
    axis.set_ylim(0, 1.02)


def convergence(summary: Summary, count: int = 6) -> str:
    """Best inertia over time on the instances on which the methods differ most."""
    chosen = _most_different(summary, count)

    def draw(axes: Any) -> None:
        for axis, (dataset, level) in zip(axes, chosen, strict=True):
            _draw_convergence(axis, summary, dataset, level)
            axis.set_title(f"{dataset}, level {level:g}")
        axes[0].set_ylabel("above the best, per cent")
        for axis in axes[-min(3, len(axes)) :]:
            axis.set_xlabel("seconds of wall time")
        axes[0].legend(frameon=False)

    columns = min(3, len(chosen))
    return _svg("convergence", draw, columns=columns, panels=len(chosen)) if chosen else ""


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
    for method, line in _lines(solved):
        times, mean = mean_curve(solved[method], grid)
        axis.step(times, 100 * (mean / best - 1), where="post", label=method, **line)
    _decades(axis, "x", grid[0], grid[-1])
    axis.set_yscale("symlog", linthresh=0.1)
    axis.set_ylim(bottom=0)


def scaling(summary: Summary) -> str:
    """CPU time against the number of rows, one point per method and size class."""
    points: dict[str, list[tuple[int, float]]] = {}
    sizes = {item.key: item.n_rows for item in datasets.describe()}
    for (variant, dataset, _, method), cell in summary.cells.items():
        if variant == MAIN and cell.solved and dataset in sizes:
            time = max(cell.mean("time"), 1e-4)
            points.setdefault(method, []).append((sizes[dataset], time))

    def draw(axes: Any) -> None:
        for method, line in _lines(points):
            rows, times = class_means(np.array(points[method]))
            axes[0].plot(rows, times, marker="o", markersize=3, label=method, **line)
        everything = np.array([point for found in points.values() for point in found])
        for name, values in zip("xy", everything.T, strict=True):
            _decades(axes[0], name, values.min(), values.max())
        axes[0].set_xlabel("rows")
        axes[0].set_ylabel("CPU seconds (geometric mean)")
        axes[0].legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))

    return _svg("scaling", draw, columns=1) if points else ""


def comparison_figure(summary: Summary, methods: Sequence[str]) -> Figure:
    """Draw the runs of some methods on one instance: inertia, time, and convergence."""
    from matplotlib.figure import Figure

    (dataset, level), *_ = summary.instances()
    cells = {name: summary.cell(MAIN, dataset, level, name) for name in methods}
    solved = {name: cell for name, cell in cells.items() if cell is not None and cell.solved}
    best = min((cell.best("inertia") for cell in solved.values()), default=1.0)
    figure = Figure(figsize=(11.0, 0.42 * len(methods) + 2.3), layout="constrained")
    inertia, seconds, curves = figure.subplots(1, 3)
    _draw_runs(
        inertia, methods, {n: 100 * (c.values("inertia") / best - 1) for n, c in solved.items()}
    )
    inertia.set_xlabel("inertia above the best, per cent")
    _draw_runs(seconds, methods, {n: c.values("time") for n, c in solved.items()})
    seconds.set_xlabel("CPU seconds")
    times = np.concatenate([c.values("time") for c in solved.values()] or [np.ones(1)])
    _decades(seconds, "x", max(times.min(), 1e-4), max(times.max(), 1e-4))
    seconds.set_yticklabels([])
    if solved:
        _draw_convergence(curves, summary, dataset, level)
    curves.set_xlabel("seconds of wall time")
    curves.set_ylabel("above the best, per cent")
    for axis in (inertia, seconds, curves):
        axis.spines[["top", "right"]].set_visible(False)
    return figure


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
    axis.set_yticks(range(len(methods)), methods)
    axis.set_ylim(len(methods) - 0.4, -0.6)


def _decades(axis: Any, name: str, low: float, high: float) -> None:
    """Scale the x or y axis logarithmically over whole decades, so that labels have room."""
    from matplotlib.ticker import NullFormatter

    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    bounds = (10.0**first, 10.0 ** max(last, first + 1))
    axis.set(**{f"{name}scale": "log", f"{name}lim": bounds})
    getattr(axis, f"{name}axis").set_minor_formatter(NullFormatter())


def class_means(
    points: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average sizes and times geometrically, over classes of sizes a factor of two wide."""
    logs = np.log2(points)
    classes, member = np.unique(np.round(logs[:, 0]), return_inverse=True)
    means = [np.exp2(logs[member == number].mean(axis=0)) for number in range(classes.size)]
    return np.array(means)[:, 0], np.array(means)[:, 1]


def _lines(methods: Any) -> list[tuple[str, dict[str, Any]]]:
    known = list(COLOURS)
    return [
        (
            name,
            {
                "color": colour(name),
                "linestyle": _DASHES[known.index(name) % len(_DASHES)] if name in known else "-",
                "linewidth": 2.2 if name == "kempe" else 1.5,
                "zorder": 5 if name == "kempe" else 3,
            },
        )
        for name in sort_methods(methods)
    ]


def _svg(name: str, draw: Callable[[Sequence[Any]], None], *, columns: int, panels: int = 0) -> str:
    """Draw into a row or grid of axes and give the SVG element."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    count = panels or columns
    rows = -(-count // columns)
    with rc_context(_STYLE):
        width = 9.6 if columns > 1 else 6.6
        figure = Figure(figsize=(width, 3.1 * rows + 0.2), layout="constrained")
        grid = np.ravel(figure.subplots(rows, columns, squeeze=False))
        for axis in grid:
            axis.grid(True, color=_FAINT, linewidth=0.6)
            axis.set_axisbelow(True)
        for axis in grid[count:]:
            axis.set_visible(False)
        draw(list(grid[:count]))
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return _follow_page(buffer.getvalue(), name)


_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kempe",
    "font.family": "sans-serif",
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "legend.fontsize": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "axes.titlecolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}


def _follow_page(svg: str, name: str) -> str:
    """Keep the SVG element only, with names of its own and ink and size of the page."""
    element = svg[svg.index("<svg") :]
    width = re.search(r' width="([\d.]+)pt"', element)
    limit = f' style="max-width: {1.52 * float(width[1]):.0f}px"' if width else ""
    element = re.sub(r' (?:width|height)="[\d.]+pt"', "", element, count=2)
    element = element.replace("<svg", f"<svg{limit}", 1)
    element = re.sub(r"font: ([^;]*?)'[^;]*sans-serif[^;]*", r"font: \1sans-serif", element)
    element = re.sub(r'( id="|url\(#|href="#)', rf"\1{name}-", element)
    element = element.replace(_FAINT, "var(--grid, #8884)")
    return element.replace(_INK, "currentColor")
