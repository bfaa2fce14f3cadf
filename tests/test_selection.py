"""Choosing the number of clusters, and scores on held-out pairs."""

from __future__ import annotations

import csv
import math
import signal

import numpy as np
import pytest
from sklearn.metrics import silhouette_score
from sklearn.model_selection import GridSearchCV

from kempe import KSKM, Constraints, InfeasibleConstraintsError, KempeKMeans, choose_k, selection
from kempe.search import Callbacks
from kempe.selection import Candidate, Choice, held_out_scores, pair_score, pair_scorer


@pytest.fixture(scope="module")
def blobs():
    """Four clear blobs, of which two are close to each other, and pairs that tell them apart."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 30)
    X = np.array([[0, 0], [9, 0], [0, 9], [3, 9]])[labels] + rng.normal(size=(120, 2))
    pairs = rng.integers(120, size=(400, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return X, labels, Constraints(pairs[same], pairs[~same], n_rows=120)


def test_both_kinds_of_pairs_count_equally():
    pairs = Constraints([(0, 1), (2, 3)], [(0, 2), (1, 3), (0, 3), (1, 2)])
    assert pair_score([0, 0, 1, 1], pairs) == 1.0
    assert pair_score([0, 0, 0, 0], pairs) == 0.5
    assert pair_score([0, 1, 2, 3], pairs) == 0.5
    assert pair_score([0, 1], Constraints([(0, 1)])) == 0.0
    assert math.isnan(pair_score([0, 1], Constraints()))


def test_held_out_pairs_are_not_seen_by_the_fit(blobs):
    X, _, constraints = blobs
    seen = []

    class Spy(KempeKMeans):
        def fit(self, X, y=None, *, constraints=None):
            seen.append(constraints)
            return super().fit(X, constraints=constraints)

    scores = held_out_scores(Spy(4, max_mutations=0), X, constraints, n_splits=3, held_out=0.3)
    assert scores.shape == (3,)
    assert len({len(part.must_link) for part in seen}) == 1
    assert all(len(part.cannot_link) < len(constraints.cannot_link) for part in seen)
    assert any(part != seen[0] for part in seen[1:])


def test_held_out_scores_are_reproducible_and_leave_the_estimator_alone(blobs):
    X, _, constraints = blobs
    model = KempeKMeans(4, random_state=0, max_mutations=2)
    first, second = (held_out_scores(model, X, constraints, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not hasattr(model, "labels_")


def test_the_scorer_works_in_a_grid_search(blobs):
    X, _, constraints = blobs
    fitting, scoring = constraints.split(0.3, random_state=0)
    rows = np.arange(len(X))
    search = GridSearchCV(
        KempeKMeans(random_state=0, max_mutations=5),
        {"n_clusters": [4, 5, 9]},
        cv=[(rows, rows)],
        scoring=pair_scorer(scoring),
    )
    search.fit(X, constraints=fitting)
    assert search.best_params_ == {"n_clusters": 4}
    assert search.best_score_ == pair_score(search.best_estimator_.labels_, scoring)


def test_the_true_number_is_suggested_by_held_out_pairs(blobs):
    X, _, constraints = blobs
    choice = choose_k(X, range(2, 8), constraints=constraints, estimator=quick())
    assert choice.suggested == 4
    assert [item.n_clusters for item in choice.candidates] == [2, 3, 4, 5, 6, 7]
    assert "held-out pairs suggest 4 clusters" in choice.summary()
    best = next(item for item in choice.candidates if item.n_clusters == 4)
    model = KempeKMeans(4, max_mutations=5, random_state=0).fit(X, constraints=constraints)
    assert best.inertia == model.inertia_
    assert best.silhouette == pytest.approx(silhouette_score(X, model.labels_))


def quick():
    return KempeKMeans(max_mutations=5, random_state=0)


def test_without_pairs_the_silhouette_decides(blobs):
    choice = choose_k(blobs[0], [2, 3, 4, 5], estimator=quick())
    assert all(math.isnan(item.held_out) for item in choice.candidates)
    best = max(choice.candidates, key=lambda item: item.silhouette)
    assert choice.suggested == best.n_clusters
    assert "the silhouette suggests" in choice.summary()


def test_numbers_that_the_pairs_do_not_permit_are_not_tried(blobs):
    clique = [(0, 30), (0, 60), (30, 60)]
    choice = choose_k(blobs[0], [1, 2, 3, 4], cannot_link=clique, estimator=quick(), n_splits=0)
    assert [item.status for item in choice.candidates] == ["infeasible", "infeasible", "ok", "ok"]
    assert (choice.needed, choice.known_to_work) == (3, 3)
    assert choice.summary().startswith("the pairs permit 3 clusters or more")


def test_a_method_that_finds_nothing_is_not_suggested(blobs):
    X = np.arange(10.0)[:, None]
    cycle = [(i, (i + 1) % 5) for i in range(5)]  # needs three colours, though no clique says so
    choice = choose_k(X, [2], cannot_link=cycle, estimator=KSKM(random_state=0), n_splits=0)
    assert choice.candidates[0].status == "infeasible"
    assert choice.suggested is None
    assert "none of the numbers" in choice.summary()


def test_contradictory_pairs_and_no_candidates_are_errors(blobs):
    with pytest.raises(InfeasibleConstraintsError, match="no number of clusters"):
        choose_k(blobs[0], [2], must_link=[(0, 1)], cannot_link=[(0, 1)])
    with pytest.raises(ValueError, match="no candidates"):
        choose_k(blobs[0], [])


def test_the_simplest_number_within_an_error_is_suggested():
    made = [
        Candidate(k, "ok", 1.0, 0.1, score, 0.03) for k, score in ((2, 0.7), (3, 0.88), (4, 0.9))
    ]
    assert Choice(made, 1, 1).suggested == 3


def test_bounds_that_differ_are_both_told():
    assert "need at least 3 clusters, 5 do" in Choice([Candidate(2, "infeasible")], 3, 5).summary()


def test_the_silhouette_of_many_rows_is_estimated(blobs, monkeypatch):
    X, labels, _ = blobs
    monkeypatch.setattr(selection, "SILHOUETTE_ROWS", 40)
    estimated = selection._silhouette(X, labels, 0)
    assert estimated == pytest.approx(silhouette_score(X, labels), abs=0.1)
    assert estimated != silhouette_score(X, labels)
    assert math.isnan(selection._silhouette(X, np.zeros(120, dtype=np.int32), 0))


def test_a_choice_is_written_and_drawn(blobs, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    X, _, constraints = blobs
    clique = Constraints(None, [(0, 30), (0, 60), (30, 60)], n_rows=120) | constraints
    choice = choose_k(X, [2, 3, 4], constraints=clique, estimator=quick(), n_splits=2)
    choice.to_csv(tmp_path / "choice.csv")
    with open(tmp_path / "choice.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {**dict.fromkeys(rows[0], ""), "n_clusters": "2", "status": "infeasible"}
    assert float(rows[2]["inertia"]) == choice.candidates[2].inertia
    figure = choice.plot()
    assert [axis.get_ylabel() for axis in figure.axes] == [
        "inertia",
        "silhouette",
        "held-out pairs",
    ]
    assert any(text.get_text() == "not permitted" for text in figure.axes[0].texts)
    assert len(choose_k(X, [2, 3], estimator=quick()).plot().axes) == 2


class CtrlC(Callbacks):
    """Presses Ctrl-C in a certain fit, counted from 1, when it has a clustering."""

    def __init__(self, fit):
        self.left = fit

    def __deepcopy__(self, memo):
        return self  # estimators are cloned for every fit

    def on_start(self, problem):
        self.left -= 1

    def on_iteration(self, state):
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)


PAIRS = {"cannot_link": [(0, 30), (30, 60), (0, 60)], "must_link": [(0, 1), (30, 31), (60, 61)]}


@pytest.mark.parametrize("fit", [4, 5, 6])  # with all pairs, and with a part of them
def test_ctrl_c_ends_the_choice_and_marks_the_number_that_it_cut(blobs, fit):
    pressed = CtrlC(fit)
    model = quick().set_params(callbacks=pressed)
    choice = choose_k(blobs[0], [3, 4, 5], **PAIRS, estimator=model, n_splits=2)
    assert [item.status for item in choice.candidates] == ["ok", "interrupted"]
    assert pressed.left == 0  # no further fit was begun
    cut = choice.candidates[1]
    assert cut.inertia > 0
    assert math.isnan(cut.silhouette)
    assert choice.suggested == 3


def test_ctrl_c_before_anything_is_known_is_raised(blobs):
    for fit in (1, 2):
        model = quick().set_params(callbacks=CtrlC(fit))
        with pytest.raises(KeyboardInterrupt):
            choose_k(blobs[0], [3, 4], **PAIRS, estimator=model, n_splits=2)
