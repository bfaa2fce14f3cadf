"""Assignment by simulated annealing, for graphs on which Kempe swaps get stuck.

When the number of clusters is close to the least possible, most proper colourings cannot be reached
from each other by Kempe swaps. Annealing passes through colourings that violate a few cannot-link
pairs, at a price, and returns only proper ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kempe import _core
from kempe.graph import CannotLinkGraph
from kempe.problem import Colours

# Temperatures and prices of a violated pair, in units of the mean cost above the nearest cluster.
HOT, COLD = 2.0, 0.3
CHEAP, EXPENSIVE = 4.0, 6.0
# Sweeps over all vertices, as long as that is not more than so many trials.
SWEEPS = 3_000
TRIALS = 1_000_000


def anneal(
    graph: CannotLinkGraph,
    costs: NDArray[np.float64],
    colours: Colours,
    rng: np.random.Generator,
    stopper: _core.Stopper,
    *,
    patience: int = 1,
    soft: Callable[[float], _core.SoftPairs | None] = lambda unit: None,
) -> Colours:
    """Look for a cheaper proper colouring, whether or not Kempe swaps lead there.

    Parameters
    ----------
    costs
        Cost per vertex and cluster.
    colours
        A proper colouring, returned if none cheaper is found.
    patience
        Cool so many times as slowly, which finds cheaper colourings on larger graphs.
    soft
        Gives the pairs that may be broken, if there are any, at prices in some unit.
    """
    above = costs - costs.min(axis=1, keepdims=True)
    unit = float(above[np.isfinite(above)].mean()) or 1.0
    above /= unit
    return _core.anneal(
        graph.core,
        above,
        colours,
        patience * min(SWEEPS, max(1, TRIALS // max(1, colours.size))),
        HOT,
        COLD,
        CHEAP,
        EXPENSIVE,
        int(rng.integers(2**63)),
        stopper,
        soft(unit),
    )
