"""The estimators that search: what they promise, to users and to scikit-learn."""

from __future__ import annotations

import csv
import logging
import pickle
import time
import warnings
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from kempe import (
    KSKM,
    Constraints,
    InfeasibleConstraintsError,
    KempeKMeans,
    NoSolutionFoundError,
    clusterer,
    data_checks,
    methods,
)
from kempe.engine import MemeticParams
from kempe.rivals import COPKM, PCCC
from kempe.search.callbacks import Callbacks
from kempe.selection import AllRows, pair_scorer

EXPECTED_FAILURES = clusterer.EXPECTED_FAILED_CHECKS


@parametrize_with_checks(
    [
        KempeKMeans(n_clusters=3),
        KSKM(n_clusters=3, max_mutations=3),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_conformity(estimator, check):
    check(estimator)


ESTIMATORS = pytest.mark.parametrize("estimator", [KempeKMeans, KSKM])


def fit(case, estimator=KempeKMeans, **options):
    options = {"n_clusters": case.n_clusters, "random_state": 0, **options}
    return estimator(**options).fit(case.X, constraints=case.constraints)


def clusters(labels):
    """The partition, whatever the clusters are called."""
    return {frozenset(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)}


# What is returned


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cannot_link_only", [False, True])
def test_tiny_problems_are_solved_to_the_optimum(
    seed, cannot_link_only, planted, brute_force_optimum
):
    case = planted(seed, n_rows=9, n_pairs=6, cannot_link_only=cannot_link_only)
    optimum, labels = brute_force_optimum(case.X, case.constraints, 3)
    if labels is None:
        pytest.skip("must-link pairs leave fewer groups than clusters")
    assert fit(case).inertia_ == pytest.approx(optimum)


@pytest.mark.parametrize("weighted_rows", [1, 4])
def test_tiny_weighted_problems_are_solved_to_the_optimum(
    weighted_rows, planted, brute_force_optimum
):
    case = planted(3, n_rows=9, n_pairs=5)
    weights = np.ones(9)
    weights[:weighted_rows] = 7.5
    optimum, _ = brute_force_optimum(case.X, case.constraints, 3, weights)
    model = KempeKMeans(3, random_state=0)
    model.fit(case.X, constraints=case.constraints, sample_weight=weights)
    assert model.inertia_ == pytest.approx(optimum)


@ESTIMATORS
@pytest.mark.parametrize("seed", range(4))
def test_every_pair_holds_and_the_attributes_agree(seed, estimator, planted, violations, inertia):
    case = planted(seed, n_rows=80, n_clusters=5, n_pairs=120, n_features=3)
    model = fit(case, estimator, max_mutations=40)
    assert violations(model.labels_, case.constraints) == []
    assert np.unique(model.labels_).tolist() == list(range(5))
    assert model.inertia_ == pytest.approx(inertia(case.X, model.labels_))
    assert model.labels_.dtype == np.int32
    for c, centre in enumerate(model.cluster_centers_):
        np.testing.assert_allclose(centre, case.X[model.labels_ == c].mean(axis=0))
    assert model.n_iter_ == model.result_.n_mutations + 1
    assert model.n_features_in_ == 3


def test_the_answer_is_never_worse_than_the_hidden_labels(planted, inertia):
    for seed in range(5):
        case = planted(seed, n_pairs=200)
        assert fit(case).inertia_ <= inertia(case.X, case.labels) * (1 + 1e-9)


def test_fit_predict_returns_the_labels_of_fit(planted):
    case = planted()
    model = KempeKMeans(3, random_state=0)
    labels = model.fit_predict(case.X, constraints=case.constraints)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(labels, fit(case).labels_)


def test_as_many_clusters_as_rows_and_one_cluster():
    X = np.random.default_rng(0).normal(size=(6, 2))
    everyone = KempeKMeans(6, random_state=0).fit(X, cannot_link=[(0, 1)])
    assert sorted(everyone.labels_.tolist()) == list(range(6))
    assert everyone.inertia_ == pytest.approx(0, abs=1e-12)
    one = KempeKMeans(1, random_state=0).fit(X, must_link=[(0, 1)])
    assert one.labels_.tolist() == [0] * 6
    assert one.inertia_ == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())


def test_equal_rows_still_fill_every_cluster():
    model = KempeKMeans(3, random_state=0).fit(np.ones((10, 2)), cannot_link=[(0, 1), (1, 2)])
    assert np.unique(model.labels_).size == 3
    assert model.labels_[0] != model.labels_[1] != model.labels_[2]
    assert model.inertia_ == pytest.approx(0)


# Weights


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("linked", [True, False])
def test_a_weight_counts_as_so_many_equal_rows(seed, linked, planted):
    case = planted(seed, n_rows=20, n_pairs=6)
    weights = np.random.default_rng(seed).integers(1, 4, size=20)
    repeated = np.repeat(np.arange(20), weights)
    first = np.concatenate([[0], np.cumsum(weights)[:-1]])
    constraints = case.constraints if linked else Constraints()
    ties = np.column_stack([first[repeated], np.arange(repeated.size)]) if linked else None
    must_link = first[constraints.must_link].reshape(-1, 2)
    if linked:
        must_link = np.concatenate([must_link, ties])
    weighted = KempeKMeans(3, random_state=0, max_mutations=2000)
    weighted.fit(case.X, constraints=constraints, sample_weight=weights)
    other = KempeKMeans(3, random_state=0, max_mutations=2000)
    other.fit(case.X[repeated], must_link=must_link, cannot_link=first[constraints.cannot_link])
    assert weighted.inertia_ == pytest.approx(other.inertia_)
    assert clusters(weighted.labels_) == clusters(other.labels_[first])


def test_rows_without_weight_do_not_matter_but_obey(planted, violations, inertia):
    case = planted(2, n_rows=50, n_pairs=60)
    weights = np.random.default_rng(0).random(50) < 0.5
    model = KempeKMeans(3, random_state=0)
    model.fit(case.X, constraints=case.constraints, sample_weight=weights)
    assert violations(model.labels_, case.constraints) == []
    assert np.isfinite(model.cluster_centers_).all()
    assert model.inertia_ == pytest.approx(inertia(case.X, model.labels_, weights))


@ESTIMATORS
@pytest.mark.parametrize("n_weighted", [1, 2, 4])
def test_fewer_rows_with_weight_than_clusters(estimator, n_weighted):
    X = np.random.default_rng(0).normal(size=(12, 2))
    weights = np.zeros(12)
    weights[:n_weighted] = 1
    model = estimator(4, max_mutations=20, random_state=0)
    model.fit(X, cannot_link=[(0, 1), (5, 6)], sample_weight=weights)
    assert np.unique(model.labels_).size == 4
    assert model.labels_[5] != model.labels_[6]
    assert model.inertia_ == pytest.approx(0, abs=1e-12)


# Data in every form


def test_float32_stays_float32(planted, inertia):
    case = planted(1, dtype=np.float32)
    model = fit(case)
    assert model.cluster_centers_.dtype == np.float32
    assert model.transform(case.X).dtype == np.float32
    assert model.inertia_ == pytest.approx(inertia(case.X, model.labels_), rel=1e-5)
    assert fit(planted(1)).cluster_centers_.dtype == np.float64


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float16, bool])
def test_other_numbers_are_converted_without_loss(dtype):
    X = np.random.default_rng(0).integers(2, size=(30, 4)).astype(dtype)
    model = KempeKMeans(3, random_state=0).fit(X, cannot_link=[(0, 1)])
    exact = KempeKMeans(3, random_state=0).fit(X.astype(np.float64), cannot_link=[(0, 1)])
    assert model.inertia_ == pytest.approx(exact.inertia_, rel=1e-6)


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


@pytest.mark.parametrize(
    "form",
    [
        read_only,
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: X.tolist(),
        lambda X: pd.DataFrame(X, columns=["a", "b"], index=np.arange(len(X))[::-1]),
        lambda X: pl.DataFrame(X, schema=["a", "b"]),
    ],
    ids=["read-only", "Fortran", "strided", "lists", "pandas", "polars"],
)
def test_the_form_of_the_data_does_not_matter(form, planted):
    case = planted(1)
    before = case.X.copy()
    model = KempeKMeans(3, random_state=0).fit(form(case.X), constraints=case.constraints)
    np.testing.assert_array_equal(model.labels_, fit(case).labels_)
    np.testing.assert_array_equal(model.predict(form(case.X)), fit(case).predict(case.X))
    np.testing.assert_array_equal(case.X, before)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_feature_names_are_kept_and_checked(frame):
    columns = {"width": np.arange(9.0), "height": np.arange(9.0) ** 2}
    model = KempeKMeans(2, random_state=0).fit(frame(columns))
    assert model.feature_names_in_.tolist() == ["width", "height"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({"height": columns["height"], "width": columns["width"]}))


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output_gives_frames_with_names(container, planted):
    case = planted()
    model = KempeKMeans(3, random_state=0).set_output(transform=container)
    frame = model.fit(case.X, constraints=case.constraints).transform(case.X)
    assert isinstance(frame, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[container])
    assert list(frame.columns) == ["kempekmeans0", "kempekmeans1", "kempekmeans2"]
    assert model.get_feature_names_out().tolist() == list(frame.columns)


@pytest.mark.parametrize("offset", [1e6, 1e7, 1e8])
@ESTIMATORS
def test_an_offset_of_the_data_changes_nothing(offset, estimator, planted):
    case = planted(4, n_rows=80, n_pairs=80)
    X = np.round(case.X * 64) / 64  # exact at every offset
    near, far = (
        estimator(3, random_state=0, max_mutations=100).fit(data, constraints=case.constraints)
        for data in (X, X + offset)
    )
    assert clusters(near.labels_) == clusters(far.labels_)
    assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-6)
    np.testing.assert_allclose(
        np.sort(far.cluster_centers_ - offset, axis=0),
        np.sort(near.cluster_centers_, axis=0),
        atol=1e-7,
    )


@pytest.mark.parametrize(
    "form",
    [
        list,
        lambda pairs: np.array(pairs, dtype=np.int32),
        lambda pairs: pd.DataFrame(pairs),
        lambda pairs: pl.DataFrame(pairs, orient="row"),
        lambda pairs: sparse.coo_array((np.ones(2), np.transpose(pairs)), shape=(60, 60)),
    ],
    ids=["list", "array", "pandas", "polars", "sparse"],
)
def test_pairs_are_taken_in_every_form(form, planted):
    X = planted().X
    pairs = [(0, 7), (3, 9)]
    labels = KempeKMeans(3, random_state=0).fit(X, cannot_link=form(pairs)).labels_
    assert all(labels[a] != labels[b] for a, b in pairs)
    labels = KempeKMeans(3, random_state=0).fit(X, must_link=form(pairs)).labels_
    assert all(labels[a] == labels[b] for a, b in pairs)


# scikit-learn's machinery


def test_a_fitted_model_survives_pickling(planted):
    case = planted()
    model = fit(case)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.labels_, model.labels_)
    np.testing.assert_array_equal(copy.predict(case.X), model.predict(case.X))
    assert copy.result_.summary() == model.result_.summary()


def test_cloning_keeps_every_parameter():
    init = np.zeros((5, 2))
    model = KempeKMeans(5, params=MemeticParams(), init=init, patience=3, time_limit=2.0, verbose=1)
    copy = clone(model)
    for name, value in model.get_params().items():
        np.testing.assert_array_equal(copy.get_params()[name], value)


def test_a_pipeline_passes_constraints_on_by_the_name_of_the_step(planted, violations):
    case = planted(1)
    model = Pipeline([("scale", StandardScaler()), ("cluster", KempeKMeans(3, random_state=0))])
    model.fit(case.X, cluster__constraints=case.constraints)
    assert violations(model[-1].labels_, case.constraints) == []
    assert model.predict(case.X).shape == (60,)
    assert model.transform(case.X).shape == (60, 3)


def test_a_pipeline_with_metadata_routing_needs_no_request(planted, violations):
    case = planted(1)
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), KempeKMeans(3, random_state=0))
        model.fit(case.X, constraints=case.constraints)
        assert violations(model[-1].labels_, case.constraints) == []
        pairs = {
            "must_link": case.constraints.must_link,
            "cannot_link": case.constraints.cannot_link,
        }
        model.fit(case.X, **pairs)
        assert violations(model[-1].labels_, case.constraints) == []


def test_weights_are_routed_on_request(planted):
    case = planted(1)
    weights = np.arange(60) % 3 + 1.0
    with config_context(enable_metadata_routing=True):
        step = KempeKMeans(3, random_state=0).set_fit_request(sample_weight=True)
        model = make_pipeline(step).fit(case.X, constraints=case.constraints, sample_weight=weights)
    expected = KempeKMeans(3, random_state=0)
    expected.fit(case.X, constraints=case.constraints, sample_weight=weights)
    assert model[-1].inertia_ == expected.inertia_


ROUTING = pytest.mark.parametrize("routing", [False, True])


@ROUTING
def test_a_search_over_all_rows_passes_constraints_untouched(routing, planted, violations):
    # As many pairs as rows: a plain array of pairs would be sliced as if they were rows.
    case = planted(1, n_pairs=200)
    every_row = np.arange(60)
    with config_context(enable_metadata_routing=routing):
        grid = GridSearchCV(
            KempeKMeans(3, random_state=0, max_mutations=5),
            {"n_clusters": [3, 4]},
            cv=[(every_row, every_row)],
            error_score="raise",
        )
        grid.fit(case.X, constraints=case.constraints)
    assert grid.best_params_ == {"n_clusters": 4}
    assert violations(grid.best_estimator_.labels_, case.constraints) == []


@ROUTING
def test_folds_are_refused_when_the_constraints_are_for_all_rows(routing, planted):
    case = planted(1)
    constraints = Constraints(case.constraints.must_link, case.constraints.cannot_link, n_rows=60)
    with config_context(enable_metadata_routing=routing):
        grid = GridSearchCV(
            KempeKMeans(3, max_mutations=0), {"n_init": [1]}, cv=3, error_score="raise"
        )
        with pytest.raises(ValueError, match=r"refer to 60 rows but the data has 40.*subset"):
            grid.fit(case.X, constraints=constraints)


def test_new_rows_go_to_the_nearest_centre(planted):
    case = planted()
    model = fit(case)
    new = np.random.default_rng(5).normal(size=(20, 2))
    distances = euclidean_distances(new, model.cluster_centers_)
    np.testing.assert_allclose(model.transform(new), distances)
    np.testing.assert_array_equal(model.predict(new), distances.argmin(axis=1))
    assert model.score(new) == pytest.approx(-(distances.min(axis=1) ** 2).sum())
    weights = np.arange(20)
    weighted = -(weights * distances.min(axis=1) ** 2).sum()
    assert model.score(new, sample_weight=weights) == pytest.approx(weighted)


def test_without_constraints_the_score_of_the_training_rows_is_the_inertia(planted):
    X = planted().X
    model = KempeKMeans(3, random_state=0).fit(X)
    assert model.score(X) == pytest.approx(-model.inertia_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("plain", "serial"), [(10**9, 10**9), (0, 10**9), (0, 0)])
def test_new_rows_get_the_same_answers_however_they_are_computed(
    plain, serial, dtype, planted, monkeypatch
):
    case = planted(2, n_rows=60, n_features=5, dtype=dtype)
    model = fit(case)
    new = np.random.default_rng(1).normal(scale=4, size=(30, 5)).astype(dtype)
    squares = ((new[:, None].astype(float) - model.cluster_centers_) ** 2).sum(axis=2)
    monkeypatch.setattr(clusterer, "PLAIN_UP_TO", plain)
    monkeypatch.setattr(clusterer, "SERIAL_UP_TO", serial)
    np.testing.assert_array_equal(model.predict(new), squares.argmin(axis=1))
    np.testing.assert_allclose(model.transform(new), np.sqrt(squares), rtol=1e-4)
    assert model.transform(new).dtype == dtype
    assert model.score(new) == pytest.approx(-squares.min(axis=1).sum(), rel=1e-4)


def test_one_row_wakes_no_thread(planted):
    """OpenMP and BLAS would, and where the cores are busy that takes a thousand times longer."""
    case = planted(2, n_rows=60)
    model = fit(case)
    before, cpu = time.thread_time(), time.process_time()
    for _ in range(300):
        model.predict(case.X[:1])
    here, everywhere = time.thread_time() - before, time.process_time() - cpu
    assert everywhere < 1.2 * here + 0.01


@pytest.mark.parametrize(
    ("X", "advice"),
    [
        (sparse.random(60, 9, random_state=0, format="csr"), "TruncatedSVD"),
        (sparse.coo_array(np.eye(4)), "toarray"),
    ],
)
def test_sparse_data_is_refused_with_a_way_out(X, advice):
    with pytest.raises(TypeError, match=advice):
        KempeKMeans(2).fit(X)


def test_a_lazy_frame_is_refused_with_a_way_out():
    lazy = pl.DataFrame({"a": [1.0, 2.0, 3.0]}).lazy()
    with pytest.raises(TypeError, match=r"pass X\.collect\(\)"):
        KempeKMeans(2).fit(lazy)
    assert KempeKMeans(2).fit(lazy.collect()).labels_.size == 3


def test_pairs_of_names_are_refused_with_a_way_out():
    with pytest.raises(TypeError, match="from_ids"):
        KempeKMeans(2).fit(np.eye(3), must_link=[("ann", "bob")])


@ESTIMATORS
def test_fewer_distinct_rows_than_clusters_are_warned_of_as_by_scikit_learn(estimator):
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct rows \(2\) is smaller") as warned:
        model = estimator(3, random_state=0).fit(X)
    assert warned[0].filename == __file__
    assert model.inertia_ == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(2, random_state=0).fit(X)


def test_every_fit_of_too_few_distinct_rows_is_warned_of():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            KempeKMeans(3, random_state=0).fit(np.zeros((10, 2)))
    assert [warning.category for warning in caught] == 3 * [ConvergenceWarning]
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("at_once", [1, 7, 4096])
@pytest.mark.parametrize("n_distinct", [1, 3, 40])
def test_distinct_rows_are_counted_as_far_as_needed(at_once, n_distinct, monkeypatch):
    monkeypatch.setattr(data_checks, "_DISTINCT_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    kinds = np.concatenate([np.arange(n_distinct), np.zeros(200, dtype=int)])
    data = rng.normal(size=(n_distinct, 3))[rng.permutation(kinds)]
    assert data_checks.count_distinct(data, 50) == n_distinct
    assert data_checks.count_distinct(data, n_distinct) == n_distinct
    assert data_checks.count_distinct(data, 2) >= min(2, n_distinct)


def test_zeros_of_either_sign_are_one_number():
    assert data_checks.count_distinct(np.array([[0.0, 1.0], [-0.0, 1.0]]), 2) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_table_of_floats_is_taken_as_it_is_and_as_scikit_learn_would(dtype):
    model, X = KempeKMeans(), np.random.default_rng(0).normal(size=(6, 4)).astype(dtype)
    large = np.full((6, 4), np.finfo(dtype).max, dtype)  # finite, but the sum is not
    for table in (X, large):
        assert model._validate_rows(table, reset=True) is table
    others = (X[:, ::2], np.asfortranarray(X), X.astype(X.dtype.newbyteorder()), X.tolist())
    for table in others:
        rows = model._validate_rows(table, reset=True)
        assert rows.flags.c_contiguous
        assert rows.dtype in (np.float32, np.float64)
        np.testing.assert_array_equal(rows, table)


def test_a_table_without_names_makes_a_model_forget_those_of_a_frame():
    X = np.arange(12.0).reshape(6, 2)
    model = KempeKMeans(2, random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    assert not hasattr(model.fit(X), "feature_names_in_")
    with pytest.raises(ValueError, match="X has 1 features, but KempeKMeans is expecting 2"):
        model.predict(X[:, :1].copy())


@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1, np.int64(7), np.uint8(3)])
def test_a_number_seeds_as_it_does_in_scikit_learn(seed):
    drawn = [clusterer._drawn_by(seed) for _ in range(2)]
    assert drawn == [check_random_state(seed).randint(2**31 - 1)] * 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (1023, 1), (1025, 1), (700, 4), (5, 2000)])
def test_ranges_of_features_are_those_of_their_columns(shape, dtype):
    data = np.random.default_rng(0).normal(size=shape).astype(dtype)
    low, high = data_checks.feature_ranges(data)
    assert np.array_equal(low, data.min(axis=0))
    assert np.array_equal(high, data.max(axis=0))


@pytest.mark.parametrize("name", methods.names())
def test_defaults_are_among_the_values_that_are_allowed(name):
    """A fit does not check what has its default."""
    estimator = type(methods.create(name, 3))()
    BaseEstimator._validate_params(estimator)


def test_a_class_made_of_another_has_parameters_of_its_own():
    class Narrower(KempeKMeans):
        def __init__(self, n_clusters=8):
            super().__init__(n_clusters)

    assert set(KempeKMeans().get_params()) > {"n_clusters", "n_jobs"}
    assert Narrower(3).get_params() == {"n_clusters": 3}
    with pytest.raises(ValueError, match=r"Valid parameters are: \['n_clusters'\]"):
        Narrower().set_params(n_jobs=2)


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_nothing_works_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(KempeKMeans(), method)(np.zeros((3, 2)))


# Parameters


def spelled(options):
    """Name of a test case, the same in every process."""
    plain = (str, int, float, type(None))
    values = {k: v if isinstance(v, plain) else type(v).__name__ for k, v in options.items()}
    return ",".join(f"{name}={value}" for name, value in values.items())


COMMON_VALUES = [
    {"init": "k-means++"},
    {"init": "random"},
    {"n_init": 3},
    {"max_mutations": 0},
    {"patience": 3},
    {"time_limit": 0.05},
    {"target_inertia": 0.0},
    {"target_inertia": 1e9},
    {"stop": lambda state: state.iteration > 3},
    {"random_state": np.random.RandomState(3)},
    {"random_state": None},
    {"verbose": 1},
    {"verbose": 2},
    {"callbacks": []},
]
OWN_VALUES = [
    {"max_mutations": None},
    {"params": MemeticParams(population_size=2)},
    {"params": MemeticParams(annealing=True, annealed_population_size=4)},
    {"params": MemeticParams(exhaustive_start=False)},
    {"n_jobs": 1},
    {"n_jobs": 2},
    {"n_jobs": -1},
]
KSKM_VALUES = [
    *({"mwis": method} for method in ("greedy", "spectral", "exact")),
    {"three_colour": True},
    *({"relocation": kind} for kind in ("replace", "reposition", "kmeans", "sdp")),
    {"perturbation": 0.0},
    {"perturbation": 1.0},
    {"alpha": 0.3, "perturbation": 0.0},
    {"failures_before_return": 1},
    {"exact": True},
    {"exact": "highs"},
    {"exact": "cpsat"},
    {"exact": "gurobi"},
]


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        *((KempeKMeans, options) for options in COMMON_VALUES + OWN_VALUES),
        *((KSKM, options) for options in COMMON_VALUES + KSKM_VALUES),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else spelled(value),
)
def test_every_value_of_every_parameter_works(estimator, options, planted, violations, inertia):
    case = planted(2, n_rows=40, n_pairs=30)
    model = fit(case, estimator, **{"max_mutations": 12, **options})
    assert violations(model.labels_, case.constraints) == []
    assert model.inertia_ == pytest.approx(inertia(case.X, model.labels_))


COMMON_NONSENSE = [
    {"n_clusters": 0},
    {"n_clusters": 2.5},
    {"init": "kmeans"},
    {"n_init": 0},
    {"max_mutations": -1},
    {"patience": 0},
    {"time_limit": 0},
    {"time_limit": -1.0},
    {"target_inertia": "low"},
    {"stop": 5},
    {"callbacks": 5},
]
KSKM_NONSENSE = [
    {"max_mutations": None},
    {"mwis": "lazy"},
    {"relocation": "teleport"},
    {"perturbation": 1.5},
    {"alpha": 0.0},
    {"failures_before_return": 0},
    {"three_colour": "yes"},
    {"exact": "cplex"},
]


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        *((KempeKMeans, o) for o in [*COMMON_NONSENSE, {"n_jobs": 1.5}, {"params": {}}]),
        *((KSKM, options) for options in COMMON_NONSENSE + KSKM_NONSENSE),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else spelled(value),
)
def test_values_that_make_no_sense_are_refused_by_name(estimator, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"'{name}' parameter of {estimator.__name__}"):
        estimator(**options).fit(np.zeros((10, 2)))


def test_given_centroids_start_the_search():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    model = KempeKMeans(2, init=[[0.0], [10.0]], max_mutations=0, random_state=0).fit(X)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    model = KempeKMeans(2, init=[[10.0], [0.0]], max_mutations=0, random_state=0).fit(X)
    assert model.labels_.tolist() == [1, 1, 0, 0]


@ESTIMATORS
@pytest.mark.parametrize(
    ("init", "message"),
    [
        ([[0.0], [1.0]], r"init must have shape \(2, 2\), got \(2, 1\)"),
        ([[0.0, 1.0]], r"init must have shape \(2, 2\), got \(1, 2\)"),
        ([[0.0, np.nan], [1.0, 1.0]], "init contains NaN or infinity"),
    ],
)
def test_centroids_that_do_not_fit_are_refused(init, message, estimator):
    with pytest.raises(ValueError, match=message):
        estimator(2, init=init).fit(np.eye(4)[:, :2])


def test_more_starts_give_the_best_of_them(planted):
    case = planted(6, n_rows=200, n_clusters=15, n_pairs=150)
    single = [fit(case, max_mutations=0, n_init=count).inertia_ for count in range(1, 6)]
    assert (np.diff(single) <= 1e-12).all()
    assert single[-1] < single[0]


def test_the_time_limit_covers_all_starts_together(planted):
    case = planted(6, n_rows=400, n_clusters=6, n_pairs=60)
    log = Log()
    model = fit(case, n_init=10, time_limit=0.3, max_mutations=10**9, callbacks=log)
    assert log.calls.count("on_start") == 1
    assert model.result_.stop_reason == "time_limit"


def test_no_further_start_is_made_once_the_target_is_met_or_the_user_interrupts(planted):
    class Impatient(Log):
        def on_best(self, state):
            raise KeyboardInterrupt

    for log, options in ((Log(), {"target_inertia": 1e9}), (Impatient(), {})):
        for estimator in (KempeKMeans, KSKM):
            log.calls.clear()
            fit(planted(), estimator, n_init=5, callbacks=log, **options)
            assert log.calls.count("on_start") == log.calls.count("on_end") == 1


def test_a_seed_gives_one_result_whatever_the_number_of_threads(planted):
    case = planted(7, n_rows=100, n_clusters=6, n_pairs=150)
    first, *others = (fit(case, n_jobs=n_jobs) for n_jobs in (None, 1, 2, 4))
    for other in others:
        np.testing.assert_array_equal(other.labels_, first.labels_)
        assert other.inertia_ == first.inertia_
        assert other.n_iter_ == first.n_iter_


def test_a_model_can_be_fitted_again(planted):
    one, other = planted(1), planted(2, n_features=4)
    model = KempeKMeans(3, random_state=0).fit(one.X, constraints=one.constraints)
    model.fit(other.X, constraints=other.constraints)
    np.testing.assert_array_equal(model.labels_, fit(other).labels_)
    assert model.n_features_in_ == 4


def test_the_search_is_silent_unless_asked(planted, capfd, caplog):
    with caplog.at_level(logging.DEBUG):
        fit(planted())
    output = capfd.readouterr()
    assert output.out == output.err == ""
    assert not caplog.records


def test_verbose_two_logs_every_new_best(planted, caplog):
    with caplog.at_level(logging.INFO):
        model = fit(planted(), verbose=2)
    assert caplog.records
    assert f"{model.inertia_:.3f}"[:5] in caplog.text


@dataclass
class Log(Callbacks):
    calls: list = field(default_factory=list)

    def on_start(self, problem):
        self.calls.append("on_start")

    def on_iteration(self, state):
        self.calls.append("on_iteration")

    def on_best(self, state):
        self.calls.append("on_best")

    def on_end(self, result):
        self.calls.append("on_end")


@pytest.mark.parametrize("several", [False, True])
@ESTIMATORS
def test_callbacks_are_called_in_turn(several, estimator, planted):
    logs = [Log(), Log()]
    model = fit(planted(), estimator, callbacks=logs if several else logs[0])
    calls = logs[0].calls
    assert (calls[0], calls[1], calls[2], calls[-1]) == (
        "on_start",
        "on_iteration",
        "on_best",
        "on_end",
    )
    assert calls.count("on_iteration") == len(model.result_.statistics.rows())
    assert logs[1].calls == (calls if several else [])


@pytest.mark.parametrize("name", methods.names())
def test_callbacks_end_with_the_result_that_the_model_has(name, planted):
    class Last(Callbacks):
        def on_end(self, result):
            self.result = result

    case = planted(3, n_rows=40, n_pairs=20)
    last = Last()
    options = {"max_generations": 1} if name == "S_MDEClust" else {}
    model = methods.create(name, 3, random_state=1, callbacks=last, **options)
    model.fit(case.X, constraints=case.constraints)
    assert last.result.solution is model.result_.solution
    assert last.result.statistics is model.result_.statistics


class StopAfter(Callbacks):
    def __init__(self, solutions):
        self.left = solutions

    def on_iteration(self, state):
        self.left -= 1
        return self.left <= 0


@pytest.mark.parametrize("solutions", [1, 3])
@ESTIMATORS
def test_a_callback_can_end_the_search_and_all_that_would_follow(estimator, solutions, planted):
    case = planted()
    rule = StopAfter(solutions)
    model = fit(case, estimator, callbacks=[Log(), rule], n_init=3)
    assert model.result_.stop_reason == "callback"
    assert len(model.result_.statistics.rows()) == solutions
    assert rule.left == 0


def test_the_result_tells_how_the_search_went(planted, tmp_path):
    model = fit(planted(), KSKM, max_mutations=7)
    summary = model.result_.summary()
    assert "7, ended as planned" in summary
    assert "supernodes" in summary
    path = tmp_path / "history.csv"
    model.result_.to_csv(path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert float(rows[-1]["best_inertia"]) == pytest.approx(model.inertia_)
    assert rows[0]["kind"] == "start"


# Bad input


def test_contradictory_pairs_are_named():
    with pytest.raises(InfeasibleConstraintsError, match=r"contradict.*0.*2") as raised:
        KempeKMeans(2).fit(np.eye(4), must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    assert raised.value.certificate.verify(Constraints([(0, 1), (1, 2)], [(0, 2)]))


@pytest.mark.parametrize("name", ["must_link", "cannot_link"])
@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([(0, 4)], ValueError, r"pair 0, \(0, 4\): row 4 is out of range for 4 rows"),
        ([(0, 1), (-1, 2)], ValueError, r"pair 1, \(-1, 2\): row -1 is negative"),
        ([0, 1, 2], ValueError, r"shape \(m, 2\), got shape \(3,\)"),
        ([(0, 1, 2)], ValueError, r"shape \(m, 2\), got shape \(1, 3\)"),
        ([(0, 1.5)], TypeError, "whole row numbers; pair 0"),
        ([("a", "b")], TypeError, "must hold row numbers"),
        ([(True, False)], TypeError, "must hold row numbers, got bool"),
        (sparse.eye_array(3, 4), ValueError, "square"),
        (sparse.csr_array(np.eye(5, k=1)), ValueError, "refer to 5 rows but the data has 4"),
    ],
    ids=["range", "negative", "flat", "triples", "fractions", "text", "bool", "oblong", "size"],
)
def test_pairs_that_make_no_sense_are_named(name, pairs, error, message):
    with pytest.raises(error, match=message):
        KempeKMeans(2).fit(np.eye(4), **{name: pairs})


def test_a_row_cannot_be_apart_from_itself():
    with pytest.raises(ValueError, match=r"cannot_link pair 0 is \(1, 1\)"):
        KempeKMeans(2).fit(np.eye(4), cannot_link=[(1, 1)])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"constraints": [(0, 1)]}, TypeError, "must be a kempe.Constraints, got list"),
        ({"constraints": Constraints(), "must_link": [(0, 1)]}, ValueError, "not both"),
        ({"must_link": Constraints(), "cannot_link": Constraints()}, ValueError, "twice"),
        ({"constraints": Constraints(n_rows=9)}, ValueError, "refer to 9 rows but the data has 4"),
    ],
)
def test_constraints_are_given_once_and_fit_the_data(arguments, error, message):
    with pytest.raises(error, match=message):
        KempeKMeans(2).fit(np.eye(4), **arguments)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.0, np.nan], [1.0, 2.0]], "NaN"),
        ([[0.0, np.inf], [1.0, 2.0]], "infinity"),
        (np.array([[0.0, np.nan], [1.0, 2.0]]), "NaN"),
        (np.array([[0.0, np.inf], [1.0, 2.0]]), "infinity"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((5, 0)), "0 feature"),
        ([1.0, 2.0, 3.0], "1D array"),
        (np.zeros((2, 2, 2)), "dim 3"),
        ([["a", "b"], ["c", "d"]], "could not convert"),
        (np.array([[1j, 2], [3, 4]]), "Complex"),
        (np.zeros((3, 2)), "n_samples=3 should be at least n_clusters=5"),
    ],
)
def test_data_that_makes_no_sense_is_refused(X, message):
    n_clusters = 5 if "n_clusters" in message else 2
    with pytest.raises(ValueError, match=message):
        KempeKMeans(n_clusters).fit(X)


@pytest.mark.parametrize("scale", [1e150, 1e300])
def test_numbers_whose_squares_overflow_are_refused_with_advice(scale):
    with pytest.raises(ValueError, match=r"the inertia would overflow.*scale them"):
        KempeKMeans(2).fit(np.eye(4) * scale)


def test_callbacks_must_be_callbacks():
    with pytest.raises(TypeError, match="callbacks must be"):
        KempeKMeans(2, callbacks=[print]).fit(np.eye(4))


def test_sparse_data_is_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        KempeKMeans(2).fit(sparse.csr_array(np.eye(4)))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], "sample_weight"),
        ([1.0, -1.0, 1.0, 1.0], "[Nn]egative"),
        ([1.0, np.nan, 1.0, 1.0], "NaN"),
        ([0.0] * 4, "zero"),
        ([1e307] * 4, "overflow"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        KempeKMeans(2).fit(np.eye(4), sample_weight=weights)


def test_fewer_groups_than_clusters_are_refused():
    with pytest.raises(ValueError, match="leave 2 groups of rows, fewer than n_clusters=3"):
        KempeKMeans(3).fit(np.eye(4), must_link=[(0, 1), (2, 3)])


@pytest.mark.parametrize("model", [KempeKMeans(3), KSKM(3, exact=True)])
def test_a_clique_of_more_rows_than_clusters_is_infeasible(model):
    clique = np.column_stack(np.triu_indices(4, 1))
    with pytest.raises(InfeasibleConstraintsError, match="4 rows 0, 1, 2, 3"):
        model.fit(np.eye(6), cannot_link=clique)


def test_an_odd_cycle_is_infeasible_for_two_clusters_and_feasible_for_three():
    cycle = [(i, (i + 1) % 5) for i in range(5)]
    X = np.random.default_rng(0).normal(size=(8, 2))
    for model in (KempeKMeans(2), KSKM(2, exact=True)):
        with pytest.raises(InfeasibleConstraintsError) as error:
            model.fit(X, cannot_link=cycle)
        assert error.value.certificate.verify(Constraints(cannot_link=cycle), 2)
    for model in (KempeKMeans(2, params=MemeticParams(exhaustive_start=False)), KSKM(2)):
        with pytest.raises(NoSolutionFoundError, match="may nevertheless exist"):
            model.fit(X, cannot_link=cycle)
    labels = KempeKMeans(3).fit(X, cannot_link=cycle).labels_
    assert all(labels[a] != labels[b] for a, b in cycle)


def test_nothing_is_fitted_when_fit_fails():
    model = KempeKMeans(2)
    with pytest.raises(InfeasibleConstraintsError):
        model.fit(np.eye(4), must_link=[(0, 1)], cannot_link=[(0, 1)])
    with pytest.raises(NotFittedError):
        model.predict(np.eye(4))


@ROUTING
@pytest.mark.parametrize("form", ["pairs", "as many pairs as rows", "constraints without rows"])
def test_folds_are_refused_when_pairs_do_not_know_their_rows(routing, form, planted):
    X = planted(1).X
    pairs = {
        "pairs": {"cannot_link": [(0, 59)]},
        "as many pairs as rows": {
            "cannot_link": np.column_stack([np.arange(60), np.arange(60) - 1])
        },
        "constraints without rows": {"constraints": Constraints([(0, 1)])},
    }[form]
    if form.startswith("as many"):
        pairs["cannot_link"][0] = (0, 59)
    with config_context(enable_metadata_routing=routing):
        grid = GridSearchCV(
            KempeKMeans(5, max_mutations=0), {"n_init": [1]}, cv=3, error_score="raise"
        )
        with pytest.raises(ValueError, match=r"some of the rows.*AllRows.*pair_scorer.*subset"):
            grid.fit(X, **pairs)
        with pytest.raises(ValueError, match="some of the rows"):
            cross_val_predict(KempeKMeans(5, max_mutations=0), X, cv=3, params=pairs)


@ROUTING
def test_what_the_message_shows_works(routing, planted):
    case = planted(1)
    ml, cl = case.constraints.must_link, case.constraints.cannot_link
    fitting, scoring = Constraints(ml, cl).split(0.2, random_state=0)
    with config_context(enable_metadata_routing=routing):
        grid = GridSearchCV(
            KempeKMeans(3, max_mutations=0),
            {"n_clusters": [3, 4]},
            cv=AllRows(),
            scoring=pair_scorer(scoring),
            error_score="raise",
        )
        grid.fit(case.X, constraints=fitting)
    assert grid.n_splits_ == 1
    assert grid.best_params_["n_clusters"] in (3, 4)


def test_folds_without_pairs_are_no_problem(planted):
    grid = GridSearchCV(KempeKMeans(3, max_mutations=0), {"n_init": [1]}, cv=3, error_score="raise")
    grid.fit(planted(1).X)


PARTIAL = {
    "-1": [0, 1, -1, 0, 1, -1],
    "NaN": [0.0, 1.0, np.nan, 0.0, np.nan, 1.0],
    "None": np.array(["a", "b", None, "a", "b", None], dtype=object),
}


@pytest.mark.parametrize("y", PARTIAL.values(), ids=PARTIAL)
@pytest.mark.parametrize("method", [KempeKMeans, KSKM, PCCC, COPKM])
def test_partial_labels_are_not_ignored_without_a_word(method, y):
    X = np.arange(12.0).reshape(6, 2)
    with pytest.warns(UserWarning, match=r"y is ignored.*constraints=Constraints.from_labels\(y\)"):
        method(2).fit(X, y)


@pytest.mark.parametrize("y", [None, [0, 1, 0, 1, 0, 1], [-1, 1, -1, 1, 1, -1], list("ababab")])
def test_whole_labels_are_ignored_in_silence(y):
    X = np.arange(12.0).reshape(6, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KempeKMeans(2).fit(X, y)
        KempeKMeans(2).fit(X, PARTIAL["-1"], constraints=Constraints.from_labels(PARTIAL["-1"]))
