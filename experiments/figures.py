"""Figures of the report on the paper's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import datasets
from kempe.bench.drawing import colour, decades, label_points, lines, plain, svg
from kempe.bench.plan import MAIN
from kempe.bench.summary import Summary
from kempe.report.html import Html

# Distances below this, in per cent, are drawn as none.
_NO_GAP = 1e-3


def quality_against_time(summary: Summary) -> Html:
    """Every method as a point per collection: how good and how slow it is."""
    points = {name: _qualities(summary, name) for name in summary.collections()}
    drawn = {name: found for name, found in points.items() if found}

    def draw(axes: Any) -> None:
        for axis, (collection, found) in zip(axes, drawn.items(), strict=True):
            _draw_qualities(axis, found)
            axis.set_title(plain(collection))
            axis.set_xlabel("CPU seconds (geometric mean)")
        axes[0].set_ylabel("inertia above the best, per cent")

    columns = min(2, len(drawn))
    return svg("quality", draw, columns=columns, panels=len(drawn)) if drawn else Html()


def _qualities(summary: Summary, collection: str) -> dict[str, tuple[float, float, float]]:
    """Per method: CPU seconds, per cent above the best of all runs, share of runs solved."""
    instances = summary.instances(collection=collection)
    inertia, time = (summary.matrix(quantity, instances) for quantity in ("inertia", "time"))
    lowest = np.fmin.reduce(list(summary.matrix("inertia", instances, best=True).values()))
    found = {}
    for method, values in inertia.items():
        solved = np.isfinite(values) & (lowest > 0)
        if solved.any():
            seconds = np.exp(np.log(np.maximum(time[method][solved], 1e-5)).mean())
            above = 100 * (values[solved] / lowest[solved] - 1).mean()
            found[method] = (float(seconds), float(above), _solved(summary, instances, method))
    return found


def _solved(summary: Summary, instances: Sequence[tuple[str, float]], method: str) -> float:
    cells = [summary.cell(MAIN, *item, method) for item in instances]
    runs = np.concatenate([cell.values("success") for cell in cells if cell is not None])
    return float(runs.mean())


def _draw_qualities(axis: Any, found: dict[str, tuple[float, float, float]]) -> None:
    seconds, above = ([point[i] for point in found.values()] for i in (0, 1))
    decades(axis, "x", min(seconds), max(seconds))
    axis.set_yscale("symlog", linthresh=_NO_GAP)
    decades_above = [10.0**power for power in range(-3, 3)]
    axis.set_yticks([0, *decades_above], ["0", *(f"{value:g}" for value in decades_above)])
    axis.set_ylim(-_NO_GAP / 2, max(1.0, 3 * max(above)))
    texts = {}
    for method, (x, y, solved) in found.items():
        axis.plot(x, y, "o", ms=8, color=colour(method), zorder=4)
        texts[x, y] = method + ("" if solved > 0.995 else f" {100 * solved:.0f} %")
    label_points(axis, texts)


def scaling(summary: Summary) -> Html:
    """CPU time against the number of rows, one point per method and size class."""
    points: dict[str, list[tuple[int, float]]] = {}
    sizes = {item.key: item.n_rows for item in datasets.describe()}
    for (variant, dataset, _, method), cell in summary.cells.items():
        if variant == MAIN and cell.solved and dataset in sizes:
            time = max(cell.mean("time"), 1e-4)
            points.setdefault(method, []).append((sizes[dataset], time))

    def draw(axes: Any) -> None:
        for method, line in lines(points):
            rows, times = class_means(np.array(points[method]))
            axes[0].plot(rows, times, marker="o", markersize=3, label=plain(method), **line)
        everything = np.array([point for found in points.values() for point in found])
        for name, values in zip("xy", everything.T, strict=True):
            decades(axes[0], name, values.min(), values.max())
        axes[0].set_xlabel("rows")
        axes[0].set_ylabel("CPU seconds (geometric mean)")
        axes[0].legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))

    return svg("scaling", draw, columns=1) if points else Html()


def class_means(
    points: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average sizes and times geometrically, over classes of sizes a factor of two wide."""
    logs = np.log2(points)
    classes, member = np.unique(np.round(logs[:, 0]), return_inverse=True)
    means = [np.exp2(logs[member == number].mean(axis=0)) for number in range(classes.size)]
    return np.array(means)[:, 0], np.array(means)[:, 1]
