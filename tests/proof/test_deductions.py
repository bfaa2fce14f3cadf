"""What cliques imply: found completely, logged in an order that can be replayed, and true."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from kempe import _core
from kempe.graph import CannotLinkGraph
from kempe.proof.checking import facts as checked
from kempe.proof.facts import Facts
from kempe.proof.presolve import presolve
from random_certificates import partitions


def random_facts(seed: int, n: int = 8) -> Facts:
    """Rows of which some are together and many apart, without a contradiction at first sight."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(4, size=n)
    cannot = (rng.random((n, n)) < 0.6) & (hidden[:, None] != hidden)
    facts = Facts(np.arange(n, dtype=np.int32), cannot | cannot.T)
    same = [(a, b) for a, b in combinations(range(n), 2) if hidden[a] == hidden[b]]
    return facts.with_together(same[: seed % 3])


def clusterings(facts: Facts, k: int) -> np.ndarray:
    every = partitions(facts.group.size)
    every = every[every.max(axis=1) < k]
    same = facts.group[:, None] == facts.group
    apart = facts.cannot[np.ix_(facts.group, facts.group)]
    equal = every[:, :, None] == every[:, None, :]
    return every[(equal | ~same).all(axis=(1, 2)) & ~(equal & apart).any(axis=(1, 2))]


def cliques(facts: Facts, size: int, among) -> list[tuple[int, ...]]:
    return [
        rows
        for rows in combinations(np.flatnonzero(among), size)
        if all(facts.cannot[a, b] for a, b in combinations(rows, 2))
    ]


def follows(facts: Facts, k: int) -> bool:
    """Whether some clique still implies something."""
    for a, b in combinations(range(facts.n_groups), 2):
        if facts.cannot[a, b]:
            continue
        both = facts.cannot[a] & facts.cannot[b]
        if cliques(facts, k - 1, both) or cliques(facts, k, facts.cannot[a] | facts.cannot[b]):
            return True
    return False


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_deductions_change_no_clustering_and_leave_nothing_to_deduce(seed, k):
    facts = random_facts(seed)
    done = presolve(facts, k)
    before = clusterings(facts, k)
    if done.witness:
        assert len(before) == 0
    else:
        assert np.array_equal(clusterings(done.facts, k), before)
        assert not follows(done.facts, k)


@pytest.mark.parametrize("seed", range(60))
def test_the_log_can_be_replayed(seed):
    k = 3
    facts = random_facts(seed)
    done = presolve(facts, k)
    together = np.argwhere(facts.group[:, None] == facts.group)
    apart = np.argwhere(facts.cannot[np.ix_(facts.group, facts.group)])
    replayed = checked.Facts.given(facts.group.size, together, apart)
    for deduction in done.deductions:
        replayed.deduce(deduction, k)
    if done.witness:
        assert replayed.is_contradiction(done.witness, k)
        return
    assert np.array_equal(np.unique(replayed.group, return_inverse=True)[1], done.facts.group)
    rows = done.facts.first_row
    apart = [[replayed.are_apart(int(a), int(b)) for b in rows] for a in rows]
    assert np.array_equal(apart, done.facts.cannot)


def test_rows_that_are_together_and_apart_are_a_witness():
    facts = random_facts(1).with_apart([(0, 3)]).with_together([(0, 3)])
    witness = presolve(facts, 3).witness
    assert len(witness) == 2
    assert facts.group[witness[0]] == facts.group[0]


def test_facts_number_groups_by_their_first_rows():
    facts = Facts(np.arange(5, dtype=np.int32), np.zeros((5, 5), dtype=bool))
    known = facts.with_apart([(0, 4)]).with_together([(2, 1), (1, 4)])
    assert known.group.tolist() == [0, 1, 1, 2, 1]
    assert known.first_row.tolist() == [0, 1, 3]
    assert np.argwhere(known.cannot).tolist() == [[0, 1], [1, 0]]
    assert not facts.cannot.any()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_all_cliques_of_a_size_are_found(seed, size):
    facts = random_facts(seed)
    expected = cliques(facts, size, np.ones(facts.n_groups, dtype=bool))
    found = _core.cliques_of_size(facts.graph.core, size, 1000)
    assert found.tolist() == [list(clique) for clique in expected]
    few = _core.cliques_of_size(facts.graph.core, size, 3)
    assert few.tolist() == found[:3].tolist()


def test_arguments_are_checked():
    graph = CannotLinkGraph.from_edges(2, np.array([(0, 1)])).core
    with pytest.raises(ValueError, match="n_clusters must be positive"):
        _core.clique_deductions(graph, 0, _core.Stopper())
    with pytest.raises(ValueError, match="size must be positive"):
        _core.cliques_of_size(graph, 0, 1)
