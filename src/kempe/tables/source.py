"""Files, pipes and standard input, packed or not, that can be read more than once."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO, cast

STANDARD = Path("-")
"""In place of a file: standard input or output."""

_GZIP = b"\x1f\x8b"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Source:
    """Something to read from, whether it can be read twice or not.

    What is no regular file, such as a pipe, is read at once and kept. What is packed by gzip, under
    whatever name, is unpacked.

    Parameters
    ----------
    path
        A file or a pipe; ``-`` is standard input.

    Attributes
    ----------
    name
        What messages call it.
    suffix
        How its name ends, in lower case and without ``.gz``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = "standard input" if path == STANDARD else str(path)
        unpacked = path.with_suffix("") if path.suffix.lower() == ".gz" else path
        self.suffix = unpacked.suffix.lower()
        self._content = None if path.is_file() else self._read()
        with self._raw() as file:
            self._packed = file.read(len(_GZIP)) == _GZIP

    def _read(self) -> bytes:
        if self._path == STANDARD:
            return sys.stdin.buffer.read()
        return self._path.read_bytes()

    def _raw(self) -> IO[bytes]:
        return self._path.open("rb") if self._content is None else io.BytesIO(self._content)

    @property
    def size(self) -> int:
        """Number of bytes, packed as they are."""
        return self._path.stat().st_size if self._content is None else len(self._content)

    @contextmanager
    def binary(self) -> Iterator[IO[bytes]]:
        """Open it as bytes, from the beginning."""
        with self._raw() as file:
            if not self._packed:
                yield file
                return
            try:
                with gzip.open(file) as unpacked:
                    yield cast(IO[bytes], unpacked)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise ValueError(f"{self.name} is damaged: {error}") from None

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        """Open it as text, from the beginning; line ends stay as they are."""
        encoding = "utf-16" if self.head(2) in _UTF_16 else "utf-8-sig"
        try:
            with (
                self.binary() as file,
                io.TextIOWrapper(file, encoding=encoding, newline="") as text,
            ):
                yield text
        except UnicodeError as error:
            reason = getattr(error, "reason", error)
            raise ValueError(f"{self.name} is not UTF-8 text: {reason}; save it as UTF-8") from None

    def head(self, size: int) -> bytes:
        """Give its first bytes."""
        with self.binary() as file:
            return file.read(size)
