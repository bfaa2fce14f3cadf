"""Whether a thousand fits give the same labels, bit by bit, as another state of the code did.

``record`` writes fingerprints of them to a file, ``compare`` makes the fits again. This script may
be run by the interpreter of any environment that has ``kempe``, so the code that is measured need
not be the one beside it.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from threadpoolctl import threadpool_limits

import kempe
from fits import all_fits, n_processes, quick
from folders import use_shared_data

SLOWEST = 5
"""So many fits are listed with their time."""

app = typer.Typer(add_completion=False, no_args_is_help=True)
File = Annotated[Path, typer.Argument(help="JSON file of fingerprints.")]
Only = Annotated[str | None, typer.Option(help="Only fits whose name contains or matches this.")]
Quick = Annotated[bool, typer.Option("--quick", help="About a tenth of the fits.")]


class Print(NamedTuple):
    """What must not change: a hash of the labels, and two numbers; ``failure`` if there are none.

    Inertia is written as text, so that all of its digits count.
    """

    labels: str = ""
    inertia: str = ""
    mutations: int = -1
    failure: str = ""

    def difference(self, other: Print) -> str:
        """Say in what another fingerprint differs from this one."""
        if self.failure or other.failure:
            return f"{self.failure or 'a clustering'}, now {other.failure or 'a clustering'}"
        before, now = float(self.inertia), float(other.inertia)
        what = ["labels"] * (self.labels != other.labels)
        if self.mutations != other.mutations:
            what.append(f"mutations {self.mutations}, now {other.mutations}")
        change = (now - before) / before if before else now
        return f"{', '.join([*what, 'inertia'])} {before!r}, now {now!r} ({change:+.2e})"


def fingerprint(name: str) -> tuple[str, Print, float]:
    """Make one fit; its name, what came out, and the CPU seconds that it took."""
    began = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            found = _print(all_fits()[name].run())
        except Exception as error:  # what fails must go on failing in the same way
            found = Print(failure=f"{type(error).__name__}: {str(error)[:200]}")
    return name, found, time.process_time() - began


def _print(model: Any) -> Print:
    labels = np.ascontiguousarray(model.labels_, dtype=np.int32)
    digest = hashlib.sha256(labels.tobytes()).hexdigest()[:32]
    return Print(digest, repr(float(model.inertia_)), int(model.result_.n_mutations))


def fingerprints(names: list[str]) -> dict[str, Print]:
    """Make all fits, in two processes, and say how long it took."""
    found, seconds = {}, {}
    with ProcessPoolExecutor(n_processes()) as pool:
        for name, made, spent in pool.map(fingerprint, names, chunksize=2):
            found[name], seconds[name] = made, spent
            typer.echo(f"\r{len(found)} of {len(names)} fits", nl=False, err=True)
    typer.echo(f"\r{len(found)} fits, {sum(seconds.values()):.0f} CPU s; the longest:", err=True)
    for name in sorted(seconds, key=seconds.__getitem__)[: -SLOWEST - 1 : -1]:
        typer.echo(f"  {seconds[name]:5.1f}  {name}", err=True)
    return found


def chosen(only: str | None, briefly: bool) -> list[str]:
    """Names of the fits to make."""
    use_shared_data()
    names = list(all_fits())
    if only is not None:
        names = [name for name in names if only in name or fnmatchcase(name, only)]
    if not names:
        raise typer.BadParameter(f"no fit has {only!r} in its name")
    typer.echo(f"kempe of {Path(str(kempe.__file__)).parent}", err=True)
    return quick(names) if briefly else names


@app.command()
def record(file: File, only: Only = None, briefly: Quick = False) -> None:
    """Write fingerprints of this state of the code."""
    found = fingerprints(chosen(only, briefly))
    content = {name: each._asdict() for name, each in found.items()}
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


@app.command()
def compare(file: File, only: Only = None, briefly: Quick = False) -> None:
    """Make the fits again, and list those that come out otherwise."""
    content = json.loads(file.read_text(encoding="utf-8"))
    before = {name: Print(**each) for name, each in content.items()}
    names = chosen(only, briefly)
    now = fingerprints([name for name in names if name in before])
    different = {name: before[name] for name in now if before[name] != now[name]}
    for name, each in different.items():
        typer.echo(f"{name}\n    {each.difference(now[name])}")
    for line in _left_out(before, names, whole=only is None and not briefly):
        typer.echo(line)
    typer.echo(f"{len(now) - len(different)} of {len(now)} fits are the same bit by bit")
    if different or not now:
        raise typer.Exit(1)


def _left_out(before: dict[str, Print], names: list[str], *, whole: bool) -> Iterator[str]:
    """Say which fits are on one side only."""
    if whole:
        yield from (f"not possible here: {name}" for name in before if name not in set(names))
    yield from (f"not in the file: {name}" for name in names if name not in before)


if __name__ == "__main__":
    app()
