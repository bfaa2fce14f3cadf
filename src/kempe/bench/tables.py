"""Tables of a report as CSV and LaTeX: a line per instance, a column per method."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from kempe.bench.latex import latex_table, latex_text
from kempe.bench.plan import MAIN
from kempe.bench.summary import Quantity, Summary
from kempe.bench.wording import HEADINGS, format_number, in_sentence
from kempe.storage import replacing

QUANTITIES: tuple[Quantity, ...] = ("inertia", "time", "success", "ari")


def write_tables(folder: Path, summary: Summary) -> list[Path]:
    """Write the means over seeds of every quantity, for every variant.

    Parameters
    ----------
    folder
        Made if it does not exist.

    Returns
    -------
    list of Path
        What was written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, variant in enumerate(summary.variants()):
        place = "" if variant == MAIN else f"-{number}"
        for quantity in QUANTITIES:
            lines = list(_lines(summary, variant, quantity))
            if lines:
                written += _write(folder / f"{quantity}{place}", summary, variant, quantity, lines)
    return written


def _lines(summary: Summary, variant: str, quantity: Quantity) -> Iterator[list[str | float]]:
    instances = summary.instances(variant)
    values = summary.matrix(quantity, instances, variant)
    for place, (dataset, level) in enumerate(instances):
        row = [float(found[place]) for found in values.values()]
        if not all(map(math.isnan, row)):
            yield [dataset, level, *row]


def _write(
    stem: Path,
    summary: Summary,
    variant: str,
    quantity: Quantity,
    lines: Sequence[Sequence[str | float]],
) -> list[Path]:
    methods = summary.methods(variant)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("csv", "tex")]
    with replacing(paths[0]) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["data", "level", *methods])
        writer.writerows(["" if cell != cell else cell for cell in line] for line in lines)
    setting = "" if variant == MAIN else f", {variant}"
    mean = HEADINGS[quantity] if quantity == "success" else f"Mean {in_sentence(quantity)}"
    with replacing(paths[1]) as file:
        rows = [_latex_row(line, quantity) for line in lines]
        caption = f"{mean} over seeds{setting}."
        file.write(latex_table(caption, ["Data", "Level", *methods], rows, n_left=2))
    return paths


def _latex_row(line: Sequence[str | float], quantity: Quantity) -> list[str]:
    """Cells of a line, the best in bold; numbers that are printed alike are equally good."""
    name, level, *values = line
    texts = [
        format_number(float(value), quantity, 3 if quantity == "time" else 2) for value in values
    ]
    known = [float(value) for value in values if not math.isnan(float(value))]
    best = (min if quantity in ("inertia", "time") else max)(known)
    top = texts[[float(value) for value in values].index(best)]
    cells = [f"\\textbf{{{text}}}" if text == top else latex_text(text) for text in texts]
    return [latex_text(str(name)), f"{float(level):g}", *cells]
