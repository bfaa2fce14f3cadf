"""Public copies of the data that cannot be generated.

Every download is checked afterwards against the sizes, constraint counts and true inertia in the
catalogue, because other copies of these sets differ in row order and rounding.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.datasets.catalogue import DatasetFacts

Features = tuple[NDArray[Any], NDArray[np.uint8]]

_KEEL_SITE = "https://sci2s.ugr.es/keel/dataset/data/classification"
_KEEL_MIRROR = "https://raw.githubusercontent.com/Fuminides/keel_datasets/6d4d6fd"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_TOYS = "https://raw.githubusercontent.com/ggalmagro/DILS_CC/master/ToyDatasets"
_CONSTRAINT_SETS = (
    "https://raw.githubusercontent.com/INFORMSJoC/2023.0419/master/data/raw data/COL1/"
    "constraint sets"
)
_MNIST = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
)
_CIFAR = "https://www.cs.toronto.edu/~kriz"

# Values that are words in the KEEL files of the numeric benchmark.
_WORDS = {"Present": 1.0, "Absent": 0.0}

TIMEOUT = 60.0
"""Seconds without an answer after which a download is given up."""


def features(facts: DatasetFacts) -> Features:
    """Download the features and labels of one data set."""
    readers: dict[str, Callable[[str], Features]] = {
        "breast_cancer": _breast_cancer,
        "soybean": _soybean,
        "circles": _toy,
        "moons": _toy,
        "spiral": _toy,
        "mnist": _mnist,
        "cifar10": _cifar,
        "cifar100": _cifar,
    }
    return readers.get(facts.name, _keel)(facts.name)


def published_at(facts: DatasetFacts) -> str:
    """Say in one sentence where a set that is not generated is published."""
    places = {
        "soybean": f"{_UCI}/soybean/soybean-small.data",
        **{toy: f"{_TOYS}/{toy}_toydataset.txt" for toy in ("circles", "moons", "spiral")},
        "mnist": f"{_MNIST[0]}, four files",
    }
    archive = archive_name(facts.name)
    if archive is not None:
        return f"It is published as {_CIFAR}/{archive}, which can be put there as it is"
    place = places.get(facts.name, f"{_KEEL_SITE}/{facts.name}.zip")
    return f"It is published as {place}"


def constraint_set(
    facts: DatasetFacts, level: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Download one constraint matrix of collection 1: must-link and cannot-link pairs."""
    text = fetch([f"{_CONSTRAINT_SETS}/{facts.name}({level:.2f}).txt"]).decode()
    matrix = np.loadtxt(io.StringIO(text), dtype=np.int8, ndmin=2)
    upper = np.triu(matrix, k=1)
    return (
        np.argwhere(upper == 1).astype(np.int32),
        np.argwhere(upper == -1).astype(np.int32),
    )


def fetch(urls: Iterable[str]) -> bytes:
    """Content of the first address that answers.

    The environment variable ``KEMPE_MIRROR`` replaces ``https://host/path`` by
    ``<mirror>/host/path``, for machines that reach the internet through a mirror only.
    """
    problems = []
    for url in urls:
        address = _address(url)
        try:
            with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
                content: bytes = answer.read()
                return content
        except OSError as error:
            problems.append(f"{address}: {error}")
    raise OSError("; ".join(problems))


def _address(url: str) -> str:
    mirror = os.environ.get("KEMPE_MIRROR")
    if mirror:
        url = f"{mirror.rstrip('/')}/{url.removeprefix('https://')}"
    return urllib.parse.quote(url, safe=":/~")


def _keel(name: str) -> Features:
    content = fetch([f"{_KEEL_SITE}/{name}.zip", f"{_KEEL_MIRROR}/{name}/{name}.dat"])
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            member = next(item for item in archive.namelist() if item.endswith(f"{name}.dat"))
            content = archive.read(member)
    return _table(line for line in content.decode("latin-1").splitlines() if line[:1] != "@")


def _soybean(name: str) -> Features:
    return _table(fetch([f"{_UCI}/soybean/soybean-small.data"]).decode().splitlines())


def _toy(name: str) -> Features:
    return _table(fetch([f"{_TOYS}/{name}_toydataset.txt"]).decode().splitlines())


def _table(lines: Iterable[str]) -> Features:
    """Rows of comma-separated numbers whose last column is the class."""
    cells = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
    X = np.array([[_number(cell) for cell in row[:-1]] for row in cells])
    return X, _codes([row[-1] for row in cells])


def _number(cell: str) -> float:
    return _WORDS[cell] if cell in _WORDS else float(cell)


def _codes(classes: Sequence[Any] | NDArray[Any]) -> NDArray[np.uint8]:
    """Give the classes numbers in the order in which they first appear."""
    _, first, codes = np.unique(np.asarray(classes), return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.uint8)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[codes]


def _breast_cancer(name: str) -> Features:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X, _codes(y)


def _mnist(name: str) -> Features:
    """Training images, then test images."""
    parts = [_idx(f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k")]
    labels = [_idx(f"{part}-labels-idx1-ubyte.gz") for part in ("train", "t10k")]
    images = np.concatenate(parts)
    return images.reshape(len(images), -1), _codes(np.concatenate(labels))


def _idx(name: str) -> NDArray[np.uint8]:
    content = gzip.decompress(fetch([f"{site}/{name}" for site in _MNIST]))
    n_axes = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=n_axes, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _cifar(name: str) -> Features:
    return cifar_archive(name, fetch([f"{_CIFAR}/{archive_name(name)}"]))


def archive_name(name: str) -> str | None:
    """Give the name of the archive that the authors of CIFAR publish, ``None`` for other sets."""
    size = name.removeprefix("cifar")
    return f"cifar-{size}-binary.tar.gz" if size != name else None


def cifar_archive(name: str, content: bytes) -> Features:
    """Take a set out of the archive of its authors.

    Test images, then training images; of the two labels of CIFAR-100 the fine one.
    """
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as files:
        members = [item for item in files.getnames() if item.endswith(".bin")]
        members.sort(key=lambda item: ("test" not in item, item))
        batches = b"".join(_member(files, item) for item in members)
    n_labels = 1 if name == "cifar10" else 2
    records = np.frombuffer(batches, dtype=np.uint8).reshape(-1, n_labels + 3072)
    return records[:, n_labels:], _codes(records[:, n_labels - 1])


def _member(files: tarfile.TarFile, name: str) -> bytes:
    file = files.extractfile(name)
    if file is None:
        raise OSError(f"{name} in the archive is not a file")
    return file.read()
