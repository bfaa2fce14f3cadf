"""Data sets of one's own, beside those of the paper.

Workers read them from files, which lie beside the runs: whoever finds a store can repeat them.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe.constraints import Constraints
from kempe.datasets import Dataset
from kempe.pairs import is_missing, label_codes
from kempe.soft_pairs import SoftLinks
from kempe.storage import read_archive, write_archive

COLLECTION = "own"
"""Takes the place of a collection in the names of these data sets."""

ALL_PAIRS = (1.0,)
"""Levels by default: the share of the pairs that are used."""

UNKNOWN = -1
"""Label of rows whose true label nobody knows."""

KIND = "data"
VERSION = 1


@dataclass(frozen=True)
class OwnData:
    """A file with rows, pairs and perhaps true labels.

    Attributes
    ----------
    name
        What reports call it.
    path
        The file.
    digest
        Tells whether a store has runs on the same data.
    n_rows, n_known
        Number of rows, and of those whose true label is known.
    """

    name: str
    path: str
    digest: str
    n_rows: int = 0
    n_known: int = 0

    @property
    def known_in_words(self) -> str:
        """Say how many labels the adjusted Rand index rests on, if not all or none are known."""
        if self.n_known in (0, self.n_rows):
            return ""
        return f"ARI over the {self.n_known:,} of {self.n_rows:,} rows whose true label is known"

    @property
    def key(self) -> str:
        """Name as plans and stores have it."""
        return f"{COLLECTION}/{self.name}"

    @classmethod
    def save(
        cls,
        folder: str | PathLike[str],
        name: str,
        X: ArrayLike,
        constraints: Constraints,
        n_clusters: int,
        y: ArrayLike | None = None,
    ) -> OwnData:
        """Write a data set to a folder.

        Parameters
        ----------
        folder
            Made if it does not exist.
        name
            What reports call it.
        X, constraints, n_clusters
            What every method gets.
        y
            True labels, if there are any, for the adjusted Rand index; -1, missing values and the
            words for them stand for unknown ones.
        """
        check_name(name)
        arrays = _arrays(X, constraints, y)
        digest = hashlib.sha256(str(n_clusters).encode())
        for array in arrays.values():
            digest.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
        path = Path(folder) / f"{name}.kempe"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_archive(path, KIND, VERSION, {"n_clusters": n_clusters}, arrays)
        known = int(np.count_nonzero(arrays.get("y", np.empty(0)) >= 0))
        return cls(name, str(path.resolve()), digest.hexdigest()[:16], len(arrays["X"]), known)


def check_name(name: str) -> None:
    """Refuse a name that cannot be that of a file and of a data set."""
    if not re.fullmatch(r"[\w.+-]+", name) or name.startswith("."):
        raise ValueError(
            f"{name!r} cannot be the name of a data set; use letters, digits and .+-_ only"
        )


def _arrays(X: ArrayLike, constraints: Constraints, y: ArrayLike | None) -> dict[str, NDArray[Any]]:
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError("X must be a table of finite numbers")
    constraints.check_rows(len(rows))
    arrays: dict[str, NDArray[Any]] = {
        "X": rows,
        "must_link": constraints.must_link,
        "cannot_link": constraints.cannot_link,
    }
    if constraints.soft.count:
        arrays |= {f"soft_{name}": array for name, array in vars(constraints.soft).items()}
    if y is not None:
        arrays["y"] = _codes(y)
        if arrays["y"].shape != (len(rows),):
            raise ValueError(f"y has shape {arrays['y'].shape}, but there are {len(rows)} rows")
    return arrays


def _codes(y: ArrayLike) -> NDArray[np.int64]:
    """Give numbers for labels, ``UNKNOWN`` for those that say that nothing is known."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one-dimensional, got shape {labels.shape}")
    rows = np.flatnonzero(~is_missing(labels))
    rows = rows[np.broadcast_to(np.asarray(labels[rows] != UNKNOWN), rows.shape)]
    if not rows.size:
        raise ValueError("y has no known label")
    codes = np.full(labels.size, UNKNOWN, dtype=np.int64)
    codes[rows] = label_codes(labels[rows])
    return codes


def load_own(path: str | PathLike[str], level: float, dtype: str) -> Dataset:
    """Read a data set with a share of its pairs, the same ones for every method and seed."""
    header, arrays, _ = read_archive(Path(path), KIND, VERSION)
    rows = arrays["X"]
    pairs = Constraints(arrays["must_link"], arrays["cannot_link"], n_rows=len(rows))
    if "soft_must_link" in arrays:
        soft = {field.name: arrays[f"soft_{field.name}"] for field in fields(SoftLinks)}
        pairs = pairs.with_soft(SoftLinks(**soft))
    kept, _ = pairs.split(1 - level, random_state=0)
    return Dataset(
        COLLECTION,
        Path(path).stem,
        level,
        rows.astype(dtype),
        arrays.get("y"),
        int(header["n_clusters"]),
        kept,
        float("nan"),
        str(path),
    )
