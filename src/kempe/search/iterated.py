"""Iterated search: descend, mutate the centroids, descend again (Algorithm 1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from kempe.assign import Descent, SteppingDescent
from kempe.assign.empty import fill_empty
from kempe.mutate import Perturbation, Relocation, Relocator, perturb
from kempe.problem import Colours, Problem
from kempe.search.recorder import Recorder
from kempe.search.result import Result, Solution

Mutation: TypeAlias = Literal["perturb", "relocate"]


@dataclass(frozen=True)
class IteratedParams:
    """Schedule of an iterated search.

    Parameters
    ----------
    relocate_every
        Every so many mutations is a relocation, the others are perturbations: 5 is the paper's
        80/20 schedule, 1 relocates always (``KSKM_repo``), 0 never.
    failures_before_return
        After so many mutations in a row without a new best the search goes back to the best
        solution. The paper is silent about it; 1 never goes on from a worse solution.
    perturbation, relocation
        What the mutations do.
    """

    relocate_every: int = 5
    failures_before_return: int = 5
    perturbation: Perturbation = field(default_factory=Perturbation)
    relocation: Relocation = field(default_factory=Relocation)

    def __post_init__(self) -> None:
        if self.relocate_every < 0:
            raise ValueError(f"relocate_every must not be negative, got {self.relocate_every}")
        if self.failures_before_return < 1:
            raise ValueError(
                f"failures_before_return must be at least 1, got {self.failures_before_return}"
            )

    def mutation(self, iteration: int) -> Mutation:
        """Which mutation is due, counted from 1."""
        due = self.relocate_every > 0 and iteration % self.relocate_every == 0
        return "relocate" if due else "perturb"


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
            centroids = perturb(self.problem, colours, self.rng, self.params.perturbation)
            if isinstance(self.descent, SteppingDescent):
                return self.descent.step(self.problem, colours, centroids, self.rng)
        return self.descent.settle(
            self.problem, colours, centroids, self.rng, self.recorder.stopper
        )
