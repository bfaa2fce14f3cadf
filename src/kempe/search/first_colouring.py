"""The first colouring of every search: DSATURAssignment, Algorithm 5 of the paper.

Supernodes in saturation order go to the nearest admissible centroid. Where that gets stuck, classic
DSATUR ignores the centroids but needs fewer colours, and where that gets stuck as well, tabu search
and exact methods look for a colouring or prove that there is none.
"""

from __future__ import annotations

from kempe import _core
from kempe.exceptions import NoSolutionFoundError
from kempe.graph.check import colour_or_explain
from kempe.graph.colouring import cheapest_names, colour_graph
from kempe.problem import Centroids, Colours
from kempe.search.descent import Context, Descent
from kempe.search.matching import match


def starting_solution(
    context: Context,
    centroids: Centroids,
    descent: Descent,
    *,
    exhaustive: bool = True,
    known: Colours | None = None,
) -> Colours:
    """Find a first colouring and settle it on the starting centroids.

    The centroids are matched to the clusters first: where the assignment had to fall back to a
    colouring that ignores them, cluster numbers mean little. See ``first_colouring``.

    Parameters
    ----------
    descent
        Settles the colouring.
    exhaustive
        Whether to look on by tabu search and exactly where DSATUR fails.
    known
        A colouring that is known already.
    """
    colours = first_colouring(context, centroids, exhaustive=exhaustive, known=known)
    if context.stopper.look():
        return colours
    matched = match(*context.problem.means(colours), centroids)
    return descent.settle(context, colours, matched)


def first_colouring(
    context: Context,
    centroids: Centroids,
    *,
    exhaustive: bool = True,
    known: Colours | None = None,
) -> Colours:
    """Assign all supernodes, near the centroids as far as the cannot-link pairs permit.

    Parameters
    ----------
    exhaustive, known
        What to do where saturation order gets stuck, see ``any_colouring``.

    Raises
    ------
    InfeasibleConstraintsError
        If there is no colouring, with a certificate.
    NoSolutionFoundError
        If none was found.
    """
    problem = context.problem
    colours, stuck = _core.saturation_assignment(problem.core, centroids, context.stopper)
    if stuck < 0:
        return colours
    colours = any_colouring(context, exhaustive=exhaustive, known=known)
    return cheapest_names(problem.graph, colours, problem.costs(centroids))


def any_colouring(
    context: Context, *, exhaustive: bool = True, known: Colours | None = None
) -> Colours:
    """Find a proper colouring wherever the centroids are.

    Parameters
    ----------
    exhaustive
        Whether to go on by tabu search and exact methods if classic DSATUR finds none.
    known
        A colouring to take instead. Since starts should differ, a short search for another comes
        first.
    """
    problem, rng, stopper = context.problem, context.rng, context.stopper
    if known is not None:
        another = colour_graph(problem.graph, problem.n_clusters, rng, stopper, turns=1)
        return known if another.colours is None else another.colours
    colours, stuck = _core.dsatur(problem.graph.core, problem.n_clusters)
    if stuck < 0:
        return colours
    if exhaustive:
        return colour_or_explain(
            problem.graph, problem.constraints, problem.n_clusters, rng, stopper
        )
    raise NoSolutionFoundError(
        f"neither saturation order nor DSATUR found a clustering into {problem.n_clusters} "
        "clusters that satisfies all cannot-link pairs; it may nevertheless exist"
    )
