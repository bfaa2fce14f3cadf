"""Keeps the best solution of a running search, its history, and asks the stopping rules."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

import numpy as np

from kempe import _core
from kempe.exceptions import Interrupted, NoSolutionFoundError
from kempe.problem import Problem
from kempe.search.callbacks import CallbackList, Callbacks
from kempe.search.descent import Context
from kempe.search.result import HistoryRow, Result, Solution, Statistics
from kempe.search.stop import (
    AnyOf,
    DiminishingReturns,
    MaxMutations,
    Patience,
    SearchState,
    StoppingRule,
    TargetInertia,
    TimeLimit,
)

_REASONS: dict[type, str] = {
    MaxMutations: "max_mutations",
    Patience: "patience",
    DiminishingReturns: "diminishing_returns",
    TimeLimit: "time_limit",
    TargetInertia: "target_inertia",
}


class Recorder:
    """Every search and every rival reports its solutions here.

    It is a context: leaving it, in whatever way, closes the callbacks.

    Parameters
    ----------
    problem
        The problem that is searched.
    rules
        Stopping rules; the search ends when any of them says so.
    callbacks
        The user's callbacks.

    Attributes
    ----------
    best : Solution or None
        That of lowest objective.
    target : float
        Objective that a rule calls low enough; compiled loops end there at once.
    stopper : _core.Stopper
        The time limit, if any, and Ctrl-C in the form that kernels understand.
    """

    def __init__(
        self,
        problem: Problem,
        rules: Iterable[StoppingRule] = (),
        callbacks: Iterable[Callbacks] = (),
    ) -> None:
        self.problem = problem
        self.best: Solution | None = None
        self._rule = AnyOf(rules)
        self.target = self._rule.target
        self.stopper = _core.Stopper(self._rule.seconds)
        self._callbacks = CallbackList(callbacks)
        self._statistics = Statistics()
        self._iteration = 0
        self._best_iteration = 0
        self._started = time.perf_counter()
        self._cpu_started = _cpu_seconds()
        self._state: SearchState | None = None
        self._ended_by_callback = False
        try:
            self._callbacks.on_start(problem)
        except BaseException:
            self._callbacks.on_close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._callbacks.on_close()

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.perf_counter() - self._started

    @property
    def mutations_left(self) -> int:
        """Mutations until a limit on them strikes; very many if there is none."""
        return max(0, self._rule.mutations - self._iteration)

    def context(self, rng: np.random.Generator) -> Context:
        """Give what descents need: the problem, some randomness, and when to stop."""
        return Context(self.problem, rng, self.stopper)

    def record(self, solution: Solution, kind: str, mutations: int = 1) -> bool:
        """Note a solution that was looked at; return whether it is the best so far.

        Parameters
        ----------
        solution
            What was looked at.
        kind
            Where it came from, for example ``"perturb"``.
        mutations
            How many were made since the last call; the first solution of all is no mutation.
        """
        self._iteration = 0 if self._state is None else self._iteration + mutations
        improved = self.best is None or solution.objective < self.best.objective
        if improved:
            self.best = solution
            self._best_iteration = self._iteration
        self._state = state = self._make_state(solution, kind)
        self._statistics.append(
            HistoryRow(
                self._iteration,
                kind,
                state.inertia,
                state.best_inertia,
                state.elapsed,
                state.objective,
                state.best_objective,
            )
        )
        if self._callbacks.on_iteration(self._state):
            self._ended_by_callback = True
            self.stopper.stop()
        if improved:
            self._callbacks.on_best(self._state)
        return improved

    def should_stop(self) -> bool:
        """Whether a rule, the time limit or Ctrl-C ends the search."""
        if self.stopper.look():
            return True
        return self._state is not None and self._rule(self._state)

    def follow(self, search: Callable[[], str | None], *, keeps_best: bool = True) -> Result:
        """Run a search that reports here, and close it whatever ends it.

        Once there is a solution, neither Ctrl-C nor an assignment that finds none can fail it. A
        second Ctrl-C is raised, wherever the search is.

        Parameters
        ----------
        search
            Does it all. May say why it ended, if no rule did.
        keeps_best
            Whether it keeps its best when an assignment finds none; otherwise it fails then.
        """
        try:
            reason = search() or "converged"
        except KeyboardInterrupt as error:
            if self._is_second(error):
                raise
            reason = "interrupted"
        except NoSolutionFoundError:
            self.stopper.raise_pending()
            lost = self.best is None or not keeps_best
            if lost and not self.stopper.interrupted:
                raise
            reason = "stuck"
        return self.result(reason)

    def _is_second(self, error: BaseException) -> bool:
        """Whether Ctrl-C came again, while the search ended because of the first."""
        if self.stopper.interrupted and not isinstance(error, Interrupted):
            return True
        while error.__context__ is not None:
            error = error.__context__
            if isinstance(error, KeyboardInterrupt):
                return True
        return False

    def result(self, reason: str = "converged") -> Result:
        """Close the search.

        Parameters
        ----------
        reason
            Why it ended, if no rule did.

        Raises
        ------
        Interrupted
            If Ctrl-C came before there was any solution.
        """
        self.stopper.raise_pending()
        if self.best is None:
            if self.stopper.interrupted or reason == "interrupted":
                raise Interrupted
            raise NoSolutionFoundError(
                f"no feasible clustering was found in {self.elapsed:.1f} seconds"
            )
        result = Result(
            solution=self.best,
            n_mutations=self._iteration,
            stop_reason=self._reason(reason),
            runtime=self.elapsed,
            cpu_time=_cpu_seconds() - self._cpu_started,
            n_supernodes=self.problem.n_supernodes,
            n_edges=self.problem.graph.n_edges,
            statistics=self._statistics,
        )
        self._callbacks.on_end(result)
        return result

    def _make_state(self, solution: Solution, kind: str) -> SearchState:
        assert self.best is not None
        return SearchState(
            iteration=self._iteration,
            inertia=solution.inertia,
            best_inertia=self.best.inertia,
            since_best=self._iteration - self._best_iteration,
            elapsed=self.elapsed,
            kind=kind,
            objective=solution.objective,
            best_objective=self.best.objective,
        )

    def _reason(self, otherwise: str) -> str:
        if self.stopper.interrupted or otherwise == "interrupted":
            return "interrupted"
        if self._ended_by_callback:
            return "callback"
        if self._rule.triggered is not None:
            return _REASONS.get(type(self._rule.triggered), "user_rule")
        return "time_limit" if self.stopper.remaining == 0.0 else otherwise


def _cpu_seconds() -> float:
    """Processor time of this process, and of those that it started and that have ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
