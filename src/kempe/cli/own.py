"""A table as methods are compared on it, and those that a plan names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kempe.cli.console import note
from kempe.cli.data import Given, opened, read_with_constraints
from kempe.cli.options import Impute, PairOptions, TableOptions

if TYPE_CHECKING:
    from kempe.bench import Plan
    from kempe.constraints import Constraints

# What [[data]] of a plan may say beside the options of the table and of its pairs.
_OF_PLANS = {"name", "file", "n_clusters", "truth_column"}


@dataclass(frozen=True)
class Compared:
    """A table, its pairs, and true labels that no method sees."""

    given: Given
    constraints: Constraints
    truth: list[str] | None


def read_compared(
    table: TableOptions, files: PairOptions, truth_column: str | None, *, soft: bool = False
) -> Compared:
    """Read a table, its pairs, which must hold unless soft ones are known, and its true labels."""
    truth = None
    if truth_column is not None:
        whole = opened(table)
        truth = whole.texts(whole.position(truth_column))
        table = replace(table, ignore=[*(table.ignore or []), truth_column])
    return Compared(*read_with_constraints(table, files, soft=soft), truth)


def with_own_data(plan: Plan, folder: Path, store: Path) -> Plan:
    """Read the tables of a plan and keep them in a store.

    Parameters
    ----------
    folder
        Where the plan lies, which its files are named from.
    store
        Where its runs go.
    """
    from kempe.bench.own import OwnData

    found = []
    for item in plan.data:
        compared = read_compared(*_options(item, folder))
        rows, truth = compared.given.rows, compared.truth
        facts = (item["name"], rows, compared.constraints, item["n_clusters"], truth)
        found.append(OwnData.save(store / "data", *facts))
        if found[-1].known_in_words:
            note(f"{item['name']}: {found[-1].known_in_words}")
    return plan.with_data(found) if found else plan


def _options(item: Mapping[str, Any], folder: Path) -> tuple[TableOptions, PairOptions, str | None]:
    pair_names = [option.name for option in fields(PairOptions)]
    table_names = [option.name for option in fields(TableOptions) if option.name != "data"]
    unknown = set(item) - _OF_PLANS - set(pair_names) - set(table_names)
    if unknown:
        raise ValueError(f"unknown entries of the data {item['name']!r}: {', '.join(unknown)}")
    if not isinstance(item.get("n_clusters"), int):
        raise ValueError(f"the data {item['name']!r} needs a number n_clusters")
    said = {name: item[name] for name in table_names if name in item}
    if "impute" in said:
        said["impute"] = Impute(said["impute"])
    pairs = {name: _files(item[name], folder) for name in pair_names if name in item}
    table = TableOptions(folder / item["file"], **said)
    return table, PairOptions(**pairs), item.get("truth_column")


def _files(named: str | list[str], folder: Path) -> list[Path]:
    """Give one file or several as a plan names them."""
    return [folder / name for name in ([named] if isinstance(named, str) else named)]
