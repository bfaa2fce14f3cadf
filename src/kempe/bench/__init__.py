"""Benchmarks: run methods over many data sets, keep every result, report on them."""

from kempe.bench.plan import Experiment, Plan, Task, load_plan
from kempe.bench.runner import run
from kempe.bench.store import Record, Store

__all__ = [
    "Experiment",
    "Plan",
    "Record",
    "Store",
    "Task",
    "load_plan",
    "run",
]
