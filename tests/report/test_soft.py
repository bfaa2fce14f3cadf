"""What a report says about pairs that may be wrong."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import numpy as np
import pytest

import kempe
from kempe import Constraints, KempeKMeans
from kempe.report.doubts import changes_of_moves
from kempe.report.lines import LINES
from kempe.rivals import PCCC, PCKMeans
from kempe.search.result import Solution


def noisy(seed, *, n_rows=70, n_pairs=120, hard=True):
    """Rows of three groups, and pairs of which some are wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n_rows)
    X = rng.normal(size=(n_rows, 2)) + 3 * np.eye(3, 2)[truth]
    pairs = rng.integers(n_rows, size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together = (truth[pairs[:, 0]] == truth[pairs[:, 1]]) ^ (rng.random(len(pairs)) < 0.15)
    one, other = (np.flatnonzero(truth == cluster) for cluster in (0, 1))
    said = rng.uniform(0.6, 0.95, size=int(together.sum()))
    return X, Constraints(
        [(one[0], one[1])] if hard else None,
        [(one[0], other[0])] if hard else None,
        soft_must_link=pairs[together],
        soft_cannot_link=pairs[~together],
        soft_must_link_confidence=said,
    )


class Case(NamedTuple):
    """A model, and what it was fitted on, which it does not keep alive itself."""

    X: np.ndarray
    constraints: Constraints
    model: KempeKMeans

    @property
    def report(self):
        return self.model.result_.report()


def fitted(seed, **more):
    X, constraints = noisy(seed, **more)
    return Case(X, constraints, KempeKMeans(3, random_state=0).fit(X, constraints=constraints))


@pytest.mark.parametrize("seed", range(8))
def test_changes_of_moves_are_those_of_the_objective(seed):
    case = fitted(seed)
    problem, solution = case.report.problem, case.model.result_.solution
    every = problem.everyone
    changes = changes_of_moves(problem, solution.colours, every)
    before = Solution.of(problem, solution.colours).objective
    assert before == pytest.approx(case.model.objective_)
    for vertex in every.tolist():
        for cluster in range(3):
            moved = solution.colours.copy()
            moved[vertex] = cluster
            allowed = problem.is_proper(moved) and np.bincount(moved, minlength=3).all()
            if cluster == solution.colours[vertex] or not allowed:
                assert changes[vertex, cluster] == np.inf
            else:
                after = Solution.of(problem, moved).objective
                assert changes[vertex, cluster] == pytest.approx(after - before, abs=1e-8)


def slow_doubts(problem, colours, pair_price):
    """Every soft pair by itself: break it by each single move, and count all anew."""
    before = Solution.of(problem, colours).objective
    pairs, together, confidence = problem.constraints.soft.stacked()
    found = {}
    for pair, same, price in zip(
        pairs.tolist(), together.tolist(), pair_price.of_rows(confidence), strict=True
    ):
        ends = [int(problem.supernode[row]) for row in pair]
        if ends[0] == ends[1] or (colours[ends[0]] == colours[ends[1]]) != same:
            continue
        rises = []
        for vertex in ends:
            for cluster in range(problem.n_clusters):
                moved = colours.copy()
                moved[vertex] = cluster
                broken = (moved[ends[0]] == moved[ends[1]]) != same
                filled = np.bincount(moved, minlength=problem.n_clusters).all()
                if broken and filled and problem.is_proper(moved):
                    rises.append(Solution.of(problem, moved).objective - before)
        if rises and min(rises) < price:
            found.setdefault((same, *sorted(ends)), min(rises))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_pairs_that_were_nearly_broken_are_those_that_only_they_themselves_hold(seed):
    case = fitted(seed, n_rows=40)
    report, result = case.report, case.model.result_
    problem, colours = report.problem, result.solution.colours
    margins = [doubt.margin for doubt in report.nearly_broken]
    assert margins == sorted(margins)
    slow = slow_doubts(problem, colours, result.broken.pair_price)
    found = {
        (d.together, *sorted(problem.supernode[[d.first, d.second]].tolist())): d.margin
        for d in report.nearly_broken
    }
    assert found == pytest.approx(slow, abs=1e-8)


def test_some_pairs_are_nearly_broken_at_all():
    assert sum(len(fitted(seed).report.nearly_broken) for seed in range(8)) > 8


def test_the_page_lists_broken_pairs_with_the_dearest_first():
    X, constraints, model = fitted(0)
    page = model.result_.to_html(ids=[f"row {row}" for row in range(len(X))])
    section = page.split("<h2>Pairs that may be wrong</h2>")[1].split("<h2>")[0]
    listed = section.split("</table>")[0].split("<tbody>")[1].split("<tr>")[1:]
    violated = model.result_.violated
    assert len(violated) == len(listed) > 0
    for line, broken in zip(listed, violated.itertuples(), strict=True):
        assert f">row {broken.first}<" in line
        assert f">row {broken.second}<" in line
        assert f">{broken.kind}<" in line
        assert ("not said" in line) == np.isnan(broken.confidence)
    prices = [float(re.search("row>(.*?)<", line)[1].replace(",", "")) for line in listed]
    assert prices == sorted(prices, reverse=True)
    count = f"{len(violated)} of {constraints.soft.count}"
    assert f"<b>{count}</b><span>soft pairs are broken" in page
    assert f"may be wrong, of which {len(violated)} are broken" in page


def test_the_map_draws_broken_and_nearly_broken_pairs_by_lines_of_their_own():
    X, constraints, model = fitted(0)
    page = model.result_.to_html()
    drawn = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])["map"]
    broken = constraints.soft.violations(model.labels_)
    for name, pairs in (("must", broken.must_link), ("cannot", broken.cannot_link)):
        ends = {tuple(int(drawn["id"][end]) for end in pair) for pair in drawn[f"broken_{name}"]}
        assert ends == set(map(tuple, pairs.tolist()))
        assert f"data-pairs=broken_{name}" in page
    assert len(drawn["near"]) == len(model.result_.report().nearly_broken) <= len(X)
    assert len({line.dashes for line in LINES if line.name != "dear"}) == len(LINES) - 1
    assert sum(drawn["n_broken"]) == 2 * broken.count


def test_without_soft_pairs_the_page_does_not_speak_of_them(planted):
    case = planted(1)
    model = KempeKMeans(case.n_clusters, random_state=0).fit(case.X, constraints=case.constraints)
    page = model.result_.to_html()
    assert "Pairs that may be wrong" not in page
    assert "soft pairs" not in page.split("<script")[0]
    assert "data-pairs=broken" not in page


def test_a_clustering_that_breaks_nothing_says_so():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = KempeKMeans(2, random_state=0).fit(X, soft_must_link=[(0, 1)])
    assert "None of the 1 soft pairs is broken" in model.result_.to_html()


@pytest.mark.parametrize("method", [PCCC, PCKMeans])
def test_a_method_whose_confidences_are_weights_lists_what_it_breaks(method):
    X, constraints = noisy(0, hard=False)
    model = method(3, random_state=0).fit(X, constraints=constraints)
    report = model.result_.report()
    assert report.nearly_broken == []
    assert len(report.broken.pairs) == constraints.soft.violations(model.labels_).count > 0
    assert report.broken.price.tolist() == model.result_.violated["price"].tolist()
    assert "soft pairs are broken" in report.to_html()


@pytest.mark.parametrize("method", [PCCC, PCKMeans])
def test_weights_beyond_one_are_told_and_reported(method):
    """They are no probabilities, so nothing may take their log-odds."""
    X = np.array([[0.0], [1.0], [8.0], [9.0]])
    told = {"soft_must_link": [(0, 1)], "soft_must_link_confidence": 5.0}
    told |= {"soft_cannot_link": [(2, 3)], "soft_cannot_link_confidence": [0.1]}
    model = method(2, soft_price=2.0, random_state=0).fit(X, must_link=[(2, 3)], **told)
    violated = model.result_.violated
    assert violated[["kind", "first", "second"]].to_numpy().tolist() == [["cannot-link", 2, 3]]
    assert violated[["confidence", "price"]].to_numpy().tolist() == [[0.1, 0.2]]
    assert model.soft_violation_ == pytest.approx(0.1)
    assert model.objective_ == pytest.approx(model.inertia_ + 0.2)
    assert "1 of 2 soft pairs are broken" in model.result_.to_html()


def test_hard_pairs_are_priced_while_soft_ones_go_on_counting():
    """Two rows are kept apart by a hard pair; a soft one that holds them as well makes it free."""
    X = np.array([[0.0], [0.2], [5.0], [5.2], [10.0], [10.2]])
    held = Constraints(cannot_link=[(2, 3)])
    free = KempeKMeans(3, random_state=0).fit(X, constraints=held).result_.report()
    assert [(p.first, p.second) for p in free.prices] == [(2, 3)]
    both = held | Constraints(soft_must_link=[(1, 2), (3, 4)])
    model = KempeKMeans(3, soft_price=100.0, random_state=0).fit(X, constraints=both)
    assert model.result_.report().prices == []


def test_a_loaded_model_reports_the_same_pairs(tmp_path):
    case = fitted(0)
    case.model.save(tmp_path / "model")
    result = kempe.load(tmp_path / "model").result_
    loaded = result.report(case.X, constraints=case.constraints)
    assert repr(loaded.nearly_broken) == repr(case.report.nearly_broken) != "[]"
    np.testing.assert_array_equal(loaded.broken.price, case.report.broken.price)
