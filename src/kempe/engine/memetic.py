"""Memetic search: a small population of good clusterings, recombined and improved in turn.

Recombining matches the centroids of two clusterings and takes each from one or the other (as
HG-means of Gribel and Vidal 2019 does for k-means); improving relocates one centroid at a time and
keeps what lowers the inertia.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from kempe import _core
from kempe.engine.climb import Climb
from kempe.engine.enumeration import best_of_all
from kempe.engine.glass import annealed, is_glassy
from kempe.engine.params import MemeticParams, SearchPlan
from kempe.engine.pricing import Priced
from kempe.engine.sequential import SequentialDescent
from kempe.engine.sketch import Sketch
from kempe.engine.start import Starts
from kempe.exceptions import NoSolutionFoundError
from kempe.problem import Colours, Problem
from kempe.search.descent import Budget, Context
from kempe.search.empty import full_solution
from kempe.search.matching import match
from kempe.search.recorder import Recorder
from kempe.search.result import Result, Solution
from kempe.search.seeding import Init

# Where a problem is glassy, so many generations are annealed.
ANNEALED_GENERATIONS = 2

# Starts in a sketch cost little, so the best of so many is improved.
SKETCHED_STARTS = 6

# At most so many generators are seeded before they are needed.
SEEDED_TOGETHER = 8

# Relative difference of the objective up to which two clusterings are taken for the same.
SAME = 1e-9


class _Milestone(NamedTuple):
    """A solution on the way of one individual, and the mutations since the last."""

    solution: Solution
    kind: str
    mutations: int


def memetic_search(
    problem: Problem,
    recorder: Recorder,
    rng: np.random.Generator,
    params: MemeticParams = MemeticParams(),  # noqa: B008  (frozen)
    *,
    init: Init = "k-means++",
    plan: SearchPlan | None = None,
    n_jobs: int | None = None,
    settle_prices: Callable[[Context, Colours], Priced] | None = None,
) -> Result:
    """Improve a population of clusterings until a stopping rule of the recorder ends the search.

    Parameters
    ----------
    recorder
        Keeps the best and the history, and knows when to stop.
    rng
        Source of all randomness.
    params
        Settings.
    init
        Starting centroids of the first clustering, or how all are drawn.
    plan
        How to search this problem, for instance with another descent; by default what the
        settings plan for it.
    n_jobs
        Threads; by default as many as the kernels of the problem have.
    settle_prices
        Finds the prices of soft pairs, from a first clustering without them.
    """
    plan = params.plan(problem) if plan is None else plan

    def search() -> str | None:
        context = recorder.context(rng)
        # A single descent would not earn back what a sketch costs.
        sketches = plan.sketches and recorder.mutations_left > 0
        starts = Starts.prepared(context, plan, init, SKETCHED_STARTS if sketches else 1)
        if settle_prices is not None:
            priced = settle_prices(context, starts.make(context, 0))
            recorder.problem = priced.problem
            context = recorder.context(rng)
            starts = replace(
                starts,
                init=priced.problem.labels(priced.colours),
                climb=Climb.to(priced.problem, problem),
            )
        if plan.enumerates:
            return _enumerate(starts, plan, recorder, context)
        sketch = Sketch.draw(recorder.problem, rng, recorder.stopper) if sketches else None
        _MemeticSearch(starts, plan, recorder, sketch).run(rng, n_jobs or problem.n_threads)
        return None

    return recorder.follow(search)


def _enumerate(
    starts: Starts, plan: SearchPlan, recorder: Recorder, context: Context
) -> str | None:
    """Descend once, then look at all clusterings, unless one descent was all that is wanted."""
    colours = plan.descent.descend(context, starts.make(context, 0))
    start = full_solution(context.problem, colours)
    recorder.record(start, "start")
    if recorder.should_stop():
        return None
    best, complete = best_of_all(context, start)
    recorder.record(best, "enumerate")
    return "optimal" if complete else None


@dataclass
class Agreement:
    """Counts the clusterings that came down to the lowest objective so far, each by its own way.

    Attributes
    ----------
    needed
        How many end the search; 0: none do.
    """

    needed: int
    lowest: float = math.inf
    count: int = 0

    def reached_by(self, newcomers: Iterable[Solution]) -> bool:
        """Count newcomers; whether there are enough that agree."""
        for solution in newcomers:
            if solution.objective < self.lowest * (1 - SAME):
                self.lowest, self.count = solution.objective, 1
            elif solution.objective <= self.lowest * (1 + SAME):
                self.count += 1
        return 0 < self.needed <= self.count


@dataclass
class _MemeticSearch:
    starts: Starts
    plan: SearchPlan
    recorder: Recorder
    sketch: Sketch | None = None  # where clusterings are made and improved, if there is one

    def __post_init__(self) -> None:
        # A descent has working memory for one problem.
        self._last_descent = SequentialDescent()

    def run(self, rng: np.random.Generator, n_jobs: int) -> None:
        population: list[Solution] = []
        agreement = Agreement(self.plan.agreement)
        first = 0
        core = self.recorder.problem.core
        children = self._children(rng)
        with _threads(n_jobs) as pool, self._stopping():
            # There is always a first solution, however short the time.
            while self.recorder.best is None or not self.recorder.should_stop():
                rngs = list(islice(children, self._generation_size))
                tasks = self._generation(population, first, rngs)
                first += len(rngs)
                newcomers = self._newcomers(_side_by_side(tasks, pool, core))
                if newcomers is None:
                    return
                if first == self.plan.generation_size and self._is_glassy(newcomers):
                    newcomers += self._annealed_generations(newcomers, children, pool)
                self._judge_sketch(newcomers)
                population = self._survivors([*population, *newcomers])
                if self._is_exhausted(population, first) or agreement.reached_by(newcomers):
                    return

    def _children(self, rng: np.random.Generator) -> Iterator[np.random.Generator]:
        """Give randomness to one individual after the other.

        So many as must agree are needed in any case, and are seeded quicker together.
        """
        together = max(self._generation_size, min(self.plan.agreement, SEEDED_TOGETHER))
        while True:
            yield from rng.spawn(together)

    @property
    def _generation_size(self) -> int:
        """Individuals made at a time, which are no more than there are mutations for.

        The first clustering of all is no mutation.
        """
        left = self.recorder.mutations_left + (self.recorder.best is None)
        return min(self.plan.generation_size, left)

    def _generation(
        self, population: list[Solution], first: int, rngs: list[np.random.Generator]
    ) -> list[Iterator[_Milestone]]:
        """Begin individuals, one for each source of randomness."""
        # Divided among the individuals, so that they need not know of each other.
        budget = max(1, self.recorder.mutations_left // len(rngs))
        return [
            self._individual(self.recorder.context(rng), list(population), first + position, budget)
            for position, rng in enumerate(rngs)
        ]

    def _is_glassy(self, newcomers: list[Solution]) -> bool:
        return self.plan.anneals_glass and is_glassy(self.recorder.problem, newcomers)

    def _annealed_generations(
        self,
        known: list[Solution],
        children: Iterator[np.random.Generator],
        pool: ThreadPoolExecutor | None,
    ) -> list[Solution]:
        """Make clusterings by annealing, each from centroids of its own."""
        made: list[Solution] = []
        otherwise = min(known, key=lambda solution: solution.objective).colours
        for _ in range(ANNEALED_GENERATIONS):
            rngs = list(islice(children, self.plan.generation_size))
            left = rngs[: self.recorder.mutations_left]
            tasks = [self._annealed(self.recorder.context(rng), otherwise) for rng in left]
            made += self._newcomers(_side_by_side(tasks, pool, self.recorder.problem.core)) or []
            if self.recorder.should_stop():
                break
        return made

    def _annealed(self, context: Context, otherwise: Colours) -> Iterator[_Milestone]:
        colours = annealed(context, otherwise)
        colours = self.plan.descent.descend(context, colours)
        yield _Milestone(full_solution(context.problem, colours), "anneal", 1)

    def _newcomers(self, individuals: Iterable[Iterable[_Milestone]]) -> list[Solution] | None:
        """Follow individuals to their ends; ``None`` if the search ends before.

        A start that finds no clustering fails the search only if no other found one.
        """
        newcomers: list[Solution] = []
        failure: NoSolutionFoundError | None = None
        for steps in individuals:
            try:
                newcomer = self._follow(steps)
            except NoSolutionFoundError as error:
                failure = failure or error
                continue
            if newcomer is None:
                return None
            newcomers.append(newcomer)
        if failure is not None and self.recorder.best is None:
            raise failure
        return newcomers

    def _is_exhausted(self, population: list[Solution], made: int) -> bool:
        """Whether all starts led to one clustering and nothing but recombining would follow."""
        all_started = made >= self.plan.population_size
        return self.plan.most_failures == 0 and all_started and len(population) == 1

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """Let no thread go on, and keep the pool waiting, when the search has ended."""
        try:
            yield
        finally:
            self.recorder.stopper.stop()

    def _follow(self, steps: Iterable[_Milestone]) -> Solution | None:
        """Record the steps of an individual; its best solution, or None if the search ends."""
        best: Solution | None = None
        for step in steps:
            self.recorder.record(step.solution, step.kind, step.mutations)
            if best is None or step.solution.objective < best.objective:
                best = step.solution
            if self.recorder.should_stop():
                return None
        return best

    def _individual(
        self, context: Context, population: list[Solution], number: int, mutations: int
    ) -> Iterator[_Milestone]:
        """Make a clustering and improve it, step by step, by at most so many mutations."""
        descent, sketch = self.plan.descent.for_thread(), self.sketch
        rough = context if sketch is None else replace(context, problem=sketch.rough)
        if number < self.plan.population_size:
            where = context if self.starts.needs_rows(number) else rough
            colours, kind = self.starts.make(where, number), "start"
        else:
            colours, kind = self._recombined(rough, population), "recombine"
        colours = descent.descend(rough, colours)
        solution = self._finished(context, colours)
        yield _Milestone(solution, kind, 1)
        if sketch is not None and self.starts.has_rival(number) and mutations > 1:
            mutations -= 1
            rival = descent.descend(rough, self.starts.rival(rough))
            finished = self._finished(context, rival)
            yield _Milestone(finished, "start", 1)
            if finished.objective < solution.objective:
                solution, colours = finished, rival
        if sketch is not None and not sketch.is_faithful(solution.colours):
            descent, rough, colours = self._last_descent, context, solution.colours
        # Costs in a sketch are lower, and no target is meant for them.
        target = self.recorder.target if rough is context else -math.inf
        budget = Budget(mutations - 1, self.plan.most_failures, target)
        for improved, tries in descent.improve(rough, colours, budget):
            yield _Milestone(self._finished(context, improved), "relocate", tries)

    def _finished(self, context: Context, colours: Colours) -> Solution:
        """Go on from a local optimum of the sketch, if there is one, to one of the problem."""
        if self.sketch is not None:
            colours = self._last_descent.descend(context, colours)
        return full_solution(context.problem, colours)

    def _judge_sketch(self, newcomers: list[Solution]) -> None:
        """Give up a sketch that does not hold what tells clusters apart."""
        if self.sketch is None or all(self.sketch.is_faithful(one.colours) for one in newcomers):
            return
        self.sketch = None
        self.starts = replace(self.starts, draws=1)

    def _recombined(self, context: Context, population: list[Solution]) -> Colours:
        """Settle a parent on centroids of which each comes from it or from another parent."""
        problem, rng = context.problem, context.rng
        first, second = self._parents(population, rng)
        own, weight = problem.means(first.colours)
        other = own if second is first else match(own, weight, problem.means(second.colours)[0])
        inherited = rng.random(problem.n_clusters) < 0.5
        centroids = np.where(inherited[:, None], other, own)
        return self.plan.descent.settle(context, first.colours, centroids)

    @staticmethod
    def _parents(population: list[Solution], rng: np.random.Generator) -> tuple[Solution, Solution]:
        """Draw two for each parent and take the better."""
        a, b, c, d = (population[i] for i in rng.integers(len(population), size=4).tolist())
        return a if a.objective <= b.objective else b, c if c.objective <= d.objective else d

    def _survivors(self, population: list[Solution]) -> list[Solution]:
        """Keep the best, each objective once: equal ones nearly always mean equal clusters."""
        population = sorted(population, key=lambda solution: solution.objective)
        kept = population[:1]
        for solution in population[1:]:
            if solution.objective > kept[-1].objective * (1 + SAME):
                kept.append(solution)
        return kept[: self.plan.population_size]


def _threads(n_jobs: int) -> AbstractContextManager[ThreadPoolExecutor | None]:
    """Threads for individuals, unless these are made one after the other."""
    return nullcontext() if n_jobs == 1 else ThreadPoolExecutor(max(1, n_jobs))


def _side_by_side(
    tasks: list[Iterator[_Milestone]], pool: ThreadPoolExecutor | None, core: _core.Instance
) -> Iterator[Iterable[_Milestone]]:
    """Run individuals one after the other, or in threads; in the same order either way."""
    if pool is None:
        yield from tasks
    else:
        yield from [_streamed(task, pool, core) for task in tasks]


def _streamed(
    task: Iterator[_Milestone], pool: ThreadPoolExecutor, core: _core.Instance
) -> Iterator[_Milestone]:
    """Begin a task in a thread at once and pass its steps on as they come."""
    steps: SimpleQueue[_Milestone | None] = SimpleQueue()

    def work() -> None:
        core.enter()
        try:
            for step in task:
                steps.put(step)
        finally:
            core.leave()
            steps.put(None)

    future = pool.submit(work)

    def arriving() -> Iterator[_Milestone]:
        while (step := steps.get()) is not None:
            yield step
        future.result()  # raises what the task raised

    return arriving()
