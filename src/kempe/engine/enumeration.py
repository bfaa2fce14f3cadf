"""Complete enumeration: a few supernodes leave no excuse for less than the optimum."""

from __future__ import annotations

from kempe import _core
from kempe.problem import Problem
from kempe.search.descent import Context
from kempe.search.empty import full_solution
from kempe.search.result import Solution

# Supernodes that the compiled enumeration takes.
MOST_SUPERNODES = 64


def n_partitions(size: int, parts: int) -> int:
    """Count the ways to divide ``size`` things into ``parts`` parts, none of them empty.

    Examples
    --------
    >>> n_partitions(4, 2)
    7
    """
    row = [1] + [0] * parts
    for _ in range(size):
        row = [0] + [part * row[part] + row[part - 1] for part in range(1, parts + 1)]
    return row[parts]


def is_enumerable(problem: Problem, up_to: int) -> bool:
    """Whether there are at most so many clusterings, cannot-link pairs left aside."""
    if problem.n_supernodes > MOST_SUPERNODES:
        return False
    return n_partitions(problem.n_supernodes, problem.n_clusters) <= up_to


def best_of_all(context: Context, start: Solution) -> tuple[Solution, bool]:
    """Give the best clustering there is, and whether all were looked at before time was up.

    Parameters
    ----------
    start
        A clustering without empty clusters, returned unless there is a better one.
    """
    problem = context.problem
    colours, complete = _core.best_partition(
        problem.core, start.colours, problem.n_clusters, context.stopper
    )
    return min(start, full_solution(problem, colours), key=lambda s: s.objective), complete
