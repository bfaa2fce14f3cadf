"""What clusterers share that search until a stopping rule says so."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from kempe.clusterer import ConstrainedClusterer
from kempe.exceptions import Interrupted, NoSolutionFoundError
from kempe.problem import Problem
from kempe.search.recorder import Recorder
from kempe.search.result import Result
from kempe.search.stop import MaxMutations, Patience, StoppingRule, TargetInertia

Search: TypeAlias = Callable[[Problem, Recorder, np.random.Generator], Result]


class SearchingClusterer(ConstrainedClusterer):
    """Base class of the clusterers that search until a stopping rule says so.

    A subclass has at least the parameters below and implements ``_searcher``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConstrainedClusterer._parameter_constraints,
        "n_init": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_mutations": [Interval(Integral, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "target_inertia": [Real, None],
        "stop": [callable, None],
    }

    # After these no further search is begun.
    _ends_all: ClassVar = (
        "interrupted",
        "callback",
        "optimal",
        "target_inertia",
        "time_limit",
        "user_rule",
    )

    n_init: int | Literal["auto"]
    max_mutations: int | None
    patience: int | None
    target_inertia: float | None
    stop: StoppingRule | None

    @abstractmethod
    def _searcher(self) -> Search:
        """Give what searches once, with the settings of this estimator."""

    @abstractmethod
    def _mutations(self, problem: Problem) -> int:
        """Give the number of mutations after which a search ends."""

    @property
    def _n_searches(self) -> int:
        """Number of searches; as many as are usual if it is left to us, as for ``KMeans``."""
        return 1 if self.n_init == "auto" else self.n_init

    def _solve(self, problem: Problem, search: Search | None = None) -> Result:
        """Search ``n_init`` times; a search that finds nothing fails only if all do.

        Parameters
        ----------
        search
            Searches once; by default what ``_searcher`` gives.
        """
        search = self._searcher() if search is None else search
        best: Result | None = None
        failure: Exception | None = None
        for rng in self._generators(self._n_searches):
            try:
                with self._recorder(problem, self._rules(problem)) as recorder:
                    result = search(problem, recorder, rng)
            except NoSolutionFoundError as error:
                failure = failure or error
            except Interrupted:
                if best is None:
                    raise
                best = replace(best, stop_reason="interrupted")
                break
            else:
                best = result if best is None or result.objective < best.objective else best
                if result.stop_reason in self._ends_all:
                    best = replace(best, stop_reason=result.stop_reason)
                    break
            if self._seconds_left <= 0:
                break
        if best is None:
            assert failure is not None
            raise failure
        return best

    def _rules(self, problem: Problem) -> list[StoppingRule]:
        rules: list[StoppingRule] = [MaxMutations(self._mutations(problem))]
        if self.patience is not None:
            rules.append(Patience(self.patience))
        if self.target_inertia is not None:
            rules.append(TargetInertia(self.target_inertia))
        return rules if self.stop is None else [*rules, self.stop]
