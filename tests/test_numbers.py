"""Numbers of every size either work or are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from kempe import KempeKMeans
from random_problems import large_problem

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
PAIRS = [(0, 1), (1, 2), (5, 9)]


def fit(data, weights=None):
    model = KempeKMeans(3, random_state=0, max_mutations=20)
    return model.fit(data, cannot_link=PAIRS, sample_weight=weights)


EXPONENTS = [-300, -200, -155, -120, -60, 60, 120, 148, 160, 200, 300]


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("what", ["data", "weights"])
def test_a_scale_works_or_is_refused(what, exponent):
    scale = 2.0 ** round(exponent * np.log2(10))  # so that not a bit may differ
    data = X * scale if what == "data" else X
    weights = np.full(30, scale) if what == "weights" else None
    refusal = "would underflow" if exponent < 0 else "would overflow"
    if abs(exponent) > 149:
        with pytest.raises(ValueError, match=refusal):
            fit(data, weights)
        return
    found, plain = fit(data, weights), fit(X)
    np.testing.assert_array_equal(found.labels_, plain.labels_)
    assert found.inertia_ == plain.inertia_ * (scale**2 if what == "data" else scale)


@pytest.mark.parametrize("extreme", [1e-300, 1e300])
def test_one_weight_that_is_out_of_proportion_is_refused_by_name(extreme):
    with pytest.raises(ValueError, match=r"weight.*(overflow|scale)|(overflow|underflow).*weight"):
        fit(X, np.r_[extreme, np.ones(29)])


def test_weights_far_apart_work(inertia):
    weights = 10.0 ** RNG.uniform(-60, 60, size=30)
    model = fit(X, weights)
    assert model.inertia_ == pytest.approx(inertia(X, model.labels_, weights), rel=1e-9)


def test_constant_data_is_not_too_small():
    assert fit(np.full((30, 2), 1e-200)).inertia_ == 0


def test_a_small_column_beside_an_ordinary_one_is_not_refused():
    small = np.column_stack([X[:, 0], 1e-250 * X[:, 1]])
    np.testing.assert_array_equal(fit(small).labels_, fit(small * [1, 0]).labels_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [-75, 70])
def test_tables_of_chains_do_not_depend_on_the_scale(dtype, exponent):
    """Large data of many features has tables in single precision, which its squares must fit."""
    from kempe import _core
    from kempe.problem import Problem

    problem, colours = large_problem(1, n=20_000, k=4, d=101, n_pairs=30_000, dtype=dtype)
    scaled = Problem.build(
        (problem.rows * dtype(2.0**exponent)).astype(dtype), problem.constraints, n_clusters=4
    )
    found = [
        _core.SequentialSearch(p.core, 4).descend(colours, _core.Stopper())
        for p in (problem, scaled)
    ]
    if dtype is np.float64:
        np.testing.assert_array_equal(*found)
    inertia = [problem.inertia(colours) for colours in found]
    assert inertia[1] == pytest.approx(inertia[0], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_the_inertia_of_a_million_rows_in_single_precision_has_six_digits(offset):
    rng = np.random.default_rng(3)
    data = (rng.normal(size=(1_000_000, 3)) + 5 * rng.integers(3, size=(1_000_000, 1))).astype("f4")
    data += np.float32(offset)
    model = KempeKMeans(3, random_state=0, max_mutations=0).fit(data, cannot_link=[(0, 1)])
    true = np.longdouble(0)
    for cluster in range(3):
        rows = data[model.labels_ == cluster].astype(np.longdouble)
        true += ((rows - rows.mean(axis=0)) ** 2).sum()
    assert abs(model.inertia_ / float(true) - 1) < 1e-6
