"""Glassy problems: constraints bind so much that every search freezes somewhere else.

There neither swaps nor relocations lead far, since whatever moves is held by something that does
not. Slow cooling helps: the inertia is annealed with cannot-link pairs violated at a price, which
rises until none is. It costs seconds, so it is left for problems that show to be of this kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Context
from kempe.search.result import Solution
from kempe.search.seeding import starting_centroids

# Clusterings that were improved apart from each other differ by at least this share of the inertia,
SPREAD = 0.001
# and this share of the constrained supernodes would rather be in another cluster. Elsewhere they
# are fewer, or the clusterings are the same.
BLOCKED = 0.4

# Temperatures and prices of a violated pair, in units of the mean cost above the nearest cluster
# without constraints. A price that is high from the start freezes at once.
HOT, COLD = 0.5, 0.3
CHEAP, EXPENSIVE = 1.5, 5.0
# Sweeps over all vertices, as long as that is not more than so many trials.
SWEEPS = 30_000
TRIALS = 25_000_000
# Steps of the tabu search for the last few violated pairs.
REPAIRS = 100_000

# Most rounds of plain k-means in search of centroids without constraints.
ROUNDS = 20


def is_glassy(problem: Problem, solutions: Sequence[Solution]) -> bool:
    """Whether separate searches ended far apart, and constraints are the reason."""
    value = [solution.objective for solution in solutions]
    if len(value) < 2 or max(value) < min(value) * (1 + SPREAD):
        return False
    return all(blocked_share(problem, solution.colours) > BLOCKED for solution in solutions)


def blocked_share(problem: Problem, colours: Colours) -> float:
    """Give the share of constrained supernodes that would rather be in another cluster.

    That is a nearer one, or one that soft pairs make cheaper.
    """
    constrained = np.flatnonzero(problem.graph.degree)
    if not constrained.size:
        return 0.0
    centroids, _ = problem.means(colours)
    costs = (problem.costs(centroids) - problem.pulls(colours))[constrained]
    own = costs[np.arange(constrained.size), colours[constrained]]
    return float(np.mean(costs.min(axis=1) < own - 1e-9 * np.abs(own)))


def annealed(context: Context, otherwise: Colours) -> Colours:
    """Anneal the inertia from centroids without constraints.

    Parameters
    ----------
    otherwise
        Returned if no proper colouring is found.
    """
    problem = context.problem
    nearest = _unconstrained(context)
    found = _core.anneal_inertia(
        problem.core,
        nearest,
        problem.n_clusters,
        min(SWEEPS, max(1, TRIALS // nearest.size)),
        HOT,
        COLD,
        CHEAP,
        EXPENSIVE,
        int(context.rng.integers(2**63)),
        context.stopper,
    )
    found = _repaired(context, found)
    return found if problem.graph.is_proper(found) else otherwise


def _repaired(context: Context, colours: Colours) -> Colours:
    """Recolour the few ends of pairs that annealing has left violated."""
    problem = context.problem
    if problem.graph.is_proper(colours):
        return colours
    seed = int(context.rng.integers(2**63))
    core, k = problem.graph.core, problem.n_clusters
    return _core.tabu_colouring(core, k, colours, None, seed, REPAIRS, context.stopper)[0]


def _unconstrained(context: Context) -> Colours:
    """Give the clusters of plain k-means, which may violate cannot-link pairs."""
    problem = context.problem
    centroids = starting_centroids(problem, "k-means++", context.rng, context.stopper)
    colours = _nearest(problem, centroids)
    for _ in range(ROUNDS):
        if context.stopper.look():
            break
        again = _nearest(problem, problem.means(colours)[0])
        if (again == colours).all():
            break
        colours = again
    return colours


def _nearest(problem: Problem, centroids: Centroids) -> Colours:
    return np.asarray(problem.costs(centroids).argmin(axis=1), dtype=np.int32)
