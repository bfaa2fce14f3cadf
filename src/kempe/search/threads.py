"""How many threads an ``n_jobs`` means."""

from __future__ import annotations

from joblib import cpu_count, effective_n_jobs


def n_threads(n_jobs: int | None) -> int:
    """Give the threads that ``n_jobs`` asks for, under whatever backend of joblib.

    Threads are of this machine alone: where a backend has workers elsewhere, such as ``dask``, its
    "all" are as many threads as this machine has cores.

    Parameters
    ----------
    n_jobs
        As joblib understands it: a number of threads, -1 for all, ``None`` for what a surrounding
        ``joblib.parallel_config`` says, or one.
    """
    threads = int(effective_n_jobs(n_jobs))
    # Counting cores reads files of the system, which a small fit would notice.
    if threads == 1 or (n_jobs is not None and n_jobs > 0):
        return threads
    return min(threads, int(cpu_count()))
