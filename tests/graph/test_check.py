"""Colourings and proofs on graphs with a known chromatic number, made by formula."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from kempe import (
    Constraints,
    InfeasibleConstraintsError,
    KempeKMeans,
    NoSolutionFoundError,
    _core,
)
from kempe.graph.certificates import Clique, CriticalPairs, MustLinkPath, pairs_graph
from kempe.graph.check import colour_or_explain
from kempe.graph.colouring import colour_graph
from kempe.problem import Problem


def find_colouring(problem, rng, stopper):
    return colour_or_explain(problem.graph, problem.constraints, problem.n_clusters, rng, stopper)


def queens(size):
    """Squares of a board that a queen can move between."""
    row, column = np.divmod(np.arange(size * size), size)
    a, b = np.triu_indices(size * size, k=1)
    diagonal = abs(row[a] - row[b]) == abs(column[a] - column[b])
    attack = (row[a] == row[b]) | (column[a] == column[b]) | diagonal
    return np.column_stack([a[attack], b[attack]])


def mycielski(order):
    """Triangle-free, with chromatic number ``order + 1`` (the myciel graphs of DIMACS)."""
    edges, size = np.array([[0, 1]]), 2
    for _ in range(order - 1):
        copies = np.concatenate([edges, edges[:, ::-1]]) + np.array([0, size])
        star = np.column_stack([np.arange(size, 2 * size), np.full(size, 2 * size)])
        edges, size = np.concatenate([edges, copies, star]), 2 * size + 1
    return edges


def flat(size, colours, n_edges, seed):
    """Random edges between equal classes, the same number between every two of them."""
    rng = np.random.default_rng(seed)
    classes = np.array_split(rng.permutation(size), colours)
    pairs = [(classes[a], classes[b]) for a in range(colours) for b in range(a)]
    edges = []
    for one, other in pairs:
        chosen = rng.choice(len(one) * len(other), n_edges // len(pairs), replace=False)
        first, second = np.divmod(chosen, len(other))
        edges.append(np.column_stack([one[first], other[second]]))
    return np.concatenate(edges)


def regular(size, degree, seed):
    """Pair up stubs at random, and start again while an edge is a loop or double."""
    rng = np.random.default_rng(seed)
    while True:
        stubs = rng.permutation(np.repeat(np.arange(size), degree))
        edges = np.sort(stubs.reshape(-1, 2), axis=1)
        if (edges[:, 0] != edges[:, 1]).all() and len(np.unique(edges, axis=0)) == len(edges):
            return edges


CLASSICS = {
    "queens 6x6": (queens(6), 7),
    "queens 8x8": (queens(8), 9),
    "Mycielski 4": (mycielski(4), 5),
    "Mycielski 5": (mycielski(5), 6),
    "flat 3-colourable": (flat(300, 3, 700, seed=0), 3),
    "5-regular": (regular(40, 5, seed=0), 4),
    "odd cycle": (np.column_stack([np.arange(9), (np.arange(9) + 1) % 9]), 3),
}
MARKS = {"queens 8x8": pytest.mark.stress, "Mycielski 5": pytest.mark.slow}
ALL = [pytest.param(n, marks=MARKS.get(n, ())) for n in CLASSICS]


def problem_of(edges, k):
    points = np.random.default_rng(0).random((int(edges.max()) + 1, 2))
    return Problem.build(points, Constraints(cannot_link=edges), n_clusters=k)


@pytest.mark.parametrize("name", CLASSICS)
@pytest.mark.parametrize("seed", range(3))
def test_a_colouring_with_the_chromatic_number_is_found(name, seed):
    edges, k = CLASSICS[name]
    problem = problem_of(edges, k)
    rng = np.random.default_rng(seed)
    colours = find_colouring(problem, rng, _core.Stopper(60))
    assert problem.is_proper(colours)
    assert 0 <= colours.min() <= colours.max() < k


@pytest.mark.parametrize("name", ALL)
def test_one_cluster_less_is_proven_impossible(name):
    edges, k = CLASSICS[name]
    problem = problem_of(edges, k - 1)
    with pytest.raises(InfeasibleConstraintsError, match=rf"cannot be met with {k - 1}") as error:
        find_colouring(problem, np.random.default_rng(0), _core.Stopper(600))
    certificate = error.value.certificate
    constraints = Constraints(cannot_link=edges)
    assert certificate.verify(constraints, k - 1)
    assert f"smallest number that works is {k}" in str(error.value)


@pytest.mark.parametrize("name", ["queens 6x6", "Mycielski 4", "5-regular", "odd cycle"])
def test_every_pair_of_a_minimal_certificate_is_needed(name):
    edges, k = CLASSICS[name]
    certificate = Constraints(cannot_link=edges).check(k - 1).certificate
    assert isinstance(certificate, CriticalPairs)
    assert certificate.proven_minimal
    rows = np.arange(int(edges.max()) + 1, dtype=np.int32)
    for left_out in range(len(certificate.pairs)):
        rest = pairs_graph(rows, np.delete(certificate.pairs, left_out, axis=0))
        answer = colour_graph(rest, k - 1, np.random.default_rng(0), _core.Stopper(10))
        assert answer.colours is not None
        assert rest.is_proper(answer.colours)


def test_a_proof_is_marked_when_time_did_not_suffice_to_make_it_small(monkeypatch):
    monkeypatch.setattr("kempe.graph.check.SHRINKING_SECONDS", 0.0)
    edges, k = CLASSICS["Mycielski 4"]
    constraints = Constraints(cannot_link=edges)
    certificate = constraints.check(k - 1).certificate
    assert not certificate.proven_minimal
    assert certificate.verify(constraints, k - 1)
    assert not certificate.verify(constraints, k)
    assert not certificate.verify(Constraints(cannot_link=edges[1:]), k - 1)


def test_running_out_of_time_is_not_called_infeasible():
    problem = problem_of(*CLASSICS["queens 8x8"])
    stopper = _core.Stopper(0.0)
    with pytest.raises(NoSolutionFoundError, match="may nevertheless exist"):
        find_colouring(problem, np.random.default_rng(0), stopper)


def test_the_shortest_must_link_path_contradicts_a_cannot_link_pair():
    ml = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 4), (7, 8)]
    constraints = Constraints(ml, [(6, 0), (4, 0)])
    with pytest.raises(InfeasibleConstraintsError, match=r"0 = 1 = 5 = 4|4 = 5 = 1 = 0") as error:
        Problem.build(np.zeros((9, 1)), constraints, n_clusters=3)
    path = error.value.certificate
    assert isinstance(path, MustLinkPath)
    assert path.verify(constraints)
    assert not MustLinkPath((4, 1, 0)).verify(constraints)
    report = constraints.check(3)
    assert report.feasible is False
    assert report.upper_bound is None
    assert "no number of clusters" in str(report)


def test_a_clique_of_must_linked_groups_is_told_in_row_numbers():
    ml = [(0, 10), (1, 11), (2, 12), (3, 13)]
    cl = [(0, 1), (10, 2), (0, 13), (11, 12), (1, 3), (12, 13), (20, 21)]
    constraints = Constraints(ml, cl)
    report = constraints.check(3)
    assert isinstance(report.certificate, Clique)
    assert report.certificate.verify(constraints, 3)
    assert not report.certificate.verify(constraints, 4)
    assert not report.certificate.verify(Constraints(ml[:3], cl), 3)
    assert (report.lower_bound, report.upper_bound) == (4, 4)
    assert set(map(tuple, report.certificate.pairs.tolist())) <= set(cl)


def test_a_clique_with_others_around_it_is_the_proof():
    clique = [(a, b) for a in range(4) for b in range(a)]
    constraints = Constraints(cannot_link=[*clique, (3, 4), (4, 5), (5, 6), (6, 2)])
    certificate = constraints.check(3).certificate
    assert isinstance(certificate, Clique)
    assert {int(row) for row in certificate.pairs.ravel()} == {0, 1, 2, 3}


def test_without_pairs_one_cluster_is_enough():
    report = Constraints(n_rows=4).check(1)
    assert report
    assert (report.lower_bound, report.upper_bound) == (1, 1)


def test_constraints_are_feasible_with_bounds_on_the_smallest_number():
    report = Constraints(cannot_link=CLASSICS["Mycielski 4"][0]).check(8)
    assert report
    assert report.upper_bound == 5
    assert report.lower_bound == 5
    assert "smallest number that works is 5" in str(report)


HARD_TASKS = {
    "check": lambda constraints: constraints.check(9, time_limit=600),
    "fit": lambda constraints: KempeKMeans(9, random_state=0).fit(POINTS, constraints=constraints),
    "verify": lambda constraints: CriticalPairs(constraints.cannot_link, 9, False).verify(
        constraints, 9, seconds=600
    ),
}
POINTS = np.random.default_rng(0).normal(size=(81, 2))


@pytest.mark.timing
@pytest.mark.skipif(os.name == "nt", reason="signals work differently")
@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError])
@pytest.mark.parametrize("task", HARD_TASKS)
def test_a_signal_ends_a_search_for_a_colouring_at_once(task, error):
    """Nobody knows fast whether nine colours suffice for the queens of a board of nine."""
    constraints = Constraints(cannot_link=queens(9))

    def handler(*_):
        raise error

    before = signal.signal(signal.SIGALRM, handler)
    # Late enough for a solver to be at work, if there is one.
    signal.setitimer(signal.ITIMER_REAL, 1.5)
    began = time.perf_counter()
    try:
        with pytest.raises(error):
            HARD_TASKS[task](constraints)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - began < 3
