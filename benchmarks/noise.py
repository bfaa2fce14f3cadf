"""Pairs of which some are wrong: how good clusters stay, which pairs are given up, at what cost.

Each command measures one thing. Pairs of the benchmark are turned round at random, and given as
soft ones: ``flipped`` (collections 1 to 3, beside no pairs and beside hard ones), ``confidences``
(pairs that say how sure they are), ``others`` (what else could be done with the same pairs),
``pccc`` (the integer programs of PCCC beside ours), ``gaps`` (the search itself, at a stiff price),
``tiny`` (against all clusterings), ``large`` (one descent).
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import adjusted_rand_score

from folders import use_shared_data
from kempe import (
    Constraints,
    InfeasibleConstraintsError,
    KempeKMeans,
    NoSolutionFoundError,
    _core,
    datasets,
)
from kempe.engine import MemeticParams
from kempe.engine.climb import Climb
from kempe.engine.pricing import effective_variance
from kempe.engine.sequential import SequentialDescent
from kempe.problem import Colours, Problem
from kempe.rivals import PCCC, PCKMeans
from kempe.search.descent import Context, Descent
from kempe.search.stop import SearchState
from kempe.soft_pairs import PairPrice
from tables import Section, show, write_markdown

LEVELS = (0.05, 0.1, 0.15, 0.2)
NOISES = (0.0, 0.02, 0.05, 0.1, 0.2)
SURE = (0.5, 0.7, 0.9)
"""Least confidence of pairs that say how sure they are."""

COLLECTION_1 = [(name, level) for name in datasets.names("COL1") for level in LEVELS]
COLLECTION_2 = [
    (f"COL2/n300-{kind}", level)
    for kind in ("k10-s10", "k10-s30", "k50-s10", "k50-s30")
    for level in (0.4, 0.5)
]
COLLECTION_3 = [(f"COL3/n{n}-k20", level) for n in (500, 1000, 2000) for level in (0.05, 0.1)]
CELLS = {"collection 1": COLLECTION_1, "collection 2": COLLECTION_2, "collection 3": COLLECTION_3}
SAME = 1e-9
"""Relative difference up to which two objectives are the same."""
QUICK = 13
"""One of so many cells is enough while developing."""

STIFF = [
    *((f"COL1/{name}", 0.15) for name in ("iris", "zoo", "glass", "ecoli")),
    ("COL2/n300-k20-s20", 0.15),
    ("COL3/n500-k20", 0.1),
]
HARD_SHARES = (0.0, 0.5, 0.1)
GAP_NOISE = 0.1
NINE = [(f"COL1/{name}", level) for name in ("iris", "wine", "zoo") for level in LEVELS[1:]]

app = typer.Typer(help=__doc__, add_completion=False)
Out = Annotated[Path | None, typer.Option(help="Also write the tables as Markdown.")]
Quick = Annotated[bool, typer.Option("--quick", help="A few cells only.")]
Jobs = Annotated[int, typer.Option(min=1, help="Processes side by side.")]


class Told(NamedTuple):
    """What somebody says about a data set: pairs, some of them wrong."""

    pairs: NDArray[np.int64]
    together: NDArray[np.bool_]
    wrong: NDArray[np.bool_]
    confidence: NDArray[np.float64] | None = None

    def as_soft(self) -> Constraints:
        """Give them as pairs that may be wrong."""
        given: dict[str, Any] = {
            "soft_must_link": self.pairs[self.together],
            "soft_cannot_link": self.pairs[~self.together],
        }
        if self.confidence is not None:
            given["soft_must_link_confidence"] = self.confidence[self.together]
            given["soft_cannot_link_confidence"] = self.confidence[~self.together]
        return Constraints(**given)

    def as_hard(self) -> Constraints:
        """Give them as pairs that hold in any case."""
        return Constraints(self.pairs[self.together], self.pairs[~self.together])

    def broken(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of them a clustering breaks."""
        first, second = self.pairs.T
        return np.asarray((labels[first] == labels[second]) != self.together)


@dataclass(frozen=True)
class Cell:
    """A data set with pairs, and whose randomness turns some of them round.

    ``own`` is 0 for the randomness that published figures come from, else a further seed.
    """

    dataset: str
    level: float
    own: int = 0

    def load(self) -> datasets.Dataset:
        """Give the data."""
        return datasets.load(self.dataset, self.level, download=False)

    def rng(self, share: float) -> np.random.Generator:
        """Give the randomness that belongs to a share of wrong pairs."""
        collection = self.dataset.partition("/")[0]
        place = datasets.names(collection).index(self.dataset)
        seeds = [round(100 * self.level), round(100 * share), place]
        return np.random.default_rng([*seeds, self.own] if self.own else seeds)

    def told(self, noise: float) -> Told:
        """Give all pairs, each turned round with this probability."""
        pairs, together = _stacked(self.load().constraints)
        wrong = self.rng(noise).random(len(pairs)) < noise
        return Told(pairs, together ^ wrong, wrong)

    def told_with_confidence(self, least: float) -> Told:
        """Give all pairs with confidences from the least up to one; that often each is right."""
        pairs, together = _stacked(self.load().constraints)
        rng = self.rng(least)
        confidence = rng.uniform(least, 1.0, size=len(pairs))
        wrong = rng.random(len(pairs)) >= confidence
        return Told(pairs, together ^ wrong, wrong, np.clip(confidence, 0.5 + 1e-9, 1 - 1e-9))


def _stacked(known: Constraints) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    pairs = np.concatenate([known.must_link, known.cannot_link])
    return pairs, np.arange(len(pairs)) < len(known.must_link)


class Run(NamedTuple):
    """How one fit went."""

    ari: float
    broken: int = 0
    wrong: int = 0
    found: int = 0  # of the broken pairs, how many are wrong


def _fitted(cell: Cell, known: Constraints | None, told: Told | None = None) -> Run:
    data = cell.load()
    model = KempeKMeans(data.n_clusters, random_state=0).fit(data.X, constraints=known)
    ari = adjusted_rand_score(data.y, model.labels_)
    if told is None:
        return Run(ari)
    broken = told.broken(model.labels_)
    counts = broken.sum(), told.wrong.sum(), (broken & told.wrong).sum()
    return Run(ari, *map(int, counts))


def fit_flipped(cell: Cell, noise: float) -> Run:
    """Fit pairs of which a share was turned round."""
    told = cell.told(noise)
    return _fitted(cell, told.as_soft(), told)


def fit_hard(cell: Cell) -> Run:
    """Fit the right pairs as hard ones."""
    return _fitted(cell, cell.load().constraints)


def fit_none(cell: Cell) -> Run:
    """Fit no pairs at all."""
    return _fitted(cell, None)


def fit_confident(cell: Cell, least: float) -> Run:
    """Fit pairs that say how sure they are."""
    told = cell.told_with_confidence(least)
    return _fitted(cell, told.as_soft(), told)


def fit_equal(cell: Cell, least: float) -> Run:
    """Fit the same pairs, but do not tell how sure they are."""
    told = cell.told_with_confidence(least)._replace(confidence=None)
    return _fitted(cell, told.as_soft(), told)


def fit_as_hard(cell: Cell, noise: float) -> Run:
    """Fit pairs of which a share was turned round as hard ones; none of them if that cannot be."""
    known = cell.told(noise).as_hard()
    try:
        return _fitted(cell, known)
    except (InfeasibleConstraintsError, NoSolutionFoundError):
        return fit_none(cell)._replace(found=1)


def fit_pckmeans(cell: Cell, noise: float, entailed: bool) -> Run:
    """Let PCKMeans break the pairs at its own price."""
    data = cell.load()
    model = PCKMeans(data.n_clusters, entailed=entailed, random_state=0)
    model.fit(data.X, constraints=cell.told(noise).as_soft())
    return Run(adjusted_rand_score(data.y, model.labels_))


Task = tuple[Callable[..., Any], tuple[Any, ...]]


def _call(task: Task) -> Any:
    work, arguments = task
    return work(*arguments)


def all_done(tasks: list[Task], title: str, jobs: int) -> Iterator[Any]:
    """Give results in the order of the tasks, and show how far they are."""
    console = Console(stderr=True)
    if jobs == 1:
        yield from track(map(_call, tasks), title, total=len(tasks), console=console)
        return
    with ProcessPoolExecutor(jobs) as pool:
        done = pool.map(_call, tasks)
        yield from track(done, title, total=len(tasks), console=console)


def _report(sections: list[Section], out: Path | None) -> None:
    show(sections)
    if out is not None:
        write_markdown(out, sections)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "–"


def _flipped_row(name: str, runs: list[Run]) -> list[str]:
    broken, wrong, found = (sum(getattr(run, key) for run in runs) for key in Run._fields[1:])
    return [
        name,
        f"{np.mean([run.ari for run in runs]):.3f}",
        _share(found, broken) if wrong else "–",
        _share(found, wrong),
    ]


def _levels(collection: str, runs: dict[Cell, dict[str, Run]]) -> Section:
    """Mean by level, for what was fitted."""
    methods = list(next(iter(runs.values())))
    levels = sorted({cell.level for cell in runs})

    def mean(method: str, level: float) -> float:
        return float(
            np.mean([one[method].ari for cell, one in runs.items() if cell.level == level])
        )

    rows = [[method, *(f"{mean(method, level):.3f}" for level in levels)] for method in methods]
    soft = [method for method in methods if method not in ("no pairs", "hard")]
    above = sum(mean(m, level) > mean("no pairs", level) for m in soft for level in levels)
    title = f"{collection} by level: above no pairs in {above} of {len(soft) * len(levels)} means"
    return Section(title, ["pairs", *(f"{100 * level:g} %" for level in levels)], rows)


def _chosen(cells: Iterable[tuple[str, float]], quick: bool, own: int = 0) -> list[Cell]:
    return [Cell(*cell, own) for cell in cells][:: QUICK if quick else 1]


@app.command()
def flipped(
    only: Annotated[str, typer.Option(help="Part of the name of a collection.")] = "",
    own: Annotated[int, typer.Option(min=0, help="Another seed of what is turned round.")] = 0,
    noise: Annotated[list[float] | None, typer.Option(help="Share of wrong pairs.")] = None,
    quick: Quick = False,
    jobs: Jobs = 1,
    out: Out = None,
) -> None:
    """Turn a share of the pairs round; beside no pairs, and hard ones that are right."""
    use_shared_data()
    sections = []
    shares = noise or list(NOISES)
    for collection, all_cells in CELLS.items():
        if only not in collection:
            continue
        cells = _chosen(all_cells, quick, own)
        kinds: dict[str, Task] = {"no pairs": (fit_none, ()), "hard": (fit_hard, ())}
        kinds |= {f"{100 * share:g} % wrong": (fit_flipped, (share,)) for share in shares}
        tasks = [(work, (cell, *more)) for cell in cells for work, more in kinds.values()]
        found = iter(list(all_done(tasks, collection, jobs)))
        runs = {cell: {kind: next(found) for kind in kinds} for cell in cells}
        rows = [_flipped_row(kind, [one[kind] for one in runs.values()]) for kind in kinds]
        columns = ["pairs", "adjusted Rand index", "precision", "recall"]
        seed = f", seed {own}" if own else ""
        sections += [Section(f"{collection}, {len(cells)} cells{seed}", columns, rows)]
        sections += [_levels(collection, runs)]
    _report(sections, out)


@app.command()
def confidences(quick: Quick = False, jobs: Jobs = 1, out: Out = None) -> None:
    """Pairs of collection 1 that say how sure they are, beside the same that do not."""
    use_shared_data()
    cells = _chosen(COLLECTION_1, quick)
    rows = []
    for name, work in (("told", fit_confident), ("not told", fit_equal)):
        means = []
        for least in SURE:
            tasks: list[Task] = [(work, (cell, least)) for cell in cells]
            runs = all_done(tasks, f"confidences from {least} {name}", jobs)
            means.append(f"{np.mean([run.ari for run in runs]):.3f}")
        rows.append([name, *means])
    columns = ["confidences", *(f"from {least:g} to 1" for least in SURE)]
    _report([Section(f"adjusted Rand index, {len(cells)} cells", columns, rows)], out)


@app.command()
def others(quick: Quick = False, jobs: Jobs = 1, out: Out = None) -> None:
    """Do something else with wrong pairs of collection 1: PCKMeans, or take them as hard."""
    use_shared_data()
    cells = _chosen(COLLECTION_1, quick)
    kinds: dict[str, Task] = {
        "soft pairs": (fit_flipped, ()),
        "PCKMeans": (fit_pckmeans, (True,)),
        "PCKMeans without what follows from pairs": (fit_pckmeans, (False,)),
        "hard pairs, or none where they cannot hold": (fit_as_hard, ()),
    }
    rows, given_up = [], []
    for name, (work, more) in kinds.items():
        means = []
        for noise in NOISES:
            tasks: list[Task] = [(work, (cell, noise, *more)) for cell in cells]
            runs = list(all_done(tasks, f"{name}, {100 * noise:g} %", jobs))
            means.append(f"{np.mean([run.ari for run in runs]):.3f}")
            if work is fit_as_hard:
                given_up.append(f"{100 * np.mean([run.found for run in runs]):.0f} %")
        rows.append([name, *means])
    rows.append(["cells where hard pairs cannot hold", *given_up])
    columns = ["method", *(f"{100 * noise:g} % wrong" for noise in NOISES)]
    _report([Section(f"adjusted Rand index, collection 1, {len(cells)} cells", columns, rows)], out)


def cpu_seconds() -> float:
    """Give the CPU seconds until now, those of solvers in processes of their own included."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def fit_both(cell: Cell, noise: float, seconds: float) -> tuple[float, ...]:
    """Fit ours and PCCC: index, objective at our price and CPU of each."""
    data, told = cell.load(), cell.told(noise)
    known, cpu, labels = told.as_soft(), [], []
    ours = KempeKMeans(data.n_clusters, random_state=0)
    theirs = PCCC(data.n_clusters, random_state=0, time_limit=seconds)
    for model in (ours, theirs):
        began = cpu_seconds()
        labels.append(model.fit(data.X, constraints=known).labels_)
        cpu.append(cpu_seconds() - began)
    price = _price_of(ours, told)
    value = [m.inertia_ + price * told.broken(m.labels_).sum() for m in (ours, theirs)]
    index = [adjusted_rand_score(data.y, found) for found in labels]
    return (*index, value[1] / value[0], *cpu)


def _price_of(model: KempeKMeans, told: Told) -> float:
    """Give what ours paid for a pair; where it broke none, a price above which it breaks none."""
    broken = int(told.broken(model.labels_).sum())
    if broken:
        return float(model.objective_ - model.inertia_) / broken
    return 2 * model.inertia_ / len(model.labels_)


@app.command()
def pccc(
    seconds: Annotated[float, typer.Option(help="Most wall time for a run of PCCC.")] = 60.0,
    quick: Quick = False,
    jobs: Jobs = 1,
    out: Out = None,
) -> None:
    """Compare with the integer programs of PCCC, with soft pairs."""
    use_shared_data()
    cells = _chosen(NINE, quick)
    rows = []
    for noise in (0.0, 0.05, 0.2):
        tasks: list[Task] = [(fit_both, (cell, noise, seconds)) for cell in cells]
        runs = np.array(list(all_done(tasks, f"PCCC at {100 * noise:g} %", jobs)))
        ours, theirs, ratio, own, other = runs.T
        cells_below = int((ratio < 1 - 1e-9).sum())
        rows.append(
            [
                f"{100 * noise:g} %",
                *(f"{value.mean():.3f}" for value in (ours, theirs)),
                *(f"{value:.4f}" for value in (ratio.mean(), ratio.min())),
                str(cells_below),
                *(f"{value.mean():.2f}" for value in (own, other)),
            ]
        )
    columns = ["wrong", "index, ours", "index, PCCC", "objective, PCCC / ours", "least"]
    columns += ["PCCC lower", "CPU s, ours", "CPU s, PCCC"]
    _report([Section(f"beside PCCC, {len(cells)} cells", columns, rows)], out)


@dataclass(frozen=True)
class Stiff:
    """Noisy pairs at a stiff price, some of the right ones hard: a problem for the search alone."""

    cell: Cell
    hard: float  # share of pairs that are hard
    times: float = 4.0  # price of a pair, in units of the mean inertia of a row

    def known(self) -> Constraints:
        """Give hard pairs, all of them right, and soft ones of which a tenth is wrong."""
        told = self.cell.told(GAP_NOISE)
        fixed = self.cell.rng(GAP_NOISE + self.hard).random(len(told.pairs)) < self.hard
        fixed &= ~told.wrong
        kept, apart = fixed & told.together, fixed & ~told.together
        soft = Told(told.pairs[~fixed], told.together[~fixed], told.wrong[~fixed])
        return Constraints(told.pairs[kept], told.pairs[apart]) | soft.as_soft()

    def price(self) -> float:
        """Give the price of a pair, from the inertia without pairs."""
        data = self.cell.load()
        plain = KempeKMeans(data.n_clusters, random_state=0).fit(data.X)
        return self.times * float(plain.inertia_) / len(data.X)

    def search(self, seconds: float, seed: int) -> float:
        """Search for so many CPU seconds; the objective."""
        data, known, price = self.cell.load(), self.known(), self.price()
        began = time.process_time()

        def is_over(state: SearchState) -> bool:
            return time.process_time() - began > seconds

        model = KempeKMeans(
            data.n_clusters,
            soft_price=price,
            max_mutations=10**9,
            stop=is_over,
            random_state=seed,
        )
        return float(model.fit(data.X, constraints=known).objective_)

    def default(self, seed: int) -> tuple[float, float]:
        """Search as long as the default does; the objective and its CPU seconds."""
        data, known = self.cell.load(), self.known()
        model = KempeKMeans(data.n_clusters, soft_price=self.price(), random_state=seed)
        began = time.process_time()
        model.fit(data.X, constraints=known)
        return float(model.objective_), time.process_time() - began

    def pccc(self, seconds: float) -> tuple[float, float]:
        """Let PCCC pay the same price, from one start; the objective and its CPU seconds."""
        data, known, price = self.cell.load(), self.known(), self.price()
        model = PCCC(data.n_clusters, soft_price=price, time_limit=seconds, random_state=0)
        began = cpu_seconds()
        model.fit(data.X, constraints=known)
        spent = cpu_seconds() - began
        return model.inertia_ + price * known.violations(model.labels_).soft.count, spent


def pccc_stiff(stiff: Stiff, seconds: float) -> tuple[float, float]:
    """Let PCCC pay the same price."""
    return stiff.pccc(seconds)


def search_stiff(stiff: Stiff, seconds: float, seed: int) -> float:
    """Search for so many CPU seconds."""
    return stiff.search(seconds, seed)


def default_stiff(stiff: Stiff, seed: int) -> tuple[float, float]:
    """Search by default."""
    return stiff.default(seed)


@app.command()
def gaps(
    seconds: Annotated[float, typer.Option(help="CPU seconds of a search.")] = 0.5,
    long: Annotated[float, typer.Option(help="The same of one that looks for the best.")] = 10.0,
    programs: Annotated[float, typer.Option(help="Most wall seconds of PCCC; 0: none.")] = 60.0,
    seeds: Annotated[int, typer.Option(min=1)] = 2,
    times: Annotated[float, typer.Option(help="Price of a pair, mean inertia of a row.")] = 4.0,
    quick: Quick = False,
    jobs: Jobs = 1,
    out: Out = None,
) -> None:
    """How far the search is from the best known objective after a while, at a stiff price."""
    use_shared_data()
    problems = [Stiff(Cell(*cell), hard, times) for cell in STIFF for hard in HARD_SHARES]
    problems = problems[:: 7 if quick else 1]
    tasks: list[Task] = []
    for one in problems:
        tasks += [(search_stiff, (one, seconds, seed)) for seed in range(seeds)]
        tasks += [(search_stiff, (one, long, 100)), (default_stiff, (one, 0))]
        tasks += [(pccc_stiff, (one, programs))] if programs else []
    found = iter(list(all_done(tasks, "gaps", jobs)))
    outcomes = []
    for one in problems:
        short = [next(found) for _ in range(seeds)]
        best, default = next(found), next(found)
        program = next(found) if programs else (np.nan, np.nan)
        outcomes.append(Outcome(one, short, best, default, program))
    rows = [outcome.row() for outcome in outcomes]
    every = [gap for outcome in outcomes for gap in outcome.gaps()]
    lower = sum(outcome.program[0] < min(outcome.short) * (1 - 1e-9) for outcome in outcomes)
    title = (
        f"gap to the best known at {times:g} J/n after {seconds:g} CPU s: mean "
        f"{np.mean(every):.3f} %, largest {max(every):.2f} %; PCCC lower in {lower}"
    )
    columns = ["data", "hard", "gap %", "largest", "default", "CPU s", "PCCC", "CPU s"]
    _report([Section(title, columns, rows)], out)


class Outcome(NamedTuple):
    """How the searches of one problem ended."""

    stiff: Stiff
    short: list[float]
    long: float
    default: tuple[float, float]
    program: tuple[float, float]

    def above(self, value: float) -> float:
        """Per cent above the best."""
        best = min(*self.short, self.long, self.default[0])
        return 100 * (value / best - 1)

    def gaps(self) -> list[float]:
        """Give the gap of each short search."""
        return [self.above(value) for value in self.short]

    def row(self) -> list[str]:
        """Give a row of the table."""
        cell, gaps = self.stiff.cell, self.gaps()
        return [
            f"{cell.dataset} {cell.level:g}",
            f"{100 * self.stiff.hard:g} %",
            *(f"{value:.3f}" for value in (np.mean(gaps), max(gaps), self.above(self.default[0]))),
            f"{self.default[1]:.2f}",
            f"{self.above(self.program[0]):.2f}",
            f"{self.program[1]:.1f}",
        ]


@app.command()
def tiny(
    problems: Annotated[int, typer.Option(min=1)] = 1500,
    quick: Quick = False,
    jobs: Jobs = 1,
    out: Out = None,
) -> None:
    """Problems of at most nine rows, against all clusterings."""
    tasks: list[Task] = [(solve_tiny, (seed,)) for seed in range(60 if quick else problems)]
    runs = [run for run in all_done(tasks, "tiny", jobs) if run is not None]
    searched, default = np.array(runs).T
    rows = [
        [name, str(len(runs)), str(int((gap > SAME).sum())), f"{100 * (gap > SAME).mean():.2f}"]
        for name, gap in (("default", default), ("without enumeration", searched))
    ]
    columns = ["search", "problems", "not optimal", "%"]
    _report([Section("tiny problems against all clusterings", columns, rows)], out)


def solve_tiny(seed: int) -> tuple[float, float] | None:
    """Give how far both searches end above the best; ``None`` where hard pairs cannot hold."""
    rng = np.random.default_rng([28, seed])
    n, k = int(rng.integers(5, 10)), int(rng.integers(2, 5))
    hidden = rng.integers(k, size=n)
    X = rng.normal(size=(n, int(rng.integers(1, 4)))) + hidden[:, None] * rng.uniform(0, 2)
    pairs = np.array([(a, b) for a in range(n) for b in range(a)])
    kind = rng.choice(3, size=len(pairs), p=[0.5, 0.4, 0.1])  # not told, soft, hard
    soft, hard = kind == 1, kind == 2
    wrong = soft & (rng.random(len(pairs)) < 0.2)
    together = (hidden[pairs[:, 0]] == hidden[pairs[:, 1]]) ^ wrong
    price = float(10 ** rng.uniform(-1, 1.5))
    clusterings = all_clusterings(n, k)
    value = _inertia(X, clusterings, k)
    for (a, b), joined, told in zip(pairs, together, kind, strict=True):
        broken = (clusterings[:, a] == clusterings[:, b]) != joined
        value[broken] += (0.0, price, math.inf)[told]
    best = float(value.min())
    if not np.isfinite(best):
        return None
    known = Constraints(pairs[hard & together], pairs[hard & ~together])
    known |= Told(pairs[soft], together[soft], wrong[soft]).as_soft()
    gaps = []
    for params in (MemeticParams(enumerate_up_to=0), None):
        model = KempeKMeans(k, soft_price=price, params=params, random_state=0)
        found = model.fit(X, constraints=known)
        gaps.append((getattr(found, "objective_", found.inertia_) - best) / max(best, 1e-12))
    return gaps[0], gaps[1]


@cache
def all_clusterings(n: int, k: int) -> NDArray[np.int32]:
    """Give every division of n rows into k clusters, none of them empty, once."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*one, c] for one in found for c in range(min(max(one) + 2, k))]
    return np.array([one for one in found if max(one) == k - 1], dtype=np.int32)


def _inertia(X: NDArray[np.float64], clusterings: NDArray[np.int32], k: int) -> NDArray[Any]:
    """Give the inertia of many clusterings at once."""
    total = np.full(len(clusterings), float((X**2).sum()))
    for c in range(k):
        members = (clusterings == c).astype(np.float64)
        total -= ((members @ X) ** 2).sum(axis=1) / members.sum(axis=1)
    return total


@app.command()
def large(
    rows: Annotated[int, typer.Option(min=1)] = 100_000,
    features: Annotated[int, typer.Option(min=1)] = 16,
    pairs: Annotated[int, typer.Option(min=1)] = 1_000_000,
    repeats: Annotated[int, typer.Option(min=1)] = 5,
    quick: Quick = False,
    out: Out = None,
) -> None:
    """One descent with many soft pairs, and one without, from the same start."""
    if quick:
        rows, pairs, repeats = rows // 10, pairs // 10, 2
    lines = []
    for k in (20, 50):
        free, priced, start = _many_rows(rows, features, k, pairs)
        descent = SequentialDescent()
        without, plain = _descend(free, start, repeats, descent.descend)
        at_once, cold = _descend(priced, start, repeats, descent.descend)
        climbing = partial(_over_lower_prices, Climb.to(priced, free), descent)
        seconds, colours = _descend(priced, start, repeats, climbing)
        values = [priced.inertia(one) + priced.price(one) for one in (colours, cold, plain)]
        lines.append(
            [
                f"{rows:,} x {features}, k = {k}",
                *(f"{value:.2f}" for value in (without, seconds, seconds / without)),
                *(f"{value / values[0]:.4f}" for value in values[1:]),
                f"{at_once / without:.2f}",
            ]
        )
    columns = ["data", "CPU s without", "CPU s with", "ratio"]
    columns += ["objective at once", "objective without", "ratio at once"]
    _report([Section(f"one descent, {pairs:,} soft pairs", columns, lines)], out)


def _many_rows(n: int, d: int, k: int, pairs: int) -> tuple[Problem, Problem, Colours]:
    """Give overlapping groups without and with pairs, of which 78 % are right, and a start."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(k, size=n)
    X = rng.normal(size=(k, d))[hidden] + rng.normal(size=(n, d))
    some = rng.integers(n, size=(pairs, 2))
    some = some[some[:, 0] != some[:, 1]]
    wrong = rng.random(len(some)) < 0.22
    told = Told(some, (hidden[some[:, 0]] == hidden[some[:, 1]]) ^ wrong, wrong)
    problem = Problem.build(X, told.as_soft(), n_clusters=k)
    centroids = kmeans_plusplus(problem.rows, k, random_state=0)[0]
    start = problem.costs(np.ascontiguousarray(centroids)).argmin(axis=1).astype(np.int32)
    variance = effective_variance(problem, start, rng)
    assert problem.soft is not None
    prices = PairPrice(2 * variance, float(np.log(0.78 / 0.22))).of_supernodes(problem.soft)
    return problem, problem.priced(prices), start


def _over_lower_prices(climb: Climb, descent: Descent, context: Context, start: Colours) -> Colours:
    """Go down as starts of a search do."""
    return descent.descend(context, climb(context, start))


def _descend(
    problem: Problem, start: Colours, repeats: int, way: Callable[[Context, Colours], Colours]
) -> tuple[float, Colours]:
    """Give the CPU seconds of a descent, the least of several, and its clustering."""
    seconds = []
    for _ in range(repeats):
        context = Context(problem, np.random.default_rng(0), _core.Stopper(math.inf))
        began = time.process_time()
        colours = way(context, start)
        seconds.append(time.process_time() - began)
    return min(seconds), colours


if __name__ == "__main__":
    app()
