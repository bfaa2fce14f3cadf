"""What a notebook shows: cards without a style sheet, frames, short texts."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

import kempe
from kempe import KSKM, Constraints, KempeKMeans, cards
from kempe.rivals import PCCC


@pytest.fixture(scope="module")
def model():
    X = np.random.default_rng(0).normal(size=(60, 3))
    pairs = Constraints([(0, 1), (2, 3)], [(0, 2), (4, 5)], n_rows=60)
    fitted = KempeKMeans(4, random_state=0, max_mutations=20).fit(X, constraints=pairs)
    fitted.rows_of_the_test = X  # a result remembers its data as long as somebody else does
    return fitted


class _Balance(HTMLParser):
    """Counts elements that are open."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag != "path":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "path":
            assert self.open.pop() == tag


def check_card(html):
    page = _Balance()
    page.feed(html)
    assert not page.open
    assert not {"style", "script", "link"} & set(page.seen)  # they would change the notebook
    # Colours are those around it, light or dark.
    assert not re.search(r"(?<![-\w])color:(?!inherit)|background:(?!none)|#[0-9a-f]{3}", html)


def test_a_result_is_a_card_and_a_line(model):
    html = model.result_._repr_html_()
    check_card(html)
    assert f"{model.inertia_:,.6g}" in html
    assert re.fullmatch(
        r"Result\(inertia=\S+, n_mutations=20, stop_reason='max_mutations', runtime=\S+\)",
        repr(model.result_),
    )
    frame = model.result_.to_frame()
    assert frame["best_inertia"].iloc[-1] == pytest.approx(model.inertia_)
    assert len(frame) == len(model.result_.statistics.elapsed)


def test_a_certificate_is_a_card_and_a_line(model):
    X = model.rows_of_the_test[:20]
    proof = kempe.certify(X, n_clusters=3, time_limit=2.0)
    check_card(proof._repr_html_())
    assert "lower bound" in proof._repr_html_()
    assert re.fullmatch(r"OptimalityCertificate\(inertia=.*, gap=.*, n_nodes=\d+\)", repr(proof))


def test_a_choice_is_a_card_with_the_suggestion_in_bold_and_a_frame(model):
    estimator = KempeKMeans(random_state=0, max_mutations=2)
    choice = kempe.choose_k(model.rows_of_the_test, range(2, 5), estimator=estimator)
    html = choice._repr_html_()
    check_card(html)
    (bold,) = re.findall(r"font-weight:700.*?<td[^>]*>(\d+)</td>", html)
    assert int(bold) == choice.suggested
    frame = choice.to_frame()
    assert frame["n_clusters"].tolist() == [2, 3, 4]
    assert frame["inertia"].is_monotonic_decreasing


@pytest.mark.slow
def test_a_comparison_is_a_card_and_a_frame(model):
    found = kempe.compare(model.rows_of_the_test, 3, methods=["kempe", "COPKM"], seeds=2, workers=1)
    check_card(found._repr_html_())
    assert "COPKM" in found._repr_html_()
    assert len(found.to_frame()) == 4
    assert repr(found) == "MethodComparison('data', runs solved: kempe 2 of 2, COPKM 2 of 2)"


def test_a_report_shows_itself_in_a_frame_of_its_own(model):
    report = model.result_.report()
    html = report._repr_html_()
    page = _Balance()
    page.feed(html)
    assert page.seen == ["iframe"]  # nothing of it is outside
    inside = unescape(re.search(r'srcdoc="(.*?)"', html, re.DOTALL)[1])
    assert inside == report.to_html()
    assert repr(report).startswith("Report('Clustering report', 60 rows in 4 clusters, inertia ")
    prices = report.prices_frame()
    assert list(prices)[:3] == ["kind", "first", "second"] or prices.empty


def test_estimators_link_to_their_pages():
    pages = {KempeKMeans: "kempe.KempeKMeans", KSKM: "kempe.KSKM", PCCC: "kempe.rivals.PCCC"}
    for estimator, page in pages.items():
        link = f"https://kempe.readthedocs.io/en/latest/generated/{page}.html"
        assert link in estimator(2)._repr_html_()


def test_names_cannot_leave_their_cells():
    hostile = "<script>x</script>"
    for html in (
        cards.card(hostile, cards.note(hostile)),
        cards.facts({hostile: hostile}),
        cards.table([[hostile], [hostile]]),
    ):
        assert "<script" not in html
    assert cards.curve([0, 1], [1, 1], "flat") == ""
    assert 'd="M0.0,0.0H130.0V46.0H260.0V46.0"' in cards.curve([0, 1, 2], [3, 2, 2], "fell")
