"""Try random tiny problems for as long as one likes: every method, against all clusterings.

What breaks a promise is made as small as possible and stored in ``regressions/``, from where
``test_regressions.py`` tries it again for ever after.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import secrets
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Annotated, Any

import hypothesis
import numpy as np
import typer
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from kempe import _core
from kempe.problem import Problem
from tiny_problems import (
    VARIANTS,
    Outcome,
    TinyProblem,
    as_large,
    check_labels,
    check_promises,
    check_relaxed,
    crowded,
    fit,
    is_optimal,
    limited_and_soft,
    optimum,
    tiny_problems,
)

REGRESSIONS = Path(__file__).parent / "regressions"
ROUND = 50
"""Problems between two looks at the clock."""
MOST_FAILURES = 20
"""A worker that has found so many stores no more."""
# Mostly beyond what the default enumerates: only it is tried there, and no promise is made.
LARGER_ROWS = (11, 13)
LARGER = "kempe, 11 to 13 rows"
# Families of problems, how many of each there are in a round, and which methods are tried.
FAMILIES: dict[str, tuple[Any, int]] = {
    "few distinct rows": (tiny_problems(9, rows="few distinct rows"), 20 * ROUND),
    "any": (
        st.one_of(
            tiny_problems(),
            tiny_problems(9),
            tiny_problems(LARGER_ROWS[1], least_rows=LARGER_ROWS[0]),
        ),
        ROUND,
    ),
    "few distinct rows, crowded": (crowded(30), 20 * ROUND),
    "mixed magnitudes": (tiny_problems(8, rows="mixed magnitudes"), ROUND),
    "many features": (tiny_problems(7, rows="many features"), ROUND),
    "as large as large data": (tiny_problems(7).map(as_large), ROUND // 5),
    "many clusters": (tiny_problems(9, least_rows=5, spare=2), ROUND),
    "soft pairs and sizes": (limited_and_soft(), 10 * ROUND),
    "few distinct rows, soft and limited": (
        limited_and_soft(rows="few distinct rows"),
        10 * ROUND,
    ),
    "mixed magnitudes, soft and limited": (
        limited_and_soft(8, rows="mixed magnitudes"),
        10 * ROUND,
    ),
    "contradictions": (tiny_problems(8), 5 * ROUND),
}
DEFAULTS = ("kempe", "kempe, searching")
# Families that are not for all methods: others would take too long, or do not know such problems.
METHODS: dict[str, tuple[str, ...]] = {
    "few distinct rows": DEFAULTS,
    "soft pairs and sizes": DEFAULTS,
    "few distinct rows, soft and limited": DEFAULTS,
    "mixed magnitudes, soft and limited": DEFAULTS,
    # These have kernels of their own for large data of many features.
    "as large as large data": tuple(
        name for name in VARIANTS if name.startswith(("KSKM", "COPKM"))
    ),
}


def main(
    minutes: Annotated[float, typer.Option(help="How long to go on.")] = 2.0,
    seed: Annotated[int | None, typer.Option(help="Repeats a run; by default a new one.")] = None,
    workers: Annotated[int, typer.Option(help="Processes.")] = os.cpu_count() or 1,
    family: Annotated[list[str] | None, typer.Option(help="One of the families; all.")] = None,
) -> None:
    """Fuzz all methods; Ctrl-C ends early, with the summary."""
    families = family or list(FAMILIES)
    if unknown := set(families) - set(FAMILIES):
        raise typer.BadParameter(f"{', '.join(unknown)}: there are {', '.join(FAMILIES)}")
    seed = secrets.randbelow(10**9) if seed is None else seed
    typer.echo(f"seed {seed}, {minutes:g} minutes, {workers} processes")
    context = multiprocessing.get_context("spawn")
    stop, reports = context.Event(), context.Queue()
    crew = [
        context.Process(target=work, args=(seed + 10**9 * number, reports, stop, families))
        for number in range(workers)
    ]
    for worker in crew:
        worker.start()
    counts = follow(crew, reports, stop, time.monotonic() + 60 * minutes)
    summarise(counts)
    raise typer.Exit(1 if counts["failures"] else 0)


def follow(crew: list[Any], reports: Any, stop: Event, deadline: float) -> Counter[str]:
    """Add up what workers report until time is up, and see to it that they end."""
    counts: Counter[str] = Counter()
    started = time.monotonic()
    try:
        while time.monotonic() < deadline and any(worker.is_alive() for worker in crew):
            drain(reports, counts)
            show_progress(counts, started)
            time.sleep(0.5)
    except KeyboardInterrupt:
        typer.echo("\ninterrupted", err=True)
    stop.set()
    while any(worker.is_alive() for worker in crew):
        drain(reports, counts)
        time.sleep(0.05)
    drain(reports, counts)
    for worker in crew:
        if worker.exitcode:
            counts["failures"] += 1
            store(current(worker.pid).read_text(), f"crash, exit code {worker.exitcode}")
        current(worker.pid).unlink(missing_ok=True)
    return counts


def drain(reports: Any, counts: Counter[str]) -> None:
    while not reports.empty():
        counts.update(reports.get())


def show_progress(counts: Counter[str], started: float) -> None:
    if sys.stderr.isatty():
        passed = time.monotonic() - started
        line = f"{passed:6.0f} s  {counts['problems']:8,} problems  {counts['failures']} failures"
        print(f"\r{line}", end="", file=sys.stderr, flush=True)


def summarise(counts: Counter[str]) -> None:
    typer.echo(f"\n{counts['problems']:,} problems, of which {counts['feasible']:,} are feasible")
    typer.echo(f"{counts['failures']} failures")
    for family in FAMILIES:
        typer.echo(f"{family:<40}{counts[f'family {family}']:>10,} problems")
    typer.echo(f"{'method':<22}{'fits':>10}{'found':>10}{'optimal':>10}{'share':>10}")
    for name in (*VARIANTS, LARGER):
        fits, found, best = (counts[f"{kind} {name}"] for kind in ("fits", "found", "optimal"))
        share = f"{best / found:10.3%}" if found else f"{'-':>10}"
        typer.echo(f"{name:<22}{fits:>10,}{found:>10,}{best:>10,}{share}")


def work(seed: int, reports: Any, stop: Event, families: Sequence[str] = ()) -> None:
    """Try round after round of problems; Ctrl-C is the business of the process that asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Many problems have fewer distinct rows than clusters.
    warnings.simplefilter("ignore", ConvergenceWarning)
    chosen = families or list(FAMILIES)
    failures = 0
    while not stop.is_set() and failures < MOST_FAILURES:
        attempt = Attempt(reports, stop, chosen[seed % len(chosen)])
        try:
            hypothesis.seed(seed)(attempt.test)()
        except Exception as error:
            failures += 1
            reports.put(Counter(failures=1))
            store(json.dumps(attempt.last), f"{type(error).__name__}: {error}".splitlines()[0])
        seed += 1


class Attempt:
    """One round of problems, of which the last is the smallest failure if there is one."""

    def __init__(self, reports: Any, stop: Event, family: str) -> None:
        self.counts: Counter[str] = Counter()
        self.last: dict[str, Any] = {}
        self._reports = reports
        self._note = current(os.getpid())
        self._family = family
        strategy, examples = FAMILIES[family]
        self.test = settings(
            max_examples=examples,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )(hypothesis.given(strategy)(self._try(stop)))

    def _try(self, stop: Event) -> Any:
        def tried(problem: TinyProblem) -> None:
            if stop.is_set():
                return
            self.counts = Counter({"problems": 1, f"family {self._family}": 1})
            if self._family == "few distinct rows, crowded":
                self._try_crowded(problem)
            elif self._family == "contradictions":
                self._try_relaxed(problem)
            elif len(problem.X) >= LARGER_ROWS[0]:
                self._try_larger(problem)
            else:
                self._try_all(problem, METHODS.get(self._family, tuple(VARIANTS)))
            self._reports.put(self.counts)

        return tried

    def _try_crowded(self, problem: TinyProblem) -> None:
        """What is too much for all clusterings is still a clustering, and ends."""
        self.counts["feasible"] += 1
        check_labels(problem, self._fit("kempe", problem))

    def _try_relaxed(self, problem: TinyProblem) -> None:
        """Pairs that may contradict each other, of which the fewest are given up."""
        self._keep("relax", problem)
        check_relaxed(problem)

    def _try_all(self, problem: TinyProblem, variants: tuple[str, ...]) -> None:
        best = optimum(problem)
        self.counts["feasible"] += best < np.inf
        for variant in (name for name in variants if name in VARIANTS):
            outcome = self._fit(variant, problem)
            check_promises(variant, problem, outcome, best)
            self._count(variant, problem, outcome, best)

    def _try_larger(self, problem: TinyProblem) -> None:
        outcome = self._fit("kempe", problem)
        best = np.inf
        if not outcome.error:
            best = lowest_inertia(problem, outcome)
            self.counts["feasible"] += 1
        self._count(LARGER, problem, outcome, best)

    def _fit(self, variant: str, problem: TinyProblem) -> Outcome:
        self._keep(variant, problem)
        return fit(variant, problem)

    def _keep(self, variant: str, problem: TinyProblem) -> None:
        """Note what is tried, for whoever finds this process dead."""
        self.last = {"variant": variant, "problem": problem.to_json()}
        self._note.write_text(json.dumps(self.last))

    def _count(self, name: str, problem: TinyProblem, outcome: Outcome, best: float) -> None:
        self.counts[f"fits {name}"] += best < np.inf
        if not outcome.error:
            self.counts[f"found {name}"] += 1
            self.counts[f"optimal {name}"] += is_optimal(problem, outcome, best)


def lowest_inertia(problem: TinyProblem, outcome: Outcome) -> float:
    """The optimum by the compiled enumeration, which is tested against the slow one."""
    core = Problem.build(
        problem.data,
        problem.constraints,
        n_clusters=problem.n_clusters,
        sample_weight=None if problem.weights is None else np.array(problem.weights),
    )
    colours = np.empty(core.n_supernodes, dtype=np.int32)
    colours[core.supernode] = outcome.labels
    best, complete = _core.best_partition(core.core, colours, problem.n_clusters, _core.Stopper())
    assert complete
    return core.inertia(best)


def current(pid: int | None) -> Path:
    """Where a worker notes what it is trying."""
    return Path(tempfile.gettempdir()) / f"kempe-fuzz-{pid}.json"


def store(case: str, why: str) -> None:
    """Keep a failure for the tests."""
    content = {**json.loads(case), "why": why}
    name = hashlib.sha256(case.encode()).hexdigest()[:12]
    path = REGRESSIONS / f"{content['variant'].replace(', ', '_').replace(' ', '_')}-{name}.json"
    path.write_text(json.dumps(content, indent=1) + "\n")
    typer.echo(f"\n{path.name}: {why}", err=True)


if __name__ == "__main__":
    typer.run(main)
