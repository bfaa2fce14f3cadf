"""How a proof closed the gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kempe.plotting._style import COLOURS, INK, axes
from kempe.proof import OptimalityCertificate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CARRIED_BY = {
    "sdp": "one matrix of all groups",
    "parts": "parts of the rows",
    "prices": "prices of all groups",
}


@dataclass(frozen=True, eq=False)
class CertificateDisplay:
    """Both bounds of a certificate over time.

    Make one with :meth:`from_certificate`.

    Attributes
    ----------
    seconds, lower_bound, inertia : arrays
        What was known when: no clustering is below the one, the labels have the other. With soft
        pairs, both are about the inertia and the prices of broken pairs together.
    carried_by
        What kind of proof carries the last bound, in words.
    what
        What the bounds are about.
    ax_ : Axes
        What was drawn on, after :meth:`plot`.
    """

    seconds: NDArray[np.float64]
    lower_bound: NDArray[np.float64]
    inertia: NDArray[np.float64]
    carried_by: str = ""
    what: str = "inertia"
    ax_: Axes | None = None

    @classmethod
    def from_certificate(
        cls, certificate: OptimalityCertificate, *, ax: Axes | None = None
    ) -> CertificateDisplay:
        """Draw the history of a certificate.

        Parameters
        ----------
        certificate
            What :func:`kempe.certify` returned.
        ax
            Where to draw; a new figure by default.
        """
        end = [[certificate.seconds, certificate.lower_bound, certificate.objective]]
        seconds, lower, upper = np.concatenate([certificate.history, end]).T
        what = "inertia" if certificate.soft is None else "inertia and prices"
        return cls(seconds, lower, upper, CARRIED_BY[certificate.method], what).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> CertificateDisplay:
        """Draw.

        Parameters
        ----------
        ax
            Where to draw; a new figure by default.
        """
        ax = axes(ax)
        object.__setattr__(self, "ax_", ax)
        for bound, colour, name in (
            (self.inertia, INK, self.what),
            (self.lower_bound, COLOURS[0], "lower bound"),
        ):
            ax.step(self.seconds, bound, where="post", lw=1.5, color=colour, label=name)
        ax.fill_between(
            self.seconds,
            self.lower_bound,
            self.inertia,
            step="post",
            color=COLOURS[4],
            alpha=0.3,
            lw=0,
            label="open",
        )
        gap = (self.inertia[-1] - self.lower_bound[-1]) / (self.inertia[-1] or 1.0)
        ax.set_title(f"gap {100 * gap:.3g} %", fontsize="medium", loc="right")
        if self.carried_by:
            ax.set_title(f"by {self.carried_by}", fontsize="medium", loc="left")
        ax.set_xlabel("seconds")
        ax.set_ylabel(self.what)
        # The first bounds can be far below; what matters is how the gap closes at the end.
        ax.set_ylim(*_range(self.lower_bound, self.inertia))
        ax.margins(x=0.02)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(fontsize="small", frameon=False, loc="lower right")
        return self


def _range(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> tuple[float, float]:
    """Show both bounds, but not the first tenth of them if that is far below."""
    low = float(np.quantile(lower, 0.1))
    margin = 0.05 * (float(upper.max()) - low) or 0.5
    return low - margin, float(upper.max()) + margin
