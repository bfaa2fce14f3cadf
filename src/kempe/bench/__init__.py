"""Benchmarks: run methods over the collections, keep every result, compare with the paper."""

from kempe.bench.plan import Experiment, Plan, Task, load_plan, shipped_plans
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
    "shipped_plans",
]
