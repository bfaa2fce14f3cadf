"""Ctrl-C at any moment: the best so far or ``KeyboardInterrupt``, and no thread is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kempe import KempeKMeans, _core
from kempe.exceptions import Interrupted
from kempe.search import Callbacks
from kempe.search.recorder import Recorder
from kempe.search.result import Solution
from random_problems import large_problem

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")

PROGRAM = Path(__file__).with_name("interrupted_fits.py")
FAMILIES = (
    "memetic", "threads", "starts", "tight", "KSKM", "KSKM_E", "KSKM_E CP-SAT", "PCCC", "BLPKMCC",
    "COPKM_P", "S_MDEClust",
)  # fmt: skip
# Seconds after Ctrl-C, of which one is rounding; the machine may be busy.
PROMPT = 4.0


def outcomes(families: str, step: float, moments: int, *pause: float) -> list[dict[str, object]]:
    """What came of fits that Ctrl-C ended at many moments."""
    arguments = [str(a) for a in (families, step, moments, *pause)]
    run = subprocess.run(
        [sys.executable, PROGRAM, *arguments], capture_output=True, text=True, timeout=600
    )
    assert (run.returncode, run.stderr) == (0, "")
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(lines) == moments * len(families.split(","))
    return lines


def check(lines: list[dict[str, object]]) -> None:
    for line in lines:
        assert line["outcome"] in ("interrupted", "KeyboardInterrupt"), line
        assert line["threads"] == 0, line
        assert line["late"] < PROMPT, line  # type: ignore[operator]


@pytest.mark.slow
def test_a_few_moments_of_a_fit() -> None:
    check(outcomes(",".join(FAMILIES), 0.06, 4))


@pytest.mark.stress
@pytest.mark.parametrize("family", FAMILIES)
def test_every_hundredth_of_a_second_of_a_fit(family: str) -> None:
    check(outcomes(family, 0.01, 60))


@pytest.mark.slow
def test_a_second_ctrl_c_is_not_lost() -> None:
    """Within a tenth of a second, in which kernels do not look, two count as one."""
    check(outcomes("threads,KSKM_E CP-SAT,HiGHS", 0.5, 3, 0.15))


@pytest.mark.stress
@pytest.mark.parametrize("family", FAMILIES)
def test_a_second_ctrl_c_is_not_lost_anywhere(family: str) -> None:
    check(outcomes(family, 0.02, 20, 0.3))


SOLVE = """
import sys, time
import numpy as np
from scipy import sparse
from kempe.exact.highs import solve_program
rng = np.random.default_rng(0)
n = 400
costs = -rng.integers(1, 100, n).astype(float)
rows = sparse.csr_array(rng.integers(1, 100, size=(60, n)).astype(float))
limits = np.asarray(rows.sum(axis=1)).ravel() / 2.1
print("begun", flush=True)
started = time.monotonic()
try:
    answer = solve_program(costs, [(rows, -np.inf, limits)], np.ones(n, int), float(sys.argv[1]))
    print(answer.status, answer.x is not None, time.monotonic() - started)
except KeyboardInterrupt:
    print("KeyboardInterrupt")
"""


def start_solving(seconds: float) -> subprocess.Popen[str]:
    """Begin a program that HiGHS does not solve in minutes."""
    process = subprocess.Popen(
        [sys.executable, "-c", SOLVE, str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def wait_for_child(process: subprocess.Popen[str]) -> int:
    """Process that HiGHS runs in."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (found := children.read_text().split()):
        time.sleep(0.05)
    return int(found[0])


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or waits for nothing but to be forgotten."""
    status = Path(f"/proc/{pid}/status")
    return not status.exists() or "State:\tZ" in status.read_text()


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")


@pytest.mark.slow
def test_a_solve_that_moves_to_another_process_keeps_its_limit() -> None:
    output, _ = start_solving(4.0).communicate(timeout=60)
    status, found, seconds = output.split()
    assert (status, found) == ("1", "True")
    assert 3.5 < float(seconds) < 10.0


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGKILL])
def test_the_other_process_ends_with_the_first(kill: signal.Signals) -> None:
    process = start_solving(300.0)
    child = wait_for_child(process)
    process.send_signal(kill)
    output, _ = process.communicate(timeout=10)
    assert output == ("KeyboardInterrupt\n" if kill == signal.SIGINT else "")
    patience = time.monotonic() + 10
    while not has_ended(child) and time.monotonic() < patience:
        time.sleep(0.05)
    assert has_ended(child)


@pytest.fixture(scope="module")
def interrupted_recorder() -> Recorder:
    """A recorder whose kernel has noticed Ctrl-C; there is a solution."""
    problem, colours = large_problem(0, n=3000, k=20, d=4, n_pairs=300)
    recorder = Recorder(problem)
    recorder.record(Solution.of(problem, colours), "start")
    search = _core.SequentialSearch(problem.core, problem.n_clusters)
    signal.setitimer(signal.ITIMER_REAL, 0.15)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        search.relocate(colours, 10**9, 10**9, 0, -np.inf, 1, recorder.stopper)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert recorder.stopper.interrupted
    return recorder


def test_a_second_ctrl_c_after_a_kernel_noticed_the_first_is_raised(interrupted_recorder) -> None:
    def search() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_recorder.follow(search)


def test_what_a_kernel_noticed_and_raised_later_is_no_second_ctrl_c(interrupted_recorder) -> None:
    def search() -> None:
        raise Interrupted

    assert interrupted_recorder.follow(search).stop_reason == "interrupted"


def test_a_second_ctrl_c_while_the_first_is_handled_is_raised(planted) -> None:
    problem = planted(0).problem

    def search() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise KeyboardInterrupt

    recorder = Recorder(problem)
    colours = np.zeros(problem.n_supernodes, dtype=np.int32)
    recorder.record(Solution(colours, 1.0, 1.0), "start")
    with pytest.raises(KeyboardInterrupt):
        recorder.follow(search)


def test_an_interrupted_fit_says_so_whichever_start_was_best(planted) -> None:
    class InterruptLater(Callbacks):
        count = 0

        def on_iteration(self, state):
            self.count += 1
            if self.count == 30:
                raise KeyboardInterrupt

    case = planted(0)
    for n_mutations in range(1, 12):  # so that it comes at all moments of a start
        model = KempeKMeans(
            3, n_init=100, max_mutations=n_mutations, random_state=0, callbacks=InterruptLater()
        )
        model.fit(case.X, constraints=case.constraints)
        assert model.result_.stop_reason == "interrupted"


def test_an_interrupted_fit_leaves_a_model_of_one_fit(planted, monkeypatch) -> None:
    """Attributes change together, so that Ctrl-C finds all of them old or all new."""
    case = planted(0)
    model = KempeKMeans(3, max_mutations=5, random_state=0).fit(case.X)
    before = dict(vars(model))

    def interrupted(self, colours):
        raise KeyboardInterrupt

    monkeypatch.setattr("kempe.problem.Problem.labels", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(case.X[:50])
    assert vars(model) == before
