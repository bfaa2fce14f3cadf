"""The log of a session: one line for each thing that happened, never changed, only added to.

A line is on the disk before what it says takes effect, or not at all if the disk is full. What
``kill -9`` leaves of a last line is cut off when the log is opened again; a file that is no log is
not touched.
"""

from __future__ import annotations

import json
import os
from io import FileIO
from pathlib import Path
from typing import Any

from kempe.exceptions import FileFormatError

KIND = "kempe session"
VERSION = 1
BEGINNING = f'{{"kind":"{KIND}"'.encode()

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
        self._file: FileIO | None = None
        if self.path is None:
            return
        # Without a buffer: what could not be written is not written later either.
        self._file = self.path.open("a+b", buffering=0)
        _lock(self._file, self.path)
        try:
            self._read(self._file)
        except BaseException:
            self.close()
            raise

    def _read(self, file: FileIO) -> None:
        file.seek(0)
        content = file.readall()
        whole = content[: content.rfind(b"\n") + 1]
        if not whole and not _is_begun(content):
            raise FileFormatError(f"{self.path} is no log of a session")
        self._parse(whole.split(b"\n")[:-1])
        if len(whole) < len(content):
            file.truncate(len(whole))

    def _parse(self, lines: list[bytes]) -> None:
        try:
            found = [json.loads(line) for line in lines]
        except (ValueError, RecursionError) as error:
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
        # Ids may be anything that can be told apart; the log has them for people to read.
        text = json.dumps(
            line, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str
        )
        left, before = text.encode() + b"\n", os.fstat(self._file.fileno()).st_size
        try:
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except BaseException:
            self._file.truncate(before)
            raise

    def close(self) -> None:
        """Let others open it."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _is_begun(content: bytes) -> bool:
    """Whether this may be what is left of the first line of a log."""
    return content.startswith(BEGINNING) or BEGINNING.startswith(content)


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
