"""A folder that every finished run is appended to, safe against a kill at any moment."""

from __future__ import annotations

import csv
import io
import json
import lzma
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, Self, TextIO

from kempe.bench.cells import LONGEST_LINE, from_cell, read_json, to_cell
from kempe.bench.plan import Task
from kempe.storage import replacing

RUNS = "runs.csv"
PACKED = "runs-{collection}.csv.xz"
ENVIRONMENTS = "environments.json"

_MOST_OF_ENVIRONMENTS = 2**24

NO_DATA = "no data"
"""Reason of runs that had nothing to work on, which says nothing about the method."""

BY_LIMIT = "time_limit"
"""What ends runs that the time limit ends."""


class StoreError(RuntimeError):
    """A store that cannot be used for what is planned."""


@dataclass(frozen=True)
class Record:
    """Outcome of one run.

    Attributes
    ----------
    variant, collection, name, level, method, seed, options, time_limit, must_link, dtype
        What was run, as in ``Experiment``.
    status
        ``"ok"`` or ``"failed"``.
    reason
        Why a run failed: ``"infeasible"``, ``"no solution"``, ``"memory"``, ``"hang"``,
        ``"crash"``, ``"violation"``, ``"no data"`` or ``"error"``, followed by details.
    inertia
        Inertia computed from the labels that the method returned.
    ari
        Adjusted Rand index against the true labels, where there are any.
    cpu_s, wall_s
        Seconds of processor and of wall time in ``fit``.
    n_iter
        Iterations that the method counted.
    peak_mb
        Largest resident memory of the worker during the run.
    violations
        Constraints that the labels violate; never other than 0 in a run that is ok.
    stop_reason
        What ended the method, also one without a clustering if it was the time limit.
    data
        Digest of data of one's own.
    history
        Pairs of elapsed seconds and best inertia so far.
    environment
        Identifies versions and machine in the file beside the runs.
    """

    variant: str
    collection: str
    name: str
    level: float | None
    method: str
    seed: int
    status: str
    reason: str = ""
    inertia: float | None = None
    ari: float | None = None
    cpu_s: float | None = None
    wall_s: float | None = None
    n_iter: int | None = None
    peak_mb: float | None = None
    violations: int | None = None
    stop_reason: str = ""
    history: list[tuple[float, float]] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    time_limit: float = 3600.0
    must_link: bool = True
    dtype: str = "float64"
    data: str = ""
    environment: str = ""

    @classmethod
    def of(cls, task: Task, status: str, **outcome: Any) -> Self:
        """Outcome of a task.

        Parameters
        ----------
        task
            What was run.
        status
            ``"ok"`` or ``"failed"``.
        **outcome
            The other attributes.
        """
        collection, name = task.dataset.split("/")
        return cls(
            task.variant,
            collection,
            name,
            task.level,
            task.method,
            task.seed,
            status,
            **outcome,
            **task.settings(),
        )

    @classmethod
    def from_cells(cls, cells: Mapping[str, str]) -> Self:
        """Read one line of a store; columns of later versions are ignored.

        Parameters
        ----------
        cells
            Text of each column.
        """
        return cls(
            **{
                item.name: from_cell(cells[item.name], str(item.type))
                for item in fields(cls)
                if item.name in cells
            }
        )

    def to_cells(self) -> list[str]:
        """Cells of one line of a store, in the order of the fields."""
        return [to_cell(value) for value in asdict(self).values()]

    @property
    def dataset(self) -> str:
        """Collection and name."""
        return f"{self.collection}/{self.name}"

    @property
    def key(self) -> str:
        """Name of the run; see ``Task.key``."""
        return f"{self.variant}|{self.dataset}|{self.level}|{self.method}|{self.seed}"

    @property
    def ok(self) -> bool:
        """Whether the run returned a feasible clustering."""
        return self.status == "ok"

    @property
    def limited(self) -> bool:
        """Whether the time limit ended the run, with or without a clustering."""
        return self.stop_reason == BY_LIMIT or self.reason.startswith("hang")

    def settings(self) -> dict[str, Any]:
        """Give what the run was made with; see ``Task.settings``."""
        names = ("options", "time_limit", "must_link", "dtype", "data")
        return {name: getattr(self, name) for name in names}


COLUMNS = [item.name for item in fields(Record)]


class Store:
    """Results of runs in a folder: a CSV file with one line per run.

    A line is written whole and forced to disk before the run counts as done. What a kill may
    leave behind is an unfinished last line, which is dropped when the store is opened again. Runs
    that are to be kept can be packed into compressed files beside it, one for each collection.

    Parameters
    ----------
    folder
        Made if it does not exist.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)

    @property
    def path(self) -> Path:
        """File with the runs."""
        return self.folder / RUNS

    @property
    def packed(self) -> list[Path]:
        """Files with packed runs."""
        return sorted(self.folder.glob(PACKED.format(collection="*")))

    def records(self) -> list[Record]:
        """All finished runs, without an unfinished last line; the newer of two of one name."""
        return list(_unique(record for path in self._files() for record in _read(path)).values())

    def _files(self) -> list[Path]:
        return [*self.packed, *([self.path] if self.path.exists() else [])]

    def pack(self) -> list[Path]:
        """Compress all runs, one file for each collection; say which files there are.

        The store can be used as before. Packed runs are read with the others.
        """
        with self._locked():
            records = self.records()
            collections = {record.collection for record in records}
            written = [self.folder / PACKED.format(collection=name) for name in collections]
            for path, name in zip(written, collections, strict=True):
                chosen = (record for record in records if record.collection == name)
                _replace(path, lzma.compress(_lines(chosen), preset=lzma.PRESET_EXTREME))
            self._keep_only(written)
        return sorted(written)

    def _keep_only(self, files: Iterable[Path]) -> None:
        """Remove the other files with runs, which these have taken over."""
        for path in set(self._files()) - set(files):
            path.unlink()

    def environments(self) -> dict[str, dict[str, Any]]:
        """Versions and machines that runs were made with."""
        path = self.folder / ENVIRONMENTS
        if not path.exists():
            return {}
        try:
            with open(path, encoding="utf-8") as file:
                content = read_json(file.read(_MOST_OF_ENVIRONMENTS))
        except ValueError as error:
            raise StoreError(f"{path} is damaged: {error}") from error
        if not isinstance(content, dict) or not all(isinstance(v, dict) for v in content.values()):
            raise StoreError(f"{path} is damaged: it does not list machines")
        return content

    def add_environment(self, name: str, facts: Mapping[str, Any]) -> None:
        """Remember versions and machine of runs to come.

        Parameters
        ----------
        name
            What runs refer to it by.
        facts
            Versions and machine.
        """
        content = self.environments() | {name: dict(facts)}
        _replace(self.folder / ENVIRONMENTS, json.dumps(content, indent=2).encode())

    def drop(self, unwanted: Callable[[Record], bool]) -> int:
        """Remove runs, for example failed ones that are to be repeated; say how many.

        Parameters
        ----------
        unwanted
            Says of a run whether it goes.
        """
        if not self._files():
            return 0
        with self._locked():
            records = self.records()
            kept = [record for record in records if not unwanted(record)]
            if len(kept) < len(records):
                _replace(self.path, _lines(kept))
                self._keep_only([self.path])
        return len(records) - len(kept)

    def _locked(self) -> AbstractContextManager[None]:
        return _locked(self.folder / ".lock")

    @contextmanager
    def writing(self) -> Iterator[Callable[[Record], None]]:
        """Give a function that appends a run, while no other process may write."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._locked():
            self._prepare()
            with open(self.path, "ab") as file:

                def append(record: Record) -> None:
                    file.write(_line(record.to_cells()))
                    file.flush()
                    os.fsync(file.fileno())

                yield append

    def _prepare(self) -> None:
        """Give the file the head of this version and cut an unfinished last line."""
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if not whole.startswith(_line(COLUMNS)):
            _replace(self.path, _lines(_read(self.path) if content else ()))
        elif len(whole) < len(content):
            os.truncate(self.path, len(whole))


def _read(path: Path) -> Iterator[Record]:
    """Read the runs of a file, packed or not, line by line: nobody knows how long it is."""
    lines = csv.reader(())
    try:
        with _opened(path) as file:
            lines = csv.reader(_whole_lines(file))
            head = next(lines, [])
            for cells in lines:
                yield Record.from_cells(dict(zip(head, cells, strict=True)))
    except (lzma.LZMAError, EOFError) as error:
        raise StoreError(f"{path} is damaged: {error}") from error
    except (ValueError, TypeError, csv.Error) as error:
        raise StoreError(f"line {lines.line_num} of {path} is damaged: {error}") from error


def _opened(path: Path) -> TextIO:
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8", newline="")
    return open(path, encoding="utf-8", newline="")


def _whole_lines(file: TextIO) -> Iterator[str]:
    """Give the lines, without the last if it was not finished."""
    while line := file.readline(LONGEST_LINE):
        if not line.endswith("\n"):
            if len(line) < LONGEST_LINE:
                return
            raise ValueError(f"it has more than {LONGEST_LINE:,} letters")
        yield line


def _lines(records: Iterable[Record]) -> bytes:
    return _line(COLUMNS) + b"".join(_line(record.to_cells()) for record in records)


def _line(cells: Iterable[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def _unique(records: Iterable[Record]) -> dict[str, Record]:
    return {record.key: record for record in records}


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, "wb") as file:
        file.write(content)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that the system releases when this process ends, however it ends."""
    with open(path, "a") as file:
        try:
            _lock(file.fileno())
        except OSError as error:
            raise StoreError(f"another process is writing to {path.parent}") from error
        yield


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
