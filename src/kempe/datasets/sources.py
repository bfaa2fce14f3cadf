"""Where the raw data of a set comes from: a folder, a generator, or the internet."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.datasets import download, generate
from kempe.datasets.catalogue import DatasetFacts, levels
from kempe.datasets.constraint_sets import make_constraints
from kempe.datasets.scaling import partition_inertia
from kempe.storage import replacing


class DataNotFoundError(FileNotFoundError):
    """A data set is in no folder, cannot be generated and could not be downloaded."""


@dataclass(frozen=True)
class Raw:
    """Features as published, label codes 0 .. k-1 and the stored constraint sets, if any."""

    X: NDArray[Any]
    y: NDArray[np.uint8]
    pairs: Mapping[str, NDArray[np.int32]] | None
    origin: str


def folders(data_home: str | PathLike[str] | None = None) -> list[Path]:
    """Folders that are looked through, in this order; downloads are kept in the last.

    The argument, the folder named by the environment variable ``KEMPE_DATA``, and
    ``kempe`` in the user's cache folder.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kempe"
    given = [data_home, os.environ.get("KEMPE_DATA")]
    return [*(Path(folder) for folder in given if folder), cache]


def raw(facts: DatasetFacts, data_home: str | PathLike[str] | None, allow_download: bool) -> Raw:
    """Raw data of one set from the first source that has it."""
    places = folders(data_home)
    for folder in places:
        found = _read(folder, facts)
        if found is not None:
            check_content(facts, found.X, found.y)
            return found
    generated = generate.features(facts)
    if generated is not None:
        X, y = generated
        check_content(facts, X, y)
        return Raw(X, y, None, "generated")
    if not allow_download:
        raise _not_found(facts, places, "downloading was not allowed")
    try:
        return _download(facts, places[-1])
    except OSError as error:
        raise _not_found(facts, places, str(error)) from error


def check_shape(facts: DatasetFacts, X: NDArray[Any], y: NDArray[Any], origin: str) -> None:
    """Raise ``ValueError`` unless the size of the data is the known one."""
    found = (*X.shape, int(np.unique(y).size))
    wanted = (facts.n_rows, facts.n_features, facts.n_clusters)
    if found != wanted or y.shape != (facts.n_rows,):
        raise ValueError(
            f"{origin} is not {facts.key}: rows, features and clusters are {found} "
            f"instead of {wanted}"
        )


def check_content(facts: DatasetFacts, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Raise ``ValueError`` unless the true partition has the known inertia."""
    inertia = partition_inertia(X, y)
    if abs(inertia - facts.true_inertia) > 1e-6 * facts.true_inertia + 1e-6:
        raise ValueError(
            f"this copy of {facts.key} has another content: the true partition has inertia "
            f"{inertia:.6f} instead of {facts.true_inertia:.6f}"
        )


def check_counts(facts: DatasetFacts, level: float, n_must_link: int, n_cannot_link: int) -> None:
    """Raise ``ValueError`` unless the number of constraints is the known one."""
    wanted = facts.counts.get(level)
    if wanted not in (None, (n_must_link, n_cannot_link)):
        raise ValueError(
            f"{facts.key} at level {level} has {n_must_link} must-link and {n_cannot_link} "
            f"cannot-link pairs instead of {wanted}: labels or row order differ"
        )


def _read(folder: Path, facts: DatasetFacts) -> Raw | None:
    path = folder / facts.collection / f"{facts.name}.npz"
    if not path.is_file():
        return _read_archive(folder, facts)
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    check_shape(facts, X, y, str(path))
    return Raw(X, y, _read_pairs(folder, facts), str(path))


def _read_archive(folder: Path, facts: DatasetFacts) -> Raw | None:
    """Read what the authors of a set publish, where a user has put it beside the other files."""
    name = download.archive_name(facts.name)
    path = folder / facts.collection / (name or "")
    if name is None or not path.is_file():
        return None
    X, y = download.cifar_archive(facts.name, path.read_bytes())
    check_shape(facts, X, y, str(path))
    return Raw(X, y, None, str(path))


def _read_pairs(folder: Path, facts: DatasetFacts) -> dict[str, NDArray[np.int32]] | None:
    path = folder / facts.collection / f"{facts.name}_constraints.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _download(facts: DatasetFacts, folder: Path) -> Raw:
    X, y = download.features(facts)
    check_shape(facts, X, y, "the download")
    check_content(facts, X, y)
    pairs = _constraint_sets(facts, y) if facts.collection == "COL1" else None
    if pairs is None:
        _check_row_order(facts, y)
    else:
        _write(folder / facts.collection / f"{facts.name}_constraints.npz", **pairs)
    _write(folder / facts.collection / f"{facts.name}.npz", X=X, y=y)
    return Raw(X, y, pairs, "download")


def _constraint_sets(facts: DatasetFacts, y: NDArray[np.uint8]) -> dict[str, NDArray[np.int32]]:
    pairs = {}
    for level in levels(facts.collection):
        if facts.name in ("iris", "wine"):
            # The sets that were published for these two belong to another row order; the paper
            # draws new ones.
            drawn = make_constraints(y, level)
            must, cannot = drawn.must_link, drawn.cannot_link
        else:
            must, cannot = download.constraint_set(facts, level)
        check_counts(facts, level, len(must), len(cannot))
        check_labels(facts, level, y, must, cannot)
        pairs[f"ml_{level}"], pairs[f"cl_{level}"] = must.astype("i4"), cannot.astype("i4")
    return pairs


def _check_row_order(facts: DatasetFacts, y: NDArray[np.uint8]) -> None:
    """Raise ``ValueError`` unless constraints drawn by row number have the known counts."""
    level = levels(facts.collection)[0]
    drawn = make_constraints(y, level)
    check_counts(facts, level, len(drawn.must_link), len(drawn.cannot_link))


def check_labels(
    facts: DatasetFacts, level: float, y: NDArray[Any], must: NDArray[Any], cannot: NDArray[Any]
) -> None:
    """Raise ``ValueError`` if constraints contradict the labels, as in another row order."""
    wrong = int((y[must[:, 0]] != y[must[:, 1]]).sum() + (y[cannot[:, 0]] == y[cannot[:, 1]]).sum())
    if wrong:
        raise ValueError(
            f"{wrong} constraints of {facts.key} at level {level} contradict its labels: "
            "the rows are in another order"
        )


def _write(path: Path, **arrays: NDArray[Any]) -> None:
    """Write a file that other processes see either whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, "wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _not_found(facts: DatasetFacts, places: list[Path], reason: str) -> DataNotFoundError:
    where = ", ".join(str(folder / facts.collection) for folder in places)
    return DataNotFoundError(
        f"no {facts.name}.npz in {where}, and no other source of {facts.key}: {reason}. "
        "Name a folder that has it by data_home= or by the environment variable KEMPE_DATA. "
        f"{download.published_at(facts)}"
    )
