"""Which search is the default: the choices at equal CPU time.

Every search gets the same seconds on the same instance. Its inertia is given as a multiple of the
lowest that any search reached there, averaged over seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from kempe import KempeKMeans, datasets
from tables import Section, show, write_markdown

INSTANCES = (
    ("COL2/n300-k20-s50", 0.2),
    ("COL2/n300-k50-s50", 0.3),
    ("COL3/n1000-k50", 0.2),
    ("COL3/n2000-k20", 0.1),
    ("COL3/n2000-k100", 0.2),
    ("COL3/n5000-k20", 0.05),
    ("COL3/n5000-k50", 0.1),
)
UNLIMITED = 10**9
SEARCHES: dict[str, dict[str, Any]] = {
    "memetic, sequential": {"search": "memetic"},
    "iterated, sequential": {"search": "iterated"},
    "iterated, sequential, relocations only": {"search": "iterated", "perturbation": 0.0},
    "iterated, simultaneous": {"search": "iterated", "assignment": "simultaneous"},
    "memetic, simultaneous": {"search": "memetic", "assignment": "simultaneous"},
}


def reached(name: str, level: float, options: dict[str, Any], seconds: float, seeds: int) -> float:
    """Mean inertia after some seconds."""
    instance = datasets.load(name, level=level)
    model = KempeKMeans(instance.n_clusters, time_limit=seconds, max_mutations=UNLIMITED, **options)
    fits = (
        model.set_params(random_state=seed).fit(instance.X, constraints=instance.constraints)
        for seed in range(seeds)
    )
    return float(np.mean([fit.inertia_ for fit in fits]))


def main(
    seconds: Annotated[float, typer.Option(help="For each fit.")] = 1.0,
    seeds: Annotated[int, typer.Option(min=1)] = 2,
    out: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
) -> None:
    """Compare the searches at equal time."""
    columns = [
        [reached(name, level, options, seconds, seeds) for name, level in INSTANCES]
        for options in SEARCHES.values()
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
