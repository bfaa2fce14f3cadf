"""Files that are never half written, archives and tables that execute nothing when read."""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .exceptions import FileFormatError

# The header is an entry of the archive like the arrays, whose names end in .npy.
_HEADER = "header.json"
_MAGIC = "kempe"
# What the readers of zip files, arrays, tables and JSON raise on bytes that make no sense.
DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, ValueError, TypeError,
    AttributeError, ArithmeticError, NotImplementedError, RuntimeError, SyntaxError, MemoryError,
    RecursionError, OSError, tokenize.TokenError,
)  # fmt: skip

# What spreadsheets take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_GUARDED = re.compile(r"'[=+\-@\t\r]")

# Compression can make a thousand bytes of one: what a file may become in memory is decided before
# anything of it is unpacked. docs/reliability.md states these numbers.


@dataclass(frozen=True)
class Limits:
    """How large the content of an archive may be.

    Attributes
    ----------
    free
        Bytes that any archive may hold.
    ratio
        So many times its own size it may hold as well.
    """

    free: int
    ratio: int

    def most(self, size: int) -> int:
        """Bytes that an archive of some size may hold."""
        return max(self.free, self.ratio * size)


# Models and certificates: our own writer packs no tighter than this.
OWN = Limits(free=4 * 2**20, ratio=16)
# Tables of others.
FOREIGN = Limits(free=64 * 2**20, ratio=64)
MOST_DIRECTORY = 2**20
MOST_HEADER = 4 * 2**20
MOST_BRACKETS = 100_000


@contextmanager
def replacing(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file to write that takes the place of ``path`` only when it is complete.

    The new content is written beside ``path``, brought to the disk and renamed, so that a
    full disk, a signal or a power cut leaves the old file or the new one, never a part. Pipes and
    devices, such as /dev/stdout, cannot be replaced and are written to.

    Parameters
    ----------
    path : str or path
        The file to write or to replace. A symbolic link keeps pointing where it points.
    mode : {"w", "wb"}
        Text (UTF-8, line ends as they are written) or bytes.
    """
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    with _naming(path):
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, mode, **text) as file:
                yield file
        else:
            with _renamed(Path(os.path.realpath(path)), mode, text) as file:
                yield file


@contextmanager
def _renamed(target: Path, mode: str, text: dict[str, Any]) -> Iterator[IO[Any]]:
    """Write beside the target, with the permissions of the file that is replaced or of a new one.

    The system takes off a new file what the process wants none to have: asking for that mask would
    mean to change it, for all threads.
    """
    known = _permissions(target)
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")

    def private(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if known is None else 0o600)

    try:
        with open(part, mode.replace("w", "x"), opener=private, **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if known is not None:
            os.chmod(part, known)
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


@contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    """Let errors of the system name the file that was asked for, not the one beside it."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename).endswith(".part"):
            error.filename = os.fspath(path)
        raise


def _permissions(target: Path) -> int | None:
    """Those of the file that is replaced, if there is one."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    return None


def write_archive(
    path: str | Path,
    kind: str,
    version: int,
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write arrays and a JSON header as one compressed file, all of it or nothing.

    Parameters
    ----------
    path : str or path
        The file to write.
    kind : str
        What the file is, such as "model"; reading asks for it.
    version : int
        Version of what ``header`` and ``arrays`` mean.
    header : mapping
        What JSON can hold.
    arrays : mapping of str to array
        Numbers or booleans; arrays of objects are refused.

    Raises
    ------
    ValueError
        If the header is longer than what can be read again.
    """
    top = {"format": _MAGIC, "kind": kind, "version": version, "header": dict(header)}
    text = json.dumps(top, indent=1).encode()
    if _too_much(text):
        raise ValueError(f"the names and settings of the {kind} are too long for a file")
    small = sum(array.nbytes for array in arrays.values()) < OWN.free // 2
    with replacing(path, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_HEADER, text)
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            packs = small or not _packs_too_well(array)
            entry.compress_type = zipfile.ZIP_DEFLATED if packs else zipfile.ZIP_STORED
            with archive.open(entry, "w", force_zip64=True) as writer:
                npy.write_array(writer, np.asanyarray(array), allow_pickle=False)


def _packs_too_well(array: NDArray[Any]) -> bool:
    """Whether an array, packed, would look like a small file that fills the memory."""
    packer = zlib.compressobj()
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    step = 2**20
    pieces = (content[start : start + step].tobytes() for start in range(0, content.size, step))
    packed = sum(len(packer.compress(piece)) for piece in pieces) + len(packer.flush())
    return array.nbytes > OWN.ratio // 2 * packed


def _too_much(text: bytes) -> bool:
    """Whether a header would take much memory; empty lists take twenty times their text."""
    return len(text) > MOST_HEADER or text.count(b"[") + text.count(b"{") > MOST_BRACKETS


def read_archive(
    path: str | Path, kind: str, newest: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]], int]:
    """Read what :func:`write_archive` wrote, as header, arrays and version.

    Parameters
    ----------
    path : str or path
        The file to read.
    kind : str
        What the file should be.
    newest : int
        Newest version that the caller understands.

    Returns
    -------
    header : dict
    arrays : dict of str to array
    version : int

    Raises
    ------
    FileFormatError
        If the file is damaged, of another kind, from a newer version, or larger inside than its
        size allows.
    """
    with open(path, "rb") as file:  # outside: that a file is missing is not damage
        return _read(file, path, kind, newest)


def _read(
    file: IO[bytes], path: str | Path, kind: str, newest: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]], int]:
    try:
        with opened_archive(file, OWN) as archive:
            top = _read_header(archive, path, kind, newest)
            arrays = {
                entry.filename.removesuffix(".npy"): read_array(archive, entry, "biuf")
                for entry in archive.infolist()
                if entry.filename != _HEADER
            }
    except FileFormatError:
        raise
    except DAMAGED as error:
        raise FileFormatError(f"{path} is damaged or not a kempe {kind}: {error}") from error
    return top["header"], arrays, top["version"]


@contextmanager
def opened_archive(
    file: IO[bytes], limits: Limits, size: int | None = None
) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive that holds no more than its size allows, whatever it says about itself.

    Parameters
    ----------
    file : file
        Its bytes.
    limits : Limits
        What it may hold.
    size : int, optional
        Its size where it comes from, if these bytes were packed there.

    Raises
    ------
    ValueError
        If it holds more.
    """
    # The one function of zipfile that looks before the whole directory is in memory.
    ends = zipfile._EndRecData(file)  # type: ignore[attr-defined]
    if ends is not None and ends[_DIRECTORY_SIZE] > MOST_DIRECTORY:
        raise ValueError("it has too many entries")
    size = file.seek(0, os.SEEK_END) if size is None else size
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        content = sum(entry.file_size for entry in entries if entry.filename != _HEADER)
        if content > limits.most(size) or any(entry.file_size < 0 for entry in entries):
            raise ValueError(
                f"it would become {content / 2**20:,.0f} MiB in memory, "
                f"more than a file of {size:,} bytes may"
            )
        yield archive


_DIRECTORY_SIZE = 5


def _read_header(
    archive: zipfile.ZipFile, path: str | Path, kind: str, newest: int
) -> dict[str, Any]:
    if archive.getinfo(_HEADER).file_size > MOST_HEADER:
        raise FileFormatError(f"{path} has a header of more than {MOST_HEADER:,} bytes")
    text = archive.read(_HEADER)
    if _too_much(text):
        raise FileFormatError(f"{path} has a header of more than {MOST_BRACKETS:,} lists")
    top = json.loads(text)
    if not isinstance(top, dict) or top.get("format") != _MAGIC:
        raise FileFormatError(f"{path} was not written by kempe")
    if top.get("kind") != kind:
        raise FileFormatError(f"{path} is a kempe {str(top.get('kind'))[:40]}, not a {kind}")
    version, header = top.get("version"), top.get("header")
    if not isinstance(version, int) or not isinstance(header, dict):
        raise FileFormatError(f"{path} has a damaged header")
    if version > newest:
        raise FileFormatError(
            f"{path} has version {version} of the {kind} format, this kempe reads up to {newest}: "
            "install a newer kempe"
        )
    return top


def read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, kinds: str) -> NDArray[Any]:
    """Read an array of an archive, which holds as much as it claims: nothing else is allocated.

    Parameters
    ----------
    archive : zipfile.ZipFile
        The archive.
    entry : zipfile.ZipInfo
        The array's place in it.
    kinds : str
        Kinds of types that it may have.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    with archive.open(entry) as file:
        check_array_header(file, entry.file_size, entry.filename, kinds)
    with archive.open(entry) as file:
        return npy.read_array(file, allow_pickle=False)


def check_array_header(file: IO[bytes], size: int, name: str, kinds: str) -> None:
    """Refuse an array that claims more than its bytes, or that is of none of some kinds.

    Parameters
    ----------
    file : file
        The array in NumPy's format.
    size : int
        Number of its bytes.
    name : str
        What errors call it.
    kinds : str
        Kinds of types that it may have.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects")
    if dtype.kind not in kinds or dtype.itemsize == 0 or any(length < 0 for length in shape):
        raise ValueError(f"{name} is an array of shape {shape} and type {dtype}, not of numbers")
    if math.prod(shape) * dtype.itemsize > size:
        raise ValueError(f"{name} is shorter than it claims")


def guarded(cell: object) -> object:
    """Put an apostrophe before what a spreadsheet would take for a formula; numbers are none."""
    if isinstance(cell, str) and cell.startswith(_FORMULA) and not _is_number(cell):
        return f"'{cell}"
    return cell


def unguarded(cell: str) -> str:
    """Take away the apostrophe that ``guarded`` put there."""
    return cell[1:] if _GUARDED.match(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        return not math.isnan(float(cell))
    except ValueError:
        return False
