"""Running a plan: skip what the store has, execute the rest, append as runs finish."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kempe.bench.environment import environment
from kempe.bench.own_methods import check_module, is_own
from kempe.bench.plan import Plan, Task
from kempe.bench.pool import outcomes, outcomes_by_joblib
from kempe.bench.store import Record, Store, StoreError

OnRecord = Callable[[Record], None]


def run(
    plan: Plan,
    store: Store,
    *,
    workers: int | None = None,
    backend: str | None = None,
    retry_failed: bool = False,
    on_start: Callable[[int, int], None] = lambda done, total: None,
    on_record: OnRecord = lambda record: None,
) -> list[Record]:
    """Execute those runs of a plan that the store does not have.

    Parameters
    ----------
    plan
        What to run, as ``load_plan`` reads it.
    store
        Where the runs are kept.
    workers
        Number of processes; by default one per core, or all workers of a backend.
    backend
        A backend of joblib that executes the runs, for instance ``"dask"`` on the cluster of the
        present client. It has no limit of memory, and kills nothing that hangs. By default the
        runner has processes of its own.
    retry_failed
        Whether to repeat planned runs that failed.
    on_start
        Called once with the number of runs that are done already and of all.
    on_record
        Called after every run, once it is safe on disk.

    Returns
    -------
    list of Record
        All runs of the plan.
    """
    if plan.data:
        raise ValueError("the data of the plan has not been read; see Plan.with_data")
    tasks = plan.tasks()
    _check_methods(tasks, here=backend is None)
    planned = {task.key for task in tasks}
    name, facts = environment()
    if retry_failed:
        store.drop(lambda record: record.key in planned and not record.ok)
    with store.writing() as append:
        open_tasks = _open_tasks(tasks, store.records())
        on_start(len(tasks) - len(open_tasks), len(tasks))
        store.add_environment(name, facts)
        for outcome in _outcomes(plan, open_tasks, workers, backend):
            record = replace(outcome, environment=name)
            append(record)
            on_record(record)
    return [record for record in store.records() if record.key in planned]


def _outcomes(
    plan: Plan, tasks: list[Task], workers: int | None, backend: str | None
) -> Iterator[Record]:
    if backend is not None:
        return outcomes_by_joblib(tasks, workers=workers or -1, backend=backend)
    crew = min(workers or os.cpu_count() or 1, max(1, len(tasks)))
    return outcomes(tasks, workers=crew, memory_limit=plan.memory_limit, grace=plan.grace)


def _check_methods(tasks: Iterable[Task], *, here: bool) -> None:
    """Refuse methods that nobody knows; what workers elsewhere have is their affair."""
    wanted = dict.fromkeys(task.method for task in tasks if not task.packed)
    own = [name for name in wanted if is_own(name)]
    for name in own if here else ():
        check_module(name)
    if len(own) == len(wanted):
        return
    from kempe import methods  # late: whoever reads a store needs no estimators

    known = methods.names()
    for name in wanted:
        if name not in known and not is_own(name):
            raise ValueError(f"unknown method {name!r}; known are {', '.join(known)}")


def _open_tasks(tasks: Iterable[Task], records: Iterable[Record]) -> list[Task]:
    done = {record.key: record for record in records}
    for task in tasks:
        known = done.get(task.key)
        if known is not None and known.settings() != task.settings():
            raise StoreError(
                f"{task.key} is in the store with the settings {known.settings()}, but is now "
                f"planned with {task.settings()}; use another store"
            )
    return [task for task in tasks if task.key not in done]
