"""Packages that one could use instead, on the same data and pairs: what they reach, and break.

Installs nothing. What is missing is left out, and it is said how to get it::

    pip install k-means-constrained active-semi-supervised-clustering gurobipy
    git clone https://github.com/Behrouz-Babaki/COP-Kmeans
    git clone https://github.com/phil85/PCCC
    python benchmarks/alternatives.py --clones . --markdown docs/_generated/alternatives.md

The last two are programs without a package: they are taken from clones. PCCC needs Gurobi, which
without a licence solves programs of up to 2,000 variables.

Data is what scikit-learn ships, scaled; pairs are made of rows whose true labels are known, two and
two. Inertia is computed from the labels by this program, so that all are measured alike, and CPU
time is that of ``fit`` alone.
"""

from __future__ import annotations

import contextlib
import io
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from kempe import Constraints, KempeKMeans
from tables import Section, number, show, write_markdown

Labels = NDArray[np.int32]
SETS: dict[str, Callable[[], Any]] = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
KNOWN = 30
"""Rows whose label is known; all pairs of them are given, which some packages are slow with."""


@dataclass(frozen=True)
class Problem:
    """Data, pairs, and the number of clusters."""

    X: NDArray[np.float64]
    pairs: Constraints
    k: int

    @classmethod
    def of(cls, name: str, seed: int) -> Problem:
        """Scale a data set, and make pairs of all rows whose labels are known."""
        data = SETS[name]()
        rng = np.random.default_rng(seed)
        y = data.target
        known = rng.permutation(len(y))[:KNOWN]
        first, second = np.triu_indices(known.size, 1)
        pairs = np.column_stack([known[first], known[second]])
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        constraints = Constraints(pairs[same], pairs[~same], n_rows=len(y))
        return cls(StandardScaler().fit_transform(data.data), constraints, len(set(y.tolist())))


@dataclass(frozen=True)
class Package:
    """A package: what it is called, what must be installed, and how it clusters."""

    name: str
    module: str
    distribution: str
    fit: Callable[[Problem, int], Labels]

    @property
    def how_to_get_it(self) -> str:
        """What to type."""
        return f"pip install {self.distribution}"

    @property
    def version(self) -> str:
        """The version that is installed."""
        return metadata.version(self.distribution)


@dataclass(frozen=True)
class Program(Package):
    """A program without a package; its distribution is the address of its repository."""

    @property
    def how_to_get_it(self) -> str:
        """What to type."""
        return f"git clone https://github.com/{self.distribution}, then --clones FOLDER"

    @property
    def version(self) -> str:
        """The commit of the clone."""
        folder = Path(str(import_module(self.module).__file__)).parent
        command = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _kempe(problem: Problem, seed: int) -> Labels:
    model = KempeKMeans(problem.k, random_state=seed)
    return np.asarray(model.fit(problem.X, constraints=problem.pairs).labels_)


def _sklearn(problem: Problem, seed: int) -> Labels:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(problem.k, n_init=10, random_state=seed).fit(problem.X).labels_)


def _sized(problem: Problem, seed: int) -> Labels:
    from k_means_constrained import KMeansConstrained

    model = KMeansConstrained(problem.k, size_min=1, random_state=seed)
    return np.asarray(model.fit_predict(problem.X))


def _semi(kind: str) -> Callable[[Problem, int], Labels]:
    def fit(problem: Problem, seed: int) -> Labels:
        room = import_module("active_semi_clustering.semi_supervised.pairwise_constraints")
        np.random.seed(seed)  # noqa: NPY002, as it draws from NumPy's global generator
        model = getattr(room, kind)(n_clusters=problem.k)
        pairs = {"ml": problem.pairs.must_link.tolist(), "cl": problem.pairs.cannot_link.tolist()}
        return np.asarray(model.fit(problem.X, **pairs).labels_)

    return fit


def _cop(problem: Problem, seed: int) -> Labels:
    from copkmeans.cop_kmeans import cop_kmeans

    random.seed(seed)  # it draws from Python's global generator
    must, cannot = problem.pairs.must_link.tolist(), problem.pairs.cannot_link.tolist()
    labels, _ = cop_kmeans(problem.X.tolist(), problem.k, must, cannot)
    if labels is None:
        raise RuntimeError("it found none")
    return np.asarray(labels)


def _pccc(problem: Problem, seed: int) -> Labels:
    from pccc import pccc

    pairs = {"ml": problem.pairs.must_link.tolist(), "cl": problem.pairs.cannot_link.tolist()}
    with contextlib.redirect_stdout(io.StringIO()):  # Gurobi talks about its licence
        found = pccc(
            problem.X, problem.k, **pairs, cluster_repositioning="inertia", random_state=seed
        )
    return np.asarray(found["labels"])


SEMI = ("active_semi_clustering", "active-semi-supervised-clustering")
PACKAGES = [
    Package("kempe", "kempe", "kempe", _kempe),
    Package("scikit-learn KMeans, 10 starts", "sklearn", "scikit-learn", _sklearn),
    Package("k-means-constrained", "k_means_constrained", "k-means-constrained", _sized),
    Package("active-semi-supervised-clustering COPKMeans", *SEMI, _semi("COPKMeans")),
    Package("active-semi-supervised-clustering PCKMeans", *SEMI, _semi("PCKMeans")),
    Program("program COP-K-Means", "copkmeans.cop_kmeans", "Behrouz-Babaki/COP-Kmeans", _cop),
    Program("program PCCC, Gurobi without licence", "pccc", "phil85/PCCC", _pccc),
]


@dataclass(frozen=True)
class Run:
    """What one run made of a problem; NaN where it ended without labels."""

    inertia: float
    broken: float
    seconds: float
    failure: str = ""


def measured(package: Package, problem: Problem, seed: int) -> Run:
    """Run a package once."""
    started = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = package.fit(problem, seed)
    except Exception as error:
        return Run(np.nan, np.nan, time.process_time() - started, type(error).__name__)
    seconds = time.process_time() - started
    means = np.array([problem.X[labels == c].mean(axis=0) for c in np.unique(labels)])
    number = np.unique(labels, return_inverse=True)[1]
    inertia = float(((problem.X - means[number]) ** 2).sum())
    broken = problem.pairs.violations(labels)
    return Run(inertia, len(broken.must_link) + len(broken.cannot_link), seconds)


def row(package: Package, name: str, seeds: int) -> list[str]:
    """Give a line of the table."""
    problems = [Problem.of(name, seed) for seed in range(seeds)]
    runs = [measured(package, problem, seed) for seed, problem in enumerate(problems)]
    solved = [run for run in runs if not run.failure]
    count = np.mean([len(p.pairs.must_link) + len(p.pairs.cannot_link) for p in problems])
    failures = sorted({run.failure for run in runs if run.failure})
    broken = f"{np.mean([run.broken for run in solved]):,.0f} of {count:,.0f}" if solved else "–"
    return [
        package.name,
        name,
        f"{len(solved)} of {seeds}" + "".join(f", {failure}" for failure in failures),
        broken,
        number(np.mean([run.inertia for run in solved]), 6) if solved else "–",
        number(np.mean([run.seconds for run in runs]), 2),
    ]


def main(
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each package.")] = 3,
    markdown: Annotated[Path | None, typer.Option(help="Write the table here.")] = None,
    clones: Annotated[Path | None, typer.Option(help="Folder with clones of programs.")] = None,
) -> None:
    """Measure all packages that are installed, and say how to install the others."""
    if clones is not None:
        sys.path[:0] = [str(path) for path in clones.iterdir() if path.is_dir()]
    missing = {package.how_to_get_it for package in PACKAGES if not is_there(package)}
    there = [package for package in PACKAGES if package.how_to_get_it not in missing]
    versions = {p.distribution: p.version for p in there}
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    header = ["package", "data", "runs with labels", "pairs broken", "inertia", "CPU s"]
    rows = [row(package, name, seeds) for name in SETS for package in there]
    section = Section(f"Means of {seeds} seeds: {told}", header, rows)
    show([section])
    if markdown is not None:
        write_markdown(markdown, [section])
    for how in sorted(missing):
        typer.echo(f"not there: {how}", err=True)


def is_there(package: Package) -> bool:
    """Whether a package can be imported."""
    try:
        import_module(package.module)
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    typer.run(main)
