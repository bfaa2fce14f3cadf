from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kempe import _core
from kempe.kskm import mwis
from kempe.kskm.assignment import SimultaneousDescent, _centroids
from kempe.kskm.chains import conflicts, improving_chains
from kempe.problem import Problem
from kempe.search.descent import Context
from random_problems import best_inertia, context_of, random_problem

seeds = st.integers(0, 2**32 - 1)
methods = st.sampled_from(mwis.METHODS)


def step_in_parts(problem, colours, centroids):
    """Twin of the compiled step: all chains, free vertices included, then the independent set."""
    chains = improving_chains(problem, colours, centroids)
    chosen = mwis.solve(chains.gain, *conflicts(problem, chains), "greedy")
    return chains.apply(colours, chosen)


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
    assert improving_chains(problem, after, _centroids(problem, after)).n_moves == 0


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_the_inertia_falls_with_every_step_of_a_descent(seed):
    problem, colours = random_problem(seed, n=60, density=0.2)
    history = [problem.inertia(colours)]
    while True:
        after = step_in_parts(problem, colours, _centroids(problem, colours))
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
