"""What limits on sizes and soft pairs do to the gap of certificates, where bounds know of them.

Small sets of collection 1: the pairs as hard ones beside equal sizes, or sizes 20 % about them;
and the pairs as soft ones, one in twenty turned round, alone or beside a least size. The other
bound is that of the inertia of all clusterings that obey the hard pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from folders import use_shared_data
from kempe import Constraints, KempeKMeans, certify
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from noise import Cell
from tables import Section, number, show, write_markdown

SETS = ("iris", "wine", "zoo", "glass")
LEVELS = (0.05, 0.1)
WRONG = 0.05
KINDS = ("equal sizes", "sizes +-20 %", "soft pairs", "soft pairs, size_min n / 2k")


@dataclass(frozen=True)
class Problem:
    """Rows with pairs and limits of some kind."""

    cell: Cell
    kind: str

    @property
    def is_soft(self) -> bool:
        """Whether pairs are soft."""
        return self.kind.startswith("soft")

    def constraints(self) -> Constraints:
        """Give the pairs."""
        return self.cell.told(WRONG).as_soft() if self.is_soft else self.cell.load().constraints

    def limits(self, n: int, k: int) -> dict[str, Any]:
        """Give the limits."""
        return {
            "equal sizes": {"size_min": n // k, "size_max": -(-n // k)},
            "sizes +-20 %": {"size_min": math.ceil(0.8 * n / k), "size_max": int(1.2 * n / k)},
            "soft pairs": {},
        }.get(self.kind, {"size_min": n // (2 * k)})

    def row(self, seconds: float) -> list[str]:
        """Search, certify with and without the terms, and say what the gaps are."""
        data, known = self.cell.load(), self.constraints()
        X, k = np.asarray(data.X, dtype=np.float64), data.n_clusters
        name = [self.cell.dataset.split("/")[1], f"{100 * self.cell.level:g} %", self.kind]
        try:
            limits = self.limits(len(X), k)
            model = KempeKMeans(k, random_state=0, **limits).fit(X, constraints=known)
        except (InfeasibleConstraintsError, NoSolutionFoundError):
            return [*name, "-", "-", "-", "-"]
        hard = known.without_soft()
        how = {"time_limit": seconds, "random_state": 0}
        plain = certify(X, model.labels_, constraints=hard, **how)
        found = certify(X, model, constraints=known, **how)
        # Labels may have become better on the way; the objective is that of the certificate.
        without = 1 - min(plain.lower_bound, found.objective) / found.objective
        gaps = (f"{100 * gap:.3f}" for gap in (without, found.gap))
        return [*name, *gaps, f"{found.n_nodes:,}", number(found.seconds, 3)]


def _problems() -> Iterator[Problem]:
    for name in SETS:
        for level in LEVELS:
            for kind in KINDS:
                yield Problem(Cell(f"COL1/{name}", level), kind)


def main(
    limit: Annotated[float, typer.Option(help="Seconds for each certificate.")] = 10.0,
    out: Annotated[Path | None, typer.Option(help="Write the table here.")] = None,
) -> None:
    """Certify clusterings of limited sizes and with soft pairs, with the terms and without."""
    use_shared_data()
    with threadpool_limits(1):
        rows = [problem.row(limit) for problem in _problems()]
    header = ["set", "pairs", "problem", "gap without, %", "gap, %", "nodes", "seconds"]
    sections = [Section("Limits on sizes and soft pairs", header, rows)]
    show(sections)
    if out is not None:
        write_markdown(out, sections)


if __name__ == "__main__":
    typer.run(main)
