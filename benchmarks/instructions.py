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
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from kempe import Constraints, _core
from kempe.problem import Problem
from kernels import LONG, MARK, NAMES, groups
from tables import Section, number, show, write_markdown

HERE = Path(__file__).resolve().parent
BASELINE = HERE / "instructions.json"
ALLOWED = 1.02
"""Growth of a count that is not yet reported as a failure."""


class Shape(NamedTuple):
    """Size of an instance; all of its pairs agree with hidden labels.

    Attributes
    ----------
    apart
        Spread of the centres of groups, in standard deviations of a group, in each feature.
    misled
        Share of the rows whose hidden label is not their group.
    cannot_only
        Whether must-link pairs are left out.
    tries
        Relocations that lead to a good local optimum.
    """

    n_rows: int
    n_features: int
    n_clusters: int
    n_pairs: int
    apart: float = 4.0
    misled: float = 0.2
    cannot_only: bool = False
    tries: int = 30

    def problem(self) -> Problem:
        """Draw it, by the legacy generator: its numbers are the same in every version of NumPy."""
        legacy = np.random.RandomState(0)
        blob = legacy.randint(self.n_clusters, size=self.n_rows)
        centres = self.apart * legacy.standard_normal((self.n_clusters, self.n_features))
        X = centres[blob] + legacy.standard_normal((self.n_rows, self.n_features))
        pairs = legacy.randint(self.n_rows, size=(self.n_pairs, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        misled = legacy.random_sample(self.n_rows) < self.misled
        hidden = np.where(misled, legacy.permutation(blob), blob)
        same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
        must_link = None if self.cannot_only else pairs[same]
        constraints = Constraints(must_link, pairs[~same], n_rows=self.n_rows)
        return Problem.build(X, constraints, n_clusters=self.n_clusters)


SHAPES = {
    "small": Shape(3000, 4, 15, 5000, tries=300),
    "chains": Shape(600, 4, 8, 3000, misled=0.9, cannot_only=True, tries=300),
    "few": Shape(63_000, 16, 10, 3000, apart=0.8),
    "many": Shape(16_500, 64, 8, 4000, apart=0.4),
    "table": Shape(34_000, 64, 14, 6000, apart=0.8),
    "tiny": Shape(13, 3, 4, 6),
}


def main(
    update: Annotated[bool, typer.Option("--update", help="Rewrite the stored baseline.")] = False,
    kernel: Annotated[list[str] | None, typer.Option(help="Only this kernel.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table as Markdown.")] = None,
    baseline: Annotated[Path, typer.Option(help="File of counts to compare with.")] = BASELINE,
) -> None:
    """Count instructions and compare them with the stored baseline."""
    if shutil.which("valgrind") is None:
        raise typer.BadParameter("valgrind is not installed")
    wanted = kernel or NAMES
    if unknown := set(wanted) - set(NAMES):
        raise typer.BadParameter(f"{', '.join(unknown)} is not among {', '.join(NAMES)}")
    counts = measure(wanted)
    stored = read_baseline(baseline)
    section = comparison(counts, stored["counts"])
    show([section])
    if stored["compiler"] not in ("", compiler()):
        typer.echo(f"The baseline comes from another compiler: {stored['compiler']}")
    if out is not None:
        write_markdown(out, [section])
    if update:
        write_baseline(baseline, ordered(stored["counts"] | counts))
    elif grown := [name for name in counts if ratio(name, counts, stored["counts"]) > ALLOWED]:
        typer.echo(f"More than {ALLOWED:g} times the baseline: {', '.join(grown)}", err=True)
        raise typer.Exit(1)


def measure(wanted: list[str]) -> dict[str, int]:
    """Count instructions per kernel; those on the same instance share a process."""
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder), {on for on, _ in groups(wanted)})
        # Counts do not suffer from neighbours, so all cores can work.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            counted = list(pool.map(partial(count, folder), groups(wanted).values()))
    found = {name: number for each in counted for name, number in each.items()}
    return {name: found[name] for name in wanted}


def count(folder: str, names: list[str]) -> dict[str, int]:
    """Count the instructions between the two marks of each kernel."""
    out = Path(tempfile.mkdtemp(dir=folder)) / "counts"
    command = [
        *["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--dump-before={MARK}"],
        # Leave out what installed packages do when the interpreter starts.
        *[sys.executable, "-S", str(HERE / "kernels.py"), str(_core.__file__), folder, *names],
    ]
    environment = os.environ | {
        "PYTHONPATH": str(Path(np.__file__).parents[1]),
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    # Every mark leaves a file, with what has happened since the one before.
    files = [out.with_name(f"{out.name}.{mark}") for mark in range(2, 2 * len(names) + 2, 2)]
    if done.returncode or not files[-1].is_file():
        raise RuntimeError(f"{', '.join(names)} failed under valgrind:\n{done.stderr[-2000:]}")
    return {name: total(file) for name, file in zip(names, files, strict=True)}


def total(file: Path) -> int:
    """Read the number of instructions from a file of callgrind."""
    found = re.search(r"^totals: (\d+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{file} has no total")
    return int(found[1])


def write_inputs(folder: Path, names: Iterable[str] = SHAPES) -> None:
    """Make the instances that kernels work on, each in a folder of its own."""
    for name in names:
        shape = SHAPES[name]
        problem = shape.problem()
        (folder / name).mkdir()
        for array, values in (problem_arrays(problem) | colourings(problem, shape.tries)).items():
            np.save(folder / name / f"{array}.npy", values)


def problem_arrays(problem: Problem) -> dict[str, np.ndarray]:
    """Arrays of an instance: every supernode is a row of its own, the means of the merged."""
    vertices = np.arange(problem.n_supernodes, dtype=np.int32)
    return {
        "rows": problem.points(vertices),
        "supernode": problem.supernode,
        "source": vertices,
        "weight": problem.weight,
        "offsets": problem.graph.offsets,
        "targets": problem.graph.targets,
        "must_link": problem.constraints.must_link,
        "cannot_link": problem.constraints.cannot_link,
    }


def colourings(problem: Problem, tries: int) -> dict[str, np.ndarray]:
    """Centroids, a first assignment to them, the local optimum below it, and a good one."""
    step = problem.n_supernodes // problem.n_clusters
    centroids = problem.points(step * np.arange(problem.n_clusters, dtype=np.int32))
    start, stuck = _core.saturation_assignment(problem.core, centroids)
    if stuck >= 0:
        raise RuntimeError("a fixed instance has no first assignment")
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    stopper = _core.Stopper(LONG)
    optimum = search.descend(start, stopper)
    best, *_ = search.relocate(optimum, tries, tries, 0, -np.inf, 0, stopper)
    return {"centroids": centroids, "start": start, "optimum": optimum, "best": best}


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


def read_baseline(file: Path = BASELINE) -> dict:
    """Read stored counts; none where there is no file."""
    if not file.is_file():
        return {"compiler": "", "counts": {}}
    return json.loads(file.read_text(encoding="utf-8"))


def write_baseline(file: Path, counts: dict[str, int]) -> None:
    """Store counts with the compiler that they belong to."""
    content = {"compiler": compiler(), "counts": counts}
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def ordered(counts: dict[str, int]) -> dict[str, int]:
    """Give the counts of all kernels that there are, in their order."""
    return {name: counts[name] for name in NAMES if name in counts}


if __name__ == "__main__":
    typer.run(main)
