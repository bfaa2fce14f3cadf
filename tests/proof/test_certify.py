"""``certify``: what it takes, when it ends, what it hands back."""

from __future__ import annotations

import math
import signal
import threading
import time

import numpy as np
import pytest

import kempe
from kempe import Constraints, InfeasibleConstraintsError, KempeKMeans, certify
from kempe.proof import OptimalityCertificate, ProofCallbacks, fixing
from kempe.proof import certify as certify_module
from kempe.proof import parts as parts_module
from kempe.proof.certificate import relative_gap
from random_certificates import overlapping, random_tiny


def verified(certificate: OptimalityCertificate, X, **given) -> OptimalityCertificate:
    proven = certificate.verify(X, **given)
    assert proven.lower_bound == pytest.approx(certificate.lower_bound, rel=1e-9)
    return certificate


@pytest.mark.parametrize("seed", range(150))
def test_tiny_problems_are_proven_optimal(seed):
    tiny = random_tiny(np.random.default_rng(1000 + seed))
    feasible = tiny.feasible()
    best = float(tiny.inertias(feasible).min())
    given = {"must_link": tiny.must_link, "cannot_link": tiny.cannot_link}
    weights = {"sample_weight": tiny.weights}
    if not tiny.weights.any():
        return
    labels = feasible[seed % len(feasible)]
    certificate = certify(
        tiny.X, labels, n_clusters=tiny.n_clusters, **given, **weights, gap=1e-3, random_state=0
    )
    room = 1e-8 * (best + np.abs(tiny.X).max() ** 2 * tiny.weights.sum())
    assert certificate.lower_bound <= best + room
    assert certificate.inertia >= best - room
    assert certificate.is_optimal or certificate.inertia - certificate.lower_bound <= room
    verified(certificate, tiny.X, **given, **weights)


def test_labels_may_come_from_a_search_an_array_or_a_model():
    problem = overlapping(n=30, pairs=20)
    X, pairs = problem["X"], {"cannot_link": problem["cannot_link"]}
    model = KempeKMeans(4, random_state=0).fit(X, **pairs)
    found = [
        certify(X, n_clusters=4, random_state=0, **pairs),
        certify(X, model.labels_, random_state=0, **pairs),
        certify(X, model, random_state=0, **pairs),
        certify(X, np.array(list("abcd"))[model.labels_], **pairs),
        certify(X, model, constraints=Constraints(**pairs)),
    ]
    for certificate in found:
        assert certificate.is_optimal
        assert verified(certificate, X, **pairs).inertia == pytest.approx(found[0].inertia)


def test_a_model_with_an_empty_cluster_keeps_its_number_of_clusters():
    class Model:
        labels_ = np.array([0, 0, 1, 1])
        n_clusters = 3

    assert certify(np.eye(4), Model()).n_clusters == 3


def test_better_labels_are_handed_back():
    problem = overlapping(n=40)
    X, pairs = problem["X"], {"cannot_link": problem["cannot_link"]}
    starts = [KempeKMeans(4, max_mutations=0, init="random", random_state=i) for i in range(10)]
    poor = max((start.fit(X, **pairs) for start in starts), key=lambda start: start.inertia_)
    good = KempeKMeans(4, random_state=0).fit(X, **pairs)
    assert poor.inertia_ > 1.01 * good.inertia_
    certificate = certify(X, poor, **pairs, random_state=0, time_limit=20)
    assert certificate.inertia <= good.inertia_ * (1 + 1e-9)
    assert certificate.history[0, 2] == pytest.approx(poor.inertia_)
    assert certificate.history[-1, 2] == pytest.approx(certificate.inertia)
    verified(certificate, X, **pairs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_and_branching_close_a_gap(n_jobs):
    problem = overlapping(seed=3, n=60, k=3)
    certificate = certify(**problem, n_jobs=n_jobs, random_state=0, time_limit=None)
    assert certificate.n_nodes > 1
    assert certificate.is_optimal
    verified(certificate, problem["X"], cannot_link=problem["cannot_link"])
    bounds = certificate.history[:, 1]
    assert (np.diff(bounds) >= -1e-6 * certificate.inertia).all()


def test_a_time_limit_is_kept_and_something_is_proven():
    problem = overlapping(n=250, k=6)
    started = time.perf_counter()
    certificate = certify(**problem, time_limit=2.0, gap=0.0, random_state=0)
    assert time.perf_counter() - started < 10
    assert 0 < certificate.lower_bound < certificate.inertia
    assert not certificate.is_optimal
    verified(certificate, problem["X"], cannot_link=problem["cannot_link"])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_returns_what_is_proven(n_jobs):
    problem = overlapping(seed=1, n=120, k=6, pairs=200)

    class Interrupt(ProofCallbacks):
        heard = 0

        def on_bound(self, state):
            self.heard += 1
            if self.heard == 3:
                main = threading.main_thread().ident
                signal.pthread_kill(main, signal.SIGINT)

    certificate = certify(
        **problem, n_jobs=n_jobs, callbacks=Interrupt(), time_limit=120, gap=0.0, random_state=0
    )
    assert certificate.seconds < 60
    assert 0 < certificate.lower_bound < certificate.inertia


def test_a_callback_hears_everything_and_can_end_the_proof():
    problem = overlapping(n=120, k=6, pairs=100)
    heard = []

    class Listener(ProofCallbacks):
        def on_start(self, n_rows, n_groups, n_clusters):
            heard.append(("start", n_rows, n_groups, n_clusters))

        def on_bound(self, state):
            heard.append(("bound", state.gap))
            return state.gap < 0.2

        def on_end(self, certificate):
            heard.append(("end", certificate.gap))

        def on_close(self):
            heard.append(("close",))

    certificate = certify(**problem, callbacks=[Listener()], random_state=0)
    assert heard[0] == ("start", 120, 120, 6)
    assert [event[0] for event in heard[-2:]] == ["end", "close"]
    gaps = [event[1] for event in heard if event[0] == "bound"]
    assert all(gap >= 0.2 for gap in gaps[:-1])
    assert gaps[-1] < 0.2
    assert not certificate.is_optimal


def test_a_progress_bar_is_shown(capsys):
    certify(np.arange(8.0)[:, None], n_clusters=2, verbose=1, random_state=0)
    assert "proven optimal" in capsys.readouterr().err


def test_the_gap_decides_what_counts_as_optimal():
    problem = overlapping(n=80, k=5)
    loose = certify(**problem, gap=0.5, random_state=0)
    assert loose.is_optimal
    assert loose.gap > 1e-3


def test_random_state_makes_runs_equal():
    problem = overlapping(n=40)
    runs = [certify(**problem, random_state=7) for _ in range(2)]
    assert runs[0].lower_bound == runs[1].lower_bound
    assert np.array_equal(runs[0].labels, runs[1].labels)


@pytest.mark.parametrize("k", [1, 5, 7])
def test_one_cluster_and_as_many_as_rows_are_settled_at_once(k):
    X = np.array([[0.0], [1.0], [1.0], [4.0], [9.0]])
    certificate = certify(X, np.arange(5) % min(k, 5), n_clusters=k)
    expected = 0.0 if k >= 5 else ((X - X.mean()) ** 2).sum()
    assert certificate.n_nodes == 1
    assert certificate.inertia == pytest.approx(expected)
    assert certificate.lower_bound == pytest.approx(expected)


def test_rows_without_weight_count_for_nothing_but_still_exclude():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [2.0], [2.1]])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    pairs = {"cannot_link": [(0, 4), (4, 1), (2, 3)]}
    certificate = certify(X, n_clusters=2, sample_weight=weights, random_state=0, **pairs)
    assert certificate.is_optimal
    assert certificate.labels[0] == certificate.labels[1]
    verified(certificate, X, sample_weight=weights, **pairs)


def three_groups():
    """300 rows in three groups, and pairs among them."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(3, 2)) * 5
    hidden = rng.integers(3, size=300)
    X = centres[hidden] + rng.normal(size=(300, 2))
    drawn = rng.integers(300, size=(40, 2))
    pairs = {
        "must_link": drawn[(hidden[drawn[:, 0]] == hidden[drawn[:, 1]])],
        "cannot_link": drawn[(hidden[drawn[:, 0]] != hidden[drawn[:, 1]])],
    }
    return X, pairs


def test_large_data_is_bounded_in_parts(monkeypatch):
    monkeypatch.setattr(certify_module, "WHOLE_UP_TO", 100)
    monkeypatch.setattr(certify_module, "PRICE_SHARE", 0.0)
    monkeypatch.setattr(parts_module, "LARGEST_PART", 100)
    X, pairs = three_groups()
    certificate = certify(X, n_clusters=3, random_state=0, **pairs)
    assert certificate.method == "parts"
    assert "parts" in certificate.summary()
    assert len(certificate.parts) == 3
    rows = np.sort(np.concatenate([part.rows for part in certificate.parts]))
    np.testing.assert_array_equal(rows, np.arange(300))
    # A third of the rows has centroids of its own, which costs some per cent.
    assert 0.005 < verified(certificate, X, **pairs).gap < 0.1


def test_parts_come_after_prices_that_leave_a_gap_and_the_larger_bound_counts(monkeypatch):
    monkeypatch.setattr(certify_module, "WHOLE_UP_TO", 100)
    monkeypatch.setattr(certify_module, "PARTS_FROM", -1.0)
    monkeypatch.setattr(parts_module, "LARGEST_PART", 100)
    X, pairs = three_groups()
    certificate = certify(X, n_clusters=3, random_state=0, time_limit=10, **pairs)
    assert certificate.method == "prices"
    assert verified(certificate, X, **pairs).gap < 0.01
    monkeypatch.setattr("kempe.proof.price_proof.WIDEST", 1e6)
    monkeypatch.setattr("kempe.proof.price_proof.COVER_SHARE", 0.0)
    certificate = certify(X, n_clusters=3, random_state=0, time_limit=10, **pairs)
    assert certificate.method == "parts"


def test_prices_come_before_a_large_matrix_and_it_follows_where_they_leave_a_gap(monkeypatch):
    monkeypatch.setattr(certify_module, "PRICED_FIRST", 100)
    X, pairs = three_groups()
    certificate = certify(X, n_clusters=3, random_state=0, time_limit=30, gap=0.02, **pairs)
    assert certificate.method == "prices"
    assert verified(certificate, X, **pairs).gap <= 0.02
    monkeypatch.setattr("kempe.proof.price_proof.WIDEST", 1e6)
    monkeypatch.setattr("kempe.proof.price_proof.COVER_SHARE", 0.0)
    certificate = certify(X, n_clusters=3, random_state=0, time_limit=30, gap=0.02, **pairs)
    assert certificate.method == "sdp"
    assert verified(certificate, X, **pairs).gap <= 0.02


def test_where_time_is_short_there_are_parts_and_each_has_some_bound():
    X, pairs = three_groups()
    model = KempeKMeans(3, random_state=0).fit(X, **pairs)
    certificate = certify(X, model, time_limit=1e-3, random_state=0, **pairs)
    assert certificate.method == "parts"
    assert len(certificate.parts) == 3
    assert 0.005 < verified(certificate, X, **pairs).gap < 0.6


@pytest.mark.parametrize(
    ("seconds", "size"), [(math.inf, 2500), (100.0, 1505), (20.0, 500), (0.0, 104)]
)
def test_parts_are_as_large_as_time_allows(seconds, size):
    assert parts_module.part_size(10_000, 26, seconds) == pytest.approx(size, abs=1)


@pytest.mark.parametrize(("n_clusters", "seconds", "size"), [(3, 60, 396), (3, 600, 1252)])
def test_parts_of_few_clusters_grow_with_the_root_of_time(n_clusters, seconds, size):
    assert parts_module.part_size(10_000, n_clusters, seconds) == size


def test_parts_have_some_groups_for_each_cluster():
    assert parts_module.part_size(10_000, 80, 0.0) == 320


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give labels, or n_clusters"),
        ({"labels": [0, 1]}, "5 rows need as many labels"),
        ({"labels": [0, 1, 2, 0, 1], "n_clusters": 2}, "more than n_clusters=2"),
        (
            {"labels": [0, 0, 1, 1, 1], "must_link": [(0, 2)]},
            r"violate the must-link pair \(0, 2\)",
        ),
        (
            {"labels": [0, 0, 1, 1, 1], "cannot_link": [(0, 1)]},
            r"violate the cannot-link pair \(0, 1\)",
        ),
    ],
)
def test_what_cannot_be_certified_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        certify(np.arange(5.0)[:, None], **given)


def test_constraints_that_no_clustering_obeys_are_an_error():
    with pytest.raises(InfeasibleConstraintsError):
        certify(np.eye(3), n_clusters=2, cannot_link=[(0, 1), (1, 2), (0, 2)])


def test_the_bound_is_the_checkers():
    problem = overlapping(n=40)
    certificate = certify(**problem, random_state=0)
    assert certificate.lower_bound == certificate.history[-1, 1]
    assert certificate.gap == relative_gap(certificate.lower_bound, certificate.inertia)
    assert kempe.certify is certify


def test_pairs_that_were_fixed_too_soon_cost_no_more_than_what_follows_from_them(monkeypatch):
    problem = overlapping(seed=3, n=60, k=5, pairs=200)
    sound = certify(**problem, time_limit=20, gap=1e-7, random_state=0)
    assert any(node.kind == "fixing" for part in sound.parts for node in part.nodes)
    # With less than no margin pairs are fixed that better clusterings have together.
    monkeypatch.setattr(fixing, "MARGIN", -0.05)
    certificate = certify(**problem, time_limit=20, gap=1e-7, random_state=0)
    assert not any(node.kind == "fixing" for part in certificate.parts for node in part.nodes)
    assert 0 < certificate.lower_bound <= sound.inertia * (1 + 1e-9)
    verified(certificate, problem["X"], cannot_link=problem["cannot_link"])


@pytest.mark.parametrize("price", [1e11, 1e12, 1e20, 1e100])
def test_prices_far_above_the_inertia_leave_a_proof(price):
    rng = np.random.default_rng(6)
    X, pairs = rng.normal(size=(14, 2)), [(1, 8), (11, 12)]
    labels = np.arange(14) % 3
    certificate = certify(
        X, labels, soft_must_link=pairs, soft_price=price, time_limit=0.5, random_state=0
    )
    assert 0 <= certificate.lower_bound <= certificate.objective


@pytest.mark.parametrize(("scale", "flows"), [(1e160, "overflow"), (1e-200, "underflow")])
def test_data_without_an_inertia_in_double_precision_is_refused(scale, flows):
    X = scale * np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match=f"the inertia would {flows}; scale X"):
        certify(X, np.arange(12) % 3)


@pytest.mark.slow
def test_ctrl_c_during_the_search_for_labels_ends_the_proof_too():
    X = np.random.default_rng(0).normal(size=(1500, 4))
    pressed: list[float] = []

    def press() -> None:
        time.sleep(1.0)
        pressed.append(time.perf_counter())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=press).start()
    # The search has a share of the time, so Ctrl-C falls into it.
    certificate = certify(X, n_clusters=20, time_limit=60, random_state=0)
    assert time.perf_counter() - pressed[0] < 15
    assert 0 <= certificate.lower_bound <= certificate.inertia
