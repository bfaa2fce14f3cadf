"""How low the searches get where cannot-link pairs are tight.

The pairs of vehicle at 10 % without its must-link pairs: a proper colouring is found at once, yet
every search freezes somewhere else, so that the default goes on by annealing.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from kempe import Constraints, KempeKMeans, datasets
from kempe.engine import MemeticParams
from tables import Section, show, write_markdown

NAME, LEVEL = "COL1/vehicle", 0.1
SETTINGS = (("default", None), ("never anneals", MemeticParams(annealing=False)))


def main(
    seeds: Annotated[int, typer.Option(min=1, help="Fits with each setting.")] = 10,
    out: Annotated[Path | None, typer.Option(help="Also write the table as Markdown.")] = None,
) -> None:
    """Fit with and without annealing."""
    data = datasets.load(NAME, LEVEL)
    pairs = Constraints(None, data.constraints.cannot_link)
    rows = []
    for name, params in SETTINGS:
        inertia, seconds = [], []
        for seed in range(seeds):
            began = time.process_time()
            model = KempeKMeans(data.n_clusters, params=params, random_state=seed)
            inertia.append(model.fit(data.X, constraints=pairs).inertia_)
            seconds.append(time.process_time() - began)
        figures = (np.mean(inertia), np.min(inertia), np.max(inertia))
        rows.append([name, *(f"{figure:,.0f}" for figure in figures), f"{np.mean(seconds):.2f}"])
    title = f"{NAME} {LEVEL} without must-link pairs, {seeds} seeds"
    section = Section(title, ["setting", "mean inertia", "lowest", "highest", "CPU s"], rows)
    show([section])
    if out is not None:
        write_markdown(out, [section])


if __name__ == "__main__":
    typer.run(main)
