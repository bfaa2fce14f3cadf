from __future__ import annotations

import numpy as np

from kempe.problem import Problem
from kempe.relaxation import LANDMARKS, denoised_points, relax
from random_problems import random_problem


def test_the_relaxed_matrix_is_nearly_feasible():
    problem, _ = random_problem(0, n=60, density=0.1)
    relaxation = relax(problem, np.arange(problem.n_supernodes))
    factor = relaxation.solve(np.random.default_rng(0))
    assert (factor >= 0).all()
    matrix = factor @ factor.T
    np.testing.assert_allclose(np.trace(matrix), problem.n_clusters)
    rows = matrix @ relaxation.root_weight / relaxation.root_weight
    assert abs(rows - 1).mean() < 0.1
    linked = relaxation.cannot_link.toarray() > 0
    assert matrix[linked].mean() < 0.1 * matrix[~linked].mean()


def test_a_partition_is_recovered_from_separated_blobs():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 20)
    centres = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    problem = Problem.build(centres[truth] + 0.2 * rng.normal(size=(60, 2)), n_clusters=3)
    points, weight = denoised_points(problem, rng)
    np.testing.assert_array_equal(weight, 1)
    assert np.linalg.norm(points + problem.shift - centres[truth], axis=1).max() < 1.0


def test_large_problems_are_sampled():
    rng = np.random.default_rng(0)
    problem = Problem.build(rng.normal(size=(3 * LANDMARKS, 2)), n_clusters=3)
    points, weight = denoised_points(problem, rng)
    assert points.shape == (LANDMARKS, 2)
    assert weight.shape == (LANDMARKS,)
