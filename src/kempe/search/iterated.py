"""Iterated search: descend, mutate the centroids, descend again (Algorithm 1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from kempe.assign import Descent, SteppingDescent
from kempe.assign.empty import fill_empty
from kempe.mutate import Relocation, Relocator, perturb
from kempe.problem import Colours, Problem
from kempe.search.recorder import Recorder
from kempe.search.result import Result, Solution

Mutation: TypeAlias = Literal["perturb", "relocate"]


@dataclass(frozen=True)
class IteratedParams:
    """Schedule of an iterated search.

    Parameters
    ----------
    perturbed
        Share of the mutations that perturb, evenly spaced; the others relocate. 0.8 is the paper's
        schedule, in which every fifth relocates; 0 relocates always (``KSKM_repo``), 1 never.
    failures_before_return
        After so many mutations in a row without a new best the search goes back to the best
        solution. The paper is silent about it; 1 never goes on from a worse solution.
    relocation
        How centroids are relocated.
    """

    perturbed: float = 0.8
    failures_before_return: int = 5
    relocation: Relocation = field(default_factory=Relocation)

    def __post_init__(self) -> None:
        if not 0 <= self.perturbed <= 1:
            raise ValueError(f"perturbed must lie in [0, 1], got {self.perturbed}")
        if self.failures_before_return < 1:
            raise ValueError(
                f"failures_before_return must be at least 1, got {self.failures_before_return}"
            )

    def mutation(self, iteration: int) -> Mutation:
        """Which mutation is due, counted from 1."""
        relocations, before = (self._relocations(i) for i in (iteration, iteration - 1))
        return "relocate" if relocations > before else "perturb"

    def _relocations(self, iteration: int) -> int:
        """How many of the first mutations relocate; a hair more, for 5 * (1 - 0.8) is below 1."""
        return int(iteration * (1 - self.perturbed) + 1e-9)


def iterated_search(
    problem: Problem,
    start: Colours,
    descent: Descent,
    recorder: Recorder,
    rng: np.random.Generator,
    params: IteratedParams = IteratedParams(),  # noqa: B008  (frozen)
) -> Result:
    """Improve a clustering until a stopping rule of the recorder ends the search.

    Parameters
    ----------
    problem
        The problem.
    start
        A proper colouring to begin with.
    descent
        How colourings are improved. If it has a single ``step``, perturbation is followed by just
        one, as in Algorithm 3 of the paper; otherwise it settles.
    recorder
        Keeps the best and the history, and knows when to stop. Without any rule the search runs
        until Ctrl-C.
    rng
        Source of all randomness.
    params
        Schedule and mutations.

    Returns
    -------
    Result
        The best clustering found. Ctrl-C ends the search and returns it, too.
    """
    search = _IteratedSearch(problem, descent, recorder, rng, params)
    try:
        search.run(start)
    except KeyboardInterrupt:
        if recorder.best is None:
            recorder.record(search.solution(start), "start")
        return recorder.result("interrupted")
    return recorder.result()


@dataclass
class _IteratedSearch:
    problem: Problem
    descent: Descent
    recorder: Recorder
    rng: np.random.Generator
    params: IteratedParams

    def __post_init__(self) -> None:
        self._relocate = Relocator(self.problem, self.params.relocation)

    def run(self, start: Colours) -> None:
        current = self._descended(start)
        self.recorder.record(current, "start")
        failures = 0
        iteration = 0
        while not self.recorder.should_stop():
            iteration += 1
            kind = self.params.mutation(iteration)
            current = self._descended(self._mutated(current.colours, kind))
            failures = 0 if self.recorder.record(current, kind) else failures + 1
            if failures >= self.params.failures_before_return:
                failures = 0
                assert self.recorder.best is not None
                current = self.recorder.best

    def solution(self, colours: Colours) -> Solution:
        colours = fill_empty(self.problem, colours)
        return Solution(colours, self.problem.inertia(colours))

    def _descended(self, colours: Colours) -> Solution:
        return self.solution(
            self.descent.descend(self.problem, colours, self.rng, self.recorder.stopper)
        )

    def _mutated(self, colours: Colours, kind: Mutation) -> Colours:
        """Colours after KSPerturb or KSShift (Algorithms 3 and 4)."""
        if kind == "relocate":
            centroids = self._relocate(colours, self.rng)
        else:
            centroids = perturb(self.problem, colours, self.rng)
            if isinstance(self.descent, SteppingDescent):
                return self.descent.step(self.problem, colours, centroids, self.rng)
        return self.descent.settle(
            self.problem, colours, centroids, self.rng, self.recorder.stopper
        )
