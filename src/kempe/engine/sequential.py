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


class SequentialDescent(Descent):
    """Descent by sequential Kempe swaps.

    Each thread that uses it gets working memory of its own, which it keeps for one problem.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def settle(self, context: Context, colours: Colours, centroids: Centroids) -> Colours:
        """Improve the assignment to fixed centroids until nothing improves it any more."""
        return self._search(context.problem).settle(colours, centroids, context.stopper)

    def descend(self, context: Context, colours: Colours) -> Colours:
        """Go down to a local optimum of the inertia."""
        return self._search(context.problem).descend(colours, context.stopper)

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
            yield Improvement(colours, tries)

    def _search(self, problem: Problem) -> _core.SequentialSearch:
        if getattr(self._local, "problem", None) is not problem:
            self._local.search = _core.SequentialSearch(problem.core, problem.n_clusters)
            self._local.problem = problem
        search: _core.SequentialSearch = self._local.search
        return search
