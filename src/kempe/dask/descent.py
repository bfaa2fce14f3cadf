"""The way down on all rows, those in constraints here and the others where they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kempe.dask.pairs import NamedRows
from kempe.dask.parts import Parts
from kempe.dask.prices import SampledVariance
from kempe.dask.rows import PartedRows
from kempe.data_checks import check_groups
from kempe.engine.batched import BatchedSearch, BatchedStep, Gathered, means_for_all
from kempe.engine.crowd import Floats
from kempe.engine.params import MemeticParams
from kempe.engine.sequential import SequentialDescent
from kempe.engine.start import repeated
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Context
from kempe.search.first_colouring import any_colouring, first_colouring
from kempe.search.matching import match
from kempe.search.recorder import Recorder
from kempe.search.result import BrokenPairs, Result, Solution, Statistics
from kempe.soft_pairs import PairPrice


@dataclass(frozen=True, eq=False)
class FullClustering:
    """A clustering of all rows.

    Attributes
    ----------
    result
        How it was found.
    centroids
        Means of the clusters.
    label_tasks
        A task for each part that gives the labels of its rows.
    """

    result: Result
    centroids: Centroids
    label_tasks: list[Any]

    def is_better_than(self, other: FullClustering) -> bool:
        """Whether its objective is lower."""
        return self.result.objective < other.result.objective

    def ended(self, reason: str) -> FullClustering:
        """Say why no better one was looked for."""
        return replace(self, result=replace(self.result, stop_reason=reason))


@dataclass(frozen=True, eq=False)
class Descender:
    """Goes down from centroids, or from what a search over summaries has found.

    Attributes
    ----------
    parts, named
        All rows, and those that constraints name.
    origin
        Mean of all rows, which is subtracted from everything.
    gathered, supernode
        The rows in constraints as supernodes, and the supernode of each of them.
    settings
        Of the search.
    pair_price
        What breaking a soft pair of rows costs, once it is known.
    """

    parts: Parts
    named: NamedRows
    origin: Floats
    gathered: Gathered
    supernode: NDArray[np.int32]
    settings: MemeticParams
    pair_price: PairPrice | None = None

    @classmethod
    def of(cls, parts: Parts, named: NamedRows, n_clusters: int, settings: MemeticParams) -> Self:
        """Gather the rows in constraints.

        Raises
        ------
        InfeasibleConstraintsError
            If a cannot-link pair is joined by must-link pairs.
        ValueError
            If must-link pairs leave fewer groups of rows than clusters.
        """
        origin = parts.facts.sums / parts.facts.total
        if not named.numbers.size:
            nobody = replace(Gathered.empty(n_clusters, parts.n_features), shift=origin)
            return cls(parts, named, origin, nobody, np.empty(0, dtype=np.int32), settings)
        points, weight = parts.gathered(named.numbers)
        rows = points.astype(np.float64) - origin
        problem = Problem.build(
            rows, named.constraints, n_clusters=n_clusters, sample_weight=weight
        )
        check_groups(parts.n_rows - named.numbers.size + problem.n_supernodes, n_clusters)
        gathered = Gathered(
            n_clusters=n_clusters,
            points=problem.points(problem.everyone) + problem.shift,
            weight=problem.weight,
            edges=problem.graph.edges,
            within=problem.within,
            shift=origin,
            constraints=named.constraints.without_soft(),
            soft=problem.soft,
        )
        return cls(parts, named, origin, gathered, problem.supernode, settings)

    def priced(self, pair_price: PairPrice, colours: Colours) -> Descender:
        """Let soft pairs have these prices.

        Parameters
        ----------
        pair_price
            What a pair of rows costs.
        colours
            Of the supernodes, in any clustering: what all of them pay is seen from one.
        """
        assert self.gathered.soft is not None
        prices = pair_price.of_supernodes(self.gathered.soft)
        seen = np.abs(prices[self.gathered.soft.violated(prices, colours)]).sum()
        paid = pair_price.of_broken(self.named.constraints.soft, colours[self.supernode])
        gathered = replace(self.gathered, prices=prices, unavoidable=max(paid - float(seen), 0.0))
        return replace(self, gathered=gathered, pair_price=pair_price)

    def variance(self, rng: np.random.Generator) -> SampledVariance:
        """Draw the rows whose variance decides about prices."""
        return SampledVariance.of(self.parts, self.named, self.origin, self.supernode, rng)

    @cached_property
    def problem(self) -> Problem:
        """The gathered supernodes, and behind them all other rows as one."""
        rest = self.parts.facts.total - self.gathered.weight.sum()
        return self.gathered.beside(np.zeros((1, self.parts.n_features)), np.array([rest]), 0.0)

    @property
    def n_supernodes(self) -> int:
        """Number of supernodes, free rows included."""
        return self.parts.n_rows - self.named.numbers.size + len(self.gathered)

    @property
    def free(self) -> PartedRows:
        """The other rows."""
        return PartedRows(self.parts, self.named.numbers, self.origin)

    def from_centroids(
        self, start: Callable[[], Centroids], recorder: Recorder, rng: np.random.Generator
    ) -> FullClustering:
        """Go down from starting centroids.

        Parameters
        ----------
        start
            Gives them, once it is clear that the constraints can be met.
        recorder
            Is told of every pass.
        rng
            Source of all randomness.
        """
        descent = _DescentOfAllRows(self, recorder, rng)

        def search() -> None:
            known = descent.known_colouring()
            descent.descend(*descent.first_colours(start(), known))

        return descent.found(recorder.follow(search))

    def from_search(
        self, problem: Problem, found: Result, recorder: Recorder, rng: np.random.Generator
    ) -> FullClustering:
        """Go down from what a search over summaries has found.

        Parameters
        ----------
        problem, found
            The summaries, and the result of the search.
        recorder
            Is told of every pass.
        rng
            Source of all randomness.
        """
        descent = _DescentOfAllRows(self, recorder, rng)
        interrupted = found.stop_reason == "interrupted"
        centroids = means_for_all(*problem.means(found.solution.colours))

        def search() -> str:
            descent.descend(
                centroids, found.solution.colours[: len(self.gathered)], once=interrupted
            )
            return found.stop_reason

        return descent.found(_joined(found, recorder.follow(search)))


class _DescentOfAllRows:
    """One way down."""

    def __init__(self, descender: Descender, recorder: Recorder, rng: np.random.Generator) -> None:
        self._of = descender
        self._free = descender.free
        self._recorder = recorder
        self._context = recorder.context(rng)
        self._best: BatchedStep | None = None  # what the labels of the best solution are made of

    def known_colouring(self) -> Colours | None:
        """Look for a colouring before anything else where that may take long, or fail."""
        problem = self._context.problem
        tight = problem.graph.is_tight(problem.n_clusters)
        return any_colouring(self._context)[:-1] if tight and self._exhaustive else None

    @property
    def _exhaustive(self) -> bool:
        return self._of.settings.exhaustive_start

    def first_colours(
        self, centroids: Centroids, known: Colours | None
    ) -> tuple[Centroids, Colours]:
        """Colour the gathered supernodes near centroids; the means, and these colours.

        What ``kempe.engine.start`` does, with the free rows as a crowd.
        """
        context = self._beside_crowd(centroids)
        if known is not None:
            anchors = context.problem.n_supernodes - known.size
            known = np.concatenate([known, np.zeros(anchors, dtype=np.int32)])
        colours = first_colouring(context, centroids, exhaustive=self._exhaustive, known=known)
        rounds = self._of.settings.rounds(len(self._of.gathered.edges), self._of.n_supernodes)
        if rounds and known is None:
            context, colours = repeated(context, colours, rounds, self._beside_crowd)
        else:
            matched = match(*context.problem.means(colours), centroids)
            colours = SequentialDescent().settle(context, colours, matched)
        means = means_for_all(*context.problem.means(colours))
        return means, colours[: len(self._of.gathered)]

    def _beside_crowd(self, centroids: Centroids) -> Context:
        crowd = self._free.look(centroids)
        problem = self._of.gathered.with_anchors(crowd, centroids)
        return replace(self._context, problem=problem)

    def descend(self, centroids: Centroids, colours: Colours, *, once: bool = False) -> None:
        """Pass over all rows until nothing moves any more, or once."""
        context = self._context
        search = BatchedSearch(self._free, context.rng, context.stopper)
        for step in search.descend(self._of.gathered, centroids, colours):
            solution = Solution(step.colours, step.inertia, step.objective)
            if self._recorder.record(solution, "descend"):
                self._best = step
            if once or self._recorder.should_stop():
                return

    def found(self, result: Result) -> FullClustering:
        """Make the best clustering on the way what it is to others."""
        of, best = self._of, self._best
        assert best is not None  # or there would be no result
        colours = best.colours[: len(of.gathered)]
        rest = np.zeros(1, dtype=np.int32)
        if not of.problem.is_proper(np.concatenate([colours, rest])):  # the last line of defence
            raise AssertionError("internal error: a clustering violates a cannot-link pair")
        own = Solution(colours, best.inertia, best.objective)
        result = replace(result, solution=own, n_supernodes=of.n_supernodes)
        if of.pair_price is not None:
            labels = colours[of.supernode]
            broken = BrokenPairs.of(of.named.constraints, labels, of.pair_price)
            result = replace(result, broken=of.named.in_numbers_of_rows(broken))
        tasks = self._free.label_tasks(best, of.named.numbers, of.supernode)
        return FullClustering(result, best.means + of.origin, tasks)


def _joined(search: Result, descent: Result) -> Result:
    """Put the history of the descent on all rows behind that of the search before it."""
    history = Statistics()
    for row in search.statistics.rows():
        history.append(row)
    last = history.iteration[-1] if history.iteration else 0
    for row in descent.statistics.rows():
        history.append(row._replace(iteration=last, elapsed=search.runtime + row.elapsed))
    return replace(
        descent,
        n_mutations=search.n_mutations,
        runtime=search.runtime + descent.runtime,
        cpu_time=search.cpu_time + descent.cpu_time,
        statistics=history,
    )
