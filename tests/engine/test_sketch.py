"""Sketches of large problems: the same rows and pairs, seen along a few axes."""

from __future__ import annotations

import numpy as np
import pytest

from kempe import Constraints, KempeKMeans, _core
from kempe.engine import MemeticParams
from kempe.engine.sketch import AXES, Sketch, is_worth_sketching, n_axes
from kempe.problem import Problem

K = 4
N, D = 3000, 400


@pytest.fixture(scope="module")
def case():
    """Groups that differ along few axes, among many others that vary little."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(K, size=N)
    X = rng.normal(size=(N, D)).astype(np.float32)
    X[:, :3] += 4 * rng.normal(size=(K, 3))[hidden]
    pairs = rng.integers(N, size=(2000, 2))
    return X + 7, pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]], hidden


def build(case, **options):
    X, pairs, _ = case
    return Problem.build(X, Constraints(None, pairs), n_clusters=K, **options)


def sketch_of(problem, seed=0):
    return Sketch.draw(problem, np.random.default_rng(seed), _core.Stopper())


def test_a_sketch_has_few_dimensions_and_keeps_what_tells_clusters_apart(case):
    problem, hidden = build(case), case[2].astype(np.int32)
    sketch = sketch_of(problem)
    rough = sketch.rough
    assert sketch.whole is problem
    assert rough.n_features == n_axes(problem) < D / 4
    assert rough.n_supernodes == problem.n_supernodes
    assert rough.graph is problem.graph
    nothing = np.zeros(N, dtype=np.int32)
    explained = [p.inertia(nothing) - p.inertia(hidden) for p in (problem, rough)]
    assert explained[1] == pytest.approx(explained[0], rel=0.05)
    assert rough.inertia(hidden) < problem.inertia(hidden)
    assert sketch.is_faithful(hidden)


@pytest.mark.slow
def test_a_sketch_of_noise_is_given_up(case, monkeypatch):
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(N, D)).astype(np.float32), case[1], case[2]
    looked = []
    faithful = Sketch.is_faithful
    monkeypatch.setattr(
        Sketch, "is_faithful", lambda self, c: looked.append(faithful(self, c)) or looked[-1]
    )
    model = fitted(noise, max_mutations=24, params=MemeticParams(extra_relocations=2))
    assert looked
    assert not any(looked)
    # Two of the first generation, and one look at what became of them; none later.
    assert len(looked) == 3
    alone = fitted(noise, max_mutations=0)
    assert model.inertia_ < alone.inertia_


def test_along_all_axes_a_problem_is_what_it_was():
    rng = np.random.default_rng(1)
    X, weight = rng.normal(size=(60, 5)) + 3, rng.integers(1, 4, size=60) * 1.0
    constraints = Constraints([(0, 1), (1, 2), (7, 9)], [(0, 7), (3, 4)])
    problem = Problem.build(X, constraints, n_clusters=3, sample_weight=weight)
    axes = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    turned = problem.projected(np.full(5, 2.0), axes)
    colours = rng.integers(3, size=problem.n_supernodes).astype(np.int32)
    assert turned.within == pytest.approx(problem.within)
    assert turned.inertia(colours) == pytest.approx(problem.inertia(colours))
    np.testing.assert_allclose(turned.rows + turned.shift, (X @ axes), atol=1e-9)
    np.testing.assert_allclose(
        turned.points(turned.everyone),
        (problem.points(problem.everyone) - 2.0) @ axes,
        atol=1e-9,
    )


def test_only_large_data_of_many_features_is_sketched(case):
    X, _, _ = case
    assert is_worth_sketching(build(case))
    assert not is_worth_sketching(Problem.build(X[:500], n_clusters=K))
    assert not is_worth_sketching(Problem.build(X.reshape(-1, 40), n_clusters=K))
    assert not is_worth_sketching(Problem.build(X, n_clusters=D // 4))


@pytest.mark.parametrize("more", [0, 1])
def test_no_more_supernodes_than_axes_are_not_sketched(more):
    n_supernodes = AXES + K + more
    X = np.random.default_rng(0).normal(size=(n_supernodes + 3, 10**6 // n_supernodes + 1))
    together = Constraints([(0, 1), (1, 2), (7, 9)])
    problem = Problem.build(X.astype(np.float32), together, n_clusters=K)
    assert problem.n_supernodes == n_supernodes
    assert problem.core.is_large
    assert is_worth_sketching(problem) == bool(more)


def fitted(case, **options):
    X, pairs, _ = case
    return KempeKMeans(K, random_state=0, **options).fit(X, cannot_link=pairs)


def test_what_a_sketch_leads_to_is_a_local_optimum_in_all_dimensions(case):
    model = fitted(case, max_mutations=12)
    problem = build(case)
    search = _core.SequentialSearch(problem.core, K)
    again = search.descend(model.labels_.astype(np.int32), _core.Stopper())
    assert problem.inertia(again) == pytest.approx(model.inertia_, rel=1e-9)
    assert problem.is_proper(model.labels_.astype(np.int32))


def test_clusters_of_sketched_data_do_not_depend_on_threads(case):
    one, other = (fitted(case, max_mutations=30, n_jobs=n) for n in (1, 3))
    assert one.labels_.tobytes() == other.labels_.tobytes()
    assert one.inertia_ == other.inertia_


def test_given_centroids_and_a_target_hold_for_all_dimensions(case):
    X, _, hidden = case
    means = np.array([X[hidden == c].mean(axis=0) for c in range(K)])
    model = fitted(case, init=means, max_mutations=1)
    assert model.inertia_ <= build(case).inertia(hidden.astype(np.int32))
    lower = fitted(case, target_inertia=model.inertia_ * 1.001)
    assert lower.inertia_ <= model.inertia_ * 1.001
    assert lower.result_.stop_reason == "target_inertia"


def kinds(model):
    return model.result_.statistics.kind


def test_given_centroids_have_a_rival_that_is_drawn(case):
    X, _, hidden = case
    poor = X[hidden == 0][:K]
    model = fitted(case, init=poor, max_mutations=40, n_jobs=1)
    drawn = fitted(case, max_mutations=0)
    alone = fitted(case, init=poor, max_mutations=0)
    start, rival = model.result_.statistics.inertia[:2]
    assert kinds(model)[:2] == ["start", "start"]
    assert start == pytest.approx(alone.inertia_, rel=1e-3)
    assert rival == pytest.approx(drawn.inertia_, rel=1e-3)
    assert rival < start * 0.995
    assert model.inertia_ <= rival


def test_labels_and_a_single_mutation_have_no_rival(case):
    X, _, hidden = case
    assert kinds(fitted(case, init=hidden, max_mutations=40, n_jobs=1))[1] != "start"
    assert fitted(case, init=X[:K], max_mutations=1).n_iter_ == 2


def test_a_single_descent_makes_no_sketch(case, monkeypatch):
    monkeypatch.delattr(Sketch, "draw")
    assert fitted(case, max_mutations=0).n_iter_ == 1
    with pytest.raises(AttributeError):
        fitted(case, max_mutations=1)


def test_tight_graphs_are_annealed_instead(case):
    problem = build(case)
    assert MemeticParams().plan(problem).sketches
    assert not MemeticParams(annealing=True).plan(problem).sketches
