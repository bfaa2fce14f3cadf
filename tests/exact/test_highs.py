"""Nothing that a method does reaches the terminal."""

from __future__ import annotations

import ctypes
import platform

import numpy as np
import pytest

from kempe import methods
from kempe.exact.highs import MutedOutput, solve_program

needs_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="needs the GNU C library"
)


def say(text: bytes) -> None:
    """Print as a compiled library does."""
    library = ctypes.CDLL(None)
    library.puts(text)
    library.fflush(None)


@needs_glibc
def test_only_what_c_code_prints_in_the_context_is_lost(capfd):
    say(b"before")
    with MutedOutput():
        say(b"inside")
        print("python", flush=True)
    say(b"after")
    assert capfd.readouterr().out.split() == ["before", "python", "after"]


@needs_glibc
def test_output_comes_back_when_the_last_of_several_contexts_ends(capfd):
    muted = MutedOutput()
    with muted:
        with muted:
            say(b"inner")
        say(b"outer")
    say(b"after")
    assert capfd.readouterr().out.split() == ["after"]


@needs_glibc
def test_an_error_does_not_silence_for_good(capfd):
    with pytest.raises(ZeroDivisionError), MutedOutput():
        raise ZeroDivisionError
    say(b"after")
    assert capfd.readouterr().out.split() == ["after"]


@needs_glibc
def test_the_solver_is_silent_even_when_told_to_print(capfd):
    solve_program(np.array([1.0, 2.0]), [], np.ones(2, dtype=int), disp=True)
    say(b"after")
    assert capfd.readouterr().out.split() == ["after"]


@pytest.mark.parametrize("name", methods.names())
def test_a_fit_prints_nothing(name, planted, capfd):
    case = planted(1, n_clusters=4)
    model = methods.create(name, 4, random_state=0, time_limit=1.0)
    model.fit(case.X, constraints=case.constraints)
    assert capfd.readouterr() == ("", "")
