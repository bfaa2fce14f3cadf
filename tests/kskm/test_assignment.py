from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kempe import _core
from kempe.kskm import mwis
from kempe.kskm.assignment import SimultaneousDescent
from kempe.kskm.moves import conflicts
from kempe.problem import Problem
from kempe.search.descent import Context
from random_problems import best_inertia, context_of, improving_chains, random_problem

seeds = st.integers(0, 2**32 - 1)
methods = st.sampled_from(mwis.METHODS)


def step_in_parts(problem, colours, centroids, method="greedy", rng=None):
    """Twin of the compiled step: all chains, free vertices included, then the independent set."""
    chains = improving_chains(problem, colours, centroids)
    chosen = mwis.solve(chains.gain, *conflicts(problem, chains), method, rng)
    return chains.apply(colours, chosen)


def means_of(problem, colours):
    """Means of the clusters; each empty one is put on another of the supernodes that cost most."""
    centroids, _ = problem.means(colours)
    empty = np.flatnonzero(np.bincount(colours, minlength=problem.n_clusters) == 0)
    costly = np.argsort(-problem.own_costs(colours, centroids), kind="stable")[: empty.size]
    centroids[empty] = problem.points(costly)
    return centroids


def repeated(step, colours):
    """Step until nothing changes."""
    while not np.array_equal(after := step(colours), colours):
        colours = after
    return colours


def random_centroids(problem, seed):
    return np.random.default_rng(seed).normal(size=(problem.n_clusters, problem.n_features))


@given(seeds, st.sampled_from([0.03, 0.15, 0.4]))
@settings(max_examples=40, deadline=None)
def test_the_compiled_step_equals_its_parts(seed, density):
    problem, colours = random_problem(seed, density=density)
    centroids = random_centroids(problem, seed)
    after = SimultaneousDescent().step(context_of(problem), colours, centroids)
    twin = step_in_parts(problem, colours, centroids)
    assert problem.inertia(after, centroids) == pytest.approx(problem.inertia(twin, centroids))


@given(seeds, methods)
@settings(max_examples=40, deadline=None)
def test_a_step_keeps_the_colouring_proper_and_lowers_the_cost(seed, method):
    problem, colours = random_problem(seed, density=0.3, k=5)
    centroids = random_centroids(problem, seed)
    after = SimultaneousDescent(method).step(context_of(problem), colours, centroids)
    assert problem.is_proper(after)
    improvable = improving_chains(problem, colours, centroids).n_moves > 0
    before = problem.inertia(colours, centroids)
    assert (problem.inertia(after, centroids) < before) == improvable


@given(seeds, methods)
@settings(max_examples=30, deadline=None)
def test_settling_leaves_no_improving_chain(seed, method):
    problem, colours = random_problem(seed, density=0.2)
    centroids = random_centroids(problem, seed)
    after = SimultaneousDescent(method).settle(context_of(problem), colours, centroids)
    assert problem.is_proper(after)
    assert improving_chains(problem, after, centroids).n_moves == 0


@given(seeds, methods)
@settings(max_examples=30, deadline=None)
def test_a_descent_ends_in_a_local_optimum_that_is_no_worse(seed, method):
    problem, colours = random_problem(seed, density=0.2, weighted=bool(seed % 2))
    after = SimultaneousDescent(method).descend(context_of(problem), colours)
    assert problem.is_proper(after)
    assert problem.inertia(after) <= problem.inertia(colours) * (1 + 1e-12)
    assert improving_chains(problem, after, means_of(problem, after)).n_moves == 0


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_the_inertia_falls_with_every_step_of_a_descent(seed):
    problem, colours = random_problem(seed, n=60, density=0.2)
    history = [problem.inertia(colours)]
    while True:
        after = step_in_parts(problem, colours, means_of(problem, colours))
        if np.array_equal(after, colours):
            break
        colours = after
        history.append(problem.inertia(colours))
    assert (np.diff(history) < 0).all()


@pytest.mark.parametrize("method", mwis.METHODS)
def test_a_descent_fills_empty_clusters_when_that_gains(method):
    problem, colours = random_problem(2, k=4)
    wider = Problem(**{**problem.__dict__, "n_clusters": 7})
    after = SimultaneousDescent(method).descend(context_of(wider), colours)
    assert np.unique(after).size == 7


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_filled_at_random_a_descent_still_ends_in_a_local_optimum(seed):
    problem, colours = random_problem(seed, k=4)
    wider = Problem(**{**problem.__dict__, "n_clusters": 7})
    context = context_of(wider, seed)
    after = SimultaneousDescent(fill="random").descend(context, colours)
    assert wider.is_proper(after)
    assert wider.inertia(after) < wider.inertia(colours)
    full = np.bincount(after, minlength=7).all()
    assert not full or improving_chains(wider, after, means_of(wider, after)).n_moves == 0


def test_empty_clusters_take_the_costliest_supernodes_or_any():
    """On a line, what fills the empty cluster decides where the others are parted."""
    points = np.array([[0.0], [1.0], [2.0], [4.0], [1000.0]])
    problem = Problem.build(points, n_clusters=3)
    colours = np.array([0, 0, 0, 0, 1], dtype=np.int32)

    def ends(fill):
        descent = SimultaneousDescent(fill=fill)
        contexts = [context_of(problem, seed) for seed in range(40)]
        return {tuple(descent.descend(context, colours).tolist()) for context in contexts}

    assert ends("costliest") == {(0, 0, 0, 2, 1)}
    # By 4; by 0 or 1; by 2, which 4 follows; by 1000, which is alone and has nothing to gain.
    assert ends("random") == {(0, 0, 0, 2, 1), (2, 2, 0, 0, 1), (0, 0, 2, 2, 1), (0, 0, 0, 0, 1)}


def test_without_constraints_a_descent_is_lloyds_algorithm():
    rng = np.random.default_rng(0)
    problem = Problem.build(rng.normal(size=(80, 3)), n_clusters=4)
    colours = rng.integers(4, size=80).astype(np.int32)
    after = SimultaneousDescent().descend(Context(problem, rng, _core.Stopper()), colours)
    while True:
        centroids, _ = problem.means(colours)
        nearest = problem.costs(centroids).argmin(axis=1).astype(np.int32)
        if np.array_equal(nearest, colours):
            break
        colours = nearest
    np.testing.assert_array_equal(after, colours)


def test_no_descent_beats_the_optimum():
    for seed in range(4):
        problem, colours = random_problem(seed, n=9, k=3, merged=1, density=0.3)
        optimum = best_inertia(problem)
        for three_colour in (False, True):
            descent = SimultaneousDescent(three_colour=three_colour)
            after = descent.descend(context_of(problem), colours)
            assert problem.inertia(after) >= optimum * (1 - 1e-12)


@pytest.mark.parametrize("method", mwis.METHODS)
def test_a_stopped_descent_returns_a_proper_colouring(method):
    problem, colours = random_problem(0)
    stopper = _core.Stopper()
    stopper.stop()
    descent = SimultaneousDescent(method, three_colour=True)
    after = descent.descend(context_of(problem, stopper=stopper), colours)
    np.testing.assert_array_equal(after, colours)


def test_an_unknown_independent_set_method_is_refused():
    with pytest.raises(ValueError, match="mwis must be one of"):
        SimultaneousDescent(mwis="best")


@given(seeds, methods, st.sampled_from([0.1, 0.4]))
@settings(max_examples=40, deadline=None)
def test_loops_with_any_choice_end_where_the_repeated_step_does(seed, method, density):
    problem, colours = random_problem(seed, density=density)
    descent, centroids = SimultaneousDescent(method), random_centroids(problem, seed)
    settled = repeated(lambda c: step_in_parts(problem, c, centroids, method), colours)
    after = descent.settle(context_of(problem), colours, centroids)
    assert problem.inertia(after, centroids) == pytest.approx(problem.inertia(settled, centroids))
    lowest = repeated(lambda c: step_in_parts(problem, c, means_of(problem, c), method), colours)
    after = descent.descend(context_of(problem), colours)
    assert problem.inertia(after) == pytest.approx(problem.inertia(lowest))


def kernels(problem, colours, choose):
    """All three kernels that take a choice, ready to run."""
    core, centroids, stopper = problem.core, random_centroids(problem, 0), _core.Stopper()
    k = problem.n_clusters
    return [
        lambda: _core.simultaneous_step(core, colours, centroids, choose),
        lambda: _core.simultaneous_settle(core, colours, centroids, stopper, choose),
        lambda: _core.simultaneous_descend(core, colours, k, stopper, choose),
    ]


def test_the_choice_sees_gains_and_conflicts_that_it_may_keep():
    problem, colours = random_problem(1, density=0.4)
    kept = []

    def choose(gain, offsets, targets):
        kept.append((gain, offsets, targets))
        return mwis.solve(gain, offsets, targets)

    for kernel in kernels(problem, colours, choose):
        kernel()
    for gain, offsets, targets in kept:
        assert (gain > 0).all()
        assert offsets.size == gain.size + 1
        assert offsets[-1] == targets.size
    first = improving_chains(problem, colours, random_centroids(problem, 0))
    bound = np.isin(first.vertices[first.offsets[:-1]], np.flatnonzero(problem.graph.degree))
    np.testing.assert_array_equal(kept[0][0], first.gain[bound])


def test_what_a_choice_raises_reaches_the_caller():
    problem, colours = random_problem(1, density=0.4)

    def choose(*_):
        raise LookupError("nothing suits")

    for kernel in kernels(problem, colours, choose):
        with pytest.raises(LookupError, match="nothing suits"):
            kernel()


def test_choosing_nothing_ends_the_loop():
    problem, colours = random_problem(1, density=0.4)
    for kernel in kernels(problem, colours, lambda gain, *_: np.zeros(gain.size, dtype=bool)):
        after = kernel()
        tied = problem.graph.degree > 0
        np.testing.assert_array_equal(after[tied], colours[tied])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda gain: np.ones(gain.size + 1, dtype=bool), "one for each chain"),
        (lambda gain: np.ones(gain.size, dtype=np.int64), "array of bool"),
        (lambda gain: None, "array of bool"),
    ],
)
def test_a_choice_that_would_do_harm_is_refused(answer, message):
    problem, colours = random_problem(1, density=0.4)
    for kernel in kernels(problem, colours, lambda gain, *_: answer(gain)):
        with pytest.raises(ValueError, match=message):
            kernel()


def test_a_choice_of_chains_that_conflict_is_refused():
    problem, colours = random_problem(1, density=0.4)
    step, *_ = kernels(problem, colours, lambda gain, *_: np.ones(gain.size, dtype=bool))
    with pytest.raises(ValueError, match="conflict"):
        step()


def test_a_choice_must_be_callable():
    problem, colours = random_problem(1)
    for kernel in kernels(problem, colours, "greedy"):
        with pytest.raises(TypeError):
            kernel()
