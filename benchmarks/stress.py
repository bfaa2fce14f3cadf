"""Problems of extreme size and shape: time and memory of a fit, each in a fresh process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from kempe import Constraints, KempeKMeans
from tables import Section, show, write_markdown

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

Rows = NDArray[Any]
Pairs = NDArray[np.int64]
MILLION = 1_000_000


@dataclass(frozen=True)
class Case:
    """A problem, and what is asked of a fit."""

    X: Rows
    constraints: Constraints
    n_clusters: int
    max_mutations: int = 0


def blobs(n_rows: int, n_features: int, n_clusters: int) -> tuple[Rows, NDArray[np.int64]]:
    """Draw single-precision data around centres, and say which centre each row has."""
    rng = np.random.default_rng(0)
    label = rng.integers(n_clusters, size=n_rows)
    label[:n_clusters] = np.arange(n_clusters)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    X += 4 * rng.standard_normal((n_clusters, n_features), dtype=np.float32)[label]
    return X, label


def hidden_pairs(label: NDArray[np.int64], count: int) -> Constraints:
    """Draw pairs of rows; the labels say of which kind each is."""
    rng = np.random.default_rng(1)
    pairs = rng.integers(label.size, size=(count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = label[pairs[:, 0]] == label[pairs[:, 1]]
    return Constraints(pairs[same], pairs[~same])


def many_rows() -> Case:
    """Make 1,000,000 x 16 with 100,000 pairs."""
    X, label = blobs(MILLION, 16, 10)
    return Case(X, hidden_pairs(label, 100_000), 10, max_mutations=5)


def many_pairs() -> Case:
    """Make 500,000 x 8 with 5,000,000 pairs."""
    X, label = blobs(500_000, 8, 20)
    pairs = hidden_pairs(label, 5 * MILLION)
    # All the must-link pairs would leave hardly more supernodes than clusters, and more cannot-link
    # pairs a graph that is hard to colour, whatever its size.
    return Case(X, Constraints(pairs.must_link[:100_000], pairs.cannot_link), 20)


def clique() -> Case:
    """Make a clique of 3,000 rows, in 3,000 clusters, beside 3,000 free rows."""
    X, _ = blobs(6_000, 4, 50)
    first, second = np.triu_indices(3_000, 1)
    return Case(X, Constraints(None, np.column_stack([first, second])), 3_000)


def star() -> Case:
    """Make a row that 999,999 others must keep apart from."""
    X, _ = blobs(MILLION, 4, 5)
    return Case(X, Constraints(None, _numbered(np.zeros(MILLION - 1, int))), 5)


def path() -> Case:
    """Make a path of 1,000,000 rows, each apart from the next, in two clusters."""
    X, _ = blobs(MILLION, 4, 2)
    return Case(X, Constraints(None, _numbered(np.arange(MILLION - 1))), 2)


def chain() -> Case:
    """Make a chain of 1,000,000 rows that belong together, and 4 free rows."""
    X, _ = blobs(MILLION + 4, 4, 5)
    return Case(X, Constraints(_numbered(np.arange(MILLION - 1)), None), 5)


def _numbered(first: NDArray[np.int64]) -> Pairs:
    """Pair each given row with the next number."""
    return np.column_stack([first, np.arange(1, first.size + 1)])


CASES: dict[str, Callable[[], Case]] = {
    case.__name__: case for case in (many_rows, many_pairs, clique, star, path, chain)
}


def title(name: str) -> str:
    """Say what a case is, for a table."""
    return (CASES[name].__doc__ or name).removeprefix("Make ").rstrip(".")


@app.command()
def run(
    only: Annotated[list[str] | None, typer.Option(help="Only this case.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table here, as Markdown.")] = None,
) -> None:
    """Fit every case and check its constraints."""
    rows = [_row(name, measured(name)) for name in only or CASES]
    header = ["problem", "clusters", "CPU seconds", "peak MB", "of which input MB"]
    sections = [Section("Fits of extreme size and shape", header, rows)]
    show(sections)
    if out is not None:
        write_markdown(out, sections)


def measured(name: str) -> dict[str, Any]:
    """Fit a case in a process of its own; give what that took."""
    command = [sys.executable, __file__, "measure", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _row(name: str, found: dict[str, Any]) -> list[str]:
    return [
        title(name),
        f"{found['clusters']:,}",
        f"{found['cpu']:.1f}",
        f"{found['peak_mb']:,.0f}",
        f"{found['input_mb']:,.0f}",
    ]


@app.command(hidden=True)
def measure(name: str) -> None:
    """Fit one case in this process, check it, and print what it took as JSON."""
    case = CASES[name]()
    pairs = case.constraints
    model = KempeKMeans(case.n_clusters, max_mutations=case.max_mutations, n_jobs=1, random_state=0)
    cpu = time.process_time()
    labels = model.fit(case.X, constraints=pairs).labels_
    facts = {
        "clusters": case.n_clusters,
        "cpu": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "input_mb": (case.X.nbytes + pairs.must_link.nbytes + pairs.cannot_link.nbytes) / 2**20,
    }
    broken = (labels[pairs.must_link[:, 0]] != labels[pairs.must_link[:, 1]]).sum()
    broken += (labels[pairs.cannot_link[:, 0]] == labels[pairs.cannot_link[:, 1]]).sum()
    if broken or np.unique(labels).size != case.n_clusters:
        raise AssertionError(f"{broken} pairs are violated")
    typer.echo(json.dumps(facts))


if __name__ == "__main__":
    app()
