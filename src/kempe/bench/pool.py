"""Worker processes that may crash, hang or run out of memory without stopping the plan."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from kempe.bench.own_methods import folder_of_own, look_in
from kempe.bench.plan import Task
from kempe.bench.store import Record

POLL = 0.2
"""Seconds between two looks at the memory and the age of running tasks."""

PREPARATION = 1800.0
"""Seconds for starting a worker and loading, perhaps downloading, its data."""


def _start_context() -> Any:
    """Workers never share locks and threads with the runner, as plain forks of it would.

    Where possible they are forks of a server that has nothing but the modules, so that a worker
    which replaces a killed one need not import them again.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")  # Windows
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["kempe.bench.execution", "sklearn.cluster", "sklearn.metrics"])
    return context


_context = _start_context()

_SAFE_PATH = "PYTHONSAFEPATH"


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the script that runs, which a new process would execute again.

    Workers need nothing of it, and without ``if __name__ == "__main__"`` it would start workers of
    its own there, which is an error.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _without_current_folder() -> Iterator[None]:
    """Let new processes import nothing from the current folder.

    They are started by ``python -c``, which puts it before all other places: a file kempe.py or
    json.py there would be executed.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _start_server() -> None:
    """Start the process that workers are forks of, deaf to Ctrl-C, which reaches it as well.

    Its forks are deaf too, until they have said what they do about Ctrl-C.
    """
    if _context.get_start_method() != "forkserver":
        return
    from multiprocessing import forkserver, resource_tracker

    with _without_main(), _without_current_folder():
        resource_tracker.ensure_running()  # first, because it takes the mask off again
        _mask_interrupts(True)
        try:
            forkserver.ensure_running()
        finally:
            _mask_interrupts(False)


def _mask_interrupts(masked: bool) -> None:
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        how = signal.SIG_BLOCK if masked else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})


def outcomes(
    tasks: Iterable[Task], *, workers: int, memory_limit: float | None, grace: float
) -> Iterator[Record]:
    """Execute tasks in worker processes and give their records as they finish.

    Parameters
    ----------
    workers
        Number of processes.
    memory_limit
        Megabytes a worker may hold.
    grace
        Seconds beyond its time limit after which a task is killed.
    """
    planned = list(tasks)
    pending = iter(planned)
    folder = folder_of_own(task.method for task in planned)
    crew = [_Worker(memory_limit, grace, folder) for _ in range(workers)]
    try:
        _start_server()
        busy = [worker for worker in crew if worker.start_next(pending)]
        while busy:
            wait([worker.connection for worker in busy], timeout=POLL)
            for worker in list(busy):
                record = worker.poll()
                if record is None:
                    continue
                yield record
                if not worker.start_next(pending):
                    busy.remove(worker)
    finally:
        for worker in crew:
            worker.stop()


def outcomes_by_joblib(tasks: Iterable[Task], *, workers: int, backend: str) -> Iterator[Record]:
    """Execute tasks by a backend of joblib and give their records as they finish.

    Nobody is killed here: a task that hangs or grows is the backend's business. Where tasks share a
    process, as in threads, processor time and memory of one are those of all.

    Parameters
    ----------
    workers
        Tasks at a time; -1: as many as the backend has workers.
    backend
        ``"threading"``, ``"loky"``, ``"dask"``, or any other that joblib knows.
    """
    from joblib import Parallel, delayed, parallel_config

    # As an argument of Parallel, "dask" fails for a parameter that it does not know.
    with parallel_config(backend=backend):
        many = Parallel(n_jobs=workers, return_as="generator_unordered")
        planned = list(tasks)
        folder = folder_of_own(task.method for task in planned)
        yield from many(delayed(_executed)(task, folder) for task in planned)


def _executed(task: Task, folder: str | None) -> Record:
    from threadpoolctl import threadpool_limits

    from kempe.bench.execution import execute

    look_in(folder)
    with threadpool_limits(1):
        return execute(task)


class _Worker:
    """One process and the task that it works on."""

    def __init__(self, memory_limit: float | None, grace: float, folder: str | None) -> None:
        self.memory_limit = memory_limit
        self.grace = grace
        self.folder = folder
        self.process: Any = None
        self.connection: Connection
        self.task: Task
        self.deadline = 0.0

    def start_next(self, pending: Iterator[Task]) -> bool:
        """Send the next task to the process; ``False`` if there is none."""
        task = next(pending, None)
        if task is None:
            return False
        if self.process is None:
            self._start()
        self.task = task
        self.deadline = time.monotonic() + PREPARATION
        # A process that has just died is noticed by ``poll``.
        with suppress(OSError):
            self.connection.send(task)
        return True

    def poll(self) -> Record | None:
        """Record of the task if it is done, in whatever way."""
        try:
            record = self._receive()
        except (EOFError, OSError):
            return self._fail(f"crash: {_describe_exit(self._exit_code())}")
        if record is not None:
            return record
        if time.monotonic() > self.deadline:
            limit = self.task.time_limit + self.grace
            return self._fail(f"hang: killed after {limit:g} s")
        if self.memory_limit and _resident_mb(self.process.pid) > self.memory_limit:
            return self._fail(f"memory: more than {self.memory_limit:g} MB")
        return None

    def _receive(self) -> Record | None:
        if not self.connection.poll():
            return None
        record: Record | None = self.connection.recv()
        if record is None:  # the method starts now, and with it the clock
            self.deadline = time.monotonic() + self.task.time_limit + self.grace
        elif record.reason.startswith("memory"):
            self.stop()  # a fresh process has its memory in one piece
        return record

    def stop(self) -> None:
        """End the process at once."""
        if self.process is not None:
            self.connection.close()
            if self.process.pid is not None:  # Ctrl-C may have come before it was started
                self.process.kill()
                self.process.join()
            self.process = None

    def _start(self) -> None:
        self.connection, other = _context.Pipe()
        arguments = (other, dict(os.environ), self.memory_limit, self.folder)
        self.process = _context.Process(target=_work, args=arguments, daemon=True)
        with _without_main(), _without_current_folder():
            self.process.start()
        other.close()

    def _fail(self, reason: str) -> Record:
        self.stop()
        return Record.of(self.task, "failed", reason=reason)

    def _exit_code(self) -> int:
        self.process.join(timeout=5)
        return int(self.process.exitcode or 0)


def _describe_exit(code: int) -> str:
    if code == -getattr(signal, "SIGKILL", 0):
        return "killed by signal SIGKILL, as the system does when memory runs out"
    if code < 0:
        return f"killed by signal {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _resident_mb(pid: int) -> float:
    """Memory that a process holds; 0 where this cannot be known."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        pass
    with suppress(ImportError):
        import psutil

        with suppress(psutil.Error):
            return float(psutil.Process(pid).memory_info().rss) / 2**20
    return 0.0


def _work(
    connection: Connection,
    environment: dict[str, str],
    memory_limit: float | None,
    folder: str | None,
) -> None:
    """Loop of a worker process: receive a task, execute it, send its record."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    _mask_interrupts(False)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()  # the server may have been started in another one
    os.environ.update(environment)
    look_in(folder)
    _limit_memory(memory_limit)
    from threadpoolctl import threadpool_limits

    from kempe.bench.execution import execute

    with threadpool_limits(1), suppress(EOFError, OSError):
        while True:
            task = connection.recv()
            connection.send(execute(task, on_ready=lambda: connection.send(None)))


def _end_with_parent() -> None:
    """Leave nothing behind when the runner was killed: its successor starts the task anew."""
    runner = multiprocessing.parent_process()
    if runner is not None:
        runner.join()
        os._exit(1)


def _limit_memory(megabytes: float | None) -> None:
    """Let allocations beyond the limit fail, which is kinder than being killed for them."""
    try:
        import resource
    except ImportError:  # Windows
        return
    if megabytes is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (int(megabytes * 2**20), hard))
