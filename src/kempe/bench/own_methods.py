"""Methods of one's own: found by their name, made, and fitted as far as they understand."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import inspect
import os
import pickle
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from kempe.constraints import Constraints


def is_own(name: str) -> bool:
    """Whether a name is that of a module and a class in it."""
    return ":" in name


def folder_of_own(names: Iterable[str]) -> str | None:
    """Give the current folder if a method is named that may be in it.

    Nothing else is ever looked up there: a file that happens to lie in the current folder and has
    the name of a module must not be executed.
    """
    return os.getcwd() if any(map(is_own, names)) else None


def look_in(folder: str | None) -> None:
    """Let this process import from a folder, after all other places, so that it hides nothing."""
    if folder is not None and folder not in sys.path:
        sys.path.append(folder)


def check_module(name: str) -> None:
    """Refuse a method whose module is nowhere, without executing anything."""
    module, _, attribute = name.partition(":")
    top = module.split(".")[0]
    if not top.isidentifier() or not attribute:
        raise ValueError(f"{name!r} is no method; one of your own is named module:Class")
    here = importlib.machinery.PathFinder.find_spec(top, [os.getcwd()])
    if here is None and importlib.util.find_spec(top) is None:
        raise ValueError(
            f"there is no module {top!r} for the method {name!r}, neither where Python looks nor "
            f"in the current folder {os.getcwd()}"
        )


def find(name: str) -> Any:
    """Import the class that a name stands for."""
    module_name, _, attribute = name.partition(":")
    module = importlib.import_module(module_name)
    if not hasattr(module, attribute):
        raise AttributeError(f"{module.__file__} has no {attribute!r}")
    return getattr(module, attribute)


def packed(method: Any) -> bytes:
    """Give a class or an estimator as bytes, also one that was written in a script or notebook."""
    try:
        import cloudpickle
    except ImportError:  # joblib brings it along, the older ones inside
        from joblib.externals import cloudpickle

    return bytes(cloudpickle.dumps(method))


def unpacked(content: bytes) -> Any:
    """Give back what ``packed`` was given."""
    return pickle.loads(content)


def name_of(method: Any) -> str:
    """Name a class by itself, and an estimator by its class and parameters."""
    if isinstance(method, type):
        return method.__name__
    if hasattr(method, "get_params"):
        return " ".join(repr(method).split())
    return type(method).__name__


def make(method: Any, offered: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    """Make an estimator.

    Parameters
    ----------
    method
        A class, a function that makes an estimator, or an estimator, which is copied.
    offered
        Parameters that it gets if it knows them.
    options
        Parameters that it gets in any case.
    """
    if isinstance(method, type) or inspect.isroutine(method):
        known = _understood(method, offered)
        if "n_clusters" in offered and "n_clusters" not in known:
            raise TypeError(f"{name_of(method)} has no parameter n_clusters")
        return method(**known, **options)
    if hasattr(method, "get_params"):
        from sklearn.base import clone

        made = clone(method)
        known = {name: offered[name] for name in made.get_params() if name in offered}
        return made.set_params(**known, **options)
    made = copy.deepcopy(method)
    for name, value in {**offered, **options}.items():
        if hasattr(made, name) or name in options:
            setattr(made, name, value)
    return made


def fit(model: Any, X: Any, constraints: Constraints) -> None:
    """Fit with the constraints in the form that a method understands.

    One that understands none gets the rows alone; what it finds is judged like all others.
    """
    if _understood(model.fit, {"constraints": constraints}):
        model.fit(X, constraints=constraints)
        return
    pairs = {"must_link": constraints.must_link, "cannot_link": constraints.cannot_link}
    model.fit(X, **_understood(model.fit, pairs))


def _understood(function: Any, offered: Mapping[str, Any]) -> dict[str, Any]:
    """Give those arguments that a function takes by name."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return dict(offered)
    names = {p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY}
    return {name: value for name, value in offered.items() if name in names}
