"""Two choices of the paper's appendix: how swaps are chosen (A.1), and three-colour chains (A.2).

Both tables run ``KSKM`` as printed, every setting from the same starts with the same seeds. Each
is one command: ``ablations.py mwis`` and ``ablations.py three-colour``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.cluster import kmeans_plusplus

from folders import available, use_shared_data
from kempe import _core, datasets, methods
from kempe.exceptions import NoSolutionFoundError
from kempe.kskm import mwis
from kempe.problem import Problem
from kempe.search.matching import match
from tables import Section, number, show, write_markdown

# How often centroids move to fresh targets in a search that asks for independent sets.
TURNS = 10

HEURISTICS: tuple[mwis.Method, ...] = ("greedy", "spectral")

# Weights of the swaps, and which of them exclude each other, in compressed sparse rows.
Question = tuple[NDArray[Any], ...]

app = typer.Typer(help=__doc__, no_args_is_help=True)

Seeds = Annotated[int, typer.Option(min=1, help="Runs per setting and instance.")]
Mutations = Annotated[int, typer.Option(min=0, help="Mutations of each run.")]
Out = Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")]


@dataclass(frozen=True)
class Instance:
    """A data set with the constraints of a level, with or without must-link pairs."""

    dataset: str
    level: float
    must_link: bool = True

    @property
    def label(self) -> str:
        """Name in the tables."""
        return f"{self.dataset.split('/')[1]} {self.level:g}{'' if self.must_link else ', CL only'}"

    def load(self) -> datasets.Dataset:
        """Give the data, without must-link pairs if so wanted."""
        data = datasets.load(self.dataset, level=self.level)
        if self.must_link:
            return data
        return replace(data, constraints=data.constraints.without_must_link())


# Few and many clusters, loose and tight constraints.
INSTANCES = (
    Instance("COL1/hayes-roth", 0.2, must_link=False),
    Instance("COL1/tae", 0.2, must_link=False),
    Instance("COL1/ecoli", 0.05),
    Instance("COL2/n300-k10-s30", 0.1),
    Instance("COL2/n300-k20-s50", 0.2),
    Instance("COL2/n300-k50-s50", 0.25),
    Instance("COL3/n500-k20", 0.05),
    Instance("COL3/n500-k50", 0.2),
    Instance("COL3/n1000-k20", 0.1),
)


@dataclass(frozen=True)
class Outcome:
    """Means over the successful runs of one setting."""

    inertia: float
    cpu: float
    successes: int


def fit(instance: Instance, seeds: int, options: Mapping[str, Any]) -> Outcome | None:
    """Run one setting with all seeds; ``None`` if no run found a clustering."""
    data = instance.load()
    inertia, cpu = [], []
    for seed in range(seeds):
        start, _ = kmeans_plusplus(data.X, data.n_clusters, random_state=seed)
        model = methods.create("KSKM_text", data.n_clusters, seed, init=start, **options)
        began = time.process_time()
        try:
            model.fit(data.X, constraints=data.constraints)
        except NoSolutionFoundError:
            continue
        cpu.append(time.process_time() - began)
        inertia.append(float(model.inertia_))
    return Outcome(float(np.mean(inertia)), float(np.mean(cpu)), len(cpu)) if cpu else None


def there(instances: Sequence[Instance]) -> list[Instance]:
    """Instances whose data is there."""
    use_shared_data()
    return [item for item in instances if available(item.dataset)]


@app.command("mwis")
def mwis_table(seeds: Seeds = 5, mutations: Mutations = 50, out: Out = None) -> None:
    """Weight, inertia and CPU time of the three ways to choose compatible swaps."""
    rows = []
    for instance in track(there(INSTANCES), "mwis", console=Console(stderr=True)):
        outcomes = {
            name: fit(instance, seeds, {"mwis": name, "max_mutations": mutations})
            for name in mwis.METHODS
        }
        reference = outcomes["exact"]
        if reference is None:
            continue
        cells = weight_cells(instance, seeds)
        for outcome in outcomes.values():
            cells.append(number(outcome and outcome.inertia / reference.inertia, 5))
        cells += [number(outcome and outcome.cpu, 2) for outcome in outcomes.values()]
        rows.append([f"{instance.label}{success(reference, seeds)}", *cells])
    header = ["instance", "sets"]
    header += [f"{name}: {what}" for name in HEURISTICS for what in ("weight", "heaviest")]
    header += [f"{name}: {what}" for what in ("inertia", "CPU s") for name in mwis.METHODS]
    finish([Section("Ways to choose compatible swaps", header, rows)], out)


@app.command()
def three_colour(seeds: Seeds = 5, mutations: Mutations = 20, out: Out = None) -> None:
    """Inertia and CPU time with and without three-colour chains."""
    rows = []
    for instance in track(there(INSTANCES), "three-colour", console=Console(stderr=True)):
        cells = []
        for limit in (0, mutations):
            off, on = (
                fit(instance, seeds, {"three_colour": use, "max_mutations": limit})
                for use in (False, True)
            )
            if off is None or on is None:
                break
            cells += [number(off.inertia, 6), number(on.inertia / off.inertia, 5)]
            cells += [number(off.cpu, 2), number(on.cpu / off.cpu, 2)]
        else:
            rows.append([f"{instance.label}{success(off, seeds)}", *cells])
    header = ["instance"]
    for what in ("one descent", f"{mutations} mutations"):
        header += [f"{what}: inertia", "with, ratio", "CPU s", "with, ratio"]
    finish([Section("Three-colour chains", header, rows)], out)


def success(outcome: Outcome, seeds: int) -> str:
    """Say how many runs found a clustering, unless all did."""
    return "" if outcome.successes == seeds else f" ({outcome.successes} of {seeds})"


def weight_cells(instance: Instance, seeds: int) -> list[str]:
    """Give the number of sets, and how the heuristics' weights compare with the heaviest.

    All ways get the same questions: those of a search in which the exact one answers.
    """
    questions = [q for seed in range(seeds) for q in questions_of_a_search(instance, seed)]
    heaviest = np.array([weight_of(question, "exact") for question in questions])
    cells = [str(len(questions))]
    for name in HEURISTICS:
        share = np.array([weight_of(question, name) for question in questions]) / heaviest
        cells.append(number(float(share.mean()) if share.size else None, 5))
        cells.append(number(float(100 * np.mean(share > 1 - 1e-9)) if share.size else None, 3))
        cells[-1] += " %" if share.size else ""
    return cells


def weight_of(question: Question, method: mwis.Method) -> float:
    """Weight of the set that one way chooses."""
    weights = question[0]
    return float(weights[mwis.solve(*question, method)].sum())


def questions_of_a_search(instance: Instance, seed: int) -> list[Question]:
    """Give what is asked while centroids move, where any swaps exclude each other."""
    data = instance.load()
    problem = Problem.build(data.X, data.constraints, n_clusters=data.n_clusters)
    core, k, never = problem.core, problem.n_clusters, _core.Stopper()
    asked: list[Question] = []

    def choose(*question: NDArray[Any]) -> NDArray[np.bool_]:
        if question[2].size:
            asked.append(question)
        return mwis.solve(*question, "exact")

    def target(turn: int) -> NDArray[np.float64]:
        start, _ = kmeans_plusplus(data.X, k, random_state=1000 * seed + turn)
        return np.asarray(start - problem.shift)

    colours, stuck = _core.saturation_assignment(core, target(0))
    if stuck >= 0:
        return []
    for turn in range(TURNS):
        centroids = match(*problem.means(colours), target(turn))
        colours = _core.simultaneous_settle(core, colours, centroids, never, choose)
        colours = _core.simultaneous_descend(core, colours, k, never, choose)
    return asked


def finish(sections: Sequence[Section], out: Path | None) -> None:
    """Print tables, and write them if so wanted."""
    show(sections)
    if out is not None:
        write_markdown(out, sections)


if __name__ == "__main__":
    app()
