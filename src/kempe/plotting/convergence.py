"""How a search came down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kempe.plotting._style import COLOURS, INK, axes, marker
from kempe.search.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_convergence(result: Result, ax: Axes | None = None, *, against: str = "time") -> Axes:
    """Draw every solution that a search looked at, and its best so far.

    Parameters
    ----------
    result
        ``result_`` of a fitted estimator.
    ax
        Where to draw; a new figure by default.
    against
        ``"time"`` (seconds) or ``"iteration"`` on the horizontal axis.

    Returns
    -------
    Axes
        What was drawn on.
    """
    if against not in ("time", "iteration"):
        raise ValueError(f"against must be 'time' or 'iteration', got {against!r}")
    ax = axes(ax)
    history = result.statistics
    if not history.inertia:
        raise ValueError("the result has no history to draw")
    across = np.asarray(history.elapsed if against == "time" else history.iteration)
    inertia, kinds = np.asarray(history.inertia), np.asarray(history.kind)
    for position, kind in enumerate(dict.fromkeys(history.kind)):
        of_kind = kinds == kind
        ax.scatter(
            across[of_kind],
            inertia[of_kind],
            s=14,
            c=COLOURS[position % len(COLOURS)],
            marker=marker(position * len(COLOURS)),
            linewidths=0,
            alpha=0.8,
            label=kind,
            zorder=2,
        )
    ax.step(across, history.best_inertia, where="post", color=INK, lw=1.5, label="best", zorder=3)
    ax.set_xlabel("seconds" if against == "time" else "iteration")
    ax.set_ylabel("inertia")
    ax.margins(x=0.02)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize="small", frameon=False)
    return ax
