"""Sequential Kempe assignment: one chain after the other, each swapped at once if it improves.

Descending judges a swap by the exact change of the inertia, with the centroids following (as
Hartigan and Wong do for k-means), which leaves optima in which fixed centroids get stuck.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Budget, Context, Descent, Improvement

# Relocations between two looks at callbacks and stopping rules. Those of large data take long.
BATCH = 64
LARGE_BATCH = 8

# From so many supernodes with so many cannot-link edges each, those that are kept out of a cluster
# are brought in by sending others away, several steps deep, as data of many features does anyway.
EJECTED_FROM = 4_000
EDGES_PER_SUPERNODE = 8
MANY_FEATURES = 48


class SequentialDescent(Descent):
    """Descent by sequential Kempe swaps.

    Each thread that uses it gets working memory of its own, which it keeps for one problem.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def settle(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Improve the assignment to fixed centroids until nothing improves it any more.

        Where limits on sizes are all that keeps rows from their nearest centroids, that is solved
        exactly, whatever the colours were.
        """
        if is_transport(context.problem):
            return transported(context, centroids)
        return self._search(context.problem).settle(colours, centroids, context.stopper)

    def descend(self, context: Context, colours: Colours) -> Colours:
        """Go down to a local optimum of the inertia."""
        colours = self._search(context.problem).descend(colours, context.stopper)
        return self._ejected(context, colours)

    def repair(
        self, context: Context, colours: Colours, centroids: Centroids
    ) -> tuple[Colours, int]:
        """Send rows to other clusters at the least cost to fixed centroids until limits hold.

        Returns
        -------
        colours, excess
            The colouring, and by how many rows it still breaks limits.
        """
        return self._search(context.problem).repair(colours, centroids, context.stopper)

    def improve(self, context: Context, colours: Colours, budget: Budget) -> Iterator[Improvement]:
        """Relocate single centroids, descend, keep what improves.

        The relocations are those of ``kempe.search.relocation``. They run in compiled code, which
        repeats only work that a relocation touches, so only the last of each batch is handed out.
        """
        problem, stopper = context.problem, context.stopper
        batch = LARGE_BATCH if problem.core.is_large else BATCH
        left, failures = budget.tries, 0
        while failures < budget.most_failures and left > 0 and not stopper.stopped:
            colours, tries, failures = self._search(problem).relocate(
                colours,
                tries=min(batch, left),
                patience=budget.most_failures,
                failures=failures,
                target=budget.target - problem.within,
                seed=int(context.rng.integers(2**63)),
                stopper=stopper,
            )
            if not tries:
                return
            left -= tries
            colours = self._ejected(context, colours)
            yield Improvement(colours, tries)

    def _ejected(self, context: Context, colours: Colours) -> Colours:
        """Send away who stands in the way, at the prices of the means, and descend, while it pays.

        Kempe chains join nearly all supernodes where pairs are that dense. The inertia falls with
        every turn, so this ends.
        """
        problem, stopper = context.problem, context.stopper
        while is_ejected(problem) and not stopper.look():
            search = self._search(problem)
            centroids, _ = problem.means(colours)
            other = search.assign_by_table(colours, centroids, thorough=True, stopper=stopper)
            other = search.descend(other, stopper)
            if not problem.inertia(other) < problem.inertia(colours):
                break
            colours = other
        return colours

    def _search(self, problem: Problem) -> _core.SequentialSearch:
        if getattr(self._local, "problem", None) is not problem:
            self._local.search = _core.SequentialSearch(problem.core, problem.n_clusters)
            self._local.problem = problem
        search: _core.SequentialSearch = self._local.search
        return search


def is_ejected(problem: Problem) -> bool:
    """Whether pairs are so dense, on a problem so large, that ejection pays; see above."""
    plain = problem.soft is None and problem.limits is None
    many = problem.n_supernodes >= EJECTED_FROM and problem.n_features <= MANY_FEATURES
    return plain and many and problem.graph.n_edges >= EDGES_PER_SUPERNODE * problem.n_supernodes


def is_transport(problem: Problem) -> bool:
    """Whether clusters have limited sizes, and single rows in no pair go wherever there is room."""
    single = problem.n_supernodes == problem.n_rows and problem.soft is None
    return single and problem.limits is not None and not problem.graph.n_edges


def transported(context: Context, centroids: Centroids) -> Colours:
    """Assign such rows to fixed centroids at the lowest cost."""
    return _core.transport(context.problem.core, centroids, context.stopper)
