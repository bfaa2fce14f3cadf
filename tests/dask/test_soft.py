"""Pairs that may be wrong, of rows that lie in parts."""

from __future__ import annotations

from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import kempe
from dask_cases import Case
from kempe import Constraints
from kempe.cli import app
from kempe.dask import KempeKMeans
from kempe.search.result import Solution

ROWS = 1200


def told(seed, n_pairs=400):
    """Rows in groups, and pairs of which a tenth is wrong."""
    rng = np.random.default_rng(seed)
    group = rng.integers(4, size=ROWS)
    X = 3 * rng.normal(size=(4, 3))[group] + rng.normal(size=(ROWS, 3))
    pairs = rng.choice(300, size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together = (group[pairs[:, 0]] == group[pairs[:, 1]]) ^ (rng.random(len(pairs)) < 0.1)
    return X, {"soft_must_link": pairs[together], "soft_cannot_link": pairs[~together]}


def parted(X, rows=250):
    return da.from_array(X, chunks=(rows, X.shape[1]))


def paid(model, X, constraints):
    """Inertia and prices of the labels, row by row and pair by pair."""
    labels = model.labels_.compute()
    means = np.array([X[labels == c].mean(axis=0) for c in range(model.n_clusters)])
    inertia = ((X - means[labels]) ** 2).sum()
    price = model.result_.broken.pair_price
    pairs, together, confidence = constraints.soft.stacked()
    broken = (labels[pairs[:, 0]] == labels[pairs[:, 1]]) != together
    return inertia, price.of_rows(confidence[broken]).sum(), broken.sum()


@pytest.mark.parametrize("mutations", [0, 20])
@pytest.mark.parametrize("seed", range(4))
def test_rows_elsewhere_pay_for_soft_pairs_as_on_one_machine(seed, mutations):
    X, soft = told(seed)
    settings = {"max_mutations": mutations, "random_state": 0}
    found = KempeKMeans(4, gather_up_to=0, n_cells=100, **settings).fit(parted(X), **soft)
    inertia, price, broken = paid(found, X, Constraints(**soft))
    assert found.inertia_ == pytest.approx(inertia)
    assert found.objective_ == pytest.approx(inertia + price)
    assert len(found.result_.violated) == broken > 0
    alone = kempe.KempeKMeans(4, **settings).fit(X, **soft)
    ours, theirs = found.result_.broken.pair_price, alone.result_.broken.pair_price
    assert ours.unit == pytest.approx(theirs.unit, rel=0.02), "summaries would make it smaller"
    assert found.noise_ == pytest.approx(alone.noise_, abs=0.01)
    labels = found.labels_.compute()
    same = ours.of_broken(Constraints(**soft).soft, alone.labels_) + alone.inertia_
    if mutations:
        assert found.objective_ <= same * 1.01
    assert kempe.Constraints(**soft).violations(labels).soft.count == broken


def test_hard_pairs_hold_beside_soft_ones_and_all_broken_ones_are_paid_for():
    case = Case(3)
    rng = np.random.default_rng(0)
    pairs = rng.integers(len(case.X), size=(80, 2))
    pairs = np.concatenate([pairs[pairs[:, 0] != pairs[:, 1]], case.cannot_link[:5]])
    given = Constraints(**case.pairs, soft_must_link=pairs, soft_must_link_confidence=0.8)
    found = KempeKMeans(case.k, gather_up_to=0, random_state=0, max_mutations=5)
    found.fit(parted(case.X), constraints=given)
    broken = given.violations(found.labels_.compute())
    assert broken.must_link.size == broken.cannot_link.size == 0
    inertia, price, count = paid(found, case.X, given)
    assert count >= 5, "hard pairs break these"
    assert found.objective_ == pytest.approx(inertia + price)
    assert not hasattr(found, "noise_"), "all say how sure they are"


def test_a_step_that_soft_pairs_pay_for_is_recorded_as_such():
    X, soft = told(1)
    found = KempeKMeans(4, gather_up_to=0, random_state=0, soft_price=5.0, max_mutations=3)
    found.fit(parted(X), **soft)
    history = found.result_.statistics
    assert min(history.objective) == pytest.approx(found.objective_)
    assert found.objective_ > found.inertia_
    assert isinstance(found.result_.solution, Solution)


def test_pairs_of_ids_are_told_by_ids():
    X, soft = told(2)
    names = np.array([f"c{i}" for i in range(ROWS)], dtype=object)
    frame = pd.DataFrame(X, columns=list("abc")).assign(who=names)
    rows = dd.from_pandas(frame, npartitions=3)
    by_id = {kind: names[pairs] for kind, pairs in soft.items()}
    settings = {"gather_up_to": 0, "random_state": 0, "max_mutations": 2}
    found = KempeKMeans(4, **settings).fit(rows, ids="who", **by_id)
    same = KempeKMeans(4, **settings).fit(rows.drop(columns=["who"]), **soft)
    assert found.objective_ == pytest.approx(same.objective_)
    numbers = same.result_.violated[["first", "second"]].to_numpy()
    assert found.result_.violated[["first", "second"]].to_numpy().tolist() == [
        [f"c{a}", f"c{b}"] for a, b in numbers
    ]
    sure = pd.DataFrame(by_id["soft_must_link"], columns=["a", "b"]).assign(confidence=0.9)
    told_by = KempeKMeans(4, **settings).fit(rows, ids="who", soft_must_link=sure)
    assert set(told_by.result_.broken.confidence) <= {0.9}


def test_data_that_fits_here_is_clustered_as_on_one_machine():
    X, soft = told(0)
    found = KempeKMeans(4, random_state=0, confidence=0.9).fit(parted(X), **soft)
    alone = kempe.KempeKMeans(4, random_state=0, confidence=0.9).fit(X, **soft)
    np.testing.assert_array_equal(found.labels_.compute(), alone.labels_)
    assert found.objective_ == alone.objective_


def test_a_saved_model_keeps_its_price(tmp_path):
    X, soft = told(0)
    found = KempeKMeans(4, gather_up_to=0, random_state=0, max_mutations=0).fit(parted(X), **soft)
    found.save(tmp_path / "model")
    alone = kempe.load(tmp_path / "model")
    assert alone.noise_ == found.noise_
    price = found.result_.broken.pair_price
    assert alone.price_of_new(Constraints(**soft).soft) == price


def test_the_page_counts_the_broken_pairs_of_its_sample():
    X, soft = told(0)
    rows = parted(X)
    found = KempeKMeans(4, gather_up_to=0, random_state=0, max_mutations=0).fit(rows, **soft)
    page = found.report(rows, n_rows=ROWS, **soft).to_html()
    assert f"{len(found.result_.violated)} of {sum(map(len, soft.values()))}" in page


def test_too_few_rows_for_prices_are_named():
    X = np.repeat([[0.0], [5.0]], 4, axis=0)
    model = KempeKMeans(4, gather_up_to=0)
    with pytest.raises(ValueError, match="soft pairs need as many different rows as clusters, 4"):
        model.fit(parted(X, 4), soft_must_link=[(0, 0)])


def test_a_price_and_confidences_exclude_each_other():
    X, soft = told(0)
    with pytest.raises(ValueError, match="give one of them"):
        KempeKMeans(4, soft_price=1.0).fit(parted(X), **soft, soft_must_link_confidence=0.9)


@pytest.mark.slow
def test_the_command_breaks_soft_pairs_and_writes_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, soft = told(0)
    frame = pd.DataFrame(X, columns=list("abc")).assign(who=[f"c{i}" for i in range(ROWS)])
    frame.to_csv("rows.csv", index=False)
    lines = [f"c{a},c{b},must-link" for a, b in soft["soft_must_link"]]
    lines += [f"c{a},c{b},cannot-link" for a, b in soft["soft_cannot_link"]]
    Path("soft.csv").write_text("\n".join(lines) + "\n")
    arguments = ["fit", "rows.csv", "-k", "4", "--id-column", "who", "--soft", "soft.csv"]
    more = ["--dask", "local", "-o", "labels.csv", "--violated", "broken.csv"]
    done = CliRunner().invoke(app, [*arguments, *more])
    assert done.exit_code == 0, done.output
    labels = pd.read_csv("labels.csv").set_index("who").label
    broken = pd.read_csv("broken.csv")
    assert f"{len(broken)} of {len(lines)} broken" in done.stderr
    apart = labels[broken["first"]].to_numpy() != labels[broken["second"]].to_numpy()
    assert (apart == (broken["kind"] == "must-link")).all()
