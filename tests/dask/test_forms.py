"""What goes in and what comes out: arrays, frames, files, ids, weights, lazily."""

from __future__ import annotations

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import kempe
from dask_cases import Case
from kempe.dask import KempeKMeans


def fitted(case, rows, **arguments):
    model = KempeKMeans(case.k, init=case.init, max_mutations=0, gather_up_to=0)
    return model.fit(rows, **(arguments or case.pairs))


@pytest.fixture
def frame(case):
    table = pd.DataFrame(case.X, columns=["a", "b", "c"])
    table["name"] = [f"row {i}" for i in range(len(table))]
    return table.set_index(pd.Index(np.arange(len(table)) * 10, name="number"))


def test_frames_give_series_with_their_index(case, frame):
    model = fitted(case, dd.from_pandas(frame[["a", "b", "c"]], npartitions=3))
    labels = model.labels_.compute()
    assert labels.index.equals(frame.index)
    assert model.labels_.npartitions == 3
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    expected = fitted(case, da.from_array(case.X, chunks=(500, 3)))
    np.testing.assert_array_equal(labels, expected.labels_.compute())


def test_data_that_fits_gives_series_as_well(case, frame):
    rows = dd.from_pandas(frame[["a", "b", "c"]], npartitions=3)
    labels = KempeKMeans(case.k, random_state=0).fit(rows, **case.pairs).labels_
    assert labels.compute().index.equals(frame.index)


def test_parquet_files_and_ids_of_a_column(case, frame, tmp_path):
    dd.from_pandas(frame, npartitions=4).to_parquet(tmp_path / "rows")
    names = frame["name"].to_numpy()
    pairs = {key: names[numbers] for key, numbers in case.pairs.items()}
    rows = dd.read_parquet(tmp_path / "rows")
    model = fitted(case, rows, **pairs, ids="name")
    expected = fitted(case, da.from_array(case.X, chunks=(500, 3)))
    assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-9)
    np.testing.assert_array_equal(model.labels_.compute(), expected.labels_.compute())
    assert list(model.feature_names_in_) == ["a", "b", "c"]


def test_ids_in_an_array_of_their_own(case):
    ids = np.random.default_rng(0).permutation(len(case.X)) + 5000
    pairs = {key: ids[numbers] for key, numbers in case.pairs.items()}
    rows = da.from_array(case.X, chunks=(500, 3))
    model = fitted(case, rows, **pairs, ids=da.from_array(ids, chunks=500))
    expected = fitted(case, rows)
    np.testing.assert_array_equal(model.labels_.compute(), expected.labels_.compute())


def test_an_id_that_no_row_has_is_named(case):
    ids = da.arange(len(case.X), chunks=500)
    with pytest.raises(ValueError, match="no row has the id 7777"):
        fitted(case, da.from_array(case.X, chunks=(500, 3)), cannot_link=[(1, 7777)], ids=ids)


def test_an_id_of_two_rows_is_refused(case):
    ids = da.zeros(len(case.X), chunks=500, dtype=int)
    with pytest.raises(ValueError, match="an id must name one row"):
        fitted(case, da.from_array(case.X, chunks=(500, 3)), cannot_link=[(0, 1)], ids=ids)


def test_arrays_of_unknown_chunks_are_counted(case):
    rows = da.from_array(case.X, chunks=(500, 3))
    unknown = rows[rows[:, 0] > -np.inf]
    assert np.isnan(unknown.shape[0])
    labels = fitted(case, unknown).labels_.compute()
    np.testing.assert_array_equal(labels, fitted(case, rows).labels_.compute())


def test_columns_in_several_chunks_are_put_together(case):
    split = fitted(case, da.from_array(case.X, chunks=(500, 1)))
    whole = fitted(case, da.from_array(case.X, chunks=(500, 3)))
    assert split.inertia_ == pytest.approx(whole.inertia_, rel=1e-12)


def test_predictions_are_lazy_and_those_of_one_machine(case):
    rows = da.from_array(case.X, chunks=(500, 3))
    model = fitted(case, rows)
    one = model.on_one_machine()
    for name in ("predict", "transform"):
        lazy = getattr(model, name)(rows)
        assert isinstance(lazy, da.Array)
        assert lazy.chunks[0] == (500, 500, 200)
        np.testing.assert_allclose(lazy.compute(), getattr(one, name)(case.X))
    assert float(model.score(rows)) == pytest.approx(one.score(case.X))
    np.testing.assert_array_equal(model.predict(case.X), one.predict(case.X))
    weight = np.arange(len(case.X), dtype=float)
    assert float(model.score(rows, sample_weight=weight)) == pytest.approx(
        one.score(case.X, sample_weight=weight)
    )


def test_predictions_of_frames_keep_their_index(case, frame):
    rows = dd.from_pandas(frame[["a", "b", "c"]], npartitions=3)
    model = fitted(case, rows)
    assert model.predict(rows).compute().index.equals(frame.index)
    distances = model.transform(rows).compute()
    assert list(distances.columns) == [f"kempekmeans{c}" for c in range(case.k)]
    assert distances.index.equals(frame.index)
    with pytest.raises(ValueError, match="in another order"):
        model.predict(rows[["b", "a", "c"]])
    with pytest.raises(ValueError, match="2 features"):
        model.predict(rows[["a", "b"]])


def test_a_saved_model_predicts_on_one_machine(case, tmp_path):
    model = fitted(case, da.from_array(case.X, chunks=(500, 3)))
    model.save(tmp_path / "model.kempe")
    loaded = kempe.load(tmp_path / "model.kempe")
    np.testing.assert_array_equal(loaded.predict(case.X), model.predict(case.X))


def test_what_travels_to_the_client_does_not_grow_with_the_rows(monkeypatch):
    travelled = [largest_message(Case(0, n_rows=n), monkeypatch) for n in (2000, 20_000)]
    assert travelled[1] < 1.2 * travelled[0] < 8 * 2000


def largest_message(case, monkeypatch):
    """Bytes of the largest result that a fit asks a scheduler for."""
    sizes, compute = [], dask.compute

    def watched(*tasks):
        found = compute(*tasks)
        sizes.append(max((len(pickle.dumps(each)) for each in found), default=0))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(dask, "compute", watched)
        fitted(case, da.from_array(case.X, chunks=(len(case.X) // 4, 3)))
    return max(sizes)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_holes_are_refused(case, value):
    case.X[700, 1] = value
    with pytest.raises(ValueError, match="NaN or infinity"):
        fitted(case, da.from_array(case.X, chunks=(500, 3)))


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="n_samples=3 should be at least n_clusters=5"):
        KempeKMeans(5).fit(da.zeros((3, 2)))


def test_must_links_that_leave_too_few_groups_are_refused():
    with pytest.raises(ValueError, match="leave 2 groups of rows"):
        KempeKMeans(3, gather_up_to=0).fit(da.random.random((4, 2)), must_link=[(0, 1), (1, 2)])


def test_pairs_of_rows_that_do_not_exist_are_refused(case):
    with pytest.raises(ValueError, match="1200"):
        fitted(case, da.from_array(case.X, chunks=(500, 3)), cannot_link=[(0, 1200)])


def test_contradictions_are_told_in_the_users_row_numbers(case):
    rows = da.from_array(case.X, chunks=(500, 3))
    with pytest.raises(kempe.InfeasibleConstraintsError, match="rows 900 and 700") as raised:
        fitted(case, rows, must_link=[(900, 800), (800, 700)], cannot_link=[(900, 700)])
    assert raised.value.certificate.rows == (900, 800, 700)


@pytest.mark.parametrize("max_mutations", [0, None])
def test_infeasible_constraints_have_the_certificate_of_one_machine(case, max_mutations):
    group = np.arange(100, 1100, 170)  # six rows apart from each other, five clusters
    apart = group[np.column_stack(np.triu_indices(group.size, 1))]
    pairs = kempe.Constraints(cannot_link=apart)
    here = kempe.KempeKMeans(case.k, max_mutations=max_mutations)
    there = KempeKMeans(case.k, max_mutations=max_mutations, gather_up_to=0)
    told = []
    for model, rows in ((here, case.X), (there, da.from_array(case.X, chunks=(500, 3)))):
        with pytest.raises(kempe.InfeasibleConstraintsError) as raised:
            model.fit(rows, constraints=pairs)
        assert raised.value.certificate.verify(pairs, case.k)
        told.append(str(raised.value))
    assert told[0] == told[1]


def test_missing_dask_is_told(monkeypatch):
    from kempe.dask import tasks

    monkeypatch.setitem(__import__("sys").modules, "dask.array", None)
    with pytest.raises(ImportError, match=r"pip install 'kempe\[dask\]'"):
        tasks.library()


def weights_in_parts(*lengths):
    return dd.from_delayed(
        [dask.delayed(pd.Series)(np.ones(length)) for length in lengths],
        meta=pd.Series(dtype=float),
        verify_meta=False,
    )


@pytest.mark.parametrize("lengths", [(500, 700), (0, 1200), (600, 0), (1200, 0)])
def test_weights_in_other_parts_than_the_rows_are_refused(frame, lengths):
    rows = dd.from_pandas(frame[["a", "b", "c"]], npartitions=2)
    with pytest.raises(ValueError, match="sample_weight has other parts than X"):
        KempeKMeans(3).fit(rows, sample_weight=weights_in_parts(*lengths))


def test_an_unknown_column_of_ids_is_refused_with_those_that_there_are(frame, case):
    rows = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(ValueError, match="X has no column 'nmae' of ids; it has a, b, c, name"):
        KempeKMeans(3).fit(rows, must_link=[("row 1", "row 2")], ids="nmae")
    with pytest.raises(TypeError, match="ids='name' is a column, but X is no data frame"):
        KempeKMeans(3).fit(da.from_array(case.X), must_link=[("row 1", "row 2")], ids="name")


def test_a_report_shows_a_sample_of_the_rows(client, case):
    X = da.from_array(case.X, chunks=(400, 3))
    model = KempeKMeans(case.k, max_mutations=0, gather_up_to=0, random_state=0)
    model.fit(X, **case.pairs)
    page = model.report(X, **case.pairs, n_rows=300)
    assert page.problem.n_rows == 300
    assert page.n_pairs >= 60  # all drawn pairs, and perhaps others among their rows
    labels = model.labels_.compute()
    assert not page.constraints.violations(page.labels).must_link.size
    # Which rows were drawn is told by what they are.
    numbers = [int(np.abs(case.X - row).sum(axis=1).argmin()) for row in page.original]
    assert np.allclose(case.X[numbers], page.original)
    assert numbers == sorted(set(numbers))
    assert (labels[numbers] == page.labels).all()
    assert page.ids == [str(number) for number in numbers]
    assert f"a sample of 300 of {len(case.X):,} rows" in page.to_html()
    small = model.report(X, **case.pairs, n_rows=12)  # fewer rows than some pairs need
    assert small.problem.n_rows == 12
    assert "Clustering report on 12 of 1,200 rows" in small.to_html()


def test_a_whole_collection_is_not_gathered_for_a_report(client, case):
    X = da.from_array(case.X, chunks=(400, 3))
    model = KempeKMeans(case.k, max_mutations=0, gather_up_to=0, random_state=0).fit(X)
    for arguments in ({}, {"X": X}):
        with pytest.raises(ValueError, match=r"report\(X, \.\.\.\) of the model"):
            model.result_.to_html(**arguments)
