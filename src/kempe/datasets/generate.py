"""Data sets that need no file: collections 2 and 3, and what scikit-learn carries."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.datasets.catalogue import DatasetFacts

SEED = 24


def features(facts: DatasetFacts) -> tuple[NDArray[np.float64], NDArray[np.uint8]] | None:
    """Points and labels of a generated data set; ``None`` for the others."""
    options = _blob_options(facts)
    if options is None:
        return None
    from sklearn.datasets import make_blobs

    X, y = make_blobs(n_features=2, random_state=SEED, **options)
    return X, y.astype(np.uint8)


def _blob_options(facts: DatasetFacts) -> dict[str, Any] | None:
    match = re.fullmatch(r"n(\d+)-k(\d+)(?:-s(\d)0)?", facts.name)
    if match is None:
        return None
    rows, clusters, deviation = match.groups()
    options: dict[str, Any] = {"n_samples": int(rows), "centers": int(clusters)}
    if deviation is not None:
        options |= {"cluster_std": float(deviation), "center_box": (-20.0, 20.0)}
    return options
