"""Files, pipes and standard input, packed or not, that can be read more than once."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, TextIO, cast

from kempe.tables.errors import TableError, Unsaid

STANDARD = Path("-")
"""In place of a file: standard input or output."""

_GZIP = b"\x1f\x8b"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_WINDOWS = "cp1252"
_CHUNK = 2**20

# What Western Europeans write beside ASCII: letters, hardly ever three in a row, and some signs.
_STRANGE = re.compile(r"[^\x00-\x7fÀ-ÿŒœŠšŽžŸ€£§©®°²³µ·½¼¿¡«»ºª‘’‚“”„–—…•™ ]|[À-ÿŒœŠšŽžŸ]{3}")


def _is_western(text: str) -> bool:
    return _STRANGE.search(text) is None


def _known(encoding: str | None) -> str | None:
    """Refuse an encoding that there is not."""
    try:
        return None if encoding is None else codecs.lookup(encoding).name
    except LookupError:
        raise ValueError(
            f"there is no encoding {encoding!r}; cp1252 and latin-1 are some"
        ) from None


class Source:
    """Something to read from, whether it can be read twice or not.

    What is no regular file, such as a pipe, is read at once and kept. What is packed by gzip, under
    whatever name, is unpacked.

    Parameters
    ----------
    path
        A file or a pipe; ``-`` is standard input.
    encoding
        Of text, if it was said. Otherwise it is UTF-8, UTF-16 if it begins as that does, or, with a
        warning, that of Windows in Western Europe if it is no UTF-8 and reads as that does.
    otherwise
        The encoding of text that is no UTF-8, if that was said.

    Attributes
    ----------
    name
        What messages call it.
    suffix
        How its name ends, in lower case and without ``.gz``.
    """

    def __init__(
        self, path: Path, encoding: str | None = None, *, otherwise: str | None = None
    ) -> None:
        self._path = path
        self._encoding = _known(encoding)
        self._otherwise = _known(otherwise)
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
        try:
            with (
                self.binary() as file,
                io.TextIOWrapper(file, encoding=self._text_encoding, newline="") as text,
            ):
                yield text
        except UnicodeError as error:
            reason, wanted = getattr(error, "reason", error), self._encoding or "UTF-8"
            raise TableError(
                f"{self.name} is not {wanted} text: {reason}", Unsaid.ENCODING
            ) from None

    @cached_property
    def _text_encoding(self) -> str:
        if self._encoding is not None:
            return self._encoding
        if self.head(2) in _UTF_16:
            return "utf-16"
        if not self._holds(lambda text: True, "utf-8"):
            if self._otherwise is not None:
                return self._otherwise
            if self._holds(_is_western, _WINDOWS):
                warnings.warn(
                    f"{self.name} is no UTF-8; it was read as {_WINDOWS}, that of Windows in "
                    "Western Europe",
                    stacklevel=4,
                )
                return _WINDOWS
        return "utf-8-sig"

    def _holds(self, check: Callable[[str], bool], encoding: str) -> bool:
        """Whether all of it is text of an encoding, which a check is content with."""
        decoder = codecs.getincrementaldecoder(encoding)()
        with self.binary() as file:
            while chunk := file.read(_CHUNK):
                try:
                    if not chunk.isascii() and not check(decoder.decode(chunk)):
                        return False
                except UnicodeDecodeError:
                    return False
        return True

    def head(self, size: int) -> bytes:
        """Give its first bytes."""
        with self.binary() as file:
            return file.read(size)
