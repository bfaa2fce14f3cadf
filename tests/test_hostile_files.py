"""Files from strangers: what they claim is looked at before anything of them is unpacked.

As a program, this writes what each of them takes to read::

    python tests/test_hostile_files.py > docs/_generated/hostile_files.md
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fuzz_files
import kempe
from kempe import storage
from kempe.exceptions import CertificateError, FileFormatError
from kempe.proof import OptimalityCertificate
from kempe.storage import read_archive, write_archive
from kempe.tables.formats import open_table

MOST_MEMORY = 200  # MB of the whole process, which has about half of that before it reads anything
X = np.array([[0.0, 0.0], [1.0, 0.0], [8.0, 0.0], [9.0, 1.0], [9.0, 0.0], [20.0, 0.0]])


def good_model(path: Path) -> None:
    """A file that nobody has touched, for comparison."""
    model(path)


def model(path: Path) -> None:
    kempe.KempeKMeans(2, random_state=0).fit(X).save(path)


def certificate(path: Path) -> None:
    kempe.certify(X, n_clusters=2, random_state=0).save(path)


def changed(
    path: Path,
    *,
    header: Callable[[dict], object] | bytes | None = None,
    arrays: dict[str, np.ndarray] | None = None,
    more: dict[str, bytes] | None = None,
) -> None:
    """Write an archive again with another header or other entries."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    if callable(header):
        top = json.loads(entries["header.json"])
        header(top)
        entries["header.json"] = json.dumps(top).encode()
    elif header is not None:
        entries["header.json"] = header
    for name, array in (arrays or {}).items():
        with io.BytesIO() as file:
            np.save(file, array)
            entries[f"{name}.npy"] = file.getvalue()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (entries | (more or {})).items():
            archive.writestr(name, content)


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


def huge_header(path: Path) -> None:
    model(path)
    start = b'{"format": "kempe", "kind": "model", "version": 1, "header": {"a": ['
    changed(path, header=start + b"[]," * 10_000_000 + b"[]]}}")


def many_lists(path: Path) -> None:
    model(path)
    start = b'{"format": "kempe", "kind": "model", "version": 1, "header": {"a": ['
    changed(path, header=start + b"[]," * 1_300_000 + b"[]]}}")


def add_zeros(path: Path, name: str, count: int, dtype: str) -> None:
    """Add an array of zeros to an archive, piece by piece: here, too, it takes no memory."""
    about = {"descr": dtype, "fortran_order": False, "shape": (count,)}
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open(f"{name}.npy", "w") as entry,
    ):
        np.lib.format.write_array_header_1_0(entry, about)
        size = count * np.dtype(dtype).itemsize
        for start in range(0, size, 2**20):
            entry.write(bytes(min(2**20, size - start)))


def huge_array(path: Path) -> None:
    model(path)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    del entries["labels.npy"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    add_zeros(path, "labels", 100_000_000, "<i4")


def array_nobody_asked_for(path: Path) -> None:
    model(path)
    add_zeros(path, "other", 50_000_000, "<f8")


def many_entries(path: Path) -> None:
    model(path)
    changed(path, more={f"{number}.npy": b"" for number in range(60_000)})


def deep_header(path: Path) -> None:
    model(path)
    changed(path, header=b"[" * 90_000 + b"]" * 90_000)


def deep_parameter(path: Path) -> None:
    model(path)
    changed(path, header=lambda top: top["header"]["parameters"].update(callbacks=nested(600)))


def fewer_centres(path: Path) -> None:
    model(path)
    changed(path, header=lambda top: top["header"]["parameters"].update(n_clusters=7))


def sizes_that_wrap(path: Path) -> None:
    certificate(path)
    with zipfile.ZipFile(path) as archive, archive.open("sizes.npy") as file:
        count = np.load(file).size
    # In 16 bits, 65535 * 65536 / 2 is nothing at all.
    sizes = np.full(count, 65535, dtype=np.uint16)
    changed(path, arrays={"sizes": sizes, "slack": np.empty(0, dtype=np.float32)})


def sizes_beyond_all(path: Path) -> None:
    certificate(path)
    changed(path, arrays={"sizes": np.array([2**62, -(2**62)])})


def kinds_from_the_end(path: Path) -> None:
    certificate(path)
    changed(path, arrays={"kinds": np.array([-1], dtype=np.int8)})


def numbers_beyond_doubles(path: Path) -> None:
    certificate(path)
    changed(path, header=lambda top: top["header"].update(inertia=10**400))


def npz_of_zeros(path: Path) -> None:
    add_zeros(path, "X", 50_000_000, "<f8")


def npy_that_claims(path: Path) -> None:
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000, 1000), }"
    text += b" " * (118 - len(text) - 1) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)


def xlsx(path: Path, sheet: str) -> None:
    """Write a workbook whose sheet is given as XML."""
    openpyxl = pytest.importorskip("openpyxl")
    openpyxl.Workbook().save(path)
    start = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    content = f"{start}<sheetData>{sheet}</sheetData></worksheet>".encode()
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["xl/worksheets/sheet1.xml"] = content
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in entries.items():
            archive.writestr(name, each)


def row(number: int, **cells: object) -> str:
    inside = "".join(f'<c r="{name}{number}"><v>{value}</v></c>' for name, value in cells.items())
    return f'<row r="{number}">{inside}</row>'


def far_cell(path: Path) -> None:
    xlsx(path, row(1, A=1, B=2) + row(2, A=3, B=4) + row(1048576, XFD=5))


def wide_rows(path: Path) -> None:
    xlsx(path, "".join(row(number, XFD=1) for number in range(1, 200_000)))


def parquet_of_nothing(path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    nulls = pyarrow.array(np.zeros(60_000_000, dtype=np.int8))
    parquet.write_table(pyarrow.table({"a": nulls}), path, compression="zstd")


ARCHIVES = {
    "model": (
        huge_header,
        many_lists,
        huge_array,
        array_nobody_asked_for,
        many_entries,
        deep_header,
        deep_parameter,
        fewer_centres,
    ),
    "certificate": (
        sizes_that_wrap,
        sizes_beyond_all,
        kinds_from_the_end,
        numbers_beyond_doubles,
    ),
    "table": (npz_of_zeros, npy_that_claims, far_cell, wide_rows, parquet_of_nothing),
}

# Reads each file in a process of its own, and says what came of it and what memory it took.
READ = """
import json, os, sys
import kempe
from kempe.exceptions import CertificateError, FileFormatError
from kempe.proof import OptimalityCertificate
from kempe.tables.formats import open_table
from pathlib import Path

readers = {
    "model": kempe.load,
    "certificate": OptimalityCertificate.load,
    "table": lambda path: open_table(Path(path)).numbers([0]),
}
kind, path = sys.argv[1:]
child = os.fork()
if child == 0:
    try:
        readers[kind](path)
    except FileFormatError:
        os._exit(7)
    except ValueError:
        os._exit(7 if kind == "table" else 1)
    except BaseException as error:
        print(repr(error)[:500], file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)
_, status, used = os.wait4(child, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_maxrss / 1e3]))
"""


CASES = [(kind, make) for kind, makers in ARCHIVES.items() for make in makers]


def read_apart(folder: Path, kind: str, make: Callable[[Path], object]) -> tuple[int, float, str]:
    """Code of a process that reads such a file, the memory that it takes, and what it says."""
    path = folder / ("file.npz" if make is npz_of_zeros else "file")
    make(path)
    done = subprocess.run(
        [sys.executable, "-c", READ, kind, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return *json.loads(done.stdout), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs fork")
@pytest.mark.parametrize(("kind", "make"), CASES)
def test_a_hostile_file_is_refused_and_takes_little_memory(tmp_path, kind, make):
    code, memory, said = read_apart(tmp_path, kind, make)
    assert code == 7, said
    assert memory < MOST_MEMORY


def test_short_rows_of_excel_without_a_dimension_have_holes(tmp_path):
    path = tmp_path / "short.xlsx"
    names = (
        "".join(f'<c r="{c}1" t="inlineStr"><is><t>{c}</t></is></c>' for c in ("a", "b", "c"))
        .replace('r="a', 'r="A')
        .replace('r="b', 'r="B')
        .replace('r="c', 'r="C')
    )
    rows = row(2, A=1, B=2, C=3) + row(3, A=4) + row(5, B=5, C=6)
    xlsx(path, f'<row r="1">{names}</row>{rows}')
    table = open_table(path)
    assert list(table.names) == ["a", "b", "c"]
    nan = np.nan
    expected = [[1, 2, 3], [4, nan, nan], [nan, 5, 6]]
    np.testing.assert_array_equal(table.numbers([0, 1, 2]), expected)


def test_a_cell_beyond_the_names_of_excel_is_named(tmp_path):
    path = tmp_path / "far.xlsx"
    far_cell(path)
    with pytest.raises(ValueError, match="row 1048576: there is a value in column 16384"):
        open_table(path)


@pytest.mark.parametrize("share", np.linspace(0, 1, 40)[1:-1])
@pytest.mark.parametrize("suffix", ["xlsx", "npz", "npy", "parquet"])
def test_tables_that_end_too_early_are_refused_in_words(tmp_path, suffix, share):
    path = tmp_path / f"table.{suffix}"
    if suffix == "xlsx":
        xlsx(path, row(1, A=1, B=2) + row(2, A=3, B=4))
    elif suffix == "npz":
        np.savez_compressed(path, X=X)
    elif suffix == "npy":
        np.save(path, X)
    else:
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pandas.DataFrame(X, columns=["a", "b"]).to_parquet(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=path.name):
        open_table(path).numbers([0])


def test_what_packs_too_well_is_stored_as_it_is_and_read_again(tmp_path):
    path = tmp_path / "archive"
    arrays = {"zeros": np.zeros(5_000_000), "some": np.arange(7.0), "flag": np.array(True)}
    write_archive(path, "test", 1, {}, arrays)
    assert path.stat().st_size > 8 * 5_000_000
    _, found, _ = read_archive(path, "test", 1)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


def test_a_header_that_could_not_be_read_again_is_not_written(tmp_path):
    path = tmp_path / "archive"
    with pytest.raises(ValueError, match="too long"):
        write_archive(path, "test", 1, {"name": "x" * storage.MOST_HEADER}, {})
    assert not path.exists()


def test_a_model_whose_clusters_were_changed_is_not_written(tmp_path):
    fitted = kempe.KempeKMeans(2, random_state=0).fit(X).set_params(n_clusters=3)
    with pytest.raises(ValueError, match="2 centers for 3 clusters"):
        fitted.save(tmp_path / "model")


@pytest.mark.parametrize("name", ["labels", "centers", "colours", "history/kind"])
@pytest.mark.parametrize(
    "array",
    [
        np.array(3.0),
        np.empty(0),
        np.zeros((2, 2, 2)),
        np.array([np.nan]),
        np.array([2**63], dtype=np.uint64),
        np.array([True]),
        np.array([1j]),
    ],
    ids=str,
)
def test_arrays_of_a_model_are_of_its_types_and_shapes(tmp_path, name, array):
    path = tmp_path / "model"
    model(path)
    changed(path, arrays={name: array})
    with pytest.raises(FileFormatError):
        kempe.load(path)


@pytest.mark.parametrize(
    "array",
    [np.array(3.0), np.empty(0), np.zeros((2, 2)), np.array([np.nan]), np.array([-5]),
     np.array([2**63], dtype=np.uint64), np.array([7], dtype=np.int8), np.arange(3.0)],
    ids=str,
)  # fmt: skip
def test_arrays_of_a_certificate_give_a_file_error_or_a_proof_that_fails(tmp_path, array):
    path = tmp_path / "certificate"
    certificate(path)
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist() if ".npy" in name]
    best = OptimalityCertificate.load(path).inertia
    content = path.read_bytes()
    for name in names:
        path.write_bytes(content)
        changed(path, arrays={name: array})
        try:
            read = OptimalityCertificate.load(path)
        except FileFormatError:
            continue
        try:
            proven = read.verify(X)
        except CertificateError:
            continue
        assert proven.lower_bound <= best  # whatever was changed, it holds


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "hostile").glob("*")), ids=str)
def test_what_the_fuzzer_has_found_is_read_or_refused(tmp_path, path):
    kind = path.name.rpartition("-")[0].replace("_", " ")
    assert fuzz_files.attempt(kind, path.read_bytes(), tmp_path) in ("read", "refused")


def main(only: list[str]) -> None:
    """Print the memory that each file takes, a table of Markdown."""
    print("| file | is | size, kB | memory of the process, MB |\n|---|---|---:|---:|")
    for kind, make in [("model", good_model), *CASES]:
        if only and make.__name__ not in only:
            continue
        with tempfile.TemporaryDirectory() as name:
            code, memory, _ = read_apart(Path(name), kind, make)
            size = next(Path(name).iterdir()).stat().st_size / 1e3
        told = {0: "read", 7: "refused"}.get(code, f"code {code}")
        what = make.__name__.replace("_", " ")
        print(f"| {kind}: {what} | {told} | {size:,.0f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
