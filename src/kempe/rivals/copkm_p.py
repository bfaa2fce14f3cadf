"""COP-K-Means in saturation order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from kempe import _core
from kempe.exact.cliques import assign_clique
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.alternation import Assignment
from kempe.rivals.copkm import COPKM, completed
from kempe.search.callbacks import Callbacks


class COPKM_P(COPKM):
    """COP-K-Means in saturation order (Algorithm 7 of the paper, its appendix A.4).

    Places next the supernode whose neighbours already show the largest number of clusters, which
    succeeds far more often than the order of the data. Keeps the best iteration when a later one
    gets stuck, so only a stuck first one is a failure.

    See ``COPKM`` for attributes.

    Parameters
    ----------
    n_clusters, init, max_iter, until, time_limit, random_state, verbose, callbacks
        As in ``COPKM``.
    cliques
        How supernodes are assigned of which each is cannot-linked to all others that it is
        connected with, pairs above all: one after the other like the rest (``"greedy"``), as the
        text has it, or together at the lowest cost (``"optimal"``), as the authors' program does.
    """

    _keeps_best: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **COPKM._parameter_constraints,
        "cliques": [StrOptions({"greedy", "optimal"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "random",
        max_iter: int = 300,
        until: Literal["clusters", "inertia"] = "clusters",
        cliques: Literal["greedy", "optimal"] = "greedy",
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Callbacks | Sequence[Callbacks] | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            init=init,
            max_iter=max_iter,
            until=until,
            time_limit=time_limit,
            random_state=random_state,
            verbose=verbose,
            callbacks=callbacks,
        )
        self.cliques = cliques

    def _assignment(
        self, problem: Problem, rng: np.random.Generator, stopper: _core.Stopper
    ) -> Assignment:
        return SaturationAssignment(whole_cliques=self.cliques == "optimal")


@dataclass(frozen=True)
class SaturationAssignment:
    """Place next the supernode whose neighbours show most colours, then that of highest degree.

    Attributes
    ----------
    whole_cliques
        Whether components that are cliques are assigned as a whole, at the lowest cost.
    """

    whole_cliques: bool = False

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes, or raise ``NoSolutionFoundError`` at the first that cannot be."""
        colours, stuck = _core.saturation_assignment(problem.core, centroids)
        if self.whole_cliques and stuck < 0:
            _improve_cliques(problem, centroids, colours)
        return completed(problem, centroids, colours, stuck)


def _improve_cliques(problem: Problem, centroids: Centroids, colours: Colours) -> None:
    """Assign components that are cliques anew, which concerns no other component."""
    for clique in problem.graph.clique_components:
        costs = problem.costs(centroids, clique.astype(np.int32))
        # They have been coloured before, so none is larger than the number of clusters.
        assigned = assign_clique(costs)
        assert assigned is not None
        colours[clique] = assigned
