"""Methods compared on data of one's own."""

from __future__ import annotations

import csv
import importlib.util
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cached_property
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from kempe import cards
from kempe.bench.latex import latex_table, latex_text
from kempe.bench.own import OwnData
from kempe.bench.own_methods import is_own, name_of, packed
from kempe.bench.plan import Experiment, Plan
from kempe.bench.runner import run
from kempe.bench.statistics import Comparison, Estimate, corrected
from kempe.bench.statistics import compare as paired
from kempe.bench.store import NO_DATA, Record, Store
from kempe.bench.summary import Cell, Quantity, Summary
from kempe.bench.wording import markdown_cell
from kempe.constraints import Constraints
from kempe.fit_arguments import as_constraints
from kempe.methods import canonical, names, takes_soft_pairs
from kempe.sizes import SizeLimits
from kempe.storage import replacing
from kempe.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Method = Any
"""The name of a method, a class of estimators, or an estimator."""

# Another program for clusters of limited sizes, which may be installed.
SIZED_RIVAL = "k_means_constrained:KMeansConstrained"

FORMATS = ("pdf", "svg", "png")
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Outcome:
    """What one method made of the data.

    Attributes
    ----------
    method
        Its name.
    runs, solved
        Number of runs, and of those that ended with a clustering.
    inertia, seconds, ari
        Means over the solved runs with bootstrap intervals; ``ari`` is NaN without true labels.
    best
        Lowest inertia of all runs.
    reasons
        Why runs failed, each reason once.
    """

    method: str
    runs: int
    solved: int
    inertia: Estimate
    seconds: Estimate
    ari: Estimate
    best: float
    reasons: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True, eq=False)
class MethodComparison:
    """Runs of several methods on one data set, with the same starts at each seed.

    Attributes
    ----------
    name
        What the data is called.
    methods
        In the order in which they were named; the first is the one that others are tested against.
    records
        All runs.
    known
        On how many rows the adjusted Rand index rests, in words, if not on all.
    """

    name: str
    methods: Sequence[str]
    records: Sequence[Record]
    known: str = ""

    @cached_property
    def summary(self) -> Summary:
        """The runs by method."""
        return Summary(self.records)

    def cell(self, method: str) -> Cell:
        """Give the runs of one method.

        Parameters
        ----------
        method
            One of ``methods``.
        """
        return next(cell for key, cell in self.summary.cells.items() if key[3] == method)

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """What each method made of the data."""
        return [_outcome(method, self.cell(method)) for method in self.methods]

    @property
    def failed(self) -> list[Outcome]:
        """What the methods made of the data that found no clustering in any run."""
        return [outcome for outcome in self.outcomes if not outcome.solved]

    def tests(self, quantity: Quantity = "inertia") -> list[Comparison]:
        """Test the first method against each other one, seed by seed.

        Parameters
        ----------
        quantity
            ``"inertia"`` or ``"time"`` (processor seconds).
        """
        first, *others = self.methods
        seeds = sorted({record.seed for record in self.records})
        values = {m: _by_seed(self.cell(m), quantity, seeds) for m in self.methods}
        tests = [paired(first, other, values[first], values[other]) for other in others]
        return corrected([test for test in tests if test.n])

    def table(self) -> list[list[str]]:
        """Text of a table: a head, and a line per method."""
        head = ["method", "solved", "inertia", "95 % interval", "best", "CPU s", "95 % interval"]
        labelled = any(not math.isnan(outcome.ari.value) for outcome in self.outcomes)
        lines = [_line(outcome, labelled) for outcome in self.outcomes]
        return [[*head, *(["ARI", "95 % interval"] if labelled else [])], *lines]

    def test_table(self) -> list[list[str]]:
        """Text of the paired tests: a head, and a line per quantity and method."""
        head = ["quantity", "first", "second", "seeds", "first lower", "second lower", "ratio"]
        quantities: tuple[tuple[Quantity, str], ...] = (("inertia", "inertia"), ("time", "CPU s"))
        lines = [
            [
                name,
                *(test.first, test.second),
                *(str(number) for number in (test.n, test.wins, test.losses)),
                f"{test.ratio:.4g}",
                f"{test.p_holm:.4f}",
            ]
            for quantity, name in quantities
            for test in self.tests(quantity)
        ]
        return [[*head, "p (Holm)"], *lines]

    def to_frame(self) -> Any:
        """Give a data frame of pandas with a row per run."""
        return cards.frame([asdict(record) for record in self.records])

    def _repr_html_(self) -> str:
        """Show both tables and the notes in a notebook."""
        tables = [cards.table(lines) for lines in (self.table(), self.test_table()) if lines[1:]]
        return cards.card(self.name, *tables, *map(cards.note, self.notes()))

    def __repr__(self) -> str:
        solved = ", ".join(f"{o.method} {o.solved} of {o.runs}" for o in self.outcomes)
        return f"MethodComparison({self.name!r}, runs solved: {solved})"

    def notes(self) -> list[str]:
        """Say what a reader of the tables should know."""
        found = [
            f"{outcome.method}: {outcome.runs - outcome.solved} of "
            f"{counted(outcome.runs, 'run')} failed: {'; '.join(outcome.reasons)}"
            for outcome in self.outcomes
            if outcome.solved < outcome.runs
        ]
        found += [self.known] if self.known else []
        seeds = len({record.seed for record in self.records})
        fewest = _fewest_seeds(len(self.methods) - 1)
        if seeds < fewest:
            found.append(
                f"{counted(seeds, 'seed is', 'seeds are')} too few for paired tests to tell "
                f"methods apart; with {counted(len(self.methods), 'method')} it takes {fewest}"
            )
        return found

    def figure(self) -> Figure:
        """Draw inertia and time of all runs, and how the inertia came down."""
        from kempe.bench.figures import comparison_figure

        return comparison_figure(self.summary, self.methods)

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write tables as CSV, LaTeX and Markdown and the figure as PDF, SVG and PNG.

        Without matplotlib there are no figures.

        Parameters
        ----------
        folder
            Made if it does not exist.

        Returns
        -------
        list of Path
            What was written.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        written = [target / "comparison.md"]
        with replacing(written[0]) as file:
            file.write(self._markdown())
        for name, lines in (("methods", self.table()), ("tests", self.test_table())):
            written += [target / f"{name}.csv", target / f"{name}.tex"]
            with replacing(written[-2]) as file:
                csv.writer(file, lineterminator="\n").writerows(lines)
            with replacing(written[-1]) as file:
                file.write(_latex(f"{_CAPTIONS[name]} {self.name}.", lines))
        if not can_draw():
            return written
        figure = self.figure()
        for kind in FORMATS:
            written.append(target / f"comparison.{kind}")
            with replacing(written[-1], "wb") as file:
                figure.savefig(file, format=kind, dpi=150)
        return written

    def _markdown(self) -> str:
        parts = [f"# {markdown_cell(self.name)}"]
        parts += [_markdown(lines) for lines in (self.table(), self.test_table())]
        return "\n\n".join([*parts, *map(markdown_cell, self.notes())]) + "\n"


def compare(
    X: ArrayLike,
    n_clusters: int,
    *,
    must_link: object = None,
    cannot_link: object = None,
    constraints: Constraints | None = None,
    y: ArrayLike | None = None,
    size_min: float | None = None,
    size_max: float | None = None,
    methods: Sequence[Method] | Mapping[str, Method] = ("kempe", "KSKM", "PCCC"),
    seeds: int = 10,
    time_limit: float = 60.0,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    name: str = "data",
    folder: str | PathLike[str] | None = None,
    workers: int | None = None,
    retry_failed: bool = False,
    on_start: Callable[[int, int], None] = lambda done, total: None,
    on_record: Callable[[Record], None] = lambda record: None,
) -> MethodComparison:
    """Run several methods on data of one's own, from the same starts at each seed.

    Runs are made in processes of their own, one thread each: a method that crashes, hangs or wants
    too much memory fails alone.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features), scaled as it is to be clustered.
    n_clusters
        Number of clusters.
    must_link, cannot_link, constraints
        The pairs, as for ``fit``. Soft ones of ``constraints`` need methods that know them, see
        ``kempe.methods.takes_soft_pairs``; the inertia says nothing of what was broken, so give
        ``y`` then.
    y
        True labels, if they are known, for the adjusted Rand index; -1, missing values and the
        words for them stand for unknown ones, whose rows it leaves out.
    size_min, size_max
        Fewest and most rows of a cluster, a number or a share of all rows below 1. Of the named
        methods only ``"kempe"`` knows sizes; those of one's own must have these parameters, as
        ``"k_means_constrained:KMeansConstrained"`` does, which knows no pairs.
    methods
        Names of ``kempe.methods``, ``"module:Class"``, classes of estimators, or estimators, which
        are copied for each run; as a mapping, with the names that they shall have. The others are
        tested against the first. A module is looked for where Python looks, then in the current
        folder.
    seeds
        Number of runs of each method.
    time_limit
        Seconds of each run.
    options
        Parameters per method.
    name
        What tables and files call the data.
    folder
        Keeps every run, so that the same call goes on where it was stopped; none by default.
    workers
        Number of processes; by default one per core.
    retry_failed
        Whether to repeat the runs in the folder that failed.
    on_start, on_record
        See ``kempe.bench.run``.
    """
    pairs = as_constraints(must_link, cannot_link, constraints)
    wanted = _named(methods)
    _check_soft(pairs, [name for name, own in wanted.items() if own is None])
    with ExitStack() as stack:
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kempe-"))
        data = OwnData.save(Path(folder) / "data", name, X, pairs, int(n_clusters), y)
        experiment = Experiment(
            methods=list(wanted),
            datasets=[data.key],
            seeds=range(seeds),
            options=_with_sizes(wanted, options or {}, data.n_rows, size_min, size_max),
            time_limit=time_limit,
            own=[data],
            packed={name: packed(own) for name, own in wanted.items() if own is not None},
        )
        records = run(
            Plan(name, [experiment]),
            Store(folder),
            workers=workers,
            retry_failed=retry_failed,
            on_start=on_start,
            on_record=on_record,
        )
    _check_data(records)
    return MethodComparison(name, list(wanted), records, data.known_in_words)


def _check_soft(pairs: Constraints, wanted: list[str]) -> None:
    """Refuse methods that would have to keep pairs which may be wrong."""
    hard = [name for name in wanted if not is_own(name) and not takes_soft_pairs(name)]
    if pairs.soft.count and hard:
        able = [name for name in names() if takes_soft_pairs(name)]
        raise ValueError(
            f"{', '.join(hard)} cannot break a pair, and {pairs.soft.count} of these may be wrong; "
            f"methods with soft pairs are {', '.join(able)}"
        )


def _with_sizes(
    wanted: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    n_rows: int,
    size_min: float | None,
    size_max: float | None,
) -> Mapping[str, Mapping[str, Any]]:
    """Add limits on sizes, in rows, to the options of all methods."""
    if not all(value is None or isinstance(value, Real) for value in (size_min, size_max)):
        raise ValueError("compare takes one size_min and one size_max for all clusters")
    limits = SizeLimits.of(size_min, size_max, n_rows, 1)
    if limits is None:
        return options
    for name, own in wanted.items():
        if own is None and name != "kempe" and not is_own(name):
            raise ValueError(
                f"{name} knows no sizes of clusters; with sizes, compare takes kempe and methods "
                f"of your own that have size_min and size_max, such as {SIZED_RIVAL}"
            )
    said = {"size_min": (size_min, limits.least), "size_max": (size_max, limits.most)}
    sizes = {name: int(rows[0]) for name, (value, rows) in said.items() if value is not None}
    return {name: {**sizes, **options.get(name, {})} for name in wanted}


def _named(methods: Sequence[Method] | Mapping[str, Method]) -> dict[str, Any]:
    """Give the methods by their names; ``None`` for those that a name is enough for."""
    if isinstance(methods, Mapping):
        given = [(_own_name(name, method), method) for name, method in methods.items()]
    else:
        given = [(_own_name(None, method), method) for method in methods]
    names = [name for name, _ in given]
    if len(set(names)) < len(names):
        raise ValueError(f"a method is named twice: {', '.join(names)}")
    return {name: None if isinstance(method, str) else method for name, method in given}


def _own_name(name: str | None, method: Method) -> str:
    if isinstance(method, str):
        known = method if is_own(method) else canonical(method)
        if name not in (None, method, known):
            raise ValueError(f"{method} has a name already and cannot be called {name!r}")
        return known
    return name_of(method) if name is None else name


def called_in_full(name: str) -> str:
    """Give the name by which a program is found that people know by the name of its package."""
    return SIZED_RIVAL if name.lower() in ("k-means-constrained", "k_means_constrained") else name


def sized_methods() -> list[str]:
    """Give the methods that know sizes of clusters and are installed."""
    installed = importlib.util.find_spec(SIZED_RIVAL.partition(":")[0]) is not None
    return ["kempe", SIZED_RIVAL] if installed else ["kempe"]


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def _fewest_seeds(tests: int) -> int:
    """Seeds with which the smallest p-value of Wilcoxon's test is below 0.05 after correction."""
    return math.ceil(1 + math.log2(tests / SIGNIFICANT)) if tests else 0


def _check_data(records: Sequence[Record]) -> None:
    for record in records:
        if record.reason.startswith(NO_DATA):
            raise ValueError(record.reason)


def _outcome(method: str, cell: Cell) -> Outcome:
    return Outcome(
        method,
        runs=len(cell.runs),
        solved=len(cell.solved),
        inertia=cell.estimate("inertia"),
        seconds=cell.estimate("time"),
        ari=cell.estimate("ari"),
        best=cell.best("inertia"),
        reasons=list(dict.fromkeys(run.reason for run in cell.runs if not run.ok)),
    )


def _by_seed(cell: Cell, quantity: Quantity, seeds: Sequence[int]) -> list[float]:
    values = cell.values(quantity)
    found = {run.seed: value for run, value in zip(cell.solved, values, strict=True)}
    return [found.get(seed, math.nan) for seed in seeds]


def _line(outcome: Outcome, labelled: bool) -> list[str]:
    inertia, seconds = outcome.inertia, outcome.seconds
    cells = [outcome.method, f"{outcome.solved} of {outcome.runs}"]
    cells += [_number(inertia.value, 7), _interval(inertia, 7), _number(outcome.best, 7)]
    cells += [_number(seconds.value, 3), _interval(seconds, 3)]
    return cells + ([_number(outcome.ari.value, 3), _interval(outcome.ari, 3)] if labelled else [])


def _interval(estimate: Estimate, digits: int) -> str:
    if math.isnan(estimate.low):
        return "–"
    return f"{_number(estimate.low, digits)} to {_number(estimate.high, digits)}"


def _number(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}g}"


_CAPTIONS = {"methods": "Methods compared on", "tests": "Paired tests between methods on"}


def _latex(caption: str, lines: Sequence[Sequence[str]]) -> str:
    head, *rows = lines
    return latex_table(caption, head, [list(map(latex_text, row)) for row in rows])


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    head, *rows = [f"| {' | '.join(map(markdown_cell, line))} |" for line in lines]
    return "\n".join([head, f"|{'---|' * len(lines[0])}", *rows])
