"""How our ``KSKM`` compares with the program of the paper's authors, run on the same instances."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from experiments.multiples import BASELINE
from kempe.bench.plan import MAIN
from kempe.bench.summary import Summary

_FIGURES = Path(__file__).parents[1] / "benchmarks" / "kskm_authors.csv"


def beside_the_program(summary: Summary) -> str:
    """Say in a sentence how far the two mean inertias lie apart; nothing without runs."""
    with _FIGURES.open(encoding="utf-8", newline="") as file:
        theirs = {
            (row["dataset"], float(row["level"])): float(row["inertia"])
            for row in csv.DictReader(file)
        }
    ratios = [
        cell.mean("inertia") / inertia
        for instance, inertia in theirs.items()
        if (cell := summary.cell(MAIN, *instance, BASELINE)) is not None and cell.solved
    ]
    if not ratios:
        return ""
    return (
        f"Mean inertia of `{BASELINE}` over that of the program of the paper's authors "
        f"(`benchmarks/{_FIGURES.name}`), on {len(ratios)} instances: "
        f"{np.exp(np.mean(np.log(ratios))):.3f} in the geometric mean, {np.median(ratios):.3f} "
        "in the median."
    )
