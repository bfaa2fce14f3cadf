from __future__ import annotations

from kempe import _core
from kempe.engine import AnnealingDescent, SequentialDescent
from random_problems import context_of


def test_the_descent_ends_no_higher_than_swaps_alone_and_often_lower(planted):
    lower = 0
    for seed in range(8):
        problem = planted(seed, n_clusters=3, n_pairs=60).problem
        start, stuck = _core.dsatur(problem.graph.core, problem.n_clusters)
        assert stuck < 0
        swaps = SequentialDescent().descend(context_of(problem, seed), start)
        found = AnnealingDescent(SequentialDescent()).descend(context_of(problem, seed), start)
        assert problem.graph.is_proper(found)
        assert problem.inertia(found) <= problem.inertia(swaps) * (1 + 1e-12)
        lower += problem.inertia(found) < problem.inertia(swaps) * (1 - 1e-6)
    assert lower >= 2
