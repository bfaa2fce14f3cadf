"""Searches over summaries, and starts that are drawn from parts."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest

import kempe
from dask_cases import Case
from kempe.dask import KempeKMeans
from kempe.dask.cells import Cells, divided, summary
from kempe.dask.parts import Parts
from kempe.dask.rows import PartedRows
from kempe.dask.seeding import drawn_centroids
from kempe.search import Callbacks


def parts_of(X, rows=300):
    return Parts.of(da.from_array(X, chunks=(rows, X.shape[1])))


@pytest.mark.parametrize("n_cells", [5, 100, 5000])
def test_a_search_over_summaries_is_nearly_as_good_as_one_over_rows(case, n_cells):
    expected = kempe.KempeKMeans(case.k, random_state=0).fit(case.X, **case.pairs)
    model = KempeKMeans(case.k, random_state=0, gather_up_to=0, n_cells=n_cells)
    model.fit(da.from_array(case.X, chunks=(300, 3)), **case.pairs)
    assert model.inertia_ < expected.inertia_ * (1.05 if n_cells == 5 else 1.01)
    kinds = model.result_.statistics.kind
    assert kinds[0] == "start"
    assert kinds[-1] == "descend"
    assert model.n_iter_ == model.result_.n_mutations + 1
    violated = kempe.Constraints(**case.pairs).violations(model.labels_.compute())
    assert not len(violated.must_link)
    assert not len(violated.cannot_link)


@pytest.mark.parametrize("n_cells", [10, 400])
def test_no_more_cells_are_searched_than_wanted(case, n_cells):
    sizes = []

    class Watch(Callbacks):
        def on_start(self, problem):
            sizes.append(problem.n_supernodes)

    model = KempeKMeans(
        case.k, max_mutations=1, gather_up_to=0, n_cells=n_cells, callbacks=Watch(), random_state=0
    )
    model.fit(da.from_array(case.X, chunks=(300, 3)), cannot_link=[(0, 1)])
    assert sizes[0] == 2 + n_cells


def test_data_is_gathered_up_to_a_size(case):
    rows = da.from_array(case.X, chunks=(300, 3))
    for limit, gathered in ((case.X.nbytes, True), (case.X.nbytes - 1, False)):
        model = KempeKMeans(case.k, max_mutations=0, gather_up_to=limit, random_state=0).fit(rows)
        assert ("descend" not in model.result_.statistics.kind) == gathered


def test_searches_from_several_starts_keep_the_best():
    case = Case(0, k=12)
    rows = da.from_array(case.X, chunks=(300, 3))

    def inertia(n_init):
        model = KempeKMeans(
            case.k, init="random", max_mutations=0, gather_up_to=0, n_init=n_init, random_state=5
        )
        return model.fit(rows, **case.pairs).inertia_

    assert inertia(6) < inertia(1)


def test_cells_weigh_what_they_stand_for():
    case = Case(3)
    free = PartedRows(parts_of(case.X), np.arange(0, 1200, 3), np.zeros(3))
    cells = summary(free, 90)
    kept = np.delete(case.X, np.arange(0, 1200, 3), axis=0)
    assert len(cells.weight) == 90
    assert cells.weight.sum() == len(kept)
    mean = cells.weight @ cells.points / len(kept)
    np.testing.assert_allclose(mean, kept.mean(axis=0))
    between = cells.weight @ ((cells.points - mean) ** 2).sum(axis=1)
    assert between + cells.within == pytest.approx(((kept - mean) ** 2).sum())


def test_more_cells_are_smaller():
    X = Case(3).X
    within = [divided(X, np.ones(len(X)), most).within for most in (1, 10, 100, 1200)]
    assert within == sorted(within, reverse=True)
    assert within[-1] == 0


def test_equal_rows_are_one_cell():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 50, axis=0)
    cells = divided(X, np.ones(100), 10)
    assert sorted(map(tuple, cells.points)) == [(0.0, 1.0), (2.0, 3.0)]
    assert cells.weight.tolist() == [50, 50]
    merged = Cells.merged([cells, divided(X[:0], np.ones(0), 10)], 10)
    assert merged.weight.tolist() == [50, 50]


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_what_is_drawn_does_not_depend_on_the_chunks(init):
    X = Case(2).X
    drawn = [
        drawn_centroids(parts_of(X, rows), np.zeros(3), init, 5, np.random.default_rng(1))
        for rows in (1200, 300, 70)
    ]
    for other in drawn[1:]:
        np.testing.assert_array_equal(drawn[0], other)
    assert all((centroid == X).all(axis=1).any() for centroid in drawn[0])
    again = drawn_centroids(parts_of(X), np.zeros(3), init, 5, np.random.default_rng(2))
    assert not np.array_equal(drawn[0], again)


def test_parallel_seeds_start_lower_than_random_rows():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    X[:20] += 50  # a small group far away, which rows at random nearly always miss

    def cost(init, seed):
        rng = np.random.default_rng(seed)
        centroids = drawn_centroids(parts_of(X), np.zeros(2), init, 4, rng)
        return ((X[:, None] - centroids) ** 2).sum(axis=2).min(axis=1).sum()

    assert max(cost("k-means++", seed) for seed in range(5)) < np.median(
        [cost("random", seed) for seed in range(5)]
    )


def test_rows_without_weight_are_never_drawn():
    X = np.arange(40.0).reshape(-1, 1)
    weight = np.where(np.arange(40) < 6, 1.0, 0.0)
    parts = Parts.of(da.from_array(X, chunks=(10, 1)), da.from_array(weight, chunks=10))
    for init in ("k-means++", "random"):
        found = drawn_centroids(parts, np.zeros(1), init, 3, np.random.default_rng(0))
        assert found.max() < 6
