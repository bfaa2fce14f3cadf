"""What all searches share: descents, stopping rules, callbacks, the recorder, results."""

from kempe.search.callbacks import Callbacks
from kempe.search.descent import Budget, Context, Descent, Improvement
from kempe.search.recorder import Recorder
from kempe.search.result import Result, Solution, Statistics
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

__all__ = [
    "AnyOf",
    "Budget",
    "Callbacks",
    "Context",
    "Descent",
    "DiminishingReturns",
    "Improvement",
    "MaxMutations",
    "Patience",
    "Recorder",
    "Result",
    "SearchState",
    "Solution",
    "Statistics",
    "StoppingRule",
    "TargetInertia",
    "TimeLimit",
]
