"""Files that are never half written, and archives of arrays that execute nothing when read."""

from __future__ import annotations

import json
import math
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .exceptions import FileFormatError

# The header is an entry of the archive like the arrays, whose names end in .npy.
_HEADER = "header.json"
_MAGIC = "kempe"
# What the readers of zip files, arrays and JSON raise on bytes that make no sense.
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, ValueError,
    NotImplementedError, RuntimeError, OverflowError, MemoryError, RecursionError, OSError,
)  # fmt: skip


@contextmanager
def replacing(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file to write that takes the place of ``path`` only when it is complete.

    The new content is written beside ``path``, brought to the disk and renamed, so that a
    full disk, a signal or a power cut leaves the old file or the new one, never a part.

    Parameters
    ----------
    path : str or path
        The file to write or to replace. A symbolic link keeps pointing where it points.
    mode : {"w", "wb"}
        Text (UTF-8, line ends as they are written) or bytes.
    """
    target = Path(os.path.realpath(path))
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    part = tempfile.NamedTemporaryFile(  # noqa: SIM115, it is closed below, before the renaming
        mode, dir=target.parent, prefix=f".{target.name}.", suffix=".part", delete=False, **text
    )
    try:
        with part as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part.name, _permissions(target))
        os.replace(part.name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(part.name)
        raise


def _permissions(target: Path) -> int:
    """Those of the file that is replaced, or of any new file; temporary files are private."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


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
    """
    top = {"format": _MAGIC, "kind": kind, "version": version, "header": dict(header)}
    with replacing(path, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_HEADER, json.dumps(top, indent=1))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                npy.write_array(entry, np.asanyarray(array), allow_pickle=False)


def read_archive(
    path: str | Path, kind: str, newest: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]], int]:
    """Read what :func:`write_archive` wrote.

    Parameters
    ----------
    path : str or path
        The file to read.
    kind : str
        What the file must be.
    newest : int
        The newest version that the caller understands.

    Returns
    -------
    header : dict
    arrays : dict of str to array
    version : int

    Raises
    ------
    FileFormatError
        If the file is damaged, of another kind, or from a newer version.
    """
    with open(path, "rb") as file:  # outside: that a file is missing is not damage
        return _read(file, path, kind, newest)


def _read(
    file: IO[bytes], path: str | Path, kind: str, newest: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]], int]:
    try:
        with zipfile.ZipFile(file) as archive:
            top = _read_header(archive, path, kind, newest)
            arrays = {
                entry.filename.removesuffix(".npy"): _read_array(archive, entry)
                for entry in archive.infolist()
                if entry.filename != _HEADER
            }
    except FileFormatError:
        raise
    except _DAMAGED as error:
        raise FileFormatError(f"{path} is damaged or not a kempe {kind}: {error}") from error
    return top["header"], arrays, top["version"]


def _read_header(
    archive: zipfile.ZipFile, path: str | Path, kind: str, newest: int
) -> dict[str, Any]:
    top = json.loads(archive.read(_HEADER))
    if not isinstance(top, dict) or top.get("format") != _MAGIC:
        raise FileFormatError(f"{path} was not written by kempe")
    if top.get("kind") != kind:
        raise FileFormatError(f"{path} is a kempe {top.get('kind')}, not a {kind}")
    version, header = top.get("version"), top.get("header")
    if not isinstance(version, int) or not isinstance(header, dict):
        raise FileFormatError(f"{path} has a damaged header")
    if version > newest:
        raise FileFormatError(
            f"{path} has version {version} of the {kind} format, this kempe reads up to {newest}: "
            "install a newer kempe"
        )
    return top


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    """Read an array, whose size must be that of its entry: a hostile header allocates nothing."""
    with archive.open(entry) as file:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
        if dtype.hasobject or math.prod(shape) * dtype.itemsize > entry.file_size:
            raise ValueError(f"{entry.filename} is not an array of numbers")
    with archive.open(entry) as file:
        return npy.read_array(file, allow_pickle=False)
