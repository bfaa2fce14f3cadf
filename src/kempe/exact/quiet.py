"""Integer programs by the HiGHS that comes with SciPy, without a word on the terminal.

HiGHS 1.12, which SciPy 1.17 brings, prints a line when it repairs a solution, whatever its options
say (its issue 2783). The line goes through the standard output of the C library, which Python's own
output does not use.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from types import TracebackType
from typing import Any

from scipy.optimize import milp


class MutedOutput:
    """Send what C code prints to nowhere while any thread is inside the context.

    Only the C library of GNU lets its standard output be replaced; elsewhere nothing happens.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._original: int | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1 and _NOWHERE is not None and _STANDARD_OUTPUT is not None:
                self._original = _STANDARD_OUTPUT.value
                _STANDARD_OUTPUT.value = _NOWHERE

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and _STANDARD_OUTPUT is not None:
                _STANDARD_OUTPUT.value = self._original


def quiet_milp(*args: Any, **options: Any) -> Any:
    """Call ``scipy.optimize.milp``; nothing is printed."""
    with _MUTED:
        return milp(*args, **options)


def _streams() -> tuple[int | None, ctypes.c_void_p | None]:
    """Open a stream to nowhere and find the variable that holds the standard output."""
    if platform.libc_ver()[0] != "glibc":
        return None, None
    library = ctypes.CDLL(None)
    library.fopen.restype = ctypes.c_void_p
    nowhere: int | None = library.fopen(os.devnull.encode(), b"w")
    return nowhere, ctypes.c_void_p.in_dll(library, "stdout")


_NOWHERE, _STANDARD_OUTPUT = _streams()
_MUTED = MutedOutput()
