"""Damage real files in every way that we can think of, and see how readers take it.

A reader gives what it has read, or the one error that it promises. It takes no other error, not
much memory and not much time. What breaks this is stored in ``hostile/``, from where
``test_hostile_files.py`` reads it again for ever after.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import html.parser
import io
import json
import multiprocessing
import os
import random
import secrets
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import kempe
from kempe.bench.store import Record, Store, StoreError
from kempe.exceptions import CertificateError, FileFormatError
from kempe.proof import OptimalityCertificate
from kempe.storage import guarded
from kempe.tables import (
    TextColumnsError,
    open_table,
    read_constraint_file,
    read_pairs,
    write_table,
)

HOSTILE = Path(__file__).parent / "hostile"
MOST_MEMORY = 200  # MB beyond what a process has before it reads anything
MOST_SECONDS = 10  # of the processor
BATCH = 100
"""Files that one process reads: memory is never given back entirely."""
X = np.array([[0.0, 0.0], [1.0, 0.0], [8.0, 0.0], [9.0, 1.0], [9.0, 0.0], [20.0, 0.0]])
APART = np.array([[0, 2], [2, 5]])


# Real files


def _model(path: Path) -> None:
    kempe.KempeKMeans(3, random_state=0).fit(X, cannot_link=APART).save(path)


def _certificate(path: Path) -> None:
    kempe.certify(X, n_clusters=3, cannot_link=APART, random_state=0).save(path)


def _parts(path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(250) % 3
    kempe.certify(rng.normal(size=(250, 2)), labels, time_limit=0.01, random_state=0).save(path)


def _store(path: Path) -> None:
    run = {"variant": "a", "collection": "b", "name": "c", "level": 0.1, "method": "kempe"}
    with Store(path).writing() as append:
        for seed in range(3):
            append(Record(**run, seed=seed, status="ok", inertia=1.5, history=((0.1, 2.0),)))


def _excel(path: Path) -> None:
    import pandas

    pandas.DataFrame(X, columns=["a", "b"]).to_excel(path, index=False, engine="openpyxl")


def _parquet(path: Path) -> None:
    import pandas

    pandas.DataFrame({"a": X[:, 0], "b": list("xyzxyz")}).to_parquet(path)


def _feather(path: Path) -> None:
    import pandas

    pandas.DataFrame({"a": X[:, 0], "b": list("xyzxyz")}).to_feather(path)


def _packed_csv(path: Path) -> None:
    write_table(path, ["a", "b"], X.tolist())


def _json(path: Path) -> None:
    path.write_text(json.dumps({"ml": [[0, 1]], "cl": APART.tolist(), "sml": [[1, 2]]}))


def _columns(path: Path) -> None:
    table = open_table(path)
    for column in range(min(len(table.names), 3)):
        try:
            table.numbers([column])
        except TextColumnsError:
            table.texts(column)


def _verified(path: Path) -> None:
    try:
        read = OptimalityCertificate.load(path)
        _ = read.summary(), read.is_optimal, read.n_nodes
        read.verify(X, cannot_link=APART)
    except CertificateError:
        pass


def _predicted(path: Path) -> None:
    model = kempe.load(path)
    model.predict(X)
    model.result_.summary()


def _records(path: Path) -> None:
    Store(path.parent).records()


# The name of a file, who writes a good one, who reads it, and the error that it promises.
FILES: dict[str, tuple[str, Callable[[Path], object], Callable[[Path], object], type]] = {
    "model": ("model.kempe", _model, _predicted, FileFormatError),
    "certificate": ("proof.kempe", _certificate, _verified, FileFormatError),
    "certificate of parts": ("parts.kempe", _parts, _verified, FileFormatError),
    "store": ("runs.csv", lambda path: _store(path.parent), _records, StoreError),
    "npz": ("rows.npz", lambda path: np.savez_compressed(path, X=X), _columns, ValueError),
    "npy": ("rows.npy", lambda path: np.save(path, X), _columns, ValueError),
    "csv": ("rows.csv", lambda path: write_table(path, "ab", X.tolist()), _columns, ValueError),
    "csv.gz": ("rows.csv.gz", _packed_csv, _columns, ValueError),
    "xlsx": ("rows.xlsx", _excel, _columns, ValueError),
    "parquet": ("rows.parquet", _parquet, _columns, ValueError),
    "feather": ("rows.feather", _feather, _columns, ValueError),
    "pairs": (
        "pairs.csv",
        lambda path: write_table(path, "ab", APART.tolist()),
        lambda path: read_pairs(path, "cannot-link", n_rows=6),
        ValueError,
    ),
    "constraints": (
        "pairs.json",
        _json,
        lambda path: read_constraint_file(path, n_rows=6),
        ValueError,
    ),
}


# Damage


WEIRD = (
    *(None, True, -1, 0, 1.5, 2**31, 2**63, -(2**63), 10**30, 10**400, 1e308),
    *(float("nan"), float("inf"), "", "x", "\x00", "\ud800", "<script>", [], {}, [[]]),
)


def damaged(content: bytes, rng: random.Random) -> bytes:
    """One change or several: of bytes, or of what an archive holds."""
    if content[:2] == b"PK" and rng.random() < 0.7:
        return _archive_changed(content, rng)
    for _ in range(rng.choice((1, 1, 2, 8))):
        content = _bytes_changed(content, rng)
    return content


def _bytes_changed(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return rng.randbytes(8)
    at = rng.randrange(len(content))
    end = min(len(content), at + rng.choice((1, 2, 4, 8, 64)))
    kind = rng.randrange(6)
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content[:at] + content[end:]
    if kind == 2:
        return content[:end] + content[at:]
    if kind == 3:
        extremes = rng.choice((b"\x00", b"\xff", b"\x7f", b"\x80", b"9", b"-", b",", b'"'))
        return content[:at] + extremes * (end - at) + content[end:]
    if kind == 4:
        return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
    return content[:at] + rng.randbytes(end - at) + content[end:]


def _archive_changed(content: bytes, rng: random.Random) -> bytes:
    """Change an entry and pack it again, so that no sum of a check gives it away."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.choice((1, 1, 3))):
        name = rng.choice(sorted(entries))
        entries[name] = _entry_changed(name, entries[name], rng)
        if rng.random() < 0.05:
            del entries[name]
            break
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, each in entries.items():
                archive.writestr(name, each)
        return file.getvalue()


def _entry_changed(name: str, content: bytes, rng: random.Random) -> bytes:
    """Change what an entry says, or its bytes if an earlier change has made it say nothing."""
    with suppress(Exception):
        if name.endswith(".json") and rng.random() < 0.8:
            return json.dumps(_json_changed(json.loads(content), rng)).encode()
        if name.endswith(".npy") and rng.random() < 0.8:
            return _array_changed(content, rng)
    return _bytes_changed(content, rng)


def _json_changed(value: Any, rng: random.Random) -> Any:
    """Change one value somewhere inside."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: _json_changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], _json_changed(value[at], rng), *value[at + 1 :]]
    if rng.random() < 0.1:
        nested: Any = value
        for _ in range(rng.choice((5, 300, 900))):
            nested = [nested]
        return nested
    return rng.choice(WEIRD)


def _array_changed(content: bytes, rng: random.Random) -> bytes:
    array = np.load(io.BytesIO(content), allow_pickle=False)
    kind = rng.randrange(5)
    if kind == 0:
        array = array.astype(rng.choice(("u1", "u2", "i8", "u8", "f4", "f8", "?", "U3", "c16")))
    elif kind == 1:
        array = np.resize(array, rng.choice(((), (0,), (1,), (7,), (2, 3), (1, 1, 1), (0, 5))))
    elif kind == 2 and array.size:
        array = array.copy()
        array.reshape(-1)[rng.randrange(array.size)] = _extreme(array.dtype, rng)
    elif kind == 3:
        array = np.concatenate([array.reshape(-1)] * rng.choice((2, 5)))
    else:
        array = array[::-1] if array.ndim else array
    with io.BytesIO() as file:
        np.save(file, array, allow_pickle=False)
        return file.getvalue()


def _extreme(dtype: np.dtype[Any], rng: random.Random) -> Any:
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.choice((info.min, info.max, 0, 1, info.max // 2))
    return rng.choice((np.nan, np.inf, -np.inf, 0, 1)) if dtype.kind == "f" else 0


# Names that want to be more than names


HOSTILE_NAMES = (
    *("<script>alert(1)</script>", "</title><img src=x onerror=alert(1)>", "a&b", '"', "'"),
    *("</script>", "<!--", "]]>", "%s", "{0}", "${x}", "\\", "`", "a,b", "a;b", "a\tb", "a\nb"),
    *("=1+1", "@x", "-1", "\u202e", "é", "日本", "\x1b[31m", " ", "NaN", "null", "../../x", "|"),
)


class Tags(html.parser.HTMLParser):
    """Counts what a browser would take for tags and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.update([tag, *(f"{tag}@{name}" for name, _ in attrs)])


def tags(page: str) -> Counter[str]:
    parser = Tags()
    parser.feed(page)
    return parser.seen


def try_names(rng: random.Random, folder: Path) -> None:
    """Hostile names make no tags in a page, and come back from every table."""
    names = [rng.choice(HOSTILE_NAMES) + str(column) for column in range(2)]
    clusters = [rng.choice(HOSTILE_NAMES) + str(cluster) for cluster in range(3)]

    def page(columns: list[str], called: list[str]) -> Counter[str]:
        model = kempe.KempeKMeans(3, random_state=0).fit(X, cannot_link=APART)
        shown = {"feature_names": columns, "cluster_names": called, "title": called[0]}
        return tags(model.result_.to_html(ids=[*called, *called], **shown))

    assert page(names, clusters) == page(["a0", "b1"], ["x0", "y1", "z2"]), "a name became a tag"
    path = folder / rng.choice(("t.csv", "t.tsv", "t.csv.gz"))
    write_table(path, names, [clusters[:2], clusters[1:]])
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        lines = list(csv.reader(file, delimiter=delimiter))
    written = [[guarded(cell) for cell in row] for row in (names, clusters[:2], clusters[1:])]
    assert lines == written, "a name came back as another"


# The work


def attempt(kind: str, content: bytes, folder: Path) -> str:
    """What came of reading, "read" or "refused"; anything else raises."""
    name, _, read, promised = FILES[kind]
    path = folder / name
    path.write_bytes(content)
    try:
        read(path)
    except promised:
        return "refused"
    return "read"


def work(seed: int, reports: Any) -> None:
    """Read a batch of damaged files, and tell of the first that breaks a promise."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, _too_long)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="kempe-") as name:
        folder = Path(name)
        originals = {kind: original(kind, folder) for kind in FILES}
        before = memory()
        for _ in range(BATCH):
            kind = rng.choice([*FILES, "names"])
            content = damaged(originals[kind], rng) if kind in FILES else b""
            reports.put(("trying", kind, content))
            signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
            try:
                if kind in FILES:
                    outcome = attempt(kind, content, folder)
                else:
                    try_names(rng, folder)
                    outcome = "read"
                assert memory() - before < MOST_MEMORY, f"{memory() - before:.0f} MB"
            except BaseException as error:
                reports.put(("failed", kind, content, f"{type(error).__name__}: {error}"[:300]))
                return
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            reports.put(("done", kind, outcome))


def original(kind: str, folder: Path) -> bytes:
    name, write, _, _ = FILES[kind]
    write(folder / name)
    return (folder / name).read_bytes()


def memory() -> float:
    """Most memory that this process has had, in MB."""
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1e6 if sys.platform == "darwin" else 1e3
    )


def _too_long(number: int, frame: object) -> None:
    raise TimeoutError(f"{MOST_SECONDS} seconds")


def main(
    minutes: Annotated[float, typer.Option(help="How long to go on.")] = 2.0,
    seed: Annotated[int | None, typer.Option(help="Repeats a run; by default a new one.")] = None,
    workers: Annotated[int, typer.Option(help="Processes.")] = os.cpu_count() or 1,
) -> None:
    """Fuzz all readers of files; Ctrl-C ends early, with the summary."""
    seed = secrets.randbelow(10**9) if seed is None else seed
    typer.echo(f"seed {seed}, {minutes:g} minutes, {workers} processes")
    counts: Counter[str] = Counter()
    try:
        follow(seed, workers, time.monotonic() + 60 * minutes, counts)
    except KeyboardInterrupt:
        typer.echo("\ninterrupted", err=True)
    summarise(counts)
    raise typer.Exit(1 if counts["failures"] else 0)


def follow(seed: int, workers: int, deadline: float, counts: Counter[str]) -> None:
    """Let processes read batch after batch; one that dies has failed at what it tried last."""
    context = multiprocessing.get_context("spawn")
    crew: list[tuple[Any, Any, list[Any]]] = []
    while crew or time.monotonic() < deadline:
        while len(crew) < workers and time.monotonic() < deadline:
            reports = context.SimpleQueue()
            worker = context.Process(target=work, args=(seed, reports))
            worker.start()
            crew.append((worker, reports, []))
            seed += 1
        for member in list(crew):
            worker, reports, last = member
            alive = worker.is_alive()
            while not reports.empty():
                note(reports.get(), last, counts)
            if not alive:
                if worker.exitcode:
                    fail(last[1], last[2], f"exit code {worker.exitcode}", counts)
                crew.remove(member)
        time.sleep(0.05)


def note(report: tuple[Any, ...], last: list[Any], counts: Counter[str]) -> None:
    if report[0] == "trying":
        last[:] = report
    elif report[0] == "failed":
        fail(report[1], report[2], report[3], counts)
    else:
        counts.update(["files", f"{report[2]} {report[1]}"])


def fail(kind: str, content: bytes, why: str, counts: Counter[str]) -> None:
    """Keep the file for the tests."""
    counts["failures"] += 1
    HOSTILE.mkdir(exist_ok=True)
    digest = hashlib.sha256(content).hexdigest()[:12]
    (HOSTILE / f"{kind.replace(' ', '_')}-{digest}").write_bytes(content)
    typer.echo(f"\n{kind}-{digest}: {why}", err=True)


def summarise(counts: Counter[str]) -> None:
    typer.echo(f"\n{counts['files']:,} files, {counts['failures']} failures")
    typer.echo(f"{'':<24}{'read':>10}{'refused':>10}")
    for kind in (*FILES, "names"):
        typer.echo(f"{kind:<24}{counts[f'read {kind}']:>10,}{counts[f'refused {kind}']:>10,}")


if __name__ == "__main__":
    typer.run(main)
