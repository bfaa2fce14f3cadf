from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kempe import Constraints, _core
from kempe.kskm.assignment import SimultaneousDescent
from kempe.kskm.moves import Moves
from kempe.kskm.three_colour import changed_clusters, three_colour_step
from kempe.problem import Problem
from random_problems import context_of, random_problem

ALL = np.ones(4, dtype=bool)


def descended(problem, colours, three_colour):
    descent = SimultaneousDescent(three_colour=three_colour)
    return descent.descend(context_of(problem), colours)


def turned_triangle():
    """Three heavy clusters and a triangle whose members each sit one cluster too far round.

    A swap of two of them brings one home and the other as far away on the other side, and
    weights make every such swap a loss; only the rotation of all three gains.
    """
    angles = 2 * np.pi * np.arange(3) / 3
    corners = np.column_stack([np.cos(angles), np.sin(angles)])
    anchors = np.repeat(corners, 20, axis=0)
    X = np.vstack([anchors, corners])
    ml = [(20 * c + i, 20 * c + i + 1) for c in range(3) for i in range(19)]
    cl = [(60, 61), (61, 62), (60, 62), (0, 20), (20, 40), (0, 40)]
    problem = Problem.build(X, Constraints(ml, cl), n_clusters=3)
    return problem, np.array([0, 1, 2, 1, 2, 0], dtype=np.int32)


def test_a_rotation_is_found_in_one_step():
    problem, colours = turned_triangle()
    rng = np.random.default_rng(0)
    after = three_colour_step(problem, colours, rng, _core.Stopper())
    assert problem.inertia(after) == pytest.approx(0, abs=1e-12)
    assert three_colour_step(problem, after, rng, _core.Stopper()) is None


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=30, deadline=None)
def test_every_move_is_proper_and_gains_what_it_says(seed, weighted):
    problem, colours = random_problem(seed, n=30, k=4, density=0.4, weighted=weighted)
    moves = Moves(*_core.three_colour_moves(problem.core, colours, ALL, _core.Stopper()))
    assume(moves.n_moves > 0)
    before = problem.inertia(colours)
    for s in range(moves.n_moves):
        after = moves.apply(colours, np.arange(moves.n_moves) == s)
        assert problem.is_proper(after)
        assert before - problem.inertia(after) == pytest.approx(moves.gain[s], rel=1e-6)


def moves_of(problem, colours, fresh):
    return Moves(*_core.three_colour_moves(problem.core, colours, fresh, _core.Stopper()))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_only_triples_with_a_fresh_cluster_are_looked_at(seed):
    problem, colours = random_problem(seed, n=30, k=5, density=0.3)
    everything = gains(problem, colours, np.ones(5, dtype=bool))
    alone = [gains(problem, colours, np.arange(5) == c) for c in range(5)]
    assert gains(problem, colours, np.zeros(5, dtype=bool)) == set()
    assert all(some <= everything for some in alone)
    assert set().union(*alone) == everything


def gains(problem, colours, fresh):
    return set(np.round(moves_of(problem, colours, fresh).gain, 9))


def test_changed_clusters_gained_or_lost_a_supernode():
    before = np.array([0, 1, 2, 3, 3], dtype=np.int32)
    after = np.array([0, 2, 2, 3, 3], dtype=np.int32)
    assert changed_clusters(after, None, 4).all()
    assert changed_clusters(after, before, 4).tolist() == [False, True, True, False]


def test_a_component_without_a_supernode_closer_elsewhere_is_left_alone():
    # Every supernode sits at its own centroid.
    X = np.array([[0.0], [0.0], [5.0], [5.0], [9.0], [9.0]])
    problem = Problem.build(X, Constraints(None, [(0, 2), (2, 4), (4, 0)]), n_clusters=3)
    colours = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    assert moves_of(problem, colours, np.ones(3, dtype=bool)).n_moves == 0


@pytest.mark.parametrize("method", ["greedy", "spectral", "exact"])
def test_three_colours_go_on_where_two_are_stuck(method):
    better = 0
    for seed in range(15):
        problem, colours = random_problem(seed, n=50, k=5, density=0.1)
        two = descended(problem, colours, three_colour=False)
        three = SimultaneousDescent(method, three_colour=True).descend(context_of(problem), two)
        assert problem.is_proper(three)
        assert problem.inertia(three) <= problem.inertia(two)
        better += problem.inertia(three) < problem.inertia(two) * (1 - 1e-9)
    assert better > 0


def test_a_stopped_search_finds_nothing():
    problem, colours = random_problem(0)
    stopper = _core.Stopper()
    stopper.stop()
    assert three_colour_step(problem, colours, np.random.default_rng(0), stopper) is None
