"""Plans: which methods run on which data sets, levels and seeds, and under which limits."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from typing import Any

from kempe import datasets
from kempe.bench.own import ALL_PAIRS, COLLECTION, OwnData, check_name

MAIN = "main"
"""Variant of the runs that need no special setting."""


@dataclass(frozen=True)
class Task:
    """One run: everything that decides its outcome.

    Attributes
    ----------
    variant
        Name of the setting, which keeps for example runs without mutation apart from others.
    dataset, level
        What ``kempe.datasets.load`` is asked for.
    method
        Name of a registered method, or ``"module:Class"`` for an estimator of one's own.
    seed
        Decides the starting centroids, together with data set and level, and is the
        ``random_state`` of the method.
    options
        Parameters of the method.
    time_limit
        Seconds of wall time after which the method is to return the best it has.
    must_link
        Whether must-link pairs are kept.
    dtype
        Type of the features.
    source, data
        File and digest of data of one's own.
    packed
        A method of one's own that has no module, as bytes.
    """

    variant: str
    dataset: str
    level: float | None
    method: str
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)
    time_limit: float = 3600.0
    must_link: bool = True
    dtype: str = "float64"
    source: str = field(default="", compare=False)
    data: str = ""
    packed: bytes = field(default=b"", compare=False, repr=False)

    @property
    def key(self) -> str:
        """Name under which the run is stored."""
        return f"{self.variant}|{self.dataset}|{self.level}|{self.method}|{self.seed}"

    def settings(self) -> dict[str, Any]:
        """Give what must not change while a store is filled, apart from the key."""
        return {
            "options": dict(self.options),
            "time_limit": self.time_limit,
            "must_link": self.must_link,
            "dtype": self.dtype,
            "data": self.data,
        }


@dataclass(frozen=True)
class Experiment:
    """A full cross of methods, data sets, levels and seeds.

    Attributes
    ----------
    methods
        Names that ``kempe.methods.names`` lists, or ``"module:Class"``.
    variant
        Tells apart runs of the same method with other settings.
    time_limit
        Seconds for one run.
    must_link
        Whether the must-link pairs are used.
    dtype
        ``"float64"`` or ``"float32"``.
    datasets
        Names or shell patterns, for example ``"COL2/*"``, or ``"own/*"`` for all of one's own.
    levels
        Constraint levels; empty for all that the collection has. Of data of one's own, the shares
        of its pairs to use; empty for all pairs.
    seeds
        Seeds of the runs.
    options
        Parameters per method. In a TOML file the text ``"None"`` stands for ``None``.
    own
        Data of one's own that ``datasets`` may name.
    packed
        Methods of one's own that ``methods`` may name, as bytes.
    """

    methods: Sequence[str]
    datasets: Sequence[str]
    levels: Sequence[float] = ()
    seeds: Sequence[int] = tuple(range(10))
    variant: str = MAIN
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    time_limit: float = 3600.0
    must_link: bool = True
    dtype: str = "float64"
    own: Sequence[OwnData] = ()
    packed: Mapping[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("methods", "datasets", "seeds"):
            if not getattr(self, name):
                raise ValueError(f"an experiment without {name} has nothing to run")
        for pattern in self.datasets:
            if not self._matching(pattern):
                raise ValueError(f"no data set matches {pattern!r}")
        if self.time_limit <= 0:
            raise ValueError(f"time_limit must be positive, got {self.time_limit}")
        if self.dtype not in ("float64", "float32"):
            raise ValueError(f"dtype must be float64 or float32, got {self.dtype!r}")
        unknown = set(self.options) - set(self.methods)
        if unknown:
            raise ValueError(f"options for methods that do not run: {', '.join(sorted(unknown))}")

    def tasks(self) -> Iterator[Task]:
        """All runs, those that share data next to each other."""
        for key in self.names():
            collection = key.split("/")[0]
            known = ALL_PAIRS if collection == COLLECTION else datasets.levels(collection)
            for level in self.levels or known:
                for seed in self.seeds:
                    for method in self.methods:
                        yield self._task(key, level, seed, method)

    def names(self) -> list[str]:
        """Name the data sets, each once."""
        return list(dict.fromkeys(key for item in self.datasets for key in self._matching(item)))

    def _matching(self, pattern: str) -> list[str]:
        known = [facts.key for facts in datasets.describe(pattern)]
        return known + [data.key for data in self.own if fnmatchcase(data.key, pattern)]

    def _task(self, dataset: str, level: float, seed: int, method: str) -> Task:
        found = next((data for data in self.own if data.key == dataset), None)
        return Task(
            self.variant,
            dataset,
            level,
            method,
            seed,
            self.options.get(method, {}),
            self.time_limit,
            self.must_link,
            self.dtype,
            *(("", "") if found is None else (found.path, found.digest)),
            self.packed.get(method, b""),
        )


@dataclass(frozen=True)
class Plan:
    """Experiments and the limits under which their runs are executed.

    Attributes
    ----------
    name
        What the plan is called.
    experiments
        What it runs.
    description
        What it is for, in a line.
    memory_limit
        Megabytes that one worker may hold; ``None`` for no limit.
    grace
        Seconds beyond the time limit after which a run that does not return is killed.
    data
        Files with data of one's own, as the plan describes them; ``with_data`` puts what was read
        in their place.
    """

    name: str
    experiments: Sequence[Experiment]
    description: str = ""
    memory_limit: float | None = None
    grace: float = 60.0
    data: Sequence[Mapping[str, Any]] = ()

    def with_data(self, found: Sequence[OwnData]) -> Plan:
        """Give the plan with data that has been read.

        Parameters
        ----------
        found
            The data, in the order of ``data``.
        """
        parts = [replace(item, own=found) for item in self.experiments]
        return replace(self, experiments=parts, data=())

    def restricted(
        self,
        methods: Sequence[str] = (),
        datasets: Sequence[str] = (),
        seeds: int | None = None,
        time_limit: float | None = None,
    ) -> Plan:
        """Give the part of the plan with certain methods, data sets and first seeds.

        Parameters
        ----------
        methods, datasets
            Names of methods and patterns of data sets to keep; all if empty.
        seeds
            Number of seeds to keep.
        time_limit
            Another time limit for all runs.
        """
        parts = [
            _restricted(item, methods, datasets, seeds, time_limit) for item in self.experiments
        ]
        kept = [item for item in parts if item is not None]
        if not kept:
            raise ValueError(f"nothing of the plan {self.name} is left by this selection")
        return replace(self, experiments=kept)

    def tasks(self) -> list[Task]:
        """All runs, each once."""
        unique: dict[str, Task] = {}
        for experiment in self.experiments:
            for task in experiment.tasks():
                known = unique.setdefault(task.key, task)
                if known.settings() != task.settings():
                    raise ValueError(f"{task.key} is planned twice with different settings")
        return list(unique.values())


def _restricted(
    item: Experiment,
    methods: Sequence[str],
    patterns: Sequence[str],
    seeds: int | None,
    time_limit: float | None,
) -> Experiment | None:
    kept = [name for name in item.methods if not methods or name in methods]
    wanted = [key for key in item.names() if not patterns or _matches(key, patterns)]
    if not kept or not wanted:
        return None
    return replace(
        item,
        methods=kept,
        datasets=wanted,
        seeds=item.seeds[:seeds],
        options={name: item.options[name] for name in kept if name in item.options},
        time_limit=time_limit or item.time_limit,
    )


def _matches(key: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def load_plan(path: str | PathLike[str]) -> Plan:
    """Read a plan from a TOML file.

    Parameters
    ----------
    path
        The file.
    """
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"there is no plan {path}; a plan is a TOML file")
    return parse_plan(file.read_text(encoding="utf-8"))


def parse_plan(text: str) -> Plan:
    """Read a plan from the text of a TOML file."""
    content = tomllib.loads(text)
    given = content.pop("experiment", [])
    if not isinstance(given, list) or not given:
        raise ValueError("a plan needs at least one [[experiment]]")
    shared = {name: content.pop(name) for name in _names(Experiment) & set(content)}
    _check_names(content, Plan, "plan")
    # Their names are known now, what is in them only when somebody reads it.
    shared["own"] = [OwnData(_named(item), "", "") for item in content.get("data", [])]
    return Plan(experiments=[_experiment(shared | item) for item in given], **content)


def _named(item: Mapping[str, Any]) -> str:
    if not isinstance(item.get("name"), str) or not isinstance(item.get("file"), str):
        raise ValueError("each [[data]] of a plan needs a name and a file")
    check_name(item["name"])
    return str(item["name"])


def _experiment(item: dict[str, Any]) -> Experiment:
    _check_names(item, Experiment, "experiment")
    seeds = item.get("seeds", 10)
    item["seeds"] = list(range(seeds)) if isinstance(seeds, int) else seeds
    item["options"] = {
        method: {name: None if value == "None" else value for name, value in options.items()}
        for method, options in item.get("options", {}).items()
    }
    return Experiment(**item)


def _names(kind: type) -> set[str]:
    """Entries that a file may have; what is no plain text is only given from Python."""
    return {item.name for item in fields(kind)} - {"packed"}


def _check_names(given: Mapping[str, Any], kind: type, what: str) -> None:
    unknown = set(given) - _names(kind)
    if unknown:
        raise ValueError(f"unknown entries in the {what}: {', '.join(sorted(unknown))}")
