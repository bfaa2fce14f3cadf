"""Forks after use, and many fits at once in threads and processes."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from kempe import methods
from kempe.problem import Problem

needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
NAMES = ("kempe", "KSKM", "KSKM_E", "PCCC")


def fitted_labels(name: str, case, seed: int = 0, **options):
    if name in ("kempe", "KSKM", "KSKM_E"):
        options["max_mutations"] = 10
    model = methods.create(name, case.n_clusters, seed, **options)
    return model.fit(case.X, constraints=case.constraints).labels_


@pytest.fixture
def case(planted):
    return planted(2, n_rows=120, n_pairs=60)


@needs_fork
@pytest.mark.parametrize("name", NAMES)
def test_a_fork_after_use_can_fit(case, name):
    """The child has no threads of its parent, and must not wait for them."""
    options = {"n_jobs": 2} if name == "kempe" else {}
    expected = fitted_labels(name, case, **options)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if child == 0:
        os.write(writer, fitted_labels(name, case, **options).tobytes())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        assert answer.read() == expected.tobytes()
    assert os.waitpid(child, 0)[1] == 0


@needs_fork
def test_a_fork_can_use_and_free_a_problem_with_threads():
    """Large data has threads of its own, of which the child has none."""
    X = np.random.default_rng(0).normal(size=(100_000, 12))
    problem = Problem.build(X, n_clusters=4, n_threads=2)
    colours = np.arange(100_000, dtype=np.int32) % 4
    expected = problem.means(colours)[0].tobytes()
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.write(writer, problem.means(colours)[0].tobytes())
        del problem
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        assert answer.read() == expected
    assert os.waitpid(child, 0)[1] == 0


@needs_fork
def test_a_pool_of_forks_after_use_gives_the_same(case):
    expected = [fitted_labels(name, case) for name in NAMES]
    fitted_labels("kempe", case, n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = pool.starmap_async(fitted_labels, [(name, case) for name in NAMES]).get(120)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_many_fits_in_threads_give_the_same(case):
    tasks = [(name, case, seed) for name in NAMES for seed in range(3)]
    expected = [fitted_labels(*task) for task in tasks]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda task: fitted_labels(*task), tasks))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


COUNT = """
import json, os, threading, time
import numpy as np
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from kempe import KempeKMeans

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 4))
pairs = rng.integers(1000, size=(500, 2)) + [0, 1000]

def fit(seed, n_jobs):
    model = KempeKMeans(10, max_mutations=100, n_jobs=n_jobs, random_state=seed)
    return model.fit(X, cannot_link=pairs).labels_.tolist()

def busy():
    return len(list(Path("/proc/self/task").iterdir()))

expected = [fit(seed, 1) for seed in range(4)]
before, most, done = busy(), 0, threading.Event()

def watch():
    global most
    while not done.is_set():
        most = max(most, busy())
        time.sleep(0.002)

watcher = threading.Thread(target=watch)
watcher.start()
found = {}
for n_jobs in (1, 3):
    most = 0
    with ThreadPoolExecutor(4) as pool:
        labels = list(pool.map(lambda seed: fit(seed, n_jobs), range(4)))
    found[n_jobs] = (most - before - 1, labels == expected)
done.set()
watcher.join()
print(json.dumps(found))
"""


@needs_proc
@pytest.mark.slow
def test_fits_use_the_threads_that_were_asked_for_and_no_more():
    """Four fits side by side: each has its own thread, and with n_jobs as many again."""
    run = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    assert found["1"][1]
    assert found["3"][1], "results depend on threads"
    assert 4 <= found["1"][0] <= 8, "a fit with one job has a thread in reserve at most"
    assert 4 < found["3"][0] <= 4 * (1 + 3)


FIT = """
import sys
import numpy as np
from kempe import KempeKMeans
rng = np.random.default_rng(0)
X = rng.normal(size=(500, 4))
pairs = rng.integers(250, size=(100, 2)) + [0, 250]
model = KempeKMeans(6, max_mutations=50, n_jobs=2, random_state=0).fit(X, cannot_link=pairs)
print(model.inertia_.hex(), model.labels_.tolist())
"""


@pytest.mark.slow
def test_many_processes_at_once_give_the_same():
    started = [
        subprocess.Popen([sys.executable, "-c", FIT], stdout=subprocess.PIPE) for _ in range(4)
    ]
    assert len({process.communicate()[0] for process in started}) == 1
    assert {process.returncode for process in started} == {0}


def test_threads_end_with_the_fit(case):
    before = threading.active_count()
    fitted_labels("kempe", case, n_jobs=4)
    patience = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < patience:
        time.sleep(0.01)
    assert threading.active_count() == before


FORKED_WHILE_BUSY = """
import os, signal, sys, threading, warnings
import numpy as np
from kempe.problem import Problem

warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(100_000, 12))
problem = Problem.build(X, n_clusters=4, n_threads=3)
colours = np.arange(100_000, dtype=np.int32) % 4
done = threading.Event()

def busy():
    while not done.is_set():
        problem.means(colours)

threads = [threading.Thread(target=busy) for _ in range(2)]
for thread in threads:
    thread.start()
hung = 0
for _ in range(150):
    child = os.fork()
    if child == 0:
        signal.alarm(10)  # ends a child that waits for a lock
        problem.core.enter()
        problem.core.leave()
        os._exit(0)
    hung += os.waitpid(child, 0)[1] != 0
    if hung:
        break
done.set()
for thread in threads:
    thread.join()
sys.exit(hung)
"""


@needs_fork
def test_a_fork_waits_for_no_lock_that_a_thread_of_its_parent_had():
    done = subprocess.run([sys.executable, "-c", FORKED_WHILE_BUSY], timeout=300, check=False)
    assert done.returncode == 0
