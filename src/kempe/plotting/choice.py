"""Several numbers of clusters beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.plotting._style import COLOURS, INK, pyplot
from kempe.selection import Choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_choice(choice: Choice) -> Figure:
    """Draw inertia, silhouette and the score on held-out pairs against the number of clusters.

    Numbers that the pairs do not permit are shaded, the suggested one is marked.

    Parameters
    ----------
    choice
        What :func:`kempe.choose_k` returned.
    """
    numbers = np.array([item.n_clusters for item in choice.candidates])
    panels = [
        ("inertia", [item.inertia for item in choice.candidates], None),
        ("silhouette", [item.silhouette for item in choice.candidates], None),
        (
            "held-out pairs",
            [item.held_out for item in choice.candidates],
            [item.held_out_error for item in choice.candidates],
        ),
    ]
    shown = [panel for panel in panels if np.isfinite(panel[1]).any()] or panels[:1]
    figure: Figure
    figure, axes = pyplot().subplots(
        len(shown), sharex=True, figsize=(6.4, 2.0 * len(shown) + 0.6), layout="constrained"
    )
    for ax, (name, values, errors), colour in zip(
        np.ravel(axes), shown, (COLOURS[0], COLOURS[2], COLOURS[3]), strict=False
    ):
        _draw(ax, numbers, np.array(values), errors, colour)
        ax.set_ylabel(name)
        _mark(ax, choice, numbers)
    last = np.ravel(axes)[-1]
    last.set_xlabel("number of clusters")
    last.set_xticks(numbers[:: -(-numbers.size // 16)])
    figure.align_ylabels()
    return figure


def _draw(ax: Any, numbers: Any, values: Any, errors: Any, colour: str) -> None:
    known = np.isfinite(values)
    ax.plot(numbers[known], values[known], marker="o", ms=4, lw=1.5, color=colour)
    if errors is not None:
        spread = np.nan_to_num(np.array(errors))
        ax.fill_between(
            numbers[known],
            (values - spread)[known],
            (values + spread)[known],
            color=colour,
            alpha=0.15,
            lw=0,
        )
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.04)


def _mark(ax: Any, choice: Choice, numbers: Any) -> None:
    if numbers.min() < choice.needed:
        low, high = numbers.min() - 0.5, min(choice.needed, numbers.max() + 1) - 0.5
        ax.axvspan(low, high, color=INK, alpha=0.08, lw=0)
        ax.text(
            (low + high) / 2,
            0.5,
            "not permitted",
            rotation=90,
            ha="center",
            va="center",
            fontsize="x-small",
            color=INK,
            transform=ax.get_xaxis_transform(),
        )
    if choice.suggested is not None:
        ax.axvline(choice.suggested, color=INK, lw=1, ls=(0, (4, 3)))
