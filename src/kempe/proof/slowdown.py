"""How much longer things take on a machine that has other work to do."""

from __future__ import annotations

import time

# Before so many seconds of work there is too little to judge by.
LEAST_SECONDS = 0.05


class Slowdown:
    """Compares seconds on the clock with seconds of work since it was made.

    Estimates of how long a check takes are in seconds of work, limits are on the clock.
    """

    def __init__(self) -> None:
        self._clock = time.perf_counter()
        self._work = time.process_time()

    def __call__(self) -> float:
        """Give the seconds on the clock for each second of work; 1 at least.

        Where threads work side by side there is more work than time, and nothing to be seen of
        others: that is 1, too.
        """
        work = time.process_time() - self._work
        return max(1.0, (time.perf_counter() - self._clock) / max(work, LEAST_SECONDS))
