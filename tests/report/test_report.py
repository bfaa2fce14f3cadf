"""What a report knows, and what a model keeps for it."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import re

import numpy as np
import pytest
from sklearn.cluster import KMeans

import kempe
from kempe import Constraints, KempeKMeans
from kempe.report import Report
from kempe.search import Callbacks


@pytest.fixture
def case(planted):
    return planted(1, n_rows=60, n_features=3, n_clusters=3, n_pairs=40)


@pytest.fixture
def model(case):
    return KempeKMeans(3, random_state=0).fit(case.X, constraints=case.constraints)


def embedded(page: str) -> dict:
    """Data of the charts of a page."""
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_a_model_that_was_just_fitted_needs_no_arguments(model, tmp_path):
    page = model.result_.to_html(tmp_path / "out.html")
    assert (tmp_path / "out.html").read_text(encoding="utf-8") == page
    assert page.startswith("<!doctype html>")


def test_the_page_needs_nothing_outside_itself(model):
    page = model.result_.to_html()
    body = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"""(src|href)=["']?(?!#)|url\(|@import|sourceMappingURL""", body)
    assert "sourceMappingURL" not in page
    assert "Released under the MIT License" in page


def test_data_is_not_kept_alive_by_the_model(case):
    X = case.X.copy()
    model = KempeKMeans(3, random_state=0).fit(X, constraints=case.constraints)
    del X
    gc.collect()
    with pytest.raises(ValueError, match="pass it again"):
        model.result_.to_html()
    assert model.result_.to_html(X=case.X, constraints=case.constraints)


def test_a_list_is_remembered(case):
    model = KempeKMeans(3, random_state=0).fit(case.X.tolist(), constraints=case.constraints)
    assert model.result_.to_html()


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_and_pickles_do_not_carry_the_data(model, case, again):
    other = again(model)
    assert other.result_.origin is None
    with pytest.raises(ValueError, match="pass it again"):
        other.result_.to_html()
    # Without the estimator at hand its settings are not known, all else is the same.
    page = other.result_.to_html(X=case.X, constraints=case.constraints)
    assert embedded(page) == embedded(model.result_.to_html())


def test_a_loaded_model_can_report_too(model, case, tmp_path):
    model.save(tmp_path / "model")
    result = kempe.load(tmp_path / "model").result_
    assert result.to_html(X=case.X, constraints=case.constraints)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda case: {"X": case.X}, "pass what was passed to fit"),
        (lambda case: {"X": 2 * case.X, "constraints": case.constraints}, "its inertia differs"),
        (lambda case: {"ids": ["a"]}, "1 ids were given for 60"),
        (lambda case: {"original": case.X[:5]}, "60 rows were clustered"),
        (lambda case: {"original": np.full((60, 1), np.nan)}, "missing values"),
        (lambda case: {"feature_names": ["a"]}, "1 feature_names were given for 3"),
        (lambda case: {"cluster_names": ["a"]}, "1 cluster_names were given for 3"),
    ],
)
def test_what_does_not_belong_to_the_clustering_is_refused(model, case, change, message):
    with pytest.raises(ValueError, match=message):
        model.result_.to_html(**change(case))


def test_centres_are_means_in_original_units(model, case):
    original = 100 + 10 * case.X[:, :2]
    report = Report.of(model.result_, original=original, feature_names=["kg", "cm"])
    for cluster in range(3):
        np.testing.assert_allclose(
            report.centres[cluster], original[model.labels_ == cluster].mean(axis=0)
        )
    np.testing.assert_allclose(report.overall[0], original.mean(axis=0))
    assert "<th scope=col>kg</th>" in report.to_html()


def test_weights_count_in_means(case):
    weights = np.linspace(1, 2, len(case.X))
    model = KempeKMeans(3, random_state=0)
    model.fit(case.X, constraints=case.constraints, sample_weight=weights)
    report = Report.of(model.result_)
    np.testing.assert_allclose(report.centres, model.cluster_centers_)
    np.testing.assert_allclose(report.overall[0], np.average(case.X, axis=0, weights=weights))


def test_names_of_a_frame_are_used_and_everything_is_escaped(case):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(case.X, columns=["<b>age</b>", "b", "c"])
    model = KempeKMeans(3, random_state=0).fit(frame, constraints=case.constraints)
    page = model.result_.to_html(
        ids=["</script><i>" + str(row) for row in range(60)],
        title="<u>",
        cluster_names=["<x", "y", "z"],
    )
    assert "&lt;b&gt;age&lt;/b&gt;" in page
    for raw in ("<b>age", "</script><i>", "<u>", "<x"):
        assert raw not in page
    assert "</script><i>0" in embedded(page)["map"]["id"]


def test_k_means_beside_it_is_that_of_scikit_learn(model, case):
    beside = Report.of(model.result_).beside
    plain = KMeans(3, n_init=10, random_state=0).fit(case.X)
    assert beside.inertia == pytest.approx(plain.inertia_)
    broken = case.constraints.violations(beside.labels)
    assert beside.broken == broken
    assert len(broken.must_link) + len(broken.cannot_link) > 0
    assert beside.n_moved == (beside.labels != model.labels_).sum()
    # No other names of its clusters agree with ours in more rows.
    assert np.trace(beside.shared) >= np.trace(beside.shared[:, ::-1])


def test_large_data_is_drawn_in_part_with_the_ends_of_all_lines(monkeypatch, planted):
    from kempe.report import picture

    monkeypatch.setattr(picture, "MOST_POINTS", 60)
    monkeypatch.setattr(picture, "MOST_PAIRS", 6)
    case = planted(2, n_rows=300, n_pairs=200)
    model = KempeKMeans(3, random_state=0, max_mutations=5).fit(
        case.X, constraints=case.constraints
    )
    page = model.result_.to_html()
    drawn = embedded(page)["map"]
    assert len(drawn["x"]) == len(drawn["id"]) == 60
    assert len(drawn["must"]) == len(drawn["cannot"]) == 6
    assert "240 rows are left out" in page
    for kind, pairs in (
        ("must", case.constraints.must_link),
        ("cannot", case.constraints.cannot_link),
    ):
        known = {tuple(pair) for pair in pairs.tolist()}
        ends = [[int(drawn["id"][place]) for place in pair] for pair in drawn[kind]]
        assert all(tuple(pair) in known for pair in ends)


def test_the_page_of_a_clustering_without_pairs_does_not_speak_of_pairs(case):
    page = KempeKMeans(3, random_state=0).fit(case.X).result_.to_html()
    assert "What pairs cost" not in page
    assert "no constraints" in page


@pytest.mark.parametrize(("k", "features"), [(1, 1), (25, 2), (2, 1)])
def test_few_and_many_clusters_and_features_have_a_page(k, features):
    X = np.random.default_rng(0).normal(size=(80, features))
    model = KempeKMeans(k, random_state=0, max_mutations=2).fit(
        X, cannot_link=[(0, 1)] if k > 1 else []
    )
    page = model.result_.to_html()
    assert embedded(page)["sizes"] == np.bincount(model.labels_).tolist()
    assert ("Most rows that moved" in page) == (k > 20)


def test_equal_rows_have_a_page():
    X = np.ones((6, 3))
    with pytest.warns(UserWarning, match="distinct rows"):
        model = KempeKMeans(2, random_state=0).fit(X, cannot_link=[(0, 1)])
    with pytest.warns(UserWarning, match="distinct clusters"):  # of k-means beside it
        assert model.result_.to_html()


def test_the_constraint_graph_is_told_in_figures(model, case):
    figures = Report.of(model.result_).graph_figures
    assert figures["must-link pairs"] == str(len(case.constraints.must_link))
    assert figures["edges between supernodes"] == str(case.problem.graph.n_edges)
    assert figures["clusters that are needed"] == case.constraints.check(3).smallest()


def test_the_page_says_above_or_below_k_means_in_words():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 9])
    apart = KempeKMeans(2, random_state=0).fit(X, cannot_link=[(0, 1), (30, 31)])
    page = apart.result_.to_html()
    assert re.search(r"<b>\d+\.\d\d %</b><span>above k-means without constraints", page)
    free = KempeKMeans(2, random_state=0).fit(X)
    assert "<b>the same</b><span>that of k-means" in free.result_.to_html()


def test_the_page_says_where_it_comes_from():
    from datetime import date

    from kempe import __version__

    X = np.random.default_rng(0).normal(size=(30, 2))
    model = KempeKMeans(2, random_state=0).fit(X)
    page = model.result_.report(source="a <b>.csv, by: kempe fit").to_html()
    assert f"Made on {date.today():%d %B %Y} by kempe {__version__} from a &lt;b&gt;.csv" in page


def test_ids_of_the_constraints_name_the_rows():
    X = np.random.default_rng(0).normal(size=(30, 2))
    ids = [f"c-{row}" for row in range(30)]
    pairs = Constraints.from_ids([("c-0", "c-1")], ids=ids)
    model = KempeKMeans(2, random_state=0).fit(X, constraints=pairs)
    assert '"c-17"' in model.result_.to_html()


def test_a_page_says_that_pairs_cost_nothing_and_shows_no_address_of_an_object():
    X = np.random.default_rng(0).normal(size=(40, 2)) + 30 * (np.arange(40) % 2)[:, None]
    model = KempeKMeans(2, random_state=0, callbacks=Callbacks())
    page = model.fit(X, must_link=[(0, 2)], cannot_link=[(0, 1)]).result_.to_html()
    assert "<b>the same</b><span>that of k-means without constraints" in page
    assert "object at 0x" not in page


def test_the_page_tells_what_limits_on_sizes_cost(case):
    free = KempeKMeans(3, random_state=0).fit(case.X, constraints=case.constraints)
    limits = {"size_min": 19, "size_max": 21}
    tight = KempeKMeans(3, random_state=0, **limits).fit(case.X, constraints=case.constraints)
    cost = Report.of(tight.result_).limit_cost
    assert cost.free == pytest.approx(free.inertia_, rel=1e-6)
    assert cost.share == pytest.approx(tight.inertia_ / free.inertia_ - 1, abs=1e-6)
    page = tight.result_.to_html()
    assert "Clusters were to have at least 19 and at most 21 rows" in page
    assert f"so that they cost {100 * cost.share:.2f} %" in page
    assert Report.of(free.result_).limit_cost is None
    assert "Clusters were to have" not in free.result_.to_html()
