"""The figures of the landing page, read from the tables that were measured."""

from __future__ import annotations

import csv
import re
from pathlib import Path

DOCS = Path(__file__).parent
TABLES = DOCS / "_generated"


def figures() -> dict[str, str]:
    """Give each figure by its name."""
    digits = _rows(TABLES / "alternatives.md", column=1, wanted="digits")
    ours, plain = digits["kempe"], digits["scikit-learn KMeans, 10 starts"]
    asked = _rows(TABLES / "questions.md")
    measured = _measured()
    with (DOCS.parent / "benchmarks" / "best_known.csv").open(newline="") as file:
        proven = [row["proven"] == "yes" for row in csv.DictReader(file)]
    return {
        "pairs": ours[3].split(" of ")[1],
        "broken_by_kempe": {"0": "none"}.get(ours[3].split()[0], ours[3].split()[0]),
        "broken_by_kmeans": plain[3].split()[0],
        "speed_up": measured["speed-up"],
        "costly": measured["costly"],
        "instances": measured["instances"],
        "asked": asked["kempe"][3],
        "asked_cobras": asked["COBRAS"][3],
        "asked_sets": asked["kempe"][6],
        "known": str(len(proven)),
        "proven": str(sum(proven)),
    }


def _rows(path: Path, column: int = 0, wanted: str = "") -> dict[str, list[str]]:
    """Read the first table of a page by its first column, perhaps only rows with a certain cell."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and (not wanted or cells[column] == wanted):
            found.setdefault(cells[0], cells)
    return found


def _measured() -> dict[str, str]:
    """Read the figures of the README."""
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    above = re.search(r"our mean inertia is above theirs \| 0 of (\d+) \|", text)
    sooner = re.search(r"theirs / ours, geometric mean \((\d+) [^|]*\| (\d+) \|", text)
    if above is None or sooner is None:
        raise ValueError("the README no longer has the figures that the landing page shows")
    return {"instances": above[1], "costly": sooner[1], "speed-up": sooner[2]}
