from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kempe import _core
from kempe.kskm import sdp
from kempe.kskm.assignment import SimultaneousDescent
from kempe.kskm.sdp import LANDMARKS, denoised_points, nearest_in_capped_simplex, relax
from kempe.problem import Problem
from random_problems import context_of, random_problem


def test_the_relaxed_matrix_is_nearly_feasible():
    problem, _ = random_problem(0, n=60, density=0.1)
    relaxation = relax(problem, np.arange(problem.n_supernodes))
    matrix = relaxation.solve()
    assert (matrix >= 0).all()
    assert (matrix[relaxation.apart] == 0).all()
    np.testing.assert_allclose(np.trace(matrix), problem.n_clusters, rtol=0.05)
    rows = matrix @ relaxation.root_weight / relaxation.root_weight
    np.testing.assert_allclose(rows, 1, atol=0.1)
    assert np.linalg.eigvalsh(matrix).min() > -0.1


def test_the_relaxation_bounds_the_inertia_from_below():
    problem, colours = random_problem(1, n=40, density=0.1)
    relaxation = relax(problem, np.arange(problem.n_supernodes))
    points = relaxation.points
    relaxed = (points**2).sum() - (points * (relaxation.solve(600) @ points)).sum()
    colours = SimultaneousDescent().descend(context_of(problem), colours)
    assert 0.3 < relaxed / (problem.inertia(colours) - problem.within) < 1.01


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_the_capped_simplex_is_hit_at_the_nearest_point(seed, size):
    rng = np.random.default_rng(seed)
    values, total = rng.normal(size=size), float(rng.integers(size + 1))
    nearest = nearest_in_capped_simplex(values, total)
    assert ((nearest >= 0) & (nearest <= 1)).all()
    assert nearest.sum() == pytest.approx(total)
    for _ in range(20):  # no other point of the set lies on the near side
        other = nearest_in_capped_simplex(rng.normal(size=size), total)
        assert (values - nearest) @ (other - nearest) <= 1e-9


def test_a_partition_is_recovered_from_separated_blobs():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 20)
    centres = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    problem = Problem.build(centres[truth] + 0.2 * rng.normal(size=(60, 2)), n_clusters=3)
    points, weight = denoised_points(problem)
    np.testing.assert_array_equal(weight, 1)
    assert np.linalg.norm(points + problem.shift - centres[truth], axis=1).max() < 1.0


def test_large_problems_are_sampled():
    rng = np.random.default_rng(0)
    problem = Problem.build(rng.normal(size=(3 * LANDMARKS, 2)), n_clusters=3)
    points, weight = denoised_points(problem)
    assert points.shape == (LANDMARKS, 2)
    assert weight.shape == (LANDMARKS,)


def test_what_is_minimised_has_norm_one():
    problem, _ = random_problem(0, n=30, density=0.1)
    relaxation = relax(problem, np.arange(problem.n_supernodes))
    unit = relaxation.root_weight / np.linalg.norm(relaxation.root_weight)
    assert np.linalg.norm(relaxation._scaled_distortion(unit), 2) == pytest.approx(1)


def test_a_relaxation_that_would_take_longer_than_there_is_time_is_left_alone(monkeypatch):
    problem = Problem.build(np.random.default_rng(0).normal(size=(90, 2)), n_clusters=3)
    monkeypatch.setattr(sdp, "LARGE", 80)
    plenty = _core.Stopper(1e6)
    denoised_points(problem, plenty)
    assert not plenty.look()
    monkeypatch.setattr(sdp, "_seconds_of_a_decomposition", lambda matrix, stopper: 1e7)
    outer = _core.Stopper(1e6)
    short = outer.child()
    denoised_points(problem, short)
    assert short.look()
    assert not outer.look()
