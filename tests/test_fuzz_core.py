"""The fuzz target of the core knows every function, and a short run of it finds no crash."""

from __future__ import annotations

import subprocess
import sys

import fuzz_core


def test_every_function_of_the_core_has_a_generator():
    assert set(fuzz_core.ARGUMENTS) == set(fuzz_core.functions())


def test_arguments_that_are_right_work():
    for number, name in enumerate(sorted(fuzz_core.ARGUMENTS)):
        arguments = fuzz_core.ARGUMENTS[name](fuzz_core.np.random.default_rng(number))
        fuzz_core.functions()[name](*arguments)


def test_wrong_arguments_crash_nothing():
    # Always the same calls, and none that wants much memory: other tests run beside this one.
    command = [sys.executable, fuzz_core.__file__, "--seed", "1", "--minutes", "0.05", "--modest"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "0 crashes" in ended.stdout
