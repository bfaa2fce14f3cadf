"""Program that fits in many threads at once, on the same arrays, while Ctrl-C ends another fit.

``python threaded_fits.py ROUNDS`` prints a line of JSON for every round: how many fits differed
from the same fits one after the other, and what came of the fit in the main thread. The last line
tells whether the interpreter has its lock.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from interrupted_fits import FOREVER, planted_problem

from kempe import KSKM, Constraints, KempeKMeans
from kempe.clusterer import ConstrainedClusterer
from kempe.rivals import COPKM_P, PCCC
from kempe.search import Callbacks, SearchState

THREADS = 8
X, PAIRS = planted_problem(300, 6, 0.02)
CONSTRAINTS = Constraints(cannot_link=PAIRS)


def models(seed: int) -> list[ConstrainedClusterer]:
    """One of each kind, threads of its own among them; HiGHS solves for the last two."""
    return [
        KempeKMeans(6, max_mutations=50, random_state=seed),
        KempeKMeans(6, max_mutations=50, n_jobs=2, random_state=seed),
        KempeKMeans(6, n_init=3, max_mutations=10, n_jobs=2, random_state=seed),
        KSKM(6, max_mutations=20, random_state=seed),
        COPKM_P(6, random_state=seed),
        KSKM(6, exact="highs", max_mutations=1, random_state=seed),
        PCCC(6, random_state=seed),
    ]


def fitted(model: ConstrainedClusterer) -> tuple[float, bytes]:
    model.fit(X, constraints=CONSTRAINTS)
    return model.inertia_, model.labels_.tobytes()


class InterruptLater(Callbacks):
    """Sends Ctrl-C a little after there is a clustering."""

    def __init__(self) -> None:
        self.timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))

    def on_best(self, state: SearchState) -> None:
        if not self.timer.ident:
            self.timer.start()


def interrupted() -> str:
    """What comes of a fit of the main thread when Ctrl-C comes."""
    later = InterruptLater()
    model = KempeKMeans(6, max_mutations=FOREVER, n_jobs=2, random_state=0, callbacks=later)
    return str(model.fit(X, constraints=CONSTRAINTS).result_.stop_reason)


def attempt(expected: list[Any], seeds: range) -> dict[str, Any]:
    tasks = [model for seed in seeds for model in models(seed)]
    with ThreadPoolExecutor(THREADS) as pool:
        running = [pool.submit(fitted, model) for model in tasks]
        outcome = interrupted()
        found = [fit.result() for fit in running]
    differ = sum(one != other for one, other in zip(found, expected, strict=True))
    return {"fits": len(found), "differ": differ, "main": outcome}


def main(rounds: int) -> None:
    # A shell starts what it runs in the background deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    seeds = range(2)
    expected = [fitted(model) for seed in seeds for model in models(seed)]
    for _ in range(rounds):
        print(json.dumps(attempt(expected, seeds)), flush=True)
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(json.dumps({"locked": locked}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
