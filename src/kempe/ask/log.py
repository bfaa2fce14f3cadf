"""The log of a session: one line for each thing that happened, never changed, only added to.

A line is on the disk before what it says takes effect. What ``kill -9`` leaves of a last line is
cut off when the log is opened again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from kempe.exceptions import FileFormatError

KIND = "kempe session"
VERSION = 1

Event = dict[str, Any]


class Log:
    """An append-only file of events, or none at all.

    Parameters
    ----------
    path
        The file; ``None`` keeps nothing.

    Attributes
    ----------
    header
        The first line, if the file was there.
    events
        The lines after it.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        self.header: Event | None = None
        self.events: list[Event] = []
        self._file = None
        if self.path is None:
            return
        self._file = self.path.open("a+b")
        _lock(self._file, self.path)
        self._read()

    def _read(self) -> None:
        assert self._file is not None
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        lines = whole.splitlines()
        try:
            found = [json.loads(line) for line in lines]
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise FileFormatError(f"{self.path} is no log of a session: {error}") from error
        if not found:
            return
        header = found[0]
        if not isinstance(header, dict) or header.get("kind") != KIND:
            raise FileFormatError(f"{self.path} is no log of a session")
        if header.get("version") != VERSION:
            raise FileFormatError(
                f"{self.path} was written by another version: {header.get('version')!r}"
            )
        if not all(isinstance(event, dict) for event in found):
            raise FileFormatError(f"{self.path} is no log of a session")
        self.header, self.events = header, found[1:]

    def begin(self, header: Event) -> None:
        """Write the first line of a new log."""
        self.header = {"kind": KIND, "version": VERSION, **header}
        self._write(self.header)

    def append(self, event: Event) -> None:
        """Write what happened, and wait until the disk has it."""
        self._write(event)
        self.events.append(event)

    def _write(self, line: Event) -> None:
        if self._file is None:
            return
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        self._file.write(text.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let others open it."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _lock(file: Any, path: Path) -> None:
    """Refuse a log that another process writes, where the system can tell."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise ValueError(f"{path} is in use by another session") from error
