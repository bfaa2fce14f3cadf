"""Charts of what was measured, drawn from the tables in ``docs/_generated``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from panels import BLUE, DOCS, GREEN, INK, RED, YELLOW, Panel, new_figure

TABLES = DOCS / "_generated"
SOURCES = sorted(map(str, TABLES.glob("*.md")))

NUMBER = re.compile(r"-?[\d,]*\.?\d+(?:e-?\d+)?")
Rows = list[list[str]]


def table(name: str, position: int = 0) -> tuple[list[str], Rows]:
    """Header and rows of one of the tables of a file."""
    found: list[Rows] = []
    inside = False
    for line in (TABLES / f"{name}.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        if not inside:
            found.append([])
        inside = True
        found[-1].append([cell.strip() for cell in line.strip().strip("|").split("|")])
    header, _, *rows = found[position]
    return header, rows


def number(cell: str) -> float:
    """Give the number that a cell begins with; "≥ 14" is 14, and "– (0 of 5)" is none."""
    match = NUMBER.match(cell.lstrip("≥ "))
    return float(match[0].replace(",", "")) if match else float("nan")


def column(rows: Rows, position: int) -> NDArray[np.float64]:
    """Numbers of a column."""
    return np.array([number(row[position]) for row in rows])


def short(instance: str) -> str:
    """Name of an instance without its collection."""
    return instance.rpartition("/")[2]


def dots(
    names: list[str], series: dict[str, tuple[Any, str, str]], label: str, width: float = 4.2
) -> tuple[Any, Any]:
    """One line for each name, one mark for each series: values, colour and marker."""
    figure, ax = new_figure(width, 0.9 + 0.185 * len(names))
    places = np.arange(len(names))[::-1]
    for key, (values, colour, marker) in series.items():
        ax.plot(values, places, marker, color=colour, label=key, markersize=5, clip_on=False)
    ax.set_yticks(places, names, fontsize=8)
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.grid(axis="y", linewidth=0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(label)
    if len(series) > 1:
        above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": len(series)}
        ax.legend(fontsize=8, **above)
    return figure, ax


def compare() -> list[Panel]:
    """Inertia and speed on the 26 instances."""
    header, rows = table("compare")
    names = [short(row[0]) for row in rows]
    inertias = {
        name: (100 * (column(rows, header.index(key)) - 1), colour, marker)
        for name, key, colour, marker in (
            ("authors' program", "authors' inertia", RED, "o"),
            ("KSKM", "KSKM inertia", BLUE, "D"),
        )
    }
    quality, ax = dots(names, inertias, "inertia, % above kempe's")
    ax.set_xscale("symlog", linthresh=0.1)
    ax.set_xticks([0, 0.1, 1, 10, 50], ["0", "0.1", "1", "10", "50"])
    ax.axvline(0, color=INK, linewidth=0.8)
    speedups = {"speed-up": (column(rows, header.index("speed-up")), GREEN, "o")}
    speed, ax = dots(names, speedups, "times less CPU time to the authors' inertia")
    ax.set_xscale("log")
    ax.set_xticks([1, 10, 100], ["1", "10", "100"])
    ax.axvline(1, color=INK, linewidth=0.8)
    return [
        Panel(quality, "Inertia of the authors' program and of KSKM above that of kempe"),
        Panel(speed, "Speed-up over the authors' program at their quality"),
    ]


def sooner() -> list[Panel]:
    """Speed on the 26 instances, a line for each collection."""
    header, rows = table("compare")
    speedups = column(rows, header.index("speed-up"))
    collections = [row[0].partition("/")[0] for row in rows]
    names = sorted(set(collections), reverse=True)
    figure, ax = new_figure(4.2, 1.9)
    places = [names.index(name) for name in collections]
    ax.plot(speedups, places, "o", color=GREEN, alpha=0.7, markersize=7, clip_on=False)
    ax.set_yticks(range(len(names)), [name.replace("COL", "collection ") for name in names])
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", linewidth=0.6)
    ax.set_xscale("log")
    ax.set_xticks([1, 10, 100], ["1", "10", "100"])
    ax.axvline(1, color=INK, linewidth=0.8)
    ax.set_xlabel("times less CPU time to the authors' inertia")
    described = (
        "Speed-up over the authors' program at their quality, a dot for each of 26 instances"
    )
    return [Panel(figure, described)]


def searches() -> list[Panel]:
    """Draw what searches reach in the same time."""
    header, rows = table("searches")
    excess = 100 * (column(rows, header.index("mean")) - 1)
    names = [row[0].replace(", relocations only", ",\nrelocations only") for row in rows]
    figure, ax = new_figure(5.4, 2.6)
    places = np.arange(len(names))[::-1]
    ax.barh(
        places, excess, color=[GREEN if "kempe" in name else BLUE for name in names], height=0.6
    )
    ax.set_yticks(places, names)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("inertia, mean % above the lowest")
    return [Panel(figure, "Mean excess inertia of five searches after one second")]


def growth() -> list[Panel]:
    """CPU time over the number of rows."""
    _, rows = table("growth")
    n_rows, seconds = column(rows, 0), column(rows, 1)
    figure, ax = new_figure(4.6, 3.2)
    ax.loglog(n_rows, seconds, "o-", color=BLUE, label="measured")
    ax.loglog(n_rows, seconds[0] * n_rows / n_rows[0], color=INK, alpha=0.5, label="proportional")
    ax.set_xlabel("rows")
    ax.set_ylabel("CPU seconds")
    ax.grid()
    ax.legend()
    return [Panel(figure, "CPU seconds of a single descent, from ten thousand to a million rows")]


def collection4() -> list[Panel]:
    """Inertia on large data beside the lowest of the paper."""
    header, rows = table("collection4")
    excess = 100 * (column(rows, header.index("ours / lowest")) - 1)
    series = {
        "at or below": (np.where(excess <= 0.0005, excess, np.nan), GREEN, "o"),
        "above": (np.where(excess > 0.0005, excess, np.nan), RED, "D"),
    }
    figure, ax = dots([row[0] for row in rows], series, "inertia, % above the paper's lowest")
    ax.axvline(0, color=INK, linewidth=0.8)
    return [Panel(figure, "Inertia on the large data sets above the lowest in the paper")]


def memory() -> list[Panel]:
    """Memory beyond the input, and its bound."""
    header, rows = table("memory")
    names = [row[0] for row in rows]
    figure, ax = new_figure(5.0, 2.6)
    places = np.arange(len(names))[::-1]
    for offset, key, colour in ((0.2, "beyond it MB", BLUE), (-0.2, "bound MB", YELLOW)):
        ax.barh(places + offset, column(rows, header.index(key)), 0.38, color=colour, label=key)
    ax.set_yticks(places, names)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("MB beyond the input")
    ax.legend(["used", "bound"], fontsize=8)
    return [Panel(figure, "Memory that a fit uses beyond its input, and the bound on it")]


def rivals() -> list[Panel]:
    """Every method on six instances: quality and time, and whether some runs found nothing."""
    header, inertias = table("rivals", 0)
    _, times = table("rivals", 1)
    names = [row[0] for row in inertias]
    values, seconds = (
        np.column_stack([column(rows, place) for place in range(1, len(header))])
        for rows in (inertias, times)
    )
    excess = np.nanmean(100 * (values / np.nanmin(values, axis=0) - 1), axis=1)
    spent = np.exp(np.nanmean(np.log(seconds), axis=1))
    failed = np.array([any(" of " in cell for cell in row) for row in inertias])
    panels = []
    for measured, label in (
        (excess, "inertia, mean % above the lowest"),
        (spent, "CPU seconds, geometric mean"),
    ):
        series = {
            "all runs solved": (np.where(failed, np.nan, measured), BLUE, "o"),
            "some failed": (np.where(failed, measured, np.nan), RED, "X"),
        }
        figure, ax = dots(names, series, label)
        if measured is excess:
            ax.set_xscale("symlog", linthresh=0.1)
            ax.set_xticks([0, 0.1, 1, 10], ["0", "0.1", "1", "10"])
            ax.set_xlim(-0.01)
        else:
            ax.set_xscale("log")
        panels.append(Panel(figure, f"{label}, of every method"))
    return panels
