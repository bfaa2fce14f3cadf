"""Program that fits again and again while Ctrl-C comes, each time a little later.

``python interrupted_fits.py FAMILY,FAMILY STEP MOMENTS [PAUSE]`` prints one line of JSON for every
family and moment: what came of the fit, how long it went on after the last Ctrl-C, and how many
threads were left. STEP is the number of seconds from one moment to the next; after PAUSE seconds
Ctrl-C comes once more.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from kempe import KSKM, KempeKMeans, NoSolutionFoundError
from kempe.clusterer import ConstrainedClusterer
from kempe.rivals import BLPKMCC, COPKM_P, PCCC, S_MDEClust

FOREVER = 10**9
PATIENCE = 5.0
"""Seconds in which threads must have ended."""
AGAIN = 0.01
"""Seconds until a Ctrl-C that was lost comes again."""


def planted_problem(
    n: int, k: int, share: float, seed: int = 0
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Data without structure, and a share of all pairs: those between k hidden groups."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    hidden = rng.integers(k, size=n)
    pairs = rng.integers(n, size=(int(share * n * (n - 1) / 2), 2))
    return X, pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]]


# Each family with a problem that takes it at least as long as the sweep.
FAMILIES: dict[str, tuple[Callable[[], ConstrainedClusterer], tuple[int, int, float]]] = {
    "memetic": (lambda: KempeKMeans(12, max_mutations=FOREVER, random_state=0), (1500, 12, 0.01)),
    "threads": (
        lambda: KempeKMeans(12, max_mutations=FOREVER, n_jobs=2, random_state=0),
        (1500, 12, 0.01),
    ),
    "starts": (
        lambda: KempeKMeans(12, n_init=3000, max_mutations=2, n_jobs=2, random_state=0),
        (600, 12, 0.01),
    ),
    "tight": (lambda: KempeKMeans(5, max_mutations=FOREVER, random_state=0), (150, 5, 0.35)),
    "KSKM": (lambda: KSKM(12, max_mutations=FOREVER, random_state=0), (1500, 12, 0.01)),
    "KSKM_E": (
        lambda: KSKM(6, exact="highs", max_mutations=FOREVER, random_state=0),
        (200, 6, 0.1),
    ),
    "KSKM_E CP-SAT": (
        lambda: KSKM(5, exact="cpsat", max_mutations=FOREVER, random_state=0),
        (120, 5, 0.2),
    ),
    "PCCC": (lambda: PCCC(8, random_state=0), (400, 8, 0.02)),
    "BLPKMCC": (lambda: BLPKMCC(8, random_state=0), (400, 8, 0.02)),
    "COPKM_P": (lambda: COPKM_P(30, random_state=0), (20_000, 30, 1e-4)),
    "S_MDEClust": (lambda: S_MDEClust(5, random_state=0), (200, 5, 0.02)),
    # One assignment keeps HiGHS busy for minutes.
    "HiGHS": (lambda: BLPKMCC(9, random_state=0), (130, 9, 0.35)),
}


def interrupt_later(*pauses: float) -> subprocess.Popen[bytes]:
    """Send Ctrl-C to this process from another one, several times; it prints when that was."""
    waits = "".join(f"sleep {pause:.4f}; kill -INT {os.getpid()}; " for pause in pauses)
    return subprocess.Popen(["sh", "-c", f"{waits} date +%s"], stdout=subprocess.PIPE)


class Received:
    """Counts what comes, and raises as Python does.

    Python itself loses what comes in a callback that must not raise, such as that of a weak
    reference. Then it comes once more, as from somebody who sees that nothing happens.
    """

    def __init__(self) -> None:
        self.count = 0
        signal.signal(signal.SIGINT, self)
        signal.signal(signal.SIGALRM, self)
        sys.unraisablehook = self.not_raised

    def __call__(self, number: int, frame: object) -> None:
        self.count += 1
        raise KeyboardInterrupt

    def not_raised(self, lost: Any) -> None:
        if lost.exc_type is not KeyboardInterrupt:
            return sys.__unraisablehook__(lost)
        self.count -= 1
        signal.setitimer(signal.ITIMER_REAL, AGAIN)


def attempt(model: ConstrainedClusterer, X: Any, pairs: Any, *pauses: float) -> tuple[str, float]:
    """Outcome of one fit, and the seconds, up to one, that it went on after the last Ctrl-C."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the fit begins
    received = Received()
    sender = interrupt_later(*pauses)
    finished = time.time()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        try:
            model.fit(X, cannot_link=pairs)
            outcome = model.result_.stop_reason
            if len(pauses) > 1 and sender.poll() is not None:
                outcome = "a second Ctrl-C was lost"
            labels = model.labels_
            assert (labels[pairs[:, 0]] != labels[pairs[:, 1]]).all(), "a pair is violated"
        finally:
            finished = time.time()
            # What comes after the fit is no concern of it. A signal may go to a thread that sleeps,
            # and be seen here long after it was sent; two that come at once count as one.
            while sender.poll() is None or not received.count:
                time.sleep(0.001)
    except KeyboardInterrupt:
        outcome = "KeyboardInterrupt"
    sent = int(sender.communicate()[0])
    return outcome, finished - sent


def threads_left(before: int) -> int:
    """How many threads more than before are there, once they had time to end."""
    patience = time.monotonic() + PATIENCE
    while (more := count_threads() - before) > 0 and time.monotonic() < patience:
        time.sleep(0.005)
    return max(0, more)


def count_threads() -> int:
    tasks = Path("/proc/self/task")
    system = len(list(tasks.iterdir())) if tasks.exists() else threading.active_count()
    return max(system, threading.active_count())


def sweep(family: str, step: float, moments: int, pause: float | None) -> None:
    make, (n, k, share) = FAMILIES[family]
    X, pairs = planted_problem(n, k, share)
    # Imports and pools that stay for good come before the count. No Ctrl-C falls into imports:
    # Python itself loses one that comes while a lock of the import system is given back.
    with suppress(NoSolutionFoundError):
        make().set_params(time_limit=0.4).fit(X, cannot_link=pairs)
    before = count_threads()
    rng = np.random.default_rng(0)
    for moment in range(moments):
        pauses = [step * (moment + rng.random())] + ([] if pause is None else [pause])
        try:
            outcome, late = attempt(make(), X, pairs, *pauses)
        except Exception as error:
            outcome, late = f"{type(error).__name__}: {error}", 0.0
        line = {"family": family, "at": pauses[0], "outcome": outcome, "late": late}
        print(json.dumps(line | {"threads": threads_left(before)}), flush=True)


if __name__ == "__main__":
    families, step, moments, *pause = sys.argv[1:]
    for name in families.split(","):
        sweep(name, float(step), int(moments), float(pause[0]) if pause else None)
