"""The runner: failures of all kinds, resumption, equal conditions for all methods."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from kempe import datasets
from kempe.bench import Experiment, Plan, Store, Task, run
from kempe.bench.execution import execute, history, inertia, starting_centroids, violations
from kempe.bench.store import StoreError
from kempe.bench.summary import Summary

SETS = ["COL2/n300-k10-s30", "COL3/n500-k10"]


def plan_of(*methods, seeds=2, **limits):
    options = {name: limits.pop(name) for name in ("options", "time_limit") if name in limits}
    methods = [f"own_methods:{name}" for name in methods]
    experiment = Experiment(methods, SETS, [0.05, 0.2], range(seeds), **options)
    return Plan("test", [experiment], **limits)


def timeless(records):
    """Everything but what differs between two executions of the same run."""
    kept = [replace(item, cpu_s=None, wall_s=None, peak_mb=None) for item in records]
    return {item.key: item for item in kept}


def test_runs_are_recorded_with_everything(tmp_path, own_methods):
    seen, starts = [], []
    store = Store(tmp_path)
    records = run(
        plan_of("Steady"),
        store,
        workers=2,
        on_start=lambda *counts: starts.append(counts),
        on_record=seen.append,
    )
    assert starts == [(0, 8)]
    assert len(records) == len(seen) == len(store.records()) == 8
    for record in records:
        assert record.ok, record.reason
        assert record.violations == 0
        assert record.inertia > 0
        assert 0.5 < record.ari < 1
        assert record.cpu_s > 0
        assert record.wall_s > 0
        assert record.peak_mb > 10
        assert store.environments()[record.environment]["packages"]["kempe"]


def test_a_plan_with_an_unknown_method_does_not_start(tmp_path):
    plan = Plan("p", [Experiment(["nonsense"], SETS)])
    with pytest.raises(ValueError, match="unknown method 'nonsense'"):
        run(plan, Store(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_finished_plan_is_not_run_again(tmp_path, own_methods):
    plan, store = plan_of("Steady"), Store(tmp_path)
    first = run(plan, store, workers=1)
    seen = []
    assert run(plan, store, workers=1, on_record=seen.append) == first
    assert not seen


def test_another_setting_of_the_same_run_is_refused(tmp_path, own_methods):
    run(plan_of("Steady", seeds=1), Store(tmp_path), workers=1)
    with pytest.raises(StoreError, match="use another store"):
        run(plan_of("Steady", seeds=1, time_limit=1.0), Store(tmp_path), workers=1)


def small(*names, seeds=(0, 1), **limits):
    methods = [f"own_methods:{name}" for name in (*names, "Steady")]
    limit = limits.pop("time_limit", 60.0)
    return Plan("small", [Experiment(methods, SETS[:1], [0.05], seeds, time_limit=limit)], **limits)


FAILURES = {
    "Crash": "crash: killed by signal SIGSEGV",
    "Shot": "crash: killed by signal SIGKILL, as the system does when memory runs out",
    "Starved": "memory: ",
    "Violator": "violation: ",
    "Infeasible": "infeasible: no way",
    "Unlucky": "no solution: stuck",
    "Broken": "error: KeyError 'oops'",
    "Missing": "error: AttributeError",
}


def test_failing_methods_are_recorded_and_the_plan_goes_on(tmp_path, own_methods):
    records = run(small(*FAILURES, seeds=[0]), Store(tmp_path), workers=1)
    outcome = {item.method.split(":")[1]: item for item in records}
    assert outcome.pop("Steady").ok
    assert outcome.keys() == FAILURES.keys()
    for name, record in outcome.items():
        assert record.status == "failed"
        assert record.reason.startswith(FAILURES[name])
    assert outcome["Violator"].reason == f"violation: {outcome['Violator'].violations} pairs"
    assert outcome["Violator"].violations > 0


def test_a_failure_tells_whether_the_limit_was_its_cause(tmp_path, own_methods):
    records = run(small("Unlucky", "Late", seeds=[0], time_limit=0.3), Store(tmp_path), workers=1)
    outcome = {item.method.split(":")[1]: item for item in records}
    assert outcome["Late"].limited
    assert not outcome["Unlucky"].limited
    assert not outcome["Steady"].limited


@pytest.mark.slow
@pytest.mark.timing
def test_a_hanging_method_is_killed(tmp_path, own_methods):
    plan = small("Hang", time_limit=0.5, grace=2.0)
    records = run(plan, Store(tmp_path), workers=2)
    hung = [item for item in records if item.method.endswith("Hang")]
    assert [item.reason for item in hung] == ["hang: killed after 2.5 s"] * 2
    assert sum(item.ok for item in records) == 2


@pytest.mark.slow
def test_a_method_that_wants_too_much_memory_fails_alone(tmp_path, own_methods):
    records = run(small("Hog", memory_limit=1500.0), Store(tmp_path), workers=1)
    hogs = [item for item in records if item.method.endswith("Hog")]
    assert [item.reason.split(":")[0] for item in hogs] == ["memory"] * 2
    assert sum(item.ok for item in records) == 2


def test_a_run_without_data_is_no_failure_of_the_method(monkeypatch):
    monkeypatch.setenv("KEMPE_MIRROR", "http://127.0.0.1:9")
    record = execute(Task("main", "COL1/zoo", 0.1, "KSKM", 0))
    assert record.reason.startswith("no data: no zoo.npz in ")
    assert "KEMPE_DATA" in record.reason
    assert not Summary([record]).cells


def test_failed_runs_are_repeated_on_demand_only(tmp_path, own_methods):
    plan, store, seen = small("Broken"), Store(tmp_path), []
    run(plan, store, workers=1)
    run(plan, store, workers=1, on_record=seen.append)
    assert not seen
    run(plan, store, workers=1, retry_failed=True, on_record=seen.append)
    assert len(seen) == 2
    assert len(store.records()) == 4


RUNNER = """
import sys
from kempe.bench import Experiment, Plan, Store, run
if __name__ == "__main__":
    methods = ["own_methods:Steady", "own_methods:Broken"]
    options = {"own_methods:Steady": {"pause": 0.05}}
    experiment = Experiment(methods, %r, [0.05, 0.2], range(6), options=options)
    run(Plan("test", [experiment]), Store(sys.argv[1]), workers=2)
"""


@pytest.mark.parametrize(
    "goals",
    [
        pytest.param((1, 20), marks=pytest.mark.slow),
        pytest.param((1, 6, 12, 20, 32), marks=pytest.mark.stress),
    ],
)
def test_kills_at_random_moments_change_nothing_but_times(tmp_path, own_methods, goals):
    script = tmp_path / "runner.py"
    script.write_text(RUNNER % SETS)
    environment = os.environ | {"PYTHONPATH": str(own_methods)}

    def start(folder):
        return subprocess.Popen([sys.executable, script, tmp_path / folder], env=environment)

    assert start("undisturbed").wait() == 0
    expected = Store(tmp_path / "undisturbed").records()
    assert len(expected) == 2 * 2 * 6 * 2
    moments, progress = random.Random(1), []
    store = Store(tmp_path / "disturbed")
    for goal in goals:
        process = start("disturbed")
        while len(store.records()) < goal and process.poll() is None:
            time.sleep(0.02)
        time.sleep(moments.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        progress.append(len(store.records()))
    assert progress == sorted(progress)
    assert start("disturbed").wait() == 0
    assert len(store.path.read_bytes().splitlines()) == 1 + len(expected)
    assert timeless(store.records()) == timeless(expected)


@pytest.mark.slow
def test_workers_end_when_the_runner_is_killed(tmp_path, own_methods):
    psutil = pytest.importorskip("psutil")
    script = tmp_path / "runner.py"
    script.write_text(RUNNER % SETS)
    environment = os.environ | {"PYTHONPATH": str(own_methods)}
    process = subprocess.Popen([sys.executable, script, tmp_path / "store"], env=environment)
    while not Store(tmp_path / "store").records():
        time.sleep(0.05)
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    gone, alive = psutil.wait_procs(children, timeout=10)
    assert gone
    assert not alive


def test_all_methods_start_from_the_same_centroids():
    tasks = [Task("main", SETS[0], 0.05, name, 3) for name in ("KSKM", "COPKM")]
    first, second = (starting_centroids(task) for task in tasks)
    np.testing.assert_array_equal(first, second)
    assert first.shape == (10, 2)
    others = [replace(tasks[0], seed=4), replace(tasks[0], level=0.1)]
    for task in others:
        assert not np.array_equal(starting_centroids(task), first)


def test_must_link_pairs_can_be_left_out(own_methods):
    task = Task("no-must-link", SETS[0], 0.2, "own_methods:Violator", 0, must_link=False)
    expected = len(datasets.load(SETS[0], 0.2).constraints.cannot_link)
    assert execute(task).violations == expected


def test_inertia_and_violations_agree_with_slow_twins():
    data = datasets.load(SETS[0], 0.1)
    labels = np.random.default_rng(0).integers(0, 10, len(data.y))
    slow = 0.0
    for cluster in range(10):
        members = [x for x, label in zip(data.X, labels, strict=True) if label == cluster]
        centre = sum(members) / len(members)
        slow += sum(((x - centre) ** 2).sum() for x in members)
    assert inertia(data.X, labels) == pytest.approx(slow, rel=1e-12)
    wrong = sum(labels[a] != labels[b] for a, b in data.constraints.must_link)
    wrong += sum(labels[a] == labels[b] for a, b in data.constraints.cannot_link)
    assert violations(labels, data.constraints) == wrong


def test_the_history_keeps_improvements_only_and_not_too_many():
    statistics = SimpleNamespace(
        elapsed=[0.01 * i for i in range(1000)],
        best_inertia=[float(1000 - i // 2) for i in range(1000)],
    )
    curve = history(SimpleNamespace(result_=SimpleNamespace(statistics=statistics)))
    assert len(curve) <= 40
    assert curve[0] == (0.0, 1000.0)
    assert curve[-1][1] == 501.0
    assert all(later[1] < earlier[1] for earlier, later in pairwise(curve))
    assert history(object()) == []
