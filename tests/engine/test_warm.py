"""Searches that go on from labels."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

import kempe
from kempe import InfeasibleConstraintsError, KempeKMeans
from kempe.engine import warm
from kempe.engine.warm import broken_edges, colours_of_labels, most_common, rows_changed
from random_problems import context_of, random_problem


def fewest_changes(problem, labels):
    """Rows that must change at least, by looking at every colouring."""
    edges = problem.graph.edges
    changed = rows_changed(problem, labels, problem.everyone)
    best = np.inf
    for colouring in itertools.product(range(problem.n_clusters), repeat=problem.n_supernodes):
        colours = np.array(colouring)
        if (colours[edges[:, 0]] != colours[edges[:, 1]]).all():
            best = min(best, changed[problem.everyone, colours].sum())
    return best


@pytest.mark.parametrize("seed", range(20))
def test_as_few_rows_as_possible_change(seed):
    problem, _ = random_problem(seed, n=9, k=3, density=0.3, merged=2)
    labels = np.random.default_rng(seed).integers(3, size=9, dtype=np.int32)
    colours = colours_of_labels(context_of(problem), labels)
    assert problem.is_proper(colours)
    changed = np.count_nonzero(problem.labels(colours) != labels)
    assert changed == fewest_changes(problem, labels)


@pytest.mark.parametrize("exact_up_to", [0, 24])
@pytest.mark.parametrize("most_chains", [0, 256])
@pytest.mark.parametrize("seed", range(8))
def test_every_way_of_mending_gives_a_proper_colouring(monkeypatch, seed, exact_up_to, most_chains):
    monkeypatch.setattr(warm, "EXACT_UP_TO", exact_up_to)
    monkeypatch.setattr(warm, "MOST_CHAINS", most_chains)
    problem, _ = random_problem(seed, n=60, k=4, density=0.06, merged=10)
    labels = np.random.default_rng(seed).integers(4, size=60, dtype=np.int32)
    assert problem.is_proper(colours_of_labels(context_of(problem), labels))


@pytest.mark.parametrize("seed", range(10))
def test_a_swapped_chain_breaks_no_other_edge(seed):
    problem, _ = random_problem(seed, n=60, k=4, density=0.1)
    colours = np.random.default_rng(seed).integers(4, size=problem.n_supernodes, dtype=np.int32)
    before = {tuple(edge) for edge in broken_edges(problem.graph, colours).tolist()}
    after = warm._swap_chains(problem, colours)
    left = {tuple(edge) for edge in broken_edges(problem.graph, after).tolist()}
    assert left < before


def test_labels_that_break_nothing_stay():
    problem, colours = random_problem(3)
    labels = problem.labels(colours)
    assert (colours_of_labels(context_of(problem), labels) == colours).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_supernode_takes_the_label_of_most_of_its_rows(seed):
    problem, _ = random_problem(seed, n=40, k=3, merged=40)
    labels = np.random.default_rng(seed).integers(3, size=40, dtype=np.int32)
    for vertex, colour in enumerate(most_common(problem, labels).tolist()):
        votes = np.bincount(labels[problem.supernode == vertex], minlength=3)
        assert votes[colour] == votes.max()


def blobs(n, k=10, d=10, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    return 2 * rng.normal(size=(k, d))[truth] + 1.5 * rng.normal(size=(n, d)), truth


def answers(truth, count, seed=0):
    pairs = np.random.default_rng(seed).integers(truth.size, size=(count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return pairs[same], pairs[~same]


def test_a_local_optimum_stays_as_it_is():
    X, truth = blobs(300, 4, 3)
    must, cannot = answers(truth, 30)
    found = KempeKMeans(4, random_state=0).fit(X, must_link=must, cannot_link=cannot)
    again = KempeKMeans(4, max_mutations=0)
    again.fit(X, must_link=must, cannot_link=cannot, init=found.labels_)
    assert (again.labels_ == found.labels_).all()
    assert again.result_.n_mutations == 0


@pytest.mark.parametrize("given", ["to fit", "to the estimator"])
def test_the_first_solution_comes_from_the_labels(given):
    X = np.repeat([0.0, 10.0, 20.0], 2)[:, None]
    for names in itertools.permutations(range(3)):
        labels = np.repeat(names, 2)
        own = {"init": labels} if given == "to the estimator" else {}
        model = KempeKMeans(3, max_mutations=0, random_state=0, **own)
        model.fit(X, **({} if own else {"init": labels}))
        assert model.labels_.tolist() == labels.tolist()


def test_a_search_goes_on_from_the_labels():
    X, truth = blobs(400, 6, 3)
    must, cannot = answers(truth, 100)
    poor = np.random.default_rng(0).integers(6, size=400)
    found = KempeKMeans(6, random_state=0).fit(X, must_link=must, cannot_link=cannot, init=poor)
    fresh = KempeKMeans(6, random_state=0).fit(X, must_link=must, cannot_link=cannot)
    assert found.inertia_ == pytest.approx(fresh.inertia_, rel=0.005)


def test_an_estimator_with_labels_can_be_saved(tmp_path):
    X, _ = blobs(60, 3, 2)
    labels = np.arange(60) % 3
    model = KempeKMeans(3, init=labels, max_mutations=0).fit(X)
    model.save(tmp_path / "model")
    loaded = kempe.load(tmp_path / "model")
    assert (loaded.init == labels).all()
    assert (loaded.fit(X).labels_ == model.labels_).all()


def test_infeasible_pairs_get_their_proof():
    X = np.arange(6.0)[:, None]
    with pytest.raises(InfeasibleConstraintsError, match="at least 3 clusters"):
        KempeKMeans(2).fit(X, cannot_link=[(0, 1), (1, 2), (0, 2)], init=[0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "a label for each of 6 rows"),
        ([0, 1, 2, 0, 1, 2], "clusters from 0 to 1, got 0 to 2"),
        ([0, 1, -1, 0, 1, 1], "got -1 to 1"),
        ([0.5, 1, 0, 0, 1, 1], "whole numbers"),
        ([[0.0], [1.0]], "give centroids to the estimator"),
    ],
)
def test_wrong_labels_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        KempeKMeans(2).fit(np.arange(6.0)[:, None], init=labels)


@pytest.mark.timing
@pytest.mark.parametrize(("n", "most"), [(1000, 0.003), (10_000, 0.015), (100_000, 0.15)])
def test_one_more_pair_takes_milliseconds(n, most):
    X, truth = blobs(n)
    labels = KempeKMeans(10, max_mutations=10, random_state=0).fit(X).labels_
    must, cannot = answers(truth, 50)
    seconds = []
    for count in range(5, 25):
        model = KempeKMeans(10, max_mutations=0, random_state=0)
        started = time.process_time()
        model.fit(X, must_link=must[:count], cannot_link=cannot[:count], init=labels)
        seconds.append(time.process_time() - started)
        labels = model.labels_
    assert np.median(seconds) <= most


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_fifty_answers_taken_in_one_by_one_end_near_a_full_search(seed):
    X, truth = blobs(1000, seed=seed)
    labels = KempeKMeans(10, random_state=0).fit(X).labels_
    must, cannot = answers(truth, 50, seed)
    kind = np.r_[np.zeros(len(must)), np.ones(len(cannot))]
    for count in range(1, 51):
        order = np.random.default_rng(seed).permutation(kind.size)[:count]
        pairs = {
            "must_link": must[order[kind[order] == 0]],
            "cannot_link": cannot[order[kind[order] == 1] - len(must)],
        }
        model = KempeKMeans(10, max_mutations=0, random_state=0).fit(X, init=labels, **pairs)
        labels = model.labels_
    full = KempeKMeans(10, random_state=0).fit(X, **pairs)
    assert model.inertia_ <= 1.005 * full.inertia_
