"""The lowest inertia known of every instance, and how it was found: ``best_known.csv``.

``update`` takes what certificates have proven, searches longer than the default does, and keeps
whatever is lower than before. It never forgets, so it can be repeated with other seeds.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated

import typer

from folders import available, use_shared_data
from kempe import KempeKMeans, datasets
from kempe.engine import MemeticParams
from tables import Section, number, show, write_csv

HERE = Path(__file__).resolve().parent
TABLE = HERE / "best_known.csv"
CERTIFICATES = HERE.parent / "docs" / "results" / "certificates" / "all.csv"
COLLECTIONS = ("COL1", "COL2", "COL3")
LOWER = 1e-9
"""Relative difference that is more than rounding."""

Instance = tuple[str, float]
"""Collection and name, level of constraints."""


@dataclass(frozen=True)
class Best:
    """The lowest inertia known.

    Attributes
    ----------
    inertia
        Sum of squared distances, of standardised data.
    found
        By what.
    proven
        Whether a certificate says that none is lower by more than 0.01 %.
    """

    inertia: float
    found: str
    proven: bool = False


class BestKnown(dict[Instance, Best]):
    """The table; only lower values replace others."""

    @classmethod
    def read(cls, path: Path = TABLE) -> BestKnown:
        """Read the table; it is empty where there is no file."""
        if not path.is_file():
            return cls()
        with path.open(encoding="utf-8", newline="") as file:
            return cls(
                (
                    (row["dataset"], float(row["level"])),
                    Best(float(row["inertia"]), row["found"], row["proven"] == "yes"),
                )
                for row in csv.DictReader(file)
            )

    def write(self, path: Path = TABLE) -> None:
        """Write the table in the order of the instances."""
        rows = [
            [*instance, repr(best.inertia), best.found, "yes" if best.proven else "no"]
            for instance, best in sorted(self.items())
        ]
        write_csv(path, ["dataset", "level", "inertia", "found", "proven"], rows)

    def offer(self, instance: Instance, best: Best) -> bool:
        """Keep an inertia that is lower than the known one; say whether it is."""
        known = self.get(instance)
        if known is not None and best.inertia >= known.inertia * (1 - LOWER):
            if best.proven and not known.proven:
                self[instance] = Best(known.inertia, known.found, proven=True)
            return False
        # What bounds the known one from below bounds a lower one even more tightly.
        proven = best.proven or (known is not None and known.proven)
        self[instance] = replace(best, proven=proven)
        return True


def take_certified(table: BestKnown, path: Path = CERTIFICATES) -> int:
    """Take what certificates are about; give the number of improvements."""
    if not path.is_file():
        return 0
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["collection"] in COLLECTIONS]
    return sum(
        table.offer(
            (f"{row['collection']}/{row['name']}", float(row["level"])),
            Best(float(row["inertia"]), "certificate", row["optimal"] == "True"),
        )
        for row in rows
    )


def searched(instance: Instance, effort: float, seed: int) -> Best:
    """Search with a multiple of the default's mutations."""
    data = datasets.load(instance[0], level=instance[1])
    mutations = round(effort * MemeticParams().max_mutations(data.n_clusters))
    model = KempeKMeans(data.n_clusters, max_mutations=mutations, random_state=seed)
    model.fit(data.X, constraints=data.constraints)
    return Best(model.inertia_, f"search, {effort:g} times the mutations, seed {seed}")


def instances(pattern: str, least_clusters: int) -> Iterator[Instance]:
    """All instances of the collections that match, whose data is there."""
    for collection in COLLECTIONS:
        for name in datasets.names(collection):
            (facts,) = datasets.describe(name)
            if facts.n_clusters >= least_clusters and fnmatch(name, pattern) and available(name):
                yield from ((name, level) for level in datasets.levels(collection))


app = typer.Typer(help=__doc__)


@app.command()
def update(
    effort: Annotated[float, typer.Option(help="Multiple of the default's mutations.")] = 10.0,
    seed: Annotated[list[int] | None, typer.Option(help="May be repeated.")] = None,
    only: Annotated[str, typer.Option(help="Only data sets like this.")] = "*",
    least_clusters: Annotated[int, typer.Option(help="Only with so many clusters.")] = 2,
    seconds: Annotated[float, typer.Option(help="Begin no search after so many.")] = 3600.0,
    proven: Annotated[bool, typer.Option(help="Search what is proven optimal too.")] = False,
    path: Annotated[Path, typer.Option("--table", help="File with the table.")] = TABLE,
    certificates: Annotated[Path, typer.Option(help="Figures of certify.py.")] = CERTIFICATES,
) -> None:
    """Search longer than the default and keep what is lower."""
    use_shared_data()
    table = BestKnown.read(path)
    lower = take_certified(table, certificates)
    table.write(path)
    end = time.monotonic() + seconds
    tried = 0
    for instance in instances(only, least_clusters):
        if instance in table and table[instance].proven and not proven:
            continue
        for each in seed or [1000]:
            if time.monotonic() < end:
                lower += table.offer(instance, searched(instance, effort, each))
                tried += 1
        table.write(path)
    typer.echo(f"{tried} searches, {lower} lower values, {len(table)} instances")


@app.command("list")
def list_all() -> None:
    """Print the table."""
    table = BestKnown.read()
    header = ["instance", "level", "inertia", "found", "proven"]
    rows = [
        [name, f"{level:g}", number(best.inertia, 9), best.found, "yes" if best.proven else "no"]
        for (name, level), best in sorted(table.items())
    ]
    show([Section(f"Best known of {len(table)} instances", header, rows)])


if __name__ == "__main__":
    app()
