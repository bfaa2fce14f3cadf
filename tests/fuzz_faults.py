"""Limits and Ctrl-C at random moments, in every public function, on problems of every shape.

A limit is kept to half a second of the processor, beyond which single steps are named in
``docs/reliability.md``; Ctrl-C ends with what there is so far, or with ``KeyboardInterrupt``. In
either case nothing that violates a pair is returned, and no thread is left.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import secrets
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
import typer

import kempe
from kempe import methods
from kempe.ask import Session
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError

OVERSHOOT = 0.5  # seconds of the processor
AFTER_CTRL_C = 2.0
BATCH = 10
"""Attempts of one process."""


@dataclass(frozen=True)
class Shape:
    """What a problem looks like; the seed makes it."""

    n: int
    d: int
    k: int
    pairs: int
    seed: int

    def make(self) -> tuple[Any, Any, Any]:
        """Data, labels that obey the pairs, and pairs that must be apart."""
        rng = np.random.default_rng(self.seed)
        hidden = rng.permutation(np.arange(self.n) % self.k)
        centres = 3 * rng.normal(size=(self.k, self.d))
        X = centres[hidden] + rng.normal(size=(self.n, self.d))
        drawn = rng.integers(self.n, size=(self.pairs, 2))
        return X, hidden, drawn[hidden[drawn[:, 0]] != hidden[drawn[:, 1]]]


KINDS: dict[str, Callable[[Any], dict[str, int]]] = {
    "large": lambda r: {"n": int(r.integers(50_000, 400_000)), "d": 10, "k": 10, "pairs": 20_000},
    "many pairs": lambda r: {"n": 20_000, "d": 4, "k": 20, "pairs": int(r.integers(1e5, 2e6))},
    "many clusters": lambda r: {"n": 30_000, "d": 20, "k": int(r.integers(200, 1500)), "pairs": 9},
    "many features": lambda r: {"n": 3000, "d": int(r.integers(500, 3000)), "k": 8, "pairs": 500},
    "small": lambda r: {"n": int(r.integers(50, 3000)), "d": 3, "k": 6, "pairs": 500},
}


def _fit(name: str) -> Callable[..., Any]:
    def fitted(X: Any, hidden: Any, apart: Any, k: int, limit: float | None) -> Any:
        model = methods.create(name, k, random_state=0, time_limit=limit)
        return model.fit(X, cannot_link=apart).labels_

    return fitted


def _sizes(share: float) -> Callable[..., Any]:
    """Sizes between a share of the mean size and as much more than it."""

    def fitted(X: Any, hidden: Any, apart: Any, k: int, limit: float | None) -> Any:
        mean = len(X) / k
        sizes = {"size_min": int(share * mean), "size_max": int(np.ceil((2 - share) * mean))}
        model = kempe.KempeKMeans(k, random_state=0, time_limit=limit, **sizes)
        labels = model.fit(X, cannot_link=apart).labels_
        found = np.bincount(labels, minlength=k)
        assert sizes["size_min"] <= found.min(), "a cluster is too small"
        assert found.max() <= sizes["size_max"], "a cluster is too large"
        return labels

    return fitted


def _some_wrong(apart: Any) -> tuple[Any, Any]:
    """Take one pair in ten for one that belongs together, which is wrong."""
    wrong = np.arange(len(apart)) % 10 == 0
    return apart[wrong], apart[~wrong]


def _soft(X: Any, hidden: Any, apart: Any, k: int, limit: float | None) -> None:
    together, other = _some_wrong(apart)
    model = kempe.KempeKMeans(k, random_state=0, time_limit=limit)
    model.fit(X, soft_must_link=together, soft_cannot_link=other)


def _relax(with_data: bool) -> Callable[..., Any]:
    def relaxed(X: Any, hidden: Any, apart: Any, k: int, limit: float | None) -> None:
        together, other = _some_wrong(apart)
        pairs = {"must_link": together, "cannot_link": other}
        given = X if with_data else None
        found = kempe.relax(given, n_clusters=k, time_limit=limit, random_state=0, **pairs)
        broken = found.kept.violations(found.labels)
        assert not broken.must_link.size + broken.cannot_link.size, "a kept pair is violated"

    return relaxed


def _predict(X: Any, hidden: Any, apart: Any, k: int, limit: float | None) -> None:
    """Clusters of new rows under limits on sizes; there is no limit on the time."""
    few = min(len(X) // 2, 4 * k)
    sizes = {"size_min": few // k // 2, "size_max": len(X)}
    model = kempe.KempeKMeans(k, random_state=0, max_mutations=0, **sizes).fit(X[:few])
    model.predict(X[few : few + 2000])


def _ask(X: Any, hidden: Any, apart: Any, k: int, limit: float | None) -> None:
    """A session after Ctrl-C at any moment still says what its log says."""
    session: Any = None
    try:
        session = Session(X, k, random_state=0)
        for _ in range(4):
            question = session.next()
            if question is None:
                break
            first, second = question.rows
            session.answer(
                question.pair, "together" if hidden[first] == hidden[second] else "apart"
            )
            _ = session.labels_
    except KeyboardInterrupt:
        if session is not None:
            said = sum(event["event"] == "answer" for event in session._log.events)
            assert len(session.answers) == said, "an answer was lost"
        raise


def _certify(X: Any, hidden: Any, apart: Any, k: int, limit: float | None) -> Any:
    given = {"cannot_link": apart, "time_limit": limit, "random_state": 0}
    return kempe.certify(X, hidden, n_clusters=k, **given).labels


def _choose_k(X: Any, hidden: Any, apart: Any, k: int, limit: float | None) -> None:
    model = kempe.KempeKMeans(random_state=0, time_limit=limit)
    kempe.choose_k(X, [k, k + 1], cannot_link=apart, estimator=model)


def _compare(X: Any, hidden: Any, apart: Any, k: int, limit: float | None) -> None:
    kempe.compare(X, k, cannot_link=apart, methods=["kempe"], seeds=1, time_limit=limit or 60.0)


def _dask(X: Any, hidden: Any, apart: Any, k: int, limit: float | None) -> None:
    import dask.array

    from kempe.dask import KempeKMeans

    rows = dask.array.from_array(X, chunks=(-(-len(X) // 3), X.shape[1]))
    KempeKMeans(k, random_state=0, time_limit=limit).fit(rows, cannot_link=apart)


# Whether the function has one limit for all that it does.
FUNCTIONS: dict[str, tuple[Callable[..., Any], bool]] = {
    **{name: (_fit(name), True) for name in ("kempe", "KSKM", "COPKM_P", "IPC_KMeans", "PCCC")},
    "sizes": (_sizes(0.5), True),
    "equal sizes": (_sizes(1.0), True),
    "soft pairs": (_soft, True),
    "relax": (_relax(True), True),
    "relax without data": (_relax(False), True),
    "predict with sizes": (_predict, False),
    "ask": (_ask, False),
    "certify": (_certify, True),
    "choose_k": (_choose_k, False),
    "compare": (_compare, False),
    "dask": (_dask, True),
}


def attempt(function: str, shape: Shape, limit: float | None, moment: float) -> tuple[str, float]:
    """Outcome of one call, and the seconds of the processor after the limit or Ctrl-C."""
    X, hidden, apart = shape.make()
    call, _ = FUNCTIONS[function]
    pressed: list[float] = []
    timer = threading.Timer(moment, press, [pressed])
    outcome = "returned"
    started = time.process_time()
    if limit is None:
        timer.start()
    try:
        labels = call(X, hidden, apart, shape.k, limit)
        if labels is not None:
            assert (labels[apart[:, 0]] != labels[apart[:, 1]]).all(), "a pair is violated"
    except (KeyboardInterrupt, NoSolutionFoundError) as error:
        outcome = type(error).__name__
    finally:
        ended = time.process_time()
        timer.cancel()
        timer.join() if limit is None else None
    if limit is not None:
        return outcome, ended - started - limit
    assert outcome != "NoSolutionFoundError", "Ctrl-C found no solution"
    return outcome, ended - pressed[0] if pressed else 0.0


def press(pressed: list[float]) -> None:
    pressed.append(time.process_time())
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def work(seed: int, reports: Any, functions: list[str]) -> None:
    """Make a batch of attempts, and tell what came of each."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(seed)
    kempe.KempeKMeans(2, random_state=0).fit(np.eye(4))
    kempe.certify(np.eye(4), n_clusters=2, random_state=0)
    for call in (_soft, _relax(True), _predict, _ask, _sizes(0.5)):  # what is imported on first use
        call(np.arange(24.0).reshape(12, 2), np.arange(12) % 2, np.array([[0, 1], [2, 3]]), 2, None)
    for _ in range(BATCH):
        function = str(rng.choice(functions))
        kind = str(rng.choice(list(KINDS)))
        shape = Shape(**KINDS[kind](rng), seed=int(rng.integers(2**31)))
        has_limit = FUNCTIONS[function][1] and rng.random() < 0.5
        limit = float(rng.choice((0.01, 0.1, 0.3, 1.0))) if has_limit else None
        moment = float(rng.uniform(0.01, 2.0))
        what = {"function": function, "kind": kind, **asdict(shape), "limit": limit}
        what["moment"] = moment
        reports.put(("trying", what))
        threads = threading.active_count()
        try:
            outcome, after = attempt(function, shape, limit, moment)
            most = AFTER_CTRL_C if limit is None else OVERSHOOT
            assert after <= most, f"{after:.2f} seconds after the end"
            assert threading.active_count() <= threads, "a thread is left"
        except InfeasibleConstraintsError:
            outcome, after = "infeasible", 0.0
        except BaseException as error:
            reports.put(("failed", what, f"{type(error).__name__}: {error}"[:300]))
            continue
        reports.put(("done", what, outcome, after))


def main(
    minutes: Annotated[float, typer.Option(help="How long to go on.")] = 2.0,
    seed: Annotated[int | None, typer.Option(help="Repeats a run; by default a new one.")] = None,
    workers: Annotated[int, typer.Option(help="Processes.")] = max(1, (os.cpu_count() or 2) - 1),
    function: Annotated[list[str] | None, typer.Option(help="One of the functions; all.")] = None,
) -> None:
    """Fuzz limits and Ctrl-C; what fails is printed with what repeats it."""
    functions = function or list(FUNCTIONS)
    if unknown := set(functions) - set(FUNCTIONS):
        raise typer.BadParameter(f"{', '.join(unknown)}: there are {', '.join(FUNCTIONS)}")
    seed = secrets.randbelow(10**9) if seed is None else seed
    typer.echo(f"seed {seed}, {minutes:g} minutes, {workers} processes")
    counts: Counter[str] = Counter()
    latest: dict[str, float] = {}
    try:
        deadline = time.monotonic() + 60 * minutes
        follow(seed, workers, deadline, functions, counts, latest)
    except KeyboardInterrupt:
        typer.echo("\ninterrupted", err=True)
    typer.echo(f"\n{counts['calls']:,} calls, {counts['failures']} failures")
    for name, after in sorted(latest.items()):
        typer.echo(f"{name:<40}{counts[name]:>8,} calls, at most {after:.2f} s over")
    raise typer.Exit(1 if counts["failures"] else 0)


def follow(
    seed: int,
    workers: int,
    deadline: float,
    functions: list[str],
    counts: Counter[str],
    latest: dict[str, float],
) -> None:
    context = multiprocessing.get_context("spawn")
    crew: list[tuple[Any, Any, list[Any]]] = []
    while crew or time.monotonic() < deadline:
        while len(crew) < workers and time.monotonic() < deadline:
            reports = context.SimpleQueue()
            worker = context.Process(target=work, args=(seed, reports, functions))
            worker.start()
            crew.append((worker, reports, [{}]))
            seed += 1
        for member in list(crew):
            worker, reports, last = member
            alive = worker.is_alive()
            while not reports.empty():
                note(reports.get(), last, counts, latest)
            if not alive:
                if worker.exitcode:
                    fail(last[0], f"exit code {worker.exitcode}", counts)
                crew.remove(member)
        time.sleep(0.1)


def note(
    report: tuple[Any, ...], last: list[Any], counts: Counter[str], latest: dict[str, float]
) -> None:
    if report[0] == "trying":
        last[0] = report[1]
    elif report[0] == "failed":
        fail(report[1], report[2], counts)
    else:
        what, _, after = report[1:]
        name = f"{what['function']}, {'Ctrl-C' if what['limit'] is None else 'limit'}"
        counts.update(["calls", name])
        latest[name] = max(latest.get(name, 0.0), after)


def fail(what: dict[str, Any], why: str, counts: Counter[str]) -> None:
    counts.update(["calls", "failures"])
    typer.echo(f"\n{why}: {json.dumps(what)}", err=True)


if __name__ == "__main__":
    typer.run(main)
