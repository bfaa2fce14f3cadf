"""Whatever the chunks, the answer is that of one machine."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest

import kempe
from batches import in_batches
from dask_cases import Case
from kempe.dask import KempeKMeans

CHUNKS = [(1200,), (600, 600), (500, 1, 0, 699), (200,) * 6]


def on_one_machine(case, **weights):
    """One descent on one machine, in which free rows move all at once."""
    model = kempe.KempeKMeans(case.k, init=case.init, max_mutations=0)
    with in_batches():
        return model.fit(case.X, **case.pairs, **weights)


def on_cluster(case, rows, **arguments):
    model = KempeKMeans(case.k, init=case.init, max_mutations=0, gather_up_to=0)
    return model.fit(rows, **case.pairs, **arguments)


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("n_pairs", [60, 300])  # few pairs, and so many that they count as dense
def test_one_descent_ends_where_that_of_one_machine_ends(chunks, n_pairs):
    case = Case(1, n_pairs=n_pairs)
    expected = on_one_machine(case)
    found = on_cluster(case, da.from_array(case.X, chunks=(chunks, 3)))
    assert found.inertia_ == pytest.approx(expected.inertia_, rel=1e-9)
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_)
    np.testing.assert_allclose(found.cluster_centers_, expected.cluster_centers_, rtol=1e-9)
    assert found.labels_.chunks == (chunks,)


@pytest.mark.usefixtures("client")
def test_two_workers_end_where_one_machine_ends(case):
    expected = on_one_machine(case)
    found = on_cluster(case, da.from_array(case.X, chunks=(500, 3)))
    assert found.inertia_ == pytest.approx(expected.inertia_, rel=1e-9)
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_)


@pytest.mark.parametrize("seed", range(4))
def test_weights_count_as_on_one_machine(seed):
    case = Case(seed)
    weight = np.random.default_rng(seed).integers(4, size=len(case.X)).astype(float)
    expected = on_one_machine(case, sample_weight=weight)
    rows = da.from_array(case.X, chunks=(500, 3))
    found = on_cluster(case, rows, sample_weight=da.from_array(weight, chunks=300))
    assert found.inertia_ == pytest.approx(expected.inertia_, rel=1e-9)
    counts = weight > 0  # any cluster is right for the others
    np.testing.assert_array_equal(found.labels_.compute()[counts], expected.labels_[counts])


def test_data_that_fits_is_clustered_as_on_one_machine(case):
    expected = kempe.KempeKMeans(case.k, random_state=3).fit(case.X, **case.pairs)
    rows = da.from_array(case.X, chunks=(500, 3))
    found = KempeKMeans(case.k, random_state=3).fit(rows, **case.pairs)
    assert found.inertia_ == expected.inertia_
    np.testing.assert_array_equal(found.labels_.compute(), expected.labels_)
    assert found.labels_.chunks == ((500, 500, 200),)


def test_the_inertia_is_that_of_the_labels_about_their_means(case):
    found = on_cluster(case, da.from_array(case.X, chunks=(500, 3)))
    labels = found.labels_.compute()
    means = np.array([case.X[labels == c].mean(axis=0) for c in range(case.k)])
    np.testing.assert_allclose(found.cluster_centers_, means)
    assert found.inertia_ == pytest.approx(np.sum((case.X - means[labels]) ** 2), rel=1e-12)
    violated = kempe.Constraints(**case.pairs).violations(labels)
    assert not len(violated.must_link)
    assert not len(violated.cannot_link)


@pytest.mark.parametrize("seed", range(3))
def test_a_descent_ends_where_no_single_row_would_lower_the_inertia(seed):
    case = Case(seed, n_rows=300, n_pairs=10)
    labels = on_cluster(case, da.from_array(case.X, chunks=(100, 3))).labels_.compute()
    best = inertia(case.X, labels)
    pairs = kempe.Constraints(**case.pairs)
    for row in range(len(case.X)):
        for cluster in range(case.k):
            other = labels.copy()
            other[row] = cluster
            violated = pairs.violations(other)
            if not len(violated.must_link) and not len(violated.cannot_link):
                assert inertia(case.X, other) >= best * (1 - 1e-12)


def inertia(X, labels):
    return sum(len(g) * g.var(axis=0).sum() for c in set(labels) for g in [X[labels == c]])


def test_clusters_far_from_the_origin_keep_their_digits(case):
    near = on_cluster(case, da.from_array(case.X, chunks=(500, 3)))
    case.X = case.X + 1e6
    case.init = case.init + 1e6
    far = on_cluster(case, da.from_array(case.X, chunks=(500, 3)))
    assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-8)


@pytest.mark.parametrize("pairs", [True, False])
@pytest.mark.parametrize("chunk", [1200, 500, 90])
def test_a_start_that_leaves_clusters_empty_ends_with_none(case, pairs, chunk):
    case.init = np.concatenate([case.init[:2], np.full((3, 3), [[99.0], [98.0], [97.0]])])
    if not pairs:
        case.must_link = case.cannot_link = None
    found = on_cluster(case, da.from_array(case.X, chunks=(chunk, 3)))
    np.testing.assert_array_equal(found.labels_.compute(), on_one_machine(case).labels_)
    assert set(found.labels_.compute()) == set(range(case.k))


@pytest.mark.parametrize("max_mutations", [0, None])
def test_equal_rows_are_divided_somehow(max_mutations):
    rows = da.ones((60, 2), chunks=(20, 2))
    model = KempeKMeans(4, max_mutations=max_mutations, gather_up_to=0, random_state=0)
    labels = model.fit(rows, cannot_link=[(0, 1), (1, 2)]).labels_.compute()
    assert set(labels) == set(range(4))
    assert model.inertia_ == pytest.approx(0, abs=1e-12)
    assert labels[0] != labels[1] != labels[2]


def test_single_precision_is_read_as_it_is(case):
    case.X = case.X.astype(np.float32)
    found = on_cluster(case, da.from_array(case.X, chunks=(500, 3)))
    assert found.cluster_centers_.dtype == np.float32
    assert found.inertia_ == pytest.approx(on_one_machine(case).inertia_, rel=1e-7)
