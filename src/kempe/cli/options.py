"""Options that several commands share, each told once, alone or in a group."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer


class Decimal(StrEnum):
    """What stands between whole and broken parts of numbers."""

    COMMA = ","
    POINT = "."


class Impute(StrEnum):
    """What to write into holes."""

    MEAN = "mean"
    MEDIAN = "median"
    MOST_FREQUENT = "most_frequent"


DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Rows to cluster: CSV, TSV, Parquet, Arrow, NPY, NPZ or Excel; - for standard input; "
        "a pattern, in quotes, for several files with the same columns.",
        show_default=False,
    ),
]
MustLink = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Pairs that belong together, one a line: row numbers from 0, or ids. All options for "
        "files of pairs may be given several times.",
    ),
]
CannotLink = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="Pairs that belong apart, one a line: row numbers from 0, or ids."
    ),
]
ConstraintsFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--constraints",
        metavar="FILE",
        help="Pairs of both kinds: a third column says must-link or cannot-link, 1 or -1; or JSON "
        "as PCCC has it, with ml, cl, sml and scl.",
    ),
]
Soft = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Pairs that may be wrong, and are broken at a price: a third column says must-link or "
        "cannot-link, a fourth may be called confidence or weight; or the third is called "
        "probability, that they belong together. A --must-link or --cannot-link file with a third "
        "column, confidence or weight, is one, too.",
    ),
]


def probable(confidence: float | None) -> float | None:
    """Refuse a confidence that says nothing, or too much."""
    if confidence is not None and not confidence > 0.5:
        raise typer.BadParameter(
            f"{confidence:g} is no more than one half: such pairs say nothing."
        )
    if confidence is not None and confidence >= 1:
        raise typer.BadParameter(f"{confidence:g} is certain: give the pairs as hard ones.")
    return confidence


Confidence = Annotated[
    float | None,
    typer.Option(
        callback=probable,
        metavar="SHARE",
        help="How probable it is that a soft pair is right which does not say so itself, above 0.5 "
        "and below 1; estimated by default.",
    ),
]
Violated = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write a table of the soft pairs that were broken, dearest first: CSV, Parquet or "
        "Excel by its name.",
    ),
]
Groups = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="Groups that belong together: a group and one of its rows a line."
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Column of ids, which pairs name and labels come with."),
]
GroupsColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column of groups, such as households: rows of one group belong together. Blanks, ?, "
        "NA and nan are in no group.",
    ),
]
LabelsColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column of labels known for some rows; clusters get these names. Blanks, ?, NA, nan "
        "and -1 are unknown.",
    ),
]
Unknown = Annotated[
    list[str] | None,
    typer.Option(metavar="WORD", help="Label that is unknown as well; may be given several times."),
]
WeightsColumn = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column with the weight of each row.")
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="Columns to leave out, with commas between them; may be given several times.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Columns to cluster by; all that are left by default."),
]
Encode = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="Columns of categories, which become columns of 0 and 1; holes are one of their own.",
    ),
]
ImputeBy = Annotated[
    Impute | None,
    typer.Option(
        "--impute",
        help="Fill missing numbers; most_frequent fills missing categories, too.",
        show_default=False,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first line holds names.", show_default=False
    ),
]
Standardise = Annotated[
    bool,
    typer.Option(
        "--standardise", "--standardize", help="Scale numbers to mean 0 and deviation 1 first."
    ),
]
DecimalMark = Annotated[
    Decimal | None,
    typer.Option(
        help="Decimal mark of numbers in text; by default a point, or a comma where it can be "
        "nothing else.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of text that is no UTF-8, such as cp1252."),
]


def positive(seconds: float | None) -> float | None:
    """Refuse a time that is none."""
    if seconds is not None and not seconds > 0:
        raise typer.BadParameter(f"{seconds:g} is not a positive number of seconds.")
    return seconds


TimeLimit = Annotated[
    float | None,
    typer.Option(callback=positive, metavar="SECONDS", help="Return the best after this long."),
]
NClusters = Annotated[
    int,
    typer.Option("--n-clusters", "-k", min=1, metavar="NUMBER", help="Number of clusters."),
]


def _number(text: str) -> float:
    """Read a number that is not negative; whole ones as such."""
    try:
        value = float(text)
    except ValueError:
        raise typer.BadParameter(f"{text.strip()!r} is no number of rows.") from None
    if not 0 <= value < inf:
        raise typer.BadParameter(f"{text.strip()} is no number of rows.")
    return int(value) if value >= 1 and value == int(value) else value


def sizes_of(text: str | None) -> float | list[float] | None:
    """Read a number of rows or a share of them, or one for each cluster with commas between."""
    if text is None:
        return None
    numbers = [_number(part) for part in text.split(",")]
    return numbers if len(numbers) > 1 else numbers[0]


def _checked_sizes(text: str | None) -> str | None:
    sizes_of(text)
    return text


SizeMin = Annotated[
    str | None,
    typer.Option(
        metavar="ROWS",
        callback=_checked_sizes,
        help="Fewest rows of a cluster, or a share below 1; for each cluster: 3,4,0.5.",
    ),
]
SizeMax = Annotated[
    str | None,
    typer.Option(
        metavar="ROWS",
        callback=_checked_sizes,
        help="Most rows of a cluster, or a share below 1; for each cluster: 3,4,0.5.",
    ),
]
NJobs = Annotated[
    int | None,
    typer.Option("--n-jobs", "-j", metavar="NUMBER", help="Number of threads; -1: all."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress, no summary.")]
Seed = Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Seed of the run.")]
Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]


@dataclass(frozen=True)
class PairOptions:
    """Files of pairs."""

    must_link: MustLink = None
    cannot_link: CannotLink = None
    constraints: ConstraintsFile = None
    groups: Groups = None
    soft: Soft = None

    @property
    def files(self) -> list[Path]:
        """All of them."""
        kinds = (self.must_link, self.cannot_link, self.constraints, self.groups, self.soft)
        return [path for paths in kinds for path in paths or ()]


@dataclass(frozen=True)
class SizeOptions:
    """Limits on the sizes of clusters."""

    size_min: SizeMin = None
    size_max: SizeMax = None

    @property
    def given(self) -> dict[str, Any]:
        """Both, as numbers."""
        return {"size_min": sizes_of(self.size_min), "size_max": sizes_of(self.size_max)}


@dataclass(frozen=True)
class FileOptions:
    """A table, and how it is written."""

    data: DataFile
    header: Header = None
    decimal: DecimalMark = None
    encoding: Encoding = None


@dataclass(frozen=True)
class TableOptions(FileOptions):
    """A table, and what its columns are."""

    id_column: IdColumn = None
    groups_column: GroupsColumn = None
    labels_column: LabelsColumn = None
    unknown: Unknown = None
    weights_column: WeightsColumn = None
    columns: Columns = None
    ignore: Ignore = None
    encode: Encode = None
    impute: ImputeBy = None
    standardise: Standardise = False
