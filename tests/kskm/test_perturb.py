from __future__ import annotations

import numpy as np
import pytest

from kempe import _core
from kempe.kskm.perturb import perturb, perturb_independently
from kempe.problem import Problem

DRAWS = 4000


def two_clusters(weight=None, d=2):
    """Clusters of 12 and 30 rows with different, correlated scatter."""
    rng = np.random.default_rng(5)
    mix = rng.normal(size=(2, d, d))
    X = np.vstack([rng.normal(size=(12, d)) @ mix[0], 5 + rng.normal(size=(30, d)) @ mix[1]])
    problem = Problem.build(X, n_clusters=2, sample_weight=weight)
    return problem, np.repeat([0, 1], [12, 30]).astype(np.int32)


def draws(problem, colours, n=DRAWS, perturb=perturb):
    rng = np.random.default_rng(0)
    return np.array([perturb(problem, colours, rng) for _ in range(n)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_rows_are_combined_about_the_centroid_of_their_cluster(seed, dtype):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 4)).astype(dtype)
    labels = rng.integers(5, size=30, dtype=np.int32)
    coefficients, centroids = rng.normal(size=30), rng.normal(size=(6, 4))
    expected = np.zeros((6, 4))
    for row, label, coefficient in zip(rows, labels, coefficients, strict=True):
        expected[label] += coefficient * (row - centroids[label])
    found = _core.combine_rows(rows, labels, coefficients, centroids)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_squares_are_summed_by_cluster_and_feature(seed, dtype):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 4)).astype(dtype)
    labels = rng.integers(5, size=30, dtype=np.int32)
    weights = rng.random(30)
    expected = np.zeros((6, 4))
    for row, label, weight in zip(rows, labels, weights, strict=True):
        expected[label] += weight * np.square(row)
    np.testing.assert_array_equal(_core.sum_squares(rows, labels, weights, 6), expected)


def test_perturbed_centroids_have_the_mean_and_covariance_of_the_t_distribution():
    problem, colours = two_clusters()
    sample = draws(problem, colours)
    means, _ = problem.means(colours)
    for c, size in enumerate([12, 30]):
        freedom = size - 1
        scale = np.cov(problem.rows[colours == c], rowvar=False) / size
        expected = scale * freedom / (freedom - 2)
        error = np.sqrt(np.diag(expected) / DRAWS)
        assert (abs(sample[:, c].mean(axis=0) - means[c]) < 5 * error).all()
        found = np.cov(sample[:, c], rowvar=False)
        np.testing.assert_allclose(found, expected, atol=0.12 * np.diag(expected).max())


@pytest.mark.parametrize("weighted", [False, True])
def test_coordinates_may_be_perturbed_independently(weighted):
    problem, colours = two_clusters(np.full(42, 3.0) if weighted else None)
    sample = draws(problem, colours, perturb=perturb_independently)
    means, _ = problem.means(colours)
    for c, size in enumerate([12, 30]):
        rows = problem.rows[colours == c]
        variance = rows.var(axis=0, ddof=1) / size
        assert (abs(sample[:, c].mean(axis=0) - means[c]) < 5 * np.sqrt(variance / DRAWS)).all()
        found = np.cov(sample[:, c], rowvar=False)
        np.testing.assert_allclose(found, np.diag(variance), atol=0.1 * variance.max())
        assert abs(np.corrcoef(rows, rowvar=False)[0, 1]) > 0.2  # there is something to leave out


def test_a_cluster_of_one_row_is_not_perturbed_independently():
    problem = Problem.build(np.array([[0.0, 1.0], [4.0, 5.0], [6.0, 9.0]]), n_clusters=2)
    colours = np.array([0, 1, 1], dtype=np.int32)
    moved = perturb_independently(problem, colours, np.random.default_rng(0))
    means, _ = problem.means(colours)
    np.testing.assert_array_equal(moved[0], means[0])
    assert (moved[1] != means[1]).all()


def test_perturbed_centroids_have_the_tails_of_the_t_distribution():
    from scipy import stats

    rng = np.random.default_rng(1)
    problem = Problem.build(rng.normal(size=(4, 1)), n_clusters=1)
    colours = np.zeros(4, dtype=np.int32)
    scale = problem.rows.std(ddof=1) / 2
    sample = (draws(problem, colours)[:, 0, 0] - problem.rows.mean()) / scale
    assert stats.kstest(sample, stats.t(df=3).cdf).pvalue > 1e-3


def test_clusters_of_one_row_stay_put():
    problem = Problem.build(np.array([[0.0], [1.0], [2.0]]), n_clusters=2)
    colours = np.array([0, 1, 1], dtype=np.int32)
    moved = perturb(problem, colours, np.random.default_rng(0))
    means, _ = problem.means(colours)
    assert moved[0] == means[0]
    assert moved[1] != means[1]


def test_empty_clusters_stay_put():
    problem, colours = two_clusters()
    wider = Problem(**{**problem.__dict__, "n_clusters": 3})
    moved = perturb(wider, colours, np.random.default_rng(0))
    assert np.isfinite(moved).all()
    np.testing.assert_array_equal(moved[2], 0)


def test_more_features_than_rows_perturb_within_the_span_of_the_rows():
    problem, colours = two_clusters(d=50)
    moved = perturb(problem, colours, np.random.default_rng(0))
    step = (moved - problem.means(colours)[0])[0]
    rows = problem.rows[:12] - problem.rows[:12].mean(axis=0)
    inside = np.linalg.lstsq(rows.T, step, rcond=None)[0] @ rows
    np.testing.assert_allclose(step, inside, atol=1e-9)
    assert np.linalg.norm(step) > 0


@pytest.mark.parametrize("factor", [1.0, 0.001, 7.0])
def test_equal_weights_of_any_size_perturb_like_none(factor):
    plain = two_clusters()
    weighted = two_clusters(np.full(42, factor))
    np.testing.assert_allclose(draws(*plain, n=5), draws(*weighted, n=5))


def test_rows_of_zero_weight_do_not_count():
    weight = np.ones(42)
    weight[1:12] = 0
    problem, colours = two_clusters(weight)
    moved = perturb(problem, colours, np.random.default_rng(0))
    np.testing.assert_allclose(moved[0], problem.rows[0])
