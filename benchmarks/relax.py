"""Pairs to give up where constraints contradict each other: ours beside CP-SAT, with lower bounds.

Pairs of collection 1 are turned round at random, each with a probability, so that they contradict
each other. ``relax`` looks for the fewest to give up; CP-SAT, with a label for each row and a truth
value for each pair, has a time limit and sometimes proves the optimum.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from folders import use_shared_data
from kempe import Constraints, datasets, relax
from tables import Section, show, write_markdown

SETS = ("iris", "wine", "glass", "tae")
LEVELS = (0.15, 0.2)
NOISES = (0.05, 0.1)

app = typer.Typer(help=__doc__, add_completion=False)


class Instance(NamedTuple):
    """Pairs of a data set, some of them turned round."""

    name: str
    X: NDArray[np.float64]
    n_clusters: int
    pairs: NDArray[np.int64]
    together: NDArray[np.bool_]
    flipped: int

    @classmethod
    def of(cls, name: str, level: float, noise: float) -> Instance:
        """Turn pairs round; the seed is of the level, the noise and the place of the set."""
        data = datasets.load(f"COL1/{name}", level, download=False)
        given = data.constraints
        pairs = np.concatenate([given.must_link, given.cannot_link])
        together = np.arange(len(pairs)) < len(given.must_link)
        place = datasets.names("COL1").index(f"COL1/{name}")
        rng = np.random.default_rng([round(100 * level), round(100 * noise), place])
        wrong = rng.random(len(pairs)) < noise
        called = f"{name} {100 * level:.0f} %, {100 * noise:.0f} % wrong"
        return cls(
            called, data.X, data.n_clusters, pairs, together ^ wrong, int(np.count_nonzero(wrong))
        )

    @property
    def constraints(self) -> Constraints:
        """The pairs as hard ones."""
        return Constraints(self.pairs[self.together], self.pairs[~self.together])


def by_cpsat(instance: Instance, seconds: float) -> tuple[float, float]:
    """Fewest pairs to give up that CP-SAT finds, and its lower bound."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    k = instance.n_clusters
    rows = np.unique(instance.pairs)
    inside = {int(row): [model.new_bool_var("") for _ in range(k)] for row in rows}
    for choices in inside.values():
        model.add_exactly_one(choices)
    broken = []
    for (a, b), together in zip(instance.pairs.tolist(), instance.together, strict=True):
        lost = model.new_bool_var("")
        broken.append(lost)
        for one, other in zip(inside[a], inside[b], strict=True):
            if together:
                model.add_bool_or([one.negated(), other, lost])
                model.add_bool_or([one, other.negated(), lost])
            else:
                model.add_bool_or([one.negated(), other.negated(), lost])
    model.minimize(sum(broken))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    # It would leave this process without a handler of Ctrl-C.
    solver.parameters.catch_sigint_signal = False
    solver.solve(model)
    return solver.objective_value, solver.best_objective_bound


@app.command()
def main(
    seconds: Annotated[float, typer.Option(help="Time limit of CP-SAT.")] = 15.0,
    quick: Annotated[bool, typer.Option("--quick", help="Two instances only.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
) -> None:
    """Compare both on sixteen instances."""
    use_shared_data()
    cells = [(s, level, noise) for s in SETS for level in LEVELS for noise in NOISES]
    rows = []
    for cell in cells[:: 8 if quick else 1]:
        instance = Instance.of(*cell)
        begun = time.process_time()
        found = relax(instance.X, instance.constraints, instance.n_clusters, random_state=0)
        cpu = time.process_time() - begun
        assert found.verify()
        solved, bound = by_cpsat(instance, seconds)
        proven = "proven" if solved <= bound + 1e-6 else f"at least {bound:.0f}"
        rows.append(
            [
                instance.name,
                str(instance.flipped),
                str(found.n_given_up),
                f"{found.lower_bound:.0f}",
                f"{cpu:.1f}",
                f"{solved:.0f}, {proven}",
            ]
        )
    head = ["pairs", "turned round", "given up", "at least", "CPU s", f"CP-SAT, {seconds:g} s"]
    section = Section("Fewest pairs to give up", head, rows)
    show([section])
    if out is not None:
        write_markdown(out, [section])


if __name__ == "__main__":
    app()
