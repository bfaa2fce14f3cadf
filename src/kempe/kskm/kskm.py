"""KSKM, Algorithm 1 of the paper: descend, mutate the centroids, descend again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from kempe.exceptions import NoSolutionFoundError
from kempe.kskm.assignment import SimultaneousDescent
from kempe.kskm.exact import ExactDescent, ExactParams, exact_start
from kempe.kskm.mwis import Method
from kempe.kskm.perturb import perturb, perturb_independently
from kempe.kskm.shift import Relocation, RelocationKind, Relocator
from kempe.problem import Centroids, Colours, Problem
from kempe.search.descent import Context, Descent
from kempe.search.empty import full_solution
from kempe.search.first_colouring import starting_solution
from kempe.search.recorder import Recorder
from kempe.search.result import Result, Solution
from kempe.search.seeding import Init, starting_centroids

Mutation: TypeAlias = Literal["perturb", "relocate"]
Following: TypeAlias = Literal["step", "settle"]
FOLLOWINGS: tuple[str, ...] = get_args(Following)
Habits: TypeAlias = Literal["text", "program"]
HABITS: tuple[str, ...] = get_args(Habits)


@dataclass(frozen=True)
class Schedule:
    """Which mutation is due, and when to go back to the best solution.

    Parameters
    ----------
    perturbation
        Share of the mutations that perturb, evenly spaced; the others relocate. 0.8 is the paper's
        schedule, in which every fifth relocates; 0 relocates always (``KSKM_repo``), 1 never.
    failures_before_return
        After so many mutations in a row without a new best the search goes back to the best
        solution. The paper is silent about it; 1 never goes on from a worse solution.
    after_perturbation
        How the clustering follows perturbed centroids: by one ``"step"`` of the descent, as in
        Algorithm 3, or to its end, ``"settle"``, as in the authors' program.
    relocate_first
        Whether a round of mutations begins with its relocation instead of ending with it.
    keep_returning
        Whether the search, once it went back to the best, starts from it again and again until
        there is a new best, instead of counting failures anew.
    independent
        Whether coordinates are perturbed one by one, see ``perturb_independently``.
    """

    perturbation: float = 0.8
    failures_before_return: int = 5
    after_perturbation: Following = "step"
    relocate_first: bool = False
    keep_returning: bool = False
    independent: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.perturbation <= 1:
            raise ValueError(f"perturbation must lie in [0, 1], got {self.perturbation}")
        if self.failures_before_return < 1:
            raise ValueError(
                f"failures_before_return must be at least 1, got {self.failures_before_return}"
            )
        if self.after_perturbation not in FOLLOWINGS:
            raise ValueError(
                f"after_perturbation must be one of {FOLLOWINGS}, got {self.after_perturbation!r}"
            )

    def mutation(self, iteration: int) -> Mutation:
        """Which mutation is due, counted from 1.

        Parameters
        ----------
        iteration
            The number of the mutation.
        """
        relocations, before = (self._relocations(i) for i in (iteration, iteration - 1))
        return "relocate" if relocations > before else "perturb"

    def _relocations(self, iteration: int) -> int:
        """How many of the first mutations relocate; a hair more, for 5 * (1 - 0.8) is below 1."""
        share = iteration * (1 - self.perturbation)
        return math.ceil(share - 1e-9) if self.relocate_first else int(share + 1e-9)


@dataclass(frozen=True)
class KSKMParams:
    """Settings of the paper's search.

    Parameters
    ----------
    mwis
        How compatible swaps are chosen (appendix A.1).
    three_colour
        Whether three-colour chains follow once two-colour swaps are exhausted (appendix A.2).
    relocation, alpha
        Where relocated centroids go, and how far (Algorithm 4).
    perturbation, failures_before_return, after_perturbation
        See ``Schedule``.
    habits
        ``"program"``: where no other parameter says so, do as the authors' program does, which
        made the tables of the paper: the first mutation relocates (not with ``exact``); once back
        at the best, mutations keep starting from it; coordinates are perturbed one by one; empty
        clusters take supernodes at random; for ``exact`` see ``ExactDescent``.
    exact
        How exact assignments refine each local optimum (appendix A.3, KSKM_E); ``None``: not at
        all.
    """

    mwis: Method = "greedy"
    three_colour: bool = False
    relocation: RelocationKind = "replace"
    alpha: float = 1.0
    perturbation: float = 0.8
    failures_before_return: int = 5
    after_perturbation: Following = "step"
    habits: Habits = "text"
    exact: ExactParams | None = None

    def descent(self) -> Descent:
        """Give the way down that the settings ask for."""
        swaps = SimultaneousDescent(
            mwis=self.mwis,
            three_colour=self.three_colour,
            fill="random" if self.as_program else "costliest",
        )
        if self.exact is None:
            return swaps
        return ExactDescent(
            swaps,
            solver=self.exact.solver,
            effort=math.inf if self.exact.effort is None else self.exact.effort,
            annealing=self.exact.annealing,
            nonempty=self.exact.nonempty,
            as_program=self.as_program,
        )

    @property
    def as_program(self) -> bool:
        """Whether to do as the authors' program does."""
        return self.habits == "program"

    def schedule(self, problem: Problem) -> Schedule:
        """Give the schedule; where exact assignment would undo every perturbation, relocate."""
        schedule = Schedule(
            self.perturbation,
            self.failures_before_return,
            self.after_perturbation,
            relocate_first=self.as_program and self.exact is None,
            keep_returning=self.as_program,
            independent=self.as_program,
        )
        asked = self.exact is not None and self.exact.relocate_if_tight
        undone = asked and problem.graph.is_tight(problem.n_clusters)
        return replace(schedule, perturbation=0.0) if undone else schedule


def kskm_search(
    problem: Problem,
    recorder: Recorder,
    rng: np.random.Generator,
    params: KSKMParams = KSKMParams(),  # noqa: B008  (frozen)
    *,
    init: Init = "k-means++",
) -> Result:
    """Search as the paper does, from starting centroids to the best clustering found.

    Parameters
    ----------
    params
        Settings.
    recorder
        Keeps the best and the history, and knows when to stop. Without any rule the search runs
        until Ctrl-C.
    rng
        Source of all randomness.
    init
        Starting centroids, or how they are drawn.
    """
    descent = params.descent()
    context = recorder.context(rng)

    def search() -> None:
        centroids = starting_centroids(problem, init, rng, recorder.stopper)
        start = first_clustering(context, centroids, descent, params)
        relocator = Relocator(problem, Relocation(params.relocation, params.alpha))
        iterate(context, start, descent, recorder, params.schedule(problem), relocator)

    return recorder.follow(search)


def first_clustering(
    context: Context, centroids: Centroids, descent: Descent, params: KSKMParams
) -> Colours:
    """Start by DSATURAssignment (Algorithm 5), or by exact assignment where that finds nothing."""
    searching = params.exact is not None and params.exact.tabu_start
    try:
        return starting_solution(context, centroids, descent, exhaustive=searching)
    except NoSolutionFoundError:
        if params.exact is None or searching:
            raise
    return exact_start(context, centroids, params.exact.solver)


def iterate(
    context: Context,
    start: Colours,
    descent: Descent,
    recorder: Recorder,
    schedule: Schedule,
    relocator: Relocator,
) -> None:
    """Run the two loops of Algorithm 1 with any descent, until the recorder says stop.

    Perturbation is followed by one step of the descent, as in Algorithm 3, unless the schedule says
    otherwise; relocation by settling, as in Algorithm 4.

    Parameters
    ----------
    start
        Cluster of each supernode to begin with.
    descent
        How clusterings are improved.
    schedule
        Which mutation comes when.
    relocator
        Relocates centroids.
    """
    problem, rng = context.problem, context.rng

    def descended(colours: Colours) -> Solution:
        return full_solution(problem, descent.descend(context, colours))

    def mutated(colours: Colours, kind: Mutation) -> Colours:
        if kind == "relocate":
            settled = descent.settle(context, colours, relocator(colours, rng))
            revived = relocator.revived(settled, rng)
            return settled if revived is None else descent.step(context, settled, revived)
        follow = descent.step if schedule.after_perturbation == "step" else descent.settle
        moved = perturb_independently if schedule.independent else perturb
        return follow(context, colours, moved(problem, colours, rng))

    current = descended(start)
    recorder.record(current, "start")
    iteration = failures = 0
    while not recorder.should_stop():
        iteration += 1
        kind = schedule.mutation(iteration)
        current = descended(mutated(current.colours, kind))
        failures = 0 if recorder.record(current, kind) else failures + 1
        if failures >= schedule.failures_before_return:
            failures = failures if schedule.keep_returning else 0
            assert recorder.best is not None
            current = recorder.best
