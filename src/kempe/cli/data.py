"""The table and the pairs that a command is given, read and made ready for k-means.

``read`` gives the table, ``PairFiles`` the pairs, ``constraints_of`` the constraints that follow;
``read_with_constraints`` does all of it where every pair must hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from kempe.cli.known import KnownLabels
    from kempe.cli.options import FileOptions, PairOptions, TableOptions
    from kempe.constraints import Constraints
    from kempe.preparation import Preparation
    from kempe.tables import Ids, PairSet, Source, Table


ALONE = 0.99
"""A column with this share of the variance leaves the others no say."""


@dataclass(frozen=True)
class Given:
    """A table as k-means needs it.

    Attributes
    ----------
    table
        The table itself.
    rows
        Numbers, prepared.
    names
        Names of their columns; without a header, columns are named by their numbers.
    has_header
        Whether these are names of the table.
    preparation
        What made the numbers of the table, if it was needed.
    ids, grouped, known, weights
        The id of each row, pairs of rows in one group, the labels known for some, the weights; if
        there are columns of them.
    remarks
        What a person should know about how the table was read.
    """

    table: Table
    rows: NDArray[np.float64]
    names: tuple[str, ...]
    has_header: bool
    preparation: Preparation | None = None
    ids: Ids | None = None
    grouped: NDArray[np.int64] | None = None
    known: KnownLabels | None = None
    weights: NDArray[np.float64] | None = None
    remarks: tuple[str, ...] = ()


def opened(options: FileOptions) -> Table:
    """Open a table, or all tables that a pattern names."""
    from kempe.tables import JoinedTable, Source, open_table

    paths = _matched(options.data)
    mark: Any = None if options.decimal is None else str(options.decimal)
    tables = [
        open_table(Source(path, options.encoding), options.header, decimal=mark) for path in paths
    ]
    return tables[0] if len(tables) == 1 else JoinedTable(str(options.data), tables)


def _matched(path: Path) -> list[Path]:
    """Give the files that a pattern names; a file may have the name of a pattern."""
    from glob import glob, has_magic

    if path.exists() or not has_magic(str(path)):
        return [path]
    found = sorted(map(Path, glob(str(path), recursive=True)))
    if not found:
        raise ValueError(f"there is no file {path}")
    return found


def read(options: TableOptions) -> Given:
    """Read the table that is to be clustered."""
    from kempe.cli.columns import Roles, numbers_and_words, weights_of
    from kempe.cli.known import KnownLabels
    from kempe.tables import Ids, groups_in_column

    table = opened(options)
    roles = Roles.of(table, options)
    ids = None if roles.ids is None else Ids(table, roles.ids)
    cells = numbers_and_words(table, roles, options.impute is not None)
    known = None
    if roles.labels is not None:
        known = KnownLabels(table, roles.labels, options.unknown or ())
    grouped = None if roles.groups is None else groups_in_column(table, roles.groups)
    names = tuple(table.names[column] for column in roles.features)
    remarks = [*roles.remarks, *([] if known is None else [known.summary()])]
    if grouped is not None:
        remarks.append(_groups_in_words(grouped, table.n_rows, options.groups_column))
    encode = [table.names[column] for column in sorted(roles.categories)]
    preparation = _preparation(names, table.has_header, encode, options)
    rows = cells if preparation is None else preparation.fit_transform(cells)
    if preparation is not None:
        names = tuple(preparation.get_feature_names_out())
        remarks.append(f"preparation: {preparation.summary()}")
    if not options.standardise:
        remarks += _scales_in_words(rows, names)
    return Given(
        table=table,
        rows=rows,
        names=names,
        has_header=table.has_header,
        preparation=preparation,
        ids=ids,
        grouped=grouped,
        known=known,
        weights=None if roles.weights is None else weights_of(table, roles.weights),
        remarks=tuple(remarks),
    )


def _scales_in_words(rows: NDArray[Any], names: Sequence[str]) -> list[str]:
    """Warn where one column alone decides, which is nearly always for its unit."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        spread = rows.var(axis=0) if len(rows) else np.zeros(len(names))
        total = float(spread.sum())
    if not np.isfinite(total) or np.count_nonzero(spread) < 2:
        return []
    share = spread / total
    largest = int(share.argmax())
    if share[largest] < ALONE:
        return []
    return [
        f"scale: {names[largest]!r} has {100 * share[largest]:.1f} % of the variance, so it "
        "decides nearly alone; --standardise gives every column the same weight"
    ]


def _groups_in_words(pairs: NDArray[np.int64], n_rows: int, column: str | None) -> str:
    """Say how many rows are in groups; each group is a chain, with a pair less than it has rows."""
    n_grouped = len(set(pairs.ravel().tolist()))
    return (
        f"groups: {n_grouped:,} of {n_rows:,} rows are in {n_grouped - len(pairs):,} groups of two "
        f"or more by {column!r}"
    )


def _preparation(
    names: Sequence[str], named: bool, encode: Sequence[str], options: TableOptions
) -> Preparation | None:
    """Say what must be done to the table, if anything must."""
    if options.impute is None and not encode and not options.standardise:
        return None
    from kempe.preparation import Preparation

    return Preparation(
        names,
        named=named,
        encode=encode,
        impute=None if options.impute is None else options.impute.value,
        standardise=options.standardise,
    )


@dataclass(frozen=True)
class PairFiles:
    """Files of pairs, opened, so that each is read once even if it is standard input."""

    sources: Mapping[str, Sequence[Source]]

    @classmethod
    def of(cls, options: PairOptions, encoding: str | None = None) -> PairFiles:
        """Open the files, which are UTF-8 or of this encoding."""
        from kempe.tables import Source

        def sources(paths: Sequence[Path] | None) -> list[Source]:
            return [Source(path, otherwise=encoding) for path in paths or ()]

        return cls({kind: sources(paths) for kind, paths in vars(options).items()})

    def names(self) -> set[str]:
        """Give whatever stands in the files: ids, if pairs are of ids."""
        from kempe.tables import names_in

        every = (source for sources in self.sources.values() for source in sources)
        return {name for source in every for name in names_in(source)}

    def pairs(self, n_rows: int | None = None, ids: Ids | None = None) -> PairSet:
        """Read the pairs and join them."""
        from kempe.tables import PairSet, read_constraint_file, read_groups, read_linked

        known: dict[str, Any] = {"ids": ids, "n_rows": n_rows}
        readers: dict[str, Callable[[Source], PairSet]] = {
            "must_link": lambda s: read_linked(s, "must-link", **known),
            "cannot_link": lambda s: read_linked(s, "cannot-link", **known),
            "constraints": lambda s: read_constraint_file(s, **known),
            "groups": lambda s: PairSet(must_link=read_groups(s, **known)),
            "soft": lambda s: read_constraint_file(s, soft=True, **known),
        }
        read = (readers[kind](s) for kind, sources in self.sources.items() for s in sources)
        return reduce(or_, read, PairSet())


def constraints_of(given: Given, pairs: PairSet) -> Constraints:
    """Join the pairs of files and those that follow from groups and from known labels."""
    from kempe.constraints import Constraints
    from kempe.tables import PairSet

    if given.grouped is not None:
        pairs |= PairSet(must_link=given.grouped)
    constraints = Constraints(
        pairs.must_link,
        pairs.cannot_link,
        n_rows=len(given.rows),
        row_names=None if given.ids is None else given.ids.names,
    )
    if given.known is not None:
        constraints = given.known.constraints() | constraints
    return constraints.with_soft(pairs.soft)


def read_with_constraints(
    table: TableOptions, pairs: PairOptions, *, soft: bool = False
) -> tuple[Given, Constraints]:
    """Read a table and its pairs, which must hold unless soft ones are understood."""
    given = read(table)
    found = PairFiles.of(pairs, table.encoding).pairs(len(given.rows), given.ids)
    if not soft:
        refuse_soft(found)
    constraints = constraints_of(given, found)
    constraints.soft.check_confidences()
    return given, constraints


_INSTEAD = "give them as hard ones, or leave them out"


def refuse_soft(pairs: PairSet, method: str = "this command") -> None:
    """Lose no soft pair without a word."""
    if pairs.n_soft:
        raise ValueError(
            f"{method} knows no soft pairs, of which there are {pairs.n_soft}: {_INSTEAD}"
        )
