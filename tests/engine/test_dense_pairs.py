"""Many supernodes, pairs so dense that Kempe chains join nearly all of them."""

import numpy as np
import pytest

from kempe import Constraints, _core
from kempe.engine import sequential
from kempe.engine.sequential import SequentialDescent, is_ejected
from kempe.problem import Problem
from kempe.search.descent import Context

K, SINGLES, HEAVY = 8, 4000, 40


def dense(seed, n_edges=9):
    """Each class has a supernode of many rows; others are kept from most of those, and apart."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat(np.arange(K), HEAVY), rng.integers(K, size=SINGLES)])
    X = 2 * rng.standard_normal((K, 3))[y] + rng.standard_normal((y.size, 3))
    heads = np.arange(K) * HEAVY
    must = [(head, head + i) for head in heads for i in range(1, HEAVY)]
    pairs = rng.integers(K * HEAVY, y.size, (n_edges * SINGLES, 2))
    apart = [(head, row) for row in range(K * HEAVY, y.size) for head in heads[:5]]
    pairs = np.concatenate([pairs, apart, [(a, b) for a in heads for b in heads if a < b]])
    cannot = pairs[y[pairs[:, 0]] != y[pairs[:, 1]]]
    problem = Problem.build(X, Constraints(must, cannot, n_rows=y.size), n_clusters=K)
    colours = np.empty(problem.n_supernodes, np.int32)
    colours[problem.supernode] = y
    return problem, colours


def descend(problem, colours):
    context = Context(problem, np.random.default_rng(0), _core.Stopper())
    return SequentialDescent().descend(context, colours)


@pytest.mark.parametrize("seed", range(2))
def test_who_is_in_the_way_is_sent_elsewhere(seed, monkeypatch):
    problem, colours = dense(seed)
    assert is_ejected(problem)
    after = descend(problem, colours)
    monkeypatch.setattr(sequential, "is_ejected", lambda problem: False)
    without = descend(problem, colours)
    assert problem.is_proper(after)
    assert problem.inertia(after) < problem.inertia(without)
    np.testing.assert_array_equal(descend(problem, after), after)


def test_few_pairs_and_few_supernodes_are_left_to_chains():
    assert not is_ejected(dense(0, n_edges=1)[0])
    problem, _ = dense(0)
    few = Problem.build(problem.rows[:400], n_clusters=K)
    assert not is_ejected(few)
