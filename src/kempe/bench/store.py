"""A folder that every finished run is appended to, safe against a kill at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, Self

from kempe.bench.plan import Task

RUNS = "runs.jsonl"
ENVIRONMENTS = "environments.json"


class StoreError(RuntimeError):
    """A store that cannot be used for what is planned."""


@dataclass(frozen=True)
class Record:
    """Outcome of one run.

    Attributes
    ----------
    status
        ``"ok"`` or ``"failed"``.
    reason
        Why a run failed: ``"infeasible"``, ``"no solution"``, ``"memory"``, ``"hang"``,
        ``"crash"``, ``"violation"`` or ``"error"``, followed by details.
    inertia
        Inertia computed from the labels that the method returned.
    ari
        Adjusted Rand index against the true labels.
    cpu_s, wall_s
        Seconds of processor and of wall time in ``fit``.
    n_iter
        Iterations that the method counted.
    peak_mb
        Largest resident memory of the worker during the run.
    violations
        Constraints that the labels violate; never other than 0 in a run that is ok.
    stop_reason
        What ended the method.
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
    environment: str = ""

    @classmethod
    def of(cls, task: Task, status: str, **outcome: Any) -> Self:
        """Outcome of a task."""
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
    def from_json(cls, line: str | bytes) -> Self:
        """Read one line of a store; entries of later versions are ignored."""
        content = json.loads(line)
        known = {item.name for item in fields(cls)}
        return cls(**{name: value for name, value in content.items() if name in known})

    def to_json(self) -> str:
        """One line of a store."""
        return json.dumps(asdict(self), allow_nan=False)

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

    def settings(self) -> dict[str, Any]:
        """Give what the run was made with; see ``Task.settings``."""
        names = ("options", "time_limit", "must_link", "dtype")
        return {name: getattr(self, name) for name in names}


class Store:
    """Results of runs in a folder, one line of JSON per run.

    A line is written whole and forced to disk before the run counts as done. What a kill may
    leave behind is an unfinished last line, which is dropped when the store is opened again.

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

    def records(self) -> list[Record]:
        """All finished runs, without an unfinished last line."""
        if not self.path.exists():
            return []
        whole = _whole_lines(self.path.read_bytes())
        return list(_unique(self._parse(whole)).values())

    def _parse(self, content: bytes) -> Iterator[Record]:
        for number, line in enumerate(content.splitlines(), start=1):
            try:
                yield Record.from_json(line)
            except (ValueError, TypeError) as error:
                raise StoreError(f"line {number} of {self.path} is damaged: {error}") from error

    def environments(self) -> dict[str, dict[str, Any]]:
        """Versions and machines that runs were made with."""
        path = self.folder / ENVIRONMENTS
        if not path.exists():
            return {}
        content: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        return content

    def add_environment(self, name: str, facts: Mapping[str, Any]) -> None:
        """Remember versions and machine of runs to come."""
        content = self.environments() | {name: dict(facts)}
        _replace(self.folder / ENVIRONMENTS, json.dumps(content, indent=2).encode())

    def drop(self, unwanted: Callable[[Record], bool]) -> int:
        """Remove runs, for example failed ones that are to be repeated; say how many."""
        if not self.path.exists():
            return 0
        with _locked(self.folder / ".lock"):
            records = self.records()
            kept = [record for record in records if not unwanted(record)]
            _replace(self.path, b"".join(_line(record) for record in kept))
        return len(records) - len(kept)

    @contextmanager
    def writing(self) -> Iterator[Callable[[Record], None]]:
        """Give a function that appends a run, while no other process may write."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with _locked(self.folder / ".lock"), open(self.path, "ab") as file:
            _cut_unfinished_line(self.path)

            def append(record: Record) -> None:
                file.write(_line(record))
                file.flush()
                os.fsync(file.fileno())

            yield append


def _line(record: Record) -> bytes:
    return record.to_json().encode() + b"\n"


def _whole_lines(content: bytes) -> bytes:
    return content[: content.rfind(b"\n") + 1]


def _unique(records: Iterator[Record]) -> dict[str, Record]:
    return {record.key: record for record in records}


def _cut_unfinished_line(path: Path) -> None:
    content = path.read_bytes()
    whole = len(_whole_lines(content))
    if whole < len(content):
        os.truncate(path, whole)


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with open(part, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


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
