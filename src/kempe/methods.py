"""Every method by the name that the paper uses for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from kempe.clusterer import ConstrainedClusterer
from kempe.kskm import KSKM
from kempe.memetic import KempeKMeans, MemeticParams
from kempe.model_file import read_model
from kempe.rivals import BLPKMCC, CLCKM, COPKM, COPKM_P, ICOPKM, PCCC, S_MDEClust
from kempe.search.stop import MaxMutations, Patience, TargetInertia, TimeLimit

Factory = Callable[..., ConstrainedClusterer]

_exact = partial(KSKM, exact=True, max_mutations=50)

# Comparisons give every method the same start. Where none is given, each takes that of its own
# publication: rows at random, or k-means++ in PCCC and in the authors' program of COPKM_P.
_REGISTRY: dict[str, Factory] = {
    "kempe": KempeKMeans,
    "KSKM": KSKM,
    "KSKM_repo": partial(KSKM, perturbation=0.0),
    "KSKM_E": _exact,
    "KSKM_E_repo": partial(_exact, perturbation=0.0),
    "PCCC": PCCC,
    "BLPKMCC": BLPKMCC,
    "COPKM_P": partial(COPKM_P, init="k-means++"),
    "COPKM": COPKM,
    "ICOPKM": ICOPKM,
    "CLCKM": CLCKM,
    "S_MDEClust": partial(S_MDEClust, population_size=10),
}

# What a model file may name.
_ESTIMATORS = (KempeKMeans, KSKM, PCCC, BLPKMCC, COPKM_P, COPKM, ICOPKM, CLCKM, S_MDEClust)
_SETTINGS = (MemeticParams, MaxMutations, Patience, TargetInertia, TimeLimit)


def names() -> list[str]:
    """Names that ``create`` knows, in the order in which reports show them."""
    return list(_REGISTRY)


def create(
    name: str, n_clusters: int, random_state: Any = None, **options: Any
) -> ConstrainedClusterer:
    """Make a ready estimator for a method of the paper.

    Parameters
    ----------
    name
        One of ``names()``, for example ``"kempe"`` or ``"KSKM"``.
    n_clusters
        Number of clusters.
    random_state
        Seed of the run.
    **options
        Parameters of the estimator, which override the setting of the paper.

    Examples
    --------
    >>> from kempe import methods
    >>> methods.create("KSKM", n_clusters=3, random_state=0).max_mutations
    200
    """
    try:
        factory = _REGISTRY[name]
    except KeyError:
        raise ValueError(f"unknown method {name!r}; known are {', '.join(_REGISTRY)}") from None
    return factory(n_clusters=n_clusters, random_state=random_state, **options)


def load(path: str | Path) -> ConstrainedClusterer:
    """Read a fitted model that its method ``save`` wrote; nothing in the file is executed.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, from a newer version, or contradicts itself.
    """
    estimators: dict[str, type[ConstrainedClusterer]] = {c.__name__: c for c in _ESTIMATORS}
    return read_model(path, estimators, {setting.__name__: setting for setting in _SETTINGS})
