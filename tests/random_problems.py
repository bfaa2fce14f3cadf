"""Random problems and their optima, for tests to import."""

from __future__ import annotations

import itertools

import numpy as np

from kempe import Constraints, _core
from kempe.kskm.moves import Moves
from kempe.problem import Centroids, Colours, Problem
from kempe.search import Context


def random_problem(
    seed: int,
    *,
    n: int = 40,
    k: int = 4,
    d: int = 2,
    density: float = 0.15,
    merged: int = 4,
    dtype: type = np.float64,
    weighted: bool = False,
) -> tuple[Problem, Colours]:
    """A random problem and a proper colouring of it that has little to do with the points."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(k, size=n)
    i, j = np.triu_indices(n, 1)
    drawn = rng.random(i.size) < density
    apart = drawn & (hidden[i] != hidden[j])
    together = np.flatnonzero(hidden[i] == hidden[j])
    together = rng.permutation(together)[:merged]
    X = rng.normal(size=(n, d)).astype(dtype)
    problem = Problem.build(
        X,
        Constraints(np.column_stack([i, j])[together], np.column_stack([i, j])[apart], n_rows=n),
        n_clusters=k,
        sample_weight=rng.uniform(0.5, 2, size=n) if weighted else None,
    )
    colours = np.empty(problem.n_supernodes, dtype=np.int32)
    colours[problem.supernode] = hidden
    return problem, colours


def large_problem(
    seed: int, *, n: int, k: int, d: int, n_pairs: int, dtype: type = np.float64
) -> tuple[Problem, Colours]:
    """The same with some cannot-link pairs only, for many rows."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(k, size=n, dtype=np.int32)
    pairs = rng.integers(n, size=(n_pairs, 2))
    apart = pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]]
    X = rng.normal(size=(n, d)).astype(dtype)
    return Problem.build(X, Constraints(None, apart), n_clusters=k), hidden


N_ROWS = 60
MERGED = 4  # must-link pairs, each of which makes one supernode of two
N_FEATURES = 10**6 // (N_ROWS - MERGED) + 1  # so many values are large, see Instance::is_large


def few_and_many_features(seed, k=5):
    """A random problem of two features, the same with many, and a colouring of both.

    Half of the problems have many equal points, some have weights, of which some are 0 and some
    huge, some are far from the origin.
    """
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(N_ROWS, 2)) + rng.choice([0.0, 1000.0])
    if rng.random() < 0.5:
        points = rng.choice(points, N_ROWS)
    few = points.astype(rng.choice(["float32", "float64"]))
    many = np.zeros((N_ROWS, N_FEATURES), few.dtype)
    many[:, :2] = few
    weight = rng.choice([0.0, 0.5, 1.0, 1e6], size=N_ROWS) if rng.random() < 0.3 else None
    hidden = rng.integers(k, size=N_ROWS)
    pairs = rng.integers(N_ROWS, size=(rng.choice([0, 30, 200]), 2))
    same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    constraints = Constraints(pairs[same][:MERGED], pairs[~same], n_rows=N_ROWS)
    small, large = (
        Problem.build(X, constraints, n_clusters=k, sample_weight=weight) for X in (few, many)
    )
    # Otherwise tests would compare a path with itself.
    assert large.core.is_large
    assert not small.core.is_large
    colours = np.empty(small.n_supernodes, np.int32)
    colours[small.supernode] = hidden
    return small, large, colours


def centroids_for(few, many, seed):
    """Centroids near some of the points, for either problem."""
    rng = np.random.default_rng(seed)
    shape = (few.n_clusters, 2)
    plane = rng.choice(few.rows, few.n_clusters) + 0.1 * rng.normal(size=shape)
    padded = np.zeros((few.n_clusters, many.n_features))
    padded[:, :2] = plane
    return plane, padded


def context_of(problem: Problem, seed: int = 0, stopper: _core.Stopper | None = None) -> Context:
    """What a descent needs."""
    return Context(problem, np.random.default_rng(seed), stopper or _core.Stopper())


def improving_chains(problem: Problem, colours: Colours, centroids: Centroids) -> Moves:
    """All Kempe chains whose swap lowers the cost at fixed centroids, by the kernel."""
    return Moves(*_core.improving_chains(problem.core, colours, centroids))


def neighbours(problem: Problem) -> list[set[int]]:
    """Cannot-link neighbours of each supernode."""
    ends = np.split(problem.graph.targets, problem.graph.offsets[1:-1])
    return [set(around.tolist()) for around in ends]


def best_inertia(problem: Problem) -> float:
    """The optimum by looking at every colouring."""
    edges = np.column_stack(problem.graph.matrix.nonzero())
    best = np.inf
    for colouring in itertools.product(range(problem.n_clusters), repeat=problem.n_supernodes):
        colours = np.array(colouring, dtype=np.int32)
        if (colours[edges[:, 0]] != colours[edges[:, 1]]).all():
            best = min(best, problem.inertia(colours))
    return float(best)
