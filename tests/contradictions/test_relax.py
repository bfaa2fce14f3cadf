"""Pairs to give up: as few as all clusterings show, obeyed otherwise, and proven."""

import itertools
import signal
import time
from dataclasses import replace

import numpy as np
import pytest

import kempe
from kempe import Constraints, InfeasibleConstraintsError, KempeKMeans, relax
from kempe.contradictions import Contradiction
from kempe.soft_pairs import log_odds


def contradicting(seed, n=7, n_pairs=12):
    """Pairs at random, with weights."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(n, size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together = rng.random(len(pairs)) < 0.5
    weight = rng.integers(1, 5, size=len(pairs)).astype(float)
    return (
        Constraints(pairs[together], pairs[~together], n_rows=n),
        weight[together],
        weight[~together],
    )


def cost_of(labels, pairs, ml_weight, cl_weight):
    labels = np.asarray(labels)
    ml, cl = pairs.must_link, pairs.cannot_link
    parted = labels[ml[:, 0]] != labels[ml[:, 1]]
    joined = labels[cl[:, 0]] == labels[cl[:, 1]]
    return float(ml_weight[parted].sum() + cl_weight[joined].sum())


def least_cost(pairs, k, ml_weight, cl_weight, n=7):
    every = itertools.product(range(k), repeat=n)
    return min(cost_of(labels, pairs, ml_weight, cl_weight) for labels in every)


@pytest.mark.parametrize("with_data", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_it_gives_up_what_all_clusterings_show_to_be_the_least(seed, weighted, with_data):
    pairs, *weights = contradicting(seed)
    k = 1 + seed % 4
    if not weighted:
        weights = [np.ones_like(w) for w in weights]
    X = np.random.default_rng(seed).normal(size=(7, 2)) if with_data else None
    given = dict(zip(("must_link_weight", "cannot_link_weight"), weights, strict=True))
    found = relax(X, pairs, k, random_state=seed, **given)
    least = least_cost(pairs, k, *weights)
    assert found.cost == pytest.approx(least)
    assert found.lower_bound <= least + 1e-9
    assert found.verify()
    broken = found.kept.violations(found.labels)
    assert not broken.must_link.size
    assert not broken.cannot_link.size
    total = len(found.kept.must_link) + len(found.kept.cannot_link) + found.n_given_up
    assert total == len(pairs.must_link) + len(pairs.cannot_link)
    if with_data:
        assert isinstance(found.model, KempeKMeans)
        np.testing.assert_array_equal(found.model.labels_, found.labels)


@pytest.mark.parametrize("seed", range(8))
def test_two_clusters_and_whole_weights_are_nearly_always_proven(seed):
    pairs, *_ = contradicting(seed, n=20, n_pairs=40)
    found = relax(None, pairs, 2, random_state=0)
    assert found.lower_bound >= 0.8 * found.cost > 0


def test_constraints_without_a_contradiction_are_kept():
    pairs = Constraints([(0, 1)], [(1, 2)], n_rows=4)
    found = relax(None, pairs, 2)
    assert found.is_optimal
    assert not found.n_given_up
    assert found.kept == pairs
    assert found.labels[3] == -1, "no pair names this row"
    assert "all pairs hold" in found.summary()


def test_a_graph_that_is_hard_to_colour_is_not_taken_for_a_contradiction():
    rng = np.random.default_rng(0)
    hidden = rng.integers(5, size=120)
    pairs = rng.integers(120, size=(2000, 2))
    pairs = pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]]
    assert relax(None, Constraints(cannot_link=pairs), 5, random_state=0).cost == 0


def test_groups_that_must_all_be_apart_are_a_contradiction():
    together = [(0, 4), (1, 5), (2, 6), (3, 7)]
    apart = [(0, 1), (4, 2), (0, 3), (5, 6), (1, 7), (2, 3)]
    found = relax(None, Constraints(together, apart), 3)
    assert found.n_given_up == 1
    assert found.is_optimal
    [proof] = found.contradictions
    assert proof.verify(found.constraints, 3)
    assert not proof.verify(found.constraints, 4), "four clusters are enough"
    without = Contradiction(proof.must_link[1:], proof.cannot_link, 3)
    assert not without.verify(found.constraints, 3), "the links between the rows are needed"


def test_of_equally_few_pairs_the_data_decides():
    X = np.array([[0.0], [0.1], [5.0]])
    pairs = Constraints([(0, 1), (1, 2)], [(0, 2)])
    found = relax(X, pairs, 2, random_state=0)
    assert found.pairs.tolist() == [[1, 2]]
    assert found.given_up.to_dict("records") == [
        {"kind": "must-link", "first": 1, "second": 2, "weight": 1.0}
    ]


def test_weights_decide_before_the_data():
    X = np.array([[0.0], [0.1], [5.0]])
    pairs = Constraints([(0, 1), (1, 2)], [(0, 2)])
    found = relax(X, pairs, 2, must_link_weight=[1.0, 3.0], cannot_link_weight=2.0)
    assert found.pairs.tolist() == [[0, 1]]
    assert found.cost == 1


def test_where_some_pairs_may_be_wrong_the_others_stay():
    sure = [0.9, 0.6]
    pairs = Constraints(
        [(0, 1)],
        soft_must_link=[(1, 2)],
        soft_cannot_link=[(0, 2)],
        soft_must_link_confidence=sure[:1],
        soft_cannot_link_confidence=sure[1:],
    )
    found = relax(None, pairs, 2)
    assert found.pairs.tolist() == [[0, 2]]
    assert not found.together[0]
    assert found.cost == pytest.approx(log_odds(np.array([0.6]))[0])
    assert found.lower_bound == pytest.approx(found.cost)
    assert found.given_up.confidence.tolist() == [0.6]
    assert found.verify()


def test_hard_pairs_that_contradict_each_other_beside_soft_ones_are_an_error():
    pairs = Constraints([(0, 1), (1, 2)], [(0, 2)], soft_must_link=[(3, 4)])
    with pytest.raises(InfeasibleConstraintsError, match="only soft pairs are given up") as error:
        relax(None, pairs, 2)
    assert error.value.certificate.verify(pairs)
    pairs = Constraints(None, [(0, 1), (1, 2), (0, 2)], soft_must_link=[(3, 4)])
    with pytest.raises(InfeasibleConstraintsError, match="only soft pairs are given up"):
        relax(None, pairs, 2)


def test_it_speaks_of_ids():
    pairs = Constraints.from_ids(
        [("ann", "bob"), ("bob", "cid")], [("ann", "cid")], ids=["ann", "bob", "cid"]
    )
    found = relax(None, pairs, 2, cannot_link_weight=0.5)
    assert found.given_up[["first", "second"]].values.tolist() == [["ann", "cid"]]
    assert (
        str(found.contradictions[0]) == "3 pairs cannot all hold: ann = bob, bob = cid, ann ≠ cid"
    )


def test_a_pair_that_is_said_twice_counts_twice():
    pairs = Constraints([(0, 1), (1, 0)], [(0, 1)])
    found = relax(None, pairs, 2)
    assert found.pairs.tolist() == [[0, 1]]
    assert not found.together[0]
    assert found.lower_bound == 1
    assert found.verify()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be a positive whole number"),
        ({"must_link_weight": [1.0]}, "one for each of the 2 pairs"),
        ({"cannot_link_weight": -1.0}, "must be above 0"),
        ({"cannot_link_weight": np.nan}, "must be above 0"),
        ({"cannot_link_weight": 1e308}, "must be above 0 and finite"),
        ({"must_link_weight": 5e-324}, "must be above 0 and finite"),
        ({"must_link_weight": ["a", "b"]}, "must_link_weight must be numbers"),
        ({"must_link_weight": 1j}, "must_link_weight must be numbers"),
        ({"time_limit": np.nan}, "time_limit must be a positive number"),
        ({"time_limit": -1.0}, "time_limit must be a positive number"),
        ({"time_limit": "1"}, "time_limit must be a positive number"),
        ({"constraints": None}, "neither data nor pairs"),
        ({"sample_weight": [1.0]}, "which is None"),
        ({"X": [[0.0], [1.0]]}, "out of range"),
        ({"X": [[0.0], [1.0], [2.0]], "n_clusters": 4}, "at least n_clusters"),
    ],
)
def test_wrong_input_is_named(change, message):
    pairs = Constraints([(0, 1), (1, 2)], [(0, 2)])
    with pytest.raises(ValueError, match=message):
        relax(**{"X": None, "constraints": pairs, "n_clusters": 2, **change})


@pytest.mark.parametrize("n_clusters", [10**9, 10**30])
def test_more_clusters_than_rows_take_no_memory(n_clusters):
    pairs = Constraints([(0, 1), (1, 2)], [(0, 2), (3, 4)])
    found = relax(None, pairs, n_clusters, random_state=0)
    assert (found.n_given_up, found.n_clusters, found.is_optimal) == (1, n_clusters, True)
    assert found.verify()


def test_soft_pairs_need_confidences_of_all_or_of_none_and_no_weights():
    unsaid = Constraints(soft_must_link=[(0, 1)], soft_must_link_confidence=0.9)
    unsaid = unsaid | Constraints(soft_cannot_link=[(0, 1)])
    with pytest.raises(ValueError, match="1 of 2 soft pairs have no confidence"):
        relax(None, unsaid, 2)
    with pytest.raises(ValueError, match="weights are of hard pairs"):
        relax(None, Constraints(soft_must_link=[(0, 1)]), 2, must_link_weight=2.0)


def many():
    rng = np.random.default_rng(0)
    pairs = rng.integers(60, size=(300, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return Constraints(pairs[:100], pairs[100:], n_rows=60)


def test_threads_change_nothing_and_the_seed_decides():
    found = [relax(None, many(), 3, n_jobs=jobs, random_state=3) for jobs in (1, 2)]
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
    again = relax(None, many(), 3, random_state=4)
    assert not np.array_equal(again.labels, found[0].labels)


def test_a_time_limit_and_a_callback_end_the_search_with_what_there_is():
    begun = time.perf_counter()
    found = relax(None, many(), 3, time_limit=0.1, random_state=0)
    assert time.perf_counter() - begun < 3
    assert found.stop_reason == "time_limit"
    assert found.verify()
    seen = []

    def enough(state):
        seen.append(state)
        return True

    found = relax(None, many(), 3, callback=enough, random_state=0)
    assert found.stop_reason == "callback"
    assert found.verify()
    assert seen[0].cost >= found.cost >= seen[0].lower_bound


def test_ctrl_c_returns_the_best_so_far():
    def interrupt(state):
        signal.raise_signal(signal.SIGINT)

    X = np.random.default_rng(0).normal(size=(60, 2))
    found = relax(X, many(), 3, callback=interrupt, random_state=0)
    assert found.stop_reason == "interrupted"
    assert found.verify()


def test_verify_sees_what_was_tampered_with():
    found = relax(None, many(), 3, time_limit=2, random_state=0)
    assert found.verify()
    one = found.contradictions[0]
    assert not replace(found, contradictions=(*found.contradictions, one)).verify(), "used twice"
    kept = found.constraints
    assert not replace(found, kept=kept).verify(), "pairs that do not hold"
    foreign = replace(one, must_link=np.array([[58, 59]]))
    assert not replace(found, contradictions=(foreign,)).verify()


def test_errors_of_fit_name_it():
    X = np.zeros((3, 1)) + np.arange(3)[:, None]
    pairs = Constraints([(0, 1), (1, 2)], [(0, 2)])
    with pytest.raises(InfeasibleConstraintsError, match=r"kempe\.relax finds"):
        KempeKMeans(2).fit(X, constraints=pairs)
    with pytest.raises(InfeasibleConstraintsError, match=r"kempe\.relax finds"):
        KempeKMeans(2).fit(X, cannot_link=[(0, 1), (1, 2), (0, 2)])
    assert kempe.relax(X, pairs, 2).n_given_up == 1


def test_it_says_what_it_found():
    found = relax(None, many(), 3, time_limit=1, random_state=0)
    assert f"give up       {found.n_given_up} of" in found.summary()
    assert "contradictions that share no pair" in found.summary()
    assert repr(found).startswith("Relaxation(n_given_up=")
    assert "Relaxation" in found._repr_html_()


def test_a_bar_is_drawn(capsys):
    relax(None, many(), 3, time_limit=0.3, verbose=1, random_state=0)
    assert "3 clusters" in capsys.readouterr().err
