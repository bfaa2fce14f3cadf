"""Instructions that the kernels of the core execute on fixed inputs, counted by callgrind.

The counts do not depend on the load of the machine, so a change of a per cent is visible where
times scatter. They do depend on the compiler: compare with a baseline from the same one.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from kempe import Constraints, _core
from kempe.problem import Problem
from kernels import LONG, NAMES
from tables import Section, number, show, write_markdown

HERE = Path(__file__).resolve().parent
BASELINE = HERE / "instructions.json"
ALLOWED = 1.05
"""Growth of a count that is not yet reported as a failure."""

N_ROWS, N_FEATURES, N_CLUSTERS = 3000, 4, 15
N_PAIRS = 5000


def main(
    update: Annotated[bool, typer.Option("--update", help="Rewrite the stored baseline.")] = False,
    kernel: Annotated[list[str] | None, typer.Option(help="Only this kernel.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table as Markdown.")] = None,
) -> None:
    """Count instructions and compare them with the stored baseline."""
    if shutil.which("valgrind") is None:
        raise typer.BadParameter("valgrind is not installed")
    wanted = kernel or NAMES
    if unknown := set(wanted) - set(NAMES):
        raise typer.BadParameter(f"{', '.join(unknown)} is not among {', '.join(NAMES)}")
    counts = measure(wanted)
    stored = read_baseline()
    section = comparison(counts, stored["counts"])
    show([section])
    if stored["compiler"] not in ("", compiler()):
        typer.echo(f"The baseline comes from another compiler: {stored['compiler']}")
    if out is not None:
        write_markdown(out, [section])
    if update:
        write_baseline(stored["counts"] | counts)
    elif grown := [name for name in counts if ratio(name, counts, stored["counts"]) > ALLOWED]:
        typer.echo(f"More than {ALLOWED:g} times the baseline: {', '.join(grown)}", err=True)
        raise typer.Exit(1)


def measure(wanted: list[str]) -> dict[str, int]:
    """Count instructions per kernel: a run that calls it twice less a run that calls it once."""
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        # Counts do not suffer from neighbours, so all cores can work.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            once = [pool.submit(count, folder, name, 1) for name in wanted]
            twice = [pool.submit(count, folder, name, 2) for name in wanted]
        return {
            name: two.result() - one.result()
            for name, one, two in zip(wanted, once, twice, strict=True)
        }


def count(folder: str, kernel: str, repetitions: int) -> int:
    """Count the instructions of a whole process."""
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        # Leave out what installed packages do when the interpreter starts.
        *[sys.executable, "-S", str(HERE / "kernels.py")],
        *[str(_core.__file__), folder, kernel, str(repetitions)],
    ]
    environment = os.environ | {
        "PYTHONPATH": str(Path(np.__file__).parents[1]),
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or found is None:
        raise RuntimeError(f"{kernel} failed under valgrind:\n{done.stderr[-2000:]}")
    return int(found[1])


def write_inputs(folder: Path) -> None:
    """Make the instance that all kernels work on; its hidden labels satisfy all pairs."""
    # The legacy generator gives the same numbers in every version of NumPy.
    legacy = np.random.RandomState(0)
    blob = legacy.randint(N_CLUSTERS, size=N_ROWS)
    centres = 4 * legacy.standard_normal((N_CLUSTERS, N_FEATURES))
    X = centres[blob] + legacy.standard_normal((N_ROWS, N_FEATURES))
    pairs = legacy.randint(N_ROWS, size=(N_PAIRS, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    hidden = np.where(legacy.random_sample(N_ROWS) < 0.2, legacy.permutation(blob), blob)
    same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    constraints = Constraints(pairs[same], pairs[~same], n_rows=N_ROWS)
    problem = Problem.build(X, constraints, n_clusters=N_CLUSTERS)
    arrays = problem_arrays(problem) | colourings(problem)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def problem_arrays(problem: Problem) -> dict[str, np.ndarray]:
    """Arrays of an instance: every supernode is a row of its own, the means of the merged."""
    vertices = np.arange(problem.n_supernodes, dtype=np.int32)
    rows = problem.points(vertices)
    return {
        "rows": rows,
        "supernode": problem.supernode,
        "merged": np.empty((0, rows.shape[1])),
        "source": vertices,
        "weight": problem.weight,
        "offsets": problem.graph.offsets,
        "targets": problem.graph.targets,
        "no_offsets": np.zeros_like(problem.graph.offsets),
        "no_targets": problem.graph.targets[:0],
        "must_link": problem.constraints.must_link,
        "cannot_link": problem.constraints.cannot_link,
    }


def colourings(problem: Problem) -> dict[str, np.ndarray]:
    """Centroids, a first assignment to them and the local optimum below it."""
    step = problem.n_supernodes // problem.n_clusters
    centroids = problem.points(step * np.arange(problem.n_clusters, dtype=np.int32))
    start, stuck = _core.saturation_assignment(problem.core, centroids)
    if stuck >= 0:
        raise RuntimeError("the fixed instance has no first assignment")
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    optimum = search.descend(start, _core.Stopper(LONG))
    return {"centroids": centroids, "start": start, "optimum": optimum}


def comparison(counts: dict[str, int], stored: dict[str, int]) -> Section:
    """One line per kernel."""
    rows = [
        [
            name.replace("_", " "),
            f"{value:,}",
            f"{stored[name]:,}" if name in stored else "–",
            number(ratio(name, counts, stored), 4) if name in stored else "–",
        ]
        for name, value in counts.items()
    ]
    return Section("Instructions", ["kernel", "now", "baseline", "ratio"], rows)


def ratio(name: str, counts: dict[str, int], stored: dict[str, int]) -> float:
    """Give the count over the baseline, 1 where there is none."""
    return counts[name] / stored.get(name, counts[name])


def compiler() -> str:
    """Compiler that the core names in its file, and the machine."""
    core = Path(str(_core.__file__)).read_bytes()
    found = re.search(rb"(GCC: \([^)]*\) [\d.]+|clang version [\d.]+)", core)
    name = found[0].decode() if found else "unknown compiler"
    return f"{name}, {platform.machine()}"


def read_baseline() -> dict:
    """Read the stored counts; none where there is no file."""
    if not BASELINE.is_file():
        return {"compiler": "", "counts": {}}
    return json.loads(BASELINE.read_text(encoding="utf-8"))


def write_baseline(counts: dict[str, int]) -> None:
    """Store counts with the compiler that they belong to."""
    content = {"compiler": compiler(), "counts": counts}
    BASELINE.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
