"""Settings of the memetic search, and what they mean for one problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from kempe.engine.annealing import AnnealingDescent
from kempe.engine.enumeration import is_enumerable
from kempe.engine.sequential import SequentialDescent
from kempe.engine.sketch import is_worth_sketching
from kempe.problem import Problem
from kempe.search.descent import Descent
from kempe.search.stop import DiminishingReturns

# Beyond this many supernodes annealing is too slow to be worth while unasked.
LARGEST_ANNEALED = 5_000

# Too few mutations say nothing about what more of them would gain. A mutation takes longer the more
# supernodes there are: beyond so many, fewer mutations must do.
LEAST_MUTATIONS = 48
MOST_SUPERNODES = 100_000
FEWEST_MUTATIONS = 16


@dataclass(frozen=True)
class MemeticParams:
    """Settings of a memetic search.

    Parameters
    ----------
    population_size
        Clusterings that are kept.
    generation_size
        Clusterings made from one state of the population. They can be made side by side, so
        results do not depend on the number of threads.
    relocations_per_cluster, extra_relocations
        A clustering is improved until so many relocations in a row, in proportion to the number
        of clusters, have failed.
    mutations_per_cluster, extra_mutations
        Most mutations of the whole search, in proportion to the number of clusters, unless
        ``max_mutations`` of the estimator says otherwise.
    agreement
        The search ends when so many clusterings, improved one by one, came down to the same lowest
        inertia. 0: it goes on until another rule ends it.
    worthwhile, large_from
        Data of at least so many supernodes, where a single mutation takes long, is searched until
        the later half of the mutations has lowered the objective by less than this share. 0: until
        another rule ends it, as less data is.
    saturation_rounds
        Most repetitions of the saturation-ordered assignment in a start.
    exhaustive_start
        Whether tabu search and exact methods look for a clustering where saturation order and
        classic DSATUR find none, or prove that there is none. Otherwise the search gives up.
    annealing
        Whether local optima are improved by simulated annealing. ``None``: if classic DSATUR finds
        no clustering, so that the constraints are tight, and the problem is not too large. Kempe
        swaps cannot follow a relocated centroid there, so many starts replace the relocations.
        Where the first clusterings show that the problem is glassy, the inertia is annealed, see
        ``kempe.engine.glass``.
    annealed_population_size
        Clusterings that are kept where local optima are annealed.
    enumerate_up_to
        Where supernodes can be divided into clusters in at most so many ways, all are looked at
        after the first descent, and the best is the result: the optimum. That holds for up to ten
        supernodes, more if there are two or three clusters, and takes milliseconds. 0: never.
    """

    population_size: int = 5
    generation_size: int = 2
    relocations_per_cluster: float = 0.5
    extra_relocations: int = 20
    mutations_per_cluster: float = 80.0
    extra_mutations: int = 200
    agreement: int = 8
    worthwhile: float = 1e-4
    large_from: int = 20_000
    saturation_rounds: int = 20
    exhaustive_start: bool = True
    annealing: bool | None = None
    annealed_population_size: int = 24
    enumerate_up_to: int = 50_000

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if not value >= least:
                raise ValueError(f"{name} must be at least {least}, got {value}")

    def most_failures(self, n_clusters: int) -> int:
        """Failed relocations in a row after which a clustering counts as improved.

        Parameters
        ----------
        n_clusters
            Number of clusters.
        """
        return self.extra_relocations + math.ceil(self.relocations_per_cluster * n_clusters)

    def max_mutations(self, n_clusters: int) -> int:
        """Mutations of the whole search, unless the user says otherwise.

        Parameters
        ----------
        n_clusters
            Number of clusters.
        """
        return self.extra_mutations + math.ceil(self.mutations_per_cluster * n_clusters)

    def enough(self, problem: Problem) -> DiminishingReturns | None:
        """Give the rule that ends the search of large data once it hardly gains any more.

        Parameters
        ----------
        problem
            The problem to search.
        """
        if self.worthwhile == 0 or problem.n_supernodes < self.large_from:
            return None
        in_proportion = LEAST_MUTATIONS * MOST_SUPERNODES // max(problem.n_supernodes, 1)
        least = max(FEWEST_MUTATIONS, min(LEAST_MUTATIONS, in_proportion))
        return DiminishingReturns(self.worthwhile, least)

    def rounds(self, n_edges: int, n_supernodes: int) -> int:
        """Repetitions of the first assignment, which do not pay where constraints hardly bind.

        Parameters
        ----------
        n_edges, n_supernodes
            Size of the cannot-link graph.
        """
        return self.saturation_rounds if 10 * n_edges > n_supernodes else 0

    def plan(self, problem: Problem) -> SearchPlan:
        """Decide how to search one problem.

        Parameters
        ----------
        problem
            The problem to search.
        """
        # Annealing does not know limits on sizes.
        anneals = problem.limits is None
        annealed = anneals and self._anneals(problem)
        descent = SequentialDescent()
        return SearchPlan(
            descent=AnnealingDescent(descent) if annealed else descent,
            population_size=self.annealed_population_size if annealed else self.population_size,
            generation_size=self.generation_size,
            most_failures=0 if annealed else self.most_failures(problem.n_clusters),
            agreement=self.agreement,
            anneals_glass=(
                self.annealing is None and anneals and not annealed and _is_small(problem)
            ),
            saturation_rounds=self.rounds(problem.graph.n_edges, problem.n_supernodes),
            exhaustive_start=self.exhaustive_start,
            enumerates=is_enumerable(problem, self.enumerate_up_to),
            sketches=is_worth_sketching(problem) and not annealed and problem.limits is None,
        )

    def _anneals(self, problem: Problem) -> bool:
        if self.annealing is not None:
            return self.annealing
        return _is_small(problem) and problem.graph.is_tight(problem.n_clusters)


def _is_small(problem: Problem) -> bool:
    return problem.n_supernodes <= LARGEST_ANNEALED


_LEAST: dict[str, Any] = {
    "population_size": 2,
    "annealed_population_size": 2,
    "generation_size": 1,
    "relocations_per_cluster": 0,
    "extra_relocations": 0,
    "mutations_per_cluster": 0,
    "extra_mutations": 0,
    "agreement": 0,
    "worthwhile": 0,
    "large_from": 0,
    "saturation_rounds": 0,
    "enumerate_up_to": 0,
}


@dataclass(frozen=True)
class SearchPlan:
    """How one problem is searched.

    Attributes
    ----------
    descent
        How a clustering is improved.
    population_size, generation_size
        Clusterings that are kept, and clusterings made at a time.
    most_failures
        Relocations in a row that may fail; 0 relocates nothing.
    agreement
        Clusterings of equal lowest inertia that end the search; 0: none do.
    anneals_glass
        Whether to anneal the inertia if the problem turns out to be glassy.
    saturation_rounds
        Most repetitions of the saturation-ordered assignment in a start.
    exhaustive_start
        Whether to search for a first colouring where DSATUR finds none.
    enumerates
        Whether to look at all clusterings, the first descent apart.
    sketches
        Whether to search in few dimensions, and descend in all of them from what is found there.
    """

    descent: Descent
    population_size: int
    generation_size: int
    most_failures: int
    saturation_rounds: int
    exhaustive_start: bool
    enumerates: bool = False
    agreement: int = 0
    anneals_glass: bool = False
    sketches: bool = False
