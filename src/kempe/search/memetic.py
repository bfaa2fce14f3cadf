"""Memetic search: a small population of good clusterings, recombined and improved in turn.

Recombining matches the centroids of two clusterings and takes each from one or the other (as
HG-means of Gribel and Vidal 2019 does for k-means); improving relocates one centroid at a time and
keeps what lowers the inertia.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

import numpy as np

from kempe.assign import Descent
from kempe.assign.empty import fill_empty
from kempe.assign.exact import ExactDescent
from kempe.assign.sequential import SequentialDescent
from kempe.mutate import Relocation, Relocator, match
from kempe.problem import Colours, Problem
from kempe.search.recorder import Recorder
from kempe.search.result import Result, Solution

# A start gives a proper colouring; the number tells the starts of a search apart.
Start = Callable[[int, np.random.Generator], Colours]

# Relocations between two looks at callbacks and stopping rules.
BATCH = 64


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
        Most mutations of the whole search, in proportion to the number of clusters.
    relocation
        How centroids are relocated.
    """

    population_size: int = 6
    generation_size: int = 2
    relocations_per_cluster: float = 2.0
    extra_relocations: int = 20
    mutations_per_cluster: float = 7.0
    extra_mutations: int = 100
    relocation: Relocation = field(default_factory=Relocation)

    def __post_init__(self) -> None:
        if self.population_size < 2:
            raise ValueError(f"population_size must be at least 2, got {self.population_size}")
        if self.generation_size < 1:
            raise ValueError(f"generation_size must be at least 1, got {self.generation_size}")

    def patience(self, n_clusters: int) -> int:
        """Failed relocations in a row after which a clustering counts as improved."""
        return self.extra_relocations + math.ceil(self.relocations_per_cluster * n_clusters)

    def max_mutations(self, n_clusters: int) -> int:
        """Mutations of the whole search, unless the user says otherwise."""
        return self.extra_mutations + math.ceil(self.mutations_per_cluster * n_clusters)


@dataclass(frozen=True)
class _Step:
    """A solution on the way of one individual, and the mutations since the last."""

    solution: Solution
    kind: str
    mutations: int


def memetic_search(
    problem: Problem,
    start: Start,
    descent: Descent,
    recorder: Recorder,
    rng: np.random.Generator,
    params: MemeticParams = MemeticParams(),  # noqa: B008  (frozen)
    *,
    target: float = -math.inf,
    n_jobs: int = 1,
) -> Result:
    """Improve a population of clusterings until a stopping rule of the recorder ends the search.

    Parameters
    ----------
    problem
        The problem.
    start
        Makes proper colourings for the first generations.
    descent
        How colourings are improved.
    recorder
        Keeps the best and the history, and knows when to stop.
    rng
        Source of all randomness.
    params
        Settings.
    target
        Inertia that is low enough; compiled loops end there at once.
    n_jobs
        Threads.
    """
    search = _MemeticSearch(problem, start, descent, recorder, params, target)
    try:
        search.run(rng, n_jobs)
    except KeyboardInterrupt:
        return recorder.result("interrupted")
    return recorder.result()


@dataclass
class _MemeticSearch:
    problem: Problem
    start: Start
    descent: Descent
    recorder: Recorder
    params: MemeticParams
    target: float

    def __post_init__(self) -> None:
        self._relocate = Relocator(self.problem, self.params.relocation)

    def run(self, rng: np.random.Generator, n_jobs: int) -> None:
        population: list[Solution] = []
        first = 0
        with ThreadPoolExecutor(max(1, n_jobs)) as pool, self._stopping():
            # There is always a first solution, however short the time.
            while self.recorder.best is None or not self.recorder.should_stop():
                # Divided among the individuals, so that they need not know of each other.
                budget = max(1, self.recorder.mutations_left // self.params.generation_size)
                tasks = [
                    self._individual(list(population), first + position, child, budget)
                    for position, child in enumerate(rng.spawn(self.params.generation_size))
                ]
                first += len(tasks)
                for steps in _side_by_side(tasks, pool, n_jobs):
                    newcomer = self._follow(steps)
                    if newcomer is None:
                        return
                    population = self._survivors([*population, newcomer])
                if self._is_exhausted(population, first):
                    return

    def _is_exhausted(self, population: list[Solution], made: int) -> bool:
        """Whether all starts led to one clustering and nothing but recombining would follow."""
        relocates = self.params.patience(self.problem.n_clusters) > 0
        return not relocates and made >= self.params.population_size and len(population) == 1

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """Let no thread go on, and keep the pool waiting, when the search has ended."""
        try:
            yield
        finally:
            self.recorder.stopper.stop()

    def _follow(self, steps: Iterable[_Step]) -> Solution | None:
        """Record the steps of an individual; its best solution, or None if the search ends."""
        best: Solution | None = None
        for step in steps:
            self.recorder.record(step.solution, step.kind, step.mutations)
            if best is None or step.solution.inertia < best.inertia:
                best = step.solution
            if self.recorder.should_stop():
                return None
        return best

    def _individual(
        self, population: list[Solution], number: int, rng: np.random.Generator, budget: int
    ) -> Iterator[_Step]:
        """Make a clustering and improve it, step by step, by at most ``budget`` mutations."""
        descent = self._own_descent()
        if number < self.params.population_size:
            colours, kind = self.start(number, rng), "start"
        else:
            colours, kind = self._recombined(population, rng), "recombine"
        stopper = self.recorder.stopper
        colours = descent.descend(self.problem, colours, rng, stopper)
        yield _Step(self._solution(colours), kind, 1)
        yield from self._improve(descent, colours, rng, budget - 1)

    def _own_descent(self) -> Descent:
        """One that remembers what it tried is not shared, or results would depend on threads."""
        return replace(self.descent) if isinstance(self.descent, ExactDescent) else self.descent

    def _improve(
        self, descent: Descent, colours: Colours, rng: np.random.Generator, budget: int
    ) -> Iterator[_Step]:
        if not isinstance(descent, SequentialDescent):
            yield from self._improve_slowly(descent, colours, rng, budget)
            return
        patience = self.params.patience(self.problem.n_clusters)
        failures = 0
        while failures < patience and budget > 0 and not self.recorder.stopper.stopped:
            colours, tries, failures = descent.relocate(
                self.problem,
                colours,
                tries=min(BATCH, budget),
                patience=patience,
                failures=failures,
                target=self.target,
                rng=rng,
                stopper=self.recorder.stopper,
            )
            if not tries:
                return
            budget -= tries
            yield _Step(self._solution(colours), "relocate", tries)

    def _improve_slowly(
        self, descent: Descent, colours: Colours, rng: np.random.Generator, budget: int
    ) -> Iterator[_Step]:
        """Make the same relocations with any descent."""
        problem, stopper = self.problem, self.recorder.stopper
        current = self._solution(colours)
        patience = self.params.patience(problem.n_clusters)
        failures = 0
        for _ in range(budget):
            if failures >= patience or stopper.stopped:
                return
            centroids = self._relocate(current.colours, rng)
            colours = descent.settle(problem, current.colours, centroids, rng, stopper)
            solution = self._solution(descent.descend(problem, colours, rng, stopper))
            improved = solution.inertia < current.inertia
            failures = 0 if improved else failures + 1
            current = solution if improved else current
            yield _Step(solution, "relocate", 1)

    def _recombined(self, population: list[Solution], rng: np.random.Generator) -> Colours:
        """Settle a parent on centroids of which each comes from it or from another parent."""
        first, second = (self._parent(population, rng) for _ in range(2))
        own, weight = self.problem.means(first.colours)
        other = match(own, weight, self.problem.means(second.colours)[0])
        inherited = rng.random(self.problem.n_clusters) < 0.5
        centroids = np.where(inherited[:, None], other, own)
        return self.descent.settle(
            self.problem, first.colours, centroids, rng, self.recorder.stopper
        )

    @staticmethod
    def _parent(population: list[Solution], rng: np.random.Generator) -> Solution:
        """Draw two and take the better."""
        one, other = (population[int(i)] for i in rng.integers(len(population), size=2))
        return one if one.inertia <= other.inertia else other

    def _survivors(self, population: list[Solution]) -> list[Solution]:
        """Keep the best, each inertia once: equal inertia nearly always means equal clusters."""
        population = sorted(population, key=lambda solution: solution.inertia)
        kept = population[:1]
        for solution in population[1:]:
            if solution.inertia > kept[-1].inertia * (1 + 1e-9):
                kept.append(solution)
        return kept[: self.params.population_size]

    def _solution(self, colours: Colours) -> Solution:
        colours = fill_empty(self.problem, colours)
        return Solution(colours, self.problem.inertia(colours))


def _side_by_side(
    tasks: list[Iterator[_Step]], pool: ThreadPoolExecutor, n_jobs: int
) -> Iterator[Iterable[_Step]]:
    """Run individuals one after the other, or in threads; in the same order either way."""
    if n_jobs == 1:
        yield from tasks
    else:
        yield from [_streamed(task, pool) for task in tasks]


def _streamed(task: Iterator[_Step], pool: ThreadPoolExecutor) -> Iterator[_Step]:
    """Begin a task in a thread at once and pass its steps on as they come."""
    steps: SimpleQueue[_Step | None] = SimpleQueue()

    def work() -> None:
        try:
            for step in task:
                steps.put(step)
        finally:
            steps.put(None)

    future = pool.submit(work)

    def arriving() -> Iterator[_Step]:
        while (step := steps.get()) is not None:
            yield step
        future.result()  # raises what the task raised

    return arriving()
