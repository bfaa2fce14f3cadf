"""Call every function of the compiled core with arguments that are wrong in every way.

Whatever they are, the core raises an exception or works: it never crashes, and it ends. Calls run
in a process of their own, so that one which does crash is reported, with the numbers to repeat it.
"""

from __future__ import annotations

import faulthandler
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from kempe import _core
from kempe.problem import Problem
from kempe.sizes import SizeLimits

Rng = np.random.Generator
INT_LIMITS = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 7, 2**31 - 1, 2**31, 2**32 + 1, 2**63 - 1, 2**64)
FLOATS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e-320, 1e-200, 1.0, 1e200, 1.7e308)
SECONDS = 0.05
"""What a search may take; others must end by themselves."""
HANGS_AFTER = 120.0
# Where sanitizers are at work, an allocation that fails ends the process.
MOST_MEMORY = 4 * 2**30


# Arguments that are right.


def graph(rng: Rng, size: int | None = None) -> Any:
    size = int(rng.integers(1, 9)) if size is None else size
    pairs = rng.integers(size, size=(int(rng.integers(0, 14)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    made, _ = _core.cannot_link_graph(np.arange(size, dtype=np.int32), size, pairs)
    return made


def instance(rng: Rng, size: int = 6) -> Any:
    return _core.Instance(*instance_parts(rng, size))


def instance_parts(rng: Rng, size: int = 6) -> list[Any]:
    dtype = rng.choice([np.float32, np.float64])
    rows = rng.normal(size=(size, 2)).astype(dtype)
    merged = rng.normal(size=(2, 2)).astype(dtype)
    source = np.arange(size, dtype=np.int32)
    source[:2] = -1, -2
    return [rows, merged, source, rng.uniform(0, 2, size=size), graph(rng, size), 2]


def colours(rng: Rng, size: int = 6, k: int = 3) -> Any:
    return rng.integers(k, size=size).astype(np.int32)


def centroids(rng: Rng, k: int = 3) -> Any:
    return rng.normal(size=(k, 2))


def everyone(size: int = 6) -> Any:
    return np.arange(size, dtype=np.int32)


def soon() -> Any:
    return _core.Stopper(SECONDS)


def seed(rng: Rng) -> int:
    return int(rng.integers(2**63))


def weighted_graph(rng: Rng) -> list[Any]:
    made = graph(rng)
    return [rng.uniform(0, 1, size=made.size), np.array(made.offsets), np.array(made.targets)]


def soft_parts(rng: Rng, size: int = 6) -> list[Any]:
    """Number of supernodes, the two ends of some pairs, and their prices."""
    first = rng.integers(size, size=4).astype(np.int32)
    second = (first + rng.integers(1, size, size=4).astype(np.int32)) % size
    return [size, first, second.astype(np.int32), rng.normal(size=4)]


def soft_pairs(rng: Rng) -> Any:
    return _core.SoftPairs(*soft_parts(rng))


def size_limits(rng: Rng, size: int = 6, k: int = 3) -> list[Any]:
    """Rows of each supernode, and fewest and most rows of each cluster."""
    rows = rng.integers(1, 4, size=size).astype(np.int32)
    least = rng.integers(0, 3, size=k).astype(np.int32)
    return [rows, least, least + rng.integers(0, 9, size=k).astype(np.int32)]


def search(rng: Rng) -> Any:
    made = instance(rng)
    kind = rng.integers(3)
    if kind == 1:
        made = made.with_soft(soft_pairs(rng))
    if kind == 2:
        made.limit_sizes(*size_limits(rng))
    return _core.SequentialSearch(made, 3)


def transport(rng: Rng) -> list[Any]:
    """Single rows in no pair, sometimes more than there is room for."""
    _, least, most = size_limits(rng)
    limits = SizeLimits(least, most)
    problem = Problem.build(rng.normal(size=(6, 2)), n_clusters=3, limits=limits)
    return [problem.core, centroids(rng), soon()]


def _greedy(gain: Any, offsets: Any, targets: Any) -> Any:
    return _core.mwis_greedy(gain, offsets, targets)


def cut_pool(rng: Rng) -> Any:
    pool = _core.CutPool(*cut_groups(rng))
    pool.add(*cuts(), rng.random(2))
    if rng.random() < 0.5:
        pool.limit_diagonal(*diagonal_limits(rng))
    return pool


def diagonal_limits(rng: Rng, size: int = 6) -> list[Any]:
    """Least and most of the diagonal of a projection."""
    return list(np.sort(rng.random((2, size)), axis=0).astype(np.float32))


def cut_groups(rng: Rng, size: int = 6) -> list[Any]:
    """Weights, which groups are apart, and the number of clusters."""
    apart = np.triu(rng.random((size, size)) < 0.3, 1)
    return [rng.random(size) + 0.1, (apart | apart.T).astype(np.uint8), 3]


def cuts() -> list[Any]:
    """Centres, offsets and members of a triangle and of a larger cut."""
    members = np.array([1, 2, 0, 3, 4], dtype=np.int32)
    return [np.array([0, 5], dtype=np.int32), np.array([0, 2, 5]), members]


def pricing(rng: Rng, size: int = 6) -> Any:
    made = _core.Pricing(rng.normal(size=(size, 2)), rng.random(size) + 0.1, 2)
    made.arrange(*price_rules())
    return made


def price_rules() -> list[Any]:
    """Units, hubs, and the offsets and members of what each hub is apart from."""
    unit = np.array([0, 1, 1, 3, 4, 5], dtype=np.int32)
    neighbours = np.array([2, 4], dtype=np.int32)
    return [unit, np.array([3], dtype=np.int32), np.array([0, 2]), neighbours]


def symmetric(rng: Rng, size: int = 6) -> Any:
    half = rng.normal(size=(size, size)).astype(np.float32)
    return half + half.T


ARGUMENTS: dict[str, Callable[[Rng], list[Any]]] = {
    "CutPool": cut_groups,
    "CutPool.add": lambda rng: [cut_pool(rng), *cuts(), rng.random(2)],
    "CutPool.arrays": lambda rng: [cut_pool(rng)],
    "CutPool.drop": lambda rng: [cut_pool(rng), 1],
    "CutPool.limit_diagonal": lambda rng: [cut_pool(rng), *diagonal_limits(rng)],
    "CutPool.project": lambda rng: [
        cut_pool(rng),
        symmetric(rng),
        np.zeros((6, 6), dtype=np.float32),
        np.zeros((6, 6), dtype=np.float32),
        3,
    ],
    "CutPool.scale_multipliers": lambda rng: [cut_pool(rng), 0.5],
    "Graph": lambda rng: weighted_graph(rng)[1:],
    "Instance": instance_parts,
    "Instance.enter": lambda rng: [instance(rng)],
    "Instance.leave": lambda rng: [instance(rng)],
    "Instance.limit_sizes": lambda rng: [instance(rng), *size_limits(rng)],
    "Instance.with_soft": lambda rng: [instance(rng), soft_pairs(rng)],
    "Pricing": lambda rng: [rng.normal(size=(6, 2)), rng.random(6) + 0.1, 2],
    "Pricing.arrange": lambda rng: [pricing(rng), *price_rules()],
    "Pricing.climb": lambda rng: [pricing(rng), rng.random(6), centroids(rng), 9, soon()],
    "Pricing.cover": lambda rng: [pricing(rng), rng.random(6), 0.5, 10_000, soon()],
    "SequentialSearch": lambda rng: [instance(rng), 3],
    "SequentialSearch.assign_by_table": lambda rng: [
        search(rng),
        colours(rng),
        centroids(rng),
        True,
        soon(),
    ],
    "SequentialSearch.descend": lambda rng: [search(rng), colours(rng), soon()],
    "SequentialSearch.estimate": lambda rng: [search(rng), colours(rng), 1, 5],
    "SequentialSearch.relocate": lambda rng: [
        search(rng),
        colours(rng),
        5,
        3,
        0,
        0.0,
        seed(rng),
        soon(),
    ],
    "SequentialSearch.repair": lambda rng: [search(rng), colours(rng), centroids(rng), soon()],
    "SequentialSearch.settle": lambda rng: [search(rng), colours(rng), centroids(rng), soon()],
    "SequentialSearch.work_done": lambda rng: [search(rng)],
    "SoftPairs": soft_parts,
    "Stopper": lambda rng: [1.0],
    "Stopper.child": lambda rng: [soon(), 1.0, False],
    "Stopper.look": lambda rng: [soon()],
    "Stopper.raise_pending": lambda rng: [soon()],
    "Stopper.stop": lambda rng: [soon()],
    "anneal": lambda rng: [
        graph(rng, 6),
        rng.random((6, 3)),
        colours(rng),
        5,
        2.0,
        0.5,
        1.0,
        2.0,
        seed(rng),
        soon(),
        soft_pairs(rng),
    ],
    "anneal_inertia": lambda rng: [
        instance(rng).with_soft(soft_pairs(rng)) if rng.random() < 0.5 else instance(rng),
        colours(rng),
        3,
        5,
        2.0,
        0.5,
        1.0,
        2.0,
        seed(rng),
        soon(),
    ],
    "begin_dropping_stray_lines": lambda rng: [],
    "best_partition": lambda rng: [instance(rng), colours(rng), 3, soon()],
    "between_inertia": lambda rng: [instance(rng), colours(rng), centroids(rng)],
    "breadth_first_order": lambda rng: [graph(rng)],
    "cannot_link_graph": lambda rng: [colours(rng, 8, 6), 6, rng.integers(8, size=(5, 2))],
    "chain_descent": lambda rng: [graph(rng, 6), rng.random((6, 3)), colours(rng), soon()],
    "cheapest_colouring": lambda rng: [graph(rng, 6), rng.random((6, 3))],
    "clique_cover": lambda rng: [graph(rng), soon()],
    "clique_deductions": lambda rng: [graph(rng), 3, soon()],
    "cliques_of_size": lambda rng: [graph(rng), 3, 10],
    "cluster_means": lambda rng: [instance(rng), colours(rng), 3],
    "colour_exactly": lambda rng: [graph(rng), 3, 100, soon()],
    "combine_rows": lambda rng: [
        rng.normal(size=(6, 2)),
        colours(rng),
        rng.normal(size=6),
        centroids(rng),
    ],
    "sum_squares": lambda rng: [rng.normal(size=(6, 2)), colours(rng), rng.random(6), 3],
    "crowd": lambda rng: [
        rng.normal(size=(6, 2)).astype(rng.choice([np.float32, np.float64])),
        rng.random(6),
        np.array([1, 4]),
        centroids(rng),
        rng.random(3),
    ],
    "dsatur": lambda rng: [graph(rng), 3],
    "end_dropping_stray_lines": lambda rng: [],
    "fewest_broken": lambda rng: [soft_pairs(rng), 3, colours(rng), seed(rng), 50, soon()],
    "fill_empty": lambda rng: [instance(rng), colours(rng), 3],
    "improving_chains": lambda rng: [instance(rng), colours(rng), centroids(rng)],
    "is_proper": lambda rng: [graph(rng, 6), colours(rng)],
    "kmeans_plus_plus": lambda rng: [instance(rng), everyone(), 3, seed(rng)],
    "largest_clique": lambda rng: [graph(rng), 3, soon()],
    "merge_rows": lambda rng: [
        rng.normal(size=(6, 2)),
        everyone(),
        np.sort(colours(rng)),
        rng.random(6),
        3,
    ],
    "move_conflicts": lambda rng: [
        graph(rng, 6),
        np.array([0, 2, 4]),
        everyone()[:4].copy(),
        colours(rng, 4),
    ],
    "mwis_by_order": lambda rng: [*(parts := weighted_graph(rng)), rng.random(parts[0].size)],
    "mwis_greedy": weighted_graph,
    "mwis_small": weighted_graph,
    "nearest_centroids": lambda rng: [rng.normal(size=(6, 2)), centroids(rng)],
    "ordered_assignment": lambda rng: [instance(rng), centroids(rng), everyone(), False],
    "own_costs": lambda rng: [instance(rng), colours(rng), centroids(rng)],
    "peel": lambda rng: [graph(rng), 3],
    "points": lambda rng: [instance(rng), everyone()],
    "priced_assignment": lambda rng: [
        instance(rng),
        soft_pairs(rng),
        centroids(rng),
        everyone(),
        colours(rng),
    ],
    "refine_centroids": lambda rng: [instance(rng), everyone(), centroids(rng), 1e-3, soon()],
    "saturation_assignment": lambda rng: [instance(rng), centroids(rng)],
    "simultaneous_descend": lambda rng: [instance(rng), colours(rng), 3, soon(), _greedy, 7],
    "simultaneous_settle": lambda rng: [
        instance(rng),
        colours(rng),
        centroids(rng),
        soon(),
        None,
    ],
    "simultaneous_step": lambda rng: [instance(rng), colours(rng), centroids(rng), _greedy],
    "squared_distances": lambda rng: [instance(rng), everyone(), centroids(rng)],
    "supernodes": lambda rng: [8, rng.integers(8, size=(5, 2))],
    "tabu_colouring": lambda rng: [graph(rng, 6), 3, colours(rng), None, seed(rng), 50, soon()],
    "three_colour_moves": lambda rng: [instance(rng), colours(rng), np.ones(3, dtype=bool), soon()],
    "transport": transport,
    "unpeel": lambda rng: [graph(rng, 6), everyone(), np.full(6, -1, dtype=np.int32), 6],
    "violated_cuts": lambda rng: [symmetric(rng), rng.random(6) + 0.1, 0.01, 5, True, soon()],
}


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Everything that the core lets one call, methods as functions of the object."""
    found: dict[str, Callable[..., Any]] = {}
    for name in dir(_core):
        item = getattr(_core, name)
        if name.startswith("_") or not callable(item):
            continue
        found[name] = item
        if isinstance(item, type):
            found |= {
                f"{name}.{method}": getattr(item, method)
                for method in dir(item)
                if not method.startswith("_") and callable(getattr(item, method))
            }
    return found


# What makes them wrong.


def wrong(value: Any, rng: Rng, modest: bool) -> Any:
    """Something in place of an argument: often similar to it, sometimes nothing like it."""
    if rng.random() < 0.05:
        return rng.choice(np.array([None, "text", 3, -1.5, b"bytes"], dtype=object))
    if isinstance(value, np.ndarray):
        return ARRAY_FAULTS[rng.integers(len(ARRAY_FAULTS))](value, rng)
    if isinstance(value, bool) or value is None or callable(value):
        return rng.choice(np.array([True, None, lambda *_: None, lambda *_: 1 / 0], dtype=object))
    if isinstance(value, int):
        choices = [i for i in INT_LIMITS if not modest or abs(i) < 2**31 - 1]
        return choices[rng.integers(len(choices))]
    if isinstance(value, float):
        return float(rng.choice(FLOATS))
    return value


def _entries(array: Any, rng: Rng) -> Any:
    """Some entries become extreme."""
    changed = array.copy()
    if changed.size:
        where = rng.integers(changed.size, size=int(rng.integers(1, 3)))
        if changed.dtype.kind == "b":
            changed.flat[where] ^= True
        elif changed.dtype.kind == "f":
            with np.errstate(over="ignore"):
                changed.flat[where] = rng.choice(FLOATS, size=where.size).astype(changed.dtype)
        else:
            info = np.iinfo(changed.dtype)
            values = [int(i) for i in INT_LIMITS if info.min <= i <= info.max]
            changed.flat[where] = rng.choice(np.array(values, dtype=changed.dtype), where.size)
    return changed


ARRAY_FAULTS: list[Callable[[Any, Rng], Any]] = [
    _entries,
    _entries,
    _entries,
    lambda array, rng: array[:-1].copy(),
    lambda array, rng: np.concatenate([array, array[-1:]]),
    lambda array, rng: array[:0].copy(),
    lambda array, rng: array[..., :0].copy(),
    lambda array, rng: array[::-1],
    lambda array, rng: np.repeat(array, 2, axis=-1)[..., ::2],
    lambda array, rng: np.asfortranarray(array),
    lambda array, rng: array[None],
    lambda array, rng: array.reshape(-1),
    lambda array, rng: rng.permutation(array),
    lambda array, rng: np.zeros_like(array),
    lambda array, rng: array.astype(
        rng.choice(["f4", "f8", "i4", "i8", "u1", "u8", "c16", ">f8", ">i4", "bool", "O"])
    ),
    lambda array, rng: np.broadcast_to(array[:1].sum(axis=0), (1000, *array.shape[1:])),
    lambda array, rng: np.zeros((0, 2**33), dtype=array.dtype),
]


def call(name: str, number: int, first_seed: int, *, modest: bool) -> str:
    """Make one call; the name of what it raised, or nothing."""
    rng = np.random.default_rng([first_seed, number])
    arguments = ARGUMENTS[name](rng)
    changes = min(len(arguments), int(rng.integers(0, 4)))
    for position in rng.permutation(len(arguments))[:changes]:
        with np.errstate(all="ignore"):
            arguments[position] = wrong(arguments[position], rng, modest)
    try:
        functions()[name](*arguments)
    except SystemError:  # of the interpreter: a function broke its rules
        raise
    except Exception as error:
        return type(error).__name__
    return ""


# The process that makes the calls, and the one that watches it.


def make_calls(
    first_seed: int, first: int, seconds: float, note: Path, *, modest: bool
) -> Counter[str]:
    """Call one function after the other, noting before each call which it is."""
    names = sorted(ARGUMENTS)
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    with open(note, "wb", buffering=0) as file:
        number = first
        while time.monotonic() < end:
            name = names[number % len(names)]
            file.seek(0)
            file.write(f"{number:12d} {name:40s}".encode())
            faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
            counts[call(name, number, first_seed, modest=modest) or "worked"] += 1
            number += 1
    faulthandler.cancel_dump_traceback_later()
    counts["calls"] = number - first
    return counts


def limit_memory() -> None:
    """Let allocations that are far too large fail, as they do where memory is short."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def main(
    minutes: Annotated[float, typer.Option(help="How long to go on.")] = 2.0,
    seed: Annotated[int | None, typer.Option(help="Repeats a run; by default a new one.")] = None,
    case: Annotated[int | None, typer.Option(help="Only this call, in this process.")] = None,
    modest: Annotated[bool, typer.Option(help="No sizes that want much memory.")] = False,
    first: Annotated[int, typer.Option(hidden=True)] = 0,
    note: Annotated[Path | None, typer.Option(hidden=True)] = None,
) -> None:
    """Fuzz the array interface of the compiled core."""
    seed = secrets.randbelow(10**9) if seed is None else seed
    if set(ARGUMENTS) != set(functions()):
        missing = set(ARGUMENTS) ^ set(functions())
        raise typer.BadParameter(f"without generator, or gone: {', '.join(sorted(missing))}")
    if case is not None:
        name = sorted(ARGUMENTS)[case % len(ARGUMENTS)]
        typer.echo(f"{name}: {call(name, case, seed, modest=modest) or 'worked'}")
    elif note is not None:
        if not modest:
            limit_memory()
        counts = make_calls(seed, first, 60 * minutes, note, modest=modest)
        typer.echo("; ".join(f"{kind} {count}" for kind, count in counts.most_common()))
    else:
        raise typer.Exit(watch(seed, minutes, modest=modest))


def watch(seed: int, minutes: float, *, modest: bool) -> int:
    """Run the calls in a process, and go on after the call that ended one; how many did."""
    typer.echo(f"seed {seed}, {len(ARGUMENTS)} functions, {minutes:g} minutes")
    end = time.monotonic() + 60 * minutes
    crashes, first = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "call"
        while (left := end - time.monotonic()) > 0 and crashes < 20:
            command = [sys.executable, __file__, "--seed", seed, "--minutes", left / 60]
            command += ["--first", first, "--note", note, *(["--modest"] if modest else [])]
            child = subprocess.run([str(part) for part in command], env=os.environ, check=False)
            if child.returncode == 0:
                break
            number, name = note.read_text().split()
            crashes += 1
            first = int(number) + 1
            typer.echo(
                f"{name} ended the process ({child.returncode}); "
                f"repeat it: --seed {seed} --case {number}",
                err=True,
            )
    typer.echo(f"{crashes} crashes")
    return min(crashes, 1)


if __name__ == "__main__":
    typer.run(main)
