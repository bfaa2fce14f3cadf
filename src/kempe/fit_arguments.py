"""Arguments that ``fit`` and other calls share: pairs, as one ``Constraints``, and limits."""

from __future__ import annotations

import sys
import warnings
from math import inf
from numbers import Real
from typing import Any

import numpy as np

from kempe.constraints import Constraints
from kempe.pairs import is_missing

NO_CONSTRAINTS = Constraints()
"""Those of every fit without pairs: nobody changes them."""


def as_constraints(
    must_link: object = None,
    cannot_link: object = None,
    constraints: object = None,
    **soft: Any,
) -> Constraints:
    """Combine the arguments of ``fit`` into one ``Constraints``."""
    if any(value is not None for value in soft.values()):
        uncertain = Constraints(**soft)
        given = as_constraints(must_link, cannot_link, constraints)
        return given | uncertain
    for name, value in (("must_link", must_link), ("cannot_link", cannot_link)):
        if isinstance(value, Constraints):
            if constraints is not None and constraints is not value:
                raise ValueError(f"got Constraints twice, as {name} and as constraints")
            constraints = value
            must_link, cannot_link = (
                None if given is value else given for given in (must_link, cannot_link)
            )
    if constraints is None:
        if must_link is None and cannot_link is None:
            return NO_CONSTRAINTS
        return Constraints(must_link, cannot_link)
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be a kempe.Constraints, got {type(constraints).__name__}; "
            "pass pairs as must_link= and cannot_link="
        )
    if must_link is not None or cannot_link is not None:
        raise ValueError("pass either a Constraints object or pairs, not both")
    return constraints


def constraints_of_fit(
    y: object, must_link: object, cannot_link: object, constraints: object, **soft: Any
) -> Constraints:
    """Combine the arguments of ``fit``, and see whether they were meant for this fit.

    Cross-validation fits on some of the rows and passes pairs of row numbers on as they are, or
    takes some of them, too; partial labels are what other semi-supervised estimators take as ``y``.
    """
    given = as_constraints(must_link, cannot_link, constraints, **soft)
    if given.must_link.size or given.cannot_link.size or given.soft.count:
        if given.n_rows is None and _is_on_a_fold():
            raise ValueError(_NOT_ON_FOLDS)
    elif y is not None and _is_partial(y):
        warnings.warn(_Y_IS_IGNORED, stacklevel=4)
    return given


_NOT_ON_FOLDS = (
    "cross-validation fits on some of the rows, where pairs of row numbers would be of other rows. "
    "Hold out pairs instead: fitting, scoring = Constraints(must_link, cannot_link).split(0.2), "
    "then GridSearchCV(..., cv=kempe.selection.AllRows(), scoring=kempe.selection.pair_scorer("
    "scoring)).fit(X, constraints=fitting). To fit on a part of the rows yourself, use "
    "constraints.subset(rows)"
)
_Y_IS_IGNORED = (
    "y is ignored, but it looks like labels that are known for some rows. To cluster by them write "
    "fit(X, constraints=Constraints.from_labels(y)), otherwise leave y out"
)


def _is_on_a_fold() -> bool:
    """Whether scikit-learn's model selection fits on some of the rows, or in another order.

    It says so nowhere but in its own variables.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_globals.get("__name__") == "sklearn.model_selection._validation":
            train, X = frame.f_locals.get("train"), frame.f_locals.get("X")
            if train is not None and X is not None:
                n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
                return not np.array_equal(train, np.arange(n_rows))
    return False


def _is_partial(y: object) -> bool:
    """Whether labels say of some rows, and not of all, that nothing is known."""
    labels = np.asarray(y)
    if labels.ndim != 1 or not labels.size or labels.dtype.kind not in "iufOU":
        return False
    if labels.dtype.kind in "iuf":
        unknown = is_missing(labels) | (labels == -1)
        return bool(unknown.any() and np.unique(labels[~unknown]).size > 1)
    unknown = is_missing(labels)
    return bool(unknown.any() and not unknown.all())


def seconds_of(time_limit: float | None) -> float:
    """Give a limit as a number of seconds, infinite if there is none.

    Parameters
    ----------
    time_limit
        What the user says; a whole number may be larger than any of double precision.
    """
    if time_limit is None:
        return inf
    if not isinstance(time_limit, Real) or not time_limit >= 0:
        raise ValueError(f"time_limit must be a number of seconds, got {time_limit!r}")
    try:
        return float(time_limit)
    except OverflowError:
        return inf
