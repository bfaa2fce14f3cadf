"""Which search is the default: the choices at equal CPU time.

Besides the two estimators' own there are mixtures of the parts of both. Every search gets the same
seconds on the same instance. Its inertia is given as a multiple of the lowest that any search
reached there, averaged over seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from kempe import datasets
from kempe.engine import MemeticParams, SequentialDescent, memetic_search
from kempe.kskm import Relocation, Relocator, Schedule, SimultaneousDescent, iterate, kskm_search
from kempe.problem import Problem
from kempe.search import Descent, Recorder, Result, TimeLimit
from kempe.search.first_colouring import starting_solution
from kempe.search.seeding import starting_centroids
from tables import Section, show, write_markdown

Search = Callable[[Problem, Recorder, np.random.Generator], Result]

INSTANCES = (
    ("COL2/n300-k20-s50", 0.2),
    ("COL2/n300-k50-s50", 0.3),
    ("COL3/n1000-k50", 0.2),
    ("COL3/n2000-k20", 0.1),
    ("COL3/n2000-k100", 0.2),
    ("COL3/n5000-k20", 0.05),
    ("COL3/n5000-k50", 0.1),
)


def iterated(descent: Descent, schedule: Schedule) -> Search:
    """Give the paper's loop with a descent of choice."""

    def search(problem: Problem, recorder: Recorder, rng: np.random.Generator) -> Result:
        def work() -> None:
            centroids = starting_centroids(problem, "k-means++", rng)
            context = recorder.context(rng)
            start = starting_solution(context, centroids, descent)
            relocator = Relocator(problem, Relocation())
            iterate(context, start, descent, recorder, schedule, relocator)

        return recorder.follow(work)

    return search


def memetic_simultaneous(problem: Problem, recorder: Recorder, rng: np.random.Generator) -> Result:
    """Run our loop with the paper's descent."""
    plan = MemeticParams(saturation_rounds=0, annealing=False).plan(problem)
    plan = replace(plan, descent=SimultaneousDescent())
    return memetic_search(problem, recorder, rng, plan=plan)


SEARCHES: dict[str, Search] = {
    "memetic, sequential (kempe)": memetic_search,
    "iterated, sequential": iterated(SequentialDescent(), Schedule()),
    "iterated, sequential, relocations only": iterated(SequentialDescent(), Schedule(0.0)),
    "iterated, simultaneous (KSKM)": kskm_search,
    "memetic, simultaneous": memetic_simultaneous,
}


def reached(name: str, level: float, search: Search, seconds: float, seeds: int) -> float:
    """Mean inertia after some seconds."""
    instance = datasets.load(name, level=level)
    problem = Problem.build(instance.X, instance.constraints, n_clusters=instance.n_clusters)
    results = []
    for seed in range(seeds):
        with Recorder(problem, [TimeLimit(seconds)]) as recorder:
            results.append(search(problem, recorder, np.random.default_rng(seed)))
    return float(np.mean([result.inertia for result in results]))


def main(
    seconds: Annotated[float, typer.Option(help="For each fit.")] = 1.0,
    seeds: Annotated[int, typer.Option(min=1)] = 2,
    out: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
) -> None:
    """Compare the searches at equal time."""
    columns = [
        [reached(name, level, search, seconds, seeds) for name, level in INSTANCES]
        for search in SEARCHES.values()
    ]
    ratios = np.array(columns) / np.min(columns, axis=0)
    rows = [
        [search, *(f"{ratio:.4f}" for ratio in line), f"{line.mean():.4f}"]
        for search, line in zip(SEARCHES, ratios, strict=True)
    ]
    header = ["search", *(f"{name.split('/')[1]} {level}" for name, level in INSTANCES), "mean"]
    section = Section(f"Inertia after {seconds:g} s, as multiples of the lowest", header, rows)
    show([section])
    if out is not None:
        write_markdown(out, [section])


if __name__ == "__main__":
    typer.run(main)
