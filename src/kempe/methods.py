"""Every method by the name that the paper uses for it.

A name of the paper is what its tables come from: its experiments as run. Where the text says
something else, the name with ``_text`` is the text.
"""

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

# The text of the paper, whose exact assignment has none of our aids.
_text = KSKM
_exact_text = partial(
    KSKM,
    exact=True,
    max_mutations=50,
    effort=None,
    annealing=False,
    relocate_if_tight=False,
    tabu_start=False,
    nonempty=True,
)

# What the authors' program does otherwise. It relocates every third time, with exact assignment
# every fifth.
_AS_RUN: dict[str, Any] = {
    "relocation": "coincide",
    "after_perturbation": "settle",
    "failures_before_return": 6,
    "patience": 11,
}
_run = partial(_text, perturbation=2 / 3, **_AS_RUN)
_exact_run = partial(_exact_text, nonempty=False, **_AS_RUN)

# Comparisons give the same start to every method that takes one. Otherwise each has that of its own
# publication: rows at random, or k-means++ in PCCC and in the authors' program of COPKM_P.
_REGISTRY: dict[str, Factory] = {
    "kempe": KempeKMeans,
    "KSKM": _run,
    "KSKM_repo": partial(_run, perturbation=0.0),
    "KSKM_E": _exact_run,
    "KSKM_E_repo": partial(_exact_run, perturbation=0.0),
    "KSKM_text": _text,
    "KSKM_repo_text": partial(_text, perturbation=0.0),
    "KSKM_E_text": _exact_text,
    "KSKM_E_repo_text": partial(_exact_text, perturbation=0.0),
    "PCCC": PCCC,
    "BLPKMCC": partial(BLPKMCC, metric="euclidean"),
    "BLPKMCC_sq": BLPKMCC,
    "IPC_KMeans": partial(BLPKMCC, init="sdp"),
    "COPKM_P": partial(COPKM_P, init="k-means++"),
    "COPKM": COPKM,
    "ICOPKM": ICOPKM,
    "CLCKM": CLCKM,
    "S_MDEClust": partial(S_MDEClust, population_size=10),
}

# What a model file may name.
_ESTIMATORS = (KempeKMeans, KSKM, PCCC, BLPKMCC, COPKM_P, COPKM, ICOPKM, CLCKM, S_MDEClust)
_SETTINGS = (MemeticParams, MaxMutations, Patience, TargetInertia, TimeLimit)


# Their programs take no start, so the paper's experiments cannot have given them any.
_OWN_START = frozenset({"BLPKMCC", "IPC_KMeans", "S_MDEClust"})


def names() -> list[str]:
    """Names that ``create`` knows, in the order in which reports show them."""
    return list(_REGISTRY)


def takes_start(name: str) -> bool:
    """Whether a comparison gives the method the same starting centroids as the others.

    Parameters
    ----------
    name
        A name that ``names`` lists.
    """
    return name not in _OWN_START


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
